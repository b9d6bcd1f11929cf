"""What has names is taken by name or refused, wherever it is given and however it is wrapped: never by position."""

import sqlite3
from collections import deque, namedtuple
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from prepex import Cone, Experiment, Gaussian, InputError, Problem, Study, evidence, one, simulate
from prepex.plot import fronts
from prepex.sampling import Oracle

GAUSSIAN = Gaussian(variance=1.0)
ORTHANT = Cone.orthant(2)
OBJECTIVES = ("speed", "cost")
FRAME = pd.DataFrame({"cost": [2.0, 4.0, 0.0], "speed": [1.0, 3.0, 5.0]}, index=["a", "b", "c"])
ORDERED = [[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]]


def from_sqlite():
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    query = "select 2.0 cost, 1.0 speed union all select 4.0, 3.0 union all select 0.0, 5.0 order by speed"
    return connection.execute(query).fetchall()


# The rows of FRAME, its columns in another order than the objectives.
ROWS = {
    "namedtuples": lambda: list(FRAME.itertuples(index=False)),
    "dicts": lambda: FRAME.to_dict("records"),
    "series": lambda: [row for _, row in FRAME.iterrows()],
    "mixed": lambda: [{"speed": 1.0, "cost": 2.0}, pd.Series({"cost": 4.0, "speed": 3.0}), {"cost": 0.0, "speed": 5.0}],
    "sqlite": from_sqlite,
    "deque": lambda: deque(FRAME.to_dict("records")),
    "tuple": lambda: tuple(FRAME.itertuples(index=False)),
}
every_kind = pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)


def fresh(**options):
    return Experiment(("a", "b", "c"), OBJECTIVES, family=GAUSSIAN, threshold="heuristic", **options)


# Outcomes


@every_kind
def test_outcomes_one_by_one(rows):
    for tell in (
        lambda experiment: [experiment.tell(arm, row) for arm, row in zip("abc", rows(), strict=True)],
        lambda experiment: experiment.tell_many(zip("abc", rows(), strict=True)),
        lambda experiment: [experiment.tell_summary(arm, 1, row) for arm, row in zip("abc", rows(), strict=True)],
        lambda experiment: experiment.tell_log(["a", "b", "c"], rows()),
    ):
        experiment = fresh()
        tell(experiment)
        assert experiment.means.tolist() == ORDERED


@every_kind
def test_outcomes_of_a_study(rows, tmp_path):
    study = Study.create(tmp_path / "x.db", "s", arms=("a", "b", "c"), objectives=OBJECTIVES, family=GAUSSIAN)
    for row in rows():
        study.tell(study.ask().token, row)
    assert [list(mean) for mean in study.status().means.values()] == ORDERED


def test_the_index_of_itertuples_is_no_outcome(tmp_path):
    experiment, rows = fresh(), list(FRAME.itertuples())
    study = Study.create(tmp_path / "x.db", "s", arms=2, objectives=OBJECTIVES, family=GAUSSIAN)
    for call in (
        lambda: experiment.tell("a", rows[0]),
        lambda: experiment.tell_log(["a", "b", "c"], rows),
        lambda: study.tell(study.ask().token, rows[0]),
        # One objective and the index are as many numbers as there are objectives.
        lambda: experiment.tell("a", next(FRAME[["cost"]].reset_index(drop=True).itertuples())),
    ):
        with pytest.raises(InputError, match=r"'Index': leave it out, as in itertuples\(index=False\)"):
            call()
    assert experiment.n_pulls == 0
    spaced = next(pd.DataFrame({"a b": [1.0], "c d": [2.0]}).itertuples(index=False))
    with pytest.raises(InputError, match="got '_0': itertuples has no better name"):
        experiment.tell("a", spaced)


def test_rows_with_and_without_names_are_not_mixed():
    for call in (
        lambda: fresh().tell_log(["a", "b"], [{"speed": 1.0, "cost": 2.0}, [3.0, 4.0]]),
        lambda: Problem([{"speed": 1.0, "cost": 2.0}, [3.0, 4.0]], family=GAUSSIAN, cone=ORTHANT),
    ):
        with pytest.raises(InputError, match="rows that have names or rows that have none, got both"):
            call()


