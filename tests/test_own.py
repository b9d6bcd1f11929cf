"""AdaHedge, PSIPS, APE and Auer's elimination against direct definitions."""

import numpy as np
import pytest

from prepex import Cone, Experiment, Gaussian, simulate
from prepex._kernels.course import CALM, CALM_CHANCE, FIRST, RISK, SECOND
from prepex._kernels.own import own_stops, propose_own
from prepex._kernels.rules.ape import ape_index, ape_radius
from prepex._kernels.rules.auer import ACCEPTED, REJECTED, auer_radius
from prepex._kernels.rules.hedge import hedge_learn, hedge_weights
from prepex._kernels.rules.psips import draw_set, sort_arms
from prepex.errors import InputError
from prepex.instances import correlated
from prepex.sampling import APE, PSIPS, Auer, FraPPE

from reference_margin import pareto

CORRELATED = np.array([[1.0, 0.4], [0.4, 2.0]])
CONES = {"orthant": Cone.orthant(2), "acute": Cone.angle(50), "obtuse": Cone.angle(130)}


def adahedge(gains):
    """Weights played at each round, straight from the definition."""
    total, gap, played = np.zeros(gains.shape[1]), 0.0, []
    for g in gains:
        if gap == 0:
            w = (total == total.max()) / np.sum(total == total.max())
            mixed = g[w > 0].max()
        else:
            eta = np.log(len(g)) / gap
            w = np.exp(eta * (total - total.max()))
            w /= w.sum()
            mixed = np.log(np.sum(w * np.exp(eta * g))) / eta
        played.append(w)
        gap += max(mixed - w @ g, 0)
        total += g
    return np.array(played)


@pytest.mark.parametrize("kind", ["random", "drifting", "adversary"])
def test_adahedge_against_its_definition_and_its_regret_bound(kind):
    rng = np.random.default_rng(1)
    n, K = 2000, 5
    gains = rng.uniform(0, 2, (n, K))
    if kind == "drifting":
        gains += np.sin(np.arange(n)[:, None] / 200 + np.arange(K))
    total, gap, w, played = np.zeros(K), 0.0, np.zeros(K), []
    for t in range(n):
        hedge_weights(total, gap, w)
        played.append(w.copy())
        if kind == "adversary":
            gains[t] = np.arange(K) == np.argmin(w)
        gap = hedge_learn(total, gap, w, gains[t])
    played = np.array(played)
    np.testing.assert_allclose(played[:300], adahedge(gains[:300]), atol=1e-9)
    regret = gains.sum(axis=0).max() - np.sum(played * gains)
    variance = np.sum(np.sum(played * gains**2, axis=1) - np.sum(played * gains, axis=1) ** 2)
    spread = np.max(gains.max(axis=1) - gains.min(axis=1))
    # de Rooij et al. (2014), Theorem 6.
    assert regret <= 2 * np.sqrt(variance * np.log(K)) + spread * (4 / 3 * np.log(K) + 2)
    assert total == pytest.approx(gains.sum(axis=0))


def live(sampling, cone="orthant", n=120, seed=0, covariance=CORRELATED, **options):
    """Four arms, pulled as asked."""
    truth = np.array([[1.0, 0.0], [0.2, 0.9], [0.1, -0.3], [-0.8, -0.6]])
    experiment = Experiment(
        4, 2, family=Gaussian(covariance=covariance), cone=CONES[cone], sampling=sampling, seed=seed, **options
    )
    rng, root = np.random.default_rng(seed), np.linalg.cholesky(covariance)
    for _ in range(n):
        arm = int(experiment.ask().split()[1])
        experiment.tell(arm, truth[arm] + root @ rng.standard_normal(2))
    return experiment


