"""The table of a race as JSON, CSV or Markdown."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from prepex import _checks
from prepex.errors import InputError
from prepex.racing.view import View
from prepex.racing.words import answer_words, tie_words
from prepex.whole_file import write_whole

KINDS = {"json": "json", "csv": "csv", "markdown": "markdown", "md": "markdown"}


def kind_of(target: str) -> tuple[str, Path | None]:
    """(kind, file): of a word, which is printed, or of a file by its ending.

    >>> kind_of("markdown"), kind_of("result.csv")
    (('markdown', None), ('csv', PosixPath('result.csv')))
    """
    if target in ("json", "csv", "markdown"):
        return target, None
    ending = Path(target).suffix.removeprefix(".").lower()
    if ending not in KINDS:
        raise InputError(f"export must be json, csv or markdown, or a file that ends in one of them, got {target!r}")
    return KINDS[ending], _checks.target("export", target)


def document(view: View) -> dict[str, Any]:
    """All of it."""
    answer = None if view.status is None else view.status.recommendation
    return {
        "name": view.name,
        "settled": view.done,
        "status": "running" if answer is None else answer.status,
        "answer": [row.option for row in view.front],
        "delta": None if answer is None else answer.delta,
        "runs": view.n,
        "objectives": {name: "minimise" if name in view.minimise else "maximise" for name in view.objectives},
        "options": [
            {
                "option": row.option,
                "runs": row.n,
                "state": row.state,
                "probability": row.probability,
                "failed": row.failed,
                "measures": {
                    name: None
                    if value is None
                    else {
                        "mean": value.mean,
                        "standard_error": value.error,
                        "of": "logarithm" if value.relative else "value",
                        "exact": value.exact,
                    }
                    for name, value in zip(view.objectives, row.values, strict=True)
                },
            }
            for row in view.rows
        ],
        "words": answer_words(view),
        "notes": [*view.notes, *tie_words(view)],
    }


def text_of(view: View, kind: str) -> str:
    """As it is written."""
    if kind == "json":
        return json.dumps(document(view), indent=2, ensure_ascii=False) + "\n"
    header = ["option", "runs", "state", "probability", *view.objectives]
    if kind == "csv":
        made = io.StringIO()
        writer = csv.writer(made, lineterminator="\n")
        errors = [f"{name} error" for name in view.objectives]
        writer.writerow([*header, *errors])
        for row in view.rows:
            means = ["" if value is None else repr(value.mean) for value in row.values]
            spread = ["" if value is None or value.error is None else repr(value.error) for value in row.values]
            chance = "" if row.probability is None else f"{row.probability:.4f}"
            writer.writerow([row.option, row.n, row.state, chance, *means, *spread])
        return made.getvalue()
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    for row in view.rows:
        name = row.option.replace("|", "\\|")
        cells = ["" if value is None else value.words for value in row.values]
        chance = "" if row.probability is None else f"{row.probability:.3f}"
        state = f"**{row.state}**" if row.state == "in" else row.state
        lines.append("| " + " | ".join([f"`{name}`", str(row.n), state, chance, *cells]) + " |")
    return "\n".join(lines) + "\n"


def write(view: View, target: str) -> str | None:
    """Write it to its file; what is to be printed otherwise."""
    kind, path = kind_of(target)
    text = text_of(view, kind)
    if path is None:
        return text
    write_whole(path, text)
    return None
