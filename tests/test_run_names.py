"""Rules and thresholds are told apart by name: in tables, files and pictures."""

import csv

import pytest

from prepex import simulate
from prepex.instances import correlated
from prepex.plot import stopping_times
from prepex.reproduce.algorithms import ALGORITHMS
from prepex.sampling import PSIPS, RULES, AcceleratedPreTS, FraPPE, InformationDirected, Oracle, Uniform
from prepex.stopping import THRESHOLDS, Certified, Heuristic, UserThreshold


def low(counts, delta):
    return 1.0


def high(counts, delta):
    return 4.0


def test_default_parameters_leave_the_names_as_they_were():
    assert [kind().name for kind in RULES.values()] == [kind.title for kind in RULES.values()]
    assert [kind().name for kind in THRESHOLDS.values()] == list(THRESHOLDS)
    assert {a.rule.name for a in ALGORITHMS.values()} >= {"FraPPE", "FraPPE (paper alternatives: no guarantee)"}


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (InformationDirected(follow="margin"), "InformationDirected(follow='margin')"),
        (AcceleratedPreTS(gap=0.1), "AcceleratedPreTS(gap=0.1)"),
        (PSIPS(max_tries=10), "PSIPS(max_tries=10)"),
        (Oracle(allocation=(0.5, 0.5)), "Oracle(allocation=(0.5, 0.5))"),
        (
            InformationDirected(alternatives="paper", follow="evidence"),
            "InformationDirected(follow='evidence') (paper alternatives: no guarantee)",
        ),
        (Certified(pilot=0), "certified(pilot=0)"),
        (Certified(pilot=5, grid=(1.0, 9.0)), "certified(grid=(1.0, 9.0), pilot=5)"),
        (UserThreshold(low), "user(low)"),
        (UserThreshold(lambda counts, delta: 1.0), "user"),
        (UserThreshold(low, name="certified"), "user(certified)"),
    ],
)
def test_other_parameters_are_part_of_the_name(thing, name):
    assert thing.name == name


def test_long_parameters_are_short_and_still_told_apart():
    even, odd = Oracle(allocation=(0.01,) * 100), Oracle(allocation=(0.01,) * 99 + (0.011,))
    middle = Oracle(allocation=(0.01,) * 50 + (0.011,) + (0.01,) * 49)
    assert len({even.name, odd.name, middle.name}) == 3
    assert len(even.name) < 80


def test_what_has_other_parameters_is_another_row(tmp_path):
    runs = simulate(
        correlated(),
        sampling=[Uniform(), InformationDirected(follow="evidence"), InformationDirected(follow="margin")],
        threshold=[Certified(pilot=0), Certified(pilot=5), low, high],
        n_runs=2,
    )
    cells = runs.summary()
    assert len(cells) == 3 * 4 and all(cell.n_runs == 2 for cell in cells)
    mean = {(cell.rule, cell.threshold): cell.mean for cell in cells}
    assert mean["Uniform", "user(low)"] < mean["Uniform", "user(high)"]
    assert ("InformationDirected(follow='margin')", "certified(pilot=5)") in mean
    runs.save(tmp_path / "runs.csv")
    with (tmp_path / "runs.csv").open() as file:
        assert {(row["rule"], row["threshold"]) for row in csv.DictReader(file)} == set(mean)
    assert len(stopping_times(runs).axes[0].get_yticklabels()) == 12


def test_the_oracle_that_a_simulation_tells_is_still_the_oracle():
    (cell,) = simulate(correlated(), sampling=Oracle(), n_runs=1).summary()
    assert cell.rule == "Oracle"


def test_equal_names_are_refused():
    class Same(FraPPE):
        title = "FraPPE"

    with pytest.raises(ValueError, match="sampling must have different names, got 'FraPPE' twice"):
        simulate(correlated(), sampling=[FraPPE(), Same()], n_runs=1)
    lambdas = [lambda counts, delta: 1.0, lambda counts, delta: 2.0]
    with pytest.raises(ValueError, match=r"got 'user' twice; give functions names: UserThreshold\(function, name="):
        simulate(correlated(), sampling=Uniform(), threshold=lambdas, n_runs=1)
    named = [UserThreshold(function, name=f"level {i}") for i, function in enumerate(lambdas)]
    runs = simulate(correlated(), sampling=Uniform(), threshold=named, n_runs=1)
    assert [cell.threshold for cell in runs.summary()] == ["user(level 0)", "user(level 1)"]


def test_a_function_is_not_taken_for_a_threshold_of_ours():
    def heuristic(counts, delta):
        return 2.0

    runs = simulate(correlated(), sampling=Uniform(), threshold=["heuristic", heuristic], n_runs=1)
    assert [cell.threshold for cell in runs.summary()] == [Heuristic().name, "user(heuristic)"]
