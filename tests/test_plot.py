"""Pictures: what is on them."""

import numpy as np
import pytest

from prepex import Cone
from prepex.instances import covboost, snw
from prepex.plot import fronts


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
    cone = Cone(Cone.angle(120).facets, "tradeoffs(" + ", ".join(["a long objective"] * 12) + ")")
    figure = fronts(snw(), [cone])
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert 0 <= box.x0 < box.x1 <= figure.bbox.x1
