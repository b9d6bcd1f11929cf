"""The state of a study in memory, brought up to the log in every transaction."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from prepex.study import audit, words
from prepex.study.draft import Draft
from prepex.study.foresee import Foreseen
from prepex.study.log import Log
from prepex.study.state import PastChangedError, State
from prepex.study.storage import Storage

# Events between two checkpoints: a fresh process applies at most about so many.
EVERY = 2000


class Session:
    """Threads may share it: they take turns."""

    def __init__(self, storage: Storage, name: str) -> None:
        storage.require(name)
        self.storage, self.name = storage, name
        self.state: State | None = None
        self._lock = threading.RLock()

    @contextmanager
    def reading(self) -> Iterator[tuple[State, Log]]:
        """The state at the end of the log, and the log."""
        with self._lock, self.storage.reading() as connection:
            log = Log(connection, self.name)
            yield self._sync(log), log

    @contextmanager
    def glancing(self) -> Iterator[Log]:
        """The log alone; other threads need not wait."""
        with self.storage.reading() as connection:
            yield Log(connection, self.name)

    @contextmanager
    def writing(self, actor: str, foreseen: Foreseen | None = None) -> Iterator[Draft]:
        """A draft, written at the end. `foreseen`: what its amendment of the past will lead to."""
        actor = words.check_actor(actor)
        draft: Draft | None = None
        with self._lock:
            try:
                with self.storage.writing() as connection:
                    log = Log(connection, self.name, lock=True)
                    draft = Draft(log, self._sync(log), actor)
                    draft.expire()
                    yield draft
                    log.append(draft.events)
                    if draft.past_changed:
                        ready = None if foreseen is None else foreseen.settle(log, draft.events[-1])
                        self.state = ready or State.replay(log.since(-1))
                        self._save(log, self.state)
                    elif self.state is not None and self.state.position >= log.checkpoint_position() + EVERY:
                        self._save(log, self.state)
            except BaseException:
                # What was drafted did not happen.
                if draft is None or draft.events:
                    self.state = None
                raise

    def verify(self) -> audit.Verdict:
        """Check every hash of the log, and the state and its checkpoint against a full replay."""
        with self._lock, self.storage.reading() as connection:
            log = Log(connection, self.name)
            try:
                self._sync(log)
            except audit.DAMAGE:
                # The audit says what is wrong.
                self.state = None
            return audit.verify(log, self.state)

    def _sync(self, log: Log) -> State:
        # Nothing half applied stays behind, whatever happens.
        state, self.state = self.state, None
        try:
            if state is None or state.position > log.position:
                raise PastChangedError
            if state.position < log.position:
                state.apply(log.since(state.position))
            if state.head != log.head:
                raise PastChangedError
        except PastChangedError:
            state = self._load(log)
        if state.head != log.head:
            raise ValueError(f"log of {self.name!r} must end with the hash {log.head}, got a damaged one: verify it")
        self.state = state
        return state

    @staticmethod
    def _load(log: Log) -> State:
        """From the checkpoint and what came after, or else from the whole log."""
        saved = log.checkpoint()
        first = log.at(0)
        if saved is not None and first is not None:
            try:
                state = State.load(first, *saved)
                state.apply(log.since(state.position))
                return state
            except (PastChangedError, ValueError):
                pass
        return State.replay(log.since(-1))

    @staticmethod
    def _save(log: Log, state: State) -> None:
        if state.worth_saving:
            log.put_checkpoint(state.position, state.head, state.save())
