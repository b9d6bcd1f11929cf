"""The live experiment: resuming, batches, budgets, words, and bad input."""

import json
import zlib

import numpy as np
import pytest

from prepex import Cone, Experiment, Gaussian
from prepex.instances import covboost
from prepex.sampling import FraPPE, InformationDirected, Oracle, Uniform
from prepex.stopping import Certified

PROBLEM = covboost()
DEVIATION = np.sqrt([0.70, 0.83, 1.54])


def live(**options):
    given = {"family": PROBLEM.family, "delta": 0.1, "seed": 2, **options}
    return Experiment(PROBLEM.labels.arms, PROBLEM.labels.objectives, **given)


def pull(experiment, rng, n):
    pulled = []
    for _ in range(n):
        arm = PROBLEM.labels.arms.index(experiment.ask())
        experiment.tell(arm, PROBLEM.means[arm] + DEVIATION * rng.standard_normal(3))
        pulled.append(arm)
    return pulled


@pytest.mark.parametrize("sampling", [InformationDirected(), FraPPE()], ids=lambda rule: rule.name)
def test_killed_and_resumed_at_fifty_points_it_goes_on_bit_for_bit(sampling):
    straight = live(sampling=sampling)
    expected = pull(straight, np.random.default_rng(0), 600)
    points = np.sort(np.random.default_rng(1).choice(600, size=50, replace=False))
    rng, resumed, pulled = np.random.default_rng(0), live(sampling=sampling), []
    for n in np.diff([0, *points, 600]):
        pulled += pull(resumed, rng, n)
        resumed = Experiment.from_json(resumed.to_json())
    assert pulled == expected
    assert np.array_equal(resumed.means, straight.means)
    assert resumed.evidence.value == straight.evidence.value and resumed.reached == straight.reached
    assert resumed.recommendation == straight.recommendation and resumed.why() == straight.why()


def test_a_stop_is_certified_and_sticks():
    experiment = Experiment(3, 2, family=Gaussian(variance=0.1), delta=0.1)
    means = np.array([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0]])
    rng = np.random.default_rng(3)
    while not experiment.done:
        arm = int(experiment.ask()[-1])
        experiment.tell(arm, means[arm] + np.sqrt(0.1) * rng.standard_normal(2))
    answer = experiment.recommendation
    assert answer.status == "certified" and answer.arms == ("arm 0", "arm 1")
    assert answer.decided == ("arm 0", "arm 1", "arm 2") and answer.undecided == ()
    assert "Stopped after" in experiment.why()
    experiment.tell(2, [50.0, 50.0])
    assert experiment.recommendation == answer, "what is told after the stop does not change the answer"


@pytest.mark.parametrize("threshold", ["certified", "heuristic"])
def test_a_near_tie_ends_by_budget_and_names_what_is_undecided(threshold):
    means = np.array([[1.0, 0.0], [0.0, 1.0], [0.999, -0.001], [-3.0, -3.0]])
    experiment = Experiment(4, 2, family=Gaussian(variance=0.2), threshold=threshold, max_pulls=600, delta=0.05)
    rng = np.random.default_rng(4)
    while not experiment.done:
        arm = int(experiment.ask()[-1])
        experiment.tell(arm, means[arm] + np.sqrt(0.2) * rng.standard_normal(2))
    answer = experiment.recommendation
    assert answer.status == "inconclusive" and answer.n_pulls == 600
    assert "arm 2" in answer.undecided and "arm 3" in answer.decided
    assert set(answer.decided) | set(answer.undecided) == {f"arm {k}" for k in range(4)}


def test_a_batch_counts_what_is_out():
    experiment = live()
    assert experiment.ask(20) == list(PROBLEM.labels.arms)
    pull(experiment, np.random.default_rng(5), 200)
    assert len(experiment.ask(8)) == 8
    with pytest.raises(ValueError, match="n must leave at most 1024 = max_pending"):
        experiment.ask(2000)


