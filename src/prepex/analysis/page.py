"""An analysis as one HTML file."""

import html
from collections.abc import Iterable

from prepex import markup
from prepex.analysis import text
from prepex.analysis.analyse import Analysis

STYLE = """
:root { color-scheme: light dark; --paper: #fff; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #17202a; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; margin-top: 1.8rem; }
.scroll { overflow-x: auto; margin: 1.2rem 0; } svg { max-width: 100%; height: auto; }
.answer { padding: .8rem 1rem; background: #eef4fb; border-radius: .5rem; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #161616; } body { background: #161616; color: #ddd; } .answer { background: #1d2a3a; } }
"""
TABLE = """
table.prepex { border-collapse: collapse; }
table.prepex th, table.prepex td { padding: .2rem .8rem .2rem 0; text-align: left; }
table.prepex tr { border-bottom: 1px solid #8884; } table.prepex tr.in td { font-weight: 600; }
table.prepex tr.out td { opacity: .65; }
"""
# Under the picture.
BARS = "Marks are means; bars are one standard error of the mean to either side."


def make_page(found: Analysis) -> str:
    """The whole, with its picture."""
    name = html.escape(found.source)
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{name}</title>'
    return (
        f'<!doctype html><html lang="en"><head>{head}<style>{STYLE}</style></head><body><h1>{name}</h1>'
        f"{make_body(found)}{_picture(found)}</body></html>"
    )


def make_note(found: Analysis) -> str:
    """What a notebook shows: the same, without the picture and with small heads."""
    return markup.block(repr(found), make_body(found, "<p><strong>{}</strong></p>"))


def make_body(found: Analysis, head: str = "<h2>{}</h2>") -> str:
    """Without head and picture."""
    families = [f"{name}: {guess.words}" for name, guess in zip(found.objectives, found.families, strict=True)]
    parts = [
        f"<style>{TABLE}</style>",
        f'<div class="answer">{"<br>".join(map(html.escape, text.sentences(found)))}</div>',
        _table(found),
        f"<p>{html.escape(' '.join(filter(None, [text.asked(found), text.legend(found)])))}</p>",
    ]
    closest = text.changes(found)
    if closest:
        parts += [head.format("The closest changes"), _list(closest)]
    if found.given is not None:
        parts += [head.format("What was assumed"), _list([*families, *found.notes])]
    return "".join([*parts, f"<p>{html.escape(found.guarantee)}</p>"])


def _table(found: Analysis) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in text.heads(found))
    body = ""
    for arm, row in zip(found.arms, text.rows(found), strict=True):
        cells = "".join(f"<td>{html.escape(entry)}</td>" for entry in row)
        body += f'<tr class="{arm.state or ""}">{cells}</tr>'
    return f'<div class="scroll"><table class="prepex"><tr>{head}</tr>{body}</table></div>'


def _list(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ul>"


def _picture(found: Analysis) -> str:
    """Where matplotlib is there."""
    try:
        figure = found.plot()
    except ImportError:
        return ""
    return f"<h2>The options</h2>{markup.svg_of(figure)}<p>{html.escape(BARS)}</p>"
