"""The certified tests of families: penalties against quadrature, margins against definitions, Ville's inequality."""

import numpy as np
import pytest
import reference_laws as reference
from scipy.integrate import quad
from scipy.stats import gamma, multivariate_normal

from benchmarks.families import certified_instances
from benchmarks.guarantee import run_certified, wrong_at
from prepex import Bernoulli, Cone, Exponential, Gaussian, Poisson, Problem, Product, simulate
from prepex._kernels.deal import make_deal
from prepex._kernels.laws.fresh import SHARED, make_law_fresh, shared_penalty
from prepex._kernels.laws.instance import make_instance
from prepex._kernels.laws.pair import student_pair
from prepex._kernels.margin import add_fresh, e_value, make_scratch, margin, settle_tests
from prepex._kernels.pilot import leave_pilot
from prepex.sampling import InformationDirected

import reference_margin
from pooled import DELTA, SEEN, most, power

CODES = {"gaussian": 0, "bernoulli": 1, "poisson": 2, "exponential": 3, "student": 4, "shared": 0}
TRUTH = {"gaussian": 0.4, "bernoulli": 0.3, "poisson": 1.7, "exponential": 2.0, "student": 0.4, "shared": 0.4}
SCALE = 0.8


def end_pilot(fresh, near):
    """What the pilot leaves for the tests."""
    K, rows = near.S.shape
    deal = make_deal(K, rows, near.n_facets, True)
    leave_pilot(fresh, near, np.zeros(K), deal, np.int64(1), np.int64(1))
    return deal


def draw(rng, law, mean, size):
    return {
        "bernoulli": lambda: (rng.random(size) < mean).astype(float),
        "poisson": lambda: rng.poisson(mean, size).astype(float),
        "exponential": lambda: rng.exponential(mean, size),
    }.get(law, lambda: rng.normal(mean, np.sqrt(SCALE), size))()


def instance_of(law, pilots):
    """The pilot's outcomes of each arm, one objective."""
    means = np.array([[np.mean(values)] for values in pilots])
    scale = [[np.var(v) if len(v) > 2 else -np.var(v) * len(v)] for v in pilots]
    scale = np.array(scale) if law == "student" else np.full_like(means, SCALE)
    counts = np.array([float(len(values)) for values in pilots])
    shared = np.array([law == "shared"])
    near = make_instance(np.array([CODES[law]]), scale, np.eye(1), means, counts, shared)
    near.square[:, 0] = near.line[:, 0] = [np.var(values) * len(values) for values in pilots]
    return near


@pytest.mark.parametrize("law", [law for law in CODES if law != "shared"])
def test_penalties_are_likelihood_over_mixture(law):
    rng = np.random.default_rng(3)
    pilots = [draw(rng, law, TRUTH[law], 6), draw(rng, law, TRUTH[law], 4)]
    near = instance_of(law, pilots)
    fresh = make_law_fresh(near)
    end_pilot(fresh, near)
    free = sum(len(v) - 1 for v in pilots)
    spread = sum(np.var(v) * len(v) for v in pilots) / free
    outcomes = draw(rng, law, TRUTH[law], 25)
    for n, x in enumerate(outcomes, 1):
        add_fresh(fresh, 0, np.array([x]), 1.0)
        if n in (3, 10, 25):
            seen = outcomes[:n]
            prior = len(pilots[0]), np.mean(pilots[0]), np.var(pilots[0]) * len(pilots[0]), spread
            mixed = reference.log_mixture(law, seen, prior, SCALE)
            top = reference.log_likelihood(law, seen, np.mean(seen), SCALE)
            assert fresh.penalty[0, 0] == pytest.approx(top - mixed, rel=1e-6, abs=1e-7)
            if law == "student":
                assert fresh.penalty_f[0, 0] == pytest.approx(top - mixed, rel=1e-6, abs=1e-7)


def test_the_penalty_of_a_shared_variance_is_likelihood_over_mixture():
    """The mixture by quadrature over the variance; the means given it in closed form, as a joint Gaussian density."""
    rng = np.random.default_rng(6)
    pilots = [draw(rng, "shared", 0.4, n) for n in (5, 4, 6)]
    fresh = make_law_fresh(instance_of("shared", pilots))
    end_pilot(fresh, instance_of("shared", pilots))
    told = [draw(rng, "shared", 0.4, n) for n in (7, 9)]
    for k, rows in enumerate(told):
        for x in rows:
            add_fresh(fresh, k, np.array([x]), 1.0)
    free = sum(len(v) - 1 for v in pilots)
    spread = sum(np.var(v) * len(v) for v in pilots) / free
    prior = gamma(0.5 + free / 4, scale=2 / (spread * (1 + free / 2)))

    def density(precision):
        total = prior.logpdf(precision)
        for v, x in zip(pilots, told, strict=False):
            covariance = (np.eye(len(x)) + 2 / len(v)) / precision
            total += multivariate_normal.logpdf(x, np.full(len(x), np.mean(v)), covariance)
        return total

    peak = max(density(p) for p in np.linspace(0.05, 20, 400))
    mixed = peak + np.log(quad(lambda p: np.exp(density(p) - peak), 0, 50, points=[1, 3], limit=400)[0])
    residual = np.concatenate([x - np.mean(x) for x in told])
    n = len(residual)
    top = -n / 2 * (np.log(2 * np.pi * np.mean(residual**2)) + 1)
    assert shared_penalty(fresh, 0, 1, 0) == pytest.approx(top - mixed, rel=1e-6)


