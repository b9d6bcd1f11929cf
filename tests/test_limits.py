"""Limits: against enumeration, by brute force, kept up to date, in words, and refused where they make no sense."""

import numpy as np
import pytest
import reference_laws
from law_cases import law_sweep
from test_tolerance import CODES, random_tolerance

from prepex import Cone, Exact, Gaussian, Limit, Product, evidence
from prepex._kernels.instance import make_known, with_limits
from prepex._kernels.laws.instance import make_instance
from prepex._kernels.ledger import move, open_ledger, refresh
from prepex.alternatives import found_by, solver
from prepex.labels import Labels
from prepex.limits import limits_of
from prepex.solvers import GaussianSolver

import reference
from cases import CONES, NOISES, random_case, sweep


def random_limits(rng, means, beside=0.3):
    """(G, h) with unit rows that some point meets: of one objective, of sums, now and then of two sides."""
    n, L = int(rng.integers(1, 4)), means.shape[1]
    met = means[rng.integers(len(means))] + rng.normal(size=L) * rng.choice([0.0, beside]) * means.std()
    rows = []
    for _ in range(n):
        g = rng.normal(size=L)
        if rng.random() < 0.5:
            g = np.eye(L)[rng.integers(L)] * rng.choice([-1.0, 1.0])
        if rows and rng.random() < 0.2:
            g = -rows[-1]
        rows.append(g / np.linalg.norm(g))
    G = np.array(rows)
    return G, G @ met - rng.exponential(0.3, n) * means.std()


def as_limits(G, h, objectives):
    return [Limit(dict(zip(objectives, g)), at_least=level) for g, level in zip(G, h)]


def names(L):
    return tuple(f"x{q}" for q in range(L))


def check(found, pieces, counts, rel):
    """The value, and every piece within half of it."""
    least = min((piece.value for piece in pieces), default=np.inf)
    assert found.value == pytest.approx(least, rel=rel, abs=1e-12)
    if not 1e-9 < least < np.inf:
        return
    assert counts @ found.gradient == pytest.approx(least, rel=10 * rel)
    same = [piece for piece in pieces if piece.value <= least * (1 + 1e-7)]
    scale = np.abs(found.gradient).max()
    assert any(np.abs(found.gradient - piece.gradient).max() <= 1e-5 * scale for piece in same)
    ours = np.array([piece.value for piece in found.pieces(0.5 * least)])
    for piece in pieces:
        if piece.value <= 1.5 * least * (1 - 1e-9):
            assert np.abs(ours - piece.value).min() <= 10 * rel * piece.value + 1e-12, piece


@pytest.mark.parametrize("lenient", [False, True])
def test_evidence_equals_the_enumeration(lenient):
    rng = np.random.default_rng(1 + lenient)
    kinds, empty = {"add": 0, "remove": 0, "break": 0}, 0
    for case in sweep(per_cell=3, seed=31 + lenient):
        G, h = random_limits(rng, case.means)
        eps = random_tolerance(rng, case.facets, rng.choice([0.02, 0.3])) if lenient else None
        slack = None if eps is None or not eps.any() else case.facets @ eps
        pieces = reference.pieces(case.facets, case.covariances, case.means, case.counts, slack, (G, h))
        L = case.means.shape[1]
        found = evidence(
            case.means,
            case.counts,
            family=Gaussian(covariance=case.covariance),
            cone=Cone(case.facets),
            objectives=names(L),
            tolerance=eps,
            limits=as_limits(G, h, names(L)),
        )
        assert found.pareto_set == reference.answer(case.facets, case.means, (G, h))
        check(found, pieces, case.counts, 1e-8)
        kinds[found.alternative.kind] += 1
        empty += not found.pareto_set
    assert min(kinds.values()) > 10 and empty > 10


@pytest.mark.parametrize("laws", [("gaussian", "bernoulli", "poisson"), ("bernoulli",), ("poisson",)])
@pytest.mark.parametrize("lenient", [False, True])
def test_evidence_of_families_equals_the_enumeration(laws, lenient):
    rng = np.random.default_rng(3 + lenient)
    for case in law_sweep(per_cone=12, seed=33 + lenient, names=laws, most_pieces=30):
        G, h = random_limits(rng, case.means, beside=0.0)
        eps = random_tolerance(rng, case.facets, 0.05) if lenient else None
        slack = None if eps is None or not eps.any() else case.facets @ eps
        given = case.facets, case.laws, case.scales, case.means, case.counts
        pieces = reference_laws.pieces(*given, slack=slack, limits=(G, h))
        L = case.means.shape[1]
        asked = {"tolerance": eps, "limits": as_limits(G, h, names(L)), "objectives": names(L)}
        found = evidence(case.means, case.counts, family=case.family, cone=Cone(case.facets), **asked)
        assert found.pareto_set == reference.answer(case.facets, case.means, (G, h))
        check(found, pieces, case.counts, 1e-6)


