"""An arm is decided when its test reaches what is needed: one comparison, the same wherever it is shown."""

from pathlib import Path

import numpy as np
import pytest

from prepex import Bernoulli, Cone, Experiment, Gaussian, Poisson
from prepex._kernels.course import LOOKED
from prepex.standing import Standing
from prepex.stopping import Certified
from prepex.study.certificate import _tests, make_certificate
from prepex.study.check import check
from prepex.study.config import Config

DOCS = Path(__file__).parent.parent / "docs"
TRUTH = np.array([[2.0, 0.1], [0.2, 2.0], [0.1, 0.3], [1.2, 1.1], [0.6, 0.4]])
FAMILIES = {"gaussian": Gaussian(variance=1.0), "poisson": Poisson(), "unknown": Gaussian(variance="unknown")}


def standing_of(family, seed=1, pulls=150, cone=None):
    """A run of five arms, all tested."""
    rng = np.random.default_rng(seed)
    experiment = Experiment(5, 2, family=family, cone=cone, threshold=Certified(pilot=3), delta=1e-9)
    arms = rng.integers(5, size=pulls)
    arms[:60] = np.tile(np.arange(5), 12)
    draw = rng.poisson if isinstance(family, Poisson) else rng.normal
    experiment.tell_log(arms, draw(TRUTH[arms]).astype(float))
    assert experiment.testable and not experiment.done
    return experiment, Standing(experiment.setting, experiment.course, family, experiment.delta)


def deal_anew(course, rng):
    """Shares, and the pilot's answer, at random."""
    course.deal.share[:] = rng.dirichlet(np.ones(5))
    course.deal.mask[:] = course.near.inst.mask ^ (rng.random(5) < rng.choice([0.0, 0.3]))
    # The margin that was found with the shares before.
    course.whole[LOOKED] = -1


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("cone", [None, Cone.angle(110)], ids=("orthant", "angle"))
def test_an_arm_whose_test_has_passed_is_decided_whatever_its_share(family, cone):
    """Shares at random, and needed at the least values that pass and the largest that do not: on its own price."""
    experiment, standing = standing_of(family, cone=cone)
    course, rng = experiment.course, np.random.default_rng(2)
    tried = passed = 0
    for _ in range(100):
        deal_anew(course, rng)
        lone, (prices, found) = standing.lone_tests(), _tests(course, experiment.labels.arms, course.near.inst.mask)
        for k in range(5):
            tried += 1
            value = float(lone[k])
            if found[k] is not None:
                assert value == found[k]["e"] - prices[k]["plain"]
            needed = [value, np.nextafter(value, -np.inf), np.nextafter(value, np.inf), value - rng.uniform(0, 3)]
            if not np.isfinite(value):
                continue
            for level, good in zip(needed, (True, True, False, True), strict=True):
                passed += good
                if standing.reached < level:
                    assert (k in _decided_at(standing, level)) == good
    assert passed > 500


def _decided_at(standing, level):
    """`decided` with another level."""
    moved = _Moved(standing.setting, standing.course, standing.family, standing.delta)
    object.__setattr__(moved, "level", level)
    return moved.decided()


class _Moved(Standing):
    @property
    def needed(self):
        return self.level


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_all_arms_are_decided_exactly_when_the_margin_is_reached(family):
    experiment, standing = standing_of(family)
    rng = np.random.default_rng(3)
    for _ in range(300):
        deal_anew(experiment.course, rng)
        margin = standing.reached
        assert margin == standing.tests().min()
        if np.isfinite(margin):
            assert len(_decided_at(standing, margin)) == 5
            above = np.nextafter(margin, np.inf)
            assert _decided_at(standing, above) == {
                k for k, value in enumerate(standing.lone_tests()) if value >= above
            }


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_certificates_agree_about_who_is_decided(family):
    """As stated, by the stated tests; and by the checker's, whose prices are subtracted in the same order."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        experiment = Experiment(5, 2, family=family, threshold=Certified(pilot=3), delta=0.2, max_pulls=90)
        arms = np.tile(np.arange(5), 18)
        draw = rng.poisson if isinstance(family, Poisson) else rng.normal
        experiment.tell_log(arms, draw(TRUTH[arms]).astype(float))
        made = make_certificate(Config.make("x", experiment, None), experiment, 0, "0" * 64)
        assert check(made).ok
        values = {arm["name"]: arm["test"] and arm["test"]["e"] - arm["price"]["plain"] for arm in made["arms"]}
        passed = {name for name, value in values.items() if value is not None and value >= made["needed"]}
        assert passed == set(made["answer"]["decided"]) or experiment.recommendation.status == "certified"
        assert {*made["answer"]["decided"], *made["answer"]["undecided"]} == set(experiment.labels.arms)


@pytest.mark.parametrize(
    "family", [Gaussian(variance=1.0), Gaussian(variance="unknown", shared=True), Bernoulli()], ids=repr
)
def test_the_evidence_decides_arm_by_arm_as_it_decides_the_stop(family):
    """At a level that is an alternative's own value its arm is decided; a rounding above, it is not."""
    rng = np.random.default_rng(5)
    experiment = Experiment(5, 2, family=family, threshold="heuristic", delta=1e-12)
    arms = np.tile(np.arange(5), 30)
    rows = rng.normal(TRUTH[arms])
    experiment.tell_log(arms, (rows > 0.8).astype(float) if isinstance(family, Bernoulli) else rows)
    assert not experiment.done
    standing = Standing(experiment.setting, experiment.course, family, experiment.delta)
    least = {}
    for piece in standing.evidence.pieces(60.0):
        least[piece.arm] = min(least.get(piece.arm, np.inf), standing._discounted(piece.value))
    assert len(least) >= 3
    closest = min(least, key=least.get)
    for arm, value in least.items():
        if arm != closest:
            assert arm in _decided_at(standing, value)
            assert arm not in _decided_at(standing, np.nextafter(value, np.inf))
    reached = standing.reached
    assert _decided_at(standing, reached) == set(range(5))
    assert closest not in _decided_at(standing, np.nextafter(reached, np.inf))


def test_one_arm_is_decided():
    experiment = Experiment(1, 1, family=Gaussian(variance=1.0), threshold=Certified(pilot=1))
    for _ in range(3):
        experiment.tell(0, [1.0])
    standing = Standing(experiment.setting, experiment.course, experiment.family, experiment.delta)
    assert experiment.done and standing.decided() == {0}


def test_before_the_stop_a_state_may_turn_back_to_open():
    """As the pages say: all of them must hold together, so that outcomes that speak against one open it again."""
    experiment = Experiment(("a", "b", "c"), ("gain",), family=Gaussian(variance=1.0), threshold=Certified(pilot=3))
    for _ in range(20):
        experiment.tell_many([("a", [2.05]), ("b", [0.0]), ("c", [2.0])])
    assert experiment.states == ("open", "out", "open")
    while not experiment.done and experiment.counts[1] < 200:
        experiment.tell("b", [4.0])
        if experiment.states[1] == "open":
            break
    assert experiment.states[1] == "open" and not experiment.done
    for page in ("howto/race.md", "howto/live.md", "posterior.md"):
        assert "turn back to `open`" in " ".join((DOCS / page).read_text().split())