def test_rows_with_other_names_are_refused():
    for rows, words in (
        ([{"speed": 1.0}], "rewards must have 'speed', 'cost', got no 'cost'"),
        ([{"speed": 1.0, "cost": 1.0, "x": 1.0}], "rewards must be of 'speed', 'cost', got 'x'"),
        (namedtuple("Log", "speed cost")([1.0], [2.0]), "rewards must be numbers in order, without names"),
    ):
        with pytest.raises(InputError, match=words):
            fresh().tell_log(["a"], rows)


def test_pairs_that_have_names():
    experiment = fresh()
    swapped = namedtuple("Told", "reward arm")
    experiment.tell_many([swapped([1.0, 2.0], "a")])
    assert experiment.means[0].tolist() == [1.0, 2.0]
    table = pd.DataFrame({"reward": [[1.0, 2.0]]})
    with pytest.raises(InputError, match="each pair of outcomes must be of 'arm', 'reward', got 'Index'"):
        experiment.tell_many(table.itertuples())
    assert experiment.n_pulls == 1


def test_pending_pulls_that_have_names():
    experiment = fresh()
    assert experiment.ask(pending=namedtuple("Out", "a c")(2, 1)) == "b"
    assert experiment.choose(1, namedtuple("Out", "c a b")(1, 2, 0)) == [1]


def test_an_allocation_that_has_names():
    rule = Oracle(allocation=namedtuple("Shares", "c a b")(2.0, 5.0, 3.0))
    assert fresh(sampling=rule).setting.aim().tolist() == [0.5, 0.3, 0.2]


def test_a_log_and_its_arms_have_the_same_index():
    log = pd.DataFrame({"arm": ["a", "b", "c"], "cost": [2.0, 4.0, 0.0], "speed": [1.0, 3.0, 5.0], "n": [1, 1, 1]})
    shuffled = log.sort_values("cost")
    for arms, rewards, sizes in (
        (log["arm"], shuffled[["cost", "speed"]], None),
        (log["arm"], log[["cost", "speed"]], shuffled["n"]),
        (log["arm"], log[["cost", "speed"]].set_axis([3, 4, 5]), None),
    ):
        experiment = fresh()
        with pytest.raises(InputError, match=r"arms and (rewards|sizes) must have the same index"):
            experiment.tell_log(arms, rewards, sizes)
        assert experiment.n_pulls == 0
    for part in (log, shuffled):
        experiment = fresh()
        experiment.tell_log(part["arm"], part[["cost", "speed"]], part["n"])
        experiment.tell_log(part["arm"].to_numpy(), part[["cost", "speed"]], part["n"].tolist())
        assert experiment.means.tolist() == ORDERED and experiment.n_pulls == 6


# Tables of means


@every_kind
def test_means_that_have_names(rows):
    problem = Problem(rows(), family=GAUSSIAN, cone=ORTHANT, arms=("a", "b", "c"), objectives=OBJECTIVES)
    assert problem.means.tolist() == ORDERED
    taken = Problem(rows(), family=GAUSSIAN, cone=ORTHANT)
    assert taken.means[:, taken.labels.objectives.index("speed")].tolist() == [1.0, 3.0, 5.0]
    facets = Cone.from_facets([[1.0, 0.5], [0.0, 1.0]])
    found = evidence(rows(), [1, 2, 3], family=GAUSSIAN, cone=facets, objectives=OBJECTIVES)
    assert found.value == evidence(ORDERED, [1, 2, 3], family=GAUSSIAN, cone=facets).value


