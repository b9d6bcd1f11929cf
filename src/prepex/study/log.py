"""The log of one study inside a transaction."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from prepex.errors import InputError, shown
from prepex.study.events import Event, read, read_all
from prepex.study.tables import Connection, checkpoints, events, sa, studies

# Rows in one INSERT or SELECT.
CHUNK = 10_000
# Events that are read together: few enough to stay near the processor.
BATCH = 400


class NoStudyError(InputError):
    """There is no study of this name, or no longer."""

    __module__ = "prepex"


class StrayCheckpointError(InputError):
    """A checkpoint that does not belong to the log, or is damaged."""


def whole_column(name: str, value: Any) -> int:
    """A whole number, which SQLite keeps as whatever was written."""
    if not isinstance(value, int):
        raise InputError(f"storage must have a whole number as {name}, got {shown(value)}: the database is damaged")
    return value


def _seal_of(position: int, head: str, saved: bytes) -> str:
    """Of a checkpoint at its place in its log: the same bytes elsewhere have another."""
    return hashlib.sha256(f"{position} {head}\n".encode() + saved).hexdigest()


def batched(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Some at a time."""
    for at in range(0, len(rows), BATCH):
        yield rows[at : at + BATCH]


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
        self.study, self.position, self.head = int(row.id), whole_column("position", row.position), str(row.head)

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
            for some in batched(rows):
                for event in read_all(*zip(*some, strict=True)):
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

    def arms_of(self, pulls: Collection[int]) -> dict[int, int]:
        """The arms of the pulls asked for, or imported, at these positions."""
        query = sa.select(events.c.text, events.c.hash).where(
            events.c.study == self.study, events.c.position.in_(sorted(pulls))
        )
        found = (read(row.text, row.hash) for row in self.connection.execute(query))
        return {event.position: int(event.data["arm"]) for event in found if "arm" in event.data}

    def hash_at(self, position: int) -> str | None:
        """The hash of one event."""
        query = sa.select(events.c.hash).where(events.c.study == self.study, events.c.position == position)
        return self.connection.execute(query).scalar()

    def has_file(self, digest: str) -> bool:
        """Was a file of this digest imported? The database looks for the words, so that few events are read."""
        words = events.c.text.contains(f'"digest":"{digest}"', autoescape=True)
        found = self.connection.execute(
            sa.select(events.c.text, events.c.hash).where(events.c.study == self.study, words)
        )
        known = (read(row.text, row.hash) for row in found)
        return any(event.kind == "imported" and event.data.get("digest") == digest for event in known)

    def chunks(self) -> Iterator[Sequence[Sequence[Any]]]:
        """Many (position, pull, text, hash) at a time as they are kept, for an audit."""
        query = sa.select(events.c.position, events.c.pull, events.c.text, events.c.hash)
        found = self.connection.execution_options(yield_per=BATCH).execute(
            query.where(events.c.study == self.study).order_by(events.c.position)
        )
        yield from found.partitions()

    def append(self, new: Iterable[Event], texts: Iterable[str] | None = None) -> None:
        """Write events, which must follow the last one. `texts`: theirs, if they have been made already."""
        rows: list[dict[str, Any]] = []
        made = ((event, event.text) for event in new) if texts is None else zip(new, texts, strict=True)
        for event, text in made:
            assert (event.position, event.previous) == (self.position + 1, self.head), "the log has moved on"
            self.position, self.head = event.position, event.hash
            rows.append(
                {
                    "study": self.study,
                    "position": event.position,
                    "pull": event.pull,
                    "text": text,
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
        self.connection.execute(sa.insert(checkpoints).values(row | {"digest": _seal_of(position, head, saved)}))

    def checkpoint_position(self) -> int:
        """Where the checkpoint is; -1 if there is none."""
        query = sa.select(checkpoints.c.position).where(checkpoints.c.study == self.study)
        found = self.connection.execute(query).scalar()
        return found if isinstance(found, int) else -1

    def checkpoint(self) -> tuple[int, str, bytes] | None:
        """(position, hash, checkpoint) if there is one. It must be undamaged, and of this place of this log."""
        query = sa.select(checkpoints).where(checkpoints.c.study == self.study)
        row = self.connection.execute(query).one_or_none()
        if row is None:
            return None
        whole = isinstance(row.position, int) and isinstance(row.saved, bytes)
        if not whole or _seal_of(row.position, row.head, row.saved) != row.digest:
            raise StrayCheckpointError("checkpoint must be as it was written, at its place of the log, got another one")
        if self.hash_at(row.position) != row.head:
            raise StrayCheckpointError(
                f"checkpoint must fit event {row.position} of the log, got one with another hash"
            )
        return int(row.position), str(row.head), bytes(row.saved)
