"""The notebooks of the pages run, and show what is kept in them."""

import re
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "docs" / "notebooks"
sys.path.insert(0, str(FOLDER))
from run import NOTEBOOKS, executed  # noqa: E402

nbformat = pytest.importorskip("nbformat")


def shown(cell):
    """The text of what a cell shows. Pictures and forecasts, which are cut off by the clock, are left out."""
    texts = []
    for output in cell.outputs:
        texts.append(output.get("text", "") + output.get("data", {}).get("text/plain", ""))
        if "varies" not in cell.metadata.get("tags", ()):
            texts.append(re.sub(r"<style.*?</style>", "", output.get("data", {}).get("text/html", ""), flags=re.S))
    return texts


def kinds(cell):
    return [sorted(output.get("data", ())) for output in cell.outputs]


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["analyse-a-file", "compare-rules", "live-experiment"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_did(path, tmp_path):
    kept = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    fresh = [cell for cell in executed(path, str(tmp_path)).cells if cell.cell_type == "code"]
    drawn = any("image/svg+xml" in kind for cell in kept for kind in kinds(cell))
    assert drawn or path.stem == "live-experiment", "pictures are inline"
    assert any("text/html" in kind for cell in kept for kind in kinds(cell))
    for before, after in zip(kept, fresh, strict=True):
        assert (shown(before), kinds(before)) == (shown(after), kinds(after)), before.source
