"""All that a page about a study shows, as a JSON document: design, arms with their regions, pulls that are out."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from prepex._checks import Floats
from prepex._kernels.laws.fresh import LawFresh
from prepex.experiment import Experiment
from prepex.family import Gaussian
from prepex.family.words import family_words
from prepex.limits import Limits
from prepex.region import intervals, radius
from prepex.study.answers import Status
from prepex.study.line import Line
from prepex.study.state import State
from prepex.study.summary import list_pulls

# Pulls that are listed one by one.
MOST = 200
LEFT_OUT = ("recommendation", "counts", "means", "states", "probabilities", "objectives", "incomplete")


def make_picture(state: State, status: Status, why: str) -> dict[str, Any]:
    """A study at one position of its log."""
    experiment, line = state.experiment, state.line
    number = {name: value for name, value in asdict(status).items() if name not in LEFT_OUT}
    number["forecast"] = None if status.forecast is None else status.forecast.to_document()
    answer = asdict(status.recommendation)
    return number | {
        "answer": answer | {"done": status.done},
        "why": why,
        "design": design(experiment, state.config.lease),
        "arms": arms(experiment, line),
        "pulls": [asdict(pull) for pull in list_pulls(state, MOST)],
        "n_listed": len(line.pulls),
    }


def design(experiment: Experiment, lease: float | None) -> dict[str, Any]:
    """What was fixed. Facets are for outcomes in the user's signs, and logarithms of those in `logs`; covariances
    (1 or K, L, L), None if not known."""
    settings, labels, laws = experiment.settings(), experiment.labels, experiment.setting.laws
    limits = experiment.setting.limits
    return {
        "objectives": labels.objectives,
        "minimise": labels.minimise,
        "logs": [labels.objectives[q] for q in experiment.setting.units.logs],
        "family": repr(experiment.family),
        "outcomes": family_words(experiment.family, labels.objectives),
        "kinds": ["Gaussian"] * len(labels.objectives) if laws is None else laws.names,
        "covariance": None if laws is not None else _covariances(experiment).tolist(),
        "cone": settings["cone"]["name"],
        "facets": (experiment.setting.cone.facets * labels.signs).tolist(),
        "limits": [] if limits is None else _limits(limits, labels.objectives),
        "avoid_infeasible": settings.get("avoid_infeasible", False),
        "tolerance": None if experiment.tolerance is None else list(experiment.tolerance),
        "delta": experiment.delta,
        "rule": settings["sampling"]["name"],
        "threshold": settings["threshold"]["name"],
        "proven": experiment.setting.threshold.proven and experiment.setting.rule.alternatives == "complete",
        "prior": settings["threshold"].get("prior"),
        "seed": experiment.seed,
        "max_pulls": experiment.max_pulls,
        "max_pending": experiment.max_pending,
        "lease": lease,
    }


def promise_words(design: dict[str, Any]) -> str:
    """What a study's threshold promises.

    >>> promise_words({"threshold": "heuristic", "proven": False})
    'no proof bounds its error'
    """
    if not design["proven"]:
        return "no proof bounds its error"
    if design["threshold"] != "posterior":
        return "proven"
    return f"proven on average over {'a flat prior' if design['prior'] is None else 'your prior'}, not for each truth"


def _limits(limits: Limits, objectives: Sequence[str]) -> list[dict[str, Any]]:
    """Each in words, and as a line to draw: weights (L,) whose sum with the means is `value` on it."""
    written = limits.to_document(objectives)
    return [
        {"words": words, "weights": entry["weights"], "value": entry["at_most" if "at_most" in entry else "at_least"]}
        for words, entry in zip(limits.words, written, strict=True)
    ]


def arms(experiment: Experiment, line: Line) -> list[dict[str, Any]]:
    """Each arm: outcomes, pulls that keep their place, mean, its region, how it stands, and its probability of being
    optimal, None if that is not known yet.

    The region is an ellipsoid with a radius in standard deviations if the covariance is known; `interval` has the ends
    of its shadow on every objective.
    """
    labels, counts, answer = experiment.labels, experiment.counts, experiment.recommendation
    means, (sizes, ends) = experiment.means, _regions(experiment)
    front, chances = set(answer.arms), experiment.probabilities
    return [
        {
            "name": name,
            "n": int(counts[k]),
            "pending": line.pending[k],
            "mean": means[k].tolist() if counts[k] else None,
            "radius": float(sizes[k]) if np.isfinite(sizes[k]) else None,
            "interval": ends[k].tolist() if np.isfinite(ends[k]).all() else None,
            "front": name in front,
            "decided": answer.states[k] != "open",
            "state": answer.states[k],
            "probability": None if chances is None else float(chances[k]),
            "reason": answer.reasons.get(name),
        }
        for k, name in enumerate(labels.arms)
    ]


def _regions(experiment: Experiment) -> tuple[Floats, Floats]:
    """(radii (K,), ends of intervals (K, L, 2)); not finite where there is no region."""
    shape = len(experiment.labels.arms), len(experiment.labels.objectives)
    if experiment.setting.laws is None:
        sizes = radius(experiment.counts, shape[1], experiment.delta)
        spread = np.sqrt(np.diagonal(_covariances(experiment), axis1=1, axis2=2))
        half = sizes[:, None] * spread
        return sizes, np.stack([experiment.means - half, experiment.means + half], axis=2)
    course = experiment.course
    unknown = np.full(shape[0], np.nan)
    if course is None or not isinstance(course.fresh, LawFresh) or not experiment.setting.certified:
        return unknown, np.full((*shape, 2), np.nan)
    ends = intervals(course, experiment.delta)
    return unknown, np.swapaxes(experiment.setting.units.outer(np.swapaxes(ends, 1, 2)), 1, 2)


def _covariances(experiment: Experiment) -> Floats:
    assert isinstance(experiment.family, Gaussian)
    return experiment.family.covariances(len(experiment.labels.arms), len(experiment.labels.objectives))
