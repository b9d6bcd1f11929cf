"""Limits: against enumeration, by brute force, kept up to date, in words, and refused where they make no sense."""

import numpy as np
import pytest
import reference_laws
from law_cases import law_sweep
from test_tolerance import CODES, random_tolerance

from prepex import (
    Bernoulli,
    Cone,
    Exact,
    Gaussian,
    Limit,
    LogNormal,
    Poisson,
    Problem,
    Product,
    characteristic_time,
    evidence,
)
from prepex._kernels import engine
from prepex._kernels.instance import make_known, with_limits
from prepex._kernels.laws.instance import make_instance
from prepex._kernels.ledger import move, open_ledger, refresh
from prepex.alternatives import found_by, solver
from prepex.errors import InputError
from prepex.labels import Labels
from prepex.limits import limits_of
from prepex.run import Setting
from prepex.sampling import APE
from prepex.solvers import GaussianSolver
from prepex.stopping import as_threshold

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
    for case in sweep(per_cell=2, seed=31 + lenient):
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
    for case in law_sweep(per_cone=6, seed=33 + lenient, names=laws, most_pieces=30):
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
    for case in list(sweep(per_cell=2, seed=39))[lenient::2]:
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
    assert infinite > 0 and checked == 72


@pytest.mark.parametrize("law", ["bernoulli", "poisson"])
def test_families_beside_an_objective_without_noise(law):
    rng = np.random.default_rng(10)
    for case in law_sweep(per_cone=6, seed=40, names=(law, "exact", law), most_pieces=30):
        objectives = names(case.means.shape[1])
        limits = random_limits(rng, case.means, beside=0.0)
        given = case.facets, case.laws, case.scales, case.means, case.counts
        pieces = reference_laws.pieces(*given, limits=limits)
        asked = {"objectives": objectives, "limits": as_limits(*limits, objectives)}
        found = evidence(case.means, case.counts, family=case.family, cone=Cone(case.facets), **asked)
        check(found, pieces, case.counts, 1e-6)


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("lenient", [False, True])
def test_characteristic_time_by_another_method(cone, lenient):
    rng = np.random.default_rng(11)
    case = random_case(rng, cone=cone, noise="correlated", n_pareto=2, n_objectives=3, n_dominated=1)
    G, h = random_limits(rng, case.means)
    eps = random_tolerance(rng, case.facets, 0.5) if lenient else np.zeros(3)
    problem = Problem(case.means, family=Gaussian(covariance=case.covariance), cone=Cone(case.facets))
    slack = case.facets @ eps if eps.any() else None
    slow = reference.characteristic_time(case.facets, case.covariances, case.means, slack, (G, h))
    limits = as_limits(G, h, problem.labels.objectives)
    assert characteristic_time(problem, tolerance=eps, limits=limits).time == pytest.approx(slow, rel=1e-5)


def test_characteristic_time_of_one_arm_at_a_limit():
    given = {"family": Gaussian(variance=2.0), "cone": Cone.orthant(1), "objectives": ("dose",)}
    alone = Problem([[1.0]], **given)
    assert characteristic_time(alone).time == 0.0
    # d = (1 - 0.5)^2 / (2 x 2).
    assert characteristic_time(alone, at_least={"dose": 0.5}).time == pytest.approx(16.0, rel=1e-5)
    assert characteristic_time(alone, at_least={"dose": 1.0}).time == np.inf


def test_interpreted_and_compiled_agree_bit_for_bit():
    rng = np.random.default_rng(12)
    cases = [case for case in sweep(per_cell=1, seed=41) if case.means.shape[1] > 1][::4]
    for case in cases:
        means, L = np.abs(case.means), case.means.shape[1]
        limits = as_limits(*random_limits(rng, means, beside=0.0), names(L))
        eps = random_tolerance(rng, case.facets, 0.3) * int(rng.integers(2))
        for family in (Gaussian(covariance=case.covariance), Product([Poisson(), Exact(), Gaussian(variance=1.0)][:L])):
            values = []
            for how in (engine.waiting, engine.interpreting):
                with how():
                    found = evidence(
                        means,
                        case.counts,
                        family=family,
                        cone=Cone(case.facets),
                        objectives=names(L),
                        tolerance=eps,
                        limits=limits,
                    )
                    pieces = found.pieces(0.2 * found.value) if 0 < found.value < np.inf else ()
                    values.append((found.value, found.pareto_set, found.gradient.tolist(), [p.value for p in pieces]))
            assert values[0] == values[1]


