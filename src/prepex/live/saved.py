"""The state of an experiment as bytes, exactly, and back; what it was told as a document. All by position."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from prepex import _checks, document, snapshots
from prepex._kernels import course as kernels
from prepex.errors import InputError
from prepex.labels import Labels
from prepex.live.conclusion import states_of
from prepex.live.progress import Progress
from prepex.live.recommendation import Recommendation
from prepex.live.told import Told


def log_document(progress: Progress) -> list[Any]:
    """Everything told."""
    if progress.before:
        raise InputError(f"to_json needs everything told, got only what was told since pull {progress.before}")
    return [told.row for told in progress.log]


def read_log(log: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Arms, rewards and sizes of what `log_document` wrote.

    >>> read_log([[0, 1.5], {"arm": 1, "n": 9, "mean": [0.5]}])
    ([0, 1], [[1.5], [0.5]], [1, 9])
    """
    told = [(row["arm"], row["mean"], row["n"]) if isinstance(row, dict) else (row[0], row[1:], 1) for row in log]
    return [row[0] for row in told], [row[1] for row in told], [row[2] for row in told]


def snapshot(progress: Progress) -> bytes:
    """The numbers of the state."""
    course, stopped, seen = progress.course, progress.stopped, progress.seen
    head = {
        "n_pulls": progress.n_pulls,
        "stopped": None if stopped is None else asdict(stopped),
        # Before every arm was tried, what was told is the state.
        "log": [told.row for told in progress.log] if course is None else [],
    } | ({"seen": seen} if progress.setting.posterior and np.isfinite(seen) else {})
    return snapshots.pack(head, [] if course is None else kernels.leaves(course))


def restored(progress: Progress, snapshot: bytes) -> Progress:
    """Another one with the same settings, at the snapshot."""
    labels, found = progress.labels, progress.fresh()
    with document.damaged():
        given, numbers = snapshots.unpack(snapshot)
        if given["arrays"]:
            zeros = np.zeros((len(labels.arms), len(labels.objectives)))
            found.course = progress.setting.open(zeros, progress.delta)
            snapshots.write_into(kernels.leaves(found.course), given, numbers)
        if given["stopped"] is not None:
            found.stopped = _read_answer(given["stopped"], labels)
        n_objectives, last = ("n_objectives", len(labels.objectives)), len(labels.arms) - 1
        found.log = [
            Told(_checks.whole("arm", arm, low=0, high=last), _checks.real_array("reward", reward, n_objectives))
            for arm, *reward in given["log"]
        ]
        found.n_pulls = _checks.whole("n_pulls", given["n_pulls"], low=len(found.log))
        found.before = found.n_pulls - len(found.log)
        found.seen = float(given.get("seen", -np.inf))
    return found


def _read_answer(given: Any, labels: Labels) -> Recommendation:
    fields: dict[str, Any] = dict(given)
    fields |= {name: tuple(fields[name]) for name in ("arms", "decided", "undecided")}
    for name in ("near_ties", "covered"):
        fields[name] = tuple((one, other) for one, other in fields.get(name, ()))
    decided = {k for k, name in enumerate(labels.arms) if name in fields["decided"]}
    fields["states"] = states_of(labels.arms, fields["arms"], decided)
    chances = fields.get("probabilities")
    fields["probabilities"] = None if chances is None else tuple(chances)
    return Recommendation(**fields)
