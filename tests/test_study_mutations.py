"""Forged certificates, logs that no study would write, damaged files: refused, in words, every time.

A sample of `python -m benchmarks mutations` and `python -m benchmarks fuzz`.
"""

import copy
import json
import random
import tracemalloc
from datetime import datetime, timedelta

import pytest

from benchmarks.fuzz import kinds, run
from benchmarks.mutations import (
    after_the_stop,
    alike,
    forged_heads,
    log_changes,
    make_case,
    moved,
    nodes,
    others,
    plans,
    replaced,
    rounded,
    sealed,
    twice,
)
from prepex import Experiment, Gaussian, InputError, Study
from prepex.stopping import THRESHOLDS
from prepex.study.check import Checker, check
from prepex.study.check_form import THEOREMS

SAMPLE = (
    "variance, certified, running",
    "per arm, certified, inconclusive",
    "correlated, certified, running",
    "product, certified, certified",
    "Bernoulli, certified, running",
    "Poisson, kaufmann_koolen, running",
    "exponential, certified, inconclusive",
    "unknown, certified, running",
    "shared, heuristic, running",
    "mixed, certified, inconclusive",
    "Bernoulli, heuristic, heuristic",
    "correlated, certified, running, tolerance",
    "mixed, certified, certified, tolerance",
    "unknown, heuristic, running, tolerance",
    "times, certified, running",
    "time and dose, certified, certified",
    "variance, certified, running, limits",
    "Bernoulli, certified, certified, limits, tolerance",
    "shared, certified, running, limits",
    "exponential, heuristic, running, limits",
    "price, certified, certified, limits",
    "price, certified, running, tolerance",
    "correlated, posterior, running",
    "Bernoulli, posterior, running",
)
PLANS = {plan[0]: plan for plan in plans()}


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """Made when they are asked for."""
    folder, made = tmp_path_factory.mktemp("cases"), {}

    def find(name):
        if name not in made:
            made[name] = make_case(*PLANS[name], folder)
        return made[name]

    return find


@pytest.mark.parametrize("name", SAMPLE)
def test_every_leaf_of_a_certificate_counts(cases, name):
    case, rng = cases(name), random.Random(name)
    checker = Checker(case.lines)
    assert checker.check(case.certificate).ok and check(case.certificate, case.lines).ok
    for at, part in nodes(case.certificate):
        changes = [value for value in others(part) if not alike(value, part) and not rounded(at, value, part)]
        near = [value for value in changes if isinstance(value, float) and isinstance(part, float | int)][-8:]
        for value in {id(value): value for value in [*rng.sample(changes, 4), *near]}.values():
            changed = json.dumps(replaced(case.certificate, at, value))
            assert not checker.check(changed).ok, (at, value)
        if isinstance(part, dict) and part:
            assert not checker.check(rng.choice([*twice(case.certificate, at)])).ok, at
    for name in (arm["name"] for arm in case.certificate["arms"]):
        assert not checker.check(moved(case.certificate, name)).ok, name


@pytest.mark.parametrize("name", SAMPLE[:1] + SAMPLE[7:9])
def test_every_leaf_of_a_log_counts(cases, name):
    case, rng = cases(name), random.Random(name)
    count = 0
    for what, lines in log_changes(case.lines, rng, 2, share=0.03):
        assert not Checker(lines).check(case.certificate).ok, what
        count += 1
    for what, text, lines in forged_heads(case, rng, 5, share=0.08):
        assert not Checker(lines).check(text).ok, what
        count += 1
    assert count > 200


def test_two_values_of_what_has_no_noise_are_refused_after_the_stop_too(cases):
    case = cases("price, certified, certified, tolerance")
    events = [json.loads(line) for line in case.lines]
    late = after_the_stop(case, events)
    places = [k for k, event in enumerate(events) if event["kind"] == "told" and event["pull"] in late]
    assert places, "some pulls were out when the study stopped"
    for name, problem in (("u", None), ("v", "it has no noise")):
        value = events[places[-1]]["data"]["outcome"][name] + 1.0
        lines = sealed(replaced(events, (places[-1], "data", "outcome", name), value), places[-1])
        found = Checker(lines).check(replaced(case.certificate, ("log", "hash"), json.loads(lines[-1])["hash"]))
        assert found.ok if problem is None else problem in str(found.problems)


def forged(case, *changes):
    """The certificate with these parts replaced: (path, value)."""
    certificate = case.certificate
    for at, value in changes:
        certificate = replaced(certificate, at, value)
    return certificate


