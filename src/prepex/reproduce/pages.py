"""What a reader gets: a picture and a table of raw rows for each figure, and one report that needs nothing else."""

import base64
import csv
import html
import io
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prepex.reproduce.cell import Row
from prepex.reproduce.figure import Figure, Result, Table
from prepex.reproduce.store import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

REPORT = "report.html"
STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --paper: #ffffff; --card: #f4f6f8; --line: #d5dbe1;
  --accent: #0b62a4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #a0a8b2; --paper: #14171b; --card: #1e2329;
  --line: #3a424b; --accent: #7cc0f5; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
a { color: var(--accent); }
.soft, caption, .note { color: var(--soft); }
.verdict { border-left: 4px solid var(--accent); background: var(--card); padding: .6rem .9rem; }
img { display: block; width: 100%; height: auto; background: #ffffff; border-radius: 6px; padding: .4rem; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; min-width: 60%; }
caption { text-align: left; padding-bottom: .3rem; font-weight: 600; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; }
td:last-child { white-space: normal; }
td.text { white-space: normal; text-align: left; }
@media (max-width: 40rem) { .contents :is(table, tbody, tr, td) { display: block; } .contents td { border: 0; }
  .contents tr { border-bottom: 1px solid var(--line); } }
code { background: var(--card); padding: .1rem .3rem; border-radius: 4px; overflow-wrap: anywhere; }
.note { font-size: .85rem; margin: .2rem 0; }
"""


def write(folder: Path, manifest: dict[str, Any], results: Iterable[tuple[Figure, list[Row], Result, float]]) -> Path:
    """Write all files of the figures, and the report; returns the report's path."""
    sections, summary, total = [], [], 0.0
    for figure, rows, result, seconds in results:
        png = picture_bytes(result.picture, "png")
        (folder / f"{figure.name}.png").write_bytes(png)
        (folder / f"{figure.name}.svg").write_bytes(picture_bytes(result.picture, "svg"))
        write_csv(folder / f"{figure.name}.csv", rows)
        sections.append(_section(figure, result, png, seconds))
        summary.append((figure, result.verdict))
        total += seconds
    report = folder / REPORT
    write_whole(report, _report(manifest, summary, sections, total))
    return report


def picture_bytes(picture: "Picture", kind: str) -> bytes:
    """The same rows give the same bytes: no dates, no random names inside."""
    from matplotlib import rc_context

    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "prepex"}):
        picture.savefig(buffer, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    return buffer.getvalue()


def write_csv(path: Path, rows: list[Row]) -> None:
    """All rows; columns as they first appear."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: f"{v:.6g}" if isinstance(v, float) else v for key, v in row.items()} for row in rows)
    write_whole(path, text.getvalue())


def _report(manifest: dict[str, Any], summary: list[tuple[Figure, str]], sections: list[str], total: float) -> str:
    command = f"prepex reproduce all --size {manifest['size']} --seed {manifest['seed']}"
    contents = "".join(
        f'<tr><td><a href="#{figure.name}">{_text(figure.title)}</a></td><td class="text">{_text(verdict)}</td></tr>'
        for figure, verdict in summary
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>The FraPPE paper, reproduced</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        "<h1>The FraPPE paper, reproduced with prepex</h1>\n"
        f'<p class="soft">prepex {_text(manifest["prepex"])}, size {_text(manifest["size"])}, seed {manifest["seed"]}, '
        f"{total:,.0f} seconds of computing, Python {platform.python_version()} on {_text(platform.machine())}.<br>"
        f"Again: <code>{_text(command)}</code></p>\n"
        "<p>Every number below is computed from the stored runs. The paper is Das, Shukla and Basu, FraPPE: Fast and "
        "Efficient Preference-Based Pure Exploration (2025).</p>\n"
        f'<div class="wide contents"><table><caption>Verdicts</caption><tbody>{contents}</tbody></table></div>\n'
        + "\n".join(sections)
        + "\n</body>\n</html>\n"
    )


def _section(figure: Figure, result: Result, png: bytes, seconds: float) -> str:
    data = base64.b64encode(png).decode()
    measured = "".join(f"<li>{_text(line)}</li>" for line in result.measured)
    return (
        f'<section id="{figure.name}">\n<h2>{_text(figure.title)}</h2>\n'
        f'<p class="verdict">{_text(result.verdict)}</p>\n'
        f"<p><b>The paper:</b> {_text(figure.paper)}</p>\n"
        f"<p><b>Measured:</b></p><ul>{measured}</ul>\n"
        f'<img alt="{_text(figure.title)}" src="data:image/png;base64,{data}">\n'
        + "".join(_table(table) for table in result.tables)
        + f'<p class="note">Raw rows: {figure.name}.csv. Computed in {seconds:,.1f} seconds.</p>\n</section>'
    )


def _table(table: Table) -> str:
    above = f"<p>{_text(table.above)}</p>\n" if table.above else ""
    head = "".join(f"<th>{_text(entry)}</th>" for entry in table.header)
    body = "".join("<tr>" + "".join(f"<td>{_text(entry)}</td>" for entry in row) + "</tr>" for row in table.rows)
    notes = "".join(f'<p class="note">{_text(note)}</p>' for note in table.notes)
    return (
        f'{above}<div class="wide"><table><caption>{_text(table.title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>\n{notes}\n"
    )


def _text(value: object) -> str:
    return html.escape(str(value))
