"""Every leaf of certificates and logs of every kind replaced by something else: the checker must refuse each.

`python -m benchmarks mutations` visits every part of every certificate: in `whole` cases it is replaced by every value,
in the others by a seeded SOME of them, and by its neighbours. So it visits every part of the config and of three events
of each log of at most LONG events, by a SHARE of the values, at least one: a changed log is read from its beginning.
tests/test_study_mutations.py takes a sample of both.

Legend
    case     a genuine certificate and its log
    change   (what was done, the text of the changed certificate) or (what was done, the lines of the changed log)
"""

import hashlib
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from prepex import Bernoulli, Cone, Exact, Exponential, Gaussian, Limit, LogNormal, Poisson, Product, Study
from prepex.stopping import Certified
from prepex.study.check import Checker
from prepex.study.check_log import GENESIS, canonical
from prepex.study.check_read import same

Path_ = tuple[Any, ...]
ARMS, OBJECTIVES = ("a", "b", "c"), ("u", "v")
TILT = [[0.09, 0.03], [0.03, 0.06]]
GAUSSIANS = {
    "variance": Gaussian(variance=0.09),
    "variances": Gaussian(variance=[0.09, 0.06]),
    "correlated": Gaussian(covariance=TILT),
    "per arm": Gaussian(covariance=[TILT, [[0.08, 0.0], [0.0, 0.08]], [[0.05, -0.01], [-0.01, 0.09]]]),
    "unknown": Gaussian(variance="unknown"),
    "shared": Gaussian(variance="unknown", shared=True),
}
FAMILIES = {
    **GAUSSIANS,
    "Bernoulli": Bernoulli(),
    "Poisson": Poisson(),
    "exponential": Exponential(),
    "mixed": Product([Gaussian(variance="unknown"), Bernoulli()]),
    "product": Product([Poisson(), Gaussian(variance=0.09)]),
    "times": LogNormal(),
    "time and dose": Product([LogNormal(shared=True), Bernoulli()]),
    "price": Product([Gaussian(variance="unknown"), Exact()]),
}
# Means of high and low, by law.
TRUTH = {
    "gaussian": (1.0, 0.02),
    "Bernoulli": (0.95, 0.06),
    "Poisson": (9.0, 1.1),
    "Exponential": (9.0, 0.3),
    "LogNormal": (9.0, 1.1),
}
# Logs of more events than this are not changed: each change is read from the beginning.
LONG = 100
# Of the values for a part: of a certificate, and of a log.
SOME, SHARE = 0.12, 0.08
HIGH = {"a": (True, False), "b": (False, True), "c": (False, False)}
Plan = tuple[str, str, str, str, str]
# What a study may ask beyond the Pareto set, by name.
QUESTIONS: dict[str, dict[str, Any]] = {
    "": {},
    "tolerance": {"tolerance": {"u": 0.05, "v": 0.04}},
    "limits": {"limits": "v"},
    "limits, tolerance": {"tolerance": {"u": 0.05, "v": 0.04}, "limits": "v", "avoid_infeasible": True},
}


class Case(NamedTuple):
    """A genuine certificate and its log."""

    name: str
    certificate: dict[str, Any]
    lines: list[str]


def plans() -> Iterator[Plan]:
    """(name, family, threshold, status, question) of every case."""
    for question in QUESTIONS:
        for family in FAMILIES:
            for status in ("certified", "running", "inconclusive"):
                name = f"{family}, certified, {status}" + (f", {question}" if question else "")
                yield name, family, "certified", status, question
    for threshold, families in (
        ("heuristic", ("variance", "correlated", "unknown", "shared", "Bernoulli", "mixed")),
        ("kaufmann_koolen", ("variance", "per arm", "Poisson", "exponential")),
    ):
        for family in families:
            for status in ("heuristic" if threshold == "heuristic" else "certified", "running", "inconclusive"):
                yield f"{family}, {threshold}, {status}", family, threshold, status, ""
    for family in ("correlated", "unknown", "mixed", "times", "exponential"):
        for question in ("tolerance", "limits"):
            yield f"{family}, heuristic, running, {question}", family, "heuristic", "running", question
    # By draws, at which look a study stopped is taken as given: those that have stopped are of known covariance.
    for family in ("variance", "correlated", "per arm"):
        for status in ("posterior", "running", "inconclusive"):
            yield f"{family}, posterior, {status}", family, "posterior", status, ""
    for family in ("Bernoulli", "unknown"):
        yield f"{family}, posterior, running", family, "posterior", "running", ""