@pytest.mark.parametrize("family", ["variance", "Bernoulli", "unknown"])
@pytest.mark.parametrize("bribe", [float("-inf"), None, -1e9, 1e-320])
def test_a_running_study_cannot_be_called_certified(cases, family, bribe):
    case = cases(f"{family}, certified, running")
    arms = case.certificate["settings"]["labels"]["arms"]
    changes = [(("answer", "status"), "certified"), (("answer", "decided"), arms), (("answer", "undecided"), [])]
    for k, _ in enumerate(arms):
        changes += [(("arms", k, "price", name), bribe) for name in ("plain", "closed")]
        changes.append((("arms", k, "test"), None))
    for wrong in (
        forged(case, *changes[:1]),
        forged(case, *changes[:3]),
        forged(case, *changes),
        forged(case, *changes, (("margin",), 99.0), (("binding",), None)),
        forged(case, *changes, (("margin",), None), (("binding",), None)),
    ):
        assert not check(json.dumps(wrong), case.lines).ok
        assert not check(json.dumps(wrong)).ok


def test_the_evidence_behind_other_thresholds_cannot_be_claimed(cases):
    case = cases("Poisson, kaufmann_koolen, running")
    arms = case.certificate["settings"]["labels"]["arms"]
    wrong = forged(
        case,
        (("answer", "status"), "certified"),
        (("answer", "decided"), arms),
        (("answer", "undecided"), []),
        (("evidence",), case.certificate["needed"] + 1.0),
    )
    assert not check(wrong, case.lines).ok and not check(wrong).ok


def test_the_rules_own_test_is_not_taken_for_granted(tmp_path):
    from prepex.sampling import Auer

    own = {"sampling": Auer(), "threshold": "own", "family": Gaussian(variance=0.01)}
    study = Study.create(tmp_path / "x.db", "x", arms=2, objectives=1, **own)
    while (ticket := study.ask()) is not None:
        study.tell(ticket.token, [1.0 if ticket.arm == "arm 0" else 0.0])
    study.export(tmp_path / "log.jsonl")
    lines = (tmp_path / "log.jsonl").read_text().splitlines(keepends=True)
    assert study.recommendation.status == "certified"
    (problem,) = check(study.certificate(), lines).problems
    assert "own test is not known to this check" in problem


def test_what_is_proven_is_what_the_engine_says():
    assert {name: threshold.theorem for name, threshold in THRESHOLDS.items()} == THEOREMS


# Logs


def events_of(case):
    return [json.loads(line) for line in case.lines]


def told_twice(events):
    again = copy.deepcopy(next(event for event in events if event["kind"] == "told"))
    events.append({**again, "position": len(events), "time": events[-1]["time"]})


def find(events, kind, place=0):
    return [event for event in events if event["kind"] == kind][place]


def same_token(events):
    first, second = find(events, "asked"), find(events, "asked", 1)
    for event in events:
        if event["pull"] == second["pull"]:
            event["data"]["token"] = first["data"]["token"]


def added(kind, **data):
    def change(events):
        last = events[-1]
        given = {name: (value(events) if callable(value) else value) for name, value in data.items()}
        events.append(last | {"position": len(events), "kind": kind, "pull": given.pop("pull", 7), "data": given})

    return change


def earlier(time):
    """An hour before; by more than a day a wrong clock may have been set right."""
    return (datetime.fromisoformat(time) - timedelta(hours=1)).isoformat(timespec="microseconds")