def test_a_minimised_objective_has_its_limit_in_its_own_units():
    rng = np.random.default_rng(13)
    means, counts = rng.normal(size=(5, 2)), rng.integers(5, 20, 5)
    given = {"family": Gaussian(variance=[1.0, 2.0]), "cone": Cone.angle(70), "objectives": ("gain", "cost")}
    one = evidence(means, counts, at_least={"cost": -0.2}, **given)
    flipped = evidence(means * [1, -1], counts, minimise=("cost",), at_most={"cost": 0.2}, **given)
    assert one.value == pytest.approx(flipped.value, rel=1e-12)
    assert one.pareto_set == flipped.pareto_set


def test_a_limit_on_a_geometric_mean():
    means, counts = [[2.0, 1.0], [8.0, 2.0]], [30, 30]
    family = Product([LogNormal(noise=0.5), Gaussian(variance=1.0)])
    given = {"cone": Cone.orthant(2), "objectives": ("time", "gain")}
    found = evidence(means, counts, family=family, at_most={"time": 4.0}, minimise=("time",), **given)
    logs = evidence(
        np.column_stack([np.log([2.0, 8.0]), [1.0, 2.0]]),
        counts,
        family=Product([Gaussian(variance="unknown", noise=0.5), Gaussian(variance=1.0)]),
        at_most={"time": np.log(4.0)},
        minimise=("time",),
        **given,
    )
    assert found.pareto_set == (0,)
    assert found.value == pytest.approx(logs.value, rel=1e-12)
    with pytest.raises(InputError, match="must be on it alone"):
        evidence(means, counts, family=family, limits=[Limit({"time": 1, "gain": 1}, at_most=3)], **given)
    with pytest.raises(InputError, match="must be positive"):
        evidence(means, counts, family=family, at_most={"time": -1.0}, **given)


def test_words():
    given = {
        "family": Gaussian(variance=0.1),
        "cone": Cone.orthant(2),
        "arms": ("low", "middle", "high"),
        "objectives": ("effect", "toxicity"),
        "minimise": ("toxicity",),
    }
    means = [[0.5, 0.1], [0.45, 0.2], [0.8, 0.31]]
    found = evidence(means, [40] * 3, at_most={"toxicity": 0.3}, **given)
    assert found.pareto_set == (0,)
    # Of several pieces that change an arm, the closest.
    words = {piece.kind + str(piece.arm): piece.words for piece in reversed(found.pieces(10.0))}
    assert words["add2"] == "high would become feasible and Pareto optimal if high had toxicity at 0.3 instead of 0.31"
    assert words["break0"] == "low would break the limit toxicity at most 0.3 if low had toxicity at 0.3 instead of 0.1"
    assert words["add1"].startswith("middle would become Pareto optimal if low had effect at 0.475")
    found = evidence(means, [40] * 3, at_most={"toxicity": 0.3}, tolerance=0.01, **given)
    words = {f"{piece.kind}{piece.arm}{piece.hub}": piece.words for piece in reversed(found.pieces(10.0))}
    assert words["add22"].startswith(
        "high would become feasible and no Pareto optimal option would match high within the tolerance if"
    )
    assert words["remove02"].startswith("high would be feasible and beat low by more than the tolerance if")
    empty = evidence(means, [40] * 3, at_most={"toxicity": 0.05}, **given)
    assert empty.pareto_set == ()
    assert empty.alternative.words == (
        "low would become feasible and Pareto optimal if low had toxicity at 0.05 instead of 0.1"
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"at_most": {"price": 1}}, "at_most must be of .*'gain'.*, got 'price'"),
        ({"at_most": {"gain": float("nan")}}, "at_most of 'gain' must be finite"),
        ({"at_most": 3}, "at_most must be a mapping"),
        ({"at_least": {"gain": "much"}}, "at_least of 'gain' must be a number"),
        (
            {"at_most": {"gain": 1}, "at_least": {"gain": 2}},
            "limits must not contradict each other, got 'gain at most 1'",
        ),
        ({"limits": Limit({"gain": 1}, at_most=1)}, "limits must be a list of Limit"),
        ({"limits": [3]}, "limits must be"),
        ({"limits": [Limit({"price": 1}, at_most=1)]}, "limits must be on .*, got one on 'price'"),
        (
            {"at_most": {"gain": 1, "cost": 1}, "limits": [Limit({"gain": 1, "cost": 1}, at_least=3)]},
            "contradict each other, got 'gain at most 1', 'cost at most 1', 'gain \\+ cost at least 3'",
        ),
    ],
)
def test_bad_limits_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        evidence(
            [[1.0, 2.0], [2.0, 1.0]],
            [3, 3],
            family=Gaussian(variance=1.0),
            cone=Cone.angle(60),
            objectives=("gain", "cost"),
            **given,
        )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (({}, {"at_most": 1}), "weights must be a mapping"),
        (({"gain": 0.0}, {"at_most": 1}), "weights must not all be 0"),
        (({"gain": 1.0}, {}), "exactly one of at_most= and at_least=, got neither"),
        (({"gain": 1.0}, {"at_most": 1, "at_least": 0}), "got both"),
        (({"gain": float("inf")}, {"at_most": 1}), "weight of 'gain'"),
    ],
)
def test_bad_limit_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        Limit(given[0], **given[1])