def make_case(name: str, family: str, threshold: str, status: str, question: str, folder: Path, seed: int = 1) -> Case:
    """A study with an import, reports in parts, a correction and a void, run until it has the status."""
    given, rng = FAMILIES[family], np.random.default_rng(seed)
    singles = given.families if isinstance(given, Product) else (given,) * 2
    # The thresholds differ in what they need; the laws in how many outcomes their tests need to say anything.
    scale = 6.0 if threshold == "kaufmann_koolen" else 1.0
    plain = ("variance", "variances", "correlated", "per arm", "product", "price")
    short = 18 if threshold != "certified" or family in plain else 36
    if status == "running" and (family in ("product", "price") or (threshold == "posterior" and family not in plain)):
        short = 9  # it ends soon

    asked = dict(QUESTIONS[question])
    if "tolerance" in asked:
        # Of what is compared by factors, a share.
        kinds = {name: type(single).__name__ for name, single in zip(OBJECTIVES, singles, strict=True)}
        asked["tolerance"] = {q: "5%" if kinds[q] == "LogNormal" else eps for q, eps in asked["tolerance"].items()}
    if "limits" in asked:
        # Half way between the arms that are high in it and those that are low.
        kind = type(singles[1]).__name__
        asked["limits"] = [Limit({"v": 1.0}, at_most=scale * sum(TRUTH.get(kind, TRUTH["gaussian"])) / 2)]

    if family == "price":
        asked["known"] = {"v": {"a": TRUTH["gaussian"][1]}}

    def draw(arm: str) -> list[float]:
        found = []
        for single, high in zip(singles, HIGH[arm], strict=True):
            kind = type(single).__name__
            mean = TRUTH.get(kind, TRUTH["gaussian"])[0 if high else 1]
            if kind == "Bernoulli":
                found.append(float(rng.random() < mean))
            elif kind == "Exact":
                found.append(mean)
            elif kind == "Gaussian":
                found.append(float(rng.normal(scale * mean, 0.3)))
            elif kind == "LogNormal":
                found.append(float(mean * np.exp(rng.normal(0.0, 0.3))))
            else:
                found.append(float(rng.poisson(mean) if kind == "Poisson" else rng.exponential(mean)))
        return found

    study = Study.create(
        *(folder / f"{name}.db", name),
        arms=ARMS,
        objectives=OBJECTIVES,
        family=given,
        cone=Cone.angle(100),
        delta=0.1,
        threshold=Certified(pilot=4) if threshold == "certified" else threshold,
        max_pulls=short + 2 if status == "inconclusive" else None,
        minimise=() if family == "mixed" else ("v",),
        lease=1e6 if family == "variance" else None,
        **asked,
    )
    rows = [[arm, *draw(arm)] for arm in "abcabc"]
    (folder / "old.csv").write_text("arm,u,v\n" + "".join(f"{arm},{u!r},{v!r}\n" for arm, u, v in rows))
    study.import_csv(folder / "old.csv", actor="ada")
    asked = 0
    while not study.done and not (status == "running" and asked >= short):
        for ticket in study.ask(6, actor="site A"):
            u, v = draw(ticket.arm)
            asked += 1
            if asked == 4:
                study.tell(ticket.token, {"u": u + 1.0 if type(singles[0]).__name__ != "Bernoulli" else 1.0 - u})
                study.correct(ticket.token, {"u": u}, reason="wrong unit")
                study.tell(ticket.token, {"v": v})
            elif asked == 7:
                study.void(ticket.token, reason="tube lost")
            else:
                study.tell(ticket.token, [u, v])
    assert study.recommendation.status == status, (name, study.recommendation)
    study.export(folder / "log.jsonl")
    certificate = json.loads(json.dumps(study.certificate(), allow_nan=False))
    lines = (folder / "log.jsonl").read_text().splitlines(keepends=True)
    study.close()
    return Case(name, certificate, lines)


