"""LogNormal objectives: the run of a Gaussian of unknown variance on the logarithms, shown in the user's units."""

import json
import math
import re

import numpy as np
import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

from prepex import (
    Bernoulli,
    Cone,
    Experiment,
    Gaussian,
    InputError,
    Limit,
    LogNormal,
    Problem,
    Product,
    Study,
    characteristic_time,
    evidence,
    simulate,
)
from prepex.cli import app
from prepex.numerals import by_factor
from prepex.plot import fronts
from prepex.region import intervals
from prepex.sampling import InformationDirected, Uniform
from prepex.server.bodies import Create
from prepex.study.report import around
from prepex.units import Units

ARMS, NAMES = ("gzip", "bzip2", "xz"), ("time", "size")
TRUTH = {"gzip": (2.0, 10.0), "bzip2": (3.0, 5.0), "xz": (3.6, 12.0)}
UNKNOWN = Gaussian(variance="unknown")
# (as told, as compared, told -> compared for each objective)
PAIRS = {
    "both": (LogNormal(), UNKNOWN, (math.log, math.log)),
    "shared": (LogNormal(shared=True), Gaussian(variance="unknown", shared=True), (math.log, math.log)),
    "one": (Product([LogNormal(), UNKNOWN]), UNKNOWN, (math.log, float)),
    "mixed": (
        Product([LogNormal(), Gaussian(variance=2.0)]),
        Product([UNKNOWN, Gaussian(variance=2.0)]),
        (math.log, float),
    ),
}