def test_uniform_batches_are_a_round_robin():
    experiment = Experiment(4, 1, family=Gaussian(variance=1.0), sampling=Uniform())
    for arm in range(4):
        experiment.tell(arm, [float(arm)])
    assert sorted(experiment.ask(4)) == [f"arm {k}" for k in range(4)]
    assert sorted(experiment.ask(3) + experiment.ask(1, pending=experiment.ask(3))) == [f"arm {k}" for k in range(4)]


def test_what_was_never_asked_may_be_told():
    experiment = Experiment(3, 2, family=Gaussian(variance=1.0))
    for arm in (2, 2, 0, 2, 1, 0):
        experiment.tell(arm, [arm, -arm])
    assert experiment.counts.tolist() == [2, 1, 3]
    np.testing.assert_allclose(experiment.means, [[0, 0], [1, -1], [2, -2]])
    assert experiment.evidence.pareto_set == (0, 1, 2)


def test_minimised_objectives_keep_the_users_sign():
    experiment = Experiment(2, ("gain", "cost"), family=Gaussian(variance=0.01), minimise=("cost",), delta=0.1)
    while not experiment.done:
        arm = experiment.ask()
        experiment.tell(arm, [1.0, 2.0] if arm == "arm 0" else [0.0, 5.0])
    assert experiment.recommendation.arms == ("arm 0",)
    np.testing.assert_allclose(experiment.means, [[1.0, 2.0], [0.0, 5.0]])
    assert experiment.evidence.alternative.words.startswith("arm 1 would become Pareto optimal if arm 0 had ")


def test_a_function_may_be_the_threshold():
    experiment = Experiment(
        2, 1, family=Gaussian(variance=1.0), threshold=lambda counts, delta: 3.0 + 0.0 * counts.sum(), delta=0.1
    )
    while not experiment.done:
        experiment.tell(experiment.ask(), [1.0 if experiment.ask() == "arm 0" else 0.0])
    assert experiment.recommendation.status == "heuristic" and experiment.evidence.value >= 3.0
    with pytest.raises(ValueError, match="named ones to be written, got a function"):
        experiment.to_json()


def test_words_before_every_arm_was_tried():
    experiment = Experiment(3, 1, family=Gaussian(variance=1.0))
    experiment.tell(0, [1.0])
    assert "every option must be tried once" in experiment.why()
    assert experiment.recommendation.status == "running" and experiment.forecast() is None
    with pytest.raises(ValueError, match="every arm must have been tried, got no outcome yet of arm 1, arm 2"):
        _ = experiment.evidence


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 0.0}, r"delta must be in \(0, 1\), got 0.0"),
        ({"delta": 1.0}, "delta must be in"),
        ({"max_pulls": 19}, "max_pulls must be an integer of at least 20, got 19"),
        ({"threshold": "sure"}, "threshold must be one of certified, heuristic, kaufmann_koolen, own, posterior, or"),
        ({"cone": Cone.orthant(2)}, "cone must be over 3 = n_objectives, got one over 2"),
        ({"threshold": 3}, "threshold must be one of"),
        ({"seed": -1}, "seed must be an integer of at least 0"),
        ({"minimise": ("price",)}, "minimise must be one of"),
        ({"sampling": Oracle()}, "Oracle needs allocation="),
        ({"sampling": Oracle(allocation=(1.0,))}, "allocation must have shape"),
    ],
)
def test_bad_settings(options, message):
    with pytest.raises(ValueError, match=message):
        live(**options)


@pytest.mark.parametrize(
    ("arm", "reward", "message"),
    [
        ("nobody", [1.0, 2.0], "arm must be one of 'arm 0', 'arm 1', 'arm 2' or an index, got 'nobody'"),
        (3, [1.0, 2.0], "arm must be one of"),
        (0, [1.0], r"reward must have shape \(2 = n_objectives,\), got \(1,\)"),
        (0, [1.0, np.nan], "reward must be finite, got nan"),
        (0, ["x", 1.0], "reward must be numbers"),
        (0, ["1", "2"], "reward must be numbers"),
        (0, [True, False], "reward must be numbers"),
        (0, [1e200, 0.0], "reward must be at most 1e\\+100 in size, got 1e\\+200"),
    ],
)
def test_bad_outcomes_change_nothing(arm, reward, message):
    experiment = Experiment(3, 2, family=Gaussian(variance=1.0))
    for k in range(3):
        experiment.tell(k, [k, -k])
    before = experiment.to_json()
    with pytest.raises(ValueError, match=message):
        experiment.tell(arm, reward)
    with pytest.raises(ValueError, match=message):
        experiment.tell_many([(0, [5.0, 5.0]), (arm, reward)])
    assert experiment.to_json() == before


