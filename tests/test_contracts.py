"""The contracts, over all rules."""

import numpy as np
import pytest

from prepex import Experiment, simulate
from prepex.instances import correlated

from contracts import RULES, UNFORCED

PROBLEM = correlated(0.3)


def live(rule, threshold="certified", seed=3, **options):
    return Experiment(5, 2, family=PROBLEM.family, sampling=rule, threshold=threshold, seed=seed, **options)


def play(experiment, n, seed):
    """Pull n times what is asked for; returns the arms."""
    rng = np.random.default_rng(seed)
    root = np.linalg.cholesky(PROBLEM.family.covariances(5, 2)[0])
    arms = []
    for _ in range(n):
        arm = experiment.labels.arms.index(experiment.ask())
        experiment.tell(arm, PROBLEM.means[arm] + root @ rng.standard_normal(2))
        arms.append(arm)
    return arms


@pytest.mark.parametrize("name", RULES)
def test_asking_twice_gives_the_same(name):
    experiment = live(RULES[name])
    for n in (0, 3, 5, 40):
        play(experiment, n, seed=n)
        assert experiment.ask() == experiment.ask() == experiment.ask(4)[0]
        assert experiment.ask(6)[:4] == experiment.ask(4)
        before = experiment.means.copy(), experiment.counts.copy(), experiment.to_json()
        experiment.ask(7, pending=["arm 1", "arm 1"])
        assert np.array_equal(before[0], experiment.means, equal_nan=True)
        assert np.array_equal(before[1], experiment.counts) and before[2] == experiment.to_json()


@pytest.mark.parametrize("name", RULES)
def test_the_same_seed_gives_the_same_run(name):
    runs = [play(live(RULES[name]), 150, seed=1) for _ in range(2)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("name", RULES)
def test_no_array_of_the_caller_is_changed(name):
    experiment = live(RULES[name])
    reward = np.array([0.5, 1.5])
    reward.flags.writeable = False
    for arm in (0, 1, 2, 3, 4, 2, 0):
        experiment.tell(arm, reward)
    assert reward.tolist() == [0.5, 1.5]


@pytest.mark.parametrize("name", [name for name in RULES if name not in UNFORCED])
def test_every_arm_is_pulled_at_least_in_the_order_of_sqrt_t(name):
    experiment = live(RULES[name], threshold="heuristic")
    t = 2000
    play(experiment, t, seed=2)
    assert experiment.counts.min() >= 0.9 * np.sqrt(t / 5) / 5


@pytest.mark.parametrize("name", RULES)
def test_a_compiled_run_pulls_the_same_arms_as_a_live_one(name):
    """One mathematics, two callers: the same noise and key give the same stop and the same answer."""
    rule = RULES[name]
    runs = simulate(PROBLEM, sampling=rule, threshold="heuristic", deltas=0.2, n_runs=1, seed=4)
    (row,) = runs.rows()
    rng = np.random.default_rng(np.random.SeedSequence((4, 0, 0)))
    root = np.linalg.cholesky(PROBLEM.family.covariances(5, 2)[0])
    experiment = live(rule, threshold="own" if rule.stops_itself else "heuristic", delta=0.2)
    key = int(np.random.SeedSequence((4, 0, 1)).generate_state(1, np.uint64)[0])
    object.__setattr__(experiment.setting, "key", key)
    for arm in range(5):
        experiment.tell(arm, PROBLEM.means[arm] + root @ rng.standard_normal(2))
    while not experiment.done:
        arm = experiment.labels.arms.index(experiment.ask())
        experiment.tell(arm, PROBLEM.means[arm] + root @ rng.standard_normal(2))
    assert row["stopping_time"] == experiment.recommendation.n_pulls
    assert tuple(f"arm {k}" for k in row["recommended"]) == experiment.recommendation.arms


@pytest.mark.parametrize("name", RULES)
def test_every_rule_finds_the_set(name):
    runs = simulate(PROBLEM, sampling=RULES[name], threshold=["heuristic", "certified"], deltas=[0.1], n_runs=5, seed=5)
    assert all(row["stopped"] and row["correct"] for row in runs.rows())
