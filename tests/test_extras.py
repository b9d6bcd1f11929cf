"""Without an extra, what needs it says in one line which one, and how to install it; everything else works."""

import subprocess
import sys

import pytest

# Distributions of the extras, by the modules that prepex imports.
STUDY = ("sqlalchemy", "alembic")
SERVER = ("fastapi", "uvicorn", "plotly")
ALL = (*STUDY, *SERVER, "matplotlib", "pandas", "pyarrow", "psycopg", "dask", "distributed")
MEANS = "arm,gain,safety\na,2,0\nb,0,1\n"
MAKE = ("study", "create", "dose", "--arm", "a", "--arm", "b", "--objective", "gain", "--variance", "1")


def prepex(folder, blocked, *words):
    """`prepex ...` where some modules cannot be imported."""
    script = f"import sys; sys.modules.update(dict.fromkeys({blocked!r})); from prepex.cli import app; app()"
    command = [sys.executable, "-c", script, *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=60)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("extra", "blocked", "words"),
    [
        ("plot", ["matplotlib"], ("run", "means.csv", "--variance", "1", "--plot", "x.png")),
        ("plot", ["matplotlib"], ("pareto", "means.csv", "--plot", "x.png")),
        ("plot", ["matplotlib"], ("reproduce", "fronts")),
        ("frame", ["pandas"], ("run", "means.csv", "--variance", "1", "--save", "x.parquet")),
        ("frame", ["pyarrow"], ("run", "means.csv", "--variance", "1", "--save", "x.parquet")),
        *[("study", [name], MAKE) for name in STUDY],
        ("study", ["sqlalchemy"], ("study", "list")),
        *[("server", [name], ("serve",)) for name in SERVER],
        ("server", ALL, ("serve",)),
        ("postgres", ["psycopg"], ("study", "list", "--storage", "postgresql://nobody@localhost/none")),
        ("dask", ["distributed"], ("reproduce", "fronts", "--backend", "dask", "--scheduler", "tcp://127.0.0.1:1")),
    ],
    ids=lambda given: " ".join(given)[:60] if not isinstance(given, str) else given,
)
def test_the_extra_that_is_missing_is_named(extra, blocked, words, tmp_path):
    (tmp_path / "means.csv").write_text(MEANS)
    code, out, err = prepex(tmp_path, blocked, *words)
    assert code == 2, out + err
    assert err.count("\n") == 1 and err.startswith("Error: "), err
    assert f"pip install 'prepex[{extra}]'" in err
    assert out == "", "nothing is computed before"


def test_the_rest_works_without_any_extra(tmp_path):
    (tmp_path / "means.csv").write_text(MEANS)
    (tmp_path / "bad.json").write_text("{}")
    for words, expected in {
        ("--version",): 0,
        ("pareto", "means.csv"): 0,
        ("bound", "means.csv", "--variance", "1"): 0,
        ("run", "means.csv", "--variance", "1", "--runs", "2", "--save", "runs.csv"): 0,
        ("verify", "bad.json"): 2,
        ("instances",): 0,
    }.items():
        code, out, err = prepex(tmp_path, ALL, *words)
        assert code == expected and "Traceback" not in err, (words, out, err)
    script = f"import sys; sys.modules.update(dict.fromkeys({ALL!r}))\n" + (
        "import prepex\n"
        "experiment = prepex.Experiment(2, 1, family=prepex.Gaussian(variance=1.0))\n"
        "experiment.tell_many([(0, [1.0]), (1, [0.0])])\n"
        "print(experiment.n_pulls)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
