"""A PostgreSQL server of the tests' own."""

import pytest

from benchmarks.postgres import server


@pytest.fixture(scope="session")
def postgres():
    with server() as url:
        yield url
