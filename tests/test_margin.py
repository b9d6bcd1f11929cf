"""The certified margin: against full enumeration, at its edges, and as the probability statement it stands for."""

import numpy as np
import pytest
from scipy.special import erfcx

from prepex._kernels import margin as kernels
from prepex._kernels import mixture
from prepex._kernels.instance import make_known
from prepex._kernels.pilot import set_prices

import reference_margin as reference
from cases import CONES, NOISES, random_case

RHO = mixture.default_grid()


def make_instance(scores, counts, variances):
    """An Instance whose facet scores have the given variances (K, m), one covariance an arm."""
    gram = np.stack([np.diag(row) for row in np.atleast_2d(variances)])
    return make_known(gram, np.array(scores, dtype=float), np.array(counts, dtype=float))


def fresh_of(inst, rho=RHO):
    """All outcomes count."""
    return mixture.known_fresh(inst, rho, inst.N)


def run_margin(inst, price=None, rho=RHO, guide=None):
    K, m = inst.S.shape
    binding = np.full(4, 7)
    price = kernels.equal_prices(K, m) if price is None else price
    value = kernels.margin(fresh_of(inst, rho), guide or inst, price, kernels.make_scratch(K), binding)
    return value, tuple(int(k) for k in binding[:3])


def random_pairs(rng, n):
    """Gaps 1e-9 to 1e3, counts 1 to 1e7 and often very unequal, variances within a factor of 1e4."""
    for k in range(n):
        counts = np.floor(10 ** rng.uniform(0, (2, 4, 7)[k % 3], 2))
        variances = 10 ** rng.uniform(-2, 2, 2) if k % 2 else np.ones(2)
        a_few_errors = rng.exponential(4) * np.sqrt((variances / counts).sum())
        gap = a_few_errors if k % 5 else 10 ** rng.uniform(-9, 3)
        yield gap, counts, variances


def on_pair(gap, counts, variances, low=-np.inf, high=np.inf, rho=RHO):
    inst = make_instance([[gap], [0.0]], counts, variances[:, None])
    fresh = fresh_of(inst, rho)
    return mixture.survey(fresh, 0, 1, 0)[0], kernels.e_value(fresh, 0, 1, 0, low, high)


def test_half_normal_against_scipy():
    for z in np.concatenate([np.linspace(-60, 12, 2001), [-8, np.nextafter(-8, 0), 0, 7, 7.001, -1e4, 1e4]]):
        p, square, first, second = mixture.half_normal(float(z))
        assert np.log(p) + square == pytest.approx(float(reference.log_half_normal(z)), abs=2e-12, rel=1e-14)
        assert first > 0 and 0 < second <= 1
        if -60 <= z < 30:
            hazard = np.sqrt(2 / np.pi) / erfcx(-z / np.sqrt(2))
            assert first == pytest.approx(z + hazard, abs=1e-10)
            assert second == pytest.approx(1 - hazard * (z + hazard), abs=1e-9)


def test_e_value_and_its_lower_bound():
    rng = np.random.default_rng(1)
    for gap, counts, variances in random_pairs(rng, 400):
        floor, value = on_pair(gap, counts, variances)
        exact = reference.e_value((gap, 0.0), counts, variances, RHO)
        assert value == pytest.approx(exact, abs=1e-8, rel=1e-9)
        assert value <= exact + 1e-9 * (1 + abs(exact)), "never more evidence than there is"
        assert floor <= value + 1e-9 * (1 + abs(value))


def test_a_window_gives_the_value_inside_and_a_true_bound_outside():
    rng = np.random.default_rng(2)
    for gap, counts, variances in random_pairs(rng, 600):
        _, value = on_pair(gap, counts, variances)
        slack = 1e-9 * (1 + abs(value))
        for away in (1e-6, 0.01, 1.0, 5.0):
            away *= 1 + abs(value)
            assert on_pair(gap, counts, variances, value - away, value + away)[1] == pytest.approx(value, abs=slack)
            below = on_pair(gap, counts, variances, high=value - away)[1]
            assert value - away <= below <= value + slack
            above = on_pair(gap, counts, variances, low=value + away)[1]
            assert value - slack <= above <= value + away


