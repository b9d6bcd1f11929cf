"""Options mixed in shares: which stay optimal, against two judges, and the mixture that beats the others."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from prepex import Cone, InputError
from prepex.cli import app
from prepex.instances import snw

import reference
from cases import CONES, random_facets


def test_two_objectives_against_fractions():
    # Small whole numbers: ties, equal arms and arms in line are common, and the judge makes no rounding.
    rng = np.random.default_rng(0)
    beaten = 0
    for k in range(100):
        facets = np.array([[[1, 0], [0, 1]], [[3, 1], [1, 2]], [[3, -1], [-1, 2]]][k % 3])
        across = rng.integers(0, 9, int(rng.integers(1, 8)))
        means = np.column_stack([across, 8 - across + rng.integers(-1, 2, len(across))])
        cone = Cone.from_facets(facets)
        stays = [reference.stays_optimal_exactly(facets, means.tolist(), i) for i in range(len(means))]
        # The cone's own facets are rounded: a difference of their scores that is rounding must not count.
        assert cone.pareto_mask(means, mixtures=True).tolist() == stays, (facets, means)
        beaten += int(cone.pareto_mask(means).sum()) - sum(stays)
    assert beaten > 15


@pytest.mark.parametrize("kind", CONES)
def test_any_cone_against_weights(kind):
    rng = np.random.default_rng(CONES.index(kind))
    beaten = 0
    for k in range(12):
        cone = Cone.from_facets(random_facets(rng, kind, 2 + k % 3))
        means = rng.normal(size=(15, cone.n_objectives)) * 10.0 ** rng.uniform(-3, 3) + 10.0 ** rng.uniform(-2, 4)
        stays = cone.pareto_mask(means, mixtures=True)
        assert stays.tolist() == [reference.stays_optimal(cone.facets, means, i) for i in range(len(means))]
        assert np.all(cone.pareto_mask(means)[stays]), "a mixture may be one arm alone"
        beaten += int(cone.pareto_mask(means).sum() - stays.sum())
        found = cone.beating_mixtures(means)
        assert set(found) == {f"arm {i}" for i in np.flatnonzero(~stays)}
        for name, shares in found.items():
            p = np.array([shares.get(f"arm {k}", 0.0) for k in range(len(means))])
            assert p.min() >= 0.0 and p.sum() == pytest.approx(1.0) and np.all(stays[p > 0.0])
            ahead = cone.facets @ (p @ means - means[int(name[4:])])
            assert ahead.min() >= -1e-11 * np.abs(means).max() and ahead.max() > 0.0
    assert beaten > 0


def test_in_line_equal_and_alone():
    line = [[0.0, 1.0], [0.3, 0.7], [1.0, 0.0], [0.3, 0.7]]
    assert Cone.orthant(2).pareto_mask(line, mixtures=True).all()
    assert Cone.orthant(2).beating_mixtures(line) == {}
    assert Cone.orthant(2).pareto_mask([[3.0, 1.0]], mixtures=True).all()
    # Dominated by less than what counts among mixtures, and still dominated.
    close = [[0.0, 1.0], [1.0, 0.0], [1.0 - 1e-14, 0.0]]
    assert Cone.orthant(2).pareto_mask(close, mixtures=True).tolist() == [True, True, False]
    assert Cone.orthant(2).beating_mixtures(close) == {"arm 2": {"arm 1": 1.0}}
    far = np.array([[0.0, 4.0], [1.0, 3.0], [4.0, 0.0]]) / 1024 + 1e6
    assert Cone.orthant(2).pareto_mask(far, mixtures=True).all()


def test_an_outlier_makes_no_other_option_look_like_rounding():
    # Judged by fractions: coordinates of many sizes, down along one axis as they go up along the other.
    rng, beaten = np.random.default_rng(1), 0
    for _ in range(60):
        K, powers = int(rng.integers(3, 8)), rng.uniform(0, 12)
        means = np.sort(rng.normal(size=(K, 2)) * 10.0 ** rng.uniform(-powers, powers, (K, 2)), axis=0)
        means[:, 1] = means[::-1, 1]
        stays = [reference.stays_optimal_exactly([[1, 0], [0, 1]], means.tolist(), i) for i in range(K)]
        assert Cone.orthant(2).pareto_mask(means, mixtures=True).tolist() == stays, means
        beaten += K - sum(stays)
    assert beaten > 60
    far = [[0.0, 1.0], [1.0, 0.0], [0.4, 0.4], [-1e10, 2.0], [2.0, -1e10]]
    assert Cone.orthant(2).pareto_mask(far, mixtures=True).tolist() == [True, True, False, True, True]


def test_names_and_bad_input():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"cost": [0.0, 1.0, 0.4], "gain": [1.0, 0.0, 0.4]}, index=["a", "b", "c"])
    assert Cone.orthant(2).beating_mixtures(table) == {"c": {"a": 0.5, "b": 0.5}}
    with pytest.raises(InputError, match="mixtures must be True or False"):
        Cone.orthant(2).pareto_mask(table, mixtures="yes")
    with pytest.raises(InputError, match="arms must be"):
        Cone.orthant(2).beating_mixtures([[0.0, 1.0]], arms=("a", "b"))
    with pytest.raises(InputError, match="points must have shape"):
        Cone.orthant(2).pareto_mask([[1.0, 2.0, 3.0]], mixtures=True)


def run(*words):
    return CliRunner().invoke(app, words, catch_exceptions=False).output


def test_the_command(tmp_path):
    path = tmp_path / "means.csv"
    path.write_text("arm,gain,cost\nstrong,1,10\ncheap,0,5\nmiddle,0.4,8\nbad,0,9\n")
    shown = run("pareto", str(path), "--minimise", "cost", "--mixtures")
    assert "3 of 4 arms are Pareto optimal; 2 of them stay so when options are mixed in shares" in shown
    assert "50 % strong and 50 % cheap" in shown and "gain 0.5, cost 7.5" in shown
    document = json.loads(run("pareto", str(path), "--minimise", "cost", "--mixtures", "--format", "json"))[0]
    assert document["pareto_names"] == ["strong", "cheap", "middle"]
    assert document["mixtures"]["stay_optimal"] == ["strong", "cheap"]
    (beaten,) = document["mixtures"]["beaten"]
    assert beaten["arm"] == "middle" and beaten["shares"] == pytest.approx({"strong": 0.5, "cheap": 0.5})
    assert beaten["means"] == pytest.approx([0.5, 7.5])
    # Mixtures are of what meets the limits.
    limited = json.loads(
        run("pareto", str(path), "--minimise", "cost", "--mixtures", "--at-most", "cost=9", "--format", "json")
    )
    assert limited[0]["mixtures"] == {"stay_optimal": ["cheap", "middle"], "beaten": []}
    assert "mixtures" not in json.loads(run("pareto", str(path), "--format", "json"))[0]
    both = run("pareto", "snw", "--mixtures", "--cone", "orthant", "--cone", "angle:120")
    problem = snw()
    assert f"{int(problem.cone.pareto_mask(problem.benefits, mixtures=True).sum())} of them stay so" in both
