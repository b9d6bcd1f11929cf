"""Compiled kernels, from the ground up; no policy, no validation.

jit        how a kernel is interpreted and compiled; by_model: primitives that each model has its own function for
centre     a reference, subtracted first
instance   facet scores, gaps and their spread, the Pareto set; the known Gaussian model
room       the arrays that kernels work in
star       the closest point of one convex piece, for known Gaussians
laws/      the same for other families: laws of single objectives, closest points, tests, bounds
search     the cheapest facet choice of Add(j)
aging      how bounds of known Gaussians stay valid
ledger     the evidence, kept up to date arm by arm
mixture    the certified test of known Gaussians
margin     the certified margin
game       matrix games
course     a run: the sampling rules
reward     rewards from noise
play       a simulated run
"""