@pytest.mark.parametrize("law", ["exponential", "student"])
def test_laws_that_are_not_convex_are_bounded_from_below(law):
    rng = np.random.default_rng(5)
    exact, total = 0, 0
    for case in law_sweep(per_cone=4, seed=35, names=(law, "gaussian"), most_pieces=30):
        G, h = random_limits(rng, case.means, beside=0.0)
        given = case.facets, case.laws, case.scales, case.means, case.counts
        least = min(piece.value for piece in reference_laws.pieces(*given, loose=True, limits=(G, h)))
        objectives = names(case.means.shape[1])
        found = evidence(
            case.means,
            case.counts,
            family=case.family,
            cone=Cone(case.facets),
            objectives=objectives,
            limits=as_limits(G, h, objectives),
        )
        assert found.value <= least * (1 + 1e-6) + 1e-9
        exact, total = exact + (found.value >= least * (1 - 1e-6) - 1e-9), total + 1
    assert exact > 0.7 * total


@pytest.mark.parametrize("lenient", [False, True])
def test_nothing_cheaper_than_the_evidence_has_another_answer(lenient):
    rng = np.random.default_rng(6 + lenient)
    crossed = 0
    for case in sweep(per_cell=1, seed=36):
        limits = random_limits(rng, case.means)
        eps = random_tolerance(rng, case.facets, 0.3) if lenient else np.zeros(case.means.shape[1])
        objectives = names(case.means.shape[1])
        found = evidence(
            case.means,
            case.counts,
            family=Gaussian(covariance=case.covariance),
            cone=Cone(case.facets),
            objectives=objectives,
            tolerance=eps,
            limits=as_limits(*limits, objectives),
        )
        roots = np.linalg.cholesky(case.covariances / case.counts[:, None, None])
        for turn in range(200):
            step = rng.normal(size=case.means.shape)
            # Along the closest alternative too, and a little beyond it.
            if turn % 2 and found.alternative.arms:
                aim = np.zeros_like(case.means)
                aim[list(found.alternative.arms)] = found.alternative.means - case.means[list(found.alternative.arms)]
                step = np.linalg.solve(roots, aim[:, :, None])[:, :, 0] + 0.1 * rng.normal(size=case.means.shape)
            length = max(np.linalg.norm(step), 1e-12)
            size = np.sqrt(2 * found.value) * rng.choice([0.5, 0.95, 0.999, 1.05, 1.5]) / length
            moved = case.means + np.einsum("kpq,kq->kp", roots, size * step)
            if eps.any():
                right = reference.right_within(case.facets, moved, found.pareto_set, case.facets @ eps, limits)
            else:
                right = reference.answer(case.facets, moved, limits) == found.pareto_set
            assert right or 0.5 * (size * length) ** 2 >= found.value * (1 - 1e-9)
            crossed += not right
    assert crossed > 300, "the check must see wrong answers"


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("lenient", [False, True])
def test_a_ledger_kept_up_to_date_equals_a_fresh_start(cone, noise, lenient):
    rng = np.random.default_rng(CONES.index(cone) * 10 + NOISES.index(noise) + 100 * lenient)
    changes = 0
    for _ in range(3):
        case = random_case(rng, cone=cone, noise=noise, n_pareto=3, n_objectives=3, n_dominated=4)
        means, counts = case.means.copy(), np.ones(len(case.means))
        covariance = case.covariance.reshape(-1, 3, 3)
        roots = np.linalg.cholesky(covariance)
        G, h = random_limits(rng, case.means)
        slack = case.facets @ random_tolerance(rng, case.facets, 0.3) * lenient
        rows, slack, level = with_limits(case.facets, slack, G, h, np.zeros(3))
        half = rows @ roots
        given = {"facets": rows, "prec": np.linalg.inv(covariance), "slack": slack, "level": level}

        def fresh(means=means, counts=counts, half=half, rows=rows, level=level, given=given, case=case):
            gram, scores = half @ np.swapaxes(half, 1, 2), means @ rows.T - level
            return open_ledger(make_known(gram, scores, counts, n_facets=len(case.facets), **given))

        ledger = fresh()
        refresh(ledger, 0.0)
        for _ in range(60):
            before = ledger.inst.mask.copy()
            for _ in range(rng.integers(1, 3)):
                a = int(rng.integers(len(means)))
                reward = case.means[a] + roots[a if len(covariance) > 1 else 0] @ rng.normal(size=3)
                counts[a] += 1
                shift = (reward - means[a]) / counts[a]
                means[a] += shift
                move(ledger, a, means[a], shift, counts[a])
            value, anew = refresh(ledger, 0.0), fresh()
            assert value == pytest.approx(refresh(anew, 0.0), rel=1e-9, abs=1e-13)
            assert np.array_equal(ledger.inst.mask, anew.inst.mask)
            assert counts @ ledger.gradient == pytest.approx(value, rel=1e-9)
            changes += int(not np.array_equal(before, ledger.inst.mask))
    assert changes > 5


