"""Whole runs do not depend on where zero is, nor on units, names and the order of arms and objectives."""

import numpy as np
import pytest

from prepex import Bernoulli, Cone, Experiment, Gaussian, Poisson, Problem, Product, Study, evidence, simulate
from prepex.sampling import (
    APE,
    PSIPS,
    AcceleratedPreTS,
    Auer,
    FraPPE,
    InformationDirected,
    Oracle,
    TnS,
    Uniform,
)
from prepex.stopping import Certified
from prepex.study.check import check

D = np.array([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0], [0.3, -0.3]])
CONE = Cone.angle(120)
RULES = [
    *(FraPPE(), InformationDirected(), AcceleratedPreTS(gap=0.2), TnS(), Uniform()),
    *(Oracle(), PSIPS(), APE(), Auer()),
]
OFFSETS = (0.0, 1e4, 1e6, 1e8)


def outcomes(offset, scale, rules, thresholds, n_runs):
    problem = Problem(offset + scale * D, family=Gaussian(variance=scale**2), cone=CONE)
    runs = simulate(problem, sampling=rules, threshold=thresholds, deltas=0.1, n_runs=n_runs, seed=3)
    return {(r["rule"], r["threshold"], r["run"]): (r["stopping_time"], tuple(r["recommended"])) for r in runs.rows()}


@pytest.mark.parametrize("scale", [1.0, 1e-2])
def test_runs_at_every_offset_are_the_same(scale):
    thresholds = ["heuristic", "certified"]
    here = outcomes(0.0, 1.0, RULES, thresholds, 10)
    assert len(here) == 10 * (2 * 6 + 3) and all(answer == (0, 1) for _, answer in here.values())
    for offset in OFFSETS:
        there = outcomes(offset, scale, RULES, thresholds, 10)
        assert there.keys() == here.keys()
        assert all(there[run][1] == here[run][1] for run in here)
        # Rewards far from zero are rounded: a run may turn another way, but rarely.
        assert sum(there[run][0] != here[run][0] for run in here) <= 2


def test_uniform_sampling_far_from_zero_is_as_right_and_as_long_as_near():
    """Gaps far below the noise: many pulls, so that a bound that is kept wrongly shows."""
    means = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [0.5, 0.2]]) * 1e-2
    family = Gaussian(variance=1e-4)
    found = []
    for offset in OFFSETS:
        runs = simulate(Problem(offset + means, family=family, cone=CONE), sampling=Uniform(), n_runs=10, seed=1)
        found.append([(row["stopping_time"], row["recommended"]) for row in runs.rows()])
    assert all(sum(a != b for a, b in zip(found[0], other, strict=True)) <= 1 for other in found[1:])


def replay(experiment, log, watch=False):
    """(what is reached after every outcome until the stop, n_pulls and answer there)."""
    reached = []
    for arm, reward in log:
        experiment.tell(arm, reward)
        if watch and experiment.course is not None:
            reached.append(experiment.reached)
        if experiment.done:
            break
    answer = experiment.recommendation
    return np.array(reached), (answer.status, answer.n_pulls if experiment.done else None, answer.arms)


@pytest.mark.parametrize("threshold", ["heuristic", Certified(pilot=2)])
@pytest.mark.parametrize("unknown", [False, True])
def test_live_experiments_told_rewards_far_from_zero(unknown, threshold):
    """The outcomes are multiples of 2^-20 and the offset is a power of two: nothing is rounded, so every bit agrees."""
    rng = np.random.default_rng(4)
    family = Gaussian(variance="unknown") if unknown else Gaussian(variance=1.0)

    def fresh(rule):
        return Experiment(4, 2, family=family, cone=CONE, sampling=rule, threshold=threshold, delta=0.1, seed=2)

    for rule in (InformationDirected(), FraPPE(), TnS()):
        near, far = fresh(rule), fresh(rule)
        while not near.done and near.n_pulls < 400:
            arm = near.ask()
            assert far.ask() == arm
            k = near.labels.arms.index(arm)
            reward = np.round((D[k] + rng.normal(size=2)) * 2**20) / 2**20
            near.tell(arm, reward)
            far.tell(arm, reward + 2.0**26)
            assert far.reached == near.reached
        assert far.recommendation == near.recommendation
        np.testing.assert_allclose(far.means, near.means + 2.0**26, rtol=1e-15)
        again = fresh(rule)
        again.restore(far.snapshot())
        assert again.ask() == far.ask() == near.ask() and np.array_equal(again.means, far.means)
        if not unknown:
            # What is kept from pull to pull is what is found from the means alone.
            known = evidence(near.means, near.counts, family=family, cone=CONE).value
            assert far.evidence.value == pytest.approx(known, rel=1e-9)
            assert threshold != "heuristic" or far.reached == pytest.approx(known, rel=1e-9)


