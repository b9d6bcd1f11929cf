"""Small pieces of HTML for notebooks, and tables as data frames.

Text is escaped. Colours come from the page around, or can be read on light and dark grounds alike.
"""

import html
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Any

from prepex.extras import need
from prepex.numerals import number

# What text and axes are drawn in, dark on white: in a page it is the page's own colour.
INK = ("#000000", "#262626", "#404040", "#595959", "#666666")
# Rows of a table; what is beyond is counted.
MOST_ROWS = 200
# Each output of a notebook stands alone, so each brings its style.
STYLE = (
    ".prepex{line-height:1.45;max-width:64rem}.prepex p{margin:.3rem 0;overflow-wrap:anywhere}"
    ".prepex .soft{opacity:.75}.prepex .scroll{overflow:auto;max-height:30rem}"
    ".prepex table{border-collapse:collapse;margin:.4rem 0;background:none;color:inherit}"
    ".prepex th,.prepex td{padding:.15rem .9rem .15rem 0;text-align:left;vertical-align:top;background:none;"
    "color:inherit;font-variant-numeric:tabular-nums}"
    ".prepex tr{border-bottom:1px solid #8885;background:none}.prepex td.n,.prepex th.n{text-align:right}"
    ".prepex tr.in td{font-weight:600}.prepex tr.out td{opacity:.65}"
)


def text(value: object) -> str:
    """As it is read, not as markup.

    >>> text("a < b")
    'a &lt; b'
    """
    return html.escape(str(value))


def block(title: str, *parts: str) -> str:
    """A title and what belongs to it; the parts are HTML.

    >>> block("Cone", line("wide"))[-45:]
    '<p><strong>Cone</strong></p><p>wide</p></div>'
    """
    head = f"<p><strong>{text(title)}</strong></p>" if title else ""
    return f'<div class="prepex"><style>{STYLE}</style>{head}{"".join(parts)}</div>'


def line(words: str, *, soft: bool = False) -> str:
    """A paragraph of plain text; none without words.

    >>> line("a & b"), line("")
    ('<p>a &amp; b</p>', '')
    """
    mark = ' class="soft"' if soft else ""
    return f"<p{mark}>{text(words)}</p>" if words else ""


def table(heads: Sequence[str], rows: Sequence[Sequence[object]], kinds: Iterable[str] = ()) -> str:
    """Rows of text and numbers; `kinds` are "in", "out" or "open", one a row, where rows are options.

    >>> table(("arm", "n"), [("a", 12)], ["in"])[20:]
    '<table><tr><th>arm</th><th class="n">n</th></tr><tr class="in"><td>a</td><td class="n">12</td></tr></table></div>'
    """
    shown = rows[:MOST_ROWS]
    marks = [f' class="{text(kind)}"' if kind else "" for kind in kinds] or [""] * len(shown)
    numeric = [all(_is_number(row[k]) for row in shown) and bool(shown) for k in range(len(heads))]
    right = [' class="n"' if is_number else "" for is_number in numeric]
    head = "".join(f"<th{mark}>{text(name)}</th>" for name, mark in zip(heads, right, strict=True))
    body = ""
    for row, mark in zip(shown, marks, strict=False):
        cells = "".join(f"<td{side}>{text(_cell(entry))}</td>" for entry, side in zip(row, right, strict=True))
        body += f"<tr{mark}>{cells}</tr>"
    more = line(f"and {len(rows) - MOST_ROWS:,} more", soft=True) if len(rows) > MOST_ROWS else ""
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table>{more}</div>'


