"""What is said is true, ends where it should, and reads the same at every scale."""

import re

import numpy as np
import pytest

from prepex import (
    Bernoulli,
    Cone,
    Experiment,
    Exponential,
    Gaussian,
    Poisson,
    Problem,
    Product,
    Study,
    evidence,
    simulate,
)
from prepex.cli.show import show_runs
from prepex.numerals import apart, measured, number, plural, within
from prepex.sampling import Uniform
from prepex.stopping import Certified

SCALES = (1e-12, 1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9, 1e12)
PAIR = re.compile(r"(\S+) at (\S+) instead of (\S+?)(?=,? |;|\.? |\.?$)")
NUMBERS = re.compile(r"(-?[\d,.]*\d(?:e[-+]\d+)?) instead of (-?[\d,.]*\d(?:e[-+]\d+)?)")
# Means far enough apart to be told in four digits.
MEANS = np.array([[2.0, 1.0, 0.5], [0.5, 3.0, 1.5], [1.0, 0.25, 0.125], [0.75, 2.0, 1.25]])
FAMILIES = {
    "gaussian": (Gaussian(variance=1.0), lambda rng, k: rng.normal([0.4 * k, -0.2 * k])),
    "bernoulli": (Bernoulli(), lambda rng, k: (rng.random(2) < [0.3 + 0.1 * k, 0.5]).astype(float)),
    "poisson": (Poisson(), lambda rng, k: rng.poisson([3 + k, 4]).astype(float)),
    "exponential": (Exponential(), lambda rng, k: rng.exponential([3 + k, 4])),
    "unknown": (Gaussian(variance="unknown"), lambda rng, k: rng.normal([0.4 * k, 0.0])),
    "shared": (Gaussian(variance="unknown", shared=True), lambda rng, k: rng.normal([0.4 * k, 0.0])),
    "product": (
        Product([Bernoulli(), Gaussian(variance=1.0)]),
        lambda rng, k: np.array([float(rng.random() < 0.5), rng.normal(k)]),
    ),
}


def live(family, draw, n, *, seed=0, cone=None, threshold="certified", **given):
    """An experiment told outcome by outcome, in an order of its own; yields after each."""
    rng = np.random.default_rng(seed)
    experiment = Experiment(("A", "B", "C"), ("x", "y"), family=family, cone=cone, threshold=threshold, **given)
    for t in range(n):
        arm = t % 3 if t < 3 else int(rng.integers(3))
        outcome = draw(rng, arm)
        experiment.tell("ABC"[arm], outcome)
        yield experiment, arm, outcome


# Numbers


@pytest.mark.parametrize("scale", SCALES)
def test_numbers_differ_in_words_if_they_differ(scale):
    rng = np.random.default_rng(1)
    for gap in (1.0, 1e-3, 1e-6, 1e-9, 1e-12):
        for value in scale * rng.normal(size=20):
            other = value * (1.0 + gap)
            one, two = apart(value, other)
            assert one != two
            # And the difference shown is the true one, not an accident of rounding.
            shown = float(two.replace(",", "")) - float(one.replace(",", ""))
            assert shown == pytest.approx(other - value, rel=0.11, abs=4 * np.spacing(abs(value)))


def test_neighbouring_doubles_differ_in_words():
    for value in (14.98, 1e-9, 1e8, 1.0, 123456.789):
        assert len(set(apart(value, np.nextafter(value, np.inf)))) == 2


@pytest.mark.parametrize("scale", SCALES)
def test_a_number_and_its_error_end_at_the_same_place(scale):
    rng = np.random.default_rng(2)
    for value, error in zip(scale * rng.normal(size=50), scale * 10.0 ** rng.uniform(-6, 1, 50), strict=True):
        one, two = measured(value, error).removeprefix("(").split(")")[0].split(" ± ")
        assert len(one.partition(".")[2]) == len(two.partition(".")[2])
        unit = float("1" + (measured(value, error).partition(")")[2] or "e0"))
        assert float(two.replace(",", "")) * unit == pytest.approx(error, rel=0.051)
        inside = within(value, value - error, value + error).removeprefix("(").split(")")[0]
        assert len({len(part.partition(".")[2]) for part in re.findall(r"[\d.,]*\d", inside)}) == 1


def test_numbers_as_people_write_them():
    assert measured(21318.4, 322.4) == "21,318 ± 322"
    assert measured(0.12345, 0.0042, digits=1) == "0.123 ± 0.004"
    assert measured(9.31, 0.8, digits=1) == "9.3 ± 0.8"
    assert number(1e5) == "100,000" and number(123456.7) == "123,457" and number(0.0) == "0"
    assert plural(1, "pull") == "1 pull" and plural(0, "pull") == "0 pulls" and plural(1234, "pull") == "1,234 pulls"


# Alternatives


def scaled(words, factor):
    """All numbers of a sentence, times a factor."""
    return [factor * float(text.replace(",", "")) for pair in NUMBERS.findall(words) for text in pair]


