"""Objectives without noise: their values, known in advance or since the first outcome.

Legend
    sure    values that are known, nan where they are not        (K, L)
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from prepex import _checks, _named
from prepex._checks import Floats, Ints
from prepex.errors import InputError, shown
from prepex.family import EXACT, Family
from prepex.labels import Labels

Known = Mapping[str, Mapping[str, float]] | None


def exact_objectives(family: Family, labels: Labels) -> tuple[int, ...]:
    """Which objectives have no noise.

    >>> from prepex import Bernoulli, Exact, Product
    >>> exact_objectives(Product([Bernoulli(), Exact()]), Labels.make((2, 2)))
    (1,)
    """
    laws = family.laws(len(labels.arms), len(labels.objectives))
    return () if laws is None else tuple(int(q) for q in np.flatnonzero(laws.codes == EXACT))


def check_known(known: Known, family: Family, labels: Labels) -> dict[str, dict[str, float]] | None:
    """Values given in advance, by objective and arm, in the order of both; None if there are none.

    >>> from prepex import Exact
    >>> labels = Labels.make((2, 1), arms=("a", "b"), objectives=("price",))
    >>> check_known({"price": {"b": 2, "a": 3.2}}, Exact(), labels)
    {'price': {'a': 3.2, 'b': 2.0}}
    """
    if known is None:
        return None
    named = _named.by_name("known", known, labels.objectives)
    if named is None:
        raise InputError(f"known must be a mapping from objectives to values of options, got {shown(known)}")
    free = [labels.objectives[q] for q in exact_objectives(family, labels)]
    found: dict[str, dict[str, float]] = {}
    for objective in labels.objectives:
        if objective not in named:
            continue
        if objective not in free:
            raise InputError(f"known must be of objectives without noise, of the family Exact(), got {objective!r}")
        of = f"known[{objective!r}]"
        values = _named.by_name(of, named[objective], labels.arms)
        if values is None:
            raise InputError(f"{of} must be a mapping from options to numbers, got {shown(named[objective])}")
        found[objective] = {arm: _checks.sized(f"{of} of {arm!r}", values[arm]) for arm in labels.arms if arm in values}
    return {objective: values for objective, values in found.items() if values} or None


def table_of(known: Mapping[str, Mapping[str, float]] | None, labels: Labels) -> Floats:
    """`sure`, of what was given in advance."""
    sure: Floats = np.full((len(labels.arms), len(labels.objectives)), np.nan)
    for objective, values in (known or {}).items():
        for arm, value in values.items():
            sure[labels.arms.index(arm), labels.objectives.index(objective)] = value
    return sure


def filled(came: Any, sure: Sequence[float], objectives: Sequence[str], name: str) -> Any:
    """What came with names, and what need not be told; a list is as it is."""
    named = _named.by_name(name, came, tuple(objectives))
    if named is None:
        return came
    return {q: value for q, value in zip(objectives, sure, strict=True) if not np.isnan(value)} | named


def require_agreement(sure: Floats, arms: Ints, rewards: Floats, exact: Sequence[int], labels: Labels) -> None:
    """Every reward (n, L) of an arm (n,) must repeat what is sure of it, and what came before it, without noise."""
    for q in exact:
        for k in np.unique(arms):
            values = rewards[arms == k, q]
            first = sure[k, q] if not np.isnan(sure[k, q]) else values[0]
            other = values[values != first]
            if other.size:
                refuse(labels.objectives[q], labels.arms[k], float(first), float(other[0]))


def refuse(objective: str, arm: str, first: float, other: float) -> None:
    """Two values of what has no noise."""
    raise InputError(f"{objective!r} of {arm!r} has no noise and must be what is known of it, {first!r}, got {other!r}")