def draws(seed):
    """The same outcomes for every family: of arm k, the n-th."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(3, 600, 2))
    return {arm: np.array(TRUTH[arm]) * np.exp(0.15 * noise[k]) for k, arm in enumerate(ARMS)}


def live(family, told, outcomes, *, most=300, **given):
    """A run, and what was reached after every pull."""
    experiment = Experiment(ARMS, NAMES, family=family, minimise=NAMES, delta=0.1, **given)
    used, reached = dict.fromkeys(ARMS, 0), []
    while not experiment.done and experiment.n_pulls < most:
        arm = experiment.ask()
        outcome = outcomes[arm][used[arm]]
        used[arm] += 1
        experiment.tell(arm, [turn(float(value)) for turn, value in zip(told, outcome, strict=True)])
        reached.append((arm, experiment.reached))
    return experiment, reached


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("threshold", ["certified", "heuristic"])
@pytest.mark.parametrize("cone", [Cone.orthant(2), Cone.angle(120)], ids=["orthant", "angle"])
def test_a_run_is_that_of_the_logarithms(name, threshold, cone):
    family, inside, turns = PAIRS[name]
    for seed in (1, 2):
        given = {"threshold": threshold, "cone": cone, "seed": seed}
        one, mine = live(family, (float, float), draws(seed), **given)
        other, theirs = live(inside, turns, draws(seed), **given)
        assert mine == theirs and one.recommendation == other.recommendation
        assert one.evidence.value == other.evidence.value and one.reached == other.reached
        logs = [q for q, turn in enumerate(turns) if turn is math.log]
        assert np.array_equal(one.means, Units(tuple(logs)).outer(other.means))
        assert one.n_pulls < 300 or threshold == "certified"


def test_another_unit_is_the_same_run():
    one, mine = live(LogNormal(), (float, float), draws(5))
    other, theirs = live(LogNormal(), (lambda v: 1000.0 * v, lambda v: v / 2.0**20), draws(5))
    assert one.done and one.recommendation == other.recommendation
    assert [arm for arm, _ in mine] == [arm for arm, _ in theirs]
    np.testing.assert_allclose([r for _, r in mine], [r for _, r in theirs], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(other.means, one.means * (1000.0, 2.0**-20), rtol=1e-12)


def test_every_way_of_telling_gives_the_same_state():
    rng = np.random.default_rng(3)
    arms = np.concatenate([[0, 0, 1, 2], rng.integers(3, size=80)])
    rows = np.array([TRUTH[ARMS[k]] for k in arms]) * np.exp(0.3 * rng.normal(size=(84, 2)))
    given = {"family": LogNormal(), "minimise": NAMES, "seed": 4}
    one, many, log = (Experiment(ARMS, NAMES, **given) for _ in range(3))
    for arm, row in zip(arms, rows, strict=True):
        one.tell(int(arm), dict(zip(NAMES, row, strict=True)))
    many.tell_many([(ARMS[arm], row) for arm, row in zip(arms, rows, strict=True)])
    log.tell_log(arms, rows)
    text = one.to_json()
    again = Experiment.from_json(text)
    assert again.to_json() == text and str(float(rows[0, 0])) in text  # the outcome as it was told
    back = Experiment(ARMS, NAMES, **given)
    back.restore(one.snapshot())
    for other in (many, log, again, back):
        assert other.reached == one.reached and np.array_equal(other.means, one.means)
        assert other.recommendation == one.recommendation
    for k in range(3):
        np.testing.assert_allclose(one.means[k], np.exp(np.log(rows[arms == k]).mean(axis=0)), rtol=1e-12)


def test_means_before_every_option_was_tried():
    experiment = Experiment(ARMS, NAMES, family=LogNormal())
    experiment.tell_many([("gzip", [1.0, 2.0]), ("gzip", [100.0, 8.0])])
    np.testing.assert_allclose(experiment.means[0], [10.0, 4.0], rtol=1e-14)
    assert np.isnan(experiment.means[1:]).all()


@pytest.mark.parametrize("value", [0.0, -2.5, math.inf, math.nan, 5e-324])
def test_outcomes_that_have_no_logarithm(value, tmp_path):
    experiment = Experiment(ARMS, NAMES, family=Product([UNKNOWN, LogNormal()]))
    study = Study.create(tmp_path / "a.db", "s", arms=ARMS, objectives=NAMES, family=Product([UNKNOWN, LogNormal()]))
    ticket = study.ask()
    words = "must be positive|must be finite, got (nan|inf)"
    for tell in (
        lambda: experiment.tell("xz", [1.0, value]),
        lambda: experiment.tell_many([("xz", [1.0, 1.0]), ("xz", {"time": 1.0, "size": value})]),
        lambda: experiment.tell_log([0, 1], [[1.0, 1.0], [1.0, value]]),
        lambda: study.tell(ticket, [1.0, value]),
        lambda: study.tell(ticket, {"size": value}),
    ):
        with pytest.raises(InputError, match=words) as caught:
            tell()
        assert "'size'" in str(caught.value) and re.search(f"got {value:g}", str(caught.value))
    assert experiment.n_pulls == 0 and study.status().n_pulls == 0
    with pytest.raises(InputError, match="mean of 'size' must be positive for LogNormal, got 0"):
        Problem([[1.0, 0.0], [1.0, 2.0]], family=LogNormal(), cone=Cone.orthant(2), objectives=NAMES)
    with pytest.raises(InputError, match="outcomes of 'time' must be told one by one for LogNormal"):
        Experiment(ARMS, NAMES, family=LogNormal()).tell_summary("xz", 5, [1.0, 2.0])


def test_parameters():
    named = LogNormal(noise={"size": 0.02, "time": 0.01}).ordered(ARMS, NAMES)
    assert np.array_equal(named.laws(3, 2).noise, np.tile([0.01, 0.02], (3, 1)))
    with pytest.raises(InputError, match="families must be of one objective each"):
        Product([LogNormal(noise=[0.1, 0.2]), Bernoulli()])
    with pytest.raises(InputError, match="noise must be given to simulate"):
        simulate(problem(LogNormal()), sampling=Uniform())
    with pytest.raises(InputError, match="noise must be in"):
        LogNormal(noise=0.0)
    for family in (LogNormal(), LogNormal(shared=True), LogNormal(noise=0.1), Product([LogNormal(), Bernoulli()])):
        settings = Experiment(2, 2, family=family).settings()
        again = Experiment.from_settings(settings)
        assert repr(again.family) == repr(family) and again.settings() == settings
    assert Experiment(2, 2, family=LogNormal()).settings()["family"] == {"name": "LogNormal"}


def problem(family, means=None, cone=None):
    given = [TRUTH[arm] for arm in ARMS] if means is None else means
    return Problem(given, family=family, cone=cone or Cone.orthant(2), arms=ARMS, objectives=NAMES, minimise=NAMES)


@pytest.mark.parametrize("cone", [Cone.orthant(2), Cone.angle(70), Cone.angle(120)], ids=repr)
def test_evidence_bounds_and_simulations_are_those_of_the_logarithms(cone):
    noise = [[0.04, 0.09], [0.05, 0.04], [0.03, 0.03]]
    logs = np.array([[math.log(v) for v in TRUTH[arm]] for arm in ARMS])
    mine = problem(LogNormal(noise=noise), cone=cone)
    theirs = problem(Gaussian(variance="unknown", noise=noise), logs, cone)
    assert mine.pareto_set == theirs.pareto_set and np.array_equal(mine.benefits, theirs.benefits)
    given = {"cone": cone, "minimise": NAMES, "objectives": NAMES, "arms": ARMS}
    one = evidence(mine.means, [9, 5, 7], family=mine.family, **given)
    other = evidence(logs, [9, 5, 7], family=theirs.family, **given)
    assert one.value == other.value and np.array_equal(one.gradient, other.gradient)
    assert one.alternative.constraints == other.alternative.constraints
    np.testing.assert_array_equal(one.alternative.means, np.exp(other.alternative.means))
    bound, floor = characteristic_time(mine, 1e-3), characteristic_time(theirs, 1e-3)
    assert bound.time == floor.time and np.array_equal(bound.allocation, floor.allocation)
    runs = [
        simulate(truth, sampling=InformationDirected(), threshold="certified", n_runs=3, seed=2, max_pulls=3000)
        for truth in (mine, theirs)
    ]
    assert [*runs[0].rows()] == [*runs[1].rows()]
    assert runs[0].records[0].time.min() > 0


def test_ties_on_a_log_scale_are_ties():
    """Equal up to a rounding of the logarithm, which differences of the means would not show."""
    means = [[1e-9, 7.0], [1e-9, 7.0], [1.0, 9.0]]
    assert characteristic_time(problem(LogNormal(noise=0.1), means)).time == math.inf


def test_words_are_in_the_users_units():
    found = evidence(
        [[2.1], [2.4]], [40, 40], family=LogNormal(noise=0.1), cone=Cone.orthant(1), arms=("a", "b"),
        objectives=("time",), minimise=("time",),
    )  # fmt: skip
    middle = math.sqrt(2.1 * 2.4)
    assert found.alternative.words == (
        f"b would become Pareto optimal if a had time at {middle:.3f} instead of 2.1 "
        f"and b had time at {middle:.3f} instead of 2.4"
    )
    # An option of a thousandth of the others' size moves as much as they do.
    small = evidence(
        [[1e-3, 1.0], [1.1e-3, 1.2], [1e3, 0.9]], [40, 40, 40], family=LogNormal(noise=0.1), cone=Cone.orthant(2),
        arms=("a", "b", "c"), objectives=("time", "size"), minimise=(0, 1),
    )  # fmt: skip
    assert "time at 0.00104" in small.alternative.words


def test_factors_are_rounded_up():
    rng = np.random.default_rng(0)
    for _ in range(300):
        value = math.exp(rng.normal(0, 8))
        low, high = value * np.exp(-rng.exponential(10.0 ** rng.uniform(-6, 1), 2) * (1, -1))
        words = by_factor(value, low, high)
        shown, factor = (float(part.replace(",", "")) for part in words.split(" within a factor "))
        truth = max(high / value, value / low)
        assert truth <= factor * (1 + 1e-9) and factor - 1.0 <= 1.1 * (truth - 1.0) * (1 + 1e-6)
        assert abs(shown / value - 1.0) <= 0.1 * (factor - 1.0)
    assert by_factor(2.0, 2.0, 2.0) == "2" and by_factor(2.0, 0.0, 3.0) == "2"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Times over two decades, and a quality."""
    place, rng = tmp_path_factory.mktemp("studies") / "a.db", np.random.default_rng(1)
    family = Product([LogNormal(), UNKNOWN])
    found = Study.create(
        place, "files", arms=ARMS, objectives=("time", "quality"), family=family, minimise=("time",), delta=0.1
    )
    truth = {"gzip": (0.2, 1.0), "bzip2": (30.0, 2.0), "xz": (36.0, 1.5)}
    while (ticket := found.ask()) is not None:
        time, quality = truth[ticket.arm]
        found.tell(ticket, {"time": time * np.exp(0.1 * rng.normal()), "quality": quality + 0.2 * rng.normal()})
    return found


