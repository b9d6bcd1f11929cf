"""Doing the cells that are missing: clocks first and alone, then the rest in parallel, the longest first."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from prepex.instances import correlated
from prepex.reproduce.cell import Cell, Row
from prepex.reproduce.measure import paced, stopping
from prepex.reproduce.store import Store
from prepex.sampling import APE, FraPPE

Finished = tuple[int, list[Row], float]


def missing(cells: Sequence[Cell], store: Store) -> list[Cell]:
    """The cells that are not finished, each once."""
    unique = {cell.key: cell for cell in cells}
    return [cell for cell in unique.values() if store.read(cell) is None]


def complete(cells: Sequence[Cell], store: Store, *, n_jobs: int, done: Callable[[Cell], None]) -> None:
    """Do the cells and store each as it finishes; `done` is called after each.

    What is timed runs here, one after the other, while nothing else runs.
    """
    if cells and n_jobs != 1:
        _warm(n_jobs)
    clocks = [cell for cell in cells if cell.timed]
    others = sorted((cell for cell in cells if not cell.timed), key=lambda cell: -cell.weight)
    for work, jobs in ((clocks, 1), (others, n_jobs)):
        for index, rows, seconds in _results(work, jobs):
            store.write(work[index], rows, seconds)
            done(work[index])


def _warm(n_jobs: int) -> None:
    """Compile the two loops side by side; whoever comes later finds the machine code on disk."""
    from joblib import Parallel, delayed

    Parallel(n_jobs=n_jobs, batch_size=1)(
        [delayed(stopping)(correlated(), FraPPE(), (0.1,), 0, 1, 0, 20), delayed(paced)(correlated(), APE(), 20, 1, 0)]
    )


def _results(cells: Sequence[Cell], n_jobs: int) -> Iterable[Finished]:
    if n_jobs == 1 or not cells:
        return (_finish(index, cell) for index, cell in enumerate(cells))
    return _in_parallel(cells, n_jobs)


def _in_parallel(cells: Sequence[Cell], n_jobs: int) -> Iterator[Finished]:
    from joblib import Parallel, delayed

    # One cell a task: each is stored the moment that it is finished.
    workers = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    yield from workers(delayed(_finish)(index, cell) for index, cell in enumerate(cells))


def _finish(index: int, cell: Cell) -> Finished:
    began = time.perf_counter()
    rows = cell.work(*cell.arguments)
    return index, rows, time.perf_counter() - began