@pytest.mark.parametrize("rho", [[1.0], [0.01], [1e6], [1e-3, 1e5], [3.0, 2.0, 50.0]])
def test_any_grid(rho):
    rng = np.random.default_rng(3)
    for gap, counts, variances in random_pairs(rng, 30):
        floor, value = on_pair(gap, counts, variances, rho=np.array(rho))
        exact = reference.e_value((gap, 0.0), counts, variances, np.array(rho))
        assert value == pytest.approx(exact, abs=1e-8, rel=1e-9)
        assert floor <= value + 1e-9 * (1 + abs(value))


def test_extremes_are_finite_and_quick():
    for counts in ([1, 1], [1, 1e7], [1e7, 1], [1e7, 1e7]):
        for gap in 10.0 ** np.arange(-12, 7):
            for ratio in (1e-6, 1.0, 1e6):
                floor, value = on_pair(gap, np.array(counts), np.array([1.0, ratio]))
                assert np.isfinite(value) and floor <= value + 1e-9 * (1 + abs(value))


def test_evidence_grows_with_the_gap_and_does_not_depend_on_the_unit():
    counts, variances = np.array([3.0, 900.0]), np.array([2.0, 0.5])
    values = [on_pair(gap, counts, variances)[1] for gap in np.linspace(0.01, 8, 60)]
    assert np.all(np.diff(values) > 0)
    assert on_pair(50.0, counts, 2500 * variances)[1] == pytest.approx(on_pair(1.0, counts, variances)[1], abs=1e-9)


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("noise", NOISES)
def test_margin_against_enumeration(cone, noise):
    rng = np.random.default_rng(100 * CONES.index(cone) + NOISES.index(noise))
    for n_pareto in (1, 2, 4):
        case = random_case(rng, cone=cone, noise=noise, n_pareto=n_pareto, n_objectives=3, n_dominated=2)
        half = case.facets @ np.linalg.cholesky(case.covariance.reshape(-1, 3, 3))
        counts = np.ceil(case.counts ** rng.uniform(0.5, 3))
        inst = make_known(half @ np.swapaxes(half, 1, 2), case.means @ case.facets.T, counts)
        price = kernels.equal_prices(*inst.S.shape) if n_pareto < 2 else rng.uniform(0, 5, (3, len(inst.N)))
        value, binding = run_margin(inst, price)
        exact, test = reference.margin(inst.S, inst.N, inst.V * inst.N[:, None], RHO, price)
        assert value == pytest.approx(exact, abs=1e-8)
        assert binding == test


def plain_margin(inst, price):
    """The definition, by the kernel's own e-values: fast enough for many arms."""
    K, m = inst.S.shape
    fresh = fresh_of(inst)
    e = np.array(
        [[[kernels.e_value(fresh, i, j, f, -np.inf, np.inf) for f in range(m)] for j in range(K)] for i in range(K)]
    )
    front = np.flatnonzero(inst.mask)
    tests = [
        min(e[i, j].max() for j in range(K) if j != i) - price[0, i]
        if inst.mask[i]
        else max(e[j, i].min() - price[2, j] for j in front) - price[1, i]
        for i in range(K)
    ]
    return min(tests), e