def test_rows_of_a_frame_keep_the_names_of_their_arms():
    rows = [row for _, row in FRAME.iterrows()]
    problem = Problem(rows, family=GAUSSIAN, cone=ORTHANT, arms=("c", "a", "b"), objectives=OBJECTIVES)
    assert problem.means.tolist() == [ORDERED[2], ORDERED[0], ORDERED[1]]
    assert Problem(rows, family=GAUSSIAN, cone=ORTHANT).labels.arms == ("a", "b", "c")
    # Titles that are no arms say nothing.
    assert Problem(rows, family=GAUSSIAN, cone=ORTHANT, arms=("p", "q", "r")).means.tolist() == FRAME.values.tolist()
    alike = [row.rename("mean") for row in rows]
    assert Problem(alike, family=GAUSSIAN, cone=ORTHANT).labels.arms == ("arm 0", "arm 1", "arm 2")


def test_a_mapping_from_arms_to_rows():
    for means in (FRAME.T.to_dict(), dict(zip("abc", FRAME.itertuples(index=False), strict=True))):
        problem = Problem(means, family=GAUSSIAN, cone=ORTHANT, arms=("c", "a", "b"), objectives=OBJECTIVES)
        assert problem.means.tolist() == [ORDERED[2], ORDERED[0], ORDERED[1]]
    with pytest.raises(InputError, match="means must be of 'a', 'b', 'z', got 'c'"):
        Problem(FRAME.T.to_dict(), family=GAUSSIAN, cone=ORTHANT, arms=("a", "b", "z"))


def test_truth_values_stay_refused_in_rows_that_have_names():
    with pytest.raises(InputError, match="means must be numbers"):
        Problem([{"x": True, "y": 0.5}, {"x": 1.0, "y": 0.5}], family=GAUSSIAN, cone=ORTHANT)


# Families


VARIANCES = {"cost": 4.0, "speed": 1.0}


def as_used(family, **options):
    """Covariances in the order of the objectives, and of the arms a, b, c."""
    means = pd.DataFrame(ORDERED, columns=OBJECTIVES, index=["a", "b", "c"])
    problem = Problem(means, family=family, cone=ORTHANT, **options)
    experiment = Experiment(("a", "b", "c"), OBJECTIVES, family=family)
    assert np.array_equal(problem.family.covariances(3, 2), experiment.setting.covariances)
    return experiment.setting.covariances.tolist()


@pytest.mark.parametrize("kind", [dict, pd.Series, lambda row: namedtuple("V", [*row])(**row)])
def test_variances_that_have_names(kind):
    assert as_used(Gaussian(variance=kind(VARIANCES))) == [[[1.0, 0.0], [0.0, 4.0]]]
    known = evidence(ORDERED, [1, 2, 3], family=Gaussian(variance=[1.0, 4.0]), cone=ORTHANT)
    given = Gaussian(variance=kind(VARIANCES))
    assert evidence(ORDERED, [1, 2, 3], family=given, cone=ORTHANT, objectives=OBJECTIVES).value == known.value
    with pytest.raises(InputError, match="names of variance must be of 'x', 'y', got 'cost'"):
        Experiment(3, ("x", "y"), family=Gaussian(variance=kind(VARIANCES)))
    with pytest.raises(InputError, match="got no 'size'"):
        Experiment(3, (*OBJECTIVES, "size"), family=Gaussian(variance=kind(VARIANCES)))


def test_variances_without_names_are_in_order():
    assert as_used(Gaussian(variance=pd.Series([1.0, 4.0]))) == [[[1.0, 0.0], [0.0, 4.0]]]


def test_covariances_that_have_names():
    expected = [[1.0, 0.3], [0.3, 4.0]]
    matrix = pd.DataFrame([[4.0, 0.3], [0.3, 1.0]], index=["cost", "speed"], columns=["cost", "speed"])
    for given in (
        matrix,
        matrix.loc[["speed", "cost"]],
        matrix[["speed", "cost"]],
        matrix.reset_index(drop=True),
        matrix.set_axis([0, 1], axis=1),
        matrix.to_dict(),
    ):
        assert as_used(Gaussian(covariance=given)) == [expected]
    other = [[2.0, -0.3], [-0.3, 3.0]]
    second = pd.DataFrame(other, index=OBJECTIVES, columns=OBJECTIVES)
    stacks = ({"b": second, "a": matrix, "c": matrix}, [matrix, second, matrix])
    for stack in stacks:
        assert as_used(Gaussian(covariance=stack)) == [expected, other, expected]
    with pytest.raises(InputError, match="names of covariance must be of 'x', 'y', got 'cost'"):
        Experiment(3, ("x", "y"), family=Gaussian(covariance=matrix))


