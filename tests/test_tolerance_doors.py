"""A tolerance through every door: documents, snapshots, simulations, studies, HTTP, the command line, words."""

import json

import numpy as np
import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from prepex import Bernoulli, Cone, Experiment, Gaussian, Problem, Product, Settings, Study, simulate
from prepex.cli import app as commands
from prepex.errors import InputError
from prepex.judge import Judge
from prepex.sampling import FraPPE, InformationDirected, Oracle
from prepex.server.app import make_app
from prepex.spoken import parse_tolerance
from prepex.study.check import check

import reference
from cases import sweep

KNOWN = {"family": Gaussian(variance=1.0)}
TIED = np.array([[60.0, 10.0], [60.01, 10.0], [59.3, 10.9], [59.0, 10.6], [58.8, 11.2], [58.5, 11.0]])


def lab(tolerance, *, means=TIED, n_pulls=3000, seed=0, **options):
    """Six formulations, strength and cost measured with an unknown variance (of 1)."""
    rng = np.random.default_rng(seed)
    given = {"family": Gaussian(variance="unknown"), "minimise": ("cost",), "delta": 0.1, **options}
    experiment = Experiment(tuple("abcdef"), ("strength", "cost"), tolerance=tolerance, **given)
    while not experiment.done and experiment.n_pulls < n_pulls:
        arm = experiment.choose(1, np.zeros(6, dtype=np.int64))[0]
        experiment.tell(arm, means[arm] + rng.normal(size=2))
    return experiment


# The judge


def test_who_is_right_within_a_tolerance_agrees_with_the_slow_judge():
    rng = np.random.default_rng(0)
    verdicts = []
    for case in sweep(per_cell=1, seed=31):
        eps = rng.exponential(0.7, case.facets.shape[1])
        if np.any(case.facets @ eps < 0):
            continue
        judge = Judge.of(Problem(case.means, family=Gaussian(covariance=case.covariance), cone=Cone(case.facets)), eps)
        for _ in range(10):
            answer = rng.random(len(case.means)) < 0.5
            if rng.random() < 0.5:
                answer = judge.pareto ^ (rng.random(len(case.means)) < 0.15)
            slow = reference.right_within(case.facets, case.means, np.flatnonzero(answer).tolist(), case.facets @ eps)
            assert judge.right(answer) == slow
            verdicts.append(slow)
    assert 0.1 < np.mean(verdicts) < 0.9


def test_without_a_tolerance_one_answer_is_right():
    judge = Judge.of(Problem([[1.0], [1.0], [0.0]], cone=Cone.orthant(1), **KNOWN))
    assert judge.right(np.array([True, True, False]))
    assert not judge.right(np.array([True, False, False]))


# Simulations


def test_an_answer_that_is_right_within_the_tolerance_is_no_error():
    # Both equal options, or one of them: all are right within the tolerance, one alone is the exact answer.
    problem = Problem([[0.0], [0.05], [-2.0]], cone=Cone.orthant(1), **KNOWN)
    given = {"sampling": InformationDirected(), "deltas": 0.1, "n_runs": 20, "max_pulls": 5000, "moments": (200,)}
    runs = simulate(problem, tolerance=0.5, **given)
    rows = list(runs.rows())
    assert all(row["stopped"] and row["correct"] for row in rows)
    assert len({row["recommended"] for row in rows}) > 1, "several answers, all right"
    assert runs.error_curve()["InformationDirected"][1][0] == 0.0
    (cell,) = runs.summary()
    assert np.isnan(cell.floor) and not cell.below_floor
    assert cell.rate == pytest.approx(runs.bound().time * np.log(10))
    exact = simulate(problem, **given | {"max_pulls": 600})
    assert exact.error_curve()["InformationDirected"][1][0] > 0.0


def test_an_oracle_tracks_the_allocation_of_the_tolerant_question():
    problem = Problem([[0.0], [0.0], [-1.0]], cone=Cone.orthant(1), **KNOWN)
    (row,) = simulate(problem, sampling=Oracle(), tolerance=0.5, n_runs=1, max_pulls=5000).rows()
    assert row["stopped"] and row["correct"]


# The lab story


def test_two_equal_formulations_end_within_a_tolerance():
    apart = TIED.copy()
    apart[1] = [59.2, 10.7]
    tied = [lab(0.5, seed=seed) for seed in range(3)]
    alone = [lab(0.5, means=apart, seed=seed) for seed in range(3)]
    assert all(experiment.recommendation.status == "certified" for experiment in [*tied, *alone])
    pulls = [np.mean([experiment.n_pulls for experiment in runs]) for runs in (tied, alone)]
    assert pulls[0] < 3 * pulls[1]
    assert {"a", "b"} & set(tied[0].recommendation.arms)
    assert {"a", "b"} in [set(pair) for pair in tied[0].recommendation.near_ties]
    words = tied[0].why()
    assert "ahead of a listed one by more than the tolerance (0.5 in strength and 0.5 in cost)" in words
    assert "matched by a listed one within it" in words and "Equal within the tolerance: " in words