def posterior_sets(experiment, spread, n, seed):
    """Naive: draw all means, compare Pareto sets; (differs, |z|^2 of all arms) of n draws."""
    rng = np.random.default_rng(seed)
    root = np.linalg.cholesky(CORRELATED)
    facets = experiment.setting.cone.facets
    P = pareto(experiment.means @ facets.T)
    z = rng.standard_normal((n, 4, 2))
    moved = experiment.means + np.einsum("pq,nkq->nkp", root, z) * np.sqrt(spread / experiment.counts)[:, None]
    return np.array([pareto(row @ facets.T) != P for row in moved]), np.sum(z**2, axis=2)


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("quiet", [True, False], ids=["shortcut often", "shortcut rarely"])
def test_posterior_draws_differ_as_often_and_as_far_as_naive_ones(cone, quiet):
    experiment = live(PSIPS(), cone)
    course = experiment.course
    if quiet:
        # A small radius makes arms easy, and exceeding it common: every branch is taken.
        course.real[CALM], course.real[CALM_CHANCE] = 0.7, 1 - np.exp(-(0.7**2) / 2)
    n, spread = 20000, 1.3
    course.stream[0] = np.uint64(5)
    n_hard = sort_arms(course, spread)
    differ, sizes = np.zeros(n, dtype=bool), np.zeros((n, 4))
    for k in range(n):
        differ[k] = draw_set(course, spread, n_hard, True)
        sizes[k] = np.sum(course.draw**2, axis=1)
    naive, naive_sizes = posterior_sets(experiment, spread, n, 6)
    error = np.sqrt(naive.mean() * (1 - naive.mean()) * 2 / n)
    assert 0.01 < naive.mean() < 0.99
    assert differ.mean() == pytest.approx(naive.mean(), abs=4 * error)
    # The draws that differ are whole: every arm's |z|^2 has the conditional law.
    spread_of = naive_sizes[naive].std(axis=0) * np.sqrt(1 / naive.sum() + 1 / differ.sum())
    assert np.all(np.abs(sizes[differ].mean(axis=0) - naive_sizes[naive].mean(axis=0)) < 4 * spread_of)
    assert not quiet or n_hard < 4, "some arm is easy"


def test_psips_stops_when_all_draws_agree():
    """P(stop) = (1 - p)^n, p the share of inflated draws that differ."""
    experiment = live(PSIPS(), n=600)
    course, delta, t = experiment.course, 0.4, 600
    spread = 1 + np.log(max(np.log(t), 1)) / np.log(1 / delta)
    n = np.ceil(np.log(t / delta) / -np.log(1 - delta))
    p = posterior_sets(experiment, spread, 40000, 7)[0].mean()
    stopped = []
    for key in range(3000):
        course.key[0] = np.uint64(key * 1000003)
        stopped.append(own_stops(course, -np.log(delta)))
    expected = (1 - p) ** n
    assert 0.05 < expected < 0.95
    slope = n * (1 - p) ** (n - 1) * np.sqrt(p / 40000)
    assert np.mean(stopped) == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 3000 + slope**2))


def test_psips_plays_adahedge_mixed_with_uniform():
    experiment = live(PSIPS(), n=200)
    course = experiment.course
    assert course.aim.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(course.aim, (1 - 1 / 200) * course.mix + 1 / 800)
    pulled = np.zeros(4)
    for key in range(4000):
        course.key[0] = np.uint64(key)
        pulled[propose_own(course, np.zeros(4, dtype=np.int64), np.int64(0))] += 1
    np.testing.assert_allclose(pulled / 4000, course.aim, atol=4 * 0.5 / np.sqrt(4000))


def standard_scores(experiment):
    facets = experiment.setting.cone.facets
    return experiment.means @ facets.T / np.sqrt(np.diag(facets @ CORRELATED @ facets.T))


@pytest.mark.parametrize("cone", CONES)
def test_ape_indices_and_choice_against_their_definition(cone):
    experiment = live(APE(), cone, delta=0.05)
    course, counts = experiment.course, experiment.counts
    S, log = standard_scores(experiment), np.log
    delta = 0.05
    beta = np.sqrt((2 * log(1 / delta) + 3 * max(0, log(log(1 / delta))) + log(1 + log(counts))) / counts)
    np.testing.assert_allclose([ape_radius(float(n), log(1 / delta)) for n in counts], beta)
    P = pareto(S)
    z = np.array(
        [
            min(np.max(S[i] - S[j]) - beta[i] - beta[j] for j in range(4) if j != i)
            if i in P
            else max(np.min(S[j] - S[i]) - beta[i] - beta[j] for j in range(4) if j != i)
            for i in range(4)
        ]
    )
    np.testing.assert_allclose([ape_index(course, i, beta) for i in range(4)], z, atol=1e-9)
    assert own_stops(course, course.real[RISK]) == (z.min() >= 0)
    b = int(np.argmin(z))
    c = min((j for j in range(4) if j != b), key=lambda j: np.max(S[b] - S[j]) - beta[j])
    assert (course.whole[FIRST], course.whole[SECOND]) == (b, c)
    assert propose_own(course, np.zeros(4, dtype=np.int64), np.int64(0)) == (b if counts[b] <= counts[c] else c)