def test_a_study_keeps_what_was_told_and_shows_geometric_means(study):
    told, _ = study.observations(0, 10_000)
    for name, mean in study.status().means.items():
        logs = [math.log(each.values["time"]) for each in told if each.arm == name]
        assert mean[0] == pytest.approx(math.exp(np.mean(logs)), rel=1e-12)
    assert study.recommendation.status == "certified" and study.recommendation.arms == ("gzip", "bzip2")
    assert study.verify().ok
    assert Study.open(study._place, "files").status() == study.status()


def test_regions_of_a_study_are_factors(study):
    view = study.picture()
    assert view["design"]["logs"] == ["time"] and view["design"]["kinds"][0] == "LogNormal"
    with study._session.reading() as (state, _):
        inner = intervals(state.experiment.course, 0.1)
    for k, arm in enumerate(view["arms"]):
        np.testing.assert_allclose(arm["interval"][0], np.exp(inner[k, 0]), rtol=1e-12)
        np.testing.assert_array_equal(arm["interval"][1], inner[k, 1])
        assert re.fullmatch(r"\S+ within a factor 1\.\d+", around(arm, [0])[0])
        assert " [" in around(arm, [0])[1]


def test_the_report_has_log_scales_and_geometric_means(study, tmp_path):
    study.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "Means of time are geometric means." in text and "within a factor 1." in text
    assert "log-normal (compared by factors)" in text


