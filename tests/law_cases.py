"""Random instances of every mix of families, under every kind of cone."""

from dataclasses import dataclass

import numpy as np

from prepex import Bernoulli, Exact, Exponential, Gaussian, Poisson, Product

import reference
from cases import CONES, random_facets


@dataclass(frozen=True)
class LawCase:
    facets: np.ndarray
    laws: list
    scales: np.ndarray  # (K, L)
    means: np.ndarray
    counts: np.ndarray

    @property
    def family(self):
        """As a user would say it."""
        makers = {"bernoulli": Bernoulli, "poisson": Poisson, "exponential": Exponential, "exact": Exact}
        return Product(
            [
                Gaussian(variance=self.scales[0, q])
                if law == "gaussian"
                else Gaussian(variance="unknown", noise=self.scales[0, q])
                if law == "student"
                else makers[law]()
                for q, law in enumerate(self.laws)
            ]
        )


def random_means(rng, law, n):
    if law == "bernoulli":
        return rng.uniform(0.05, 0.95, n)
    if law == "poisson":
        return rng.uniform(0.3, 5.0, n)
    if law == "exponential":
        return rng.uniform(1.0, 1.6, n)
    return rng.normal(size=n) * (0.3 if law == "student" else 1.0)


def random_law_case(rng, cone, laws, n_arms, most_pieces=80):
    """An instance whose facet choices can be enumerated."""
    while True:
        facets = random_facets(rng, cone, len(laws))
        means = np.column_stack([random_means(rng, law, n_arms) for law in laws])
        pareto = len(reference.pareto_set(facets, means))
        if (n_arms - pareto) * len(facets) ** pareto + pareto * (pareto - 1) <= most_pieces:
            break
    scales = np.tile(rng.uniform(0.3, 2.0, len(laws)), (n_arms, 1))
    return LawCase(facets, laws, scales, means, rng.integers(1, 60, n_arms).astype(float))


def law_sweep(per_cone, seed, names=("gaussian", "bernoulli", "poisson"), cones=CONES, most_pieces=40):
    rng = np.random.default_rng(seed)
    for cone in cones:
        for index in range(per_cone):
            n_objectives = 3 if cone == "many" else 1 + index % 3
            laws = [names[i] for i in rng.integers(len(names), size=n_objectives)]
            yield random_law_case(rng, cone, laws, int(rng.integers(2, 5)), most_pieces)
