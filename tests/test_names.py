"""Names first: a number is the arm of that name, and an index only where it cannot be confused with a name."""

import numpy as np
import pytest

from prepex import Cone, Experiment, Gaussian, InputError, Problem, Study, one
from prepex._checks import member
from prepex.labels import Labels
from prepex.sampling import Uniform
from prepex.study.check import check
from prepex.study.ingest import read_outcomes
from prepex.tables import read_sheet

GAUSSIAN = Gaussian(variance=1.0)


def counts_of(experiment):
    return dict(zip(experiment.labels.arms, experiment.counts.tolist(), strict=True))


@pytest.mark.parametrize("as_number", [int, np.int64, np.uint8, str])
def test_integer_names_go_to_the_arm_of_that_name(as_number):
    experiment = Experiment([1, 2, 0], 1, family=GAUSSIAN, threshold="heuristic", sampling=Uniform())
    experiment.tell(as_number(1), [1.0])
    assert counts_of(experiment) == {"1": 1, "2": 0, "0": 0}
    experiment.tell_many([(as_number(2), [2.0]), (as_number(0), [0.5])])
    experiment.tell_summary(as_number(0), 4, [0.0])
    experiment.tell_summary(as_number(0), 1, [0.0])
    experiment.tell_log([as_number(2), as_number(1)], [[2.0], [1.0]])
    assert counts_of(experiment) == {"1": 2, "2": 2, "0": 6}
    assert experiment.means.ravel().tolist() == pytest.approx([1.0, 2.0, 0.5 / 6])
    # Round robin: once nine pulls of each of the others are out, it is the turn of 0.
    assert experiment.choose(1, {as_number(1): 9, as_number(2): 9, as_number(0): 0}) == [2]
    assert experiment.ask(pending=[as_number(1)] * 9 + [as_number(2)] * 9) == "0"
    assert experiment.ask(pending={as_number(1): 9, as_number(2): 9}) == "0"


def test_a_number_that_is_no_name_is_refused_where_names_are_numbers():
    experiment = Experiment([10, 20], 1, family=GAUSSIAN)
    for call in (
        lambda: experiment.tell(1, [1.0]),
        lambda: experiment.tell_many([(10, [1.0]), (0, [1.0])]),
        lambda: experiment.tell_summary(1, 3, [1.0]),
        lambda: experiment.tell_log([0], [[1.0]]),
        lambda: experiment.ask(pending=[1]),
        lambda: experiment.ask(pending=1),
    ):
        with pytest.raises(InputError, match=r"must be one of '10', '20' \(as some look like numbers, an index is not"):
            call()
    assert experiment.n_pulls == 0
    # One such name is enough, and names that are numbers but not whole.
    for names in (("a", "7"), ("0.5", "1.5"), ("-1", "b")):
        with pytest.raises(InputError, match="an index is not taken"):
            member("arm", 1, names)


def test_names_that_are_no_whole_numbers():
    experiment = Experiment([0.5, 1.0, 2.0], 1, family=GAUSSIAN)
    experiment.tell(1.0, [3.0])
    experiment.tell(np.float64(0.5), [3.0])
    assert counts_of(experiment) == {"0.5": 1, "1.0": 1, "2.0": 0}
    with pytest.raises(InputError, match="an index is not taken"):
        experiment.tell(1, [3.0])


def test_an_index_is_taken_where_no_name_is_a_number():
    experiment = Experiment(("low", "high"), 1, family=GAUSSIAN)
    experiment.tell(1, [1.0])
    experiment.tell(np.int32(1), [1.0])
    assert counts_of(experiment) == {"low": 0, "high": 2}
    for bad in (2, -1, 1.0, None, "1", ["high"]):
        with pytest.raises(InputError, match="arm must be one of 'low', 'high' or an index"):
            experiment.tell(bad, [1.0])


@pytest.mark.parametrize("names", [("low", "high"), ("1", "0"), ("True", "False")])
@pytest.mark.parametrize("truth", [True, False, np.True_, np.False_])
def test_truth_values_are_never_names_nor_indices(names, truth):
    experiment = Experiment(names, 1, family=GAUSSIAN)
    for call in (
        lambda: experiment.tell(truth, [1.0]),
        lambda: experiment.tell_log([truth, truth], [[1.0], [1.0]]),
        lambda: experiment.ask(pending=[truth]),
    ):
        with pytest.raises(InputError, match="must be one of"):
            call()


def test_objectives_with_integer_names():
    assert Labels.make((1, 3), objectives=[2, 0, 1], minimise=[2]).signs.tolist() == [-1.0, 1.0, 1.0]
    with pytest.raises(InputError, match="minimise must be one of '2', '5'"):
        Problem([[1.0, 2.0]], family=GAUSSIAN, cone=Cone.orthant(2), objectives=[2, 5], minimise=[0])
    experiment = Experiment(1, [1, 0], family=GAUSSIAN)
    experiment.tell(0, {0: 5.0, 1: 7.0})
    assert experiment.means.tolist() == [[7.0, 5.0]]


def test_a_worth_between_objectives_with_integer_names():
    cone = Cone.tradeoffs([1, 0], one(1).is_worth(between=(0.5, 2), of=0))
    same = Cone.tradeoffs(("x", "y"), one("x").is_worth(between=(0.5, 2), of="y"))
    assert np.array_equal(cone.facets, same.facets)


@pytest.fixture
def study(tmp_path):
    return Study.create(tmp_path / "x.db", "doses", arms=[1, 2, 0], objectives=[1, 0], family=GAUSSIAN)


def test_a_study_with_integer_names_is_replayed_and_checked(study, tmp_path):
    """Inside, arms are indices, and must not be taken for names on the way back."""
    rng, truth = np.random.default_rng(1), {"1": (3.0, 0.0), "2": (0.0, 3.0), "0": (-2.0, -2.0)}
    while (ticket := study.ask()) is not None:
        study.tell(ticket.token, dict(zip((1, 0), truth[ticket.arm] + 0.3 * rng.normal(size=2), strict=True)))
    assert study.recommendation.arms == ("1", "2")
    again = Study.open(tmp_path / "x.db", "doses")
    assert again.status().counts == study.status().counts and again.verify().ok
    assert study.history().points[-1].n == study.status().n_pulls
    assert check(study.certificate(), [event.line + "\n" for event in study.events()]).ok


def test_imported_rows_name_their_arm(study, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("arm,1,0\n1,5.0,6.0\n0,7.0,8.0\n")
    rows = read_outcomes(read_sheet(path), "arm", Labels.make((3, 2), [1, 2, 0], [1, 0]), GAUSSIAN)
    assert [row.arm for row in rows] == [0, 2]
    study.import_csv(path)
    assert study.status().counts == {"1": 1, "2": 0, "0": 1}


def test_an_experiment_with_integer_names_comes_back_from_json():
    experiment = Experiment([1, 2, 0], 1, family=GAUSSIAN, threshold="heuristic")
    experiment.tell_many([(1, [5.0]), (2, [6.0]), (0, [7.0])])
    experiment.tell_summary(0, 3, [7.0])
    again = Experiment.from_json(experiment.to_json())
    assert counts_of(again) == counts_of(experiment) == {"1": 1, "2": 1, "0": 4}
    assert np.array_equal(again.means, experiment.means)


@pytest.mark.parametrize("names", [(True, False), ("a", np.bool_(True))])
def test_truth_values_are_refused_as_names_where_names_are_given(names):
    with pytest.raises(InputError, match=r"arms must be names, got .*; as a word it is 'True'"):
        Experiment(names, ("x",), family=Gaussian(variance=1.0))
