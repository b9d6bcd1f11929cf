"""Cones: every way to make one, what it orders, and what is refused."""

import numpy as np
import pytest

from prepex import Cone, one

import reference
from cases import CONES, random_facets


def same_rows(a, b):
    return len(a) == len(b) and all(np.min(np.linalg.norm(b - row, axis=1)) < 1e-9 for row in a)


@pytest.mark.parametrize("kind", CONES)
@pytest.mark.parametrize("n_objectives", [2, 3, 4])
def test_facets_to_rays_and_back(kind, n_objectives):
    rng = np.random.default_rng(n_objectives)
    for _ in range(20):
        facets = random_facets(rng, kind, n_objectives)
        cone = Cone.from_facets(facets)
        assert np.all(cone.rays @ facets.T >= -1e-9), "rays are inside"
        again = Cone.from_rays(cone.rays)
        assert same_rows(again.facets, cone.facets)
        assert same_rows(again.rays, cone.rays)
        for point in rng.normal(size=(20, n_objectives)):
            assert cone.contains(point) == reference.in_cone_of(cone.rays, point)


def test_redundant_and_repeated_facets_are_dropped():
    square = [[1, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1]]  # four facets in three objectives: m > L
    cone = Cone.from_facets([*square, [0, 0, 5], [1, 0, 1], [1, 1, 2]])
    assert cone.n_facets == 4 and cone.n_objectives == 3
    np.testing.assert_allclose(np.linalg.norm(cone.facets, axis=1), 1.0)
    np.testing.assert_allclose(cone.facets, np.array(square) / np.sqrt(2))


@pytest.mark.parametrize("degrees", [1, 30, 90, 120, 179])
def test_angle_is_the_opening_around_the_diagonal(degrees):
    cone = Cone.angle(degrees)
    first, second = cone.rays
    assert np.degrees(np.arccos(first @ second)) == pytest.approx(degrees)
    assert cone.contains([1.0, 1.0])
    for lean, inside in ((-1e-6, True), (1e-6, False)):
        edge = np.radians(45 + degrees / 2 + lean)
        assert cone.contains([np.cos(edge), np.sin(edge)]) is inside


def test_right_angle_is_exactly_the_orthant():
    assert np.array_equal(Cone.angle(90).facets, Cone.orthant(2).facets)


def test_a_larger_cone_keeps_fewer_arms():
    points = np.random.default_rng(0).normal(size=(300, 2))
    masks = [Cone.angle(degrees).pareto_mask(points) for degrees in (30, 60, 90, 120, 150)]
    for wide, narrow in zip(masks[1:], masks[:-1], strict=True):
        assert np.all(narrow[wide]) and wide.sum() < narrow.sum()


def test_pareto_mask_equals_the_definition():
    rng = np.random.default_rng(1)
    for kind in CONES:
        for _ in range(10):
            facets = random_facets(rng, kind, 3)
            points = np.round(rng.normal(size=(30, 3)), 1)  # rounded: ties and equal points occur
            points[5] = points[6]
            expected = np.zeros(30, dtype=bool)
            expected[list(reference.pareto_set(facets, points))] = True
            scores = points @ facets.T
            exact = [not any(np.all(s >= t) and np.any(s > t) for s in scores) for t in scores]
            mask = Cone.from_facets(facets).pareto_mask(points)
            assert mask.tolist() == exact
            if kind == "orthant":
                assert mask.tolist() == expected.tolist()


def test_dominates_broadcasts_and_equal_points_do_not_dominate():
    cone = Cone.orthant(2)
    assert not cone.dominates([1.0, 1.0], [1.0, 1.0])
    assert cone.dominates([[1.0, 1.0], [0.0, 2.0]], [0.5, 1.0]).tolist() == [True, False]