@pytest.mark.parametrize("threshold", ["certified", "heuristic"])
def test_without_a_tolerance_why_says_who_is_tied_and_what_a_tolerance_would_do(threshold):
    experiment = lab(None, n_pulls=500, threshold=threshold)
    words = experiment.why()
    assert not experiment.done and "are nearly tied: " in words
    assert "a and b are nearly tied" in words or "b and a are nearly tied" in words
    assert " would settle it." in words
    said = words.rpartition("A tolerance of ")[2].removesuffix(" would settle it.")
    tolerance = {part.partition(" in ")[2]: float(part.partition(" in ")[0]) for part in said.split(" and ")}
    # What it says is so. A run with it samples otherwise: certified, it takes 1,100 pulls. Without it none ends it.
    assert lab(tolerance, n_pulls=1500, threshold=threshold).done
    assert not lab(None, n_pulls=1500, threshold=threshold).done


def test_arms_that_differ_are_not_called_tied():
    means = np.array([[60.0, 10.0], [57.0, 9.0], [57.0, 12.0], [55.0, 11.0], [54.0, 13.0], [52.0, 14.0]])
    assert "tied" not in lab(None, means=means, n_pulls=150).why()


def test_a_tolerance_larger_than_all_differences_is_said():
    experiment = lab(50.0, n_pulls=12, threshold="heuristic")
    assert "larger than any difference seen so far" in experiment.warning
    assert experiment.warning in experiment.why()
    assert lab(0.5, n_pulls=12).warning is None


# Keeping it


def test_documents_are_as_they_were_without_a_tolerance():
    plain = Experiment(2, 2, **KNOWN).settings()
    assert "tolerance" not in plain
    for nothing in (None, 0.0, [0.0, 0.0], {}):
        assert Experiment(2, 2, tolerance=nothing, **KNOWN).settings() == plain


def test_documents_and_snapshots_keep_it():
    experiment = lab({"strength": 0.5}, n_pulls=60)
    again = Experiment.from_json(experiment.to_json())
    assert again.settings()["tolerance"] == [0.5, 0.0]
    assert again.reached == experiment.reached and again.recommendation == experiment.recommendation
    done = lab(0.5)
    fresh = Experiment.of(Settings.from_document(done.settings()))
    fresh.restore(done.snapshot())
    assert fresh.recommendation == done.recommendation and fresh.recommendation.near_ties
    assert fresh.why() == done.why()


@pytest.mark.parametrize(
    ("tolerance", "message"),
    [
        (-1, "tolerance must be at least 0"),
        ({"price": 1}, "tolerance must be of"),
        ({"strength": float("nan")}, "tolerance"),
        ("5", "tolerance"),
        ([1, 0], "tolerance must be a difference that the cone calls better"),
    ],
)
def test_bad_tolerances_are_refused_at_every_door(tolerance, message, tmp_path):
    given = {"cone": Cone.angle(60), **KNOWN, "tolerance": tolerance}
    names = ("a", "b"), ("strength", "cost")
    with pytest.raises(InputError, match=message):
        Experiment(*names, **given)
    with pytest.raises(InputError, match=message):
        Study.create(tmp_path / "x.db", "x", arms=names[0], objectives=names[1], **given)
    problem = Problem([[0, 1], [1, 0]], cone=Cone.angle(60), objectives=names[1], **KNOWN)
    with pytest.raises(InputError, match=message):
        simulate(problem, sampling=FraPPE(), tolerance=tolerance, n_runs=1)


def test_settings_made_once_serve_experiments_and_studies(tmp_path):
    settings = Settings.make(("a", "b"), ("x",), tolerance=0.5, delta=0.2, **KNOWN)
    study = Study.create(tmp_path / "one.db", "one", settings, lease=60.0)
    assert settings.to_document() == Experiment.of(settings).settings()
    other = Study.create(tmp_path / "one.db", "two", Experiment.of(settings))
    assert other.certificate()["settings"] == study.certificate()["settings"]
    assert study.certificate()["settings"] == json.loads(json.dumps(settings.to_document()))
    told = Experiment.of(settings)
    told.tell("a", [1.0])
    with pytest.raises(InputError, match="told nothing, got 1 outcome"):
        Study.create(tmp_path / "one.db", "three", told)
    with pytest.raises(InputError, match="settings must hold all that is fixed, got them and delta"):
        Study.create(tmp_path / "one.db", "three", settings, delta=0.1)
    with pytest.raises(TypeError, match="arms"):
        Study.create(tmp_path / "one.db", "three", objectives=1, **KNOWN)


