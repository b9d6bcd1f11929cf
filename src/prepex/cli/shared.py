"""What all commands share."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, Any, NoReturn

import typer

from prepex.errors import InputError
from prepex.spoken import LIMIT_HELP, TOLERANCE_HELP


class Format(StrEnum):
    """How to print."""

    table = "table"
    json = "json"


ToleranceOption = Annotated[list[str] | None, typer.Option("--tolerance", help=TOLERANCE_HELP + ".")]
AtMostOption = Annotated[
    list[str] | None,
    typer.Option("--at-most", help="OBJECTIVE=NUMBER that an option must not exceed; may be repeated."),
]
AtLeastOption = Annotated[
    list[str] | None, typer.Option("--at-least", help="OBJECTIVE=NUMBER that an option must reach; may be repeated.")
]
LimitOption = Annotated[list[str] | None, typer.Option("--limit", help=LIMIT_HELP + ".")]
FormatOption = Annotated[Format, typer.Option("--format", help="Table for people, json for scripts.")]


@contextmanager
def errors() -> Iterator[None]:
    """Bad input ends with one clear line, not a traceback; so does what is worth a warning, once."""
    try:
        with _plain_warnings():
            yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise  # nobody reads on: typer ends without a word
    except FileNotFoundError as error:
        if error.filename is None:
            raise
        _refuse(f"there must be a file {str(error.filename)!r}, got none")
    except (InputError, ImportError, OSError) as error:
        # Names and values out of files are part of the words: they must not steer the terminal.
        _refuse(str(error))


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Warnings of this package are lines without a place in the source; those of others stay as they are."""
    said: set[str] = set()
    with warnings.catch_warnings():
        others = warnings.showwarning
        warnings.simplefilter("always", UserWarning)

        def show(message: Warning | str, category: type[Warning], *place: Any, **options: Any) -> None:
            if category is not UserWarning:
                others(message, category, *place, **options)
            elif str(message) not in said:
                said.add(str(message))
                typer.secho(f"Warning: {printable(str(message))}", err=True, fg=typer.colors.YELLOW)

        warnings.showwarning = show
        yield


def _refuse(words: str) -> NoReturn:
    typer.secho(f"Error: {printable(words)}", err=True, fg=typer.colors.RED)
    raise typer.Exit(2) from None


def escape(text: str) -> str:
    """For a table or a sentence: what comes out of a file steers neither the terminal nor the markup."""
    from rich.markup import escape as without_markup

    return without_markup(printable(text))


def printable(text: str) -> str:
    r"""Without control characters.

    >>> printable("red \x1b[31m")
    'red \\x1b[31m'
    """
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