def words_of(means, counts=(5, 5, 5, 5), family=None, cone=None, **given):
    names = tuple("abcd"[: len(means)])
    size = np.shape(means)[1]
    found = evidence(
        means,
        counts[: len(means)],
        family=family or Gaussian(variance=1.0),
        cone=cone or Cone.orthant(size),
        arms=names,
        objectives=("x", "y", "z")[:size],
        **given,
    )
    return found.alternative.words


@pytest.mark.parametrize("cone", [None, "angle"])
def test_an_alternative_reads_the_same_in_every_unit(cone):
    means = MEANS[:, :2]
    given = {"cone": Cone.angle(60)} if cone else {}
    plain = words_of(means, **given)
    moves = [scaled(plain, 1.0) for _ in SCALES]
    assert len(moves[0]) > 1
    for scale, expected in zip(SCALES, moves, strict=True):
        found = words_of(scale * means, family=Gaussian(variance=scale**2), **given)
        assert NUMBERS.sub("#", found) == NUMBERS.sub("#", plain)
        assert scaled(found, 1.0 / scale) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_each_objective_may_have_its_own_unit(offset):
    units = np.array([1e-9, 1.0, 1e9])
    found = words_of(units * MEANS + offset * units, family=Gaussian(variance=units**2))
    plain = words_of(MEANS, family=Gaussian(variance=1.0))
    assert [name for name, _, _ in PAIR.findall(found)] == [name for name, _, _ in PAIR.findall(plain)] != []


@pytest.mark.parametrize("gap", [1e-4, 1e-6, 1e-9, 1e-12])
def test_a_near_tie_has_numbers_that_differ_and_says_so(gap):
    found = words_of([[14.98, 1.0], [14.98 + gap, 0.0], [3.0, 0.5]])
    assert "nearly tied" in found
    pairs = PAIR.findall(found)
    assert pairs and all(new != old for _, new, old in pairs)


def test_a_clear_difference_is_no_near_tie():
    assert "nearly tied" not in words_of(MEANS)
    # Nor is it one because the origin is far away.
    assert "nearly tied" not in words_of(MEANS + 1e8)


def test_what_only_rounding_moves_is_not_named():
    # Under this cone the facets of x and y push z by 0 up to rounding.
    cone = Cone.from_facets([[1, 1, 0], [1, -1, 0], [0, 0, 1]])
    means = [[2.0, 0.0, 5.0], [1.0, 0.1, 1e3], [1.5, 0.05, 1.0]]
    found = words_of(means, family=Gaussian(variance=1.0), cone=cone)
    assert found.endswith(tuple("0123456789")) and all(new != old for _, new, old in PAIR.findall(found))


def test_a_tie_is_told_as_one():
    assert words_of([[1.0, 2.0], [1.0, 2.0]]).endswith("it is on the border now")
    # A tie but for the last bit, which no move can show.
    one = 1e8
    assert words_of([[one, 0.0], [np.nextafter(one, 2 * one), -1.0]]).endswith("nearly tied")


def test_one_objective_and_few_arms():
    words = words_of([[1.0], [0.0]], counts=(1, 3))
    assert words == "b would become Pareto optimal if a had x at 0.25 instead of 1 and b had x at 0.25 instead of 0"


# Why


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("threshold", ["certified", "heuristic"])
def test_why_is_complete_in_every_family(name, threshold):
    family, draw = FAMILIES[name]
    said = 0
    for experiment, _, _ in live(family, draw, 45, threshold=threshold, max_pulls=40):
        words = experiment.why()
        assert words.endswith(".") and "  " not in words and "nan" not in words and "if ." not in words
        assert not re.search(r"\b1 (pulls|outcomes|more pulls)\b", words)
        assert all(new != old for _, new, old in PAIR.findall(words))
        if experiment.course is not None and not experiment.done:
            said += "must reach" in words or "shares of the risk" in words
    assert said > 10


@pytest.mark.parametrize(("name", "pilot"), [("gaussian", 0), *((name, 2) for name in FAMILIES)])
def test_the_reason_that_a_test_says_nothing_is_true(name, pilot):
    """Against the outcomes told since the pilot, pooled anew."""
    family, draw = FAMILIES[name]
    seen = 0
    for seed in range(3):
        told = []
        for experiment, arm, outcome in live(family, draw, 60, seed=seed, threshold=Certified(pilot=pilot)):
            told.append((arm, outcome))
            words = experiment.why()
            assert "equal so far" not in words
            if "cannot be computed" not in words:
                continue
            seen += 1
            fresh = [[out for who, out in told[3 * pilot :] if who == k] for k in range(3)]
            means = np.array([np.mean(rows, axis=0) for rows in fresh])
            front = [k for k in range(3) if "ABC"[k] in experiment.recommendation.arms]
            if ahead := re.search(r"([ABC]) is nowhere ahead of ([ABC])", words):
                i, j = ("ABC".index(letter) for letter in ahead.groups())
                assert i in front and np.all(means[i] <= means[j])
            elif behind := re.search(r"Pareto optimal is ahead of ([ABC]) in everything", words):
                i = "ABC".index(behind[1])
                assert i not in front and not any(np.all(means[j] > means[i]) for j in front)
            else:
                assert name in ("unknown", "shared") and "a variance is not known" in words
                short = min(map(len, fresh)) < 3 or len(told) < 12
                assert short or any(np.ptp(rows, axis=0).min() == 0.0 for rows in fresh)
    # Without a pilot the tests see what the answer was read from: someone is always ahead.
    assert (seen > 0) == (pilot > 0)


