"""Statements about pairs of outcomes, the cone that they make, and which of them clash.

"a is better than b" says that a - b is in the cone. The cone of the statements is spanned by the objectives (more of
each is better) and the stated differences: the smallest that agrees with all, so nothing is called better that was
not implied. "Neither is clearly better" says that a - b and b - a are not in it.

Legend
    d     differences of benefits, better less worse, one row a statement, in units of their largest entries   (n, L)
    clash sum_i u_i d_i <= 0 for some u >= 0 that are not all 0: then the cone contains a line
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from prepex import _checks, _named
from prepex._checks import Floats
from prepex.errors import InputError, InputTypeError, shown
from prepex.facets import SAME, dual_rays
from prepex.numerals import number

# Sets of statements that are tried one by one for the smallest clash.
MOST_SETS = 3000


@dataclass(frozen=True)
class Statement:
    """About two outcomes, by name or in the order of the objectives. Made by `better` and `neither`."""

    one: Any
    other: Any
    clear: bool = True


def better(one: Any, other: Any) -> Statement:
    """`one` is better for me than `other`: two outcomes, as mappings or in the order of the objectives.

    >>> better({"strength": 60, "cost": 15}, {"strength": 55, "cost": 12})
    Statement(one={'strength': 60, 'cost': 15}, other={'strength': 55, 'cost': 12}, clear=True)
    """
    return Statement(one, other)


def neither(one: Any, other: Any) -> Statement:
    """Neither of two outcomes is clearly better: a later statement that implies it would clash.

    >>> neither([1, 0], [0, 1]).clear
    False
    """
    return Statement(one, other, clear=False)


class ClashError(InputError):
    """Statements that contradict each other; `statements` are their places, a smallest set."""

    def __init__(self, words: str, statements: tuple[int, ...]) -> None:
        super().__init__(words)
        self.statements = statements


def checked(statements: Iterable[Any], objectives: Sequence[str]) -> tuple[Statement, ...]:
    """With both outcomes as tuples in the order of the objectives."""
    if isinstance(statements, Statement):
        statements = (statements,)
    if isinstance(statements, str | Mapping) or not isinstance(statements, Iterable):
        raise InputTypeError(f"statements must be a list of better(a, b) and neither(a, b), got {shown(statements)}")
    found = []
    for place, entry in enumerate(statements):
        given = _checks.instance(f"statement {place + 1}", entry, Statement)
        sides = []
        for outcome in (given.one, given.other):
            ordered = _named.in_order(f"statement {place + 1}", outcome, objectives)
            values = _checks.real_array(f"statement {place + 1}", ordered, ("n_objectives", len(objectives)))
            sides.append(tuple(values.tolist()))
        if sides[0] == sides[1]:
            raise InputError(f"statement {place + 1} must be about two different outcomes, got {sides[0]} twice")
        found.append(Statement(sides[0], sides[1], _checks.flag("clear", given.clear)))
    return tuple(found)


def differences(statements: Sequence[Statement], signs: Floats, logs: Sequence[int] = ()) -> Floats:
    """Of benefits (n, L), better less worse; of logarithms for objectives `logs`."""
    rows = np.array([[entry.one, entry.other] for entry in statements], dtype=np.float64).reshape(-1, 2, len(signs))
    for q in logs:
        if np.any(rows[:, :, q] <= 0.0):
            raise InputError(f"outcomes of a log-normal objective must be positive, got {rows[:, :, q].min():g}")
        rows[:, :, q] = np.log(rows[:, :, q])
    return np.asarray((rows[:, 0] - rows[:, 1]) * signs)


def scale_of(d: Floats) -> Floats:
    """A size for each objective (L,), so that differences of any units can be compared."""
    top = np.abs(d).max(axis=0, initial=0.0)
    return np.where(top > 0.0, top, 1.0)


def implied(d: Floats, wanted: Floats) -> bool:
    """Is `wanted` (L,) in the cone of the objectives and the rows of d?"""
    from scipy.optimize import nnls

    rows = np.vstack([np.eye(len(wanted)), _unit(d)])
    return bool(nnls(rows.T, wanted / np.linalg.norm(wanted))[1] <= 1e3 * SAME)


def has_line(d: Floats) -> bool:
    """Does the cone of the objectives and the rows of d contain a line?"""
    from scipy.optimize import nnls

    if not len(d):
        return False
    L = d.shape[1]
    columns = np.vstack([np.hstack([np.eye(L), _unit(d).T]), np.append(np.zeros(L), np.ones(len(d)))])
    return bool(nnls(columns, np.append(np.zeros(L), 1.0))[1] <= 1e3 * SAME)


def _unit(d: Floats) -> Floats:
    return np.asarray(d / np.maximum(np.linalg.norm(d, axis=1, keepdims=True), 1e-300)) if len(d) else d


def find_clash(statements: Sequence[Statement], d: Floats) -> tuple[int, ...]:
    """The places of a smallest set of statements that contradict each other; empty if none do."""
    d = d / scale_of(d)
    clear = [k for k, entry in enumerate(statements) if entry.clear]
    if has_line(d[clear]):
        return _smallest(clear, lambda chosen: has_line(d[list(chosen)]), d.shape[1] + 1)
    refused = [k for k, entry in enumerate(statements) if not entry.clear]
    facets = dual_rays(np.vstack([np.eye(d.shape[1]), _unit(d[clear])]))
    for k, sides in zip(refused, _unit(d[refused]) @ facets.T, strict=True):
        inside = np.all(sides >= -SAME), np.all(sides <= SAME)
        if any(inside):
            wanted = d[k] if inside[0] else -d[k]

            def says(chosen: Sequence[int], wanted: Floats = wanted) -> bool:
                return implied(d[list(chosen)], wanted)

            return tuple(sorted((*_smallest(clear, says, d.shape[1]), k)))
    return ()


def _smallest(places: Sequence[int], bad: Any, most: int) -> tuple[int, ...]:
    """A set with this property, as small as can be: by size where that is quick, else one that has none to spare."""
    if bad(()):
        return ()
    if sum(comb(len(places), size) for size in range(1, most + 1)) <= MOST_SETS:
        for size in range(1, most + 1):
            for chosen in combinations(places, size):
                if bad(chosen):
                    return chosen
    kept = list(places)
    for k in places:
        fewer = [other for other in kept if other != k]
        if bad(fewer):
            kept = fewer
    return tuple(kept)


def require_agreement(statements: Sequence[Statement], d: Floats, objectives: Sequence[str]) -> None:
    """Refuse statements that clash, by a smallest set of them."""
    clash = find_clash(statements, d)
    if not clash:
        return
    listed = "; ".join(f"{k + 1}: {in_words(statements[k], objectives)}" for k in clash)
    if len(clash) == 1:
        where = "in everything" if np.all(d[clash[0]] < 0.0) else "wherever the two differ"
        wrong = f"says that what is worse {where} is better"
        alone = wrong if statements[clash[0]].clear else "is settled by the objectives"
        raise ClashError(f"statement {listed} {alone}: take it back", clash)
    raise ClashError(f"statements must not contradict each other, got {listed}: take one of them back", clash)


def in_words(statement: Statement, objectives: Sequence[str]) -> str:
    """As a sentence.

    >>> in_words(better((60.0, 15.0), (55.0, 12.0)), ("strength", "cost"))
    '(strength 60, cost 15) is better than (strength 55, cost 12)'
    """
    sides = [
        "(" + ", ".join(f"{name} {number(value)}" for name, value in zip(objectives, side, strict=True)) + ")"
        for side in (statement.one, statement.other)
    ]
    if statement.clear:
        return f"{sides[0]} is better than {sides[1]}"
    return f"neither of {sides[0]} and {sides[1]} is clearly better"
