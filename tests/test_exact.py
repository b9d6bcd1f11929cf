"""Far from zero: on the doubles given, the answers are those of exact rational arithmetic.

The judge enumerates every alternative and every active set in fractions; facets, means, variances and counts are the
doubles that the library sees.
"""

from fractions import Fraction
from itertools import chain, combinations, product

import numpy as np
import pytest

from prepex import Cone, Gaussian, Limit, Problem, Product, characteristic_time, evidence
from prepex._kernels.centre import facet_scores, reference

CONES = {
    "narrow": Cone.angle(50),
    "wide": Cone.angle(120),
    "wider": Cone.angle(155),
    "orthant": Cone.orthant(2),
    "three": Cone.from_facets([[1.0, 0.3, 0.1], [0.2, 1.0, -0.4], [-0.1, 0.3, 1.0], [0.5, 0.5, 0.1]]),
}


def exactly(rows):
    return [[Fraction(float(x)) for x in row] for row in rows]


def dot(u, v):
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


def solve(Q, b):
    """Q y = b by elimination; None if Q is singular."""
    n = len(b)
    rows = [[*Q[r], b[r]] for r in range(n)]
    for c in range(n):
        pivot = next((r for r in range(c, n) if rows[r][c]), None)
        if pivot is None:
            return None
        rows[c], rows[pivot] = rows[pivot], rows[c]
        rows[c] = [x / rows[c][c] for x in rows[c]]
        for r in range(n):
            if r != c and rows[r][c]:
                rows[r] = [x - rows[r][c] * y for x, y in zip(rows[r], rows[c], strict=True)]
    return [row[n] for row in rows]


class Judge:
    """W, M, covariance and N, exactly."""

    def __init__(self, facets, means, covariance, counts):
        self.W, self.M, self.N = exactly(facets), exactly(means), [Fraction(float(n)) for n in counts]
        cov = exactly(covariance)
        self.gram = [[dot(w, [dot(row, v) for row in cov]) for v in self.W] for w in self.W]

    def gaps(self, a, j):
        d = [x - y for x, y in zip(self.M[a], self.M[j], strict=True)]
        return [dot(w, d) for w in self.W]

    def dominates(self, a, j):
        gaps = self.gaps(a, j)
        return min(gaps) >= 0 and max(gaps) > 0

    @property
    def pareto_set(self):
        K = range(len(self.M))
        return tuple(j for j in K if not any(self.dominates(a, j) for a in K if a != j))

    def star(self, hub, links):
        """max_{y >= 0} b.y - y'Qy/2 by trying every active set."""
        b = [self.gaps(a, hub)[f] for a, f in links]
        Q = [
            [self.gram[f][g] * (1 / self.N[hub] + (1 / self.N[a] if a == c else 0)) for c, g in links] for a, f in links
        ]
        n = range(len(links))
        for active in chain.from_iterable(combinations(n, size) for size in range(len(links) + 1)):
            y = solve([[Q[r][c] for c in active] for r in active], [b[r] for r in active])
            if y is None or any(x < 0 for x in y):
                continue
            if all(b[r] <= dot([Q[r][c] for c in active], y) for r in n):
                return dot([b[r] for r in active], y) / 2
        raise AssertionError("some active set is optimal")

    def evidence(self):
        P, m = self.pareto_set, range(len(self.W))
        stars = [(j, [(i, f) for f in m]) for i in P for j in P if i != j]
        for j in set(range(len(self.M))) - set(P):
            stars += [(j, list(zip(P, choice, strict=True))) for choice in product(m, repeat=len(P))]
        return min(self.star(*star) for star in stars)


def far_case(rng, cone, level, gap):
    """Four arms near `level`, at distances and with deviations of the order of `gap`."""
    L = cone.n_objectives
    means = level * rng.uniform(0.5, 2.0, L) + gap * rng.normal(size=(4, L))
    root = gap * (np.diag(rng.uniform(0.5, 1.5, L)) + 0.3 * rng.normal(size=(L, L)))
    return means, root @ root.T, rng.integers(1, 50, 4).astype(float)


@pytest.mark.parametrize(("level", "gap"), [(1e8, 1e-5), (1e8, 1e-6), (1e4, 1e-2), (1.0, 1.0)])
@pytest.mark.parametrize("name", CONES)
def test_evidence_and_pareto_sets_are_those_of_exact_arithmetic(name, level, gap):
    rng, cone = np.random.default_rng([7, int(level), list(CONES).index(name)]), CONES[name]
    for _ in range(25):
        means, covariance, counts = far_case(rng, cone, level, gap)
        judge = Judge(cone.facets, means, covariance, counts)
        assert np.flatnonzero(cone.pareto_mask(means)).tolist() == list(judge.pareto_set)
        for a, j in product(range(4), repeat=2):
            assert cone.dominates(means[a], means[j]) == judge.dominates(a, j)
        found = evidence(means, counts, family=Gaussian(covariance=covariance), cone=cone)
        assert found.pareto_set == judge.pareto_set
        assert found.value == pytest.approx(float(judge.evidence()), rel=1e-9)
        assert counts @ found.gradient == pytest.approx(found.value, rel=1e-9)


