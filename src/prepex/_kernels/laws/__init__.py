"""Kernels for families beyond the known Gaussian: an independent one-parameter law for every objective.

law        divergences and their tilted minima, a table of one-line formulas
instance   an instance in the user's units
pair       one facet between two arms
point      the closest point of a star: pools, objective by objective, or newton
aging      how bounds stay valid while arms move
fresh      what certified tests may use, and the price of not knowing a mean
test       the certified test of two arms on a facet
reward     rewards from noise
"""
