"""What a race shows while it runs: a live table in a terminal, a line now and then elsewhere."""

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from prepex.numerals import plural
from prepex.racing.amounts import span
from prepex.racing.book import Book
from prepex.racing.view import Row, View, look

# Seconds between two tables, and between two lines where there is no terminal.
LIVE, PLAIN = 0.5, 10.0
# Between two forecasts, and what one may take.
AHEAD, AHEAD_SECONDS = 30.0, 0.5
# A look at the study may take no more than this share of the time.
SHARE = 0.05
COLOURS = {"in": "green", "out": "dim", "open": "magenta"}
# Lines that are not rows.
AROUND = 7


def table(view: View, rows: Sequence[Row], width: int) -> Table:
    """Options, runs, measures, states."""
    made = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    made.add_column("option", overflow="ellipsis", no_wrap=True, min_width=8, max_width=max(width // 3, 12))
    made.add_column("n", justify="right", no_wrap=True)
    for name in view.objectives:
        side = "min" if name in view.minimise else "max"
        made.add_column(
            f"{_short(name, width)} ({side})" if width >= 100 else _short(name, width), justify="right", no_wrap=True
        )
    made.add_column("state", no_wrap=True)
    chances = any(row.probability is not None for row in view.rows)
    if chances:
        made.add_column("prob", justify="right", no_wrap=True)
    if width >= 100:
        made.add_column("share", justify="right", no_wrap=True)
    failed = any(row.failed for row in view.rows)
    if failed:
        made.add_column("failed", justify="right", no_wrap=True)
    for row in rows:
        cells = [Text(row.option), Text(str(row.n))]
        cells += [Text("" if value is None else value.words) for value in row.values]
        cells.append(Text(row.state, style=COLOURS[row.state]))
        if chances:
            cells.append(Text("" if row.probability is None else _chance(row.probability)))
        if width >= 100:
            cells.append(Text(f"{100 * row.share:.0f}%"))
        if failed:
            cells.append(Text(str(row.failed or ""), style="red"))
        made.add_row(*cells, style="dim" if row.state == "out" else None)
    return made


def _short(name: str, width: int) -> str:
    most = 24 if width >= 100 else 12
    return name if len(name) <= most else name[: most - 1] + "…"


def _chance(value: float) -> str:
    """Never 0 or 1, which it is not."""
    return "<.01" if value < 0.01 else ">.99" if value > 0.99 else f"{value:.2f}"[1:]


def fitting(view: View, height: int) -> tuple[list[Row], int]:
    """The rows that a terminal has room for, those in doubt first, in their own order; and how many are left out."""
    room = max(height - AROUND, 3)
    if len(view.rows) <= room:
        return list(view.rows), 0
    first = {"open": 0, "in": 1, "out": 2}
    chosen = sorted(range(len(view.rows)), key=lambda k: (first[view.rows[k].state], -view.rows[k].n))[:room]
    return [view.rows[k] for k in sorted(chosen)], len(view.rows) - room


class Screen:
    """`with Screen(book) as screen: ... screen.look(running)`."""

    def __init__(self, book: Book, *, quiet: bool = False, console: Console | None = None) -> None:
        self.book, self.quiet = book, quiet
        self.console = console or Console(stderr=True)
        self.began = time.monotonic()
        self._next = 0.0
        self._next_ahead = self.began + AHEAD
        self._live: Live | None = None
        self._running = 0

    def __enter__(self) -> "Screen":
        if not self.quiet and self.console.is_terminal:
            self._live = Live(console=self.console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def warming(self, option: str) -> None:
        """A run that does not count."""
        if self._live is not None:
            self._live.update(Text(f"warming up: {option}"), refresh=True)

    def say(self, words: str) -> None:
        """A line of its own."""
        if not self.quiet:
            self.console.print(Text(words), soft_wrap=True)

    def look(self, running: int) -> None:
        """Show it, if it is time."""
        now = time.monotonic()
        if self.quiet or now < self._next:
            return
        if now >= self._next_ahead:
            self.book.look_ahead(AHEAD_SECONDS)
            self._next_ahead = now + AHEAD
        view = look(self.book)
        cost = time.monotonic() - now
        if self._live is not None:
            self._live.update(self._drawn(view, running), refresh=True)
        else:
            self.console.print(Text(self._line(view, running)), soft_wrap=True)
        pause = LIVE if self._live is not None else PLAIN
        self._next = now + max(pause, cost / SHARE)

    def _line(self, view: View, running: int) -> str:
        counts = {state: sum(row.state == state for row in view.rows) for state in ("in", "out", "open")}
        states = ", ".join(f"{n} {state}" for state, n in counts.items() if n)
        return (
            f"{span(time.monotonic() - self.began)}: {plural(view.n, 'run')}, {running} running; {states}; {view.left}"
        )

    def _drawn(self, view: View, running: int) -> Any:
        rows, more = fitting(view, self.console.size.height)
        parts: list[Any] = [table(view, rows, self.console.size.width)]
        if more:
            parts.append(Text(f"... and {more} more", style="dim"))
        parts += [Text(""), Text(self._line(view, running), style="bold")]
        parts += [Text(note, style="bold") for note in view.notes[-2:]]
        return Group(*parts)
