"""The rules against their definitions, on the public evidence."""

import numpy as np
import pytest
from scipy.optimize import brentq, linprog, minimize_scalar

from prepex import Experiment, Problem, characteristic_time, evidence
from prepex._kernels import course as kernels
from prepex._kernels.margin import KIND
from prepex._kernels.mixture import OUT_OF_FRONT
from prepex._kernels.propose import propose
from prepex.instances import covboost
from prepex.sampling import AcceleratedPreTS, FraPPE, InformationDirected, TnS
from prepex.stopping.threshold import mixture_cost

PROBLEM = covboost()
DEVIATION = np.sqrt([0.70, 0.83, 1.54])


def run_to(sampling, n, seed=0, threshold="heuristic"):
    experiment = Experiment(20, 3, family=PROBLEM.family, sampling=sampling, threshold=threshold, seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(n):
        arm = int(experiment.ask().split()[1])
        experiment.tell(arm, PROBLEM.means[arm] + DEVIATION * rng.standard_normal(3))
    return experiment, rng


def one_more(experiment, rng):
    arm = int(experiment.ask().split()[1])
    experiment.tell(arm, PROBLEM.means[arm] + DEVIATION * rng.standard_normal(3))


def at(experiment, weights):
    return evidence(experiment.means, weights, family=PROBLEM.family, cone=PROBLEM.cone)


def test_frappe_plays_the_game_over_all_nearby_pieces():
    experiment, rng = run_to(FraPPE(), 300)
    mixed = 0
    for _ in range(150):
        w = experiment.course.target.copy()
        one_more(experiment, rng)
        t = experiment.n_pulls
        x = experiment.course.target - w
        assert x.sum() == pytest.approx(1.0)
        found = at(experiment, w)
        if np.sqrt(t / 20) % 1 == 0 or found.value == 0:
            np.testing.assert_allclose(x, 1 / 20)
            continue
        gradients = np.array([piece.gradient for piece in found.pieces(t**0.1 / 20)])
        values = gradients @ w / w.sum()
        answer = linprog(
            np.append(np.zeros(20), -1.0),
            A_ub=np.hstack([-gradients, np.ones((len(gradients), 1))]),
            b_ub=-values,
            A_eq=np.append(np.ones(20), 0.0)[None],
            b_eq=[1.0],
            bounds=[(0, None)] * 20 + [(None, None)],
        )
        assert (gradients @ x - values).min() == pytest.approx(-answer.fun, abs=1e-6 * np.abs(gradients).max())
        mixed += int(np.sum(x > 1e-9) > 1)
    assert mixed > 0, "sometimes several pieces bind"


def test_c_tracking_stays_close_to_its_target():
    experiment, _ = run_to(FraPPE(), 1500)
    course = experiment.course
    assert np.abs(course.near.inst.N - course.target).max() < 20


def test_information_directed_pulls_in_proportion_to_information():
    experiment, _ = run_to(InformationDirected(), 2000)
    found = experiment.evidence
    share = experiment.counts * found.gradient / found.value
    assert share.sum() == pytest.approx(1.0)
    pulled = np.zeros(20)
    course = experiment.course
    pulls = course.whole[kernels.PULLS]
    for shift in range(4000):  # other keys, the same state
        course.key[0] = np.uint64(shift)
        pulled[propose(course, np.zeros(20, dtype=np.int64), np.int64(0))] += 1
    assert course.whole[kernels.PULLS] == pulls
    np.testing.assert_allclose(pulled / 4000, share, atol=4 * 0.5 / np.sqrt(4000))


def test_following_the_margin_pulls_the_two_arms_of_the_binding_test():
    experiment, _ = run_to(InformationDirected(), 2000, threshold="certified")
    course = experiment.course
    better, worse = course.binding[:2]
    if course.binding[KIND] == OUT_OF_FRONT:
        rates = [
            np.min(np.maximum(experiment.means[a] - experiment.means[worse], 0) ** 2 / DEVIATION**2)
            for a in np.flatnonzero(course.near.inst.mask)
        ]
        better = np.flatnonzero(course.near.inst.mask)[np.argmax(rates)]
    counts, pulled = course.fresh.N, np.zeros(20)
    for shift in range(4000):
        course.key[0] = np.uint64(shift)
        pulled[propose(course, np.zeros(20, dtype=np.int64), np.int64(0))] += 1
    assert set(np.flatnonzero(pulled)) == {better, worse}
    expected = counts[worse] / (counts[better] + counts[worse])
    assert pulled[better] / 4000 == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(4000))


def test_tns_takes_one_exponentiated_gradient_step():
    experiment, rng = run_to(TnS(), 200)
    steep = experiment.course.real[kernels.STEEP]
    for _ in range(20):
        w = experiment.course.aim.copy()
        one_more(experiment, rng)
        gradient = at(experiment, w).gradient
        steep = max(steep, gradient.max())
        grown = w * np.exp(np.sqrt(np.log(20) / (1 + experiment.n_pulls)) / steep * gradient)
        expected = np.maximum(grown / grown.sum(), 1e-9)
        np.testing.assert_allclose(experiment.course.aim, expected, rtol=1e-9)


def test_prets_solves_the_lower_bound_of_the_estimate_every_round():
    experiment, rng = run_to(AcceleratedPreTS(gap=0.02), 400)
    for _ in range(5):
        one_more(experiment, rng)
        problem = Problem(experiment.means, family=PROBLEM.family, cone=PROBLEM.cone)
        best = 1 / characteristic_time(problem).time
        assert at(experiment, experiment.course.aim).value >= best * (1 - 0.025)


def test_the_mixture_cost_of_kaufmann_and_koolen():
    """G(x) = 2 min over y in [1, 3/2] of y (u - log log y), u = (h^-1(1 + x) + log(pi^2 / 3)) / 2."""
    for x in (0.01, 0.1, 1.0, 5.0, 50.0):
        inverse = brentq(lambda u, x=x: u - np.log(u) - 1 - x, 1.0, 10 + 3 * x)
        u = (inverse + np.log(np.pi**2 / 3)) / 2
        least = minimize_scalar(
            lambda y, u=u: y * (u - np.log(np.log(y))),
            bounds=(1 + 1e-9, 1.5),
            method="bounded",
            options={"xatol": 1e-12},
        )
        assert mixture_cost(x) == pytest.approx(2 * least.fun, rel=1e-6)