# Changes


def nodes(document: Any, at: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Every part of a document with its path, the leaves among them."""
    yield at, document
    if isinstance(document, dict):
        for name, part in document.items():
            yield from nodes(part, (*at, name))
    elif isinstance(document, list):
        for place, part in enumerate(document):
            yield from nodes(part, (*at, place))


def replaced(document: Any, at: Path_, value: Any) -> Any:
    """A copy with another part there."""
    if not at:
        return value
    copy = dict(document) if isinstance(document, dict) else list(document)
    copy[at[0]] = replaced(document[at[0]], at[1:], value)
    return copy


NESTED: Any = []
for _ in range(30):
    NESTED = [NESTED]
INFINITE = float("inf")
ANYTHING = (
    *(None, True, False, 0, 1, -1, 2, 0.0, 1.0, -1.0, 0.5, 50, 50.0, 1e-320, 1e308, -1e308, 2**53, 10**400),
    *(INFINITE, -INFINITE, float("nan"), "", "x", "1", "NaN", "null", "certified", "running", "heuristic"),
    *("\x1b[31mred", "\u202e", "\ud800", "a" * 20_000, [], {}, [[]], NESTED, {"": None}),
)


def others(value: Any) -> Iterator[Any]:
    """In place of a part: anything, and its own neighbours."""
    yield from ANYTHING
    if isinstance(value, bool):
        yield from (not value, int(value), float(value), str(value))
    elif isinstance(value, int | float) and abs(value) < 1e300:
        yield from (value * (1 + 1e-6), value * (1 - 1e-6), value + 1, value - 1, -value, 2 * value, value / 2)
        yield from (str(value), repr(value) + " ", [value], float(value), {"value": value})
        if float(value).is_integer():
            yield int(value)
    elif isinstance(value, str):
        yield from (value + "x", value[:-1], value.upper(), " " + value, [value], value + "\x00", *ARMS, *OBJECTIVES)
    elif isinstance(value, list):
        yield from (
            value[:-1],
            value[1:],
            [*value, *value[:1]],
            value[::-1],
            [*value, None],
            [value],
            tuple_keys(value),
        )
    elif isinstance(value, dict):
        yield from ({**value, "more": 1}, {**value, "": None}, [*value.values()], [value])
        for name in value:
            yield {other: part for other, part in value.items() if other != name}
            yield {other.upper() if other == name else other: part for other, part in value.items()}


def some(values: Iterator[Any], rng: random.Random, share: float) -> list[Any]:
    """So many of them, but one at least."""
    every = list(values)
    return every if share >= 1.0 else rng.sample(every, max(1, round(share * len(every))))


def alike(a: Any, b: Any) -> bool:
    """The same, or real numbers (lists of them) that differ by less than the checker looks at: nothing is changed."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(alike, a, b))
    if type(a) is float and type(b) is float:
        return a == b or abs(a - b) <= 1e-12
    return same(a, b)


def rounded(at: Path_, a: Any, b: Any) -> bool:
    """Are two values of a test the same in nats, to the precision of the checker?"""
    nats = bool(at) and at[-1] in ("e", "value", "margin", "evidence")
    return nats and type(a) is float and type(b) is float and abs(a - b) <= 2e-8 * (1.0 + abs(b))


def tuple_keys(value: list[Any]) -> dict[str, Any]:
    """A list as an object."""
    return {str(place): part for place, part in enumerate(value)}


def twice(document: Any, at: Path_) -> Iterator[str]:
    """The text with a field of the object there twice: as it is, and as null."""
    part = document
    for step in at:
        part = part[step]
    for name in part:
        for again in (part[name], None):
            mark = "\ue000"
            yield json.dumps(replaced(document, at, {**part, mark: again})).replace(json.dumps(mark), json.dumps(name))


def whole(plan: Plan) -> bool:
    """Is every value tried? Of every family and threshold in a study that runs, without another question."""
    return plan[3] == "running" and not plan[4]


def certificate_changes(certificate: Any, rng: random.Random, share: float = 1.0) -> Iterator[tuple[str, str]]:
    """Every part by every other value, or so many of them and its neighbours."""
    for at, part in nodes(certificate):
        values = [value for value in others(part) if not alike(value, part) and not rounded(at, value, part)]
        near = [value for value in values if type(value) is type(part) is float and abs(value - part) < 1e-3]
        for value in values if share >= 1.0 else [*some(iter(values), rng, share), *near]:
            yield f"{at}: {str(value)[:60]!r}", json.dumps(replaced(certificate, at, value))
        if isinstance(part, dict) and part:
            for text in some(twice(certificate, at), rng, share):
                yield f"{at}: a field twice", text
    for name in (arm["name"] for arm in certificate["arms"]):
        yield f"{name} decided, or not", json.dumps(moved(certificate, name))


def moved(certificate: Any, name: str) -> Any:
    """An option that is undecided in place of decided, or the other way round."""
    arms, answer = [arm["name"] for arm in certificate["arms"]], certificate["answer"]
    decided = {*answer["decided"]} ^ {name}
    lists = {"decided": [k for k in arms if k in decided], "undecided": [k for k in arms if k not in decided]}
    return certificate | {"answer": answer | lists}


def sealed(events: list[Any], first: int) -> list[str]:
    """The lines of a log whose hashes somebody made anew from `first` on."""
    lines, previous = [], GENESIS
    for place, event in enumerate(events):
        if place >= first and isinstance(event, dict):
            event = {**event, "previous": previous} if place > first else dict(event)
            event.pop("hash", None)
            event["hash"] = hashlib.sha256(canonical(event).encode()).hexdigest()
        previous = event.get("hash") if isinstance(event, dict) else previous
        lines.append(canonical(event) + "\n")
    return lines


def log_changes(
    lines: list[str], rng: random.Random, events: int, share: float = 1.0
) -> Iterator[tuple[str, list[str]]]:
    """The parts of the config and of some events replaced, as they are and with hashes made anew; and whole events
    left out, doubled, exchanged, or added. `share`: of the values of a part, about so many."""
    documents = [json.loads(line) for line in lines]
    chosen = [0, *sorted(rng.sample(range(1, len(lines)), min(events, len(lines) - 1)))]
    for place in chosen:
        for at, part in nodes(documents[place]):
            for value in some((other for other in others(part) if not same(other, part)), rng, share):
                try:
                    event = replaced(documents[place], at, value)
                    forged = sealed([*documents[:place], event, *documents[place + 1 :]], place)
                    plain = [*lines[:place], canonical(event) + "\n", *lines[place + 1 :]]
                except (ValueError, TypeError):
                    # No JSON: infinities.
                    plain = [*lines[:place], json.dumps(event) + "\n", *lines[place + 1 :]]
                    forged = plain
                yield f"event {place}, {at}: {str(value)[:60]!r}", plain
                if forged != lines:
                    yield f"event {place}, {at}: {str(value)[:60]!r}, hashes made anew", forged
        for kind, wrong in (
            ("left out", [*documents[:place], *documents[place + 1 :]]),
            ("doubled", [*documents[: place + 1], *documents[place:]]),
            ("exchanged", [*documents[:place], *documents[place : place + 2][::-1], *documents[place + 2 :]]),
        ):
            if wrong != documents:
                yield f"event {place} {kind}", [canonical(event) + "\n" for event in wrong]
                fixed = [{**event, "position": number} for number, event in enumerate(wrong)]
                yield f"event {place} {kind}, hashes made anew", sealed(fixed, 0)


def after_the_stop(case: Case, documents: Sequence[Any]) -> set[int]:
    """Pulls that were out when the study stopped: no part of what is certified."""
    voided = {event["pull"] for event in documents if event["kind"] == "voided"}
    told = sorted({event["pull"] for event in documents if event["kind"] in ("told", "imported")} - voided)
    return set(told[case.certificate["answer"]["n_pulls"] :])


def forged_heads(
    case: Case, rng: random.Random, events: int, share: float = 1.0
) -> Iterator[tuple[str, str, list[str]]]:
    """Logs with hashes made anew, and a certificate that names their last hash: what an attacker can do who may write
    both. Only changes that no study could have written, or that change what was observed; `share` as in log_changes."""
    documents = [json.loads(line) for line in case.lines]
    told = {event["pull"] for event in documents if event["kind"] == "told"}
    amended = {event["pull"] for event in documents if event["kind"] in ("corrected", "voided")}
    amended |= after_the_stop(case, documents)
    for place in [0, *sorted(rng.sample(range(1, len(documents)), min(events, len(documents) - 1)))]:
        event = documents[place]
        for at, part in nodes(event):
            if not at or at == ("hash",) or isinstance(part, dict | list) or at[:2] == ("data", "settings"):
                continue
            for value in some((other for other in others(part) if not same(other, part)), rng, share):
                free = at[-1] in ("actor", "version", "reason", "source", "digest", "time", "token", "name", "lease")
                counts = event["pull"] in told - amended or event["kind"] == "imported"
                if free and (value is None or isinstance(value, str | float)):
                    continue
                if at[:1] == ("data",) and not free and not counts:
                    continue
                if "outcome" in at and isinstance(value, float) and abs(value - part) < 1e-3:
                    continue
                try:
                    lines = sealed(replaced(documents, (place, *at), value), place)
                except (ValueError, TypeError):
                    continue
                head = json.loads(lines[-1])["hash"]
                certificate = replaced(case.certificate, ("log", "hash"), head)
                yield f"event {place}, {at}: {str(value)[:60]!r}", json.dumps(certificate), lines


def measure(plan: Plan, folder: Path, rng: random.Random) -> tuple[Counter[str], list[str]]:
    """(how many certificates, leaves, changes, ..., what was accepted) of one case."""
    case, accepted = make_case(*plan, folder), []
    checker = Checker(case.lines)
    genuine = checker.check(case.certificate)
    assert genuine.ok, (case.name, genuine.problems)
    leaves = sum(not isinstance(part, dict | list) for _, part in nodes(case.certificate))
    counts = Counter(certificates=1, leaves=leaves)
    counts["certificates with every value"] += whole(plan)
    for what, text in certificate_changes(case.certificate, rng, 1.0 if whole(plan) else SOME):
        counts["changed certificates"] += 1
        if checker.check(text).ok:
            accepted.append(f"{case.name}: {what}")
    if len(case.lines) <= LONG:
        for what, lines in log_changes(case.lines, rng, 3, SHARE):
            counts["changed logs"] += 1
            if Checker(lines).check(case.certificate).ok:
                accepted.append(f"{case.name}: {what}")
        for what, text, lines in forged_heads(case, rng, 3, SHARE):
            counts["changed logs with a certificate that names their head"] += 1
            if Checker(lines).check(text).ok:
                accepted.append(f"{case.name}: {what}, and its head")
    return counts, accepted


def main(chosen: Sequence[Plan] | None = None) -> None:
    """Of all plans, or some."""
    began, total, accepted = time.perf_counter(), Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        for number, plan in enumerate(chosen or [*plans()]):
            counts, found = measure(plan, Path(folder), random.Random(plan[0]))
            total += counts
            accepted += found
            print(f"{number + 1:3d} {plan[0]:45s} {dict(counts)}, {len(found)} accepted", flush=True)
    words = ", ".join(f"{n:,} {what}" for what, n in total.items())
    print(f"{words}; {len(accepted)} accepted; {time.perf_counter() - began:.0f} s")
    for what in accepted[:100]:
        print("ACCEPTED", what)
