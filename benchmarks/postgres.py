"""A PostgreSQL server of one's own, for as long as it is needed."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def programs() -> Path:
    """The folder of initdb and pg_ctl."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("pg_ctl")
    if on_path is None:
        raise RuntimeError("a PostgreSQL server is needed: apt-get install postgresql")
    return Path(on_path).resolve().parent


@contextmanager
def server() -> Iterator[str]:
    """The URL of a fresh database. The server refuses to run as root, so root starts it as another user."""
    folder = Path(tempfile.mkdtemp(prefix="prepex-postgres-"))
    if user := _user():
        shutil.chown(folder, user["user"], user["group"])
    options = f"-k {folder} -c listen_addresses='' -c max_connections=100 -c shared_buffers=32MB"
    try:
        _run(folder, "initdb", "-U", "prepex", "-A", "trust", "-E", "UTF8", "--no-sync")
        _run(folder, "pg_ctl", "-o", options, "-l", folder / "server.log", "-w", "start")
        try:
            yield f"postgresql://prepex@/postgres?host={folder}"
        finally:
            _run(folder, "pg_ctl", "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def restart(url: str) -> None:
    """Stop a server that `server` started, whatever it does, and start it again."""
    folder = Path(url.partition("host=")[2])
    _run(folder, "pg_ctl", "-m", "fast", "-l", folder / "server.log", "-w", "restart")


def _user() -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    known = subprocess.run(["id", "postgres"], capture_output=True, check=False).returncode == 0
    name, group = ("postgres", "postgres") if known else ("nobody", "nogroup")
    return {"user": name, "group": group, "extra_groups": []}


def _run(folder: Path, program: str, *words: object) -> None:
    command = [str(programs() / program), "-D", str(folder / "data"), *map(str, words)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder, **_user())
