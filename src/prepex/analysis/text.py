"""An analysis in words, as a document and as a frame."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from prepex.analysis.analyse import Analysis, Arm
from prepex.analysis.guess import name_of
from prepex.family import LogNormal
from prepex.numerals import first_few, measured, number, plural
from prepex.standing import chance_meaning, spared
from prepex.tolerance import as_given
from prepex.tolerance import in_words as tolerance_words

STATE = {"in": "in", "out": "out", "open": "open", None: "-"}
# Options with a line of their own below the table.
MOST = 12


def cell(mean: float, spread: float, factor: bool, n: int = 1) -> str:
    """A mean to what n trials say of it, and the spread of single ones beside it.

    >>> cell(61.234, 2.5, False), cell(61.234, 2.5, False, 5000), cell(3.1, 1.25, True), cell(3.1, math.nan, False)
    ('61.2 ± 2.5', '61.23 ± 2.5', '3.1 times/over 1.25', '3.1')
    """
    if math.isnan(spread):
        return number(mean)
    if factor:
        return f"{number(mean)} times/over {number(spread, 3)}"
    return measured(mean, spread, sure=spread / math.sqrt(n)) if spread > 0.0 else number(mean)


def rows(found: Analysis) -> list[list[str]]:
    """Of the table: option, n, each objective, state, probability, on the front."""
    logs = [isinstance(guess.family, LogNormal) for guess in found.families]
    return [
        [
            arm.name,
            f"{arm.n:,}",
            *(cell(mean, spread, log, arm.n) for mean, spread, log in zip(arm.mean, arm.spread, logs, strict=True)),
            "yes" if arm.front else "",
            STATE[arm.state],
            "" if arm.probability is None else chance(arm.probability),
        ]
        for arm in found.arms
    ]


def heads(found: Analysis) -> list[str]:
    """Above the rows."""
    signs = [f"{name} ({'min' if name in found.minimise else 'max'})" for name in found.objectives]
    return ["option", "n", *signs, "looks optimal", "state", "probability"]


def chance(probability: float) -> str:
    """To what a few thousand draws can tell.

    >>> chance(0.9999), chance(0.0), chance(0.256)
    ('> 0.99', '< 0.01', '0.26')
    """
    if probability > 0.99:
        return "> 0.99"
    return "< 0.01" if probability < 0.01 else f"{probability:.2f}"


def sentences(found: Analysis) -> list[str]:
    """What follows from the table, most important first."""
    words = [f"Looks Pareto optimal: {', '.join(found.pareto_set) or 'none'}."]
    open_ones = [arm.name for arm in found.arms if arm.state == "open"]
    if found.given is None:
        return [*words, *found.notes]
    if found.settled:
        words.append(f"Every option is settled at delta {found.delta:g}.")
    else:
        certain = [f"{n} {state}" for state, n in _tally(found.arms).items()]
        words.append(f"At delta {found.delta:g}: {', '.join(certain)}. Open: {first_few(open_ones, MOST)}.")
        if found.next_trials:
            words.append(f"Measure next: {in_turn(found.next_trials)}.")
        words.append(forecast_words(found))
        if found.tolerance:
            size = tolerance_words(tuple(found.tolerance.values()), tuple(found.tolerance))
            words.append(f"If differences of up to {size} do not matter, the front is settled already{_large(found)}.")
        if found.rates:
            words.append(f"If {found.rates}, every option is settled already.")
    return words


def _large(found: Analysis) -> str:
    """Said of a tolerance that would settle everything because it is larger than most of what differs."""
    within, pairs = 0, 0
    for q, name in enumerate(found.objectives):
        size = (found.tolerance or {}).get(name)
        for one, other in combinations([arm.mean[q] for arm in found.arms], 2) if size is not None else ():
            pairs += 1
            if isinstance(size, str):
                within += max(one, other) <= min(one, other) * (1.0 + float(size[:-1]) / 100.0)
            else:
                within += abs(one - other) <= float(size or 0.0)
    if 2 * within <= pairs:
        return ""
    return f"; but that is {'nearly every difference' if 5 * within >= 4 * pairs else 'most differences'} here"


def in_short(found: Analysis) -> str:
    """How many options, and how they stand."""
    tally = ", ".join(f"{n} {state}" for state, n in _tally(found.arms).items())
    return plural(len(found.arms), "option") + (f", {tally}" if tally else "")


def asked(found: Analysis) -> str:
    """What was asked: cone, tolerance, limits, delta; nothing of single values, where only the cone counts.

    >>> from prepex import analyse
    >>> rows = {"arm": ["a", "b"] * 20, "gain": [3.0, 1.0, 3.2, 1.1] * 10}
    >>> words = asked(analyse(rows, family="gaussian(0.04)", tolerance=0.5))
    >>> words.partition("), ")[2]
    'tolerance 0.5 in gain, no limits, delta 0.05 (the risk that something said is wrong).'
    """
    if found.given is None:
        return ""
    settings = found.given.settings
    words = settings.cone.words(found.objectives, minimise=found.minimise)
    better = words[0].lower() + words[1:].rstrip(".")
    tolerance = "no tolerance (every difference matters)"
    if settings.tolerance is not None:
        eps = as_given(settings.tolerance, settings.setting().units)
        tolerance = f"tolerance {tolerance_words(eps, found.objectives)}"
    limits = "no limits" if settings.limits is None else f"limits {', '.join(settings.limits.words)}"
    risk = f"delta {found.delta:g} (the risk that something said is wrong)"
    return f"Asked: cone {settings.cone.name or 'of facets'} ({better}), {tolerance}, {limits}, {risk}."


def legend(found: Analysis) -> str:
    """What stands behind a mean; nothing where there are no spreads."""
    logs = [isinstance(guess.family, LogNormal) for guess in found.families]
    parts = [] if all(logs) else ["behind ± is the standard deviation of single trials"]
    if any(logs):
        parts.append("behind times/over is the same as a factor, on the log scale, where the mean is geometric")
    whole = "; ".join(parts) if any(arm.n > 1 for arm in found.arms) else ""
    said = [whole, _probability(found)]
    return " ".join(f"{part[0].upper()}{part[1:]}." for part in said if part)


def _probability(found: Analysis) -> str:
    """What the last column is, where a tolerance makes it another thing."""
    if found.given is None or found.given.settings.tolerance is None:
        return ""
    known = [arm for arm in found.arms if arm.state is not None and arm.probability is not None]
    chances = [arm.probability or 0.0 for arm in known]
    out = spared([arm.name for arm in known], [arm.state or "" for arm in known], chances, True)
    return f"probability: {chance_meaning(True, out)}"


def changes(found: Analysis) -> list[str]:
    """The closest change of each option, those that are open first; of many only the first, and how many more."""
    order = {"open": 0, "in": 1, "out": 2, None: 3}
    listed = [arm.change for arm in sorted(found.arms, key=lambda arm: order[arm.state]) if arm.change]
    left = len(listed) - MOST
    return [*listed[:MOST], f"and {left} more (--format json has all)"] if left > 0 else listed


def forecast_words(found: Analysis) -> str:
    """How many more trials it takes."""
    if found.forecast is None:
        return "How many more trials it takes is not known yet."
    return found.forecast.words


def in_turn(names: Sequence[str]) -> str:
    """Options as often as they come.

    >>> in_turn(("b", "a", "b"))
    'b (2 times), a'
    """
    return ", ".join(name if n == 1 else f"{name} ({n} times)" for name, n in Counter(names).items())


def in_words(found: Analysis) -> str:
    """The whole as plain text."""
    table = [heads(found), *rows(found)]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in table]
    lines += ["", *sentences(found), *filter(None, [asked(found), legend(found)])]
    lines += [f"- {words}" for words in changes(found)]
    if found.given is not None:
        lines += [f"{name}: {guess.words}" for name, guess in zip(found.objectives, found.families, strict=True)]
        lines += list(found.notes)
    return "\n".join([*lines, found.guarantee])


def document(found: Analysis) -> dict[str, Any]:
    """As JSON can write it."""
    return {
        "source": found.source,
        "objectives": list(found.objectives),
        "minimise": list(found.minimise),
        "delta": found.delta,
        **_design(found),
        "families": {
            name: {"family": name_of(guess.family), "reason": guess.reason, "sure": guess.sure}
            for name, guess in zip(found.objectives, found.families, strict=True)
        },
        "arms": [
            {
                "name": arm.name,
                "n": arm.n,
                "mean": dict(zip(found.objectives, arm.mean, strict=True)),
                "spread": {
                    name: None if math.isnan(value) else value
                    for name, value in zip(found.objectives, arm.spread, strict=True)
                },
                "state": arm.state,
                "looks_optimal": arm.front,
                "probability": arm.probability,
                "change": arm.change,
            }
            for arm in found.arms
        ],
        "pareto_set": list(found.pareto_set),
        "settled": found.settled,
        "next_trials": list(found.next_trials),
        "forecast": None if found.forecast is None else found.forecast.to_document(),
        "tolerance_that_settles": found.tolerance,
        "rates_that_settle": found.rates,
        "notes": list(found.notes),
        "guarantee": found.guarantee,
    }


def _design(found: Analysis) -> dict[str, Any]:
    """What else was asked."""
    if found.given is None:
        return {}
    settings = found.given.settings
    eps = settings.tolerance
    return {
        "cone": settings.cone.name,
        "facets": settings.cone.facets.tolist(),
        "tolerance": None
        if eps is None
        else dict(zip(found.objectives, as_given(eps, settings.setting().units), strict=True)),
        "limits": [] if settings.limits is None else list(settings.limits.words),
    }


def frame(found: Analysis) -> Any:
    """A row for each option."""
    from prepex.extras import need

    need("frame", "frames need", "pandas")
    import pandas as pd

    data: dict[str, Any] = {"option": [arm.name for arm in found.arms], "n": [arm.n for arm in found.arms]}
    for q, name in enumerate(found.objectives):
        data[name] = [arm.mean[q] for arm in found.arms]
        data[f"{name} spread"] = [arm.spread[q] for arm in found.arms]
    data["looks_optimal"] = [arm.front for arm in found.arms]
    data["state"] = [arm.state for arm in found.arms]
    data["probability"] = [arm.probability for arm in found.arms]
    return pd.DataFrame(data).set_index("option")


def _tally(arms: Sequence[Arm]) -> dict[str, int]:
    found = Counter(STATE[arm.state] for arm in arms)
    return {state: found[state] for state in ("in", "out", "open") if found[state]}