# Tolerances are shares


@pytest.mark.parametrize("threshold", ["certified", "heuristic"])
def test_a_share_is_a_tolerance_of_the_logarithm(threshold):
    one, mine = live(
        LogNormal(), (float, float), draws(7), threshold=threshold, tolerance={"time": "5%", "size": "2 %"}
    )
    sizes = [math.log1p(0.05), math.log1p(0.02)]
    other, theirs = live(UNKNOWN, (math.log, math.log), draws(7), threshold=threshold, tolerance=sizes)
    assert mine == theirs and one.recommendation == other.recommendation and one.done
    assert one.settings()["tolerance"] == other.settings()["tolerance"] == sizes
    assert one.tolerance == ("5%", "2%") and "5% in time and 2% in size" in one.why()
    again = Experiment.from_json(one.to_json())
    assert again.to_json() == one.to_json() and again.reached == one.reached and again.tolerance == one.tolerance


def test_shares_in_evidence_bounds_and_simulations():
    logs = np.array([[math.log(v) for v in TRUTH[arm]] for arm in ARMS])
    mine, theirs = problem(LogNormal(noise=0.5)), problem(Gaussian(variance="unknown", noise=0.5), logs)
    share, size = ["10%", 0], [math.log1p(0.1), 0.0]
    given = {"cone": Cone.orthant(2), "minimise": (0, 1)}
    one = evidence(mine.means, [9, 5, 7], family=mine.family, tolerance=share, **given)
    assert one.value == evidence(logs, [9, 5, 7], family=theirs.family, tolerance=size, **given).value
    assert one.value != evidence(mine.means, [9, 5, 7], family=mine.family, **given).value
    found, expected = (
        characteristic_time(truth, 1e-3, tolerance=eps).time for truth, eps in ((mine, share), (theirs, size))
    )
    assert found == expected
    runs = [
        simulate(truth, sampling=Uniform(), n_runs=3, tolerance=eps, max_pulls=3000)
        for truth, eps in ((mine, share), (theirs, size))
    ]
    assert [*runs[0].rows()] == [*runs[1].rows()] and runs[0].tolerance == ("10%", "0%")
    assert runs[0].bound(1e-3).time == found


