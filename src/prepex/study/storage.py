"""Where studies are kept: SQLite or PostgreSQL through SQLAlchemy.

A write is one transaction that holds the lock of its study from the beginning: BEGIN IMMEDIATE in SQLite, the row of
the study FOR UPDATE in PostgreSQL. So writers queue up, and none ever has to start again.
"""

import hashlib
import os
import sqlite3
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prepex.study.events import GENESIS, Event, read

try:
    import sqlalchemy as sa
    from sqlalchemy.engine import Connection, Engine
except ImportError:
    raise ImportError("studies need an extra: pip install 'prepex[study]'") from None

VERSION_TABLE = "prepex_version"
LATEST = "0001"
# Seconds that a writer waits for its turn. With dozens of workers on a slow disk a turn may take a while.
PATIENCE = 600
# Any fixed number: who creates the tables in PostgreSQL holds this advisory lock.
TABLES_LOCK = 7_305_511
# Rows in one INSERT or SELECT.
CHUNK = 10_000

metadata = sa.MetaData()
studies = sa.Table(
    "prepex_studies",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text),
    sa.Column("position", sa.BigInteger),
    sa.Column("head", sa.Text),
)
events = sa.Table(
    "prepex_events",
    metadata,
    sa.Column("study", sa.Integer, primary_key=True),
    sa.Column("position", sa.BigInteger, primary_key=True),
    sa.Column("pull", sa.BigInteger),
    sa.Column("text", sa.Text),
    sa.Column("hash", sa.Text),
)
checkpoints = sa.Table(
    "prepex_checkpoints",
    metadata,
    sa.Column("study", sa.Integer, primary_key=True),
    sa.Column("position", sa.BigInteger),
    sa.Column("head", sa.Text),
    sa.Column("digest", sa.Text),
    sa.Column("saved", sa.LargeBinary),
)


def as_url(storage: str | os.PathLike[str]) -> sa.URL:
    """A URL, or the path of an SQLite file.

    >>> str(as_url("trial.db")), as_url("postgresql://lab@host/trials").drivername
    ('sqlite:///trial.db', 'postgresql+psycopg')
    """
    text = os.fspath(storage)
    if "://" not in text:
        return sa.URL.create("sqlite", database=text)
    try:
        url = sa.make_url(text)
    except sa.exc.ArgumentError:
        raise ValueError(f"storage must be a file or a database URL, got {text!r}") from None
    kind = url.get_backend_name()
    if kind not in ("sqlite", "postgresql"):
        raise ValueError(f"storage must be SQLite or PostgreSQL, got {kind!r}")
    if kind == "sqlite" and url.database in (None, "", ":memory:"):
        raise ValueError(f"storage must be a file, so that the study outlives the process, got {text!r}")
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


