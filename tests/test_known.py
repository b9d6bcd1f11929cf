"""Objectives without noise: told once or known in advance, never another value, through every door."""

import json

import numpy as np
import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from prepex import Cone, Exact, Experiment, Gaussian, Product, Settings, Study
from prepex.cli import app as commands
from prepex.errors import InputError
from prepex.sampling import FraPPE, InformationDirected, Uniform
from prepex.server.app import make_app
from prepex.study.check import check

ARMS, OBJECTIVES = ("a", "b", "c"), ("quality", "price")
FAMILY = Product([Gaussian(variance=0.04), Exact()])
PRICES = {"a": 3.2, "b": 4.0, "c": 5.5}
QUALITY = np.array([1.0, 2.0, 1.5])
GIVEN = {"family": FAMILY, "minimise": ("price",), "delta": 0.1}


def made(**options):
    return Experiment(ARMS, OBJECTIVES, **{**GIVEN, **options})


def run(experiment, full=False, seed=0):
    rng = np.random.default_rng(seed)
    while not experiment.done:
        arm = experiment.ask()
        outcome = {"quality": QUALITY[ARMS.index(arm)] + 0.2 * rng.normal()}
        experiment.tell(arm, outcome | {"price": PRICES[arm]} if full else outcome)
    return experiment


def test_what_is_known_need_not_be_told():
    known, told = run(made(known={"price": PRICES})), run(made(), full=True)
    assert known.recommendation == told.recommendation and known.recommendation.arms == ("a", "b")
    assert known.means[:, 1].tolist() == [3.2, 4.0, 5.5] and np.array_equal(known.means, told.means)


def test_the_first_value_is_the_truth():
    experiment = made()
    experiment.tell("a", [1.0, 3.2])
    experiment.tell("a", {"quality": 1.1})
    experiment.tell("b", {"quality": 2.0, "price": 4.0})
    with pytest.raises(InputError, match=r"'price' of 'a' has no noise and must be what is known of it, 3.2, got 3.3"):
        experiment.tell("a", [1.0, 3.3])
    with pytest.raises(InputError, match="price"):
        experiment.tell("c", {"quality": 1.0})
    # All or none: the second disagrees with the first.
    with pytest.raises(InputError, match=r"must be what is known of it, 5.5, got 5.6"):
        experiment.tell_many([("c", [1.0, 5.5]), ("c", [1.0, 5.6])])
    assert experiment.n_pulls == 3
    experiment.tell("c", [1.0, 5.5])
    with pytest.raises(InputError, match=r"4.0, got 4.5"):
        experiment.tell_log([0, 1], [[1.0, 3.2], [2.0, 4.5]])
    assert experiment.n_pulls == 4


def test_a_value_known_in_advance_is_refused_otherwise():
    with pytest.raises(InputError, match=r"'price' of 'a' .* 3.2, got 9.0"):
        made(known={"price": PRICES}).tell("a", [1.0, 9.0])


def test_documents_keep_them():
    experiment = made(known={"price": {"b": 4, "a": 3.2}})
    assert experiment.settings()["known"] == {"price": {"a": 3.2, "b": 4.0}}
    experiment.tell("a", {"quality": 1.0})
    again = Experiment.from_json(experiment.to_json())
    assert again.settings() == experiment.settings() and again.means[0].tolist() == [1.0, 3.2]
    assert "known" not in made().settings() and made(known={}).settings() == made().settings()
    assert Settings.from_document(json.loads(json.dumps(experiment.settings()))).known == {
        "price": {"a": 3.2, "b": 4.0}
    }


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"quality": {"a": 1.0}}, "known must be of objectives without noise"),
        ({"size": {"a": 1.0}}, "known must be of"),
        ({"price": {"d": 1.0}}, r"known\['price'\] must be of"),
        ({"price": {"a": float("nan")}}, "'a'"),
        ({"price": 3.0}, r"known\['price'\] must be a mapping"),
        (3.0, "known must be a mapping"),
    ],
)
def test_bad_values_are_refused(known, message):
    with pytest.raises(InputError, match=message):
        made(known=known)


def start(tmp_path, **options):
    return Study.create(tmp_path / "x.db", "x", arms=ARMS, objectives=OBJECTIVES, **{**GIVEN, **options})