def test_signatures_name_the_options():
    import inspect

    for door in (Experiment, Study.create):
        shown = inspect.signature(door).parameters
        assert shown["delta"].default == 0.05 and shown["tolerance"].default is None
        assert "options" not in shown


# Studies, HTTP and the command line


def test_a_study_with_a_tolerance(tmp_path):
    family = Product([Gaussian(variance=0.04), Bernoulli()])
    made = {"arms": ("a", "b", "c"), "objectives": ("gain", "cured"), "family": family, "delta": 0.2}
    study = Study.create(tmp_path / "x.db", "x", tolerance={"gain": 0.4, "cured": 0.3}, **made)
    rng = np.random.default_rng(1)
    while (ticket := study.ask()) is not None:
        k = "abc".index(ticket.arm)
        study.tell(ticket.token, [[1.0, 1.0, 0.0][k] + 0.2 * rng.normal(), float(rng.random() < [0.7, 0.7, 0.1][k])])
    status = study.status()
    assert status.recommendation.status == "certified" and status.warning is None
    certificate = study.certificate()
    assert certificate["settings"]["tolerance"] == [0.4, 0.3]
    assert certificate["margin"] >= certificate["needed"]
    study.export(tmp_path / "log.jsonl")
    with (tmp_path / "log.jsonl").open() as log:
        found = check(certificate, log)
    assert found.ok, found.problems
    again = Study.open(tmp_path / "x.db", "x")
    assert again.why() == study.why() and "is ahead of a listed one by more than the tolerance" in again.why()
    assert again.picture()["design"]["tolerance"] == [0.4, 0.3]
    assert again.verify().ok
    again.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "0.4 in gain and 0.3 in cured" in page and "within the tolerance" in page


def test_over_http(tmp_path):
    body = {"arms": ["a", "b"], "objectives": ["gain", "cost"], "variance": 1.0}
    with TestClient(make_app(str(tmp_path / "x.db")), base_url="http://127.0.0.1:8000") as web:
        for name, tolerance in (("one", 0.5), ("each", [0.5, 0.1]), ("named", {"cost": 0.1}), ("none", None)):
            answer = web.post("/api/studies", json=body | {"name": name, "tolerance": tolerance})
            assert answer.status_code in (200, 201), answer.text
        found = {name: web.get(f"/api/studies/{name}/view").json()["design"]["tolerance"] for name in ("one", "named")}
        assert found == {"one": [0.5, 0.5], "named": [0.0, 0.1]}
        assert web.get("/api/studies/none/view").json()["design"]["tolerance"] is None
        assert web.get("/api/studies/none/status").json()["warning"] is None
        for bad, status in (({"price": 1.0}, 400), (-1.0, 400), ("much", 422), ([1.0, 2.0, 3.0], 400)):
            answer = web.post("/api/studies", json=body | {"name": "bad", "tolerance": bad})
            assert answer.status_code == status and "tolerance" in answer.text
            assert "pattern" not in answer.text and (bad != "much" or "must be a share such as 5%" in answer.text)


def shown(*words, code=0):
    result = CliRunner().invoke(commands, list(words))
    assert result.exit_code == code, result.output
    return result.output


def test_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "means.csv").write_text("arm,strength,cost\na,1.0,2\nb,1.0,2\nc,0.0,3\n")
    source = "means.csv", "--minimise", "cost", "--variance", "0.1"
    assert "--tolerance" in shown("bound", *source)
    words = shown("bound", *source, "--tolerance", "strength=0.3", "--tolerance", "cost=0.5")
    assert "rate T* log(1/delta)" in words and "no floor" in words and "floor T* kl" not in words
    found = json.loads(shown("bound", *source, "--tolerance", "0.3", "--format", "json"))
    assert "floors" not in found and found["rates"][0]["pulls"] > 0
    run = "run", *source, "--tolerance", "0.3", "--runs", "5", "--rule", "information"
    words = shown(*run)
    assert "Tolerance: 0.3 in strength and 0.3 in cost" in words and "/ rate" in words and "0/5" in words
    found = json.loads(shown(*run, "--format", "json"))
    assert found["tolerance"] == [0.3, 0.3] and found["summary"][0]["floor"] is None
    create = "study", "create", "dose", "--arm", "a", "--arm", "b", "--objective", "gain", "--variance", "1"
    assert "tolerance:     0.5 in gain" in shown(*create, "--tolerance", "gain=0.5")
    for bad in ("gain", "gain=much", "=1"):
        assert "tolerance must be one number" in shown(*create, "--tolerance", bad, code=2)
    assert "tolerance must be of" in shown(*create, "--tolerance", "cost=1", code=2)


@pytest.mark.parametrize("options", [["1", "2"], ["a=1", "a=2"], ["a=1", "2"]])
def test_a_tolerance_said_twice(options):
    with pytest.raises(InputError, match="tolerance must be one number"):
        parse_tolerance(options)
