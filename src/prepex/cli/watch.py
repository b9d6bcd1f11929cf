"""Progress of a reproduction: bars with the time left on a terminal, a line a figure elsewhere."""

import sys
from collections import Counter
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn

from prepex.reproduce.cell import Cell


class Watch:
    """Told of the cells to do, and of each as it is finished."""

    def __init__(self) -> None:
        self.left: Counter[str] = Counter()
        self.total = 0
        columns = TextColumn("{task.description:12}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
        self.bars = Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty())
        self.tasks: dict[str, TaskID] = {}

    def __enter__(self) -> "Watch":
        self.bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Older versions of rich end what never began with an empty line.
        if not self.bars.disable:
            self.bars.stop()

    def begin(self, cells: list[Cell]) -> None:
        """One bar a figure, and one for everything; a bar counts expected seconds, not cells."""
        self.left, self.total = Counter(cell.figure for cell in cells), len(cells)
        for name in ("everything", *self.left):
            weight = sum(cell.weight for cell in cells if name in ("everything", cell.figure))
            self.tasks[name] = self.bars.add_task(name, total=weight)

    def done(self, cell: Cell) -> None:
        """A cell is finished and stored."""
        self.left[cell.figure] -= 1
        for name in ("everything", cell.figure):
            self.bars.advance(self.tasks[name], cell.weight)
        if self.bars.disable and self.left[cell.figure] == 0:
            print(f"{cell.figure}: done; {self.progress}", file=sys.stderr, flush=True)

    @property
    def progress(self) -> str:
        """In words."""
        return f"{self.total - self.left.total()} of {self.total} cells of this run are finished and stored"