@pytest.mark.parametrize(
    ("tolerance", "words"),
    [
        ({"time": 0.05}, "tolerance of 'time' must be a share, as in \"5%\" (outcomes of a LogNormal are compared"),
        (0.5, "tolerance of 'time' must be a share"),
        ([0.1, 0.1], "tolerance of 'time' must be a share"),
        ({"quality": "5%"}, "must be a number, in its units (a share is for a LogNormal objective"),
        ("5%", "must be a number, in its units (a share is for a LogNormal objective"),
        ({"time": "-5%"}, "tolerance of 'time' must be a share of at least 0%, as in \"5%\", got '-5%'"),
        ({"time": "five %"}, "must be a share of at least 0%"),
        ({"time": "0.05"}, "must be a share of at least 0%"),
        ({"time": "nan%"}, "must be a share of at least 0%"),
        (["5%"], "tolerance must be numbers of shape (2 = n_objectives,)"),
        ({"speed": "5%"}, "tolerance must"),
    ],
    ids=str,
)
def test_tolerances_that_are_refused(tolerance, words):
    family = Product([LogNormal(), UNKNOWN])
    with pytest.raises(InputError, match=re.escape(words)):
        Experiment(ARMS, ("time", "quality"), family=family, tolerance=tolerance)


def test_no_tolerance_of_a_factor_may_be_a_number():
    family = Product([LogNormal(), UNKNOWN])
    settings = Experiment(ARMS, ("time", "quality"), family=family, tolerance={"time": 0, "quality": 0.5}).settings()
    assert settings["tolerance"] == [0.0, 0.5]
    everywhere = Experiment(ARMS, NAMES, family=LogNormal(), tolerance="5%").settings()["tolerance"]
    assert everywhere == [math.log1p(0.05)] * 2
    for damaged in (["5%", "5%"], [-0.1, 0.0], 0.1, "5%", [0.1]):
        with pytest.raises(InputError):
            Experiment.from_settings(settings | {"tolerance": damaged})


@pytest.mark.parametrize("threshold", ["certified", "heuristic"])
def test_a_limit_is_on_the_geometric_mean(threshold):
    one, mine = live(LogNormal(), (float, float), draws(9), threshold=threshold, at_most={"size": 7.0})
    limit = {"size": math.log(7.0)}
    other, theirs = live(UNKNOWN, (math.log, math.log), draws(9), threshold=threshold, at_most=limit)
    assert mine == theirs and one.recommendation.arms == other.recommendation.arms
    assert "size at most 7" in one.recommendation.reasons["gzip"] and one.recommendation.arms == ("bzip2",)
    assert Experiment.from_json(one.to_json()).reached == one.reached
    for bad in ({"at_most": {"size": 0.0}}, {"limits": [Limit({"size": 1, "time": 1}, at_most=9)]}):
        with pytest.raises(InputError, match=r"limits on '(size|time)'"):
            Experiment(ARMS, NAMES, family=LogNormal(), **bad)


def test_a_limit_far_from_all_on_a_log_scale():
    figure = fronts(problem(LogNormal()), at_most={"time": 1e-3})
    low, high = figure.axes[0].get_xlim()
    assert 0.0 < low < 1e-3 and 3.6 < high < 10.0


