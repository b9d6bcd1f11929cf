"""A cone for people: in words, and for notebooks.

A pair of objectives has a rate: how much of the one is given up at most for one of the other. With three objectives or
more, a cone may also exchange several at once, as no pair says: each of its extreme rays that the pairs do not make up
gets a sentence of its own.

Legend
    facets   W, unit rows, of benefits                                    (m, L)
    pairs    exchanges of two objectives that the cone calls better       (p, L)
    rays     extreme directions, unit rows                                (r, L)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from prepex import markup
from prepex._checks import Floats
from prepex.facets import SAME, dual_rays
from prepex.numerals import number

AS_GOOD = "Better is only what is at least as good in everything."
NOTHING_ELSE = "Nothing else is given up."
# Where nobody said which objectives are costs.
COUNTED = "Every objective is counted so that more is better."
NOT_LISTED = "Several objectives may be exchanged together, too."
# What is left of a ray, of length 1, that pairs make up: the hull that rays come from is as exact as this.
LEFT = 1e-6
# Sides of a hull that is worth its time.
MOST_SIDES = 5_000
# Sentences about several objectives at once; what is beyond is counted.
MOST_JOINT = 6


@dataclass(frozen=True)
class Tongue:
    """How amounts are said: names, costs, and the size of one unit of the numbers in each objective, in the user's."""

    names: Sequence[str]
    costs: set[int]
    unit: Floats

    def amount(self, q: int, size: float, *, gain: bool) -> str:
        """So much more or less of an objective, `size` in the user's units.

        >>> Tongue(("cost",), {0}, np.ones(1)).amount(0, 2.0, gain=True)
        '2 less cost'
        """
        return f"{number(size, 3)} {self.way(q, gain)} {self.names[q]}"

    def way(self, q: int, gain: bool) -> str:
        """Is a gain more or less of it?"""
        return "less" if gain == (q in self.costs) else "more"


def rates_in_words(
    facets: Floats,
    names: Sequence[str],
    costs: set[int],
    scale: Floats | None = None,
    spanned_by: Floats | None = None,
) -> str:
    """For each pair of objectives, how much of the one is given up at most for one of the other; then what is given up
    for several together.

    scale        a size of differences in each objective: rates far from 1 in the user's units are not far in these (L,)
    spanned_by   what the cone is made of beside the objectives themselves, if that is known    (n, L)

    >>> rates_in_words(np.array([[2.0, 1.0], [1.0, 0.0]]), ("gain", "cost"), {1})
    'Accepts up to 2 more cost for 1 more gain. Nothing else is given up.'
    """
    unit = np.ones(len(names)) if scale is None else scale
    W = _unit(facets * unit)
    tongue = Tongue(names, costs, unit)
    found, pairs, given_up = [], [], set()
    for a in range(len(names)):
        if W[:, a].min() < -SAME:
            said, rows = _not_alone(W, a, tongue)
            found.append(said)
            pairs += rows
            continue
        pairs.append(np.eye(len(names))[a])
        for b, rate in _rates(W, a).items():
            given_up.add(b)
            pairs.append(_exchange(len(names), a, b, -rate))
            price = tongue.amount(b, rate * unit[b] / unit[a], gain=False)
            found.append(f"Accepts up to {price} for {tongue.amount(a, 1.0, gain=True)}.")
    joint = _joint(W, np.array(pairs).reshape(-1, len(names)), tongue, spanned_by)
    found += joint
    if not found:
        return AS_GOOD
    if given_up and len(given_up) < len(names) and not joint:
        found.append(NOTHING_ELSE)
    return " ".join(found)


def _rates(W: Floats, a: int) -> dict[int, float]:
    """Of each other objective that is given up for one of `a` alone, how much at most."""
    found = {}
    for b in range(W.shape[1]):
        cost = W[:, b] > SAME
        if b != a and cost.any():
            rate = float((W[cost, a] / W[cost, b]).min())
            if rate > SAME:
                found[b] = rate
    return found


def _not_alone(W: Floats, a: int, tongue: Tongue) -> tuple[str, list[Floats]]:
    """More of `a` alone is not better: what must come with it, and the exchanges of which that is said."""
    needs, rows, L = [], [], W.shape[1]
    short = W[:, a] < -SAME
    for b in range(L):
        if b == a or not np.all(W[short, b] > SAME):
            continue
        rate = float((-W[short, a] / W[short, b]).max())
        # What helps on one facet may harm on another.
        if np.all(W @ _exchange(L, a, b, rate) >= -SAME):
            needs.append(tongue.amount(b, rate * tongue.unit[b] / tongue.unit[a], gain=True))
            rows.append(_exchange(L, a, b, rate))
    with_it = f": for 1 it takes at least {' or '.join(needs)}" if needs else ""
    return f"{tongue.way(a, True).capitalize()} {tongue.names[a]} alone is not better{with_it}.", rows