def test_a_study_from_beginning_to_end(tmp_path):
    study, rng = start(tmp_path, known={"price": PRICES}, cone=Cone.angle(100)), np.random.default_rng(2)
    while (ticket := study.ask()) is not None:
        receipt = study.tell(ticket.token, {"quality": QUALITY[ARMS.index(ticket.arm)] + 0.2 * rng.normal()})
        assert receipt.missing == ()
    assert study.status().recommendation.status == "certified"
    study.export(tmp_path / "log.jsonl")
    with (tmp_path / "log.jsonl").open() as log:
        found = check(study.certificate(), log)
    assert found.ok, found.problems
    assert Study.open(tmp_path / "x.db", "x").verify().ok


def test_a_study_refuses_another_value_of_what_waits_too(tmp_path):
    study = start(tmp_path)
    first, second, third, fourth = study.ask(4)
    assert (first.arm, fourth.arm) == ("a", "a")
    # Waits for the first, and is known all the same.
    study.tell(fourth, {"quality": 1.0, "price": 3.2})
    with pytest.raises(InputError, match=r"3.2, got 3.3"):
        study.tell(first, {"quality": 1.0, "price": 3.3})
    assert study.tell(first, {"quality": 1.0}).missing == ()
    study.tell_many([(second, [2.0, 4.0]), (third, [1.5, 5.5])])
    assert study.status().n_pulls == 4
    study.correct(second, {"price": 4.5}, reason="typo")
    assert study.status().means["b"] == (2.0, 4.5)


def test_a_mistyped_value_is_corrected_in_every_outcome_of_the_option(tmp_path):
    """It was told once, and is in all outcomes since: those that have entered, and those that wait."""
    study = start(tmp_path, max_pending=8)
    tickets = study.ask(6)
    assert [ticket.arm for ticket in tickets] == ["a", "b", "c", "a", "b", "c"]
    study.tell(tickets[0], {"quality": 1.0, "price": 32})
    study.tell_many([(tickets[1], [2.0, 4.0]), (tickets[2], [1.5, 5.5])])
    assert study.tell(tickets[3], {"quality": 1.1}).missing == ()
    # Waits for the fifth.
    study.tell(tickets[5], [1.5, 5.5])
    study.correct(tickets[3], {"price": 3.2}, reason="a comma")
    assert study.status().means["a"][1] == 3.2 and study.status().corrected == 2
    study.correct(tickets[5], {"price": 5.0, "quality": 1.7}, reason="another list")
    assert study.status().means["c"][1] == 5.0 and study.status().corrected == 4
    assert study.tell(tickets[4], {"quality": 2.0}).missing == ()
    assert study.status().means["c"] == (1.6, 5.0)
    corrected = [event.data["outcome"] for event in study.events() if event.kind == "corrected"]
    assert corrected == [{"price": 3.2}, {"price": 3.2}, {"price": 5.0, "quality": 1.7}, {"price": 5.0}]
    assert Study.open(tmp_path / "x.db", "x").verify().ok


def test_what_was_known_in_advance_is_not_corrected(tmp_path):
    study = start(tmp_path, known={"price": PRICES})
    ticket = study.ask()
    study.tell(ticket, {"quality": 1.0})
    with pytest.raises(InputError, match="has no noise and must be what is known of it"):
        study.correct(ticket, {"price": 99.0}, reason="typo")


def test_imports(tmp_path):
    study = start(tmp_path, known={"price": PRICES})
    (tmp_path / "old.csv").write_text("arm,quality\na,1.0\nb,2.0\nc,1.5\n")
    assert study.import_csv(tmp_path / "old.csv") == 3
    assert study.status().means["c"] == (1.5, 5.5)
    (tmp_path / "bad.csv").write_text("arm,quality,price\na,1.0,3.2\nb,2.0,9\n")
    with pytest.raises(InputError, match=r"4.0, got 9.0"):
        study.import_csv(tmp_path / "bad.csv")
    assert study.status().n_pulls == 3


