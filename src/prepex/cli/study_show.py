"""What `prepex study` prints."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.markup import escape
from rich.table import Table

from prepex.cli.show import console, show_json
from prepex.study.answers import Blocker, Overview, Receipt, Status, Ticket
from prepex.study.audit import Verdict


def created(found: Status, storage: str, *, as_json: bool) -> None:
    """What to do next."""
    if as_json:
        show_json({"name": found.name, "storage": storage})
        return
    console.print(f"Created [bold]{escape(found.name)}[/] in {escape(storage)}. Next:")
    console.print(f"  prepex study ask {escape(_quoted(found.name))}")


def tickets(found: Sequence[Ticket], words: str, *, as_json: bool) -> None:
    """Tokens, and what to try."""
    if as_json:
        show_json([asdict(ticket) for ticket in found])
        return
    if not found:
        console.print(f"Nothing to hand out. {escape(words)}")
        return
    table = _table("token", "try", "until")
    for ticket in found:
        table.add_row(ticket.token, escape(ticket.arm), ticket.until or "")
    console.print(table)


def receipt(found: Receipt, blocker: Blocker | None, *, as_json: bool) -> None:
    """What a report did. `blocker`: the pull for which told outcomes wait."""
    if as_json:
        show_json(asdict(found))
        return
    words = "taken" if found.new else "known already, nothing changed"
    if found.missing:
        words += f"; still to come: {', '.join(found.missing)}"
    if found.late:
        words += "; late: its lease had ended"
    if blocker is not None and not found.missing:
        words += f"; outcomes enter in the order of asking, and wait for {blocker.token} ({blocker.arm})"
    console.print(escape(f"{found.token} ({found.arm}): {words}"))


def pulls(picture: dict[str, Any], *, as_json: bool) -> None:
    """Those that are out, with their tokens."""
    if as_json:
        show_json(picture["pulls"])
        return
    table = _table("token", "try", "state", "asked by", "since", "told so far")
    for pull in picture["pulls"]:
        told = ", ".join(f"{name} = {value:g}" for name, value in pull["told"].items())
        table.add_row(pull["token"], *(escape(pull[key]) for key in ("arm", "state", "actor", "since")), escape(told))
    console.print(table if picture["pulls"] else "No pull is out.")


def status(found: Status, *, as_json: bool) -> None:
    """All numbers."""
    if as_json:
        show_json(asdict(found) | {"done": found.done})
        return
    answer = found.recommendation
    console.print(f"[bold]{escape(found.name)}[/]: {answer.status}, {found.n_pulls:,} outcomes, {found.out} pulls out")
    reached = "-" if found.reached is None else f"{found.reached:.2f}"
    forecast = "" if found.forecast is None or found.done else f"; about {found.forecast:,} more outcomes"
    console.print(f"evidence {reached} of {found.needed:.2f} at delta {answer.delta:g}{forecast}")
    if found.blocker is not None:
        b = found.blocker
        console.print(escape(f"{found.waiting} told outcomes wait for {b.token} ({b.arm}, {b.actor}, since {b.since})"))
    extra = {"leases ended": found.lapsed, "late": found.late, "voided": found.voided, "corrected": found.corrected}
    extra["imported"] = found.imported
    shown = [f"{words} {number}" for words, number in extra.items() if number]
    if shown:
        console.print(", ".join(shown))
    table = _table("arm", "n", "in part", *found.objectives, "looks", "status")
    for name, mean in found.means.items():
        numbers = [f"{value:.4g}" for value in mean] if mean is not None else [""] * len(found.objectives)
        looks = "Pareto optimal" if name in answer.arms else ""
        settled = "decided" if name in answer.decided else ""
        part = str(found.incomplete.get(name, ""))
        table.add_row(escape(name), str(found.counts[name]), part, *numbers, looks, settled)
    console.print(table)


def verdict(found: Verdict, *, as_json: bool) -> None:
    """What the audit found."""
    if as_json:
        show_json(asdict(found) | {"ok": found.ok})
        return
    for problem in found.problems:
        console.print(f"[red]Problem:[/] {escape(problem)}")
    words = "every hash and the state are right" if found.ok else "NOT right"
    console.print(f"{found.events:,} events: {words}")
    console.print(f"last hash {found.head}")


def overviews(found: Sequence[Overview], *, as_json: bool) -> None:
    """A list of studies."""
    if as_json:
        show_json([asdict(entry) for entry in found])
        return
    table = _table("study", "arms", "objectives", "delta", "events", "created")
    for entry in found:
        objectives = escape(", ".join(entry.objectives))
        numbers = str(entry.n_arms), objectives, f"{entry.delta:g}", str(entry.events)
        table.add_row(escape(entry.name), *numbers, entry.created[:19])
    console.print(table)


def _table(*columns: str) -> Table:
    table = Table(box=None, header_style="bold")
    for column in columns:
        table.add_column(escape(column))
    return table


def _quoted(name: str) -> Any:
    import shlex

    return shlex.quote(name)
