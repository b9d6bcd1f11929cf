"""Probabilities of being optimal, and the states of the arms."""

import math

import numpy as np
import pytest
import reference_posterior as reference

import prepex as px
from prepex import Experiment
from prepex.posterior import _judge, beaten, believe
from prepex.prior import Prior, numbers, whitened

KNOWN = px.Gaussian(variance=1.0)


def told(family, rows, n_arms=3, n_objectives=1, **options):
    made = Experiment(n_arms, n_objectives, family=family, **options)
    made.tell_many(rows)
    return made


@pytest.mark.parametrize("slack", [0.0, 0.4])
@pytest.mark.parametrize("limited", [False, True])
def test_arms_of_draws_are_judged_by_definition(slack, limited):
    rng = np.random.default_rng(5)
    for case in range(40):
        K, m, n = int(rng.integers(1, 7)), int(rng.integers(1, 4)), 6
        S = rng.normal(size=(n, K, m + limited)).round(1 if case % 2 else 9)
        if case % 3 == 0 and K > 1:
            # One that is ahead of all in every draw, which is a way of its own.
            S[:, 0, :m] += 9.0
        family = px.Gaussian(variance=[1.0] * (m + limited))
        limits = {"at_least": {"last": 0.0}} if limited else {}
        names = tuple(f"o{q}" for q in range(m)) + ("last",) * limited
        facets = np.eye(m + limited)[:m] if limited else None
        tolerance = dict.fromkeys(names[:m], slack)
        made = Experiment(K, names, family=family, tolerance=tolerance, threshold="heuristic", **limits)
        made.tell_many([(k, S[0, k]) for k in range(K)])
        inst = made.course.near.inst
        if facets is not None:
            # The orthant of all objectives: the limited one is a facet too, and then a limit.
            S = np.concatenate([S, S[:, :, -1:]], axis=2)
        on = inst.n_facets
        able = np.all(S[:, :, on:] >= 0.0, axis=2)
        optimal, wrong, _ = _judge(inst._replace(V=np.zeros_like(inst.V)), S)
        for d in range(n):
            assert np.array_equal(optimal[d], reference.optimal(S[d, :, :on], able[d], inst.slack[:on]))
            assert wrong[d].any() != reference.right(S[d, :, :on], able[d], inst.slack[:on], inst.mask)


def test_beaten_arms_that_are_never_near():
    S = np.array([[[5.0, 0.0, 4.9], [6.0, 1.0, 6.1]]])
    found, compared = beaten(S, np.ones((2, 3), dtype=bool), np.zeros(1))
    assert found.tolist() == [[False, True, True], [True, True, False]] and compared == 2


def test_probability_of_the_better_of_two():
    made = told(KNOWN, [(0, [1.0]), (1, [0.0])], n_arms=2)
    exact = 0.5 * math.erfc(-1.0 / math.sqrt(2.0) / math.sqrt(2.0))
    assert np.abs(made.probabilities - [exact, 1.0 - exact]).max() < 0.04
    assert made.probabilities.sum() == pytest.approx(1.0)
    assert not made.probabilities.flags.writeable
    assert made.probabilities is made.probabilities or np.array_equal(made.probabilities, made.probabilities)


def test_kept_until_the_next_outcome_and_the_same_for_the_same_seed():
    rows = [(0, [1.0]), (1, [0.4]), (2, [0.0])]
    one, two = told(KNOWN, rows, seed=4), told(KNOWN, rows, seed=4)
    assert np.array_equal(one.probabilities, two.probabilities)
    assert one._progress.belief is one._progress.belief
    before = one.probabilities
    one.tell(2, [3.0])
    assert not np.array_equal(before, one.probabilities)
    again = Experiment(3, 1, family=KNOWN, seed=4)
    again.restore(one.snapshot())
    assert np.array_equal(again.probabilities, one.probabilities) and again.states == one.states


@pytest.mark.parametrize(
    ("family", "value"),
    [
        (px.Bernoulli(), lambda n, s: (1 + s) / (2 + n)),
        (px.Poisson(), lambda n, s: (1 + s) / n),
        (px.Exponential(), lambda n, s: s / (n - 1)),
        (px.Gaussian(variance="unknown"), lambda n, s: s / n),
        (px.Gaussian(variance="unknown", shared=True), lambda n, s: s / n),
    ],
)
def test_means_of_draws_are_those_of_the_posterior(family, value):
    rng = np.random.default_rng(1)
    outcomes = rng.integers(0, 2, size=(30, 1)) if "Bern" in repr(family) else rng.integers(1, 9, size=(30, 1))
    made = told(family, [(k % 3, row) for k, row in enumerate(outcomes)], threshold="heuristic")
    from prepex.posterior import _draws_of

    S = _draws_of(made.setting, made.course, None)(np.random.default_rng(2), 60_000)
    want = [value(10, outcomes[k::3].sum()) for k in range(3)]
    assert np.allclose(S[:, :, 0].mean(axis=0) + made.course.origin[0], want, rtol=0.02)