class Storage:
    """A database with studies. `create`: make an SQLite file that is not there yet."""

    def __init__(self, storage: str | os.PathLike[str], *, create: bool = False) -> None:
        self.url = as_url(storage)
        self._pid = os.getpid()
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        if self.is_sqlite:
            self._check_file(Path(str(self.url.database)), create)
        self.engine = self._connectable()
        # Connections are closed, not left to the garbage collector, which drivers complain about.
        weakref.finalize(self, self.engine.dispose)
        self._migrate()

    @staticmethod
    def _check_file(path: Path, create: bool) -> None:
        if not path.parent.is_dir():
            raise ValueError(f"storage must be in a folder that exists, got {str(path)!r}")
        if not create and not path.exists():
            raise ValueError(f"storage must exist, got no file {str(path)!r}")

    def _connectable(self) -> Engine:
        if not self.is_sqlite:
            try:
                return sa.create_engine(self.url, pool_pre_ping=True)
            except ImportError:
                raise ImportError("PostgreSQL needs an extra: pip install 'prepex[postgres]'") from None
        engine = sa.create_engine(self.url, connect_args={"timeout": PATIENCE, "check_same_thread": False})
        sa.event.listen(engine, "connect", _set_up_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine

    def _own(self) -> Engine:
        """Connections must not be shared with the process that forked this one."""
        if self._pid != os.getpid():
            self.engine.dispose(close=False)
            self._pid = os.getpid()
        return self.engine

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent view; nobody waits."""
        with self._clear_errors(), self._own().connect() as connection:
            if not self.is_sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that may write; all of it happens or nothing."""
        with self._clear_errors(), self._own().connect() as connection:
            connection = connection.execution_options(writing=True)
            with connection.begin():
                yield connection

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except sa.exc.OperationalError as error:
            where = self.url.render_as_string(hide_password=True)
            raise OSError(f"storage {where} cannot be used: {error.orig}") from error
        except sa.exc.DatabaseError as error:
            if isinstance(error.orig, sqlite3.DatabaseError) and "not a database" in str(error.orig):
                raise ValueError(f"storage must be an SQLite database, got {str(self.url.database)!r}") from None
            raise

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()

    def _migrate(self) -> None:
        with self.reading() as connection:
            if self._is_latest(connection):
                return
        from alembic import command
        from alembic.config import Config

        with self.writing() as connection:
            if not self.is_sqlite:
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(TABLES_LOCK)))
            if self._is_latest(connection):
                return
            config = Config()
            config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
            config.set_main_option("path_separator", "os")
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    def _is_latest(self, connection: Connection) -> bool:
        if not sa.inspect(connection).has_table(VERSION_TABLE):
            return False
        found = connection.execute(sa.text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
        if found is not None and found > LATEST:
            raise ValueError(f"storage must be of version {LATEST} or older, got {found}: use a newer prepex")
        return found == LATEST

    # Studies

    def names(self) -> list[str]:
        """All studies."""
        with self.reading() as connection:
            return list(connection.execute(sa.select(studies.c.name).order_by(studies.c.id)).scalars())

    def find(self, name: str) -> int:
        """The number of a study."""
        with self.reading() as connection:
            found = connection.execute(sa.select(studies.c.id).where(studies.c.name == name)).scalar()
        if found is None:
            known = ", ".join(map(repr, self.names())) or "none"
            raise ValueError(f"name must be a study of this storage ({known}), got {name!r}")
        return int(found)

    def add(self, connection: Connection, name: str) -> "Log":
        """A new study, with an empty log."""
        row = {"name": name, "position": -1, "head": GENESIS}
        try:
            number = connection.execute(sa.insert(studies).values(row).returning(studies.c.id)).scalar_one()
        except sa.exc.IntegrityError:
            raise ValueError(f"name must be new in this storage, got {name!r}, which exists already") from None
        return Log(connection, int(number))

    def remove(self, name: str) -> None:
        """Delete a study and its log."""
        number = self.find(name)
        with self.writing() as connection:
            for table, column in ((checkpoints, "study"), (events, "study"), (studies, "id")):
                connection.execute(sa.delete(table).where(table.c[column] == number))


class Log:
    """The log of one study inside a transaction. `lock`: nobody else writes until the transaction ends."""

    def __init__(self, connection: Connection, study: int, *, lock: bool = False) -> None:
        self.connection, self.study = connection, study
        wanted = sa.select(studies.c.position, studies.c.head).where(studies.c.id == study)
        row = connection.execute(wanted.with_for_update() if lock else wanted).one_or_none()
        if row is None:
            raise ValueError("study must exist, got one that has been deleted")
        self.position, self.head = int(row.position), str(row.head)

    def since(self, position: int) -> Iterator[Event]:
        """The events after `position`."""
        while True:
            query = (
                sa.select(events.c.text, events.c.hash)
                .where(events.c.study == self.study, events.c.position > position)
                .order_by(events.c.position)
                .limit(CHUNK)
            )
            rows = self.connection.execute(query).all()
            for row in rows:
                event = read(row.text, row.hash)
                position = event.position
                yield event
            if len(rows) < CHUNK:
                return

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


def _set_up_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    # The driver must not begin transactions on its own: `_begin_sqlite` does.
    connection.isolation_level = None
    mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
    if mode != "wal":
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
    # An acknowledged outcome survives a power cut.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_sqlite(connection: Connection) -> None:
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
