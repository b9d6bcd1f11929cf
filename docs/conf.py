"""Sphinx configuration. Build with `make docs`."""

import re

import prepex

project = "prepex"
author = "the prepex authors"
version = release = prepex.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx-mathjax-offline",
    "sphinx.ext.viewcode",
]
myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
# Notebooks are shown as they were executed; a test runs them again (`make notebooks` keeps what they show).
nb_execution_mode = "off"

# A page may be listed before it is written; a page that is not listed is still an error.
suppress_warnings = ["toc.not_readable"]
smartquotes = False

html_theme = "furo"
html_title = f"prepex {release}"

autodoc_member_order = "bysource"
# Not from the source: signatures with all options of an experiment have more than is written there.
autodoc_preserve_defaults = False
autodoc_typehints = "none"

# A line of a legend in a docstring: a name (or several), two spaces or more, what it means.
LEGEND = re.compile(r"^(?P<name>\w+(?:, \w+)*) {2,}(?P<text>\S.*)$")


def to_rst(app: object, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Docstrings are plain text: set `code` in type and legends as lists, escape what reStructuredText would read."""
    out: list[str] = []
    in_legend = in_example = False
    for line in lines:
        in_example = bool(line.strip()) and (in_example or line.lstrip().startswith(">>>"))
        if in_example:
            out.append(line)
            continue
        found = LEGEND.match(line)
        if found:
            if not in_legend and out and out[-1]:
                out.append("")
            out.append(f"- ``{found['name']}``: {escaped(found['text'])}")
        else:
            out.append("  " + escaped(line.strip()) if in_legend and line else escaped(line))
        in_legend = bool(found) or (in_legend and bool(line))
    lines[:] = out


def escaped(text: str) -> str:
    """`code` as literals; elsewhere no emphasis, no substitution, and "K." is no list."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return text
    plain = (re.sub(r"([*|])", r"\\\1", piece) for piece in pieces[::2])
    plain = [re.sub(r"^([A-Z])\.$", r"\\\1.", piece) for piece in plain]
    code = [f"``{piece}``" for piece in pieces[1::2]]
    return "".join(a + b for a, b in zip(plain, [*code, ""], strict=True))


def setup(app: object) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", to_rst)  # type: ignore[attr-defined]
