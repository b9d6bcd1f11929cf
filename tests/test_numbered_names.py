"""Options named by whole numbers: what is kept by position is never read as a name, nor the other way round."""

from collections import namedtuple

import numpy as np
import pandas as pd
import pytest

from prepex import Cone, Experiment, Gaussian, InputError, Prior, Study, analyse
from prepex.stopping import Posterior
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


@pytest.mark.parametrize("turned", [False, True])
def test_labels_of_variances_and_cones_are_names_where_there_are_such(turned):
    variance, rows = {0: 9.0, 1: 1.0}, [{0: 1.0, 1: 0.0}, {0: -0.5, 1: 1.0}]
    if turned:
        variance = dict(reversed(variance.items()))
        rows = [dict(reversed(row.items())) for row in rows]
    cone = Cone.from_facets(rows)
    named = Experiment(("a", "b"), ("1", "0"), family=Gaussian(variance=variance), cone=cone).settings()
    assert named["family"]["variance"] == [1.0, 9.0]
    expected = Cone.from_facets([[0.0, 1.0], [1.0, -0.5]]).facets
    assert {*map(tuple, named["cone"]["facets"])} == {*map(tuple, expected.tolist())}
    placed = Experiment(("a", "b"), ("u", "v"), family=Gaussian(variance=variance)).settings()
    assert placed["family"]["variance"] == [9.0, 1.0]
    covariance = pd.DataFrame([[9.0, 0.5], [0.5, 1.0]])
    if turned:
        covariance = covariance.loc[::-1, ::-1]
    given = Experiment(("a", "b"), ("1", "0"), family=Gaussian(covariance=covariance)).settings()["family"]
    assert given["covariance"] == [[1.0, 0.5], [0.5, 9.0]]
    noise = {0: [3.0, 4.0], 1: [1.0, 2.0]}
    by_arm = Gaussian(variance="unknown", noise=noise if not turned else dict(reversed(noise.items())))
    assert np.asarray(by_arm.ordered(("1", "0"), ("u", "v")).noise).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert np.asarray(by_arm.ordered(("x", "y"), ("u", "v")).noise).tolist() == [[3.0, 4.0], [1.0, 2.0]]


@pytest.mark.parametrize("make", [dict, pd.Series, lambda given: namedtuple("Row", given)(**given)])
def test_a_prior_goes_by_name_whatever_has_the_names(make):
    prior = Prior(mean=make({"v": 9.0, "u": 1.0}), spread=make({"v": 90.0, "u": 10.0}))
    made = Experiment(("a", "b"), ("u", "v"), family=Gaussian(variance=1.0), threshold=Posterior(prior=prior))
    said = made.settings()["threshold"]["prior"]
    assert (said["mean"], said["spread"]) == ([1.0, 9.0], [10.0, 90.0])
    numbered = Prior(mean=pd.Series([1.0, 9.0]), spread=pd.Series([10.0, 90.0]))
    for names, means in ((("u", "v"), [1.0, 9.0]), (("1", "0"), [9.0, 1.0])):
        made = Experiment(("a", "b"), names, family=Gaussian(variance=1.0), threshold=Posterior(prior=numbered))
        assert made.settings()["threshold"]["prior"]["mean"] == means
    with pytest.raises(InputError, match="must have each name once"):
        Prior(mean=pd.Series([1.0, 2.0], index=["u", "u"]), spread=[1.0, 1.0])
