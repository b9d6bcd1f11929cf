"""Kernels for families beyond the known Gaussian: an independent one-parameter law for every objective.

law        divergences and their tilted minima, a table of one-line formulas
instance   an instance in the user's units
pair       one facet between two arms
point      the closest point of a star
search     the cheapest facet choice of Add(j)
ledger     the evidence, kept up to date arm by arm
fresh      what certified tests may use, and the price of not knowing a mean
margin     the certified margin
reward     rewards from noise
"""