def _exchange(L: int, a: int, b: int, rate: float) -> Floats:
    """One of `a`, and `rate` of `b`, as a direction."""
    row = np.zeros(L)
    row[a], row[b] = 1.0, rate
    return np.asarray(row / np.linalg.norm(row))


def _joint(W: Floats, pairs: Floats, tongue: Tongue, spanned_by: Floats | None) -> list[str]:
    """A sentence for each extreme ray that the pairs do not make up."""
    W = np.where(np.abs(W) > SAME, W, 0.0)
    # The usual order has no other rays: no hull, and not the time to load it.
    if np.all((W > 0.0).sum(axis=1) == 1) and W.min() >= 0.0:
        return []
    if spanned_by is None:
        rays = _rays(W)
        if rays is None:
            return [NOT_LISTED]
        others = [ray for ray in rays if not _made_up(ray, pairs)]
    else:
        others = _beyond(_unit(spanned_by / tongue.unit), pairs) if len(spanned_by) else []
    others.sort(key=lambda ray: (ray <= SAME).tolist())
    up_to = "up to " if W.min() >= 0.0 else ""
    said = list(dict.fromkeys(_of_ray(ray, tongue, up_to) for ray in others))
    more = len(said) - MOST_JOINT
    return said if more <= 0 else [*said[:MOST_JOINT], f"And {more} more of this kind."]


def _rays(W: Floats) -> Floats | None:
    """None where facets are so many, or so close, that no hull is found in time."""
    from scipy.spatial import QhullError

    if most_sides(len(W) + 1, W.shape[1]) > MOST_SIDES:
        return None
    try:
        return dual_rays(_unit(W))
    except QhullError:
        return None


def most_sides(n: int, d: int) -> int:
    """Sides that a hull of n points in d dimensions can have (the upper bound theorem).

    >>> most_sides(4, 2), most_sides(6, 3), most_sides(201, 10) > 10**9
    (4, 8, True)
    """
    return comb(n - (d + 1) // 2, d // 2) + comb(n - 1 - d // 2, (d - 1) // 2)


def _beyond(rays: Floats, pairs: Floats) -> list[Floats]:
    """The rays that neither the pairs make up, nor they and the other rays."""
    found = [ray for ray in rays if not _made_up(ray, pairs)]
    for ray in list(found):
        rest = [other for other in found if other is not ray]
        if _made_up(ray, np.vstack([pairs, *rest])):
            found = rest
    return found


def _unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _made_up(ray: Floats, pairs: Floats) -> bool:
    """Is it a sum of pairs?"""
    from scipy.optimize import nnls

    return len(pairs) > 0 and bool(nnls(pairs.T, ray)[1] <= LEFT)


def _of_ray(ray: Floats, tongue: Tongue, up_to: str) -> str:
    """What is given up for what, per one of the first objective that gains."""
    gains = [q for q, entry in enumerate(ray.tolist()) if entry > SAME]
    losses = [q for q, entry in enumerate(ray.tolist()) if entry < -SAME]
    sizes = np.abs(ray) * tongue.unit
    sizes = sizes / sizes[(gains or losses)[0]]
    got = _together([tongue.amount(q, float(sizes[q]), gain=True) for q in gains])
    lost = _together([tongue.amount(q, float(sizes[q]), gain=False) for q in losses])
    if not gains:
        return f"Calls {lost} better."
    return f"Accepts {up_to}{lost} for {got}." if losses else f"Better is also {got}."


def _together(amounts: Sequence[str]) -> str:
    """All of them at once.

    >>> _together(["1 more a", "2 less b"]), _together(["1 more a", "2 less b", "3 less c"])
    ('1 more a together with 2 less b', '1 more a, 2 less b and 3 less c together')
    """
    if len(amounts) < 3:
        return " together with ".join(amounts)
    return f"{', '.join(amounts[:-1])} and {amounts[-1]} together"


def as_html(title: str, told: str, facets: Floats, rays: Floats | None, names: Sequence[str]) -> str:
    """Facets, words, and of two rays a picture: up and right are better."""
    rows = [[f"facet {k + 1}", *row] for k, row in enumerate(facets.tolist())]
    wedge = "" if rays is None else markup.wedge(rays.tolist(), names)
    return markup.block(title, markup.line(told), wedge, markup.table(["", *names], rows))
