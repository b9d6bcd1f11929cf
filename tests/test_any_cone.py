"""A study under another cone."""

import json

from typer.testing import CliRunner

import prepex as px
from prepex.cli import app


def test_a_study_under_another_cone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"family": px.Gaussian(variance=0.01), "delta": 0.1}
    study = px.Study.create("prepex.db", "s", arms=("a", "b", "c"), objectives=("x", "y"), **given)
    rows = {"a": "2,0", "b": "0,1", "c": "-1,-1"}
    (tmp_path / "t.csv").write_text(
        "arm,x,y\n" + "".join(f"{arm},{row}\n" for _ in range(8) for arm, row in rows.items())
    )
    study.import_csv("t.csv")
    assert study.under(px.Cone.orthant(2)) == {"a": "in", "b": "in", "c": "out"}
    wide = px.Cone.tradeoffs(("x", "y"), px.one("x").is_worth(at_least=1, of="y"))
    assert study.under(wide) == {"a": "in", "b": "out", "c": "out"}
    told = CliRunner().invoke(app, ["study", "under", "s", "--cone", "orthant"])
    assert "what they have settled may be open here" in told.output
    shown = CliRunner().invoke(app, ["study", "under", "s", "--cone", "tradeoffs:x=1.. y", "--format", "json"])
    assert json.loads(shown.output) == study.under(wide)
