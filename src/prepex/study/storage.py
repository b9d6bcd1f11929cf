"""Where studies are kept: SQLite or PostgreSQL through SQLAlchemy.

A write is one transaction that holds the lock of its study from the beginning: BEGIN IMMEDIATE in SQLite, the row of
the study FOR UPDATE in PostgreSQL. So writers queue up, and none ever has to start again.
"""

import os
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prepex.study.events import GENESIS, Event, read
from prepex.study.log import Log, NoStudyError
from prepex.study.tables import Connection, checkpoints, events, sa, studies

VERSION_TABLE = "prepex_version"
LATEST = "0001"
# Seconds that a writer waits for its turn. With dozens of workers on a slow disk a turn may take a while.
PATIENCE = 600
# Connections of one process at once: more than a server has threads.
POOL = {"pool_size": 10, "max_overflow": 50}
# Any fixed number: who creates the tables in PostgreSQL holds this advisory lock.
TABLES_LOCK = 7_305_511


class BadStorageError(ValueError):
    """It is no database of studies, or none that this version can read."""


class NameTakenError(ValueError):
    """There is a study of this name already."""


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
        self._file: tuple[int, int] | None = None
        # Connections are closed, not left to the garbage collector, which drivers complain about.
        weakref.finalize(self, self.engine.dispose)
        self._migrate()

    @classmethod
    @contextmanager
    def at(cls, storage: "str | os.PathLike[str] | Storage") -> Iterator["Storage"]:
        """For a moment; one that is open already stays open."""
        if isinstance(storage, Storage):
            yield storage
            return
        place = cls(storage)
        try:
            yield place
        finally:
            place.close()

    @staticmethod
    def _check_file(path: Path, create: bool) -> None:
        if not path.parent.is_dir():
            raise ValueError(f"storage must be in a folder that exists, got {str(path)!r}")
        if not create and not path.exists():
            raise ValueError(f"storage must exist, got no file {str(path)!r}")

    def _connectable(self) -> sa.Engine:
        if not self.is_sqlite:
            try:
                return sa.create_engine(self.url, pool_pre_ping=True, **POOL)
            except ImportError:
                raise ImportError("PostgreSQL needs an extra: pip install 'prepex[postgres]'") from None
        engine = sa.create_engine(self.url, connect_args={"timeout": PATIENCE, "check_same_thread": False}, **POOL)
        sa.event.listen(engine, "connect", _set_up_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine

    def _own(self) -> sa.Engine:
        """Connections must not be shared with the process that forked this one."""
        if self._pid != os.getpid():
            self.engine.dispose(close=False)
            self._pid = os.getpid()
        if self.is_sqlite:
            self._check_same_file()
        return self.engine

    def _check_same_file(self) -> None:
        """An open file that was deleted or replaced still takes writes, which nobody would ever see again."""
        where = str(self.url.database)
        try:
            found = Path(where).stat()
        except FileNotFoundError:
            if self._file is None:
                return
            raise OSError(f"storage {where} is gone: it was deleted or moved while it was open") from None
        if self._file is None:
            self._file = (found.st_dev, found.st_ino)
        elif self._file != (found.st_dev, found.st_ino):
            raise OSError(f"storage {where} was replaced by another file while it was open: open it again")

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
                raise BadStorageError(f"storage must be an SQLite database, got {str(self.url.database)!r}") from None
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
            raise BadStorageError(f"storage must be of version {LATEST} or older, got {found}: use a newer prepex")
        return found == LATEST

    # Studies

    def names(self) -> list[str]:
        """All studies."""
        with self.reading() as connection:
            return list(connection.execute(sa.select(studies.c.name).order_by(studies.c.id)).scalars())

    def firsts(self) -> list[tuple[Event, int]]:
        """(first event, length of the log) of every study."""
        columns = sa.select(events.c.text, events.c.hash, studies.c.position)
        query = columns.join(studies, studies.c.id == events.c.study).where(events.c.position == 0)
        with self.reading() as connection:
            rows = connection.execute(query.order_by(studies.c.id)).all()
        return [(read(row.text, row.hash), int(row.position) + 1) for row in rows]

    def require(self, name: str) -> None:
        """There must be such a study."""
        with self.reading() as connection:
            found = connection.execute(sa.select(studies.c.id).where(studies.c.name == name)).scalar()
        if found is None:
            known = ", ".join(map(repr, self.names())) or "none"
            raise NoStudyError(f"name must be a study of this storage ({known}), got {name!r}")

    def add(self, connection: Connection, name: str) -> Log:
        """A new study, with an empty log."""
        try:
            connection.execute(sa.insert(studies).values({"name": name, "position": -1, "head": GENESIS}))
        except sa.exc.IntegrityError:
            raise NameTakenError(f"name must be new in this storage, got {name!r}, which exists already") from None
        return Log(connection, name)

    def remove(self, name: str) -> None:
        """Delete a study and its log."""
        self.require(name)
        with self.writing() as connection:
            number = Log(connection, name, lock=True).study
            for table, column in ((checkpoints, "study"), (events, "study"), (studies, "id")):
                connection.execute(sa.delete(table).where(table.c[column] == number))


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
