"""Where studies are kept: SQLite or PostgreSQL through SQLAlchemy.

A write is one transaction that holds the lock of its study from the beginning: BEGIN IMMEDIATE in SQLite, the row of
the study FOR UPDATE in PostgreSQL. So writers queue up, and none ever has to start again.
"""

import os
import sqlite3
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from prepex import _checks
from prepex.errors import InputError, InputTypeError, shown
from prepex.extras import need
from prepex.numerals import first_few
from prepex.study.events import GENESIS, Event, read
from prepex.study.log import Log, NoStudyError, whole_column
from prepex.study.tables import Connection, checkpoints, events, sa, studies

VERSION_TABLE = "prepex_version"
LATEST = "0001"
# Seconds that a writer waits for its turn. With dozens of workers on a slow disk a turn may take a while.
PATIENCE = 600.0
# Seconds in which SQLite tries to get its lock at least every 5 milliseconds.
OFTEN = 0.015
# Connections of one process at once: more than a server has threads.
POOL = {"pool_size": 10, "max_overflow": 50}
# Any fixed number: who creates the tables in PostgreSQL holds this advisory lock.
TABLES_LOCK = 7_305_511


class BadStorageError(InputError):
    """It is no database of studies, or none that this version can read."""


class NameTakenError(InputError):
    """There is a study of this name already."""

    __module__ = "prepex"


class BusyError(OSError):
    """Somebody else has been writing for as long as one was ready to wait. Nothing happened; try again."""


class ReadOnlyError(OSError):
    """It can be read, but not written. Nothing happened."""


def as_url(storage: str | os.PathLike[str]) -> sa.URL:
    """A URL, or the path of an SQLite file.

    >>> str(as_url("trial.db")), as_url("postgresql://lab@host/trials").drivername
    ('sqlite:///trial.db', 'postgresql+psycopg')
    """
    text = str(_checks.path("storage", storage)) if not isinstance(storage, str) else storage
    if "://" not in text:
        _checks.path("storage", text)
        if not text.strip():
            raise InputError(f"storage must be a file or a database URL, got {text!r}")
        return sa.URL.create("sqlite", database=text)
    try:
        url = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):
        raise InputError(f"storage must be a file or a database URL, got {text!r}") from None
    kind = url.get_backend_name()
    if kind not in ("sqlite", "postgresql"):
        raise InputError(f"storage must be SQLite or PostgreSQL, got {kind!r}")
    if kind == "sqlite" and url.database in (None, "", ":memory:"):
        raise InputError(f"storage must be a file, so that the study outlives the process, got {text!r}")
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


