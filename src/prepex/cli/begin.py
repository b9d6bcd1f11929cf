"""`prepex study create --from FILE`: a study that begins with a table of outcomes."""

import csv
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prepex import _checks
from prepex.cli import analyse, wizard
from prepex.errors import InputError

if TYPE_CHECKING:
    from prepex.study.study import Study


def begin_study(
    path: Path,
    storage: str,
    name: str,
    *,
    actor: str,
    lease: str | None,
    max_waiting: int | None,
    options: dict[str, Any],
    **words: Any,
) -> tuple["Study", dict[str, Any]]:
    """The study, and what was imported: source, number of outcomes, notes on how the table was read.

    Made with what `prepex analyse` assumes, and told the rows in its order. All or nothing: if the import is
    refused, there is no study."""
    from prepex.study.study import Study

    found = analyse.read(str(path), **words)
    if found.given is None:
        raise InputError(f"{path} must have several trials of an option to begin a study, got one of each")
    settings = found.given.settings
    if options["max_pulls"] is not None:
        settings = replace(settings, max_pulls=_checks.whole("max_pulls", options["max_pulls"], low=len(found.arms)))
    if options["avoid_infeasible"]:
        settings = settings.avoiding()
    seconds = None if lease is None else wizard.parse_lease(lease)
    study = Study.create(storage, name, settings, lease=seconds, max_waiting=max_waiting, actor=actor)
    rows = found.outcomes()
    try:
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / path.name
            with table.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, fieldnames=list(rows[0]))
                writer.writeheader()
                writer.writerows(
                    {key: repr(value) if isinstance(value, float) else value for key, value in row.items()}
                    for row in rows
                )
            study.import_csv(table, actor=actor)
    except BaseException:
        Study.delete(storage, name, confirm=name)
        raise
    families = [f"{name}: {guess.words}" for name, guess in zip(found.objectives, found.families, strict=True)]
    wizard.warn_of_budget(settings)
    return study, {"source": str(path), "outcomes": len(rows), "notes": [*families, *found.notes]}