def test_noise_that_has_names():
    means = pd.DataFrame(ORDERED, columns=OBJECTIVES, index=["a", "b", "c"])
    for noise, expected in (
        (pd.Series(VARIANCES), [[1.0, 4.0]] * 3),
        (FRAME + 1.0, [[2.0, 3.0], [4.0, 5.0], [6.0, 1.0]]),
    ):
        for given in (noise, noise.to_dict() if noise.ndim == 1 else noise.loc[["c", "a", "b"]]):
            problem = Problem(means, family=Gaussian(variance="unknown", noise=given), cone=ORTHANT)
            assert problem.family.laws(3, 2).noise.tolist() == expected


def test_a_study_keeps_variances_in_the_order_of_its_objectives(tmp_path):
    given = {"arms": 2, "objectives": OBJECTIVES, "family": Gaussian(variance=pd.Series(VARIANCES))}
    study = Study.create(tmp_path / "x.db", "s", **given)
    assert next(iter(study.events())).data["settings"]["family"]["variance"] == [1.0, 4.0]


@pytest.mark.parametrize("named", [pd.Series([1.0, 2.0], index=["x", "y"]), {"x": 1.0, "y": 2.0}])
def test_names_that_nobody_asks_for_are_refused(named):
    for call in (
        lambda: GAUSSIAN.divergence(named, [1.0, 2.0]),
        lambda: GAUSSIAN.divergence([1.0, 2.0], named),
    ):
        with pytest.raises(InputError, match=r"in order, without names .* got the names 'x', 'y'"):
            call()


# Cones


# One unit of cost is worth at least 3 of speed.
WORTH = one("cost").is_worth(at_least=3, of="speed")
BY_SPEED = Cone.tradeoffs(OBJECTIVES, WORTH)
BY_COST = Cone.tradeoffs(("cost", "speed"), WORTH)


def same_cone(cone):
    """Whatever the order of its facets."""
    return np.allclose(np.sort(cone.facets, axis=0), np.sort(BY_SPEED.facets, axis=0))


def test_a_cone_made_from_names_goes_by_them(tmp_path):
    assert not same_cone(BY_COST)
    problem = Problem(ORDERED, family=GAUSSIAN, cone=BY_COST, objectives=OBJECTIVES)
    assert same_cone(problem.cone) and problem.cone.name == "tradeoffs(speed, cost)"
    assert same_cone(Problem(ORDERED, family=GAUSSIAN, cone=ORTHANT, objectives=OBJECTIVES).with_cone(BY_COST).cone)
    assert same_cone(fresh(cone=BY_COST).setting.cone)
    values = {
        evidence(ORDERED, [9, 9, 9], family=GAUSSIAN, cone=cone, objectives=OBJECTIVES).value
        for cone in (BY_COST, BY_SPEED, Cone(BY_SPEED.facets))
    }
    assert max(values) == pytest.approx(min(values), rel=1e-12)
    given = {"arms": 2, "objectives": OBJECTIVES, "family": GAUSSIAN}
    study = Study.create(tmp_path / "x.db", "s", **given, cone=BY_COST)
    kept = next(iter(study.events())).data["settings"]["cone"]
    assert same_cone(Cone(np.array(kept["facets"]))) and kept["name"] == "tradeoffs(speed, cost)"
    assert study.verify().ok


@pytest.mark.parametrize("order", [*permutations(("x", "y", "z"))])
def test_a_cone_over_three_objectives_in_any_order(order):
    worths = one("x").is_worth(at_least=2, of="y"), one("y").is_worth(at_most=5, of="z")
    cone = Cone.tradeoffs(order, *worths).ordered(("x", "y", "z"))
    points = np.random.default_rng(3).normal(size=(200, 3))
    assert cone.contains(points).tolist() == Cone.tradeoffs(("x", "y", "z"), *worths).contains(points).tolist()


