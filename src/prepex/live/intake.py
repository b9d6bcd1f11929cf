"""Names into positions: what a user says of arms and objectives, checked, in the order of the experiment.

The only place that turns the name of an arm into a position. Methods `by_name` take names, or indices where no name is
a number; `rows` takes positions alone, as logs keep them. What they return is by position, and everything after them
takes nothing else.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prepex import _checks, _given, _named
from prepex._checks import Floats, Ints
from prepex.errors import InputError
from prepex.exact import filled
from prepex.family import Family
from prepex.labels import Labels
from prepex.live.told import Rows, Told


@dataclass(frozen=True, eq=False)
class Intake:
    """What may be said of these arms and objectives."""

    labels: Labels
    family: Family

    def pending_by_name(self, pending: Any) -> Ints:
        """Pulls of each arm that are out (K,), of arms as often as they are out, or of a mapping to how many."""
        out = np.zeros(len(self.labels.arms), dtype=np.int64)
        for arm, n_out in _listed(pending):
            out[_checks.member("pending", arm, self.labels.arms)] += _checks.whole("pending", n_out, low=0)
        return out

    def pending(self, pending: ArrayLike) -> Ints:
        """The same of a number for each arm, in their order or by name."""
        arms = self.labels.arms
        given = _checks.whole_array("pending", _named.in_order("pending", pending, arms), ("n_arms", len(arms)), low=0)
        return given.copy()

    def among_by_name(self, chosen: Iterable[str | int]) -> list[int]:
        """Some arms."""
        return [_checks.member("among", arm, self.labels.arms) for arm in chosen]

    def outcomes_by_name(self, outcomes: Iterable[tuple[str | int, ArrayLike]], sure: Floats | None) -> list[Told]:
        """Pairs of an arm and an outcome. `sure` (K, L): what need not be told, if anything."""
        found = []
        for entry in _checks.in_some_order("outcomes", outcomes):
            told, came = _named.pair("outcomes", entry, ("arm", "reward"))
            found.append(self._outcome(_checks.member("arm", told, self.labels.arms), came, sure))
        return found

    def _outcome(self, arm: int, came: Any, sure: Floats | None) -> Told:
        objectives = self.labels.objectives
        if sure is not None:
            came = filled(came, sure[arm], objectives, "reward")
        ordered = _named.in_order("reward", came, objectives)
        numbers = self.family.as_numbers(ordered, len(objectives))
        reward = _checks.real_array("reward", numbers, ("n_objectives", len(objectives)), known=objectives)
        self.family.check_reward(reward, objectives)
        return Told(arm, reward)

    def summary_by_name(self, arm: str | int, n: int, mean: ArrayLike, sure: Floats | None) -> Told:
        """The mean of n outcomes; of one, it is that outcome."""
        objectives = self.labels.objectives
        number = _checks.member("arm", arm, self.labels.arms)
        size = _checks.summary_size(n)
        ordered = _named.in_order("mean", mean, objectives)
        given = _checks.real_array("mean", ordered, ("n_objectives", len(objectives)))
        return self._outcome(number, given, sure) if size == 1 else Told(number, self._summary(given, size), size)

    def _summary(self, mean: Floats, n: int) -> Floats:
        """Freed of rounding where outcomes are whole numbers."""
        objectives = self.labels.objectives
        exact = self.family.summary_values(dict(zip(objectives, mean.tolist(), strict=True)), objectives, n)
        return np.array([exact[name] for name in objectives])

    def log_by_name(self, arms: Any, rewards: Any, sizes: Any = None) -> Rows | None:
        """A long log; the columns of a DataFrame of rewards go by name. None: it is empty."""
        for name, value in (("rewards", rewards), ("sizes", sizes)):
            _named.require_same_rows("arms", arms, name, value)
        ordered = _named.columns_in_order("rewards", rewards, self.labels.objectives)
        if isinstance(ordered, np.ndarray) and ordered.dtype == bool:
            ordered = self.family.as_numbers(ordered, len(self.labels.objectives))
        counts = sizes if _given.index_of(sizes) is None else np.asarray(sizes)
        return self.rows(self._positions(arms), ordered, counts)

    def _positions(self, arms: Any) -> list[int]:
        """Of names, or of indices where these cannot be confused."""
        if isinstance(arms, str) or not isinstance(arms, Iterable):
            raise InputError(f"arms must be a sequence of names or indices, got {arms!r}")
        known: dict[Any, int] = {}
        found = []
        for arm in _checks.in_some_order("arms", arms):
            # Equal keys need not be the same name: 1 and True, 1 and 1.0.
            key = type(arm), arm if isinstance(arm, Hashable) else None
            if key not in known:
                known[key] = _checks.member("arms", arm, self.labels.arms)
            found.append(known[key])
        return found

    def rows(self, arms: Any, rewards: Any, sizes: Any = None) -> Rows | None:
        """Rows of a log, by position: arms (n,), rewards (n, L), sizes (n,). None: there is no row."""
        objectives = self.labels.objectives
        if not len(arms) and np.size(rewards) == 0:
            return None
        who = _checks.whole_array("arms", arms, ("n", None), low=0, high=len(self.labels.arms) - 1)
        shape = ("n", who.size), ("n_objectives", len(objectives))
        rows = np.array(_checks.real_array("rewards", rewards, *shape, known=objectives), copy=True)
        counts = np.ones(who.size, dtype=np.int64)
        if sizes is not None:
            counts = _checks.whole_array("sizes", sizes, ("n", who.size), low=1, high=_checks.LARGEST_SUMMARY)
        self.family.check_rewards(rows[counts == 1], objectives)
        for at in np.flatnonzero(counts > 1):
            rows[at] = self._summary(rows[at], int(counts[at]))
        return Rows(who, rows, counts)


def _listed(pending: Any) -> Iterable[tuple[Any, Any]]:
    """(arm, how many)."""
    # A Series of pandas and the like go by their names, as everywhere.
    named = _given.pairs(pending)
    if named is not None:
        return named
    if isinstance(pending, str | int | np.integer):
        return ((pending, 1),)
    if not isinstance(pending, Iterable):
        raise InputError(f"pending must be arms, or a mapping from arms to how many, got {pending!r}")
    return ((arm, 1) for arm in pending)
