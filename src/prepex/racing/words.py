"""The answer of a race in words: which options are worth keeping, and what each gives for what it takes."""

import math
from collections.abc import Mapping
from itertools import pairwise

from prepex.numerals import first_few, number, plural
from prepex.racing.view import Row, Value, View

# (less, more) of a measure.
COMPARED = {
    "time": ("faster", "slower"),
    "cpu": ("less processor time", "more processor time"),
    "memory": ("less memory", "more memory"),
    "output": ("smaller", "larger"),
    "exit": ("less often successful", "more often successful"),
}


def compared(name: str, one: Value, other: Value) -> str | None:
    """What an option is, beside another, in one measure; None: the same.

    >>> fast, slow = (Value(mean, 0.01, "s", True, False) for mean in (1.0, 2.1))
    >>> compared("time", fast, slow), compared("loss", slow, fast), compared("time", fast, fast)
    ('2.1x faster', 'loss 2.1x as high', None)
    >>> compared("memory", *(Value(mean, 1e-5, "B", True, False) for mean in (1.00002, 1.0)))
    '1.00002x more memory'
    """
    if math.isclose(one.mean, other.mean, rel_tol=1e-9, abs_tol=0.0):
        return None
    less, more = COMPARED.get("output" if name.startswith("size:") else name, ("", ""))
    high, low = max(one.mean, other.mean), min(one.mean, other.mean)
    word = less if one.mean < other.mean else more
    if low > 0.0:
        ratio = high / low
        # Next to 1 with two digits of what is above it.
        size = f"{number(ratio, 2) if ratio >= 1.1 else number(1.0 + float(f'{ratio - 1.0:.1e}'), 12)}x"
        if word:
            return f"{size} {word}"
        return f"{name} {size} as {'high' if one.mean > other.mean else 'low'}"
    difference = number(high - low, 3)
    return f"{difference} {word}" if word else f"{name} {difference} {'higher' if one.mean > other.mean else 'lower'}"


def between(row: Row, other: Row, objectives: tuple[str, ...]) -> str:
    """One option beside another."""
    parts = [
        words
        for name, one, two in zip(objectives, row.values, other.values, strict=True)
        if one is not None and two is not None and (words := compared(name, one, two)) is not None
    ]
    if not parts:
        return f"the same as {other.option}"
    first, *rest = parts
    return ", ".join(
        [f"{first} than {other.option}" if not first.endswith(("high", "low")) else f"{first} as {other.option}", *rest]
    )


def answer_words(view: View) -> list[str]:
    """A line for each option of the answer, each beside the one before it in the order of the first objective."""
    front = [row for row in view.front if row.values and row.values[0] is not None]
    if not front:
        return []
    least = view.objectives[0] in view.minimise
    front.sort(key=lambda row: (row.values[0].mean if row.values[0] else 0.0) * (1 if least else -1))
    best = front[0]
    numbers = ", ".join(
        f"{name} {value.words}" for name, value in zip(view.objectives, best.values, strict=True) if value is not None
    )
    lines = [f"{best.option}: {numbers}"]
    lines += [f"{row.option}: {between(row, before, view.objectives)}" for before, row in pairwise(front)]
    return lines


def verdict(view: View) -> str:
    """What it came to, in a sentence."""
    if view.status is None:
        return f"Not settled: {view.left}."
    answer = view.status.recommendation
    kept, runs = f"{len(answer.arms)} of {len(view.rows)} options", plural(view.n, "run")
    if view.done:
        word = "is" if len(answer.arms) == 1 else "are"
        return f"Settled after {runs}: {kept} {word} worth keeping ({answer.status}, delta {answer.delta:g})."
    open_ = sum(row.state == "open" for row in view.rows)
    looks, word = "looks" if len(answer.arms) == 1 else "look", "is" if open_ == 1 else "are"
    return f"Not settled after {runs}: {kept} {looks} worth keeping, {open_} {word} open; {view.left}."


def tie_words(view: View) -> list[str]:
    """With a tolerance: who is level with whom, and who was left out though as good within it."""
    if view.status is None:
        return []
    ties = view.status.recommendation.near_ties
    lines = [f"Level within the tolerance: {first_few([f'{one} and {other}' for one, other in ties])}."] if ties else []
    if also := view.status.recommendation.covered:
        pairs = first_few([f"{one} ({other})" for one, other in also])
        lines.append(
            f"Kept, though another that is kept is at least as good in everything, within the tolerance: {pairs}."
        )
    spared = [row.option for row in view.rows if row.state == "out" and (row.probability or 0.0) > 0.5]
    if view.done and spared:
        why = "as one that is kept is at least as good, within the tolerance, in everything"
        lines.append(f"Left out, {why}: {first_few(spared)}.")
    if ties and not view.done:
        kept = {*view.status.recommendation.arms, *(name for tie in ties for name in tie)}
        near = [row.option for row in view.rows if row.option not in kept and (row.probability or 0.0) > 0.5]
        if near:
            lines.append(f"Probably as good within the tolerance as one that looks worth keeping: {first_few(near)}.")
    return lines


def failure_words(failures: Mapping[str, list[str]]) -> list[str]:
    """A line for each option that failed.

    >>> failure_words({"a": ["it ended with exit status 1; it printed nothing"]})
    ["Failed 1 time: 'a', at last: it ended with exit status 1; it printed nothing"]
    """
    return [
        f"Failed {len(words)} time{'s' if len(words) > 1 else ''}: {option!r}, at last: {words[-1]}"
        for option, words in failures.items()
    ]
