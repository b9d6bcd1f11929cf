"""What kernels are handed is looked at before: shapes, ranges, supports. What is handed out is no way in."""

import numpy as np
import pytest

from prepex import (
    Bernoulli,
    Cone,
    Experiment,
    Exponential,
    Gaussian,
    InputError,
    Poisson,
    Problem,
    Product,
    Study,
    characteristic_time,
    evidence,
)
from prepex.region import radius
from prepex.stopping import Certified
from prepex.study.events import GENESIS, seal

GAUSSIAN = Gaussian(variance=1.0)


def fresh(family=GAUSSIAN, K=2, L=1, **options):
    experiment = Experiment(K, L, family=family, **options)
    experiment.tell_log([*range(K)], np.ones((K, L)))
    return experiment


@pytest.mark.parametrize(
    ("arms", "rewards", "words"),
    [
        ([7], [[1.0]], "arms must be one of 'arm 0', 'arm 1' or an index, got 7"),
        ([-1], [[1.0]], "arms must be one of 'arm 0', 'arm 1' or an index, got -1"),
        ([0.5], [[1.0]], "arms must be one of"),
        (["arm 2"], [[1.0]], "arms must be one of"),
        ("arm 0", [[1.0]], "arms must be a sequence"),
        (0, [[1.0]], "arms must be a sequence"),
        ([[0]], [[1.0]], "arms must be one of"),
        ([0, 1], [[1.0]], r"rewards must have shape \(2 = n, 1 = n_objectives\), got \(1, 1\)"),
        ([0], [[1.0, 2.0]], r"rewards must have shape \(1 = n, 1 = n_objectives\), got \(1, 2\)"),
        ([0], [1.0], r"rewards must have shape"),
        ([0], [[np.nan]], "rewards must be finite"),
        ([0], [[np.inf]], "rewards must be finite"),
        ([0], [["a"]], "rewards must be numbers"),
        ([0], [[1e200]], "rewards must be at most"),
        ([], [[1.0]], "arms must not be empty"),
        ([0], [], "rewards must"),
    ],
)
def test_a_log_is_refused_before_any_of_it_is_taken(arms, rewards, words):
    experiment = fresh(threshold="heuristic")
    with pytest.raises(InputError, match=words):
        experiment.tell_log(arms, rewards)
    assert experiment.n_pulls == 2


def test_an_empty_log_changes_nothing():
    experiment = fresh()
    experiment.tell_log([], [])
    experiment.tell_log([], np.zeros((0, 1)))
    assert experiment.n_pulls == 2


@pytest.mark.parametrize("family", [Bernoulli(), Poisson(), Exponential()])
@pytest.mark.parametrize("bad", [-1.0, 0.5])
def test_a_log_has_outcomes_that_the_family_can_give(family, bad):
    if isinstance(family, Exponential):
        bad = -abs(bad)
    experiment = fresh(Product([GAUSSIAN, family]), L=2)
    rows = np.ones((50, 2))
    rows[30, 1] = bad
    with pytest.raises(InputError, match=f"reward of 'objective 1' must be .* for {family!r}".replace("()", r".*")):
        experiment.tell_log(np.zeros(50, dtype=int), rows)
    assert experiment.n_pulls == 2


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ([0], "sizes must be integers from 1 to 1,000,000, got 0"),
        ([-3], "sizes must be integers"),
        ([2.5], "sizes must be integers"),
        ([10**7], "sizes must be integers"),
        ([True], "sizes must be"),
        ([1, 1], r"sizes must have shape \(1 = n,\), got \(2,\)"),
    ],
)
def test_sizes_are_whole_numbers(sizes, words):
    experiment = fresh(threshold="heuristic")
    with pytest.raises(InputError, match=words):
        experiment.tell_log([0], [[1.0]], sizes)
    assert experiment.n_pulls == 2


UNKNOWN = {
    "own": Gaussian(variance="unknown"),
    "shared": Gaussian(variance="unknown", shared=True),
    "mixed": Product([Gaussian(variance="unknown")]),
}


@pytest.mark.parametrize("family", UNKNOWN.values(), ids=UNKNOWN)
@pytest.mark.parametrize("threshold", [Certified(pilot=2), "heuristic"])
def test_a_log_of_means_is_refused_where_the_variance_is_not_known(family, threshold):
    """n copies of a mean look like n outcomes without noise."""
    experiment, rng = Experiment(2, 1, family=family, threshold=threshold), np.random.default_rng(1)
    experiment.tell_log(np.tile([0, 1], 20), rng.normal(size=(40, 1)))
    assert not experiment.done and experiment.missing_before_summary == 0
    words = "must be told one by one .* the variance is estimated from their squares"
    for told in (
        lambda: experiment.tell_log([0], [[1.0]], [50]),
        lambda: experiment.tell_log([0, 1], [[1.0], [0.0]], [1, 50]),
        lambda: experiment.tell_summary(0, 50, [1.0]),
    ):
        with pytest.raises(InputError, match=words):
            told()
    assert experiment.n_pulls == 40
    experiment.tell_log([0], [[1.0]], [1])
    assert experiment.n_pulls == 41


def test_a_summary_of_unknown_variance_is_refused_in_json_too():
    text = Experiment(1, 1, family=UNKNOWN["own"], threshold="heuristic").to_json()
    for row in ('{"arm": 0, "n": 50, "mean": [1.0]}', '[0, 1.0], {"arm": 0, "n": 50, "mean": [1.0]}'):
        with pytest.raises(InputError, match="one by one"):
            Experiment.from_json(text.replace('"log": []', f'"log": [{row}]'))