def test_nearly_tied_in_percent():
    rng = np.random.default_rng(8)
    experiment = Experiment(("a", "b"), ("time",), family=LogNormal(), minimise=("time",), delta=0.05)
    for _ in range(200):
        for arm, truth in (("a", 2.0), ("b", 2.001)):
            experiment.tell(arm, [truth * np.exp(0.2 * rng.normal())])
    found = re.search(r"nearly tied: (\S+) ± (\S+) % apart in time\. A tolerance of (\S+)% in time", experiment.why())
    logs = abs(math.log(experiment.means[0, 0] / experiment.means[1, 0]))
    assert float(found[1]) == pytest.approx(100 * math.expm1(logs), abs=0.06)
    assert 1.0 < float(found[2]) < 3.0 and float(found[2]) < float(found[3]) < 30.0


# Words of a command line, of tables and of requests

runner = CliRunner()


def test_a_header_and_an_option(tmp_path):
    path = tmp_path / "means.csv"
    path.write_text("tool,time:lognormal(0.04),size\na,2.0,10\nb,3.0,5\nc,3.6,12\n")
    options = ["--minimise", "time", "--minimise", "size", "--family", "size=lognormal(0.09)", "--format", "json"]
    shown = runner.invoke(app, ["bound", str(path), *options])
    assert shown.exit_code == 0, shown.output
    family = Product([LogNormal(noise=0.04), LogNormal(noise=0.09)])
    found = json.loads(shown.stdout)
    assert found["characteristic_time"] == pytest.approx(characteristic_time(problem(family)).time, rel=1e-5)
    path.write_text("tool,time:lognormal\na,2.0\nb,3.0\n")
    refused = runner.invoke(app, ["bound", str(path)])
    assert refused.exit_code == 2 and "lognormal(0.01)" in refused.output
    path.write_text("tool,time:lognormal(0.1)\na,2.0\nb,0\n")
    refused = runner.invoke(app, ["bound", str(path)])
    assert refused.exit_code == 2 and "mean of 'time' must be positive for LogNormal, got 0" in refused.output


def test_a_study_from_a_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = ["study", "create", "tools", "--arm", "a", "--arm", "b", "--objective", "time", "--minimise", "time"]
    assert runner.invoke(app, [*made, "--family", "time=lognormal(shared)"]).exit_code == 0
    found = Study.open("prepex.db", "tools")
    assert found.certificate()["settings"]["family"]["families"] == [{"name": "LogNormal", "shared": True}]
    refused = runner.invoke(app, [*made[:2], "x", *made[3:], "--family", "time=lognormal", "--tolerance", "time=0.05"])
    assert refused.exit_code == 2 and 'as in "5%"' in " ".join(refused.output.split())
    made[2] = "close"
    assert runner.invoke(app, [*made, "--family", "time=lognormal", "--tolerance", "time=5%"]).exit_code == 0
    assert Study.open("prepex.db", "close").certificate()["settings"]["tolerance"] == [math.log1p(0.05)]
    assert Study.open("prepex.db", "close").picture()["design"]["tolerance"] == ["5%"]
    ticket = found.ask()
    refused = runner.invoke(app, ["study", "tell", "tools", ticket.token, "time=0"])
    assert refused.exit_code == 2 and "'time' must be positive" in " ".join(refused.output.split())
    assert runner.invoke(app, ["study", "tell", "tools", ticket.token, "time=2.5"]).exit_code == 0
    assert "2.5" in runner.invoke(app, ["study", "status", "tools"]).output


def test_a_study_from_a_request():
    given = {"name": "tools", "arms": ["a", "b"], "objectives": ["time", "ok"], "family": ["lognormal", "bernoulli"]}
    body = Create(**given, tolerance={"time": "5%", "ok": 0.1})
    settings = body.settings()
    assert repr(settings["family"]) == "Product([LogNormal(), Bernoulli()])"
    assert settings["tolerance"] == {"time": "5%", "ok": 0.1}
    with pytest.raises(ValidationError):
        Create(**given, tolerance={"time": "five"})


def test_pictures_of_a_problem_have_log_scales():
    figure = fronts(problem(Product([LogNormal(), Gaussian(variance=1.0)])))
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    assert axes.get_xlabel() == "time (less is better, log scale)"
