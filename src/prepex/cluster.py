"""Simulations on many machines: a running Dask cluster takes the place of local processes.

Needs `pip install "prepex[dask]"` on every machine, with the same version of prepex.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from prepex import __version__
from prepex.errors import InputError
from prepex.extras import need

# Long enough for a scheduler on a slow network, short enough for a mistyped address.
PATIENCE = 5.0


@contextmanager
def dask(address: str) -> Iterator[int]:
    """Inside, `simulate(..., n_jobs=jobs)` runs on the cluster at `address`; gives the number of jobs to ask for.

    The same seed gives the same results as on one machine, whatever the cluster looks like.

        with prepex.cluster.dask("tcp://10.0.0.1:8786") as jobs:
            runs = simulate(problem, sampling=rule, n_runs=1000, n_jobs=jobs)
    """
    need("dask", "a Dask cluster needs", "distributed")
    from distributed import Client
    from joblib import parallel_config

    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise InputError(
            f"scheduler must be the address of a running Dask scheduler, as in tcp://host:8786, got {address!r}; "
            f"tried for {PATIENCE:g} seconds: {reason}"
        ) from None
    with client:
        jobs = _check_workers(client, address)
        with parallel_config(backend="dask", client=client):
            yield jobs


def _installed() -> str:
    """On a worker: its version of prepex."""
    return __version__


def _check_workers(client: Any, address: str) -> int:
    """Results are the same only where the code is; the number of jobs that keeps all workers busy."""
    try:
        versions: dict[str, str] = client.run(_installed)
    except ImportError as error:
        raise InputError(f"workers must have prepex {__version__} installed, got at {address!r}: {error}") from None
    if not versions:
        raise InputError(f"scheduler must have workers (`dask worker {address}`), got none at {address!r}")
    for worker, version in versions.items():
        if version != __version__:
            raise InputError(f"workers must have prepex {__version__}, got {version} on {worker}")
    # One job would mean this process.
    return max(2, sum(client.nthreads().values()))