def test_the_user_s_prior_pulls_the_means():
    prior = Prior(mean=[2.0, 0.0], covariance=[[1.0, 0.5], [0.5, 2.0]])
    cov = np.array([[1.0, 0.3], [0.3, 1.0]])
    rows = [(k, [0.3 * k, 1.0 - 0.2 * k]) for k in range(3)] + [(1, [0.1, 0.2])]
    made = told(px.Gaussian(covariance=cov), rows, n_objectives=2, threshold="heuristic")
    from prepex.posterior import _draws_of

    S = _draws_of(made.setting, made.course, prior)(np.random.default_rng(2), 200_000)
    for k, n in enumerate((1, 2, 1)):
        precision = n * np.linalg.inv(cov) + np.linalg.inv(prior.covariance)
        x = n * np.linalg.inv(cov) @ made.means[k] + np.linalg.inv(prior.covariance) @ prior.mean
        assert np.allclose(S[:, k].mean(axis=0) + made.course.origin, np.linalg.solve(precision, x), atol=0.02)
        assert np.allclose(np.cov(S[:, k].T), np.linalg.inv(precision), atol=0.02)


@pytest.mark.parametrize(
    ("family", "prior", "mean", "spread"),
    [
        (px.Bernoulli(), (0.3, 0.1), 0.3, 0.1),
        (px.Poisson(), (4.0, 1.0), 4.0, 1.0),
        (px.Exponential(), (4.0, 1.0), 4.0, 1.0),
    ],
)
def test_conjugate_priors_have_the_moments_asked_for(family, prior, mean, spread):
    from scipy import stats

    a, b, *_ = numbers(Prior(mean=[prior[0]], spread=[prior[1]]), family.laws(1, 1))[0]
    law = {"Bern": stats.beta(a, b), "Pois": stats.gamma(a, scale=1 / b), "Expo": stats.invgamma(a, scale=b)}
    found = law[repr(family)[:4]]
    assert found.mean() == pytest.approx(mean) and found.std() == pytest.approx(spread)


def test_before_there_is_a_posterior_nothing_is_said():
    made = Experiment(2, 1, family=px.Gaussian(variance="unknown"), threshold="heuristic")
    assert made.probabilities is None and made.states == ("open", "open")
    made.tell_many([(0, [1.0]), (1, [0.0])])
    assert made.probabilities is None and made.recommendation.probabilities is None
    made.tell_many([(0, [1.1]), (1, [0.1])])
    assert made.probabilities is not None and np.all(np.isfinite(made.probabilities))


def test_states_follow_the_tests_of_the_arms_and_then_the_answer():
    made = Experiment(3, 1, family=KNOWN, delta=0.1, seed=2)
    rng, seen = np.random.default_rng(3), set()
    while not made.done:
        arm = made.ask()
        made.tell(arm, rng.normal([2.0, 1.5, -4.0][made.labels.arms.index(arm)], 1.0, size=1))
        states = made.states
        decided = set(made.recommendation.decided)
        assert [state != "open" for state in states] == [name in decided for name in made.labels.arms]
        seen.add(states)
    assert made.states == ("in", "out", "out") and ("open", "open", "out") in seen
    assert made.recommendation.states == made.states and made.recommendation.probabilities[0] > 0.9


def test_believed_states_hold_together():
    rows = [(0, [9.0]), (1, [8.2]), (2, [0.0])]
    made = told(KNOWN, rows)
    found = believe(made.setting, made.course, None, 0.05)
    assert found.sure.tolist() == [False, False, True] and 0.05 < found.wrong < 0.5
    assert believe(made.setting, made.course, None, 0.5).sure.all()


def test_tolerance_makes_equal_arms_optimal():
    rows = [(k, [1.0 + 0.01 * k]) for _ in range(400) for k in range(2)]
    made = told(KNOWN, rows, n_arms=2, tolerance=1.0, threshold="heuristic")
    assert made.probabilities.min() > 0.99 and sorted(made.states) == ["in", "out"]


def test_bad_priors_are_refused():
    for given, words in (
        ({"mean": [0.0], "spread": [-1.0]}, "positive"),
        ({"mean": [0.0], "spread": [float("nan")]}, "positive"),
        ({"mean": [float("nan")], "spread": [1.0]}, "mean of a prior must be"),
        ({"mean": [0.0]}, "neither"),
        ({"mean": [0.0, 0.0], "covariance": [[1.0, 2.0], [2.0, 1.0]]}, "positive definite"),
        ({"mean": [0.0, 0.0], "covariance": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]}, "square"),
        ({"mean": 3.0, "spread": [1.0]}, "one number for each objective"),
    ):
        with pytest.raises(px.InputError, match=words):
            Prior(**given)
    for given, family, words in (
        ({"x": (0.0, 1.0)}, px.Poisson(), "a positive mean"),
        ({"x": (2.0, 1.0)}, px.Bernoulli(), "between 0 and 1"),
        ({"x": (2.0, 1.0)}, px.Gaussian(variance="unknown"), "noise of a prior must be given"),
        ({"y": (2.0, 1.0)}, KNOWN, "must be of"),
    ):
        from prepex.labels import Labels

        with pytest.raises(px.InputError, match=words):
            Prior.of(given).ordered(Labels.make((2, 1), objectives=("x",)), family)
    with pytest.raises(px.InputError, match="2 = n_objectives"):
        Prior(mean=[0.0], spread=[1.0]).ordered(Labels.make((2, 2)), KNOWN)


def test_whitening_without_a_prior_is_the_noise():
    cov = np.array([[[2.0, 0.5], [0.5, 1.0]], [[0.0, 0.0], [0.0, 3.0]]])
    white = whitened(None, cov)
    assert np.allclose(white.axes @ np.swapaxes(white.axes, 1, 2), cov) and not white.pull.any()
