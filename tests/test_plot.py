"""Pictures: what is on them."""

import numpy as np
import pytest
from matplotlib.text import Text

from prepex import Cone, Experiment, Gaussian, Problem, Study, analyse, one
from prepex.instances import covboost, snw
from prepex.plot import fronts
from prepex.study import figures


def test_fronts_draw_every_arm_and_each_set(tmp_path):
    problem = snw()
    figure = fronts(problem, [Cone.angle(90), Cone.angle(120)], path=tmp_path / "snw.svg")
    axes = figure.axes[0]
    arms, right, wide = (np.asarray(dots.get_offsets()) for dots in axes.collections)
    assert len(arms) == 206 and len(right) == 26 and len(wide) == 14
    assert {tuple(p) for p in wide} < {tuple(p) for p in right}
    assert axes.get_xlabel() == "area (less is better)"
    assert (tmp_path / "snw.svg").read_text().lstrip().startswith("<?xml")


def test_three_objectives_are_refused():
    with pytest.raises(ValueError, match="problem must have 2 objectives to be drawn, got 3"):
        fronts(covboost())


@pytest.mark.parametrize("n", [1, 3, 8])
def test_the_legend_stays_on_the_picture(n):
    cones = [Cone.angle(90 + 10 * k) for k in range(n)]
    figure = fronts(snw(), cones)
    figure.draw_without_rendering()
    legend = figure.legends[0]
    box, around = legend.get_window_extent(), figure.bbox
    assert len(legend.get_texts()) == n + 1 and 0 <= box.x0 < box.x1 <= around.x1 and 0 < box.y0 < box.y1 <= around.y1
    assert figure.axes[0].get_position().height > 0.5


def test_a_long_name_in_the_legend_is_wrapped():
    names = (" ".join(["a long name of an objective"] * 9), "cost")
    cone = Cone.tradeoffs(names, one("cost").is_worth(at_least=2, of=names[0]))
    figure = fronts(Problem(np.eye(2), family=Gaussian(variance=1.0), objectives=names, cone=cone))
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert 0 <= box.x0 < box.x1 <= figure.bbox.x1


def drawn(n, cone, name="option {}"):
    rng = np.random.default_rng(n)
    names = [name.format(k) for k in range(n)]
    given = {"family": Gaussian(variance=1.0), "cone": cone, "arms": names, "objectives": ("gain", "cost")}
    return Problem(rng.normal(size=(n, 2)), minimise=("cost",), **given)


@pytest.mark.parametrize("cone", [Cone.orthant(2), Cone.angle(120), Cone.angle(60)], ids=repr)
def test_the_border_of_a_front_goes_along_the_cone(cone):
    problem = drawn(20, cone)
    axes = fronts(problem).axes[0]
    line = np.array(axes.lines[0].get_xydata()) * (1.0, -1.0)
    steps = np.diff(line, axis=0)
    units = steps / np.linalg.norm(steps, axis=1, keepdims=True)
    # Down along one ray of what is dominated, up along the other.
    along = np.abs(units @ cone.rays.T).max(axis=1)
    assert np.allclose(along, 1.0) and len(line) == 2 * len(problem.pareto_set) + 1
    inside = axes.get_xlim(), axes.get_ylim()
    assert inside[0][1] - inside[0][0] < 8, "the ends of the line do not stretch the axes"


@pytest.mark.parametrize(
    ("n", "name"), [(5, "candidate number {} with a rather long name"), (20, "opt {}"), (200, "{}")]
)
def test_names_do_not_overlap(n, name):
    figure = fronts(drawn(n, Cone.orthant(2), name))
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(boxes) >= min(n, 4)
    for k, box in enumerate(boxes):
        assert box.x1 <= figure.bbox.x1 + 1
        assert not any(box.overlaps(other) for other in boxes[:k])


def picture_of(n_arms, objectives, tmp_path):
    rng = np.random.default_rng(0)
    means = rng.normal(size=(n_arms, len(objectives)))
    given = {"objectives": objectives, "family": Gaussian(variance=0.01), "threshold": "heuristic"}
    study = Study.create(tmp_path / "s.db", "s", arms=n_arms, **given)
    rows = "".join(f"arm {k},{','.join(map(str, row))}\n" for _ in range(2) for k, row in enumerate(means))
    (tmp_path / "t.csv").write_text(f"arm,{','.join(objectives)}\n{rows}")
    study.import_csv(tmp_path / "t.csv")
    return study.picture()


def test_of_many_arms_the_regions_of_the_front_and_its_rivals_are_drawn(tmp_path, monkeypatch):
    found = picture_of(60, ("x", "y"), tmp_path)
    kept = []
    monkeypatch.setattr(figures, "_svg", kept.append)
    figures.draw_means(found)
    clear = sum(arm["front"] or not arm["decided"] for arm in found["arms"])
    assert len(kept[0].axes[0].patches) == clear < 60


def test_beyond_three_objectives_a_report_has_parallel_coordinates(tmp_path, monkeypatch):
    found = picture_of(8, ("v", "w", "x", "y", "z"), tmp_path)
    kept = []
    monkeypatch.setattr(figures, "_svg", kept.append)
    figures.draw_means(found)
    (axes,) = kept[0].axes
    assert [len(line.get_xdata()) for line in axes.lines].count(5) == 8
    words = [text.get_text() for text in kept[0].legends[0].get_texts()]
    assert words == [
        f"{state}: {n}" for state in ("in", "out", "open") if (n := [a["state"] for a in found["arms"]].count(state))
    ]