def test_a_pair_of_unknown_variances_is_minimised_over_the_common_mean():
    rng = np.random.default_rng(7)
    t = np.linspace(0, 1, 200_001)
    for _ in range(100):
        n, m = rng.integers(3, 200, 2)
        A, B = np.exp(rng.normal(-2, 2, 2))
        on_grid = n / 2 * np.log1p((1 - t) ** 2 / A) + m / 2 * np.log1p(t**2 / B)
        assert student_pair(float(n), A, float(m), B) == pytest.approx(on_grid.min(), rel=1e-7)


def test_streams_of_correlated_objectives_keep_the_promise():
    """Two equal arms whose objectives are correlated, and a facet that looks at both: few rejections at every time."""
    rng = np.random.default_rng(8)
    root = np.linalg.cholesky(np.array([[1.0, 0.9], [0.9, 1.0]]))
    for shared in (False, True):
        wrong = 0
        for _ in range(200):
            code = np.array([0 if shared else 4] * 2)
            near = make_instance(
                code, np.zeros((2, 2)), np.array([[0.7, 0.7]]), np.zeros((2, 2)), np.full(2, 4.0), np.full(2, shared)
            )
            for k in range(2):
                rows = rng.normal(size=(4, 2)) @ root.T
                near.M[k], near.S[k] = rows.mean(axis=0), rows.mean(axis=0) @ near.W.T
                near.line[k] = np.var(rows @ near.W.T, axis=0) * 4
            fresh = make_law_fresh(near)
            end_pilot(fresh, near)
            high = -np.inf
            for step in range(80):
                add_fresh(fresh, step % 2, root @ rng.normal(size=2), 1.0)
                if step > 6:
                    high = max(high, e_value(fresh, 0, 1, 0, 0, -np.inf, np.inf))
            wrong += high >= np.log(1 / RISK)
        assert wrong / 200 <= RISK + 3 * np.sqrt(RISK * (1 - RISK) / 200)


STREAMS, STEPS, RISK = 300, 120, 0.1


def bare_ratio(fresh):
    """The bare likelihood ratio of 0 over 1: e without its penalties."""
    value = e_value(fresh, 0, 1, 0, 0, -np.inf, np.inf)
    paid = shared_penalty(fresh, 0, 1, 0) if fresh.kind[0] == SHARED else fresh.penalty[:, 0].sum()
    return value + paid if np.isfinite(value) else -np.inf


def rejected(law, lead, fair=False):
    """How often e(0 over 1) and the bare likelihood ratio reach log(1/a) when arm 0 truly leads by `lead` times.

    Arms take turns if `fair`; else the one that seems to be ahead is pulled less, which inflates a lead.
    """
    rng = np.random.default_rng(4)
    top_e, top_ratio = np.zeros(STREAMS), np.zeros(STREAMS)
    truth = (lead * TRUTH[law], TRUTH[law])
    for stream in range(STREAMS):
        near = instance_of(law, [draw(rng, law, mean, 4) for mean in truth])
        fresh = make_law_fresh(near)
        end_pilot(fresh, near)
        for step in range(STEPS):
            M = fresh.inst.M[:, 0]
            doubtful = int(M[0] > TRUTH[law]) if rng.random() < 0.9 else int(rng.integers(2))
            arm = step % 2 if fair or step < 6 else doubtful
            add_fresh(fresh, arm, draw(rng, law, truth[arm], 1), 1.0)
            if step >= 6:
                top_e[stream] = max(top_e[stream], e_value(fresh, 0, 1, 0, 0, -np.inf, np.inf))
                top_ratio[stream] = max(top_ratio[stream], bare_ratio(fresh))
    return [float(np.mean(top >= np.log(1 / RISK))) for top in (top_e, top_ratio)]