def test_margin_of_many_arms_near_balance():
    """All tests about equally far: no bound separates them, every shortcut is tried."""
    rng = np.random.default_rng(4)
    kinds = set()
    for trial in range(40):
        K, m = int(rng.integers(2, 14)), int(rng.integers(1, 5))
        scores = rng.normal(size=(K, m)) * (1, 0.1)[trial % 2] - rng.exponential(0.5, (K, 1))
        counts = np.ceil(10 ** rng.uniform(0, 4, K))
        inst = make_instance(scores, counts, rng.uniform(0.3, 3, (K, m)))
        price = kernels.equal_prices(K, m) + (trial % 3) * rng.uniform(-1, 1, (3, K))
        binding = np.full(4, 7)
        value = kernels.margin(fresh_of(inst), inst, price, kernels.make_scratch(K), binding)
        better, worse, facet, kind = binding
        exact, e = plain_margin(inst, price)
        assert value == pytest.approx(exact, abs=1e-9)
        in_front = kind == kernels.IN_FRONT
        kinds.add(in_front)
        paid = price[0, better] if in_front else price[1, worse] + price[2, better]
        assert e[better, worse, facet] - paid == pytest.approx(value, abs=1e-9)
    assert kinds == {True, False}


def test_write_grid_is_make_grid():
    counts = np.array([1.0, 5.0, 1e6])
    grid = mixture.make_grid(counts, RHO)
    mixture.write_grid(grid, 1, 17.0)
    fresh = mixture.make_grid(np.array([1.0, 17.0, 1e6]), RHO)
    np.testing.assert_allclose(grid.shrink, fresh.shrink, rtol=1e-14)
    np.testing.assert_allclose(grid.soft, fresh.soft, rtol=1e-14)


def test_ties_hold_the_margin_at_minus_infinity():
    equal = make_instance([[1.0, 0.0], [1.0, 0.0], [-1.0, -1.0]], [9, 9, 9], np.ones((3, 2)))
    value, (better, worse, facet) = run_margin(equal)
    assert value == -np.inf and {better, worse} == {0, 1} and facet in (0, 1)
    # Dominated, but level with its only dominator on one facet: nothing is certain there.
    level = make_instance([[1.0, 0.0], [0.5, 0.0]], [9, 9], np.ones((2, 2)))
    assert run_margin(level) == (-np.inf, (0, 1, 1))


def test_a_dominator_that_the_outcomes_after_the_pilot_do_not_show():
    """Every rival is level with arm 2 or below it there: the test to work on is the one that all outcomes name."""
    variances = np.ones((3, 2))
    every = make_instance([[1.0, 0.0], [0.0, 1.0], [-0.5, 0.9]], [50, 50, 50], variances)
    late = make_instance([[1.0, 0.0], [0.0, 0.8], [-0.5, 0.9]], [9, 9, 9], variances)
    assert np.flatnonzero(every.mask).tolist() == [0, 1]
    late = late._replace(mask=every.mask, front=every.front, size=every.size)
    assert run_margin(late, guide=every) == (-np.inf, (1, 2, 1))


def test_prices_of_a_pilot_against_their_definition():
    rng = np.random.default_rng(8)
    for _ in range(60):
        K, m = int(rng.integers(2, 12)), int(rng.integers(1, 5))
        counts, variances = np.ceil(10 ** rng.uniform(0, 2, K)), rng.uniform(0.3, 3, (K, m))
        inst = make_instance(rng.normal(size=(K, m)) - rng.exponential(1, (K, 1)), counts, variances)
        price = np.zeros((3, K))
        set_prices(inst, np.zeros(K), price)
        share, part = reference.shares(inst.S, counts, variances)
        np.testing.assert_allclose(np.exp(-price[0]) * m, share, rtol=1e-10)
        for i in range(K):
            others = np.delete(np.arange(K), i)
            spent = np.exp(-price[1, i] - price[2, others])
            np.testing.assert_allclose(spent, share[i] * part[others] / (1 - part[i]), rtol=1e-10)
            assert spent.sum() == pytest.approx(share[i], rel=1e-10), "rivals spend exactly the arm's share"
        assert np.sum(m * np.exp(-price[0])) == pytest.approx(1.0, rel=1e-10)


