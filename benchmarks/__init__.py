"""Timing, never part of the test suite: `make bench`. Every ratio is measured side by side in one run."""
