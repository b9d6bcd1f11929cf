"""A dialogue that finds a preference cone: which of these two would you rather have?

The next question is a pair of options that are both optimal under the cone so far, chosen so that the answer may be
expected to remove many: the number that each answer would remove, weighed by how likely it is for the trade-off in it.
Answers that earlier ones exclude are not expected, and a pair of which nothing is open is not asked.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np

from prepex import _checks
from prepex._checks import Floats
from prepex.cone import Cone
from prepex.errors import InputError
from prepex.facets import dual_rays
from prepex.labels import Labels
from prepex.preferences import Statement, differences, has_line
from prepex.units import Units

Answer = Literal["left", "right", "neither"]
# Pairs that are looked at for the next question.
MOST_PAIRS = 120


class Dialogue:
    """Questions about real options, until the cone leaves no pair to compare.

    means (K, L) in your units and signs; names and `minimise` as for `Problem`, `logs` as for `Cone.from_preferences`.

    >>> talk = Dialogue([[60, 15], [55, 12], [40, 11]], arms=("a", "b", "c"), objectives=("strength", "cost"),
    ...                 minimise=("cost",))
    >>> talk.left
    ('a', 'b', 'c')
    >>> talk.question() in (("a", "b"), ("b", "c"), ("a", "c"))
    True
    >>> talk.say("b", "c", "left")
    >>> talk.left
    ('a', 'b')
    >>> print(talk.cone.words(minimise=("cost",)))
    Accepts up to 0.0667 more cost for 1 more strength. Nothing else is given up.
    """

    def __init__(
        self,
        means: Any,
        *,
        arms: Iterable[str] | None = None,
        objectives: Iterable[str] | None = None,
        minimise: Iterable[str | int] = (),
        logs: Iterable[str | int] = (),
        statements: Iterable[Statement] = (),
    ) -> None:
        table = _checks.real_array("means", means, ("n_arms", None), ("n_objectives", None))
        self.labels = Labels.make(table.shape, arms, objectives, minimise)
        self.means = table
        factors = {_checks.member("logs", name, self.labels.objectives) for name in _checks.one_or_several(logs)}
        self.units = Units(tuple(sorted(factors)))
        for q in self.units.logs:
            if table[:, q].min() <= 0.0:
                name = self.labels.objectives[q]
                raise InputError(
                    f"means of {name!r} must be positive to be compared by factors, got {table[:, q].min():g}"
                )
        self._benefits = self.units.inner(table) * self.labels.signs
        span = np.ptp(self._benefits, axis=0)
        self._scale = np.where(span > 0.0, span, 1.0)
        self.statements: tuple[Statement, ...] = ()
        self.cone = self._cone(())
        for entry in statements:
            self._add(entry)

    @property
    def left(self) -> tuple[str, ...]:
        """The options that are optimal under the cone so far."""
        return tuple(self.labels.arms[k] for k in self._front())

    def _front(self) -> list[int]:
        return np.flatnonzero(self.cone.pareto_mask(self._benefits)).tolist()

    def question(self) -> tuple[str, str] | None:
        """The most useful pair of options to compare next; None if no answer would change anything."""
        front = self._front()
        pairs = list(combinations(front, 2))
        some = self._some(pairs)
        found = (
            self._best(some, front) or self._best(pairs, front) or self._best([(j, i) for i, j in pairs], front, True)
        )
        return None if found is None else (self.labels.arms[found[0]], self.labels.arms[found[1]])

    def _best(
        self, pairs: Sequence[tuple[int, int]], front: Sequence[int], against: bool = False
    ) -> tuple[int, int] | None:
        """Of answers with the odds, or `against` them, which only matter when nothing else is left to ask."""
        clear, refused = self._said(clear=True), self._said(clear=False)
        belief = Belief(clear, refused)
        best, found = 0.0, None
        for i, j in pairs:
            d = (self._benefits[i] - self._benefits[j]) / self._scale
            d = d if (gain_over_loss(d) >= 0.0) != against else -d
            most = belief.likely(d) * (len(front) - 1)
            # The answer against the odds counts little: it is not looked at.
            worth = belief.likely(d) * self._removed(clear, refused, d, front) if most > best else 0.0
            # The first of equal ones, so that the same answers lead to the same questions.
            if worth > best * (1.0 + 1e-9):
                best, found = worth, (i, j)
        return found

    def say(self, left: str | int, right: str | int, answer: Answer) -> None:
        """What the answer to a question was. One that contradicts earlier ones raises ClashError and is not kept;
        `take_back` one of those that it names, and say it again."""
        one, other = (_checks.member(what, arm, self.labels.arms) for what, arm in (("left", left), ("right", right)))
        if answer not in ("left", "right", "neither"):
            raise InputError(f"answer must be 'left', 'right' or 'neither', got {answer!r}")
        if answer == "right":
            one, other = other, one
        sides = tuple(self.means[one].tolist()), tuple(self.means[other].tolist())
        self._add(Statement(*sides, clear=answer != "neither"))

    def _cone(self, said: Sequence[Statement]) -> Cone:
        return Cone.from_preferences(self.labels.objectives, said, minimise=self.labels.minimise, logs=self.units.logs)

    def _add(self, entry: Statement) -> None:
        said = (*self.statements, entry)
        self.cone = self._cone(said)
        self.statements = self.cone.statements

    def take_back(self, place: int | None = None) -> Statement:
        """Forget a statement, by default the last one; returns it."""
        if not self.statements:
            raise InputError("there must be a statement to take back, got none")
        last = len(self.statements) - 1
        at = last if place is None else _checks.whole("place", place, low=0, high=last)
        gone = self.statements[at]
        said = self.statements[:at] + self.statements[at + 1 :]
        self.cone = self._cone(said)
        self.statements = self.cone.statements
        return gone

    def _said(self, *, clear: bool) -> Floats:
        """Differences of the statements of one kind (n, L), in units of the options' ranges."""
        said = [entry for entry in self.statements if entry.clear == clear]
        return np.asarray(differences(said, self.labels.signs, self.units.logs) / self._scale)

    def _some(self, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Not all of very many: every so many, from those with the clearest trade-offs to the most even ones."""
        if len(pairs) <= MOST_PAIRS:
            return pairs
        differences = [(self._benefits[i] - self._benefits[j]) / self._scale for i, j in pairs]
        order = np.argsort([-abs(gain_over_loss(d)) for d in differences], kind="stable")
        return [pairs[k] for k in order[:: -(-len(pairs) // MOST_PAIRS)]]

    def _removed(self, clear: Floats, refused: Floats, d: Floats, front: Sequence[int]) -> int:
        """Options of the front that would be worse than another if d were better, too; 0 if nobody who has said all
        this can say so."""
        more = np.vstack([clear, d])
        if has_line(more):
            return 0
        rays = np.vstack([np.eye(len(d)), more / np.linalg.norm(more, axis=1, keepdims=True)])
        facets = dual_rays(rays)
        if len(refused):
            sides = refused / np.linalg.norm(refused, axis=1, keepdims=True) @ facets.T
            if np.any(np.all(sides >= -1e-9, axis=1) | np.all(sides <= 1e-9, axis=1)):
                return 0
        scores = (self._benefits[front] / self._scale) @ facets.T
        ahead = scores[:, None, :] - scores[None, :, :]
        return int((np.all(ahead >= -1e-12, axis=2) & np.any(ahead > 1e-12, axis=2)).any(axis=0).sum())


def gain_over_loss(d: Floats) -> float:
    """The logarithm of what is gained over what is lost, in units of ranges; at most that of 1,000.

    >>> gain_over_loss(np.array([1.0, -1.0])), gain_over_loss(np.array([-1.0, 0.0])) < -6.9
    (0.0, True)
    """
    gain, loss = float(np.maximum(d, 0.0).sum()), float(np.maximum(-d, 0.0).sum())
    return float(np.log(max(gain, 1e-3 * loss) / max(loss, 1e-3 * gain)))


class Belief:
    """How likely it is that a trade-off is called better, learnt from the answers so far: roughly, from some ratio of
    gain to loss on. Only the choice of questions rests on it."""

    STEPS, SOFT = np.linspace(0.0, 5.0, 41), 0.4

    def __init__(self, clear: Floats, refused: Floats) -> None:
        weight = np.zeros(len(self.STEPS))
        for row in clear:
            weight += np.log(self._above(gain_over_loss(row)))
        for row in refused:
            weight += np.log(1.0 - self._above(abs(gain_over_loss(row))))
        weight = np.exp(weight - weight.max())
        self.weight = weight / weight.sum()

    def _above(self, ratio: float) -> Floats:
        return np.clip(1.0 / (1.0 + np.exp((self.STEPS - ratio) / self.SOFT)), 1e-6, 1.0 - 1e-6)

    def likely(self, d: Floats) -> float:
        """The probability that d is called better."""
        return float(self.weight @ self._above(gain_over_loss(d)))
