"""Random instances of every kind: cones (orthant, acute, obtuse, more facets than objectives) x covariances x |P|."""

from dataclasses import dataclass

import numpy as np

import reference

CONES = ("orthant", "acute", "obtuse", "many")
NOISES = ("diagonal", "correlated", "per_arm")


@dataclass(frozen=True)
class Case:
    facets: np.ndarray
    means: np.ndarray
    covariance: np.ndarray  # (L, L) shared, or (K, L, L)
    counts: np.ndarray

    @property
    def covariances(self):
        """One for each arm, as the reference wants them."""
        n_arms, n_objectives = self.means.shape
        return np.broadcast_to(self.covariance, (n_arms, n_objectives, n_objectives))


def random_facets(rng, kind, n_objectives, extra=None):
    eye = np.eye(n_objectives)
    if kind == "orthant" or n_objectives == 1:
        rows = eye
    elif kind == "acute":  # facet normals lean apart: a narrow cone
        rows = eye - rng.uniform(0.05, 0.8 / n_objectives, (n_objectives, n_objectives)) * (1 - eye)
    elif kind == "obtuse":  # facet normals lean together: a wide cone
        rows = eye + rng.uniform(0.05, 0.5, (n_objectives, n_objectives)) * (1 - eye)
    else:  # normals around the diagonal, in general position: none redundant for long
        n_facets = n_objectives + (0 if n_objectives == 2 else extra or int(rng.integers(1, 3)))
        axis = np.ones(n_objectives) / np.sqrt(n_objectives)
        around = rng.normal(size=(n_facets, n_objectives))
        around -= np.outer(around @ axis, axis)
        around /= np.linalg.norm(around, axis=1, keepdims=True)
        rows = axis + rng.uniform(0.5, 0.9) * around
        if np.linalg.matrix_rank(rows, tol=1e-2) < n_objectives:
            return random_facets(rng, kind, n_objectives, extra)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def random_covariance(rng, kind, n_arms, n_objectives):
    if kind == "diagonal":
        return np.diag(rng.uniform(0.3, 3.0, n_objectives))
    roots = rng.normal(size=(n_arms, n_objectives, n_objectives))
    full = roots @ np.swapaxes(roots, 1, 2) + 0.2 * np.eye(n_objectives)
    return full if kind == "per_arm" else full[0]


def random_case(rng, *, cone, noise, n_pareto, n_objectives, n_dominated):
    """An instance with exactly `n_pareto` Pareto arms."""
    while True:
        facets = random_facets(rng, cone, n_objectives, 1 if n_pareto > 4 else None)
        axis = facets.sum(axis=0) / np.linalg.norm(facets.sum(axis=0))
        flat = rng.normal(size=(n_pareto, n_objectives))
        flat -= np.outer(flat @ axis, axis)
        front = flat + 0.1 * rng.normal(size=(n_pareto, 1)) * axis
        under = front[rng.integers(n_pareto, size=n_dominated)] - rng.exponential(0.7, (n_dominated, 1)) * axis
        means = np.vstack([front, under + 0.1 * rng.normal(size=under.shape)])
        means = means[rng.permutation(len(means))]
        if len(reference.pareto_set(facets, means)) == n_pareto:
            break
    covariance = random_covariance(rng, noise, len(means), n_objectives)
    return Case(facets, means, covariance, rng.integers(1, 40, len(means)).astype(float))


def sweep(per_cell, seed):
    """`per_cell` instances for each cone x noise x |P|; the enumeration of all facet choices stays affordable."""
    rng = np.random.default_rng(seed)
    for cone in CONES:
        for noise in NOISES:
            for n_pareto in range(1, 7):
                for index in range(per_cell):
                    n_objectives = 2 if n_pareto > 4 or index % 2 else 3
                    if cone == "many":
                        n_objectives = 3
                    yield random_case(
                        rng,
                        cone=cone,
                        noise=noise,
                        n_pareto=n_pareto,
                        n_objectives=n_objectives if n_pareto > 1 or index % 4 else 1,
                        n_dominated=int(rng.integers(0 if n_pareto > 1 else 1, 3)),
                    )