@dataclass(frozen=True)
class Rows:
    """A table with a name for each row: for a notebook, and as a data frame.

    head, names   of the first column, and what is in it
    columns       the others: (name, entries); a name may come twice
    kinds         as for `table`
    """

    head: str
    names: Sequence[object]
    columns: Sequence[tuple[str, Sequence[Any]]]
    kinds: Sequence[str] = ()

    def to_html(self) -> str:
        """
        >>> Rows("arm", ("a<b",), [("n", [3])]).to_html()[-58:]
        '<tr><td>a&lt;b</td><td class="n">3</td></tr></table></div>'
        """
        rows = list(zip(self.names, *(entries for _, entries in self.columns), strict=True))
        return table([self.head, *(name for name, _ in self.columns)], rows, self.kinds)

    def to_frame(self) -> Any:
        """By the first column (needs pandas).

        >>> Rows("arm", ("a",), [("n", [3]), ("n", [0.5])]).to_frame().columns.tolist()
        ['n', 'n (2)']
        """
        columns: dict[str, Sequence[Any]] = {self.head: self.names}
        for name, entries in self.columns:
            # Objectives may have any name.
            columns[f"{name} (2)" if name in columns else name] = entries
        return frame(columns, self.head)


def wedge(rays: Sequence[Sequence[float]], names: Sequence[str]) -> str:
    """The cone of two rays as a small picture: what is better than the middle, and what is worse.

    >>> wedge([[1.0, 0.0], [0.0, 1.0]], ("gain", "speed"))[:44]
    '<svg width="150" height="150" viewBox="-75 -'
    """
    ends = [(52.0 * x / hypot(x, y), -52.0 * y / hypot(x, y)) for x, y in rays]
    (a, b), (c, d) = ends
    sides = "".join(
        f'<path d="M0 0L{s * a:.1f} {s * b:.1f}A52 52 0 0 {turn} {s * c:.1f} {s * d:.1f}Z" fill="{colour}" '
        f'fill-opacity=".4"><title>{words}</title></path>'
        for s, colour, words in ((1.0, "#3a8fd0", "better"), (-1.0, "#d5702a", "worse"))
        for turn in [int(a * d - b * c > 0.0)]
    )
    across, up = (text(name if len(name) <= 22 else name[:21] + "…") for name in names)
    # Half way between the rays, at a distance that does not depend on how wide they are apart.
    length = hypot(a + c, b + d)
    middle = (30.0 * (a + c) / length, 30.0 * (b + d) / length)
    return (
        '<svg width="150" height="150" viewBox="-75 -75 150 150" role="img" aria-label="the cone" fill="currentColor" '
        'font-size="10" text-anchor="middle"><path d="M-60 0H60M0 60V-60" stroke="currentColor" opacity=".5"/>'
        f'{sides}<text x="{middle[0]:.0f}" y="{middle[1] + 3:.0f}">better</text>'
        f'<text x="{-middle[0]:.0f}" y="{3 - middle[1]:.0f}">worse</text>'
        f'<text y="72">{across} →</text><text transform="translate(-66 0) rotate(-90)">{up} →</text></svg>'
    )


def frame(columns: Mapping[str, Sequence[Any]], index: str | None = None) -> Any:
    """A data frame of pandas, by the column `index` if it is named."""
    need("frame", "data frames need", "pandas")
    import pandas as pd

    made = pd.DataFrame(dict(columns))
    return made if index is None else made.set_index(index)


def _is_number(entry: object) -> bool:
    return isinstance(entry, int | float) and not isinstance(entry, bool)


def _cell(entry: object) -> str:
    """Numbers with the digits that are read, nothing for what is not known.

    >>> _cell(1234.5678), _cell(None), _cell(True), _cell("x")
    ('1,235', '', 'yes', 'x')
    """
    if entry is None or entry is False:
        return ""
    if entry is True:
        return "yes"
    if isinstance(entry, int):
        return f"{entry:,}"
    return number(entry) if isinstance(entry, float) else str(entry)


def svg_of(figure: Any) -> str:
    """The picture as part of a page: text and axes in the colour of the page, the ground that of the page.

    Where marks hide what is behind them, they are filled with `--paper`, white if the page does not say it.
    """
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    for colour in INK:
        text = text.replace(colour, "currentColor")
    # Letters have no colour of their own if they are black.
    return text.replace("#ffffff", "var(--paper, #fff)").replace("<svg ", '<svg fill="currentColor" ', 1)
