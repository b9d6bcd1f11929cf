"""The house: imports go only downward, and importing prepex stays light."""

import ast
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "prepex"
# From the ground up: a module may import only from lines above its own.
LAYERS = (
    ("_kernels", "_given", "errors", "extras", "naming", "numerals", "whole_file"),
    ("_checks", "markup"),
    ("_figure", "_named", "_ticks", "unit_names", "units"),
    ("facets", "mixtures", "trade_offs"),
    ("cone_words", "preferences"),
    ("cone", "family", "labels", "region", "tables"),
    ("agreement",),
    ("exact", "limits", "noise", "prior", "problem", "tolerance"),
    ("judge", "reasons", "solvers"),
    ("alternatives",),
    ("bound", "instances", "sampling", "stopping"),
    ("run", "document", "snapshots", "spoken"),
    ("posterior", "posterior_draws", "settings", "standing"),
    ("foresight", "mean_regions", "option_table"),
    ("choice", "ties", "runs", "unvaried"),
    ("drawing",),
    ("parallel",),
    ("option_picture",),
    ("live",),
    ("experiment",),
    ("any_cone", "dialogue", "simulation", "plot", "cluster"),
    ("planning",),
    ("reproduce", "study"),
    ("analysis", "racing"),
    ("optuna", "server"),
    ("cli",),
    ("__main__",),
)
# Inside an experiment, likewise.
LIVE = (
    ("told", "recommendation"),
    ("intake", "conclusion"),
    ("progress",),
    ("explanation", "proposal", "saved", "views"),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def room(path):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return parts[0]


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("prepex"):
            inside = node.module.split(".")[1:]
            yield from [inside[0]] if inside else [alias.name for alias in node.names]


def test_imports_go_only_downward():
    for path in SOURCE.rglob("*.py"):
        if path == SOURCE / "__init__.py":
            continue
        here = room(path)
        for other in imported(path):
            if other != here and other != "__version__":
                assert LEVEL[other] < LEVEL[here], f"{path.name} imports prepex.{other}"


def test_imports_inside_an_experiment_go_only_downward():
    level = {name: level for level, names in enumerate(LIVE) for name in names}
    files = {path.stem: path for path in (SOURCE / "live").glob("*.py") if path.stem != "__init__"}
    assert set(files) == set(level)
    for here, path in files.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("prepex.live"):
                other = node.module.removeprefix("prepex.live.")
                assert level[other] < level[here], f"{path.name} imports {node.module}"


def test_only_the_intake_turns_names_into_positions():
    """What is told goes on by position: elsewhere a number that is a name would be taken for an index."""
    asking = ("_checks.member", "_checks.position", "_named", ".index(")
    for path in (SOURCE / "live").glob("*.py"):
        found = [word for word in asking if word in path.read_text()]
        assert path.stem == "intake" or not found, f"{path.name} has {found}"
    assert "_checks.member" not in (SOURCE / "experiment.py").read_text()


def test_import_is_light():
    heavy = ("numba", "scipy", "matplotlib", "rich", "typer", "sqlalchemy", "optuna")
    script = f"import sys, prepex; print([m for m in {heavy} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True).stdout
    assert shown.strip() == "[]"


def test_every_public_name_loads():
    import prepex

    for name in prepex.__all__:
        assert getattr(prepex, name) is not None
    assert set(prepex.__all__) <= set(dir(prepex))
    assert callable(prepex.evidence)
