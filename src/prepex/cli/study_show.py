"""What `prepex study` prints."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from prepex.cli.shared import escape
from prepex.cli.show import console, show_json
from prepex.foresight.forecast import Forecast
from prepex.noise import NoiseCheck
from prepex.numerals import apart, first_few, number, plural
from prepex.standing import chance_words, tied_words
from prepex.study.answers import OpenPull, Overview, Receipt, Status, Ticket
from prepex.study.audit import Verdict
from prepex.study.picture import promise_words
from prepex.tolerance import in_words

# Tests pay for being looked at after every outcome, and for their number: they begin below 0.
BELOW = " (not yet: below 0 the weakest test does not outweigh the price of looking often and at all options)"


def created(picture: dict[str, Any], storage: str, *, as_json: bool, imported: dict[str, Any] | None = None) -> None:
    """What is fixed from now on, what was `imported` (cli/begin.py), and what to do next."""
    name, design, arms = picture["name"], picture["design"], [arm["name"] for arm in picture["arms"]]
    if as_json:
        show_json(
            {"name": name, "storage": storage, "arms": arms, "design": design}
            | ({"imported": imported} if imported else {})
        )
        return
    console.print(f"Created [bold]{escape(name)}[/] in {escape(storage)}. Fixed from now on:")
    tolerance = design["tolerance"]
    proven = f" ({promise_words(design)})"
    fixed = {
        f"{len(arms)} options": first_few([*map(repr, arms)], 20),
        "objectives": ", ".join(f"{o} ({'min' if o in design['minimise'] else 'max'})" for o in design["objectives"]),
        "outcomes": design["outcomes"],
        "cone": design["cone"] or f"facets {design['facets']}",
        "tolerance": "none: every difference matters"
        if tolerance is None
        else in_words(tolerance, design["objectives"]),
        "limits": ", ".join(limit["words"] for limit in design["limits"]) or "none",
        "delta": f"{design['delta']:g}, the risk of a wrong answer",
        "threshold": design["threshold"] + proven,
        "rule": f"{design['rule']}, seed {design['seed']}",
        "budget": "none" if design["max_pulls"] is None else f"{design['max_pulls']:,} outcomes (or extend it later)",
        "lease": "none: a pull keeps its place" if design["lease"] is None else f"{design['lease']:g} seconds",
    }
    for what, value in fixed.items():
        console.print(escape(f"  {what + ':':14} {value}"), soft_wrap=True)
    if imported:
        objectives = plural(len(design["objectives"]), "objective")
        console.print(
            escape(
                f"Imported from {imported['source']}: {plural(imported['outcomes'], 'outcome')} of "
                f"{plural(len(arms), 'option')}, {objectives}. How it was read:"
            ),
            soft_wrap=True,
        )
        for words in imported["notes"]:
            console.print(escape(f"  - {words}"), soft_wrap=True)
    console.print(f"Next:\n  prepex study ask {escape(_quoted(name))}")


def tickets(found: Sequence[Ticket], words: str, *, as_json: bool) -> None:
    """Tokens, and what to try."""
    if as_json:
        show_json([asdict(ticket) for ticket in found])
        return
    if not found:
        console.print(f"Nothing to hand out. {escape(words)}")
        return
    table = _table("token", "try", "until", "")
    for ticket in found:
        table.add_row(
            *map(escape, (ticket.token, ticket.arm, ticket.until or "")), "yours already" if ticket.again else ""
        )
    console.print(table)


def receipt(found: Receipt, *, as_json: bool) -> None:
    """What a report did."""
    if as_json:
        show_json(asdict(found))
        return
    words = "taken" if found.new else "known already, nothing changed"
    if found.missing:
        words += f"; still to come: {', '.join(found.missing)}"
    if found.late:
        words += "; late: its lease had ended"
    if (pull := found.waiting_for) is not None:
        words += f"; outcomes enter in the order of asking, and {found.waiting} wait for {pull.token} ({pull.arm})"
    console.print(escape(f"{found.token} ({found.arm}): {words}"))


def pulls(found: Sequence[OpenPull], *, most: int | None, as_json: bool) -> None:
    """Those that are out, with their tokens; a document has them all."""
    if as_json:
        show_json([asdict(pull) for pull in found])
        return
    table = _table("token", "try", "state", "asked by", "since", "told so far")
    for pull in found[:most]:
        told = ", ".join(f"{name} = {number(value, 6)}" for name, value in pull.told.items())
        table.add_row(*map(escape, (pull.token, pull.arm, pull.state, pull.actor, pull.since, told)))
    console.print(table if found else "No pull is out.")
    if most is not None and len(found) > most:
        console.print(f"and {len(found) - most:,} more, of {len(found):,}: --all lists them all")


def status(found: Status, check: NoiseCheck | None = None, *, as_json: bool) -> None:
    """All numbers."""
    if as_json:
        noise_part = {} if check is None else {"noise": _noise_document(check)}
        show_json(asdict(found) | {"done": found.done} | noise_part)
        return
    if check is not None and check.alarms:
        console.print(f"[red]{escape(check.words)}[/]")
    answer = found.recommendation
    counts = f"{plural(found.n_pulls, 'outcome')}, {plural(found.out, 'pull')} out"
    console.print(f"[bold]{escape(found.name)}[/]: {answer.status}, {counts}")
    tally = {state: sum(given == state for given in found.states.values()) for state in ("in", "out", "open")}
    said = ", ".join(f"{n:,} {state}" for state, n in tally.items())
    console.print(f"at delta {answer.delta:g}: {said} ({found.meaning})")
    if found.blocker is not None:
        b = found.blocker
        told = f"{plural(found.waiting, 'told outcome waits', 'told outcomes wait')} for {b.token}"
        console.print(escape(f"{told} ({b.arm}, {b.actor}, since {b.since})"))
    if found.clock is not None:
        console.print(escape(f"Mind that {found.clock}."))
    for words in tied_words(answer.near_ties, found.warning is not None, answer.covered):
        console.print(escape(words))
    extra = {"leases ended": found.lapsed, "late": found.late, "voided": found.voided, "corrected": found.corrected}
    extra["imported"] = found.imported
    shown = [f"{words} {number}" for words, number in extra.items() if number]
    if shown:
        console.print(", ".join(shown))
    table = _table("arm", "state", "optimal", "n", "in part", *found.objectives, "looks")
    for name, mean in found.means.items():
        numbers = [number(value) for value in mean] if mean is not None else [""] * len(found.objectives)
        looks = answer.reasons.get(name) or ("Pareto optimal" if name in answer.arms else "")
        likely = "" if found.probabilities is None else chance_words(found.probabilities[name])
        part = str(found.incomplete.get(name, ""))
        table.add_row(escape(name), found.states[name], likely, str(found.counts[name]), part, *numbers, looks)
    console.print(table)
    if found.probabilities is not None:
        console.print(escape(f"optimal: {found.chances}"))
    reached, needed = ("-", number(found.needed, 3)) if found.reached is None else apart(found.reached, found.needed, 3)
    nothing = found.reached is not None and found.reached < 0.0
    console.print(f"reached {reached} of the {needed} needed{BELOW if nothing else ''}", soft_wrap=True)
    if found.forecast is not None and found.forecast.never is not None:
        console.print(escape(found.forecast.never), soft_wrap=True)
    elif not found.done:
        console.print(f"how many more: prepex study forecast {escape(_quoted(found.name))}", soft_wrap=True)


def forecast(found: Forecast | None, done: bool, *, as_json: bool) -> None:
    """How many more."""
    if as_json:
        show_json(None if found is None else found.to_document())
    elif done:
        console.print("None: the study has stopped.")
    elif found is None:
        console.print("Not known yet: every option must be tried first, and vary where its variance is unknown.")
    else:
        console.print(found.words, soft_wrap=True)


def noise(found: NoiseCheck, *, as_json: bool) -> None:
    """Spreads and alarms."""
    if as_json:
        show_json(_noise_document(found))
        return
    table = _table("objective", "declared", "seen", "first at outcome", "alarm")
    for entry in found.spreads:
        own = [alarm for alarm in found.alarms if alarm.objective == entry.objective]
        alarms = ", ".join(alarm.kind for alarm in own) or (
            "none" if entry.objective in found.checked else "not checked"
        )
        first = ", ".join(str(alarm.since) for alarm in own)
        said = "" if entry.declared is None else number(entry.declared, 3)
        seen = "" if entry.seen != entry.seen else number(entry.seen, 3)
        table.add_row(escape(entry.objective), said, seen, first, alarms)
    console.print(table)
    console.print(escape(found.words or "No alarm."))
    console.print(f"Alarms are false with probability at most {found.rate:g}, over the whole study.")


def _noise_document(found: NoiseCheck) -> dict[str, Any]:
    spreads = [asdict(entry) | {"seen": entry.seen if entry.seen == entry.seen else None} for entry in found.spreads]
    return asdict(found) | {"spreads": spreads}


def verdict(found: Verdict, *, as_json: bool) -> None:
    """What the audit found."""
    if as_json:
        show_json(asdict(found) | {"ok": found.ok})
        return
    for problem in found.problems:
        console.print(f"[red]Problem:[/] {escape(problem)}")
    words = "every hash and the state are right" if found.ok else "NOT right"
    console.print(f"{plural(found.events, 'event')}: {words}")
    console.print(f"last hash {escape(found.head)}")


def overviews(found: Sequence[Overview], *, as_json: bool) -> None:
    """A list of studies."""
    if as_json:
        show_json([asdict(entry) for entry in found])
        return
    table = _table("study", "arms", "objectives", "delta", "events", "created")
    for entry in found:
        objectives = escape(", ".join(entry.objectives))
        numbers = str(entry.n_arms), objectives, f"{entry.delta:g}", str(entry.events)
        table.add_row(escape(entry.name), *numbers, escape(entry.created[:19]))
    console.print(table)


def _table(*columns: str) -> Table:
    table = Table(box=None, header_style="bold")
    for column in columns:
        table.add_column(escape(column))
    return table


def _quoted(name: str) -> Any:
    import shlex

    return shlex.quote(name)
