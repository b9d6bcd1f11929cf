"""A figure of matplotlib that a notebook shows by itself, in light and dark. Imports matplotlib."""

import io

from matplotlib.figure import Figure

from prepex.markup import svg_of

# An image has no page around it: paper and ink follow what the reader's system, or the page, prefers.
THEME = (
    "<style>:root{--paper:#fff;color:#1c2024;background:var(--paper)}"
    "@media(prefers-color-scheme:dark){:root{--paper:#16191d;color:#d9dee4}}</style>"
)


class Picture(Figure):
    """Without pyplot: no global state, no display, safe in a server."""

    def _repr_svg_(self) -> str:
        text = svg_of(self)
        cut = text.index(">") + 1
        return text[:cut] + THEME + text[cut:]

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        self.savefig(out, format="png", dpi=110)
        return out.getvalue()