def test_a_budget_ends_even_before_every_arm_was_tried():
    experiment = Experiment(3, 1, family=Gaussian(variance=1.0), max_pulls=3)
    for _ in range(3):
        experiment.tell(0, [1.0])
    assert experiment.done and experiment.recommendation.status == "inconclusive"
    assert experiment.recommendation.undecided == ("arm 0", "arm 1", "arm 2")


def test_a_proven_threshold_certifies():
    experiment = Experiment(2, 1, family=Gaussian(variance=0.01), threshold="kaufmann_koolen")
    while not experiment.done:
        experiment.tell(experiment.ask(), [1.0 if experiment.ask() == "arm 0" else 0.0])
    assert experiment.recommendation.status == "certified"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda counts, delta: np.nan, r"threshold\(counts, delta\) must be finite, got nan"),
        (lambda counts, delta: "x", "must be a number finite, got 'x'"),
        (lambda counts: 1.0, r"threshold must be a function of \(counts, delta\)"),
    ],
)
def test_a_bad_function_is_refused_at_once(function, message):
    with pytest.raises(ValueError, match=message):
        Experiment(2, 1, family=Gaussian(variance=1.0), threshold=function)


def test_damaged_documents_say_what_is_wrong():
    experiment = Experiment(2, 1, family=Gaussian(variance=1.0))
    experiment.tell(0, [1.0])
    good = json.loads(experiment.to_json())
    for key in good:
        with pytest.raises(ValueError, match="got no"):
            Experiment.from_json(json.dumps({k: v for k, v in good.items() if k != key}))
        for value in (None, 3, "x", [], {}):
            if key not in ("max_pulls", "seed", "max_pending", "log") or value in ("x", {}):
                with pytest.raises((ValueError, TypeError), match=r"must|needs"):
                    Experiment.from_json(json.dumps(good | {key: value}))
    damages = (
        {"family": {"name": "Cauchy", "variance": 1}},
        {"sampling": {"name": "x"}},
        {"log": [[0]]},
        {"log": [0]},
    )
    for damage in damages:
        with pytest.raises(ValueError, match="must"):
            Experiment.from_json(json.dumps(good | damage))
    with pytest.raises(ValueError, match="got an unknown 'more'"):
        Experiment.from_json(json.dumps(good | {"more": 1}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "text must be what to_json wrote"),
        ("[]", "got no 'format'"),
        ('{"format": "other"}', "must have the format 'prepex experiment 1', got 'other'"),
    ],
)
def test_bad_documents(text, message):
    with pytest.raises(ValueError, match=message):
        Experiment.from_json(text)


def test_a_pilot_is_left_out_of_the_tests_but_not_of_the_answer():
    """One arm is told many times before the others' first outcomes: firsts first, the others in their order."""
    rng = np.random.default_rng(3)
    experiment = Experiment(3, 2, family=Gaussian(variance=1.0), threshold=Certified(pilot=4), seed=1)
    told = [(0, rng.normal(size=2)) for _ in range(7)]
    told += [(k, rng.normal(size=2)) for k in (1, 2, 1, 1, 2, 0, 1, 2)]
    for arm, reward in told[:10]:
        experiment.tell(arm, reward)
    assert experiment.reached == -np.inf
    # Of a length that was given, and of one that depends on what is seen.
    assert "The first 12 pulls only set the shares of the risk" in experiment.why()
    usual = Experiment(3, 2, family=Gaussian(variance=1.0))
    usual.tell_many([(k, [0.0, 0.0]) for k in range(3)])
    assert "At least the first 9 pulls only set the shares of the risk" in usual.why()
    assert experiment.recommendation.undecided == experiment.labels.arms
    for arm, reward in told[10:]:
        experiment.tell(arm, reward)
    first = [next(n for n, (k, _) in enumerate(told) if k == arm) for arm in range(3)]
    order = first + [n for n in range(len(told)) if n not in first]
    fresh = experiment.course.fresh
    for arm in range(3):
        late = [told[n][1] for n in order[12:] if told[n][0] == arm]
        assert fresh.N[arm] == len(late)
        np.testing.assert_allclose(fresh.inst.S[arm] + experiment.course.origin, np.mean(late, axis=0), atol=1e-12)
    np.testing.assert_allclose(experiment.means[1], np.mean([r for k, r in told if k == 1], axis=0))
    again = Experiment.from_json(experiment.to_json())
    assert again.setting.threshold == Certified(pilot=4) and again.reached == experiment.reached


