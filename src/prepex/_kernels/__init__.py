"""Compiled kernels: formulas -> instance -> star -> branch -> tracker. No policy, no validation."""