@pytest.mark.parametrize("name", CONES)
def test_arms_that_were_pulled_very_unequally(name):
    rng, cone = np.random.default_rng([11, list(CONES).index(name)]), CONES[name]
    for _ in range(40):
        means, covariance, _ = far_case(rng, cone, 1.0, 1.0)
        counts = 10.0 ** rng.uniform(0, 18, 4)
        judge = Judge(cone.facets, means, covariance, counts)
        found = evidence(means, counts, family=Gaussian(covariance=covariance), cone=cone)
        assert found.value == pytest.approx(float(judge.evidence()), rel=1e-9)
        assert counts @ found.gradient == pytest.approx(found.value, rel=1e-9)


@pytest.mark.parametrize("ratio", [1e-16, 1e-12, 1e-8, 1e8, 1e12, 1e16])
def test_bounds_of_very_unequal_noise_do_not_cross(ratio):
    covariance = np.stack([np.eye(2), ratio * np.eye(2), np.eye(2)])
    means = [[1.0, 0.0], [0.0, 1.0], [-0.2, -0.1]]
    bound = characteristic_time(Problem(means, family=Gaussian(covariance=covariance), cone=Cone.orthant(2)))
    assert 0 < bound.lower <= bound.time <= bound.upper <= bound.lower * (1 + 1e-5)


@pytest.mark.parametrize("family", ["gaussian", "product", "unknown"])
def test_means_far_from_zero_have_the_answers_of_their_differences(family):
    """Differences to an arm are exact here (Sterbenz), so all that is computed must be the same."""
    rng, cone = np.random.default_rng(8), CONES["wide"]
    for _ in range(10):
        means, covariance, counts = far_case(rng, cone, 1e8, 1e-5)
        variance = float(covariance[0, 0])
        kind = {
            "gaussian": Gaussian(variance=variance),
            "product": Product([Gaussian(variance=variance), Gaussian(variance=2 * variance)]),
            "unknown": Gaussian(variance="unknown", noise=variance),
        }[family]
        near = means - means[0]
        assert np.array_equal(near + means[0], means)
        far, close = (evidence(M, counts, family=kind, cone=cone) for M in (means, near))
        assert far.value == pytest.approx(close.value, rel=1e-9) and far.pareto_set == close.pareto_set
        assert far.alternative.constraints == close.alternative.constraints
        np.testing.assert_allclose(far.alternative.means, close.alternative.means + means[0], rtol=1e-15)
        times = [characteristic_time(Problem(M, family=kind, cone=cone), tol=1e-4).time for M in (means, near)]
        assert times[0] == pytest.approx(times[1], rel=1e-6)


def test_the_reference_is_one_of_the_values_or_none():
    rng = np.random.default_rng(9)
    for _ in range(50):
        rows = np.array([0.0, 1e3, 1e8]) + rng.normal(size=(int(rng.integers(1, 9)), 3))
        centre = reference(rows)
        assert all(centre[q] in rows[:, q] for q in range(3))
        assert np.array_equal(centre, reference(rng.permutation(rows)))
        assert np.array_equal((rows - centre)[:, 2] + centre[2], rows[:, 2])
    # Magnitudes so different that a reference among the large would swallow the small.
    assert reference(np.array([[1e-20], [2e-20], [1.0], [2.0], [3.0]])) == 0.0
    mask = Cone.orthant(1).pareto_mask([[-1e-20], [-2e-20], [-1.0], [-2.0], [-3.0]])
    assert mask.tolist() == [True, False, False, False, False]


def test_equal_rows_have_equal_scores():
    rng = np.random.default_rng(10)
    for K in range(2, 40):
        row, facets = rng.normal(size=5) * 1e8, rng.normal(size=(7, 5))
        scores = facet_scores(np.tile(row, (K, 1)), facets)
        assert np.all(scores == scores[0])


def test_a_limit_on_a_sum_far_from_zero_is_that_of_exact_arithmetic():
    rng = np.random.default_rng(12)
    for _ in range(40):
        mean, weights = 1e8 * rng.uniform(0.5, 2.0, 3) + rng.normal(size=3), rng.choice([-1.0, 0.5, 1.0, 2.0], 3)
        bound = float(weights @ mean) - rng.uniform(0.5, 2.0)
        limit = Limit({f"objective {q}": float(w) for q, w in enumerate(weights)}, at_least=bound)
        # The other is far below the limit, and far behind: the closest change is to break it.
        means = np.array([mean, mean - 1e4 * np.sign(weights)])
        found = evidence(means, [7, 5], family=Gaussian(variance=1.0), cone=Cone.orthant(3), limits=[limit])
        g, x = exactly([weights, mean])
        wanted = 7 * (dot(g, x) - Fraction(bound)) ** 2 / (2 * dot(g, g))
        assert found.pareto_set == (0,) and found.value == pytest.approx(float(wanted), rel=1e-9)
