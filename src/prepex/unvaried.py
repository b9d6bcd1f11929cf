"""Options whose outcomes never vary, where a variance of their own is unknown: they hold up a certified answer.

At the value that an option repeats, its likelihood has no bound: no number of outcomes is evidence against anything.
"""

import numpy as np

from prepex._checks import Floats
from prepex.family import STUDENT
from prepex.numerals import number, plural
from prepex.posterior_draws import seen
from prepex.standing import Standing

# Outcomes of an option before it is said, and options that are named.
ENOUGH, MOST_NAMED = 5, 3


def unvaried(standing: Standing) -> dict[int, list[int]]:
    """Objectives, by position, with the arms that repeat their value of it: compared alone, of unknown variance."""
    laws, course = standing.setting.laws, standing.course
    if laws is None or not standing.setting.certified:
        return {}
    given, rows = seen(course), course.near.inst.W != 0.0
    still = (given.squares <= 0.0) & (given.counts >= ENOUGH)[:, None]
    # A facet that mixes objectives has a variance of its own.
    alone = np.any(rows & (rows.sum(axis=1) == 1)[:, None], axis=0)
    own = (np.asarray(laws.codes) == STUDENT) & ~laws.shared & alone
    return {int(q): np.flatnonzero(still[:, q]).tolist() for q in np.flatnonzero(own & still.any(axis=0))}


def never_words(standing: Standing) -> str | None:
    """Why it cannot be settled as it is, and what to do; None: nothing speaks against it."""
    found = unvaried(standing)
    if not found or standing.reached > -np.inf or (standing.testable and standing.behind()):
        return None
    setting, labels = standing.setting, standing.setting.labels
    given = seen(standing.course)
    parts = []
    for q, arms in found.items():
        name, shared = labels.objectives[q], "lognormal(shared)" if q in setting.units.logs else "shared"
        if len(arms) == len(labels.arms):
            advice = f"say its family: {name}=exact if it has no noise, else {name}=gaussian(VARIANCE)"
        else:
            known = "" if q in setting.units.logs else f" or {name}=gaussian(VARIANCE)"
            advice = f"say its family, {name}={shared} (one variance for all options){known}, or leave the option out"
        parts.append(
            f"{_who(labels.arms, arms, given.counts, name)}: with an unknown variance of its own, an option that never "
            f"varies cannot be settled on {name}, however many pulls follow. If it stays so, {advice}."
        )
    return " ".join(parts)


def _who(names: tuple[str, ...], arms: list[int], counts: Floats, objective: str) -> str:
    """Who has repeated a value."""
    if len(arms) == 1:
        return f"{names[arms[0]]} never varied in {objective}, in {plural(int(counts[arms[0]]), 'outcome')}"
    if len(arms) == len(names):
        return f"No option ever varied in {objective}"
    listed = ", ".join(names[k] for k in arms[:MOST_NAMED])
    more = f" and {number(len(arms) - MOST_NAMED)} more" if len(arms) > MOST_NAMED else ""
    return f"{listed}{more} never varied in {objective}"