def test_a_restored_log_with_a_mean_of_unknown_variance_is_refused(tmp_path):
    """Its hashes are right, but no study writes such a log."""
    study = Study.create(tmp_path / "a.db", "s", arms=2, objectives=1, family=UNKNOWN["own"], threshold="heuristic")
    made = {"time": "2099-01-01T00:00:00.000000+00:00", "actor": "", "version": "0"}
    events = [seal(0, GENESIS, "config", pull=None, data=next(iter(study.events())).data, **made)]
    for number, arm, n in ((1, 0, 1), (2, 1, 1), (3, 0, 50)):
        data = {"token": f"{number}-x", "arm": arm, "outcome": {"objective 0": 1.0}} | ({"n": n} if n > 1 else {})
        events.append(seal(number, events[-1].hash, "imported", pull=number, data=data, **made))
    path = tmp_path / "log.jsonl"
    path.write_text("".join(event.line + "\n" for event in events))
    with pytest.raises(InputError, match="a log that prepex exported, got one that is not"):
        Study.restore(tmp_path / "b.db", path).status()


def test_a_log_of_means_is_as_exact_as_summaries():
    """Means of counts are freed of the digits that were left out, as `tell_summary` does."""
    logs = [fresh(Bernoulli(), threshold="heuristic") for _ in range(2)]
    logs[0].tell_log([0], [[0.33333333]], [3])
    logs[1].tell_summary(0, 3, [0.33333333])
    assert np.array_equal(logs[0].means, logs[1].means)
    with pytest.raises(InputError, match="must be that of 3 outcomes"):
        logs[0].tell_log([0], [[0.5]], [3])


def test_arms_of_a_log_by_name_or_index():
    names, indices = (Experiment(("a", "b"), 1, family=GAUSSIAN) for _ in range(2))
    names.tell_log(np.array(["b", "a", "b"]), [[1.0], [2.0], [3.0]])
    indices.tell_log(np.array([1, 0, 1], dtype=np.int32), [[1.0], [2.0], [3.0]])
    assert names.means.tolist() == indices.means.tolist() == [[2.0], [2.0]]
    assert names.counts.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("n", "pending", "words"),
    [
        (1, [1], r"pending must have shape \(3 = n_arms,\), got \(1,\)"),
        (1, [1, 0, 0, 0], "pending must have shape"),
        (1, [0, 0, -1], "pending must be integers of at least 0, got -1"),
        (1, [0, 0, 0.5], "pending must be integers"),
        (1, [[0, 0, 0]], "pending must have shape"),
        (1, [0, np.nan, 0], "pending must be finite"),
        (1, [True, False, False], "pending must be"),
        (-1, [0, 0, 0], "n must be an integer of at least 0"),
        (1.5, [0, 0, 0], "n must be an integer"),
        (1, {"arm 0": 1}, "pending must have 'arm 0', 'arm 1', 'arm 2', got no"),
    ],
)
def test_what_is_out_is_checked_before_the_next_arm_is_chosen(n, pending, words):
    for experiment in (Experiment(3, 1, family=GAUSSIAN), fresh(K=3)):
        with pytest.raises(InputError, match=words):
            experiment.choose(n, pending)
        assert len(experiment.choose(2, [4, 0, 4])) == 2


@pytest.mark.parametrize("arm", [7, -1, True, "a", None, 1.5])
def test_a_log_with_an_arm_that_is_not_there_is_refused_wherever_it_comes_from(arm, tmp_path):
    """A restored log, though its hashes are right; and a document."""
    study = Study.create(tmp_path / "a.db", "s", arms=2, objectives=1, family=GAUSSIAN)
    config = next(iter(study.events())).data
    made = {"time": "2099-01-01T00:00:00.000000+00:00", "actor": "", "version": "0"}
    events = [seal(0, GENESIS, "config", pull=None, data=config, **made)]
    for number in (1, 2):
        data = {"token": f"{number}-x", "arm": number - 1 if number == 1 else arm, "outcome": {"objective 0": 1.0}}
        events.append(seal(number, events[-1].hash, "imported", pull=number, data=data, **made))
    path = tmp_path / "log.jsonl"
    path.write_text("".join(event.line + "\n" for event in events))
    with pytest.raises((InputError, IndexError, TypeError)):
        Study.restore(tmp_path / "b.db", path).status()
    text = Experiment(2, 1, family=GAUSSIAN).to_json().replace('"log": []', '"log": [[0, 1.0], [ARM, 1.0]]')
    with pytest.raises(InputError):
        Experiment.from_json(text.replace("ARM", {True: "true", None: "null", "a": '"a"'}.get(arm, str(arm))))


def test_arrays_that_are_handed_out_are_read_only():
    problem = Problem([[1.0, 0.0], [0.0, 1.0]], family=GAUSSIAN, cone=Cone.orthant(2))
    before, after = Experiment(2, 2, family=GAUSSIAN), fresh(L=2)
    found, bound = evidence(problem.means, [9, 9], family=GAUSSIAN, cone=problem.cone), characteristic_time(problem)
    arrays = {
        "counts": after.counts,
        "means": after.means,
        "counts before every arm was tried": before.counts,
        "means before every arm was tried": before.means,
        "means of a problem": problem.means,
        "benefits": problem.benefits,
        "signs": problem.labels.signs,
        "facets": problem.cone.facets,
        "rays": problem.cone.rays,
        "mask": problem.cone.pareto_mask(problem.means),
        "gradient": found.gradient,
        "alternative": found.alternative.means,
        "allocation": bound.allocation,
        "radius": radius([1, 2], 1, 0.1),
    }
    for name, array in arrays.items():
        assert not array.flags.writeable, name
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize("counts", [[-1], [np.nan], [[1]], 3, ["a"], []])
def test_a_radius_is_of_counts(counts):
    with pytest.raises(InputError, match="counts must"):
        radius(counts, 1, 0.1)
