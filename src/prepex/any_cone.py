"""In, out or open under any cone and any tolerance, chosen after looking at the data.

The regions of prepex.mean_regions hold all true means at all times together, with probability 1 - delta, so whatever
follows from them does too: under every cone at once. What is said of one cone that was fixed in advance needs less
data.

Legend
    low, high   ends of w_f . mu_k over the region of arm k, for every facet f    (K, m)
    in          against every j some facet has low_i > high_j
    out         some j has low_j >= high_i on every facet
"""

import numpy as np

from prepex._checks import Floats
from prepex.cone import Cone
from prepex.live.recommendation import State
from prepex.mean_regions import Regions

__all__ = ["WHY_OPEN", "Regions", "State", "least_tolerance", "states_under", "why_open"]

# Why an option that a study has settled may be open under another cone.
WHY_OPEN = (
    "States under another cone come from regions that hold all true means at all times, whichever cones are looked at. "
    "The study's own tests are others, for its cone alone: what they have settled may be open here, and the reverse."
)


def why_open(tolerance: str = "", limits: bool = False) -> str:
    """The same, and what of a study's question is not asked here: its `tolerance` in words, its limits.

    >>> why_open("0.5 in gain").partition("reverse. ")[2]
    "The study's tolerance (0.5 in gain) does not apply here: every difference matters, so less is settled."
    """
    words = [WHY_OPEN]
    if tolerance:
        words.append(
            f"The study's tolerance ({tolerance}) does not apply here: every difference matters, so less is settled."
        )
    if limits:
        words.append("Its limits are not looked at either." if tolerance else "The study's limits are not looked at.")
    return " ".join(words)


def states_under(regions: Regions, cone: Cone, signs: Floats) -> tuple[State, ...]:
    """Of each arm; `signs` (L,) turn minimised objectives around."""
    low, high = regions.along(cone.facets * signs)
    surely_better = low[:, None, :] - high[None, :, :]
    out = np.all(surely_better >= 0.0, axis=2) & np.any(surely_better > 0.0, axis=2)
    safe = np.any(surely_better > 0.0, axis=2)
    K = len(low)
    np.fill_diagonal(safe, True)
    np.fill_diagonal(out, False)
    return tuple("out" if out[:, k].any() else "in" if safe[k].all() else "open" for k in range(K))


def least_tolerance(regions: Regions, cone: Cone, signs: Floats, unit: Floats) -> float:
    """The smallest c such that the Pareto set of the centres is surely right within the tolerance c * unit (L,).

    A member must not be beaten by more than the tolerance, another arm must be matched within it by a member: each is
    a maximum or minimum over differences on facets, divided by the tolerance's size there.
    """
    facets = cone.facets * signs
    low, high = regions.along(facets)
    size = cone.facets @ unit
    mask = cone.pareto_mask(regions.centre * signs)
    # ahead[j, i]: how far j may be ahead of i on the facet on which it is least so, in units of the tolerance.
    ahead = ((high[:, None, :] - low[None, :, :]) / size).min(axis=2)
    behind = ((high[None, :, :] - low[:, None, :]) / size).max(axis=2)
    worst = 0.0
    for i in range(len(mask)):
        if mask[i]:
            others = [j for j in range(len(mask)) if j != i]
            need = ahead[others, i].max() if others else 0.0
        else:
            need = behind[mask, i].min()
        worst = max(worst, float(need))
    return worst
