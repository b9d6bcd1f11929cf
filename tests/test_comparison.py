"""The comparison of guarantees: what README and page state is what the benchmark saved, and what it finds again."""

import importlib.util
from pathlib import Path

import pytest

from benchmarks import compare

ROOT = Path(__file__).parent.parent
RESULTS = compare.stored(ROOT / "docs" / "results" / "compare.csv")


def test_the_page_is_made_of_the_saved_results():
    spec = importlib.util.spec_from_file_location("comparison", ROOT / "docs" / "comparison.py")
    comparison = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(comparison)
    assert (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8") == comparison.page(RESULTS)


def test_the_readme_has_its_table():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "\n".join([compare.header(), *map(compare.line, RESULTS[0.1].values())]) in readme


@pytest.mark.parametrize("way", ["posterior", "heuristic"])
def test_a_result_is_found_again(way):
    saved = next(row for row in RESULTS[0.1]["correlated(0)"] if row["way"] == way)
    again = compare.cell(compare.problems()["correlated(0)"], way, 0.1, compare.N_RUNS)
    assert again == pytest.approx({name: saved[name] for name in compare.NUMBERS})
