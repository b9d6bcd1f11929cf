"""The state of a study in memory, brought up to the log in every transaction."""

import logging
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from prepex.errors import InputError
from prepex.study import audit, words
from prepex.study.draft import Draft
from prepex.study.foresee import Foreseen
from prepex.study.log import Log, StrayCheckpointError
from prepex.study.state import PastChangedError, State
from prepex.study.storage import Storage

# Events, and seconds of computing, between two checkpoints: a fresh process repeats at most about so much.
EVERY, DEAR = 2000, 2.0
logger = logging.getLogger("prepex.study")


class Session:
    """Threads may share it: they take turns."""

    def __init__(self, storage: Storage, name: str) -> None:
        storage.require(name)
        self.storage, self.name = storage, name
        self.state: State | None = None
        self._lock = threading.RLock()
        self._spent = 0.0

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
            if self.state is None:
                # A long log is read while others may still write.
                with self.reading():
                    pass
            try:
                with self.storage.writing() as connection:
                    start = time.monotonic()
                    log = Log(connection, self.name, lock=True)
                    draft = Draft(log, self._sync(log), actor)
                    draft.expire()
                    yield draft
                    log.append(draft.events, draft.texts)
                    self._spent += time.monotonic() - start
                    if draft.past_changed:
                        ready = None if foreseen is None else foreseen.settle(log, draft.events[-1])
                        self.state = ready or State.replay(log.since(-1))
                        self._save(log, self.state)
                    elif self.state is not None and (
                        self._spent >= DEAR or self.state.position >= log.checkpoint_position() + EVERY
                    ):
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
            try:
                state = self._load(log)
            except InputError:
                raise
            except audit.DAMAGE as error:
                raise InputError(
                    f"log of {self.name!r} must be as it was written, got a damaged one: verify it ({error!r})"
                ) from None
        if state.head != log.head:
            raise InputError(f"log of {self.name!r} must end with the hash {log.head}, got a damaged one: verify it")
        self.state = state
        return state

    def _load(self, log: Log) -> State:
        """From the checkpoint and what came after, or else from the whole log."""
        first = log.at(0)
        try:
            state = State.resume(first, log)
            if state is not None:
                return state
        except StrayCheckpointError as error:
            logger.warning("Study %r: %s. The whole log is read instead.", self.name, error)
            # The next to write puts a right one in its place.
            self._spent = math.inf
        except (PastChangedError, *audit.DAMAGE):
            pass  # if it is the log that is damaged, reading all of it says so
        return State.replay(log.since(-1))

    def _save(self, log: Log, state: State) -> None:
        self._spent = 0.0
        if state.worth_saving:
            log.put_checkpoint(state.position, state.head, state.save())
