"""How a study stands, from its state."""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import Any

import numpy as np

from prepex.noise import NoiseCheck, check_noise
from prepex.numerals import plural
from prepex.standing import chance_meaning, spared
from prepex.study.answers import Observation, OpenPull, Overview, Status
from prepex.study.certificate import make_certificate
from prepex.study.draft import Case
from prepex.study.events import Event, trusted
from prepex.study.handout import blocker
from prepex.study.line import Entry, Line, list_entries
from prepex.study.log import Log
from prepex.study.state import State
from prepex.study.words import later


def make_status(name: str, state: State) -> Status:
    """The numbers."""
    experiment, line, labels = state.experiment, state.line, state.experiment.labels
    counts = experiment.counts
    means = [tuple(row) if n else None for n, row in zip(counts, experiment.means.tolist(), strict=True)]
    reached, answer = experiment.reached, experiment.recommendation
    chances, lenient = experiment.probabilities, experiment.tolerance is not None
    incomplete: dict[str, int] = {}
    for pull in line.pulls.values():
        if pull.values and not line.complete(pull):
            incomplete[labels.arms[pull.arm]] = incomplete.get(labels.arms[pull.arm], 0) + 1
    tally = line.tally
    return Status(
        name=name,
        recommendation=answer,
        n_pulls=experiment.n_pulls,
        counts=dict(zip(labels.arms, counts.tolist(), strict=True)),
        means=dict(zip(labels.arms, means, strict=True)),
        states=dict(zip(labels.arms, answer.states, strict=True)),
        meaning=experiment.meaning,
        probabilities=None if chances is None else dict(zip(labels.arms, chances.tolist(), strict=True)),
        chances=chance_meaning(lenient, spared(labels.arms, answer.states, answer.probabilities, lenient)),
        objectives=labels.objectives,
        reached=reached if np.isfinite(reached) else None,
        needed=experiment.needed,
        forecast=experiment.known_forecast,
        out=line.out(),
        incomplete=incomplete,
        waiting=line.waiting(),
        blocker=blocker(state),
        lapsed=sum(pull.lapsed for pull in line.pulls.values()),
        voided=tally["voided"],
        corrected=tally["corrected"],
        late=tally["late"],
        imported=tally["imported"],
        events=state.position + 1,
        head=state.head,
        clock=_clock(state),
        warning=experiment.warning,
    )


def _clock(state: State) -> str | None:
    if state.jump is None:
        return None
    position, before, after = state.jump
    way = "ahead" if after > before else "back"
    return f"the time jumped {way} at event {position}, from {before[:19]} to {after[:19]} (UTC)"


def list_pulls(state: State, most: int | None = None) -> list[OpenPull]:
    """The pulls that have not entered, or the first of them, in the order in which they were asked for."""
    line, arms, lease = state.line, state.experiment.labels.arms, state.config.lease
    found = []
    for pull in islice(line.pulls.values(), most):
        until = None if lease is None else later(pull.time, lease)
        standing = (
            "late" if pull.lapsed else "waits" if line.complete(pull) else "partly told" if pull.values else "out"
        )
        told = dict(pull.values)
        found.append(OpenPull(pull.token, arms[pull.arm], pull.actor, pull.time, until, pull.n, told, standing))
    return found


def explain(name: str, state: State) -> str:
    """The same in words."""
    words, status = state.experiment.why(), make_status(name, state)
    if status.blocker is not None:
        b = status.blocker
        by = f" by {b.actor}" if b.actor else ""
        told = plural(status.waiting, "told outcome waits", "told outcomes wait")
        words += f" {told} for the pull {b.token} of {b.arm}, asked for{by} at {b.since}: tell it, or void it."
    if status.clock is not None and state.config.lease is not None:
        words += f" Mind that {status.clock}: leases go by it."
    return words


def certify(state: State, log: Log) -> dict[str, Any]:
    """The answer with all that it rests on."""
    experiment, stopped = state.experiment, state.experiment.recommendation
    if experiment.n_pulls > stopped.n_pulls:
        # More was told after the stop: back to the state that gave the answer.
        experiment = state.fresh_experiment(_first(all_entries(state, log).values(), stopped.n_pulls))
    return make_certificate(state.config, experiment, state.position, state.head)


def _first(entries: Iterable[Entry], n: int) -> Iterator[Entry]:
    """The first n outcomes. A stop is never inside a summary."""
    for entry in entries:
        if n <= 0:
            return
        yield entry
        n -= entry.n


def all_entries(state: State, log: Log) -> dict[int, Entry]:
    """Every outcome that has entered, from the log."""
    labels = state.experiment.labels
    return list_entries(Line(labels.objectives, len(labels.arms)), log.since(-1))


@trusted()
def list_observations(log: Log, first: int, last: int) -> list[Observation]:
    """The pulls asked for at the positions first ... last of the log."""
    born = log.at(0)
    assert born is not None
    labels = born.data["settings"]["labels"]
    found = []
    for _, group in groupby(log.of_pulls(first, last), key=lambda event: event.pull):
        events = list(group)
        case, asked = Case(events), events[0]
        told = [event for event in events if "outcome" in event.data]
        state = "out" if not case.lapsed else "lapsed"
        if case.voided is not None:
            case.values, state = {}, "voided"
        elif case.values:
            state = "told" if len(case.values) == len(labels["objectives"]) else "partly"
        by, when = (told[-1].actor, told[-1].time) if told else (None, None)
        arm = labels["arms"][case.arm]
        found.append(Observation(case.pull, arm, state, case.n, case.values, asked.time, asked.actor, when, by))
    return found


def noise_of(state: State, log: Log) -> NoiseCheck:
    """The check of the noise, on the outcomes that were told one by one, in the order of asking."""
    labels = state.experiment.labels
    rows = [
        row
        for row in list_observations(log, 0, state.position)
        if row.state == "told" and row.n == 1 and len(row.values) == len(labels.objectives)
    ]
    who = np.array([labels.arms.index(row.arm) for row in rows], dtype=np.int64)
    values = np.array([[row.values[name] for name in labels.objectives] for row in rows], dtype=np.float64)
    tellers = [row.told_by or "" for row in rows]
    table = values.reshape(len(rows), len(labels.objectives))
    return check_noise(who, table, labels=labels, family=state.experiment.family, tellers=tellers)


@trusted()
def make_overview(first: Event, events: int) -> Overview:
    """A study in a list, from its first event and the length of its log."""
    settings = first.data["settings"]
    labels, objectives = settings["labels"], tuple(settings["labels"]["objectives"])
    return Overview(first.data["name"], first.time, len(labels["arms"]), objectives, settings["delta"], events)
