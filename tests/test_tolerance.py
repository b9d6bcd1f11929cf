"""Tolerances: against enumeration, by brute force, kept up to date, and refused where they make no sense."""

import numpy as np
import pytest
import reference_laws
from law_cases import law_sweep
from scipy.optimize import minimize_scalar

from prepex import Bernoulli, Cone, Experiment, Gaussian, Poisson, Problem, characteristic_time, evidence
from prepex._kernels.deal import make_deal
from prepex._kernels.instance import make_known
from prepex._kernels.laws.fresh import make_law_fresh
from prepex._kernels.laws.instance import make_instance
from prepex._kernels.ledger import move, open_ledger, refresh
from prepex._kernels.margin import add_fresh, e_value, end_pilot, make_scratch, margin
from prepex._kernels.mixture import default_grid, known_fresh
from prepex.errors import InputError
from prepex.judge import Judge
from prepex.run import Setting
from prepex.sampling import APE, FraPPE, InformationDirected, TnS, Uniform
from prepex.simulation import Job, one_run
from prepex.stopping import as_threshold

import reference
import reference_margin
from cases import CONES, NOISES, random_case, sweep

CODES = {"gaussian": 0, "bernoulli": 1, "poisson": 2, "exponential": 3, "student": 4}


def random_tolerance(rng, facets, size):
    """In the cone and in the orthant: an entry for each objective, now and then 0 on a facet."""
    while True:
        eps = rng.exponential(size, facets.shape[1]) * (rng.random(facets.shape[1]) < 0.8)
        if np.all(facets @ eps >= 0):
            return eps


def test_evidence_equals_the_enumeration():
    rng = np.random.default_rng(0)
    checked = 0
    for case in sweep(per_cell=2, seed=21):
        eps = random_tolerance(rng, case.facets, rng.choice([0.02, 0.3, 2.0]))
        slack = case.facets @ eps
        pieces = reference.pieces(case.facets, case.covariances, case.means, case.counts, slack)
        found = evidence(
            case.means,
            case.counts,
            family=Gaussian(covariance=case.covariance),
            cone=Cone(case.facets),
            tolerance=eps,
        )
        least = min(piece.value for piece in pieces)
        assert found.value == pytest.approx(least, rel=1e-8, abs=1e-12)
        assert found.pareto_set == reference.pareto_set(case.facets, case.means)
        if least > 1e-9:
            same = [piece for piece in pieces if piece.value <= least * (1 + 1e-7)]
            scale = np.abs(found.gradient).max()
            assert any(np.abs(found.gradient - piece.gradient).max() <= 1e-6 * scale for piece in same)
            assert case.counts @ found.gradient == pytest.approx(least, rel=1e-9)
        # All pieces, not only the closest.
        ours = np.array([piece.value for piece in found.pieces(0.5 * least)])
        theirs = np.sort([piece.value for piece in pieces if piece.value <= 1.5 * least * (1 - 1e-9)])
        for value in theirs:
            assert np.abs(ours - value).min() <= 1e-7 * value + 1e-12
        checked += 1
    assert checked == 144


@pytest.mark.parametrize("names", [("gaussian", "bernoulli", "poisson"), ("bernoulli",), ("poisson",)])
def test_evidence_of_families_equals_the_enumeration(names):
    rng = np.random.default_rng(1)
    for case in law_sweep(per_cone=4, seed=22, names=names, most_pieces=30):
        eps = random_tolerance(rng, case.facets, 0.05)
        slack = case.facets @ eps
        pieces = reference_laws.pieces(case.facets, case.laws, case.scales, case.means, case.counts, slack=slack)
        found = evidence(case.means, case.counts, family=case.family, cone=Cone(case.facets), tolerance=eps)
        assert found.value == pytest.approx(min(piece.value for piece in pieces), rel=1e-6, abs=1e-9), case


