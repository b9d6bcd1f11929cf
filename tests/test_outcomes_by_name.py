"""Mappings and pandas objects are taken by name, in whatever order their entries come."""

import numpy as np
import pandas as pd
import pytest

from prepex import Bernoulli, Cone, Experiment, Gaussian, InputError, Problem, Product, Study, evidence
from prepex.sampling import Oracle

GAUSSIAN = Gaussian(variance=1.0)
OBJECTIVES = ("x", "y")
KINDS = {"dict": dict, "series": pd.Series, "strings": lambda row: pd.Series(row).astype("object")}


def fresh(**options):
    return Experiment(("a", "b"), OBJECTIVES, family=GAUSSIAN, **options)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_an_experiment_takes_outcomes_by_name(kind):
    experiment = fresh(threshold="heuristic")
    experiment.tell("a", kind({"y": 2.0, "x": 1.0}))
    experiment.tell_many([("b", kind({"y": 4.0, "x": 3.0}))])
    assert experiment.means.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    experiment.tell_summary("a", 4, kind({"y": 2.0, "x": 1.0}))
    experiment.tell_summary("a", 1, kind({"y": 2.0, "x": 1.0}))
    assert experiment.means.tolist() == [[1.0, 2.0], [3.0, 4.0]] and experiment.n_pulls == 7


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"x": 1.0}, r"must have 'x', 'y', got no 'y'"),
        ({"x": 1.0, "y": 2.0, "z": 3.0}, r"must be of 'x', 'y', got 'z'"),
        ({"X": 1.0, "y": 2.0}, r"must be of 'x', 'y', got 'X'"),
        ({0: 1.0, "x": 2.0}, r"must have each name once, got 'x' twice"),
    ],
    ids=("missing", "unknown", "spelled", "twice"),
)
def test_missing_and_unknown_names_are_refused(kind, row, words):
    experiment = fresh(threshold="heuristic")
    for told, name in (
        (lambda: experiment.tell("a", kind(row)), "reward"),
        (lambda: experiment.tell_many([("a", [0.0, 0.0]), ("a", kind(row))]), "reward"),
        (lambda: experiment.tell_summary("a", 3, kind(row)), "mean"),
    ):
        with pytest.raises(InputError, match=f"^{name} {words}"):
            told()
    assert experiment.n_pulls == 0


def test_a_series_without_names_is_in_order():
    experiment = fresh()
    experiment.tell("a", pd.Series([1.0, 2.0]))
    assert experiment.means[0].tolist() == [1.0, 2.0]
    with pytest.raises(InputError, match="got 2"):
        experiment.tell("a", pd.Series([1.0, 2.0, 3.0]))
    with pytest.raises(InputError, match="twice"):
        experiment.tell("a", pd.Series([1.0, 2.0], index=["x", "x"]))


def test_truth_values_by_name():
    experiment = Experiment(1, ("cured", "gain"), family=Product([Bernoulli(), GAUSSIAN]))
    experiment.tell(0, {"gain": 2.0, "cured": True})
    assert experiment.means.tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_study_takes_outcomes_by_name(kind, tmp_path):
    study = Study.create(tmp_path / "x.db", "s", arms=("a", "b"), objectives=OBJECTIVES, family=GAUSSIAN)
    first, second = study.ask(2)
    assert study.tell(first.token, kind({"y": 2.0})).missing == ("x",)
    assert study.tell(first.token, kind({"x": 1.0})).missing == ()
    study.tell_many([(second.token, kind({"y": 4.0, "x": 3.0}))])
    assert study.status().means == {"a": (1.0, 2.0), "b": (3.0, 4.0)}
    study.correct(first.token, kind({"y": 7.0, "x": 1.0}), reason="exchanged")
    assert study.status().means["a"] == (1.0, 7.0)
    with pytest.raises(InputError, match="outcome must be of 'x', 'y', got 'z'"):
        study.tell(first.token, kind({"z": 1.0}))


