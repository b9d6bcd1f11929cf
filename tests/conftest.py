"""A PostgreSQL server of the tests' own; and machine code from the first call on, which saves more than it costs."""

import pytest

from benchmarks.postgres import server
from prepex import Study
from prepex._kernels import engine

engine.Here.waiting = 1


@pytest.fixture(scope="session")
def postgres():
    with server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def storage(request, tmp_path):
    """A file of SQLite, or an empty PostgreSQL database."""
    if request.param == "sqlite":
        return str(tmp_path / "trials.db")
    url = request.getfixturevalue("postgres")
    for overview in Study.list(url):
        Study.delete(url, overview.name, confirm=overview.name)
    return url