def test_over_http_and_on_the_command_line(tmp_path, monkeypatch):
    body = {"name": "x", "arms": list(ARMS), "objectives": list(OBJECTIVES), "minimise": ["price"]}
    body |= {"family": ["gaussian(1)", "exact"], "known": {"price": PRICES}}
    with TestClient(make_app(str(tmp_path / "y.db")), base_url="http://127.0.0.1:8000") as web:
        assert web.post("/api/studies", json=body).status_code in (200, 201)
        (ticket,) = web.post("/api/studies/x/ask", json={}).json()
        told = web.post("/api/studies/x/tell", json={"token": ticket["token"], "outcome": {"quality": 1.0}})
        assert told.json()["missing"] == []
        assert web.post("/api/studies", json=body | {"name": "z", "known": {"quality": {"a": 1}}}).status_code == 400
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prices.csv").write_text("option,price,colour\na,3.2,red\nb,4,blue\n")
    words = ["study", "create", "x", "--arms-from", "prices.csv", "--objective", "quality", "--objective", "price"]
    words += ["--family", "price=exact", "--variance", "1", "--known-from", "prices.csv"]
    result = CliRunner().invoke(commands, words)
    assert result.exit_code == 0, result.output
    assert Study.open("prepex.db", "x").certificate()["settings"]["known"] == {"price": {"a": 3.2, "b": 4.0}}


@pytest.mark.parametrize("threshold", ["certified", "posterior", "heuristic", "kaufmann_koolen"])
@pytest.mark.parametrize("sampling", [InformationDirected(), FraPPE(), Uniform()], ids=type)
def test_options_that_are_equal_without_noise_are_both_in_and_the_run_ends(threshold, sampling):
    truth = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    alone = Experiment(4, 2, family=Exact(), threshold=threshold, sampling=sampling, max_pulls=40)
    beside = Experiment(
        4,
        objectives=("price", "size", "taste"),
        family=Product([Exact(), Exact(), Gaussian(variance=0.01)]),
        at_least={"taste": -5.0},
        threshold=threshold,
        sampling=sampling,
        max_pulls=900,
    )
    rng = np.random.default_rng(0)
    while not alone.done:
        k = alone.labels.arms.index(alone.ask())
        alone.tell(f"arm {k}", truth[k])
    while not beside.done:
        k = beside.labels.arms.index(beside.ask())
        beside.tell(f"arm {k}", [*truth[k], k + 0.1 * rng.normal()])
    assert alone.recommendation.arms == ("arm 0", "arm 1", "arm 2")
    assert beside.recommendation.arms == ("arm 1", "arm 2", "arm 3")
    assert {alone.recommendation.status, beside.recommendation.status} <= {threshold, "certified"}


def test_a_value_without_noise_is_what_was_told_before_every_option_was_tried(tmp_path):
    # The mean of three times 0.1 is 0.10000000000000002.
    experiment = Experiment(("a", "b"), ("quality", "price"), family=FAMILY, minimise="price")
    for _ in range(4):
        experiment.tell("a", [1.0, 0.1])
    for _ in range(3):
        experiment.tell("a", {"quality": 1.0})
    assert experiment.sure[0, 1] == experiment.means[0, 1] == 0.1
    rng = np.random.default_rng(0)
    experiment.tell("b", [0.0, 0.1])
    while not experiment.done and experiment.n_pulls < 200:
        arm = experiment.ask()
        experiment.tell(arm, {"quality": (arm == "a") + 0.2 * rng.normal()})
    assert experiment.recommendation.arms == ("a",) and experiment.recommendation.status == "certified"


def test_a_study_imports_options_one_after_the_other(tmp_path):
    study = Study.create(tmp_path / "s.db", "s", arms=("a", "b"), objectives=("quality", "price"), family=FAMILY)
    for k, arm in enumerate(("a", "a", "b")):
        path = tmp_path / f"{k}.csv"
        path.write_text("arm,quality,price\n" + f"{arm},{k}.5,0.1\n" * 3)
        study.import_csv(path)
        if k == 0:
            asked = study.ask(4)
            for ticket in asked:
                study.tell(ticket.token, {"quality": 1.0} | ({} if ticket.arm == "a" else {"price": 0.1}))
    values = {row.values["price"] for row in study.observations(0, 100)[0]}
    assert values == {0.1}
