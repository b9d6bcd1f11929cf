"""The log against its hashes, and the state against a full replay."""

from collections.abc import Iterator
from dataclasses import dataclass

from prepex.study.events import Event, linked, read
from prepex.study.log import Log
from prepex.study.state import State


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
DAMAGE = (ValueError, KeyError, TypeError, AssertionError, IndexError, StopIteration, RuntimeError)


def verify(log: Log, state: State | None) -> Verdict:
    """Hashes, columns and head of the log; then a full replay against the state in use and the checkpoint."""
    problems = []
    try:
        replayed = State.replay(linked(_exact(log)))
    except DAMAGE as error:
        return Verdict(log.position + 1, log.head, (str(error) or "log must begin with a config, got none",))
    if (replayed.position, replayed.head) != (log.position, log.head):
        problems.append(f"log must end with event {log.position}, hash {log.head}, got event {replayed.position}")
    if state is None or _numbers(replayed) != _numbers(state):
        problems.append("state must be what the log replays to, got another one")
    saved = log.checkpoint()
    first = log.at(0)
    if saved is None and log.checkpoint_position() >= 0:
        problems.append("checkpoint must fit the log, got a damaged one; it is not used")
    elif saved is not None and first is not None:
        try:
            kept = State.load(first, *saved)
            kept.apply(log.since(kept.position))
            if _numbers(kept) != _numbers(replayed):
                problems.append("checkpoint must be what the log replays to, got another state")
        except ValueError:
            pass  # of another version: it is not used
    return Verdict(log.position + 1, log.head, tuple(problems))


def _numbers(state: State) -> tuple[bytes, object]:
    return state.experiment.snapshot(), state.line.to_document()


def _exact(log: Log) -> Iterator[Event]:
    for position, pull, text, own_hash in log.rows():
        event = read(text, own_hash)
        if event.text != text or (event.position, event.pull) != (position, pull):
            raise ValueError(f"event {position} must be as it was written, got other columns or another text")
        yield event