def test_a_log_told_at_once_far_from_zero():
    rng = np.random.default_rng(5)
    arms = np.r_[np.arange(4), rng.integers(0, 4, 3000)]
    rewards = 1e8 + D[arms] + rng.normal(size=(3004, 2))
    quick, slow = (Experiment(4, 2, family=Gaussian(variance=1.0), cone=CONE, delta=0.1) for _ in range(2))
    quick.tell_log(arms, rewards)
    slow.tell_many(zip(arms.tolist(), rewards, strict=True))
    assert slow.done and quick.recommendation == slow.recommendation
    assert np.array_equal(quick.means, slow.means) and quick.reached == slow.reached


FAMILIES = {
    "gaussian": (Gaussian(variance=1.0), lambda rng, x: x + rng.normal(size=2)),
    "unknown": (Gaussian(variance="unknown"), lambda rng, x: x + rng.normal(size=2)),
    "shared": (Gaussian(variance="unknown", shared=True), lambda rng, x: x + rng.normal(size=2)),
    "bernoulli": (Bernoulli(), lambda rng, x: (rng.random(2) < 0.32 + x / 3.3).astype(float)),
    "mixed": (
        Product([Gaussian(variance=1.0), Poisson()]),
        lambda rng, x: np.array([x[0] + rng.normal(), float(rng.poisson(x[1] + 1.5))]),
    ),
}


@pytest.mark.parametrize("threshold", ["heuristic", Certified(pilot=3)])
@pytest.mark.parametrize("name", FAMILIES)
def test_the_order_of_arms_and_objectives_does_not_matter(name, threshold):
    """The same log under other positions: the same evidence after every outcome, the same stop, the same answer."""
    family, draw = FAMILIES[name]
    rng = np.random.default_rng(6)
    arms, sides = ("a", "b", "c", "d"), ("x", "y")

    def fresh(arms, sides, family, facets):
        # The sampling plays no part here: the log is given.
        options = {"cone": Cone.from_facets(facets), "delta": 0.1, "sampling": Uniform(), "threshold": threshold}
        return Experiment(arms, sides, family=family, **options)

    facets = np.array([[1.0, 0.4], [0.1, 1.0]])
    log = [(k % 4, draw(rng, D[k % 4])) for k in range(4000)]
    before, stop = replay(fresh(arms, sides, family, facets), [(arms[k], x) for k, x in log], watch=True)
    assert stop[1] is not None
    order = [2, 0, 3, 1]
    permuted = fresh(tuple(arms[k] for k in order), sides, family, facets)
    after, other = replay(permuted, [(arms[k], x) for k, x in log], watch=True)
    np.testing.assert_allclose(after, before, rtol=1e-7, atol=1e-7)
    assert other[:2] == stop[:2] and sorted(other[2]) == sorted(stop[2])
    turned = Product(family.families[::-1]) if name == "mixed" else family
    exchanged = fresh(arms, sides[::-1], turned, facets[:, ::-1])
    after, other = replay(exchanged, [(arms[k], x[::-1]) for k, x in log], watch=True)
    np.testing.assert_allclose(after, before, rtol=1e-7, atol=1e-7)
    assert other == stop


def asked(rule, threshold, family, draw, arms="abcd", sides="xy"):
    """(the arms asked for until the end, the answer): the n-th outcome of an arm is the same whenever it comes."""
    facets = [[1.0, 0.4], [0.1, 1.0]] if sides == "xy" else [[0.4, 1.0], [1.0, 0.1]]
    options = {"cone": Cone.from_facets(facets), "delta": 0.1, "sampling": rule, "threshold": threshold, "seed": 2}
    experiment = Experiment(tuple(arms), tuple(sides), family=family, **options)
    streams = {name: np.random.default_rng([9, k]) for k, name in enumerate("abcd")}
    pulls = []
    while not experiment.done:
        arm = experiment.ask()
        outcome = draw(streams[arm], D["abcd".index(arm)])
        experiment.tell(arm, dict(zip("xy", outcome, strict=True)))
        pulls.append(arm)
    return pulls, sorted(experiment.recommendation.arms)


ASKING = [FraPPE(), InformationDirected(), AcceleratedPreTS(gap=0.2), TnS(), Uniform(), APE()]


@pytest.mark.parametrize("threshold", ["heuristic", Certified(pilot=3)])
@pytest.mark.parametrize("name", ["gaussian", "unknown"])
@pytest.mark.parametrize("rule", ASKING, ids=lambda rule: type(rule).__name__)
def test_whole_runs_with_exchanged_objectives_are_the_same(rule, name, threshold):
    """Pull by pull: what is asked for next, too."""
    family, draw = FAMILIES[name]
    if isinstance(rule, APE):
        if name == "unknown":
            pytest.skip("it needs a known variance")
        threshold = "own"
    assert asked(rule, threshold, family, draw) == asked(rule, threshold, family, draw, sides="yx")


