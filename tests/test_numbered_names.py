"""Options named by whole numbers: what is kept by position is never read as a name, nor the other way round."""

import numpy as np
import pytest

from prepex import Experiment, Gaussian, Study, analyse
from prepex.study import session

NAMES = [("1", "0"), ("10", "20", "5"), ("2", "0", "1")]


def shuffled(names, rng):
    """(who, a value near ten times the number of the option)."""
    who = [*names, *rng.permutation(np.repeat(names, 29))]
    return who, [10.0 * float(name) + rng.normal() for name in who]


@pytest.mark.parametrize("names", [*NAMES, (1, 0), (1.5, 1.0), (1, 2)])
def test_a_table_is_booked_on_the_options_it_names(names):
    who, values = shuffled([str(name) for name in names], np.random.default_rng(1))
    found = analyse({"option": [type(names[0])(w) for w in who], "gain": values})
    best = str(max(names, key=float))
    assert found.pareto_set == (best,)
    for arm in found.arms:
        assert arm.n == 30 and arm.mean[0] == pytest.approx(10.0 * float(arm.name), abs=1.0)
    assert found.experiment().recommendation.arms == (best,)


@pytest.mark.parametrize("names", NAMES)
def test_a_snapshot_before_every_option_was_tried(names):
    experiment = Experiment(names, 1, family=Gaussian(variance=1.0))
    experiment.tell(names[0], [10.0 * float(names[0])])
    again = Experiment(names, 1, family=Gaussian(variance=1.0))
    again.restore(experiment.snapshot())
    assert again.counts.tolist() == [1] + [0] * (len(names) - 1)
    for name in names[1:]:
        again.tell(name, [10.0 * float(name)])
    assert again.means[:, 0].tolist() == [10.0 * float(name) for name in names]


def test_a_checkpoint_in_the_first_round(tmp_path, monkeypatch):
    monkeypatch.setattr(session, "DEAR", 0.0)
    place, rng = tmp_path / "s.db", np.random.default_rng(2)
    study = Study.create(place, "x", arms=("1", "2", "0"), objectives=("gain",), family=Gaussian(variance=1.0))
    for _ in range(2):
        ticket = study.ask()
        study.tell(ticket.token, [10.0 * float(ticket.arm)])
    study.close()
    study = Study.open(place, "x")
    assert study.experiment_now().counts.tolist() == [1, 1, 0]
    while (ticket := study.ask()) is not None:
        study.tell(ticket.token, [10.0 * float(ticket.arm) + rng.normal()])
    assert study.recommendation.arms == ("2",) and study.verify().ok
