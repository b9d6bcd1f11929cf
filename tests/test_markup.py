"""What notebooks show: escaped, small, and readable on any ground; and tables as data frames."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import prepex as px
from prepex.instances import correlated
from prepex.sampling import Uniform

EVIL = "<img src=x onerror=alert(1)>"


def experiment(n=30, **options):
    made = px.Experiment(
        (EVIL, "b", "c"), ("gain", EVIL), family=px.Gaussian(variance=0.25), minimise=(EVIL,), delta=0.1, **options
    )
    rng = np.random.default_rng(0)
    for _ in range(n):
        arm = made.ask()
        made.tell(arm, made.labels.arms.index(arm) + 0.5 * rng.standard_normal(2))
    return made


def study(tmp_path):
    made = px.Study.create(
        tmp_path / "s.db", EVIL, arms=(EVIL, "b"), objectives=("n", EVIL), family=px.Gaussian(variance=1.0)
    )
    for ticket in made.ask(3, actor="site <A>"):
        made.tell(ticket.token, [1.0, 2.0])
    return made


def table():
    rng = np.random.default_rng(1)
    return {"arm": [EVIL, "b"] * 8, "gain": rng.normal(size=16).tolist(), EVIL: rng.normal(size=16).tolist()}


def objects(tmp_path):
    live = experiment()
    problem = px.Problem(
        [[1.0, 0.0], [0.0, 1.0]],
        family=px.Gaussian(variance=1.0), cone=px.Cone.orthant(2), arms=(EVIL, "b"), objectives=("gain", EVIL),
    )  # fmt: skip
    kept = study(tmp_path)
    raced = px.race({EVIL: lambda: 1.0, "b": lambda: 2.0}, minimise=("time",), max_trials=8)
    cone = px.Cone.tradeoffs(("gain", EVIL), px.one("gain").is_worth(at_least=2, of=EVIL))
    runs = px.simulate(correlated(), sampling=Uniform(), n_runs=3)
    plan = px.plan([[1.0], [0.0]], arms=(EVIL, "b"), objectives=("gain",), family=px.Gaussian(variance=0.1), n_runs=5)
    shown = [
        live,
        live.recommendation,
        live.evidence,
        px.analyse(table(), arm="arm"),
        problem,
        kept,
        kept.status(),
        cone,
    ]
    return [*shown, px.Cone.orthant(3), runs, plan, raced, px.Experiment(2, 1, family=px.Bernoulli())]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    return objects(tmp_path_factory.mktemp("shown"))


def test_what_is_shown_is_text_and_has_no_ground_of_its_own(shown):
    for each in shown:
        text = each._repr_html_()
        assert "<img" not in text and len(text) < 12_000, type(each)
        assert not re.search(r"#fff|white|background:\s*#", text), type(each)
        # Well formed, as far as this goes: every tag is closed.
        ET.fromstring(text.replace("<br>", "<br/>"))
    assert sum("&lt;img" in each._repr_html_() for each in shown) >= 9


def test_frames(shown):
    for each in shown:
        if hasattr(each, "to_frame"):
            assert len(each.to_frame()) > 0, type(each)


def test_an_experiment_as_a_frame():
    live = experiment(12)
    frame = live.to_frame()
    assert frame.index.tolist() == [EVIL, "b", "c"]
    assert frame["n"].sum() == 12 and np.array_equal(frame[["gain", EVIL]].to_numpy(), live.means)
    assert tuple(frame["state"]) == live.states


def test_an_answer_has_its_options_in_order():
    for threshold in ("certified", "heuristic"):
        live = experiment(60, threshold=threshold)
        answer = live.recommendation
        frame = answer.to_frame()
        assert sorted(frame.index) == sorted(live.labels.arms)
        assert set(frame.index[frame["looks_optimal"]]) == set(answer.arms)
        if "state" in frame:
            assert dict(frame["state"]) == dict(zip(live.labels.arms, answer.states, strict=True))
            assert dict(frame["probability"]) == dict(zip(live.labels.arms, answer.probabilities, strict=True))


def test_an_objective_may_be_called_like_a_column(tmp_path):
    frame = study(tmp_path).status().to_frame()
    assert frame["n"].tolist() == [2, 1] and frame["n (2)"].tolist() == [1.0, 1.0]


def test_a_study_as_a_frame(tmp_path):
    kept = study(tmp_path)
    frame = kept.to_frame()
    assert frame["asked_by"].tolist() == ["site <A>"] * 3 and frame[EVIL].tolist() == [2.0] * 3
    tokens = [event.data["token"] for event in kept.events() if "token" in event.data]
    assert tokens and not any(token in kept._repr_html_() for token in tokens)


def test_many_rows_are_counted():
    live = px.Experiment(450, 1, family=px.Gaussian(variance=1.0))
    assert "and 250 more" in live._repr_html_() and len(live.to_frame()) == 450


def test_a_figure_shows_itself_in_light_and_dark():
    figure = px.plot.draw_cone(px.Cone.angle(120))
    text = figure._repr_svg_()
    assert "prefers-color-scheme" in text and "currentColor" in text
    assert "#000000" not in text and "#ffffff" not in text
    assert figure._repr_png_()[:4] == b"\x89PNG"