IMPOSSIBLE = {
    "a second config": lambda e: e.append(
        {**e[0], "position": len(e), "previous": e[-1]["hash"], "time": e[-1]["time"]}
    ),
    "an unknown kind": added("guessed", token="7-00000000"),
    "an arm twice": lambda e: e[0]["data"]["settings"]["labels"].update(arms=["a", "a", "c"]),
    "an objective twice": lambda e: e[0]["data"]["settings"]["labels"].update(objectives=["u", "u"]),
    "delta 50": lambda e: e[0]["data"]["settings"].update(delta=50.0),
    "delta 0": lambda e: e[0]["data"]["settings"].update(delta=0.0),
    "no grid": lambda e: e[0]["data"]["settings"]["threshold"].update(grid=[]),
    "an unknown family": lambda e: e[0]["data"]["settings"]["family"].update(name="Cauchy"),
    "an unknown rule": lambda e: e[0]["data"]["settings"]["sampling"].update(name="guess"),
    "a setting more": lambda e: e[0]["data"]["settings"].update(more=1),
    "a negative tolerance": lambda e: e[0]["data"]["settings"].update(tolerance=[0.1, -0.1]),
    "a tolerance of nothing": lambda e: e[0]["data"]["settings"].update(tolerance=[0.0, 0.0]),
    "a tolerance outside the cone": lambda e: e[0]["data"]["settings"].update(
        tolerance=[0.0, 1.0], cone={"facets": [[0.8, -0.6], [-0.6, 0.8]], "name": ""}
    ),
    "a tolerance of three objectives": lambda e: e[0]["data"]["settings"].update(tolerance=[0.1, 0.1, 0.1]),
    "no limits": lambda e: e[0]["data"]["settings"].update(limits=[]),
    "a limit of nothing": lambda e: e[0]["data"]["settings"].update(limits=[{"weights": [0.0, 0.0], "at_most": 1.0}]),
    "a limit of both sides": lambda e: e[0]["data"]["settings"].update(
        limits=[{"weights": [1.0, 0.0], "at_most": 1.0, "at_least": 0.0}]
    ),
    "limits that contradict each other": lambda e: e[0]["data"]["settings"].update(
        limits=[{"weights": [1.0, 1.0], "at_most": 1.0}, {"weights": [2.0, 2.0], "at_least": 3.0}]
    ),
    "a negative variance": lambda e: e[0]["data"]["settings"]["family"].update(variance=-1.0),
    "a long cone": lambda e: e[0]["data"]["settings"]["cone"].update(facets=[[2.0, 0.0], [0.0, 2.0]]),
    "equal tokens": same_token,
    "a year for a time": lambda e: [event.update(time="1999") for event in e],
    "a day that is none": lambda e: [event.update(time="2030-02-30T00:00:00.000000+00:00") for event in e],
    "time running backwards": lambda e: e[-1].update(time=earlier(e[-2]["time"])),
    "told twice": told_twice,
    "a correction of a pull that there is not": added(
        "corrected", pull=10_000, token="10000-00000000", outcome={"u": 1.0}, reason="x"
    ),
    "a correction to the same": added(
        "corrected",
        pull=lambda e: find(e, "told")["pull"],
        token=lambda e: find(e, "told")["data"]["token"],
        outcome=lambda e: find(e, "told")["data"]["outcome"],
        reason="x",
    ),
    "a correction without a reason": lambda e: find(e, "corrected")["data"].update(reason=" "),
    "voided twice": added(
        "voided",
        pull=lambda e: find(e, "voided")["pull"],
        token=lambda e: find(e, "voided")["data"]["token"],
        reason="x",
    ),
    "expired before its lease": added(
        "expired", pull=lambda e: find(e, "asked", -1)["pull"], token=lambda e: find(e, "asked", -1)["data"]["token"]
    ),
    "a pull of the future": lambda e: find(e, "told").update(pull=10_000),
    "an arm that there is not": lambda e: find(e, "asked")["data"].update(arm=3),
    "an arm by name": lambda e: find(e, "asked")["data"].update(arm="a"),
    "true for an arm": lambda e: find(e, "asked")["data"].update(arm=True),
    "a whole number for an outcome": lambda e: find(e, "told")["data"]["outcome"].update(u=1),
    "an outcome too many": lambda e: find(e, "told", -1)["data"]["outcome"].update(w=1.0),
    "no outcome": lambda e: find(e, "told")["data"].update(outcome={}),
    "an outcome beyond all": lambda e: find(e, "told", -1)["data"]["outcome"].update(u=1e200),
    "a field more": lambda e: find(e, "told")["data"].update(more=1),
    "a file without its digest": lambda e: find(e, "imported")["data"].pop("digest"),
    "half an import": lambda e: find(e, "imported")["data"]["outcome"].pop("u"),
    "a summary of one": lambda e: find(e, "imported")["data"].update(n=1),
    "a summary in the pilot": lambda e: find(e, "imported")["data"].update(n=9),
    "a huge summary": lambda e: find(e, "imported", -1)["data"].update(n=10**7),
    "an actor with a bell": lambda e: e[-1].update(actor="\x07"),
    "a position of another type": lambda e: e[1].update(position=True),
}


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_a_log_that_no_study_would_write(cases, what):
    case = cases("variance, certified, running")
    events = events_of(case)
    IMPOSSIBLE[what](events)
    lines = sealed(events, 0)
    certificate = replaced(case.certificate, ("log",), {"events": len(lines), "hash": json.loads(lines[-1])["hash"]})
    certificate["settings"] = events[0]["data"]["settings"]
    certificate["answer"]["delta"] = certificate["settings"]["delta"]
    (problem,) = check(certificate, lines).problems
    assert "must" in problem
    if "a second" not in what and what != "an arm twice":
        # And the same words of the log alone.
        assert Checker(lines).refused.startswith("log, event ")
    # Without the change the same log is right.
    lines = sealed(events_of(case), 0)
    assert lines == case.lines