@pytest.mark.parametrize("threshold", ["heuristic", Certified(pilot=3)])
@pytest.mark.parametrize("rule", ASKING, ids=lambda rule: type(rule).__name__)
def test_whole_runs_with_permuted_arms_are_the_same(rule, threshold):
    """As many trials of each arm; where a rule takes the first of several that are level, the same answer."""
    family, draw = FAMILIES["gaussian"]
    threshold = "own" if isinstance(rule, APE) else threshold
    (pulls, answer), (others, same) = (asked(rule, threshold, family, draw, arms=arms) for arms in ("abcd", "cadb"))
    assert answer == same == ["a", "b"]
    if isinstance(rule, AcceleratedPreTS | TnS | APE):
        assert sorted(pulls) == sorted(others)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_units_do_not_matter(rule):
    """Powers of two round nothing: whole runs are the same, bit for bit; in other units, but for rounding."""
    thresholds = ["heuristic", "certified"]

    def runs(cone, scale):
        problem = Problem(D * scale, family=Gaussian(variance=np.broadcast_to(scale, 2) ** 2), cone=cone)
        rows = simulate(problem, sampling=rule, threshold=thresholds, deltas=0.1, n_runs=2, seed=3).rows()
        return [(row["threshold"], row["stopping_time"], row["recommended"]) for row in rows]

    if isinstance(rule, Oracle):
        rule = Oracle(allocation=(0.3, 0.3, 0.2, 0.2))
    assert runs(CONE, 1.0) == runs(CONE, 2.0**-9) == runs(CONE, 2.0**7)
    plain = runs(Cone.orthant(2), np.array([1.0, 1.0]))
    assert runs(Cone.orthant(2), np.array([2.0**5, 2.0**-8])) == plain
    odd = runs(Cone.orthant(2), np.array([1e-3, 300.0]))
    assert [row[2] for row in odd] == [row[2] for row in plain]
    assert sum(a != b for a, b in zip(odd, plain, strict=True)) <= 1


@pytest.mark.parametrize("threshold", ["heuristic", "certified"])
def test_runs_with_a_tolerance_in_other_places_and_units_are_the_same(threshold):
    """Arms 0 and 1 tie but for a hundredth; the tolerance is scaled along."""
    means = np.array([[2.0, 0.0], [2.0, 0.01], [-1.0, -1.0], [0.0, 2.0]])

    def runs(offset, scale):
        problem = Problem(offset + scale * means, family=Gaussian(variance=scale**2), cone=CONE)
        given = {"threshold": threshold, "deltas": 0.1, "n_runs": 3, "seed": 3, "tolerance": scale * np.ones(2)}
        rules = [FraPPE(), InformationDirected()]
        return [(row["stopping_time"], row["correct"]) for row in simulate(problem, sampling=rules, **given).rows()]

    here = runs(0.0, 1.0)
    assert all(right for _, right in here)
    assert runs(0.0, 2.0**-9) == runs(0.0, 2.0**7) == here
    for offset in OFFSETS[1:]:
        assert sum(a != b for a, b in zip(runs(offset, 1.0), here, strict=True)) <= 1


@pytest.mark.parametrize("threshold", ["heuristic", Certified(pilot=3)])
@pytest.mark.parametrize("name", ["gaussian", "unknown", "bernoulli"])
def test_with_a_tolerance_the_order_of_arms_and_objectives_does_not_matter(name, threshold):
    family, draw = FAMILIES[name]
    rng = np.random.default_rng(8)
    sizes = {"x": 0.1, "y": 0.2}

    def fresh(arms, sides, facets):
        options = {"cone": Cone.from_facets(facets), "delta": 0.1, "sampling": Uniform(), "threshold": threshold}
        return Experiment(arms, sides, family=family, tolerance=sizes, **options)

    facets = np.array([[1.0, 0.4], [0.1, 1.0]])
    log = [("abcd"[k % 4], draw(rng, D[k % 4])) for k in range(1200)]
    before, stop = replay(fresh(tuple("abcd"), ("x", "y"), facets), log, watch=True)
    after, other = replay(fresh(tuple("cadb"), ("x", "y"), facets), log, watch=True)
    np.testing.assert_allclose(after, before, rtol=1e-7, atol=1e-7)
    assert other[:2] == stop[:2]
    after, other = replay(fresh(tuple("abcd"), ("y", "x"), facets[:, ::-1]), [(k, x[::-1]) for k, x in log], watch=True)
    np.testing.assert_allclose(after, before, rtol=1e-7, atol=1e-7)
    assert other[:2] == stop[:2]


@pytest.mark.parametrize("family", [Gaussian(variance=1e-4), Gaussian(variance="unknown")], ids=["known", "unknown"])
def test_a_certificate_far_from_zero_passes_its_check_with_the_log(family, tmp_path):
    rng = np.random.default_rng(7)
    options = {"cone": CONE, "threshold": Certified(pilot=3), "sampling": Uniform(), "delta": 0.1}
    study = Study.create(tmp_path / "far.db", "far", arms=4, objectives=2, family=family, **options)
    while (ticket := study.ask()) is not None:
        k = int(ticket.arm.split()[1])
        study.tell(ticket.token, (1e8 + 1e-2 * (D[k] + 0.4 * rng.normal(size=2))).tolist())
    certificate = study.certificate()
    study.export(tmp_path / "log.jsonl")
    with (tmp_path / "log.jsonl").open() as log:
        result = check(certificate, log)
    assert result.ok, result.problems
    assert certificate["answer"]["arms"] == ["arm 0", "arm 1"]
    assert all(abs(mean - 1e8) < 1 for arm in certificate["arms"] for mean in arm["mean"])