class Storage:
    """A database with studies.

    create     make an SQLite file that is not there yet
    patience   seconds that a writer waits for its turn
    follow     go on with the file that has taken the place of an SQLite file, as a server must; else that is an error
    """

    def __init__(
        self,
        storage: str | os.PathLike[str],
        *,
        create: bool = False,
        patience: float = PATIENCE,
        follow: bool = False,
    ) -> None:
        self.url = as_url(storage)
        self.patience, self.follow = patience, follow
        self._pid = os.getpid()
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        if self.is_sqlite:
            self._check_file(Path(str(self.url.database)), create)
        self.engine = self._connectable()
        self._file: tuple[int, int] | None = None
        self._frozen = False
        # Connections are closed, not left to the garbage collector, which drivers complain about.
        weakref.finalize(self, self.engine.dispose)
        self._migrate()

    @property
    def address(self) -> str:
        """From anywhere on this machine: the whole path of a file, or a URL with its password."""
        if not self.is_sqlite:
            return self.url.render_as_string(hide_password=False)
        path = str(Path(str(self.url.database)).resolve())
        return self.url.set(database=path).render_as_string() if self.url.query else path

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
            raise InputError(f"storage must be in a folder that exists, got {str(path)!r}")
        if not create and not path.exists():
            raise InputError(f"storage must exist, got no file {str(path)!r}")

    def _connectable(self) -> sa.Engine:
        # A thread waits for a connection, or for a server to answer, no longer than for its turn.
        waits: dict[str, Any] = POOL | {"pool_timeout": min(self.patience, 30.0)}
        if not self.is_sqlite:
            # Milliseconds; a wait for a lock, and a server that does not answer at all.
            given = {"options": f"-c lock_timeout={max(int(1000 * self.patience), 1)}", "connect_timeout": 5}
            own = {name: value for name, value in given.items() if name not in self.url.query}
            if self.url.get_driver_name() == "psycopg":
                need("postgres", "PostgreSQL needs", "psycopg")
            return sa.create_engine(self.url, pool_pre_ping=True, connect_args=own, **waits)
        engine = sa.create_engine(self.url, creator=self._connect_sqlite, **waits)
        sa.event.listen(engine, "begin", partial(_begin_sqlite, self.patience))
        return engine

    def _connect_sqlite(self) -> sqlite3.Connection:
        """A file, or a folder, that may not be written can still be read."""
        path = Path(str(self.url.database))
        given = {"timeout": self.patience, "check_same_thread": False}
        if not path.exists() or (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
            return _set_up_sqlite(sqlite3.connect(path, **given))  # type: ignore[call-overload]
        # The files that SQLite keeps beside a database may be missing here, and cannot be made. Without writes that
        # are only there, the database itself is all there is.
        beside = Path(f"{path}-wal")
        self._frozen = not os.access(path.parent, os.W_OK) and (not beside.exists() or beside.stat().st_size == 0)
        place = f"{path.absolute().as_uri()}?{'immutable=1' if self._frozen else 'mode=ro'}"
        connection: sqlite3.Connection = sqlite3.connect(place, uri=True, **given)  # type: ignore[call-overload]
        connection.isolation_level = None
        return connection

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
            if not self.follow:
                raise OSError(f"storage {where} was replaced by another file while it was open: open it again")
            self.engine.dispose()
            self._file = (found.st_dev, found.st_ino)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent view; nobody waits."""
        with self._clear_errors(), self._own().connect() as connection:
            if self._frozen:
                # It would not notice what others, who may write, have changed: used once.
                connection.detach()
                self._frozen = False
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
        where = self.url.render_as_string(hide_password=True)
        try:
            yield
        except sa.exc.OperationalError as error:
            if _is_busy(error.orig):
                raise BusyError(f"storage {where} is being written by somebody else: try again") from error
            if _is_read_only(error.orig):
                # It may be writable again: the next one looks anew.
                self.engine.dispose()
                raise ReadOnlyError(f"storage {where} can be read, but not written") from error
            raise OSError(f"storage {where} cannot be used: {error.orig}") from error
        except sa.exc.InternalError as error:
            if _is_read_only(error.orig):
                raise ReadOnlyError(f"storage {where} can be read, but not written") from error
            raise
        except sa.exc.TimeoutError:
            raise BusyError(f"storage {where} has no connection left: try again") from None
        except sa.exc.DatabaseError as error:
            # The class itself, none of its kinds: no database, or a malformed one.
            if type(error.orig) is sqlite3.DatabaseError:
                raise self._damaged(error.orig) from None
            raise
        except sqlite3.DatabaseError as error:
            # From the first words to a new connection.
            if type(error) is sqlite3.DatabaseError:
                raise self._damaged(error) from None
            raise

    def _damaged(self, error: sqlite3.Error) -> "BadStorageError":
        where = str(self.url.database)
        return BadStorageError(f"storage must be an undamaged SQLite database, got {where!r}: {error}")

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()

    def _migrate(self) -> None:
        with self.reading() as connection:
            if self._is_latest(connection):
                return
        need("study", "studies need", "alembic")
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

    def heads(self) -> dict[str, str]:
        """The last hash of every study, by name."""
        with self.reading() as connection:
            return {row.name: row.head for row in connection.execute(sa.select(studies.c.name, studies.c.head))}

    def firsts(self) -> list[tuple[Event, int]]:
        """(first event, length of the log) of every study."""
        columns = sa.select(events.c.text, events.c.hash, studies.c.position)
        query = columns.join(studies, studies.c.id == events.c.study).where(events.c.position == 0)
        with self.reading() as connection:
            rows = connection.execute(query.order_by(studies.c.id)).all()
        return [(read(row.text, row.hash), whole_column("position", row.position) + 1) for row in rows]

    def require(self, name: str) -> None:
        """There must be such a study."""
        if not isinstance(name, str):
            raise InputTypeError(f"name must be the name of a study, got {shown(name)}")
        with self.reading() as connection:
            possible = name.isprintable()
            found = connection.execute(
                sa.select(studies.c.id).where(studies.c.name == (name if possible else ""))
            ).scalar()
        if found is None:
            names = self.names()
            known, hint = first_few([*map(repr, names)], 20), _checks.meant(name, names)
            raise NoStudyError(f"name must be a study of this storage ({known or 'none'}), got {shown(name)}{hint}")

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


def _is_busy(error: object) -> bool:
    """Has somebody else the lock? PostgreSQL: lock_not_available."""
    if isinstance(error, sqlite3.OperationalError):
        return "locked" in str(error)
    return getattr(error, "sqlstate", None) == "55P03"


def _is_read_only(error: object) -> bool:
    """PostgreSQL: read_only_sql_transaction."""
    if isinstance(error, sqlite3.OperationalError):
        return "readonly" in str(error)
    return getattr(error, "sqlstate", None) == "25006"


def _set_up_sqlite(connection: sqlite3.Connection) -> sqlite3.Connection:
    # The driver must not begin transactions on its own: `_begin_sqlite` does.
    connection.isolation_level = None
    try:
        mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
        if mode != "wal":
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        # An acknowledged outcome survives a power cut.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
    except UnicodeDecodeError:
        # In its own complaint about a damaged file.
        connection.close()
        raise sqlite3.DatabaseError("malformed") from None
    except BaseException:
        connection.close()
        raise
    return connection


def _begin_sqlite(patience: float, connection: Connection) -> None:
    if connection.get_execution_options().get("writing", False):
        _take_turn(connection, patience)
    else:
        connection.exec_driver_sql("BEGIN")


def _take_turn(connection: Connection, patience: float) -> None:
    """BEGIN IMMEDIATE, tried often. By itself SQLite soon tries only ten times a second, and hardly ever finds the
    moment between two transactions of somebody who writes all the time."""
    own: Any = connection.connection.driver_connection
    end = time.monotonic() + patience
    try:
        while True:
            left = end - time.monotonic()
            own.execute(f"PRAGMA busy_timeout = {int(1000 * max(min(left, OFTEN), 0.0))}")
            try:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                return
            except sa.exc.OperationalError as error:
                if left <= OFTEN or not _is_busy(error.orig):
                    raise
    finally:
        own.execute(f"PRAGMA busy_timeout = {int(1000 * patience)}")
