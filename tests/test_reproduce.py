"""The reproduction: cells that resume, folders that are guarded, a report that stands alone, one answer anywhere."""

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from prepex import simulate
from prepex.cli import app
from prepex.instances import correlated
from prepex.reproduce import FIGURES, SIZES, Plan, covboost, engine, error, reproduce, scaling, table
from prepex.sampling import FraPPE, InformationDirected, Uniform

TINY = {
    "covboost": covboost.Settings(runs=4, long_runs=2, deep_runs=1, algorithms=("frappe", "uniform", "frappe-paper")),
    "error": error.Settings(runs=4, slow_runs=1, horizon=200, n_moments=4, algorithms=("frappe", "uniform")),
    "correlation": replace(FIGURES["correlation"].settings["small"], runs=3, rhos=(0.0,), algorithms=("frappe",)),
    "polar": replace(FIGURES["polar"].settings["small"], instances=5),
    "arms": replace(
        FIGURES["arms"].settings["small"], repeats=2, per_arm=5, n_arms=(5, 10), further=(20,), algorithms=("frappe",)
    ),
    "objectives": replace(
        FIGURES["objectives"].settings["small"], repeats=2, rounds=50, n_objectives=(2, 4), algorithms=("frappe",)
    ),
    "prets": replace(FIGURES["prets"].settings["small"], runs=1, max_pulls=200),
}
# What a clock shows differs from run to run.
CLOCKS = ("seconds", "us_per_round")


def make_tiny(monkeypatch):
    """All figures at sizes of a second."""
    settings = TINY | {"fronts": FIGURES["fronts"].settings["small"]}
    settings["table"] = table.Settings(settings["arms"], settings["objectives"])
    for name, tiny in settings.items():
        monkeypatch.setitem(FIGURES[name].settings, "small", tiny)


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    make_tiny(monkeypatch)


def rows(folder, name):
    with (folder / f"{name}.csv").open() as file:
        return [{k: v for k, v in row.items() if k not in CLOCKS} for row in csv.DictReader(file)]