def test_tradeoffs_accept_exactly_the_rates_within_the_bounds():
    names = ("efficacy", "safety", "price")
    cone = Cone.tradeoffs(
        names,
        one("efficacy").is_worth(between=(0.5, 2), of="safety"),
        one("price").is_worth(at_most=4, of="efficacy"),
    )
    rng = np.random.default_rng(2)
    rates = rng.uniform(0, 5, size=(4000, 3))
    allowed = rates[
        (rates[:, 0] >= 0.5 * rates[:, 1]) & (rates[:, 0] <= 2 * rates[:, 1]) & (rates[:, 2] <= 4 * rates[:, 0])
    ]
    assert len(allowed) > 100
    for x in rng.normal(size=(200, 3)):
        if cone.contains(x):
            assert np.all(allowed @ x >= 0)
        else:  # some extreme rate, a facet of the cone, objects
            assert np.min(cone.facets @ x) < 0
    for p in cone.facets:
        assert 0.5 * p[1] - 1e-9 <= p[0] <= 2 * p[1] + 1e-9 and p[2] <= 4 * p[0] + 1e-9 and np.all(p >= -1e-9)


def test_one_objective():
    assert Cone.from_facets([[3.0]]).rays.tolist() == [[1.0]]
    assert Cone.from_rays([[2.0]]).facets.tolist() == [[1.0]]
    assert Cone.orthant(1).pareto_mask([[1.0], [2.0], [2.0]]).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cone.from_facets([[1, 0], [-1, 0], [0, 1], [0, -1]]), "empty one: only the origin"),
        (lambda: Cone.from_facets([[1, 0], [-1, 0]]), "interior, got one that is flat"),
        (lambda: Cone.from_facets([[1, 0]]), "pointed cone, got one that contains the whole line along"),
        (lambda: Cone.from_facets([[0, 0], [1, 0]]), "directions, got a zero row at position 0"),
        (lambda: Cone.from_facets([1, 0]), r"facets must have shape \(n_facets, n_objectives\), got \(2,\)"),
        (lambda: Cone.from_facets([[1, np.nan]]), "facets must be finite, got nan"),
        (lambda: Cone.from_facets([["a", 1]]), "facets must be numbers"),
        (lambda: Cone.from_facets(np.empty((0, 2))), "facets must not be empty"),
        (lambda: Cone.from_rays([[1, 0]]), "interior, got rays that span only 1 of 2"),
        (lambda: Cone.from_rays([[1, 0], [-1, 0], [0, 1]]), "pointed cone, got rays whose combinations contain"),
        (lambda: Cone.angle(0), r"degrees must be in \(0, 180\), got 0"),
        (lambda: Cone.angle(180), "degrees must be in"),
        (lambda: Cone.angle("wide"), "degrees must be a number"),
        (lambda: Cone.orthant(0), "n_objectives must be an integer of at least 1, got 0"),
        (lambda: Cone.orthant(2.5), "n_objectives must be an integer"),
        (lambda: Cone.orthant(2).contains([1.0]), r"points must have shape \(..., 2 = n_objectives\), got \(1,\)"),
        (lambda: Cone.orthant(2).pareto_mask([[1.0, np.nan]]), "points must be finite"),
        (lambda: one("A").is_worth(of="B"), "is_worth needs either"),
        (lambda: one("A").is_worth(between=(2, 1), of="B"), "must be given as low, high, got 2 and 1"),
        (lambda: one("A").is_worth(between=(1, 1), of="B"), "are one objective, so add them up"),
        (lambda: one("A").is_worth(between=(-1, 1), of="B"), "the lower rate must be in"),
        (
            lambda: Cone.tradeoffs(("A", "B"), one("A").is_worth(at_most=2, of="C")),
            "objective of a trade-off must be one of 'A', 'B'",
        ),
        (lambda: Cone.tradeoffs(("A", "B"), one("A").is_worth(at_most=2, of="A")), "two objectives, got 'A' twice"),
        (
            lambda: Cone.tradeoffs(
                ("A", "B"), one("A").is_worth(at_least=3, of="B"), one("A").is_worth(at_most=2, of="B")
            ),
            "contradict each other",
        ),
    ],
)
def test_refusals_say_why(make, message):
    with pytest.raises(ValueError, match=message):
        make()
