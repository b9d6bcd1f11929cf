"""A cone for people: in words, and for notebooks.

Legend
    facets   W, unit rows    (m, L)
"""

from collections.abc import Sequence

import numpy as np

from prepex import markup
from prepex._checks import Floats
from prepex.facets import SAME
from prepex.numerals import number


def rates_in_words(facets: Floats, names: Sequence[str], costs: set[int]) -> str:
    """For each pair of objectives, how much of the one is given up at most for one of the other."""
    L = len(names)
    more = ["less" if q in costs else "more" for q in range(L)]
    less = ["more" if q in costs else "less" for q in range(L)]
    found, given_up = [], set()
    for a in range(L):
        if facets[:, a].min() < -SAME:
            others = [b for b in range(L) if b != a]
            needs = []
            for b in others:
                short = facets[:, a] < -SAME
                if np.all(facets[short, b] > SAME):
                    rate = float((-facets[short, a] / facets[short, b]).max())
                    needs.append(f"{number(rate, 3)} {more[b]} {names[b]}")
            with_it = f": for 1 it takes at least {' or '.join(needs)}" if needs else ""
            found.append(f"{more[a].capitalize()} {names[a]} alone is not better{with_it}.")
            continue
        for b in range(L):
            cost = facets[:, b] > SAME
            if b == a or not cost.any():
                continue
            rate = float((facets[cost, a] / facets[cost, b]).min())
            if rate > SAME:
                given_up.add(b)
                found.append(f"Accepts up to {number(rate, 3)} {less[b]} {names[b]} for 1 {more[a]} {names[a]}.")
    if not found:
        return "Better is only what is at least as good in everything."
    if len(given_up) < L and given_up:
        found.append("Nothing else is given up.")
    return " ".join(found)


def as_html(title: str, told: str, facets: Floats, rays: Floats | None, names: Sequence[str]) -> str:
    """Facets, words, and of two rays a picture: up and right are better."""
    rows = [[f"facet {k + 1}", *row] for k, row in enumerate(facets.tolist())]
    wedge = "" if rays is None else markup.wedge(rays.tolist(), names)
    return markup.block(title, markup.line(told), wedge, markup.table(["", *names], rows))