@pytest.mark.parametrize("name", ["exponential", "student"])
def test_laws_that_are_not_convex_are_bounded_from_below(name):
    rng = np.random.default_rng(2)
    exact, total = 0, 0
    for case in law_sweep(per_cone=4, seed=23, names=(name, "gaussian"), most_pieces=30):
        eps = random_tolerance(rng, case.facets, 0.05)
        given = case.facets, case.laws, case.scales, case.means, case.counts
        least = min(piece.value for piece in reference_laws.pieces(*given, loose=True, slack=case.facets @ eps))
        found = evidence(case.means, case.counts, family=case.family, cone=Cone(case.facets), tolerance=eps)
        assert found.value <= least * (1 + 1e-6) + 1e-9
        exact, total = exact + (found.value >= least * (1 - 1e-6) - 1e-9), total + 1
    assert exact > 0.7 * total


def test_nothing_cheaper_than_the_evidence_is_wrong_within_the_tolerance():
    rng = np.random.default_rng(3)
    crossed = 0
    for case in sweep(per_cell=1, seed=24):
        eps = random_tolerance(rng, case.facets, 0.5)
        slack = case.facets @ eps
        found = evidence(
            case.means, case.counts, family=Gaussian(covariance=case.covariance), cone=Cone(case.facets), tolerance=eps
        )
        roots = np.linalg.cholesky(case.covariances / case.counts[:, None, None])
        for turn in range(200):
            step = rng.normal(size=case.means.shape)
            # Along the closest alternative too, and a little beyond it.
            if turn % 2 and found.alternative.arms:
                aim = np.zeros_like(case.means)
                aim[list(found.alternative.arms)] = found.alternative.means - case.means[list(found.alternative.arms)]
                step = np.linalg.solve(roots, aim[:, :, None])[:, :, 0] + 0.1 * rng.normal(size=case.means.shape)
            size = (
                np.sqrt(2 * found.value) * rng.choice([0.5, 0.95, 0.999, 1.05, 1.5]) / max(np.linalg.norm(step), 1e-12)
            )
            moved = case.means + np.einsum("kpq,kq->kp", roots, size * step)
            cost = 0.5 * (size * np.linalg.norm(step)) ** 2
            right = reference.right_within(case.facets, moved, found.pareto_set, slack)
            assert right or cost >= found.value * (1 - 1e-9)
            crossed += not right
    assert crossed > 300, "the check must see wrong answers"


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("noise", NOISES)
def test_a_ledger_kept_up_to_date_equals_a_fresh_start(cone, noise):
    rng = np.random.default_rng(CONES.index(cone) * 10 + NOISES.index(noise))
    changes = 0
    for _ in range(2):
        case = random_case(rng, cone=cone, noise=noise, n_pareto=3, n_objectives=3, n_dominated=4)
        means, counts = case.means.copy(), np.ones(len(case.means))
        covariance = case.covariance.reshape(-1, 3, 3)
        roots = np.linalg.cholesky(covariance)
        half = case.facets @ roots
        slack = case.facets @ random_tolerance(rng, case.facets, 0.3)
        given = {"facets": case.facets, "prec": np.linalg.inv(covariance), "slack": slack}

        def fresh(means=means, counts=counts, half=half, case=case, given=given):
            inst = make_known(half @ np.swapaxes(half, 1, 2), means @ case.facets.T, counts, **given)
            return open_ledger(inst)

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


