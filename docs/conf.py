"""Sphinx configuration. Build with `make docs`."""

import re

import prepex

project = "prepex"
author = "the prepex authors"
version = release = prepex.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"prepex {release}"

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "none"

# A line of a legend in a docstring: a name (or several), two spaces or more, what it means.
LEGEND = re.compile(r"^(?P<name>\w+(?:, \w+)*) {2,}(?P<text>\S.*)$")


def to_rst(app: object, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Docstrings are plain text: set `code` in type, and legends as lists."""
    out: list[str] = []
    in_legend = False
    for line in lines:
        line = re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", line)
        found = LEGEND.match(line)
        if found:
            if not in_legend and out and out[-1]:
                out.append("")
            line = f"- ``{found['name']}``: {found['text']}"
        elif in_legend and line:
            line = "  " + line.strip()
        in_legend = bool(found) or (in_legend and bool(line))
        out.append(line)
    lines[:] = out


def setup(app: object) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", to_rst)  # type: ignore[attr-defined]
