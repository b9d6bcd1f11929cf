"""The time of a database, by which leases are judged: one clock for all processes that share it.

PostgreSQL has its own. SQLite has none, but the file system that keeps the file has: what it writes on a file that is
made beside the database. A process whose own clock is wrong changes neither.
"""

import os
import tempfile
import time
from pathlib import Path

from prepex.study.tables import Connection, sa
from prepex.study.words import as_time


def database_time(connection: Connection) -> str:
    """The time now, as the log writes it."""
    if connection.dialect.name != "sqlite":
        return as_time(connection.execute(sa.select(sa.func.clock_timestamp())).scalar_one().timestamp())
    return as_time(_file_time(connection.engine.url.database))


def _file_time(database: str | None) -> float:
    try:
        with tempfile.TemporaryFile(dir=Path(database or "").parent, buffering=0) as file:
            file.write(b"\0")
            return os.fstat(file.fileno()).st_mtime_ns / 1e9
    except OSError:
        # A folder in which nothing can be made: the clock of this process is all there is.
        return time.time()
