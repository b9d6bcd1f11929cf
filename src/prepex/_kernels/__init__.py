"""Compiled kernels, from the ground up; no policy, no validation.

jit        how a kernel is compiled
instance   facet scores and the Pareto set
star       the closest point of one convex piece
branch     the cheapest facet choice of Add(j)
ledger     the evidence, kept up to date arm by arm
margin     the certified margin
game       matrix games
course     a run: the sampling rules
play       a simulated run
"""
