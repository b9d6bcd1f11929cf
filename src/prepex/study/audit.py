"""The log against its hashes, and the state against a full replay."""

from collections.abc import Iterator
from dataclasses import dataclass

from prepex.errors import InputError
from prepex.study.events import Event, chained, digest, read, read_many
from prepex.study.log import Log, StrayCheckpointError
from prepex.study.state import PastChangedError, State


@dataclass(frozen=True)
class Verdict:
    """What was checked: `events` in the log, its last hash, and every problem found."""

    events: int
    head: str
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """No problem."""
        return not self.problems


# What a damaged log may cause before its hashes are looked at.
DAMAGE = (
    *(ValueError, KeyError, TypeError, AttributeError, IndexError),
    *(AssertionError, ArithmeticError, StopIteration, RuntimeError),
)


def verify(log: Log, state: State | None) -> Verdict:
    """Hashes, columns and head of the log; then a full replay against the state in use and the checkpoint."""
    problems = []
    try:
        replayed = State.replay(chained(_exact(log)))
    except DAMAGE as error:
        return Verdict(log.position + 1, log.head, (str(error) or "log must begin with a config, got none",))
    if (replayed.position, replayed.head) != (log.position, log.head):
        problems.append(f"log must end with event {log.position}, hash {log.head}, got event {replayed.position}")
    if state is None or _numbers(replayed) != _numbers(state):
        problems.append("state must be what the log replays to, got another one")
    first = log.at(0)
    try:
        kept = State.resume(first, log)
        if kept is not None and _numbers(kept) != _numbers(replayed):
            problems.append("checkpoint must be what the log replays to, got another state")
    except StrayCheckpointError as error:
        problems.append(f"{error}; it is not used")
    except (PastChangedError, *DAMAGE):
        pass  # of another version, or of a past that was changed since: it is not used
    return Verdict(log.position + 1, log.head, tuple(problems))


def _numbers(state: State) -> tuple[bytes, object, object]:
    return state.experiment.snapshot(), state.line.to_document(), state.curve.to_document()


def _exact(log: Log) -> Iterator[Event]:
    for rows in log.chunks():
        positions, pulls, texts, hashes = zip(*rows, strict=True)
        events = read_many(texts, hashes, exact=True)
        fine = (
            events is not None
            and positions == tuple([event.position for event in events])
            and pulls == tuple([event.pull for event in events])
            and hashes == tuple(map(digest, texts))
        )
        # One by one: which of them, and what is wrong with it?
        yield from events if fine and events is not None else (_as_written(*row) for row in rows)


def _as_written(position: int, pull: int | None, text: str, own_hash: str) -> Event:
    event = read(text, own_hash)
    if event.text != text or (event.position, event.pull) != (position, pull):
        raise InputError(f"event {position} must be as it was written, got other columns or another text")
    if digest(text) != own_hash:
        raise InputError(f"event {position} must have the hash {digest(text)}, got {own_hash}")
    return event
