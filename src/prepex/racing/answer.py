"""What a race of functions gives back."""

import os
from dataclasses import dataclass
from typing import Any, Literal

from prepex import markup
from prepex.labels import Labels
from prepex.option_table import OptionTable
from prepex.racing.book import Book
from prepex.racing.export import document, text_of
from prepex.racing.view import View, look
from prepex.racing.words import answer_words, failure_words, tie_words, verdict


@dataclass(frozen=True)
class Raced:
    """The answer of a race, or how it stands.

    answer     the options worth keeping, or that look so
    status     "certified": wrong with probability at most delta, proven; "running": not settled yet
    means      of each option: objective to mean, geometric where it is a time
    counts     trials of each option;  states: "in", "out" or "open";  failures: of each option, in words
    storage    where it is kept, if it is: `prepex study report`, `prepex serve`
    """

    answer: tuple[str, ...]
    status: Literal["certified", "posterior", "heuristic", "inconclusive", "running"]
    means: dict[str, dict[str, float]]
    counts: dict[str, int]
    states: dict[str, str]
    failures: dict[str, list[str]]
    n_trials: int
    delta: float
    words: tuple[str, ...]
    storage: str | os.PathLike[str] | None
    view: View

    @classmethod
    def of(cls, book: Book, storage: str | os.PathLike[str] | None) -> "Raced":
        """A book as it stands."""
        view = look(book, words=True)
        return cls(
            answer=tuple(row.option for row in view.front),
            status="running" if view.status is None else view.status.recommendation.status,
            means={
                row.option: {
                    name: value.mean
                    for name, value in zip(view.objectives, row.values, strict=True)
                    if value is not None
                }
                for row in view.rows
            },
            counts={row.option: row.n for row in view.rows},
            states={row.option: row.state for row in view.rows},
            failures={option: list(words) for option, words in view.failures.items()},
            n_trials=view.n,
            delta=book.question.delta,
            words=(
                verdict(view),
                *answer_words(view),
                *view.notes,
                *failure_words(view.failures),
                *tie_words(view),
            ),
            storage=storage,
            view=view,
        )

    @property
    def settled(self) -> bool:
        """Has it stopped?"""
        return self.status == "certified"

    def why(self) -> str:
        """The answer, or why there is none yet, in the words of the study."""
        return self.view.why or self.words[0]

    def to_dict(self) -> dict[str, Any]:
        """All numbers, as JSON can write them."""
        return document(self.view)

    def to_markdown(self) -> str:
        """A table."""
        return text_of(self.view, "markdown")

    def to_frame(self) -> Any:
        """A row for each option: trials, means, state, probability of belonging to the answer; needs pandas."""
        return self._table(words=False).to_frame()

    def _repr_html_(self) -> str:
        lines = [markup.line(words) for words in self.words]
        return markup.block(self.view.name, lines[0], self._table(words=True).to_html(), *lines[1:])

    def _table(self, *, words: bool) -> OptionTable:
        """With units in words, or as plain numbers."""
        rows, view = self.view.rows, self.view
        heads = Labels((), view.objectives, view.minimise).signed if words else view.objectives
        columns = [
            [None if value is None else value.words if words else value.mean for value in column]
            for column in zip(*(row.values for row in rows), strict=True)
        ]
        chances = [row.probability for row in rows]
        return OptionTable(
            [row.option for row in rows],
            [("trials", [row.n for row in rows]), *zip(heads, columns, strict=True)],
            [row.option in self.answer for row in rows],
            [row.state for row in rows],
            None if None in chances else [chance for chance in chances if chance is not None],
        )

    def __str__(self) -> str:
        return "\n".join(self.words)