def test_a_cone_made_from_other_names_is_refused(tmp_path):
    cone = Cone.tradeoffs(("A", "B"), one("A").is_worth(at_least=3, of="B"))
    known = Problem(ORDERED, family=GAUSSIAN, cone=ORTHANT, objectives=OBJECTIVES)
    for call in (
        lambda: Problem(ORDERED, family=GAUSSIAN, cone=cone, objectives=OBJECTIVES),
        lambda: Problem(FRAME, family=GAUSSIAN, cone=cone),
        lambda: known.with_cone(cone),
        lambda: fresh(cone=cone),
        lambda: evidence(ORDERED, [1, 1, 1], family=GAUSSIAN, cone=cone, objectives=OBJECTIVES),
        lambda: Study.create(tmp_path / "x.db", "s", arms=2, objectives=OBJECTIVES, family=GAUSSIAN, cone=cone),
        lambda: fronts(known, [cone]),
    ):
        with pytest.raises(InputError, match=r"objectives of the cone must be of .*, got 'A'"):
            call()


@pytest.mark.parametrize("make", [Cone.from_facets, Cone.from_rays])
def test_facets_and_rays_that_have_names(make):
    table = pd.DataFrame([[1.0, 0.0], [0.5, 1.0]], columns=["cost", "speed"])
    expected = make([[0.0, 1.0], [1.0, 0.5]])
    for given in (table, table.to_dict("records"), list(table.itertuples(index=False)), table.set_axis(["p", "q"])):
        found = fresh(cone=make(given)).setting.cone
        points = np.random.default_rng(3).normal(size=(200, 2))
        assert found.contains(points).tolist() == expected.contains(points).tolist()
    with pytest.raises(InputError, match="objectives of the cone must be of 'x', 'y', got 'cost'"):
        Experiment(2, ("x", "y"), family=GAUSSIAN, cone=make(table))


def test_points_that_have_names():
    """One of cost for three of speed and a bit."""
    better, worse = {"cost": 1.0, "speed": 0.0}, pd.Series({"speed": 2.9, "cost": 0.0})
    for cone in (BY_COST, BY_SPEED):
        assert cone.dominates(better, worse) and not cone.dominates(worse, better)
        assert cone.pareto_mask([better, {"speed": 2.9, "cost": 0.0}]).tolist() == [True, False]
        assert cone.pareto_mask(pd.DataFrame([better, worse])).tolist() == [True, False]
        assert cone.contains({"speed": -2.9, "cost": 1.0}) and not cone.contains({"speed": 1.0, "cost": -2.9})
        assert cone.contains(pd.DataFrame([better, worse])).tolist() == [True, True]
    # A cone without names: those of the two points are matched.
    assert ORTHANT.dominates({"x": 1.0, "y": 2.0}, {"y": 2.0, "x": 0.0})
    with pytest.raises(InputError, match="worse must be of 'x', 'y', got 'z'"):
        ORTHANT.dominates({"x": 1.0, "y": 2.0}, {"z": 2.0, "x": 0.0})


@pytest.mark.parametrize("kind", [dict, pd.Series])
def test_an_allocation_by_name_is_kept_by_name(kind):
    rule, family = Oracle(allocation=kind({"b": 9.0, "a": 1.0})), Gaussian(variance=1.0)
    experiment = Experiment(("a", "b"), 1, family=family, sampling=rule)
    assert experiment.settings()["sampling"]["allocation"] == [1.0, 9.0]
    again = Experiment.from_json(experiment.to_json())
    for turn in range(20):
        for live in (experiment, again):
            live.tell(live.ask(), [float(turn % 3)])
    assert experiment.counts.tolist() == again.counts.tolist() == [2, 18]
    problem = Problem(pd.DataFrame({"u": [1.0, 0.0]}, index=["a", "b"]), family=family, cone=Cone.orthant(1))
    (row,) = simulate(problem, sampling=rule, n_runs=1, max_pulls=50, seed=1).rows()
    assert "(1.0, 9.0)" in row["rule"]
