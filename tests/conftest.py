"""A PostgreSQL server of the tests' own."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def programs():
    """The folder of initdb and pg_ctl."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("pg_ctl")
    assert on_path, "the tests need a PostgreSQL server: apt-get install postgresql"
    return Path(on_path).resolve().parent


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    """The URL of a fresh database. The server refuses to run as root, so root starts it as another user."""
    bin_, folder = programs(), tmp_path_factory.mktemp("postgres")
    user = {}
    if os.geteuid() == 0:
        name = "postgres" if subprocess.run(["id", "postgres"], capture_output=True).returncode == 0 else "nobody"
        user = {"user": name, "group": name if name == "postgres" else "nogroup", "extra_groups": []}
        shutil.chown(folder, name)
        for parent in list(folder.parents)[:3]:
            parent.chmod(parent.stat().st_mode | 0o011)
    data, options = folder / "data", f"-k {folder} -c listen_addresses='' -c max_connections=100 -c shared_buffers=32MB"

    def run(*words):
        subprocess.run(list(map(str, words)), check=True, capture_output=True, cwd=folder, **user)

    run(bin_ / "initdb", "-D", data, "-U", "prepex", "-A", "trust", "-E", "UTF8", "--no-sync")
    run(bin_ / "pg_ctl", "-D", data, "-o", options, "-l", folder / "server.log", "-w", "start")
    yield f"postgresql://prepex@/postgres?host={folder}"
    run(bin_ / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