def test_what_has_no_noise_is_the_same_in_every_outcome(cases):
    case = cases("price, certified, certified, limits")
    events = events_of(case)
    one = [event for event in events if event["kind"] == "told" and len(event["data"]["outcome"]) == 2][12]
    one["data"]["outcome"]["v"] += 0.5
    lines = sealed(events, 0)
    certificate = replaced(case.certificate, ("log", "hash"), json.loads(lines[-1])["hash"])
    (problem,) = check(certificate, lines).problems
    assert "as it was: it has no noise" in problem
    for known in ({"u": {"a": 1.0}}, {"v": {"d": 1.0}}, {"v": {}}, {}):
        wrong = replaced(case.certificate, ("settings", "known"), known)
        assert not check(wrong).ok


def test_a_lease_that_ended_must_have_been_written_down(tmp_path):
    from datetime import datetime, timedelta

    gaussian = {"family": Gaussian(variance=1.0), "lease": 3600.0}
    study = Study.create(tmp_path / "x.db", "x", arms=2, objectives=1, **gaussian)
    for ticket in study.ask(2):
        study.tell(ticket.token, [1.0])
    study.ask()
    study.export(tmp_path / "log.jsonl")
    lines = (tmp_path / "log.jsonl").read_text().splitlines(keepends=True)
    certificate = json.loads(json.dumps(study.certificate()))
    assert check(certificate, lines).ok
    later = copy.deepcopy(json.loads(lines[-1]))
    when = datetime.fromisoformat(later["time"]) + timedelta(seconds=3601)
    later |= {"position": 6, "pull": 6, "time": when.isoformat(timespec="microseconds")}
    later["data"] = {"arm": 0, "token": "6-00000000"}
    made = sealed([*map(json.loads, lines), {**later, "previous": json.loads(lines[-1])["hash"]}], 6)
    assert "the lease of pull 5 has ended" in Checker(made).refused


def test_summaries_of_a_million_are_not_spread_out(tmp_path):
    gaussian = {"family": Gaussian(variance=1.0), "objectives": ("u", "v")}
    study = Study.create(tmp_path / "x.db", "x", arms=("a", "b", "c"), **gaussian)
    rows = [f"{arm},{0.1 * k},{0.2 * k},1" for k, arm in enumerate("abcabcabcabc")]
    rows += [f"{'abc'[k % 3]},{0.3 + 1e-4 * k},{0.3 + 2e-4 * k},1000000" for k in range(20)]
    (tmp_path / "old.csv").write_text("arm,u,v,n\n" + "\n".join(rows) + "\n")
    study.import_csv(tmp_path / "old.csv")
    study.export(tmp_path / "log.jsonl")
    lines = (tmp_path / "log.jsonl").read_text().splitlines(keepends=True)
    certificate = json.loads(json.dumps(study.certificate()))
    tracemalloc.start()
    result = check(certificate, lines)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.ok, result.problems
    assert certificate["answer"]["n_pulls"] > 1_000_000 and peak < 20e6


# Files


@pytest.mark.parametrize("place", range(9))
def test_no_damaged_file_falls_through(cases, tmp_path, place):
    # Another kind for every number; see benchmarks/fuzz.py for how to add one.
    known = kinds(tmp_path, [cases(name) for name in (SAMPLE[0], SAMPLE[7], SAMPLE[8])])
    assert len(known) == 9
    many = 20 if known[place].name == "logs to restore" else 80
    found, falls = run(known[place], many, random.Random(place))
    assert not falls and sum(found.values()) == many, falls[:1]


DEEP = "[" * 100_000
TEXTS = {
    "not text": b"\xff\xfe\x00",
    "nothing": b"",
    "a list": b"[]",
    "too deep": DEEP.encode(),
    "deep but balanced": (DEEP[:900] + "]" * 900).encode(),
    "a number of many digits": b'{"format": ' + b"9" * 5000 + b"}",
    "an escape": json.dumps({"format": "\x07\u202e"}).encode(),
    "a raw escape": b'{"format": "prepex certificate 3", "\x1b[31m\xe2\x80\xae": 1}',
    "an infinity": b'{"format": Infinity}',
    "too large a number": b'{"format": 1e999}',
    "the same twice": b'{"format": 1, "format": 1}',
}


