"""What all commands share."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated

import typer


class Format(StrEnum):
    """How to print."""

    table = "table"
    json = "json"


FormatOption = Annotated[Format, typer.Option("--format", help="Table for people, json for scripts.")]


@contextmanager
def errors() -> Iterator[None]:
    """Bad input ends with one clear line, not a traceback."""
    try:
        yield
    except (ValueError, TypeError, ImportError, OSError) as error:
        typer.secho(f"Error: {error}", err=True, fg=typer.colors.RED)
        raise typer.Exit(2) from None
