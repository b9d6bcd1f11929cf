"""`prepex token` and `prepex tokens`: who may speak to a server."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from prepex.cli.shared import Format, FormatOption, errors
from prepex.errors import InputError

KeysOption = Annotated[Path, typer.Option("--keys", help="The file of bearer tokens.")]
DEFAULT = Path("prepex-keys.json")


def token(
    name: Annotated[str, typer.Argument(help="Whose token; the actor in the log.")],
    role: Annotated[str, typer.Argument(help="observer, worker or owner; `none` takes the token away.")],
    study: Annotated[list[str] | None, typer.Option(help="For this study alone; may be repeated.")] = None,
    days: Annotated[float | None, typer.Option(help="How long it holds; by default until it is taken away.")] = None,
    keys: KeysOption = DEFAULT,
) -> None:
    """Make a bearer token for `prepex serve --keys`. It is shown once; only its hash is kept."""
    with errors():
        from prepex.server.access import Keys

        if role == "none":
            Keys(keys).remove(name)
            typer.echo(f"took the token of {name} away")
            return
        if days is not None and not 0 < days <= 36500:
            raise InputError(f"days must be above 0 and at most 36500, got {days:g}")
        expires = None if days is None else datetime.now(UTC) + timedelta(days=days)
        typer.echo(Keys(keys).add(name, role, studies=study or None, expires=expires))


def tokens(keys: KeysOption = DEFAULT, format: FormatOption = Format.table) -> None:
    """Who has a token."""
    import json

    with errors():
        from prepex.server.access import Keys

        now, rows = datetime.now(UTC), []
        for holder in Keys(keys).holders():
            only = None if holder.studies is None else list(holder.studies)
            rows.append({"name": holder.name, "role": holder.role, "studies": only, "expires": holder.expires})
            if format is Format.table:
                word = "ended" if holder.expired(now) else "until"
                end = "" if holder.expires is None else f", {word} {holder.expires}"
                of = "all studies" if only is None else ", ".join(map(repr, only))
                typer.echo(f"{holder.name}: {holder.role} of {of}{end}")
        if format is Format.json:
            typer.echo(json.dumps(rows, indent=1))