@pytest.mark.parametrize("law", ["bernoulli", "poisson", "student"])
def test_a_ledger_with_laws_kept_up_to_date_equals_a_fresh_start(law):
    rng = np.random.default_rng(4)
    facets = Cone.angle(100).facets
    codes, scale = np.full(2, CODES[law]), np.full((5, 2), 0.2)
    truth = rng.uniform(0.2, 0.8, (5, 2))
    slack = facets @ np.array([0.05, 0.1])
    means, counts = truth.copy(), np.full(5, 3.0)
    ledger = open_ledger(make_instance(codes, scale, facets, means, counts, slack=slack))
    refresh(ledger, 0.0)
    for _ in range(80):
        a = int(rng.integers(5))
        counts[a] += 1
        new = np.clip(means[a] + (truth[a] - means[a] + 0.3 * rng.normal(size=2)) / counts[a], 0.01, 0.99)
        shift, means[a] = new - means[a], new
        move(ledger, a, means[a], shift, counts[a])
        value = refresh(ledger, 0.0)
        anew = open_ledger(make_instance(codes, ledger.inst.scale, facets, means, counts, slack=slack))
        assert value == pytest.approx(refresh(anew, 0.0), rel=1e-7, abs=1e-11)


@pytest.mark.parametrize("tolerance", [0.0, [0.0, 0.0], {}, {"objective 1": 0.0}])
def test_no_tolerance_is_the_exact_question(tolerance):
    means, counts, given = [[2.0, 1.0], [0.0, 3.0], [1.0, 0.0]], [10, 10, 10], {"family": Gaussian(variance=1.0)}
    exact = evidence(means, counts, cone=Cone.orthant(2), **given)
    found = evidence(means, counts, cone=Cone.orthant(2), tolerance=tolerance, **given)
    assert found.value == exact.value and found.alternative.words == exact.alternative.words


def test_a_tie_has_evidence_within_a_tolerance():
    means = [[1.0, 0.0], [1.0, 0.0], [0.0, -1.0]]
    given = {"family": Gaussian(variance=1.0), "cone": Cone.orthant(2)}
    assert evidence(means, [50] * 3, **given).value == 0.0
    found = evidence(means, [50] * 3, tolerance=0.5, **given)
    # Two arms half a unit apart on both objectives: 2 x 0.5^2 / (2 x 2 / 50).
    assert found.value == pytest.approx(6.25)
    assert "by more than the tolerance" in found.alternative.words
    problem = Problem(means, **given)
    assert characteristic_time(problem).time == np.inf
    bound = characteristic_time(problem, tolerance=0.5)
    assert 0 < bound.time < np.inf
    with pytest.raises(InputError, match="no floor"):
        bound.floor(0.1)


@pytest.mark.parametrize("cone", CONES)
def test_characteristic_time_by_another_method(cone):
    rng = np.random.default_rng(5)
    case = random_case(rng, cone=cone, noise="correlated", n_pareto=2, n_objectives=3, n_dominated=1)
    eps = random_tolerance(rng, case.facets, 0.5)
    problem = Problem(case.means, family=Gaussian(covariance=case.covariance), cone=Cone(case.facets))
    slow = reference.characteristic_time(case.facets, case.covariances, case.means, case.facets @ eps)
    assert characteristic_time(problem, tolerance=eps).time == pytest.approx(slow, rel=1e-5)


def test_a_minimised_objective_has_its_tolerance_in_its_own_units():
    rng = np.random.default_rng(6)
    means, counts = rng.normal(size=(5, 2)), rng.integers(5, 20, 5)
    given = {"family": Gaussian(variance=[1.0, 2.0]), "cone": Cone.angle(70)}
    one = evidence(means, counts, tolerance=[0.3, 0.4], **given)
    flipped = evidence(means * [1, -1], counts, minimise=(1,), tolerance=[0.3, 0.4], **given)
    assert one.value == pytest.approx(flipped.value, rel=1e-12)