FRAME = pd.DataFrame({"y": [2.0, 4.0, 0.0], "x": [1.0, 3.0, 5.0]}, index=["a", "b", "c"])
SETTINGS = {"family": GAUSSIAN, "cone": Cone.orthant(2)}


def test_a_frame_of_means_brings_its_names():
    problem = Problem(FRAME, **SETTINGS)
    assert problem.labels.arms == ("a", "b", "c") and problem.labels.objectives == ("y", "x")
    assert problem.means.tolist() == FRAME.to_numpy().tolist()


def test_names_that_are_given_put_a_frame_in_their_order():
    problem = Problem(FRAME, **SETTINGS, arms=("c", "a", "b"), objectives=iter(("x", "y")))
    assert problem.labels.arms == ("c", "a", "b") and problem.labels.objectives == ("x", "y")
    assert problem.means.tolist() == [[5.0, 0.0], [1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(InputError, match="means must be of 'x', 'z', got 'y'"):
        Problem(FRAME, **SETTINGS, objectives=("x", "z"))
    with pytest.raises(InputError, match="objectives must be different from each other"):
        Problem(FRAME.set_axis(["x", "x"], axis=1), **SETTINGS)


def test_a_frame_without_names_is_in_order():
    plain = pd.DataFrame(FRAME.to_numpy())
    assert Problem(plain, **SETTINGS).labels.arms == ("arm 0", "arm 1", "arm 2")
    problem = Problem(plain, **SETTINGS, arms=("p", "q", "r"), objectives=("u", "v"))
    assert problem.means.tolist() == FRAME.to_numpy().tolist() and problem.labels.objectives == ("u", "v")
    # What is left of a longer table has numbers of rows; they are no names where names are given.
    part = FRAME.set_axis([3, 8, 9])
    assert Problem(part, **SETTINGS, arms=("p", "q", "r")).labels.arms == ("p", "q", "r")
    assert Problem(part, **SETTINGS).labels.arms == ("3", "8", "9")
    assert Problem(part, **SETTINGS, arms=(9, 3, 8)).means.tolist() == FRAME.to_numpy()[[2, 0, 1]].tolist()


def test_counts_are_taken_by_arm():
    counts = {"b": 20, "c": 30, "a": 10}
    expected = evidence(FRAME.to_numpy(), [10, 20, 30], **SETTINGS)
    for given in (counts, pd.Series(counts), pd.Series([10, 20, 30]), [10, 20, 30]):
        found = evidence(FRAME, given, **SETTINGS)
        assert found.value == expected.value and np.array_equal(found.gradient, expected.gradient)
    with pytest.raises(InputError, match="counts must have 'a', 'b', 'c', got no 'c'"):
        evidence(FRAME, {"a": 1, "b": 2}, **SETTINGS)


def test_an_allocation_is_taken_by_arm():
    rule = Oracle(allocation={"b": 1.0, "a": 3.0})
    assert fresh(sampling=rule).setting.aim().tolist() == [0.75, 0.25]
    with pytest.raises(InputError, match="allocation must have 'a', 'b', got no 'a'"):
        fresh(sampling=Oracle(allocation={"b": 1.0}))


def test_a_log_from_a_frame():
    log = pd.DataFrame({"arm": ["a", "b", "a"], "y": [2.0, 4.0, 2.0], "x": [1.0, 3.0, 1.0]}, index=[7, 8, 9])
    experiment = fresh()
    experiment.tell_log(log["arm"], log[["y", "x"]])
    assert experiment.means.tolist() == [[1.0, 2.0], [3.0, 4.0]] and experiment.n_pulls == 3
    with pytest.raises(InputError, match="rewards must be of 'x', 'y', got 'arm'"):
        experiment.tell_log(log["arm"], log)
    with pytest.raises(InputError, match="rewards must have 'x', 'y', got no 'x'"):
        experiment.tell_log(log["arm"], log[["y"]])
