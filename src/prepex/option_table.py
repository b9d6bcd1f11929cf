"""Options with their numbers and how they stand: one table for notebooks and data frames."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from prepex.markup import Rows
from prepex.standing import chance_words


@dataclass(frozen=True)
class OptionTable:
    """One entry an option in each column.

    columns         what is known of each option, counts and means: (name, entries)
    front           which look optimal
    states          "in", "out" or "open"; empty if not known
    probabilities   of being optimal; None if not known
    """

    names: Sequence[str]
    columns: Sequence[tuple[str, Sequence[Any]]]
    front: Sequence[bool]
    states: Sequence[str] = ()
    probabilities: Sequence[float] | None = None

    def to_html(self) -> str:
        """A table, with options that are in in bold type, and those that are out pale.

        >>> made = OptionTable(("a<b",), [("n", [3])], [True], ["in"], [1.0]).to_html()
        >>> made[made.index('<tr class="in">'):][:68]
        '<tr class="in"><td>a&lt;b</td><td class="n">3</td><td>yes</td><td>in'
        """
        more: list[tuple[str, Sequence[Any]]] = [("looks optimal", self.front)]
        if self.states:
            more.append(("state", self.states))
        if self.probabilities is not None:
            more.append(("probability", [chance_words(chance) for chance in self.probabilities]))
        return Rows("option", self.names, [*self.columns, *more], self.states).to_html()

    def to_frame(self) -> Any:
        """The same as a data frame, a row an option (needs pandas)."""
        more: list[tuple[str, Sequence[Any]]] = [("looks_optimal", self.front)]
        if self.states:
            chances = [None] * len(self.names) if self.probabilities is None else self.probabilities
            more += [("state", self.states), ("probability", chances)]
        return Rows("option", self.names, [*self.columns, *more]).to_frame()