def command(*words, code=0):
    result = CliRunner().invoke(app, ["reproduce", *map(str, words)])
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """All figures, uninterrupted."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        make_tiny(patch)
        reproduce("all", size="small", out=folder, n_jobs=1)
    return folder


def test_every_figure_is_there(whole):
    for name in FIGURES:
        assert (whole / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (whole / f"{name}.svg").read_bytes()[:1000]
        assert rows(whole, name)


def test_the_report_stands_alone(whole):
    text = (whole / "report.html").read_text()
    references = re.findall(r'(?:src|href)\s*=\s*"([^"]*)"', text)
    assert len(references) >= 2 * len(FIGURES)
    assert all(reference.startswith(("#", "data:image/png;base64,")) for reference in references)
    assert "http" not in re.sub(r"base64,[^\"]*", "", text) and "@import" not in text and "<script" not in text
    for words in (
        "prefers-color-scheme: dark",
        "width=device-width",
        "floor",
        "no guarantee",
        "The paper:",
        "Measured:",
    ):
        assert words in text
    assert all(figure.paper[:40] in text.replace("&#x27;", "'") for figure in FIGURES.values())


def test_an_interrupted_run_continues(whole, tmp_path):
    class StopError(Exception):
        pass

    finished = []

    def interrupt(cell):
        finished.append(cell.key)
        if len(finished) == 2:
            raise StopError

    with pytest.raises(StopError):
        reproduce("covboost", "error", size="small", out=tmp_path, n_jobs=1, done=interrupt)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "cells").rglob("*.json")}
    assert len(before) == 2 and not (tmp_path / "report.html").exists()
    later = []
    reproduce("covboost", "error", size="small", out=tmp_path, n_jobs=1, done=lambda cell: later.append(cell.key))
    assert not set(later) & set(finished) and all(path.stat().st_mtime_ns == at for path, at in before.items())
    assert all(rows(tmp_path, name) == rows(whole, name) for name in ("covboost", "error"))
    again = []
    reproduce("covboost", size="small", out=tmp_path, n_jobs=1, done=again.append)
    assert again == []


def test_a_damaged_cell_is_done_again(tmp_path):
    reproduce("fronts", size="small", out=tmp_path, n_jobs=1)
    cell = tmp_path / "cells" / "fronts" / "angle-90.json"
    whole = json.loads(cell.read_text())["rows"]
    cell.write_text(cell.read_text()[:50])
    done = []
    reproduce("fronts", size="small", out=tmp_path, n_jobs=1, done=lambda c: done.append(c.key))
    assert done == ["fronts/angle-90"] and json.loads(cell.read_text())["rows"] == whole


def test_another_runs_folder_is_refused(tmp_path):
    reproduce("fronts", size="small", out=tmp_path, n_jobs=1)
    refused = command("fronts", "--size", "small", "--seed", 1, "--out", tmp_path, code=2).stderr
    assert "another run" in refused and "seed 0 (here 1)" in refused and "--force" in refused
    command("fronts", "--size", "small", "--seed", 1, "--out", tmp_path, "--force", "--jobs", 1)
    assert json.loads((tmp_path / "manifest.json").read_text())["seed"] == 1
    (tmp_path / "manifest.json").unlink()
    assert "a folder 'cells' of something else" in command("fronts", "--out", tmp_path, "--force", code=2).stderr
    assert list((tmp_path / "cells").rglob("*.json"))
    (tmp_path / "manifest.json").write_text("{")
    assert "another run" in command("fronts", "--size", "small", "--out", tmp_path, code=2).stderr


def test_other_settings_and_versions_are_refused(tmp_path, monkeypatch):
    plan = Plan.make("fronts", size="small", out=tmp_path)
    plan.store.claim(plan.manifest())
    monkeypatch.setitem(FIGURES["polar"].settings, "small", replace(TINY["polar"], instances=6))
    with pytest.raises(ValueError, match=r"another run.*settings"):
        plan.store.claim(plan.manifest())
    monkeypatch.undo()
    monkeypatch.setattr("prepex.reproduce.plan.__version__", "9.9")
    with pytest.raises(ValueError, match=r"another run.*prepex .* \(here 9.9\)"):
        plan.store.claim(plan.manifest())


def test_bad_input_is_one_clear_line(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    here = ("--out", tmp_path / "new", "--size", "small")
    for words, message in (
        (("fig1", *here), "figure must be one of all, fronts, polar, covboost"),
        (("fronts", "--size", "huge"), "size must be one of small, default, paper, got 'huge'"),
        (("fronts", "--size", "small", "--out", file), "out must be a folder, got the file"),
        (("fronts", "--size", "small", "--out", file / "below"), "out must be a writable folder"),
        (("fronts", "--size", "small", "--out", tmp_path), "with other files"),
        (("fronts", *here, "--jobs", 0), "n_jobs must be a number of processes"),
        (("fronts", *here, "--seed", -1), "seed must be an integer of at least 0"),
        (("fronts", *here, "--backend", "mpi"), "backend must be one of loky, dask, got 'mpi'"),
        (("fronts", *here, "--backend", "dask"), "scheduler must be given with backend dask"),
        (("fronts", *here, "--scheduler", "tcp://x:1"), "scheduler is for backend dask"),
    ):
        result = command(*words, code=2)
        assert message in result.stderr and "Traceback" not in result.output
    assert file.read_text() == "mine" and not (tmp_path / "new").exists()


def test_help_names_every_figure():
    shown = command("--help").output
    assert all(re.search(rf"\b{name}\b", shown) for name in (*FIGURES, *SIZES))


def test_ctrl_c_says_how_to_continue(tmp_path, monkeypatch):
    def interrupted(cells, store, *, n_jobs, done):
        raise KeyboardInterrupt

    monkeypatch.setattr("prepex.reproduce.plan.complete", interrupted)
    result = command("fronts", "--size", "small", "--out", tmp_path, code=130)
    assert "0 of 2 cells" in result.stderr and "The same command" in result.stderr


def test_floor_and_flags(whole):
    settings = TINY["covboost"]
    data = [json.loads(path.read_text())["rows"] for path in sorted((whole / "cells" / "covboost").glob("*.json"))]
    data = [row for part in data for row in part]
    floors = {0.1: 3698.0, 0.01: 9474.0}
    cells = covboost.summaries(settings, data, floors)
    shown = covboost.table(0.1, floors[0.1], cells)
    assert "3,698 pulls" in shown.above
    flagged = {row[0]: row for row in shown.rows}
    assert (
        "*" in flagged["FraPPE (paper alternatives)"][3]
        and "no guarantee" in flagged["FraPPE (paper alternatives)"][-1]
    )
    assert "*" not in flagged["FraPPE"][3] and flagged["FraPPE"][-1] == ""
    assert any("below the floor" in note for note in shown.notes)
    text = covboost.verdict(cells, floors)
    assert "lies below the floor of 3,698" in text and "paper's alternatives" in text
    cut = [row | {"stopped": False, "correct": None} if row["run"] == 0 else row for row in data]
    censored = covboost.table(0.1, floors[0.1], covboost.summaries(settings, cut, floors))
    uniform = next(row for row in censored.rows if row[0] == "Uniform")
    assert uniform[3].startswith("≥") and "1 censored" in uniform[-1] and uniform[5] == "0/3"


def test_a_verdict_follows_the_data():
    ours, other = np.array([0.9, 0.1]), np.array([0.9, 0.8])
    ahead = error.verdict({"FraPPE": (ours, 100), "Uniform": (other, 100)}, 200)
    behind = error.verdict({"FraPPE": (other, 100), "Uniform": (ours, 100)}, 200)
    assert "50% of the moments and above it at 0%" in ahead and "0% of the moments and above it at 50%" in behind


def test_exponents():
    sizes = [5, 10, 20, 40]
    assert scaling.exponent(sizes, [3 * size**1.7 for size in sizes]) == pytest.approx(1.7)
    assert np.isnan(scaling.exponent([5, 5], [1.0, 2.0]))
    made = [
        {"vary": vary, "rule": "FraPPE", "n_arms": k, "n_objectives": length, "us_per_round": k * length**2 * factor}
        for vary, shapes in {"arms": [(5, 2), (50, 2)], "objectives": [(25, 2), (25, 8)]}.items()
        for k, length in shapes
        for factor in (1.0, 2.0, 3.0)
    ]
    found = table.slopes(made)["frappe"]
    assert found == pytest.approx((1.0, 2.0))
    assert "within the stated K^1 L^2" in table.verdict({"frappe": found})
    assert "beyond the stated" in table.verdict({"frappe": (1.5, 2.0)})


def test_parts_of_a_simulation_are_the_simulation():
    given = {"sampling": [FraPPE(), Uniform()], "deltas": 0.1, "seed": 3}
    all_rows = list(simulate(correlated(), n_runs=5, **given).rows())
    parts = [list(simulate(correlated(), n_runs=n, first_run=first, **given).rows()) for first, n in ((0, 2), (2, 3))]
    key = lambda row: (row["rule"], row["run"])  # noqa: E731
    assert sorted(parts[0] + parts[1], key=key) == sorted(all_rows, key=key)


def test_sizes_grow():
    for figure in FIGURES.values():
        assert tuple(figure.settings) == SIZES
        assert len({cell.key for cell in figure.cells(figure.settings["default"], 0)}) == len(
            figure.cells(figure.settings["default"], 0)
        )


def test_clocks_run_first_and_no_cell_twice(tmp_path):
    plan = Plan.make("fronts", "arms", "table", size="small", out=tmp_path)
    cells = plan.missing()
    assert len(cells) == len({cell.key for cell in cells})
    order = []
    engine.complete(cells, plan.store, n_jobs=1, done=lambda cell: order.append(cell.timed))
    assert order == sorted(order, reverse=True) and {True, False} == set(order)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", host="127.0.0.1"
    ) as found:
        yield found


@pytest.mark.filterwarnings("default")
def test_a_dask_cluster_gives_the_same_bit_for_bit(cluster, whole, tmp_path):
    from prepex.cluster import dask

    given = {"sampling": [FraPPE(), InformationDirected()], "deltas": [0.1, 0.01], "n_runs": 6, "seed": 5}
    with dask(cluster.scheduler_address) as jobs:
        far = simulate(correlated(0.5), n_jobs=jobs, **given)
    near = simulate(correlated(0.5), n_jobs=2, **given)
    assert list(far.rows()) == list(near.rows())
    report = reproduce("covboost", size="small", out=tmp_path, backend="dask", scheduler=cluster.scheduler_address)
    assert report.exists() and rows(tmp_path, "covboost") == rows(whole, "covboost")


@pytest.mark.filterwarnings("default")
def test_a_dead_scheduler_is_told_soon(tmp_path):
    pytest.importorskip("distributed")
    words = ("fronts", "--size", "small", "--out", tmp_path, "--backend", "dask", "--scheduler", "tcp://127.0.0.1:9")
    result = command(*words, code=2)
    assert "tcp://127.0.0.1:9" in result.stderr and "tried for 5 seconds" in result.stderr