@pytest.mark.parametrize(
    ("tolerance", "message"),
    [
        (-0.1, "tolerance must be at least 0, got -0.1 for 'strength'"),
        ({"strength": 0.1, "cost": -1}, "tolerance must be at least 0, got -1 for 'cost'"),
        ({"price": 0.1}, "tolerance must be of .*'cost'.*, got 'price'"),
        ([0.1, 0.2, 0.3], "tolerance must have shape"),
        (float("nan"), "tolerance"),
        ("much", "tolerance"),
        (b"xy", "tolerance must be numbers, one for each objective or one for all, got b'xy'"),
        ([1.0, 0.0], "tolerance must be a difference that the cone calls better"),
    ],
)
def test_bad_tolerances_are_refused(tolerance, message):
    with pytest.raises(InputError, match=message):
        evidence(
            [[1.0, 2.0], [2.0, 1.0]],
            [3, 3],
            family=Gaussian(variance=1.0),
            cone=Cone.angle(60),
            objectives=("strength", "cost"),
            tolerance=tolerance,
        )


@pytest.mark.parametrize("cone", CONES)
def test_the_certified_margin_with_the_better_score_raised(cone):
    rng = np.random.default_rng(7)
    for noise in NOISES:
        case = random_case(rng, cone=cone, noise=noise, n_pareto=2, n_objectives=3, n_dominated=2)
        slack = case.facets @ random_tolerance(rng, case.facets, 0.5)
        counts = rng.integers(20, 400, len(case.means)).astype(float)
        half = case.facets @ np.linalg.cholesky(case.covariance.reshape(-1, 3, 3))
        gram, scores = half @ np.swapaxes(half, 1, 2), case.means @ case.facets.T
        inst = make_known(gram, scores, counts, slack=slack)
        (K, m), binding = scores.shape, np.full(4, -1)
        fresh = known_fresh(inst, default_grid(), counts)
        value = margin(fresh, inst, make_deal(K, m, m, False), make_scratch(K, m), binding)
        variances = np.broadcast_to(np.diagonal(gram, axis1=1, axis2=2), (K, m))

        def e(i, j, f, scores=scores, slack=slack, counts=counts, variances=variances):
            pair = [i, j]
            raised = np.array([scores[i, f] + slack[f], scores[j, f]])
            return reference_margin.e_value(raised, counts[pair], variances[pair, f], default_grid())

        tests = []
        for i in range(K):
            if inst.mask[i]:
                tests.append(min(max(e(i, j, f) for f in range(m)) for j in range(K) if j != i) - np.log(K * m))
            else:
                rivals = np.flatnonzero(inst.mask)
                tests.append(max(min(e(j, i, f) for f in range(m)) for j in rivals) - np.log(K * (K - 1)))
        assert value == pytest.approx(min(tests), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("law", ["gaussian", "bernoulli", "poisson"])
@pytest.mark.parametrize("slack", [0.05, 0.3])
def test_the_certified_test_of_a_family_with_the_better_score_raised(law, slack):
    rng = np.random.default_rng(8)
    draws = {
        "gaussian": lambda mean, n: rng.normal(mean, 0.5, n),
        "bernoulli": lambda mean, n: (rng.random(n) < mean).astype(float),
        "poisson": lambda mean, n: rng.poisson(5 * mean, n).astype(float),
    }
    outcomes = [draws[law](mean, 40) for mean in (0.6, 0.5)]
    first = np.array([[values[:10].mean()] for values in outcomes])
    near = make_instance(
        np.array([CODES[law]]), np.full((2, 1), 0.25), np.eye(1), first, np.full(2, 10.0), slack=np.array([slack])
    )
    fresh = make_law_fresh(near)
    end_pilot(fresh, near, np.zeros(2), True)
    for k, values in enumerate(outcomes):
        for value in values[10:]:
            add_fresh(fresh, k, np.array([value]), 1.0)
    means, N = fresh.inst.M[:, 0], fresh.inst.N

    def cost(x):
        return sum(n * reference_laws.divergence(law, mu, y, 0.25) for n, mu, y in zip(N, means, (x - slack, x)))

    low, high = means[1], means[0] + slack
    least = minimize_scalar(cost, bounds=(max(low, slack + 1e-9), min(high, 1 - 1e-9 if law == "bernoulli" else high)))
    assert high > low
    found = e_value(fresh, 0, 1, 0, 0, -np.inf, np.inf)
    assert found == pytest.approx(least.fun - fresh.penalty.sum(), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    "family", [Gaussian(variance=0.2), Gaussian(variance="unknown", noise=0.2), Bernoulli(), Poisson()]
)
@pytest.mark.parametrize("threshold", ["heuristic", "certified"])
def test_a_tie_ends(family, threshold):
    """Two equal options and a worse one: without a tolerance this never stops."""
    problem = Problem([[0.7, 0.3], [0.7, 0.3], [0.2, 0.9]], family=family, cone=Cone.orthant(2), minimise=(1,))
    for rule in (InformationDirected(), FraPPE(), TnS(), Uniform()):
        given = problem.cone, problem.labels, rule, as_threshold(threshold), 5
        setting = Setting.make(family, *given, tolerance=[0.3, 0.3])
        judge = Judge.of(problem, [0.3, 0.3])
        size = 1, 20_000, (1, 2), 0
        job = Job(
            setting,
            problem.means.copy(),
            (setting.threshold,),
            (0.1,),
            (),
            *size,
            rule.name,
            judge,
            problem.family,
            False,
        )
        record = one_run(job)
        assert 0 < record.time[0, 0] < 20_000
        answer = np.flatnonzero(record.answer[0, 0])
        facets = setting.facets
        assert reference.right_within(facets, problem.means, answer.tolist(), setting.slack)


def test_a_rule_with_its_own_stop_knows_no_tolerance():
    problem = Problem([[0.7, 0.5], [0.2, 0.1]], family=Gaussian(variance=0.2), cone=Cone.orthant(2))
    with pytest.raises(InputError, match="knows no tolerance"):
        Setting.make(problem.family, problem.cone, problem.labels, APE(), as_threshold("own"), 1, tolerance=0.1)


def test_a_tolerance_of_the_whole_range_of_a_share_is_refused():
    with pytest.raises(InputError, match="tolerance of 'cured' must be below 1, as its outcomes are 0 or 1, got 1"):
        Experiment(2, ("cured",), family=Bernoulli(), tolerance=1.0)
    Experiment(2, ("cured",), family=Bernoulli(), tolerance=0.999)


def divergences(p, x):
    """Of a yes-or-no outcome, with its borders."""
    with np.errstate(divide="ignore", invalid="ignore"):
        yes = np.where(p > 0.0, p * np.log(p / x), 0.0)
        return yes + np.where(p < 1.0, (1.0 - p) * np.log((1.0 - p) / (1.0 - x)), 0.0)


def test_two_chances_next_to_the_ends_of_their_range_equal_a_scan():
    rng = np.random.default_rng(8)
    special = [
        ([0.5, 2 / 3], [2, 6], 0.5),
        ([0.1, 0.0], [3, 3], 0.1),
        ([2 / 3, 0.0], [6, 1], 0.5),
        ([1.0, 1.0], [3, 3], 0.1),
    ]
    drawn = []
    for _ in range(60):
        counts = rng.integers(1, 9, 2)
        drawn.append((rng.binomial(counts, rng.random(2)) / counts, counts, rng.choice([0.1, 0.2, 0.5])))
    for means, counts, eps in [*special, *drawn]:
        found = evidence([[m] for m in means], counts, family=Bernoulli(), cone=Cone.orthant(1), tolerance=eps)
        least = np.inf
        for i, j in ((0, 1), (1, 0)):
            if means[i] == max(means):
                x = np.linspace(eps, 1.0, 400_001)
                up = np.where(x > means[j], counts[j] * divergences(means[j], x), 0.0)
                down = np.where(x - eps < means[i], counts[i] * divergences(means[i], np.maximum(x - eps, 0.0)), 0.0)
                least = min(least, float(np.nanmin(up + down)))
        assert found.value == pytest.approx(least, rel=1e-4, abs=1e-9), (means, counts, eps)
