"""Why an experiment goes on, or what it answered, in words."""

from prepex.live.conclusion import is_proven
from prepex.live.progress import Progress
from prepex.live.recommendation import Recommendation
from prepex.numerals import first_few, plural
from prepex.reasons import in_words as breaking_words
from prepex.standing import MOST_NAMED, looks_words, states_words, tied_words
from prepex.ties import find_tie
from prepex.tolerance import as_given, in_words


def why(progress: Progress, ahead: str) -> str:
    """All of it; `ahead` says how long it will take, if that is known."""
    if progress.stopped is not None:
        return _why_stopped(progress, progress.stopped)
    pulls = plural(progress.n_pulls, "pull")
    if progress.course is None:
        left = first_few(progress.untried, MOST_NAMED)
        return f"{pulls}: every option must be tried once first. Not yet: {left}."
    said = progress.standing().in_words(_state_words(progress, progress.answer))
    return f"{pulls}. {said}{ahead and f' {ahead}'}{_tie_words(progress)}"


def tolerance_of(progress: Progress) -> tuple[float | str, ...] | None:
    """Differences that do not matter, as they were given."""
    eps = progress.settings.tolerance
    return None if eps is None else as_given(eps, progress.setting.units)


def warning_of(progress: Progress) -> str | None:
    """About a tolerance that makes the question empty so far."""
    if progress.course is None or not progress.standing().all_equal:
        return None
    return tied_words((), True)[0]


def _state_words(progress: Progress, answer: Recommendation) -> str:
    """Which arms are in, out and open, and how likely the open ones are optimal."""
    given = progress.labels.arms, answer.states, answer.probabilities, progress.delta
    return states_words(*given, is_proven(progress.setting), progress.settings.tolerance is not None)


def _tie_words(progress: Progress) -> str:
    """Who is nearly tied, if that is what holds it up."""
    tie = find_tie(progress.standing())
    return "" if tie is None else f" {tie.words}"


def _why_stopped(progress: Progress, answer: Recommendation) -> str:
    """What ended it and what it answered; after a budget also all that is missing."""
    by_budget, later = answer.status == "inconclusive", progress.n_pulls - answer.n_pulls
    cause = f" by the budget of {progress.max_pulls:,}" if by_budget else ""
    after = f"Stopped after {plural(answer.n_pulls, 'pull')}"
    parts = [f"{after}{cause}: {answer.status} at delta {progress.delta:g}."]
    limits, tolerance = progress.setting.limits, tolerance_of(progress)
    empty = limits is not None and not by_budget
    if (answer.arms or empty) and (later or not by_budget):
        looked = "Pareto optimal" if answer.status in ("certified", "posterior") else "Looked Pareto optimal"
        looked += "" if tolerance is None else " within the tolerance"
        parts.append(f"{looks_words(looked, answer.arms, limits)}.")
        parts += breaking_words(answer.reasons)
        if tolerance is not None and not by_budget:
            size = in_words(tolerance, progress.labels.objectives)
            meet = "" if limits is None else " that meets the limits"
            parts.append(
                f"No option{meet} is ahead of a listed one by more than the tolerance ({size}) in everything at once, "
                f"and every option left out{meet} is matched by a listed one within it."
            )
        parts += tied_words(answer.near_ties, warning_of(progress) is not None, answer.covered)
    if answer.undecided:
        parts.append(_state_words(progress, answer))
    if later:
        told = "outcome told since then does" if later == 1 else f"{later:,} outcomes told since then do"
        parts.append(f"The {told} not change the answer.")
    if by_budget and progress.course is None:
        parts.append(f"Never tried: {', '.join(progress.untried)}.")
    elif by_budget:
        now = f"After {plural(progress.n_pulls, 'pull')}: " if later else ""
        parts.append(now + progress.standing().in_words() + _tie_words(progress))
    return " ".join(parts)