@pytest.mark.parametrize("law", CODES)
def test_ville(law):
    """Two arms with the same mean: e reaches log(1/a) with probability at most a."""
    allowed = RISK + 3 * np.sqrt(RISK * (1 - RISK) / STREAMS)
    by_e, by_ratio = rejected(law, lead=1.0)
    assert by_e <= allowed
    # The penalties matter, and the same check notices a null that is false.
    assert by_ratio > 2 * by_e
    assert rejected(law, lead=2.5 if law in ("bernoulli", "poisson", "exponential") else 4.0, fair=True)[0] > allowed


def test_margin_against_its_definition():
    rng = np.random.default_rng(5)
    for trial in range(30):
        laws = ["bernoulli", "poisson", "gaussian"][: 2 + trial % 2]
        K, L = int(rng.integers(2, 7)), len(laws)
        codes = np.array([CODES[law] for law in laws])
        cone = Cone.orthant(L) if trial % 3 else Cone.from_facets(np.eye(L) + 0.3)
        truth = np.column_stack([rng.uniform(0.2, 0.8, K), rng.uniform(1, 4, K), rng.normal(size=K)])[:, :L]
        rewards = [np.column_stack([draw(rng, law, truth[k, q], 40) for q, law in enumerate(laws)]) for k in range(K)]
        means = np.array([rows[:5].mean(axis=0) for rows in rewards])
        near = make_instance(codes, np.full((K, L), SCALE), cone.facets, means, np.full(K, 5.0))
        fresh = make_law_fresh(near)
        deal = end_pilot(fresh, near)
        for k in range(K):
            for row in rewards[k][5 : int(rng.integers(6, 40))]:
                add_fresh(fresh, k, row, 1.0)
        scratch, binding = make_scratch(K, cone.n_facets), np.full(4, -1, dtype=np.int64)
        value = margin(fresh, near, deal, scratch, binding)
        dealt = reference_margin.Dealt(near.S, near.N, near.V, cone.n_facets, near.slack)

        def e(i, j, f, k, fresh=fresh):
            return e_value(fresh, i, j, f, k, -np.inf, np.inf)

        front = np.flatnonzero(near.mask).tolist()
        tests = reference_margin.arm_tests(front, e, lambda k: [], lambda k: [], cone.n_facets, dealt)
        assert value == pytest.approx(reference_margin.margin(tests, dealt, front)[0], abs=1e-9)
        assert np.all(binding >= 0)
        settle_tests(fresh, near, deal, scratch)
        assert value == scratch.bound.min()


# A name of each family; the runs of all are pooled (pooled.py).
SMALL = ("bernoulli", "poisson", "exponential", "mixed", "mixed, cone", "unknown variance")
EACH = 100


def test_certified_errors_stay_below_delta():
    wrong, total = 0, EACH * len(SMALL)
    assert power(total) > SEEN
    for name in SMALL:
        rows = list(run_certified(certified_instances()[name], delta=DELTA, n_runs=EACH, seed=7).rows())
        assert all(row["stopped"] for row in rows), name
        wrong += sum(not row["correct"] for row in rows)
    assert wrong <= most(total)


def test_the_same_check_catches_an_error_of_a_fifth():
    """Negative control: stopping at a margin so low that a fifth of the runs is wrong."""
    total = EACH * len(SMALL)
    wrong = sum(sum(wrong_at(certified_instances()[name], margin=-3.3, n_runs=EACH, seed=7)) for name in SMALL)
    assert 0.15 < wrong / total < 0.25, "the control is what it says"
    assert wrong > most(total)


def test_a_family_that_fits_stops_earlier_than_a_variance_of_one_quarter():
    """Rare events: a Gaussian with the largest variance of a 0/1 outcome, 1/4, is safe but slow."""
    means = [[0.03, 0.5], [0.12, 0.5], [0.02, 0.2]]
    stops = [
        simulate(Problem(means, family=family, cone=Cone.orthant(2)), sampling=InformationDirected(), n_runs=8, seed=1)
        for family in (Bernoulli(), Gaussian(variance=0.25))
    ]
    assert stops[0].summary()[0].mean < stops[1].summary()[0].mean


def test_every_simple_family_certifies():
    for family, means in (
        (Poisson(), [[3.0, 1.0], [1.0, 3.0], [0.8, 0.7]]),
        (Exponential(), [[3.0, 1.0], [1.0, 3.0], [0.8, 0.7]]),
        (Product([Exponential(), Bernoulli()]), [[3.0, 0.2], [1.0, 0.8], [0.8, 0.1]]),
    ):
        problem = Problem(means, family=family, cone=Cone.orthant(2))
        runs = simulate(problem, sampling=InformationDirected(), threshold="certified", n_runs=5, seed=2)
        assert all(row["stopped"] and row["correct"] for row in runs.rows())