@pytest.mark.parametrize("law", ["bernoulli", "poisson", "exponential", "student"])
@pytest.mark.parametrize("facets", [np.eye(2), Cone.angle(100).facets])
@pytest.mark.parametrize("lenient", [False, True])
def test_a_ledger_with_laws_kept_up_to_date_equals_a_fresh_start(law, facets, lenient):
    rng = np.random.default_rng(8)
    codes, scale = np.full(2, CODES[law]), np.full((5, 2), 0.2)
    truth = rng.uniform(0.2, 0.8, (5, 2))
    slack = facets @ np.array([0.05, 0.1]) * lenient
    limits = [(-np.eye(2)[:1], np.array([-0.55])), (np.array([[0.6, 0.8], [-1.0, 0.0]]), np.array([0.6, -0.7]))]
    changes = 0
    for G, h in limits:
        rows, slacks, level = with_limits(facets, slack, G, h, np.zeros(2))
        given = {"slack": slacks, "level": level, "n_facets": len(facets)}
        means, counts = truth.copy(), np.full(5, 3.0)
        ledger = open_ledger(make_instance(codes, scale, rows, means, counts, **given))
        refresh(ledger, 0.0)
        for _ in range(60):
            before = ledger.inst.mask.copy()
            a = int(rng.integers(5))
            counts[a] += 1
            new = np.clip(means[a] + (truth[a] - means[a] + 0.3 * rng.normal(size=2)) / counts[a], 0.01, 0.99)
            shift, means[a] = new - means[a], new
            move(ledger, a, means[a], shift, counts[a])
            value = refresh(ledger, 0.0)
            anew = open_ledger(make_instance(codes, ledger.inst.scale, rows, means, counts, **given))
            assert value == pytest.approx(refresh(anew, 0.0), rel=1e-7, abs=1e-11)
            assert np.array_equal(ledger.inst.mask, anew.inst.mask)
            assert counts @ ledger.gradient == pytest.approx(value, rel=1e-6, abs=1e-11)
            changes += int(not np.array_equal(before, ledger.inst.mask))
    assert changes > 3


def noiseless(covariances, which):
    """The same noise, but none of these objectives."""
    found = covariances.copy()
    found[:, which, :] = found[:, :, which] = 0.0
    return found


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("lenient", [False, True])
def test_objectives_without_noise_equal_the_enumeration(limited, lenient):
    """Of known covariance, and as a law beside independent Gaussians."""
    rng = np.random.default_rng(9)
    infinite, checked = 0, 0
    for case in sweep(per_cell=2, seed=39):
        L = case.means.shape[1]
        which = [int(rng.integers(L))]
        # Prices are often equal.
        means = case.means.copy()
        means[:, which] = np.round(means[:, which])
        limits = random_limits(rng, means) if limited else None
        eps = random_tolerance(rng, case.facets, 0.3) if lenient else np.zeros(L)
        slack = case.facets @ eps if eps.any() else None
        cone, labels = Cone(case.facets), Labels.make(means.shape, objectives=names(L))
        bounds = None if limits is None else limits_of(labels, limits=as_limits(*limits, names(L)))
        covariances = noiseless(case.covariances, which)
        pieces = reference.pieces(case.facets, covariances, means, case.counts, slack, limits)
        stack = covariances if np.ptp(covariances, axis=0).any() else covariances[:1]
        known = GaussianSolver(means, np.zeros(L), case.counts, stack, cone.facets, labels, slack, bounds)
        check(found_by(known), pieces, case.counts, 1e-8)
        variances = np.diagonal(stack[0]).copy()
        law = Product([Gaussian(variance=v) if v > 0 else Exact() for v in variances])
        alike = np.broadcast_to(np.diag(variances), covariances.shape)
        pieces = reference.pieces(case.facets, alike, means, case.counts, slack, limits)
        found = found_by(solver(means, case.counts, law, cone, labels, slack, limits=bounds))
        check(found, pieces, case.counts, 1e-8)
        infinite += found.value == np.inf
        checked += 1
    assert infinite > 5 and checked > 100


@pytest.mark.parametrize("law", ["bernoulli", "poisson"])
def test_families_beside_an_objective_without_noise(law):
    rng = np.random.default_rng(10)
    for case in law_sweep(per_cone=10, seed=40, names=(law, "exact", law), most_pieces=30):
        objectives = names(case.means.shape[1])
        limits = random_limits(rng, case.means, beside=0.0)
        given = case.facets, case.laws, case.scales, case.means, case.counts
        pieces = reference_laws.pieces(*given, limits=limits)
        asked = {"objectives": objectives, "limits": as_limits(*limits, objectives)}
        found = evidence(case.means, case.counts, family=case.family, cone=Cone(case.facets), **asked)
        check(found, pieces, case.counts, 1e-6)
