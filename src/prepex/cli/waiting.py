"""What is shown while something is computed: a bar or a spinner on a terminal, silence elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer


@contextmanager
def progress(what: str, *, quiet: bool) -> Iterator[tuple[Callable[[int], None], Callable[[int], None]]]:
    """A bar with the time left on a terminal, silence elsewhere: (set the total, advance)."""
    if quiet or not sys.stderr.isatty():
        announce(lambda text: typer.echo(text, err=True))
        yield (lambda total: None), (lambda finished: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        announce(bar.console.print)
        task = bar.add_task(what, total=None)
        yield (lambda total: bar.update(task, total=total)), (lambda finished: bar.advance(task, finished))


@contextmanager
def working(what: str, *, quiet: bool) -> Iterator[None]:
    """A spinner on a terminal, silence elsewhere."""
    if quiet or not sys.stderr.isatty():
        announce(lambda text: typer.echo(text, err=True))
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what) as status:
        announce(status.console.print)
        yield


def announce(say: Callable[[str], None]) -> None:
    """How to say that something is being compiled first."""
    from prepex._kernels import engine

    engine.announce = say