def test_a_limit_that_no_mean_of_the_family_meets_is_refused():
    given = {"family": Bernoulli(), "cone": Cone.orthant(2), "objectives": ("effect", "toxicity")}
    with pytest.raises(InputError, match=r"possible for Bernoulli.*effect from 0 to 1.*'effect at least 1.2'"):
        evidence([[0.1, 0.2]], [5], at_least={"effect": 1.2}, **given)
    # One that every mean meets is never broken.
    assert evidence([[0.1, 0.2]], [5], at_most={"effect": 1.2}, **given).value == np.inf


def test_a_rule_with_its_own_stop_knows_no_limits():
    problem = Problem([[0.7, 0.5], [0.2, 0.1]], family=Gaussian(variance=0.2), cone=Cone.orthant(2))
    limits = limits_of(problem.labels, at_most={0: 1.0})
    with pytest.raises(InputError, match="knows no limits"):
        Setting.make(problem.family, problem.cone, problem.labels, APE(), as_threshold("own"), 1, limits=limits)


def test_options_level_where_nothing_is_noise_are_told_apart_by_the_rest():
    family = Product([Exact(), Gaussian(variance=1.0)])
    given = {"family": family, "cone": Cone.orthant(2), "objectives": ("price", "gain"), "minimise": ("price",)}
    assert evidence([[3, 1], [3, 2]], [10, 10], **given).value == pytest.approx(2.5)
    assert np.isfinite(characteristic_time(Problem([[3, 1], [3, 2], [1, 0.5]], **given)).time)
    # All that is known, without noise: nothing can change.
    assert evidence([[1, 2], [9, 2]], [3, 3], family=Exact(), cone=Cone.orthant(2)).value == np.inf


def test_a_sum_of_exact_numbers_on_its_limit_meets_it():
    labels = Labels.make((1, 2), objectives=("x", "y"))
    for x in range(8):
        for y in range(8):
            for weights in ((1, 1), (1, 3), (2, 5), (7, 3)):
                bound = weights[0] * x + weights[1] * y
                limit = Limit(dict(zip(("x", "y"), weights)), at_least=bound)
                assert limits_of(labels, limits=[limit]).met(np.array([[x, y]], dtype=float)).all()


@pytest.mark.parametrize("given", [({"x": 1e160}, 1.0), ({"x": 1e-200}, 1.0), ({"x": 1.0}, 1e160)])
def test_weights_and_bounds_that_arithmetic_loses_are_refused(given):
    with pytest.raises(InputError, match=r"must be .* 1e\+100"):
        Limit(given[0], at_most=given[1])