@pytest.mark.parametrize("cone", CONES)
def test_auer_against_its_definition(cone):
    """The whole elimination, replayed on sets."""
    delta, n = 0.1, 6000
    experiment = live(Auer(), cone, n=4, delta=delta)
    truth = np.array([[1.0, 0.0], [0.2, 0.9], [-0.9, -0.7], [-0.8, -0.6]])
    rng, root = np.random.default_rng(3), np.linalg.cholesky(CORRELATED)
    active, accepted = set(range(4)), set()
    facets = experiment.setting.cone.facets
    events = 0
    for _ in range(n):
        arm = int(experiment.ask().split()[1])
        assert arm in active or not active
        experiment.tell(arm, truth[arm] + root @ rng.standard_normal(2))
        counts = experiment.counts
        if active and len({counts[k] for k in active}) == 1:
            S = standard_scores(experiment)
            beta = np.sqrt(2 * np.log(4 * 4 * len(facets) * counts.astype(float) ** 2 / delta) / counts)
            wide = beta[:, None] + beta
            left = {i for i in active if not any(np.min(S[j] - S[i]) > wide[i, j] for j in active)}
            sure = {i for i in left if all(np.max(S[i] - S[j]) >= wide[i, j] for j in left if j != i)}
            needed = {j for j in sure if any(np.max(S[i] - S[j]) <= wide[i, j] for i in left - sure)}
            events += active != left - (sure - needed)
            active, accepted = left - (sure - needed), accepted | (sure - needed)
        phase = experiment.course.phase
        assert set(np.flatnonzero(phase == ACCEPTED)) == accepted
        assert set(np.flatnonzero(phase == REJECTED)) == set(range(4)) - active - accepted
    assert events >= 2, "arms are settled at different times"
    assert auer_radius(9.0, 2.0, 8.0) == pytest.approx(np.sqrt(2 * (np.log(4 * 8 * 81) + 2) / 9))


def test_auer_answers_with_what_it_accepted_and_is_proven():
    runs = simulate(correlated(0.0), sampling=[Auer(), APE()], deltas=[0.3, 0.05], n_runs=10, seed=2)
    rows = [row for row in runs.rows() if row["rule"] == "Auer"]
    assert [row["threshold"] for row in rows] == ["own"] * 20 and all(row["correct"] for row in rows)
    early = np.mean([row["stopping_time"] for row in rows if row["delta"] == 0.3])
    assert early < np.mean([row["stopping_time"] for row in rows if row["delta"] == 0.05])
    experiment = live(Auer(), n=4, delta=0.3, threshold="own", covariance=0.01 * CORRELATED)
    assert "own test at delta 0.3 is not passed yet" in experiment.why()
    truth = np.array([[1.0, 0.0], [0.2, 0.9], [0.1, -0.3], [-0.8, -0.6]])
    while not experiment.done:
        arm = int(experiment.ask().split()[1])
        experiment.tell(arm, truth[arm])
    assert experiment.recommendation.status == "certified"
    assert experiment.recommendation.arms == ("arm 0", "arm 1")


def test_own_is_refused_for_a_rule_without_a_test():
    with pytest.raises(ValueError, match="threshold must not be 'own'"):
        live(FraPPE(), n=0, threshold="own")
    with pytest.raises(ValueError, match="threshold must not be 'own'"):
        simulate(correlated(0.0), sampling=FraPPE(), threshold="own")
    with pytest.raises(ValueError, match="max_tries must be"):
        PSIPS(max_tries=0)
    message = r"must be at least 1e-06 for PSIPS, whose test takes about log\(t / delta\) / delta draws"
    with pytest.raises(InputError, match=f"^delta {message}"):
        Experiment(2, 1, family=Gaussian(variance=1.0), sampling=PSIPS(), threshold="own", delta=1e-7)
    with pytest.raises(InputError, match=f"^deltas {message}"):
        simulate(correlated(), sampling=PSIPS(), deltas=[0.1, 1e-7], n_runs=1)