def test_a_pilot_that_leaves_no_doubt_gives_equal_shares():
    """exp(-2 c) of every arm would vanish, and the shares with it."""
    inst = make_instance([[1e3, 0.0], [0.0, 1e3], [-1e3, -1e3]], [9, 9, 9], np.ones((3, 2)))
    price = np.zeros((3, 3))
    set_prices(inst, np.zeros(3), price)
    np.testing.assert_allclose(2 * np.exp(-price[0]), np.full(3, 1 / 3))
    assert np.all(np.isfinite(price))


def test_one_arm_is_certain():
    assert run_margin(make_instance([[1.0, 2.0]], [3], np.ones((1, 2)))) == (np.inf, (-1, -1, -1))


def test_two_arms_one_facet():
    value, binding = run_margin(make_instance([[1.0], [0.0]], [50, 60], np.ones((2, 1))))
    e = reference.e_value((1.0, 0.0), (50, 60), (1.0, 1.0), RHO)
    assert value == pytest.approx(e - np.log(2), abs=1e-9)
    assert binding == (0, 1, 0)


# The probability statement. Under the null mu_i = mu_j (its least favourable point), any rule may choose the arms.

STREAMS, STEPS, RISK = 2000, 300, 0.1


def null_streams(rule, seed):
    """sup over time of e and of the plain likelihood ratio, per stream."""
    rng = np.random.default_rng(seed)
    rho = RHO[:4]
    counts, sums = np.ones((STREAMS, 2)), rng.normal(size=(STREAMS, 2))
    top_e, top_glr = np.full(STREAMS, -np.inf), np.full(STREAMS, -np.inf)
    rows = np.arange(STREAMS)
    for _ in range(STEPS):
        x = sums / counts
        gap = x[:, 0] - x[:, 1]
        glr = np.where(gap > 0, gap**2 / (2 * (1 / counts).sum(axis=1)), 0)
        top_glr = np.maximum(top_glr, glr)
        # e is at most log 4 + glr, and at most the value at any x: the kernel is needed only where both are high.
        hopeful = np.flatnonzero((glr + np.log(4) > np.log(1 / RISK)) & (top_e < np.log(1 / RISK)))
        for share in (0.3, 0.5, 0.7):
            n, u = counts[hopeful], gap[hopeful, None]
            up = reference.log_mixture(share * u, n[:, :1], 1.0, rho)
            down = reference.log_mixture((1 - share) * u, n[:, 1:], 1.0, rho)
            above = np.logaddexp.reduce(up + down, axis=1) - np.log(len(rho))
            hopeful = hopeful[above > np.log(1 / RISK)]
        for s in hopeful:
            top_e[s] = max(top_e[s], on_pair(gap[s], counts[s], np.ones(2), rho=rho)[1])
        arm = rule(x, counts, rng)
        counts[rows, arm] += 1
        sums[rows, arm] += rng.normal(size=STREAMS)
    return top_e, top_glr


def pull_the_doubtful(x, counts, rng):
    """Keep a lucky leader, pull the other; now and then the reverse: made to exaggerate the gap."""
    arm = np.where(x[:, 0] > 0, 1, 0)
    arm = np.where((x[:, 0] > 0) & (x[:, 1] < 0), counts.argmin(axis=1), arm)
    return np.where(rng.random(len(x)) < 0.1, 1 - arm, arm)


def pull_at_random(x, counts, rng):
    return rng.integers(2, size=len(x))


@pytest.mark.parametrize("rule", [pull_the_doubtful, pull_at_random])
def test_ville(rule):
    top_e, top_glr = null_streams(rule, 5)
    allowed = RISK + 3 * np.sqrt(RISK * (1 - RISK) / STREAMS)
    assert np.mean(top_e >= np.log(1 / RISK)) <= allowed
    # The same check refuses a statistic without the mixture's penalty.
    assert np.mean(top_glr >= np.log(1 / RISK)) > allowed
