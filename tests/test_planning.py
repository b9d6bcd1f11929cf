"""Plans: a simulated study is the live one, results do not depend on who computes them, and the command runs."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from prepex import (
    Bernoulli,
    Cone,
    Exact,
    Experiment,
    Gaussian,
    InputError,
    Limit,
    LogNormal,
    Poisson,
    Product,
    Settings,
    Study,
    plan,
)
from prepex.cli import app
from prepex.planning import trials
from prepex.planning.belief import from_guess, without_noise
from prepex.planning.command import create_command, unsayable
from prepex.planning.inverse import Afford
from prepex.planning.scenarios import closest, truths
from prepex.planning.table import quantile
from prepex.posterior_draws import Draws
from prepex.stopping import Certified

PAGE = Path(__file__).parent.parent / "docs" / "howto" / "plan.md"
GUESS = {"a": {"gain": 2.0, "cost": 1.0}, "b": {"gain": 0.0, "cost": 0.0}, "c": {"gain": 0.5, "cost": 2.0}}
GIVEN = {"family": Gaussian(variance=1.0), "minimise": ("cost",), "delta": 0.1, "threshold": "heuristic"}


def small(guess=GUESS, **options):
    return plan(guess, **({"n_runs": 12, "what_if": {}, "scenarios": ["guess"]} | GIVEN | options))


@pytest.mark.parametrize("threshold", ["heuristic", "certified"])
def test_a_simulated_study_is_the_live_one(threshold, monkeypatch):
    family = Product([Gaussian(variance="unknown", noise=1.0), LogNormal(noise=0.25)])
    settings = Settings.make(3, 2, family=family, threshold=threshold, tolerance=(0.8, "60%"), delta=0.1)
    inner = np.array([[2.0, 0.0], [0.0, 2.0], [0.3, 0.2]])
    noise = np.random.default_rng(8).normal(size=(3000, 2))
    left = iter(noise.copy())
    monkeypatch.setattr(trials, "noise_from", lambda *_: lambda rows: np.array([next(left) for _ in range(rows)]))
    variances = np.tile([1.0, 0.25], (3, 1))
    job = trials.jobs_of(settings, (0.1,), Draws(inner[None], variances[None]), 0, 3000, 1)[0]
    found = trials.run_job(job)[0]
    _, key = np.random.SeedSequence((0, 0)).spawn(2)
    study = Experiment.of(Settings.from_document(settings.to_document()))
    object.__setattr__(study.setting, "key", int(key.generate_state(1, np.uint64)[0]))
    used = 0
    while not study.done:
        arm = used if used < 3 else study.choose(1, [0, 0, 0])[0]
        row = inner[arm] + np.sqrt(variances[arm]) * noise[used]
        study.tell(arm, [row[0], np.exp(row[1])])
        used += 1
    assert found.pulls.tolist() == [used] and found.counts.tolist() == study.counts.tolist()
    assert not found.wrong[0]


def test_the_result_does_not_depend_on_the_workers():
    one, two = (small(n_jobs=n, uncertainty=0.3, budget=60, scenarios=None) for n in (1, 2))
    assert [row.lengths for row in one.rows] == [row.lengths for row in two.rows]
    assert one.afford == two.afford and [row.by_arm for row in one.rows] == [row.by_arm for row in two.rows]
    assert [row.scenario for row in one.rows] == ["guess", "near-tie", "no difference", "worst"]
    other = small(seed=5, uncertainty=0.3)
    assert other.row.lengths != one.row.lengths


def test_rows_and_forms():
    pytest.importorskip("pandas")
    found = small(what_if={"delta": 0.01, "noise": [4.0], "cone": Cone.angle(120), "tolerance": [{"gain": 0.5}]})
    names = ["as planned", "delta 0.01", "noise variance x 4", "cone angle(120)", "tolerance 0.5 in gain"]
    assert [row.design for row in found.rows] == names
    base, strict, noisy = found.rows[:3]
    assert base.median < strict.median < noisy.median and base.n_stopped == 12
    assert sum(base.by_arm) == pytest.approx(np.mean(base.lengths))
    assert list(found.to_frame()["design"]) == names and "9 of 10 within" in found._repr_html_()
    assert found.words in repr(found) and found.study_settings.family.variance == 1.0
    assert quantile([1, 2, 3], 3, 0.9) == 3 and quantile([1, 2], 3, 0.9) is None


def test_scenarios_are_what_they_say():
    settings = Settings.make(tuple(GUESS), ("gain", "cost"), **GIVEN)
    belief = from_guess([[2.0, 1.0], [0.0, 0.0], [0.5, 2.0]], settings, {"gain": 0.5})
    tie = truths("near-tie", None, belief, 2, 0).means
    before, after = (closest(belief, means, lenient=False).value for means in (belief.means, tie[0]))
    # A third of the way is left: a ninth of the evidence.
    assert after == pytest.approx(before / 9) and np.array_equal(tie[0], tie[1])
    assert np.ptp(truths("no difference", None, belief, 1, 0).means, axis=1).max() == 0.0
    drawn = belief.draw(4000, np.random.default_rng(0)).means
    assert drawn.std(axis=0)[:, 0] == pytest.approx(0.5, abs=0.03) and np.ptp(drawn[..., 1], axis=0).max() == 0.0
    worst = truths("worst", None, belief, 1, 0).means[0]
    assert closest(belief, worst, lenient=True).value < before


def test_draws_of_chances_stay_chances():
    settings = Settings.make(2, 1, family=Bernoulli(), threshold="heuristic")
    drawn = from_guess([[0.9], [0.05]], settings, 0.04).draw(4000, np.random.default_rng(0)).means
    assert drawn.min() >= 0.0 and drawn.max() <= 1.0
    assert drawn.mean(axis=0)[:, 0] == pytest.approx([0.9, 0.05], abs=0.004)
    assert drawn.std(axis=0)[:, 0] == pytest.approx([0.04, 0.04], abs=0.003)


def test_a_pilot_and_a_study_say_the_guess(tmp_path):
    pilot = Experiment(("a", "b"), ("gain",), family=Gaussian(variance="unknown"), threshold="heuristic", delta=0.1)
    rng = np.random.default_rng(0)
    pilot.tell_many([(k % 2, rng.normal(2.0 * (k % 2), 1.0, 1)) for k in range(12)])
    found = plan(pilot, n_runs=10, what_if={}, scenarios=["guess"])
    assert found.settings is pilot.fixed and found.row.n_stopped == 10
    stricter = plan(pilot, n_runs=10, what_if={}, scenarios=["guess"], delta=0.001)
    assert stricter.settings.delta == 0.001 and stricter.settings.threshold.name == "heuristic"
    assert stricter.row.median > found.row.median
    study = Study.create(tmp_path / "s.db", "pilot", pilot.fixed)
    study_pilot = [study.tell(study.ask(), rng.normal(size=1).tolist()) for _ in range(8)]
    assert len(study_pilot) == 8 and plan(study, n_runs=4, what_if={}, scenarios=["guess"]).row.n_runs == 4


def test_the_study_of_a_plan_has_its_budget():
    found = small(budget=40, n_runs=5)
    assert found.command().endswith(" --max-pulls 40") and found.study_settings.max_pulls == 40
    assert "--max-pulls" not in small(n_runs=5).command()


def test_what_a_budget_affords():
    found = small(budget=40, n_runs=20).afford
    chances = [chance for _, chance in found.deltas]
    assert chances == sorted(chances, reverse=True) and found.tolerances
    made = Afford(10, ((0.1, 1.0), (0.05, 0.95), (0.01, 0.5)), (((0.1,), 0.3), ((0.2,), 0.92), ((0.4,), 1.0)))
    assert made.delta == 0.05 and made.tolerance == (0.2,)
    assert small(n_runs=2).afford is None


def test_one_design_has_one_chance_and_its_error_is_said(tmp_path):
    options = {"budget": 40, "n_runs": 60, "uncertainty": {"gain": 0.5}, "tolerance": {"gain": 0.3, "cost": 0.2}}
    found = small(**options)
    assert found.afford.n_runs == 20 and found.row.n_runs == 60
    assert dict(found.afford.deltas)[0.1] == dict(found.afford.tolerances)[(0.3, 0.2)] == found.row.chance
    found.report(tmp_path / "plan.html")
    page = (tmp_path / "plan.html").read_text()
    assert "standard error of up to 6 percentage points from 60 studies" in page
    assert "<th>gain</th><th>gain sd</th><th>cost</th>" in page and page.count("<td class=number>0.5</td>") >= 3
    assert "outcomes are</th><td>Gaussian of variance 1, each objective" in page


def test_studies_that_do_not_end_are_counted_in_words():
    row = small(n_runs=4).row
    some = replace(row, n_runs=20, n_stopped=16, most=1600, median=800, q90=None, error=0.0)
    assert (
        some.words == "800 trials in the median, only 16 of 20 studies end within 1,600 trials; 0 of 16 answers wrong"
    )
    few = replace(some, n_stopped=3, median=None)
    assert few.words == "only 3 of 20 studies end within 1,600 trials; 0 of 3 answers wrong"
    most = replace(row, n_runs=100, n_stopped=97, most=1600, median=80, q90=350, error=0.0)
    assert most.words.endswith("within 350; 0 of 97 answers wrong, 3 of 100 studies had not ended within 1,600")


def test_calibration_is_about_the_scenarios():
    found = small(n_runs=200, calibrate_to=0.1, seed=2)
    kept = found.calibration
    assert kept.delta is not None and all(bound <= 0.1 for delta, bound, _ in kept.bounds if delta <= kept.delta)
    # The command has the delta that was found, and says so; where none was, that of the plan.
    assert found.study_settings.delta == kept.delta and f"--delta {kept.delta!r}" in found.command()
    asked = found.settings.delta
    assert kept.delta == asked or f"with the calibrated delta {kept.delta:g} (what is said above" in found.start_words
    few = small(n_runs=4, calibrate_to=0.1)
    assert few.calibration.delta is None and few.study_settings.delta == asked
    assert few.start_words == f"Start it, with delta {asked:g} as planned, as no calibrated one was found:"
    other = replace(found, calibration=replace(kept, bounds=(), delta=0.3))
    assert "--delta 0.3" in other.command() and "with the calibrated delta 0.3 (what is said" in other.start_words
    with pytest.raises(InputError, match="calibrate_to must be for a threshold without a worst-case proof"):
        small(threshold="certified", calibrate_to=0.1)


@pytest.mark.parametrize(
    ("guess", "options", "words"),
    [
        (GUESS, {"budget": 2}, "budget must be at least one trial of each of the 3 options, got 2"),
        ([[1.0], [1.0]], {"minimise": ()}, "'arm 0' and 'arm 1' tied: .* lets it end: with 0.5 in objective 0"),
        (GUESS, {"scenarios": ["best"]}, "scenarios must be of .*, got 'best'"),
        (GUESS, {"scenarios": ["worst"]}, "without an uncertainty"),
        (GUESS, {"scenarios": {"mine": [[1.0, 2.0]]}}, "scenario 'mine' must have shape"),
        (GUESS, {"what_if": {"noise": 0.0}}, r"what_if\['noise'\] must be"),
        (GUESS, {"what_if": {"seed": 1}}, "what_if must be about delta"),
        (GUESS, {"uncertainty": {"gain": -1.0}}, "uncertainty of 'gain' must be"),
        (GUESS, {"uncertainty": {"price": 1.0}}, "price"),
        (GUESS, {"family": Gaussian(variance="unknown")}, "noise must be given to plan with an unknown variance"),
        (GUESS, {"threshold": lambda counts, delta: 3.0}, "threshold must be a named one"),
        (GUESS, {"family": Bernoulli()}, "mean of 'gain' must be in"),
        ([[0.5]] * 2, {"family": Bernoulli(), "minimise": (), "uncertainty": 0.6}, "must be below"),
        (GUESS, {"n_jobs": 0}, "n_jobs must be"),
    ],
)  # fmt: skip
def test_what_is_refused(guess, options, words):
    with pytest.raises(InputError, match=words):
        small(guess, **options)


def test_a_scenario_may_not_change_what_is_known():
    family = Product([Gaussian(variance=1.0), Exact()])
    known = {"price": {"a": 1.0, "b": 2.0}}
    given = {
        "family": family,
        "minimise": ("price",),
        "known": known,
        "arms": ("a", "b"),
        "objectives": ("gain", "price"),
    }
    with pytest.raises(InputError, match="'mine' must have 'price', which has no noise, as in the guess"):
        plan([[0.0, 1.0], [2.0, 2.0]], n_runs=2, scenarios={"mine": [[0.0, 1.0], [2.0, 3.0]]}, what_if={}, **given)
    with pytest.raises(InputError, match="guess of 'price' of 'b' must be what is known of it, 2, got 3"):
        plan([[0.0, 1.0], [2.0, 3.0]], n_runs=2, **given)


def everything():
    yield Settings.make(("a b", "c"), ("gain", "cost"), **GIVEN, tolerance={"gain": 0.25}, max_pulls=50, seed=4)
    yield Settings.make(
        ("x", "y"), ("cured", "time"), family=Product([Bernoulli(), LogNormal(noise=0.1)]), minimise=("time",),
        tolerance={"cured": 0.1, "time": "12.5%"}, at_most={"time": 9.5}, avoid_infeasible=True,
    )  # fmt: skip
    limits = [Limit({"u": 1.0, "v": -0.5}, at_least=-2.0)]
    yield Settings.make(2, ("u", "v"), family=Gaussian(variance=(0.1, 2.0)), cone=Cone.angle(110), limits=limits)
    yield Settings.make(2, ("u", "v"), family=Gaussian(variance=1.0), cone=Cone.from_facets([[1.0, 0.5], [0.3, 1.0]]))


@pytest.mark.parametrize("settings", [*everything()], ids=["gaussian", "mixed", "sums", "facets"])
def test_the_command_creates_the_study(settings, tmp_path):
    """As it is printed: the study has the very settings of the plan."""
    command = create_command(settings, "it's")
    storage = str(tmp_path / "s.db")
    shown = CliRunner().invoke(app, [*shlex.split(command)[1:], "--storage", storage])
    assert shown.exit_code == 0, shown.output
    made = Study.open(storage, "it's").experiment_now().settings()
    wanted = replace(settings, family=without_noise(settings.family)).to_document()
    assert np.asarray(made.pop("cone")["facets"]) == pytest.approx(np.array(wanted.pop("cone")["facets"]), rel=1e-15)
    for document in (made, wanted):
        document["family"] = str(document["family"])
    if "tolerance" in wanted:
        assert made.pop("tolerance") == pytest.approx(wanted.pop("tolerance"), rel=1e-12)
    assert made == wanted


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"arms": ("a, b", "c")}, "the name 'a, b', which has a comma"),
        ({"family": Gaussian(covariance=[[1.0, 0.2], [0.2, 1.0]])}, "noise that is correlated, a covariance"),
        ({"threshold": Certified(pilot=3)}, "the threshold certified(pilot=3), whose parameters are not the usual"),
    ],
)
def test_what_no_command_says_is_named(options, words):
    settings = Settings.make(**{"arms": 2, "objectives": 2, "family": Gaussian(variance=1.0)} | options)
    assert create_command(settings) is None and words in unsayable(settings)


def test_an_uncertainty_that_cannot_be_names_the_option_and_its_number():
    guess, family = [[0.5], [0.9]], Bernoulli()
    words = r"uncertainty of 'cured' must be below .* 0\.3 for 'arm 1' with 0\.9, got 0\.35"
    with pytest.raises(InputError, match=words):
        plan(guess, family=family, objectives=("cured",), uncertainty=0.35)
    with pytest.raises(InputError, match=r"must be 0 where its mean is 0, as for 'arm 0', got 0\.2"):
        plan([[0.0], [1.0]], family=Poisson(), objectives=("faults",), uncertainty=0.2)


def test_what_the_page_says_to_type(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text()
    (tmp_path / "mortar.csv").write_text(re.search(r"```text\n(.*?)```", text, re.DOTALL)[1])
    typed = re.search(r"\$ prepex (plan mortar.*?)```", text, re.DOTALL)[1].replace("\\\n", " ")
    shown = CliRunner().invoke(app, [*shlex.split(typed), "--jobs", "1"])
    assert shown.exit_code == 0, shown.output
    assert "9 of 10 studies end within" in shown.output and "400 trials afford" in shown.output
    command = next(line.strip() for line in shown.output.splitlines() if "study create" in line)
    assert CliRunner().invoke(app, shlex.split(command)[1:]).exit_code == 0
    assert "<svg" in (tmp_path / "plan.html").read_text()


def test_from_a_shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "guess.csv").write_text("option,gain,gain sd,cost\na,2.0,0.3,1.0\nb,0.0,0.3,0.0\nc,0.5,0.3,2.0\n")
    base = ["plan", "guess.csv", "--minimise", "cost", "--variance", "1", "--threshold", "heuristic", "--runs", "12"]
    base += ["--jobs", "1", "--what-if", "delta=0.2", "--what-if", "tolerance=gain=0.5;cost=0.2", "--name", "mine"]
    shown = CliRunner().invoke(app, [*base, "--budget", "50", "--report", "plan.html", "--scenario", "guess"])
    assert shown.exit_code == 0, shown.output
    assert "tolerance 0.5 in gain" in shown.output and "50 trials afford" in shown.output
    command = next(line.strip() for line in shown.output.splitlines() if "study create" in line)
    assert CliRunner().invoke(app, shlex.split(command)[1:]).exit_code == 0
    page = (tmp_path / "plan.html").read_text()
    assert "prepex study create mine" in page and page.count("<svg") == 2 and "What 50 trials afford" in page
    create = ["study", "create", "next", *shlex.split(command)[4:], "--guess", "guess.csv"]
    shown = CliRunner().invoke(app, create)
    assert shown.exit_code == 0 and shown.output.index("Under the guess") < shown.output.index("Created next")
    for wrong in (["plan"], ["plan", "guess.csv"], [*base, "--what-if", "delta"], [*base, "--uncertainty", "x=y"]):
        shown = CliRunner().invoke(app, wrong)
        assert shown.exit_code == 2 and shown.output.startswith("Error: ")
