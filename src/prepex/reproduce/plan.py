"""A reproduction from the first cell to the report."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from prepex import __version__, _checks
from prepex.drawing import figure_class
from prepex.errors import InputError
from prepex.reproduce import pages
from prepex.reproduce.catalogue import FIGURES, check_size, find
from prepex.reproduce.cell import Cell, Row
from prepex.reproduce.engine import complete, missing
from prepex.reproduce.figure import Figure, Result
from prepex.reproduce.store import Store

BACKENDS = ("loky", "dask")


@dataclass(frozen=True, eq=False)
class Plan:
    """What to reproduce, at which size, from which seed, in which folder."""

    figures: tuple[Figure, ...]
    size: str
    seed: int
    store: Store

    @classmethod
    def make(cls, *names: str, size: str = "default", seed: int = 0, out: str | Path) -> "Plan":
        """The named figures; "all", or no name, means all of them."""
        check_size(size)
        _checks.seed(seed)
        return cls(tuple(find(names)), size, seed, Store(Path(out)))

    @classmethod
    def stored(cls, folder: str | Path) -> "Plan":
        """The plan behind a folder of results, for all figures that are finished in it."""
        store = Store(Path(folder))
        manifest = store.manifest()
        size, seed = manifest.get("size"), manifest.get("seed")
        plan = cls.make("all", size=str(size), seed=_checks.whole("seed in the manifest", seed, low=0), out=folder)
        if manifest != plan.manifest():
            raise InputError(f"folder must hold results of prepex {__version__}, got {manifest}")
        return plan

    def manifest(self) -> dict[str, Any]:
        """What makes two runs the same: their cells may stand in one folder."""
        settings = {name: asdict(figure.settings[self.size]) for name, figure in FIGURES.items()}
        digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]
        return {"prepex": __version__, "size": self.size, "seed": self.seed, "settings": digest}

    def cells(self, figure: Figure) -> Sequence[Cell]:
        """The work of a figure."""
        return figure.cells(figure.settings[self.size], self.seed)

    def missing(self) -> list[Cell]:
        """The work that is left."""
        return missing([cell for figure in self.figures for cell in self.cells(figure)], self.store)

    def rows(self, figure: Figure) -> tuple[list[Row], float] | None:
        """All rows of a figure and the seconds they took; None while a cell is missing."""
        found = [self.store.read(cell) for cell in self.cells(figure)]
        if None in found:
            return None
        parts = [part for part in found if part is not None]
        return [row for rows, _ in parts for row in rows], sum(seconds for _, seconds in parts)

    def results(self) -> Iterator[tuple[Figure, list[Row], Result, float]]:
        """Every figure that is finished in the folder, asked for now or earlier."""
        for figure in FIGURES.values():
            found = self.rows(figure)
            if found is not None:
                rows, seconds = found
                yield figure, rows, figure.assemble(figure.settings[self.size], rows), seconds


def reproduce(
    *names: str,
    size: str = "default",
    out: str | Path,
    seed: int = 0,
    n_jobs: int = -1,
    force: bool = False,
    backend: str = "loky",
    scheduler: str | None = None,
    begin: Callable[[list[Cell]], None] | None = None,
    done: Callable[[Cell], None] | None = None,
) -> Path:
    """Do what is missing of the named figures in the folder `out`, and write them with a report; returns its path.

    names       figures, or "all" (also if none is given)
    n_jobs      processes, -1 for all cores
    force       forget another run's results in `out`
    backend     "loky" for processes here, "dask" for the cluster whose `scheduler` is given
    begin       called once with the cells to do; `done`, with each as it is finished

    >>> import tempfile
    >>> report = reproduce("fronts", size="small", out=tempfile.mkdtemp(), n_jobs=1)
    >>> report.name, sorted(path.name for path in report.parent.glob("fronts.*"))
    ('report.html', ['fronts.csv', 'fronts.png', 'fronts.svg'])
    """
    plan = Plan.make(*names, size=size, seed=seed, out=out)
    figure_class()  # without matplotlib, fail before the work and not after it
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise InputError(f"n_jobs must be a number of processes, or -1 for all cores, got {n_jobs!r}")
    with _workers(backend, scheduler, n_jobs) as jobs:
        plan.store.claim(plan.manifest(), force=force)
        cells = plan.missing()
        if begin:
            begin(cells)
        complete(cells, plan.store, n_jobs=jobs, done=done or (lambda cell: None))
    return pages.write(plan.store.folder, plan.manifest(), plan.results())


@contextmanager
def _workers(backend: str, scheduler: str | None, n_jobs: int) -> Iterator[int]:
    if backend not in BACKENDS:
        raise InputError(f"backend must be one of {', '.join(BACKENDS)}, got {backend!r}")
    if backend == "loky":
        if scheduler is not None:
            raise InputError(f"scheduler is for backend dask, got {scheduler!r} with backend loky")
        yield n_jobs
        return
    if not scheduler:
        raise InputError("scheduler must be given with backend dask: --scheduler tcp://host:8786")
    from prepex.cluster import dask

    with dask(scheduler) as jobs:
        yield jobs