def test_a_pilot_that_saw_nothing_vary_is_named():
    experiment = Experiment(2, 1, family=Gaussian(variance="unknown"), threshold=Certified(pilot=2))
    rng = np.random.default_rng(0)
    for t in range(20):
        experiment.tell(f"arm {t % 2}", [float(t % 2)] if t < 4 else rng.normal([t % 2]))
    assert "nor will be" in experiment.why() and experiment.reached == -np.inf


@pytest.mark.parametrize("threshold", ["certified", "heuristic"])
@pytest.mark.parametrize("name", ["gaussian", "bernoulli"])
def test_a_budget_takes_nothing_from_why(name, threshold):
    family, draw = FAMILIES[name]
    free = live(family, draw, 30, threshold=threshold)
    bound = live(family, draw, 30, threshold=threshold, max_pulls=30)
    (*_, (one, _, _)), (*_, (two, _, _)) = free, bound
    assert not one.done and two.done and two.recommendation.status == "inconclusive"
    before, after = one.why(), two.why()
    assert after.startswith("Stopped after 30 pulls by the budget of 30: inconclusive at delta 0.05. ")
    assert "Looks Pareto optimal" in after and "The closest alternative" in after
    for sentence in before.removesuffix(".").split(". ")[1:]:
        assert sentence in after, sentence


def test_outcomes_after_a_budget():
    experiment = Experiment(("A", "B"), ("x",), family=Gaussian(variance=1.0), threshold="heuristic", max_pulls=3)
    experiment.tell_many([("A", [1.0]), ("B", [0.0]), ("A", [1.1]), ("A", [0.9])])
    assert "The outcome told since then does not change the answer. After 4 pulls: Looks" in experiment.why()
    experiment.tell("B", [0.1])
    assert "The 2 outcomes told since then do not change the answer. After 5 pulls: Looks" in experiment.why()
    for _ in range(30):
        experiment.tell_many([("A", [1.0]), ("B", [0.0])])
    words = experiment.why()
    assert "which is more than the" in words and "more pull" not in words
    assert experiment.recommendation.status == "inconclusive"


def test_a_budget_that_ends_before_every_option_was_tried():
    experiment = Experiment(("A", "B", "C"), ("x",), family=Gaussian(variance=1.0), max_pulls=3)
    experiment.tell_many([("A", [1.0]), ("B", [0.0]), ("A", [1.1])])
    words = experiment.why()
    assert words.startswith("Stopped after 3 pulls by the budget of 3: inconclusive") and "Never tried: C." in words


def test_what_is_reached_and_needed_differ_in_words():
    experiment = Experiment(("A", "B"), ("x",), family=Gaussian(variance=1.0), threshold=lambda n, delta: 0.2500001)
    experiment.tell_many([("A", [1.0]), ("B", [0.0])])
    assert "The evidence is 0.25; it must reach 0.2500001 at delta 0.05." in experiment.why()


def test_one_of_each():
    experiment = Experiment(1, 1, family=Gaussian(variance=1.0))
    assert repr(experiment) == "Experiment(1 arm, 0 pulls, running)"
    experiment.tell("arm 0", [1.0])
    assert "1 pull. " in experiment.why() and "The first pull only sets the shares" in experiment.why()
    experiment.tell("arm 0", [1.0])
    assert "Stopped after 2 pulls: certified" in experiment.why()
    problem = Problem([[1.0]], family=Gaussian(variance=1.0), cone=Cone.orthant(1))
    assert repr(problem).startswith("Problem(1 arm, 1 objective, ")


def test_a_report_of_a_study_without_regions_and_with_them(tmp_path):
    """Means and the ends of their regions end at the same place; nothing looks proven before it is."""
    study = Study.create(
        str(tmp_path / "trials.db"), "doses", arms=("A", "B"), objectives=("x",), family=Gaussian(variance=1e-18)
    )
    for _ in range(4):
        ticket = study.ask()
        study.tell(ticket.token, [1e-9 if ticket.arm == "A" else 2.5e-9])
    study.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "Looks Pareto optimal: B" in page and "<br>Pareto optimal" not in page
    cells = re.findall(r"\((-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]\)e-0[89]", page)
    assert len(cells) == 2 and all(len({len(text.partition(".")[2]) for text in cell}) == 1 for cell in cells)


def test_one_run_of_one_arm_in_a_table(capsys):
    runs = simulate(
        Problem([[1.0], [0.0]], family=Gaussian(variance=1e-4), cone=Cone.orthant(1)),
        sampling=[Uniform()], threshold="heuristic", deltas=[0.1], n_runs=1, seed=0,
    )  # fmt: skip
    show_runs(runs, 1e-4)
    words = capsys.readouterr().out
    assert "2 arms, 1 objective," in words and ", 1 run; floor" in words and "nan" not in words
