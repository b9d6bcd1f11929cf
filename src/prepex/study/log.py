"""The log of one study inside a transaction."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from prepex.study.events import Event, read
from prepex.study.tables import Connection, checkpoints, events, sa, studies

# Rows in one INSERT or SELECT.
CHUNK = 10_000


class NoStudyError(ValueError):
    """There is no study of this name, or no longer."""


class Log:
    """`lock`: nobody else writes until the transaction ends.

    A study is found by its name in every transaction: a number may belong to another one after a deletion.
    """

    def __init__(self, connection: Connection, name: str, *, lock: bool = False) -> None:
        self.connection = connection
        wanted = sa.select(studies.c.id, studies.c.position, studies.c.head).where(studies.c.name == name)
        row = connection.execute(wanted.with_for_update() if lock else wanted).one_or_none()
        if row is None:
            raise NoStudyError("study must exist, got one that has been deleted")
        self.study, self.position, self.head = int(row.id), int(row.position), str(row.head)

    def since(self, position: int, limit: int | None = None) -> Iterator[Event]:
        """The events after `position`, at most so many."""
        left = limit
        while left is None or left > 0:
            size = CHUNK if left is None else min(left, CHUNK)
            query = (
                sa.select(events.c.text, events.c.hash)
                .where(events.c.study == self.study, events.c.position > position)
                .order_by(events.c.position)
                .limit(size)
            )
            rows = self.connection.execute(query).all()
            for row in rows:
                event = read(row.text, row.hash)
                position = event.position
                yield event
            if len(rows) < size:
                return
            left = None if left is None else left - size

    def of_pulls(self, first: int, last: int) -> list[Event]:
        """Everything about the pulls asked for at the positions first ... last, pull by pull."""
        query = sa.select(events.c.text, events.c.hash).where(
            events.c.study == self.study, events.c.pull >= first, events.c.pull <= last
        )
        found = self.connection.execute(query.order_by(events.c.pull, events.c.position))
        return [read(row.text, row.hash) for row in found]

    def of_pull(self, pull: int) -> list[Event]:
        """Everything about one pull."""
        query = sa.select(events.c.text, events.c.hash).where(events.c.study == self.study, events.c.pull == pull)
        return [read(row.text, row.hash) for row in self.connection.execute(query.order_by(events.c.position))]

    def at(self, position: int) -> Event | None:
        """One event."""
        query = sa.select(events.c.text, events.c.hash)
        row = self.connection.execute(
            query.where(events.c.study == self.study, events.c.position == position)
        ).one_or_none()
        return None if row is None else read(row.text, row.hash)

    def hash_at(self, position: int) -> str | None:
        """The hash of one event."""
        query = sa.select(events.c.hash).where(events.c.study == self.study, events.c.position == position)
        return self.connection.execute(query).scalar()

    def rows(self) -> Iterator[Sequence[Any]]:
        """(position, pull, text, hash) as they are kept, for an audit."""
        query = sa.select(events.c.position, events.c.pull, events.c.text, events.c.hash)
        found = self.connection.execution_options(yield_per=CHUNK).execute(
            query.where(events.c.study == self.study).order_by(events.c.position)
        )
        yield from found

    def append(self, new: Iterable[Event]) -> None:
        """Write events, which must follow the last one."""
        rows: list[dict[str, Any]] = []
        for event in new:
            assert (event.position, event.previous) == (self.position + 1, self.head), "the log has moved on"
            self.position, self.head = event.position, event.hash
            rows.append(
                {
                    "study": self.study,
                    "position": event.position,
                    "pull": event.pull,
                    "text": event.text,
                    "hash": event.hash,
                }
            )
            if len(rows) == CHUNK:
                self.connection.execute(sa.insert(events), rows)
                rows = []
        if rows:
            self.connection.execute(sa.insert(events), rows)
        head = {"position": self.position, "head": self.head}
        self.connection.execute(sa.update(studies).where(studies.c.id == self.study).values(head))

    def put_checkpoint(self, position: int, head: str, saved: bytes) -> None:
        """Replace the checkpoint."""
        self.connection.execute(sa.delete(checkpoints).where(checkpoints.c.study == self.study))
        row = {"study": self.study, "position": position, "head": head, "saved": saved}
        self.connection.execute(sa.insert(checkpoints).values(row | {"digest": hashlib.sha256(saved).hexdigest()}))

    def checkpoint_position(self) -> int:
        """Where the checkpoint is; -1 if there is none."""
        query = sa.select(checkpoints.c.position).where(checkpoints.c.study == self.study)
        found = self.connection.execute(query).scalar()
        return -1 if found is None else int(found)

    def checkpoint(self) -> tuple[int, str, bytes] | None:
        """(position, hash, checkpoint) if there is one, undamaged, that fits the log."""
        query = sa.select(checkpoints).where(checkpoints.c.study == self.study)
        row = self.connection.execute(query).one_or_none()
        if row is None or hashlib.sha256(row.saved).hexdigest() != row.digest:
            return None
        event = self.at(row.position)
        if event is None or event.hash != row.head:
            return None
        return int(row.position), str(row.head), bytes(row.saved)
