"""One option out of an answer: the best in one objective among those that meet further limits.

The choice goes by estimated means. How clear it is follows from the regions that hold all true means at all times
together: with probability 1 - delta everything that is called clear is right, whatever is asked, how often and when.

Legend
    low, high   ends of what each option may truly have, of the objective (more is better) or of a limit's row
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from prepex import _checks
from prepex._checks import Floats
from prepex.errors import InputError
from prepex.labels import Labels
from prepex.limits import Limit, Limits, Sides, limits_of
from prepex.mean_regions import Regions
from prepex.numerals import number, plural
from prepex.run import Setting
from prepex.units import Units

Meets = Literal["yes", "no", "open"]


@dataclass(frozen=True)
class Candidate:
    """An option of the answer.

    value       its estimated mean of the objective that is asked for
    interval    where its true mean is: both ends; infinite where nothing is known
    meets       the limits asked for: surely "yes", surely "no", or "open"
    looks       does its estimate meet them?
    """

    name: str
    value: float
    interval: tuple[float, float]
    meets: Meets
    looks: bool


@dataclass(frozen=True)
class Choice:
    """What `best` found. Print it for the same in words.

    arm          the option, by estimated means; None if none of those listed looks as if it met the limits
    value        its estimated mean of the objective
    clear        is it surely a best one of those listed? (Without an option: surely none meets the limits.) All that is
                 called clear, in any number of questions at any times, is right with probability 1 - delta
    rivals       the other options listed that may be the right choice instead
    candidates   every option listed, with its estimate, its interval, and whether it meets the limits
    """

    arm: str | None
    value: float | None
    clear: bool
    rivals: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    words: str

    def __str__(self) -> str:
        return self.words


class Source:
    """What a choice is made from: names, limits and estimates, at one moment."""

    def __init__(self, setting: Setting, centre: Floats, regions: Regions | None, sure: Floats, delta: float) -> None:
        self.labels: Labels = setting.labels
        self.units: Units = setting.units
        self.centre, self.delta = centre, delta
        self.known = regions is not None
        if regions is None:
            ends = np.broadcast_to(np.array([-np.inf, np.inf]), (*centre.shape, 2)).copy()
            regions = Regions(centre, None, None, ends)
        if regions.covariance is None:
            # What has no noise is known with its first outcome, or before.
            ends = np.where(np.isnan(sure)[:, :, None], regions.ends, self.units.inner(sure)[:, :, None])
            regions = Regions(regions.centre, None, None, ends)
        self.regions = regions


def choose(
    source: Source,
    places: Sequence[int],
    family: Any,
    objective: str | int,
    at_most: Sides = None,
    at_least: Sides = None,
    limits: Iterable[Limit] = (),
) -> Choice:
    """The best of the options at these `places` in one objective, with these limits."""
    labels = source.labels
    on = _checks.member("objective", objective, labels.objectives)
    asked = limits_of(labels, at_most=at_most, at_least=at_least, limits=limits, family=family)
    toward = np.zeros((1, len(labels.objectives)))
    toward[0, on] = labels.signs[on]
    low, high = (side[:, 0] for side in source.regions.along(toward))
    benefit = source.centre[:, on] * labels.signs[on]
    candidates = {k: _candidate(source, asked, k, on) for k in places}
    looking = [k for k in places if candidates[k].looks]
    able = [k for k in places if candidates[k].meets != "no"]
    if not looking:
        clear, rivals = not able, able
        chosen = None
    else:
        # The first of those that are equal.
        chosen = max(looking, key=lambda k: (benefit[k], -k))
        sure = [k for k in places if candidates[k].meets == "yes"]
        # Out of the question: another one surely meets the limits and is surely better (or, of the choice, no worse).
        rivals = [
            k
            for k in able
            if k != chosen and not any(low[j] > high[k] or (j == chosen and low[j] >= high[k]) for j in sure if j != k)
        ]
        clear = chosen in sure and not rivals
    best = None if chosen is None else candidates[chosen]
    found = tuple(candidates.values())
    names = tuple(labels.arms[k] for k in rivals)
    words = _in_words(source, best, found, names, clear, asked, on)
    if best is None:
        return Choice(None, None, clear, names, found, words)
    return Choice(best.name, best.value, clear, names, found, words)


def _candidate(source: Source, asked: Limits | None, k: int, on: int) -> Candidate:
    """How option k stands."""
    meets: Meets = "yes"
    looks = True
    if asked is not None:
        low, high = (side[k] for side in source.regions.along(asked.rows))
        meets = "yes" if np.all(low >= asked.level) else "no" if np.any(high < asked.level) else "open"
        looks = bool(asked.met(source.centre[k : k + 1])[0])
    inner = np.tile(source.centre[k], (3, 1))
    inner[1:, on] = source.regions.ends[k, on]
    # An end that is not known stays so in any units.
    value, *ends = np.where(np.isinf(inner), inner, source.units.outer(inner))[:, on].tolist()
    return Candidate(source.labels.arms[k], value, (ends[0], ends[1]), meets, looks)


def _in_words(
    source: Source,
    best: Candidate | None,
    found: Sequence[Candidate],
    rivals: Sequence[str],
    clear: bool,
    asked: Limits | None,
    on: int,
) -> str:
    name = source.labels.objectives[on]
    among = f"the {plural(len(found), 'option')} listed" if len(found) != 1 else "the 1 option listed"
    such = "" if asked is None else f" with {' and '.join(asked.words)}"
    if not found:
        return "No option is listed."
    if best is None:
        said = f"None of {among} looks like one{such}."
    else:
        most = "lowest" if name in source.labels.minimise else "highest"
        said = f"{best.name}: {name} {number(best.value)}, the {most} of {among}{such}."
    if clear:
        return f"{said} That is clear, with a probability of at least {100 * (1 - source.delta):g} %."
    if not source.known:
        return f"{said} By the estimates alone: for this threshold and family nothing is said about how clear it is."
    doubts = []
    if best is not None and best.meets != "yes":
        doubts.append(f"{best.name} may miss a limit" if best.meets == "open" else f"{best.name} misses a limit")
    if rivals:
        doubts.append(f"it may be {' or '.join(rivals)}" + (" instead" if best is not None else ""))
    return f"{said} That is not clear yet: {', and '.join(doubts)}."


def require_source(source: Any) -> Any:
    """Refuse an answer that was taken out of its experiment."""
    if source is None:
        raise InputError("best needs the estimates: ask the experiment or the study that the answer is from")
    return source
