"""The contracts, over all rules, families and thresholds."""

import re
from typing import get_args

import numpy as np
import pytest

from prepex import simulate

from contracts import PAIRS, PROBLEMS, RULES, THRESHOLDS, UNFORCED, live, play, world


@pytest.fixture(params=PAIRS, ids=lambda pair: " on ".join(pair))
def pair(request):
    rule, problem = request.param
    return RULES[rule], PROBLEMS[problem]


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_asking_twice_gives_the_same(pair, threshold):
    rule, problem = pair
    experiment = live(rule, problem, threshold)
    names = experiment.labels.arms
    for n in (0, 3, 5, 40):
        play(experiment, problem, n, seed=n)
        assert experiment.ask() == experiment.ask() == experiment.ask(4)[0]
        assert experiment.ask(6)[:4] == experiment.ask(4)
        before = experiment.means.copy(), experiment.counts.copy(), experiment.to_json()
        experiment.ask(7, pending=[names[1], names[1]])
        assert np.array_equal(before[0], experiment.means, equal_nan=True)
        assert np.array_equal(before[1], experiment.counts) and before[2] == experiment.to_json()


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_the_same_seed_gives_the_same_run(pair, threshold):
    rule, problem = pair
    runs = [play(live(rule, problem, threshold), problem, 80, seed=1) for _ in range(2)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_no_array_of_the_caller_is_changed(pair, threshold):
    rule, problem = pair
    experiment = live(rule, problem, threshold)
    reward = np.array([1.0, 1.0])
    reward.flags.writeable = False
    for arm in (0, 1, 2, 3, 4, 2, 0):
        experiment.tell(arm, reward)
    assert reward.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in UNFORCED])
def test_every_arm_is_pulled_at_least_in_the_order_of_sqrt_t(rule, problem, threshold):
    experiment, t = live(RULES[rule], PROBLEMS[problem], threshold), 2000 if problem == "gaussian" else 300
    play(experiment, PROBLEMS[problem], t, seed=2)
    assert experiment.counts.min() >= 0.9 * np.sqrt(t / 5) / 5


def same_run(rule, problem, threshold):
    """One mathematics, two callers: the same noise and key give the same stop and the same answer."""
    runs = simulate(problem, sampling=rule, threshold=threshold, deltas=0.2, n_runs=1, seed=4)
    (row,) = runs.rows()
    experiment = live(rule, problem, "own" if rule.stops_itself else threshold, delta=0.2)
    key = int(np.random.SeedSequence((4, 0, 1)).generate_state(1, np.uint64)[0])
    object.__setattr__(experiment.setting, "key", key)
    pay = world(experiment, problem, np.random.SeedSequence((4, 0, 0)))
    for arm in range(5):
        experiment.tell(arm, pay(arm))
    while not experiment.done:
        arm = experiment.labels.arms.index(experiment.ask())
        experiment.tell(arm, pay(arm))
    assert row["stopping_time"] == experiment.recommendation.n_pulls
    assert tuple(experiment.labels.arms[k] for k in row["recommended"]) == experiment.recommendation.arms


def test_a_compiled_run_pulls_the_same_arms_as_a_live_one(pair):
    same_run(*pair, "heuristic")


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_compiled_certified_run_pulls_the_same_arms_as_a_live_one(problem):
    same_run(RULES["information"], PROBLEMS[problem], "certified")


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_every_rule_finds_the_set(pair, threshold):
    rule, problem = pair
    runs = simulate(problem, sampling=rule, threshold=threshold, deltas=[0.05], n_runs=2, seed=5)
    assert all(row["stopped"] and row["correct"] for row in runs.rows())


def test_every_place_that_lists_the_rules_lists_all_of_them():
    from typer.main import get_command

    from prepex.cli import app
    from prepex.sampling import RULES as NAMED
    from prepex.server.bodies import Create

    def listed(text):
        return set(re.findall(r"[a-z]+", text.partition(";")[0])) - {"or"}

    # Live, a rule knows no truth and stops by a threshold.
    live = {name for name, kind in NAMED.items() if not kind.own and name != "oracle"}
    commands = get_command(app).commands
    run = {option.name: option for option in commands["run"].params}
    create = {option.name: option for option in commands["study"].commands["create"].params}
    assert listed(run["rule"].help) == set(NAMED)
    assert listed(create["rule"].help) == live
    assert set(get_args(Create.model_fields["rule"].annotation)) == live