@pytest.mark.parametrize("what", TEXTS)
def test_verify_ends_in_words_whatever_the_file(cases, tmp_path, what):
    from typer.testing import CliRunner

    from prepex.cli import app

    case = cases("variance, certified, running")
    (tmp_path / "good.json").write_text(json.dumps(case.certificate))
    (tmp_path / "good.jsonl").write_text("".join(case.lines))
    (tmp_path / "bad").write_bytes(TEXTS[what])
    for words in (("bad",), ("bad", "--log", "good.jsonl"), ("good.json", "--log", "bad")):
        given = [str(tmp_path / word) if not word.startswith("--") else word for word in words]
        done = CliRunner().invoke(app, ["verify", *given])
        # A log that is none makes a certificate wrong; what is no certificate is neither right nor wrong.
        wrong = "NOT right" in done.output
        assert wrong or (words[0] == "bad" and "certificate must be" in done.output)
        assert done.exit_code == (1 if wrong else 2) and isinstance(done.exception, SystemExit), done.exception
        assert "Traceback" not in done.output
        assert all(letter.isprintable() or letter == "\n" for letter in done.output)
        assert not {"\x07", "\u202e", "\x1b"} & {*done.output}


def test_verify_says_what_it_did_not_see(cases, tmp_path):
    from typer.testing import CliRunner

    from prepex.cli import app

    case = cases("product, certified, certified")
    (tmp_path / "good.json").write_text(json.dumps(case.certificate))
    (tmp_path / "good.jsonl").write_text("".join(case.lines))
    alone = CliRunner().invoke(app, ["verify", str(tmp_path / "good.json")])
    assert alone.exit_code == 0 and "NOT checked" in alone.output and "is right" not in alone.output
    whole = CliRunner().invoke(app, ["verify", str(tmp_path / "good.json"), "--log", str(tmp_path / "good.jsonl")])
    assert whole.exit_code == 0 and "the certificate is right\n" in whole.output and "NOT" not in whole.output


def test_names_from_a_file_are_printed_harmlessly(cases):
    case = cases("variance, certified, running")
    for at, value in ((("answer", "status"), "\x1b[31mcertified"), (("arms", 0, "name"), "\u202ea"), (("x\x07",), 1)):
        wrong = {**case.certificate, at[0]: value} if len(at) == 1 else replaced(case.certificate, at, value)
        for problem in check(wrong, case.lines).problems:
            assert problem.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        DEEP,
        '{"format": ' * 5000,
        "9" * 5000,
        '{"format": "prepex experiment 1", "labels": ' + DEEP[:900] + "]" * 900 + "}",
    ],
)
def test_a_json_experiment_that_is_none(text):
    with pytest.raises(InputError, match="text must be what to_json wrote"):
        Experiment.from_json(text)


@pytest.mark.parametrize("value", [10**400, -(10**400), 1e999, [10**400]])
@pytest.mark.parametrize("where", ["delta", "seed", "variance", "reward", "facets"])
def test_numbers_that_are_too_large_in_a_json_experiment(where, value):
    experiment = Experiment(2, 1, family=Gaussian(variance=1.0))
    experiment.tell("arm 0", [1.0])
    document = json.loads(experiment.to_json())
    if where == "variance":
        document["family"]["variance"] = value
    elif where == "reward":
        document["log"][0][1] = value
    elif where == "facets":
        document["cone"]["facets"][0][0] = value
    else:
        document[where] = value
    with pytest.raises(InputError):
        Experiment.from_json(json.dumps(document))


def test_a_damaged_database_is_said_to_be_damaged(tmp_path):
    path = tmp_path / "x.db"
    study = Study.create(path, "x", arms=2, objectives=1, family=Gaussian(variance=1.0))
    for _ in range(10):
        study.tell(study.ask().token, [1.0])
    study.close()
    whole, rng, words = path.read_bytes(), random.Random(0), []
    for turn in range(60):
        data = bytearray(whole)
        for _ in range((1, 30, 600)[turn % 3]):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data[: rng.randrange(len(data))] if turn % 5 == 0 else data)
        try:
            with Study.open(path, "x") as again:
                again.status()
                again.certificate()
                again.verify()
        except (InputError, OSError) as error:
            words.append(str(error))
    assert len(words) > 20 and any("must be an undamaged SQLite database" in word for word in words)


def test_a_log_of_nonsense_is_not_restored(cases, tmp_path):
    case = cases("variance, certified, running")
    events = events_of(case)
    events[0]["data"]["settings"].pop("cone")
    (tmp_path / "log.jsonl").write_text("".join(sealed(events, 0)))
    with pytest.raises(InputError, match="must be a log that prepex exported"):
        Study.restore(tmp_path / "new.db", tmp_path / "log.jsonl")
