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