def test_a_pilot_may_be_none_and_must_be_whole():
    experiment = Experiment(2, 1, family=Gaussian(variance=1.0), threshold=Certified(pilot=0))
    experiment.tell_many([(0, [3.0]), (1, [0.0])])
    assert np.isfinite(experiment.reached)
    with pytest.raises(ValueError, match="pilot must be"):
        Certified(pilot=-1)


@pytest.mark.parametrize("sampling", [InformationDirected(), FraPPE()], ids=lambda rule: rule.name)
@pytest.mark.parametrize("threshold", ["certified", "heuristic"])
def test_a_long_log_is_told_as_one_by_one(sampling, threshold):
    rng = np.random.default_rng(7)
    means = np.array([[1.0, 0.0], [0.0, 1.0], [-0.5, -0.5]])
    arms = np.concatenate([[0, 0, 1], rng.integers(3, size=200)])
    rows = means[arms] + 0.6 * rng.standard_normal((len(arms), 2))
    given = {"family": Gaussian(variance=0.36), "minimise": (1,), "sampling": sampling, "threshold": threshold}
    for max_pulls in (None, 40):
        one, log = (Experiment(3, 2, max_pulls=max_pulls, **given) for _ in range(2))
        for arm, row in zip(arms, rows * [1, -1], strict=True):
            one.tell(int(arm), row)
        log.tell_log(arms[:90], rows[:90] * [1, -1])
        log.tell_log(arms[90:], rows[90:] * [1, -1])
        assert log.recommendation == one.recommendation and log.done and log.n_pulls == one.n_pulls == 203
        assert log.snapshot() == one.snapshot() and log.ask(3) == one.ask(3)


def test_a_snapshot_goes_on_bit_for_bit():
    for before in (0, 2, 200):
        one = live(threshold="heuristic")
        rng = np.random.default_rng(8)
        pull(one, rng, before)
        other = live(threshold="heuristic")
        other.restore(one.snapshot())
        state = rng.bit_generator.state
        expected = pull(one, rng, 150)
        rng.bit_generator.state = state
        assert pull(other, rng, 150) == expected
        assert other.snapshot() == one.snapshot() and other.why() == one.why()
    with pytest.raises(ValueError, match="got only what was told since pull 200"):
        other.to_json()


@pytest.mark.parametrize(
    ("snapshot", "message"),
    [
        (b"nonsense", "snapshot must be what snapshot"),
        (zlib.compress(b"{}\n"), "damaged document"),
        (zlib.compress(b'{"format": "x"}\n'), "must have the format"),
        (Experiment(2, 1, family=Gaussian(variance=1.0)).snapshot()[:-4], "snapshot must be what"),
    ],
)
def test_bad_snapshots(snapshot, message):
    with pytest.raises(ValueError, match=message):
        Experiment(2, 1, family=Gaussian(variance=1.0)).restore(snapshot)


def test_a_snapshot_of_another_experiment_is_refused():
    other = Experiment(2, 2, family=Gaussian(variance=1.0))
    other.tell_many([(0, [1.0, 2.0]), (1, [2.0, 1.0])])
    with pytest.raises(ValueError, match="with the same settings, got other arrays"):
        Experiment(2, 1, family=Gaussian(variance=1.0)).restore(other.snapshot())
