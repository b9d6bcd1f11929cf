"""All that a page about a study shows, as a JSON document: design, arms with their regions, pulls that are out."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from prepex.experiment import Experiment
from prepex.family import Gaussian
from prepex.region import radius
from prepex.study.answers import Status
from prepex.study.line import Line, Pull
from prepex.study.state import State

# Pulls that are listed one by one.
MOST = 200
LEFT_OUT = ("recommendation", "counts", "means", "objectives", "incomplete")


def make_picture(state: State, status: Status, why: str) -> dict[str, Any]:
    """A study at one position of its log."""
    experiment, line, lease = state.experiment, state.line, state.config.lease
    number = {name: value for name, value in asdict(status).items() if name not in LEFT_OUT}
    pulls = [_pull(line, pull, experiment.labels.arms, lease) for pull in line.pulls.values()]
    answer = asdict(status.recommendation)
    return number | {
        "answer": answer | {"done": status.done},
        "why": why,
        "design": design(experiment, lease),
        "arms": arms(experiment, line),
        "pulls": pulls[:MOST],
        "n_listed": len(pulls),
    }


def design(experiment: Experiment, lease: float | None) -> dict[str, Any]:
    """What was fixed. Facets are for outcomes in the user's signs; covariances (1 or K, L, L)."""
    settings, labels = experiment.settings(), experiment.labels
    assert isinstance(experiment.family, Gaussian)
    shape = len(labels.arms), len(labels.objectives)
    return {
        "objectives": labels.objectives,
        "minimise": labels.minimise,
        "covariance": experiment.family.covariances(*shape).tolist(),
        "cone": settings["cone"]["name"],
        "facets": (experiment.setting.cone.facets * labels.signs).tolist(),
        "delta": experiment.delta,
        "rule": settings["sampling"]["name"],
        "threshold": settings["threshold"]["name"],
        "proven": experiment.setting.threshold.proven and experiment.setting.rule.alternatives == "complete",
        "seed": experiment.seed,
        "max_pulls": experiment.max_pulls,
        "max_pending": experiment.max_pending,
        "lease": lease,
    }


def arms(experiment: Experiment, line: Line) -> list[dict[str, Any]]:
    """Each arm: outcomes, pulls that keep their place, mean, radius of its region, and how it stands."""
    labels, counts, answer = experiment.labels, experiment.counts, experiment.recommendation
    sizes, means = radius(counts, len(labels.objectives), experiment.delta), experiment.means
    front, decided = set(answer.arms), set(answer.decided)
    return [
        {
            "name": name,
            "n": int(counts[k]),
            "pending": line.pending[k],
            "mean": means[k].tolist() if counts[k] else None,
            "radius": float(sizes[k]) if np.isfinite(sizes[k]) else None,
            "front": name in front,
            "decided": name in decided,
        }
        for k, name in enumerate(labels.arms)
    ]


def _pull(line: Line, pull: Pull, names: tuple[str, ...], lease: float | None) -> dict[str, Any]:
    until = None
    if lease is not None:
        until = (datetime.fromisoformat(pull.time) + timedelta(seconds=lease)).isoformat(timespec="microseconds")
    state = "late" if pull.lapsed else "waits" if line.complete(pull) else "partly told" if pull.values else "out"
    return {
        "token": pull.token,
        "arm": names[pull.arm],
        "actor": pull.actor,
        "since": pull.time,
        "until": until,
        "told": dict(pull.values),
        "state": state,
    }