@pytest.mark.parametrize(
    ("low", "high", "seen"),
    [
        (0.2, 4.0, [0.3, 1.0, 3.0]),
        (0.15, 1.6, [0.2, 0.5, 1.0]),
        (0.9, 1.1, [0.9, 0.95, 1.0, 1.05, 1.1]),
        (1e-3, 1e6, [0.001, 0.1, 10.0, 1000.0, 100000.0]),
    ],
)
def test_ticks_of_a_log_axis_are_round_and_few(low, high, seen):
    from prepex._ticks import RoundNumbers

    np.testing.assert_allclose(RoundNumbers().tick_values(low, high), seen)


def test_numbers_beside_axes_are_plain():
    from prepex.drawing import figure_class, log_axis, plain_axis

    figure = figure_class()()
    axes = figure.add_subplot()
    axes.plot([0.16, 1.6], [440_000, 545_000])
    log_axis(axes.xaxis)
    plain_axis(axes.yaxis)
    figure.canvas.draw()
    for axis, wanted in ((axes.xaxis, {"0.2", "0.5", "1"}), (axes.yaxis, {"440,000", "500,000"})):
        assert wanted <= {text.get_text() for text in axis.get_ticklabels()}


def test_empty_marks_are_open_in_every_picture():
    from prepex.study.figures import NEEDED, _mark

    rng = np.random.default_rng(0)
    means = {"a": 0.0, "b": 9.0, "c": 9.1, "d": 0.1}
    rows = [
        {"arm": arm, "x": mean + rng.normal(), "y": mean + rng.normal()}
        for _ in range(9)
        for arm, mean in means.items()
    ]
    found = analyse(rows, family="gaussian(1)")
    assert set(found.states.values()) == {"open", "out"}
    (axes,) = found.plot().axes
    for arm in found.arms:
        (mark,) = [
            line for line in axes.lines if np.allclose(line.get_xydata(), [arm.mean]) and line.get_marker() != "None"
        ]
        assert (mark.get_markerfacecolor() == "white") == (arm.state == "open")
    assert _mark({"decided": False, "front": True}) == {"markeredgecolor": NEEDED, "markerfacecolor": "white"}
    assert (
        len({_mark({"decided": True, "front": front})["markerfacecolor"] for front in (True, False)} - {"white"}) == 2
    )


def test_an_experiment_draws_itself(tmp_path):
    family = Gaussian(variance=1.0)
    experiment = Experiment(("a", "b", "c"), ("gain", "cost"), family=family, minimise=("cost",))
    with pytest.raises(ValueError, match="an outcome must have been told before"):
        experiment.plot()
    experiment.tell_many([("a", [1.0, 3.0]), ("b", [0.0, 2.0])])
    figure = experiment.plot(tmp_path / "out.png")
    assert (tmp_path / "out.png").stat().st_size > 5000
    assert {text.get_text() for text in figure.axes[0].texts} == {"a", "b"}
    for L in (1, 3, 5):
        other = Experiment(("a", "b"), L, family=family)
        other.tell_many([("a", [1.0] * L), ("b", [0.0] * L)])
        assert len(other.plot().axes) == max(1, L if L == 3 else 1)


def test_names_on_the_left_stand_next_to_their_points():
    """Their width is estimated: what is estimated must not stand between a name and its point."""
    figure = fronts(snw(), [Cone.angle(90), Cone.angle(120)])
    axes = figure.axes[0]
    figure.draw_without_rendering()
    point, sides = 1.0 / 72.0 * figure.dpi, set()
    for text in axes.texts:
        # Of the letters alone, without the line that leads to the point.
        box, (x, _) = Text.get_window_extent(text), axes.transData.transform(text.xy)
        sides.add(text.get_ha())
        if text.get_ha() == "right":
            assert 4.0 * point < x - box.x1 < 6.5 * point, text
        elif text.get_ha() == "left":
            assert 4.0 * point < box.x0 - x < 6.5 * point, text
        else:
            assert abs((box.x0 + box.x1) / 2.0 - x) < 1.0 * point, text
    assert {"left", "right"} <= sides


def lines_at(axes):
    """Where dashed lines cross the axes: across, up."""
    dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
    return [line.get_xdata()[0] for line in dashed if line.get_xdata()[0] == line.get_xdata()[1]], [
        line.get_ydata()[0] for line in dashed if line.get_ydata()[0] == line.get_ydata()[1]
    ]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_limits_are_lines_in_pictures_of_tables_and_experiments(n):
    rng = np.random.default_rng(n)
    names = ("gain", "cost", "time", "size")[:n]
    arms = [f"arm {k}" for k in range(4) for _ in range(8)]
    table = {"arm": arms, **{name: rng.normal(5.0 + np.repeat(range(4), 8), 0.3) for name in names}}
    given = {"at_least": {"gain": 6.5}} | ({"at_most": {"cost": 20.0}} if n > 1 else {})
    live = Experiment(4, names, family=Gaussian(variance=0.1), minimise=names[1:2], threshold="heuristic", **given)
    for k in range(4):
        live.tell(k, [5.0 + k] * n)
    for figure in (analyse(table, minimise=names[1:2], family="gaussian(0.1)", **given).plot(), live.plot()):
        words = [text.get_text() for text in figure.legends[0].get_texts()]
        assert ("limit" in words) == (n < 4)
        if n < 4:
            axes = figure.axes[0]
            assert lines_at(axes) == ([6.5], [20.0] if n > 1 else [])
            # They are seen, though no option is as far.
            assert n == 1 or axes.get_ylim()[1] > 20.0
    if n < 4:
        assert "limit" not in str(analyse(table, family="gaussian(0.1)").plot().legends[0].get_texts())
