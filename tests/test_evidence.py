"""The fast evidence against the slow definition, on every kind of instance, and its symmetries."""

from itertools import pairwise

import numpy as np
import pytest

from prepex import Cone, Gaussian, evidence
from prepex._kernels.instance import make_known
from prepex._kernels.ledger import open_ledger
from prepex._kernels.search import search

import reference
from cases import sweep


def solve(case, **changes):
    given = {
        "means": case.means,
        "counts": case.counts,
        "covariance": case.covariance,
        "facets": case.facets,
        **changes,
    }
    cone = Cone(given["facets"])
    return evidence(given["means"], given["counts"], family=Gaussian(covariance=given["covariance"]), cone=cone)


def relative(ours, theirs):
    return np.max(np.abs(np.asarray(ours) - theirs)) / max(np.max(np.abs(theirs)), 1e-300)


def test_value_gradient_and_alternative_equal_the_enumeration():
    checked = 0
    for case in sweep(per_cell=7, seed=0):
        pieces = reference.pieces(case.facets, case.covariances, case.means, case.counts)
        least = min(piece.value for piece in pieces)
        found = solve(case)
        assert found.pareto_set == reference.pareto_set(case.facets, case.means)
        assert found.value == pytest.approx(least, rel=1e-8)
        # Several pieces may tie for the minimum: ours must be one of them.
        moved = case.means.copy()
        moved[list(found.alternative.arms)] = found.alternative.means
        same = [
            piece
            for piece in pieces
            if piece.value <= least * (1 + 1e-8)
            and (piece.kind, piece.arm, piece.hub)
            == (found.alternative.kind, found.alternative.arm, found.alternative.hub)
            and relative(found.gradient, piece.gradient) < 1e-8
            and relative(moved, piece.means) < 1e-8
        ]
        assert same, (case, found)
        assert case.counts @ found.gradient == pytest.approx(found.value, rel=1e-10)
        checked += 1
    assert checked >= 500


def test_pieces_are_all_closest_points_within_the_slack():
    for case in sweep(per_cell=1, seed=1):
        pieces = reference.pieces(case.facets, case.covariances, case.means, case.counts)
        least = min(piece.value for piece in pieces)
        slack = 0.7 * least
        distinct = []
        for piece in sorted(pieces, key=lambda piece: piece.value):
            known = any(
                (p.arm, p.hub) == (piece.arm, piece.hub) and np.abs(p.means - piece.means).max() < 1e-6
                for p in distinct
            )
            if piece.value <= least + slack and not known:
                distinct.append(piece)
        found = solve(case).pieces(slack)
        assert [piece.value for piece in found] == pytest.approx([piece.value for piece in distinct], rel=1e-7)
        assert {(p.kind, p.arm, p.hub) for p in found} == {(p.kind, p.arm, p.hub) for p in distinct}
        assert all(a.value <= b.value for a, b in pairwise(found))


@pytest.fixture(scope="module")
def some_cases():
    return list(sweep(per_cell=1, seed=2))


def test_permuting_arms_permutes_everything(some_cases):
    for case in some_cases:
        order = np.random.default_rng(0).permutation(len(case.means))
        covariance = case.covariance[order] if case.covariance.ndim == 3 else case.covariance
        plain = solve(case)
        permuted = solve(case, means=case.means[order], counts=case.counts[order], covariance=covariance)
        assert permuted.value == pytest.approx(plain.value, rel=1e-9)
        assert relative(permuted.gradient, plain.gradient[order]) < 1e-9
        assert tuple(sorted(order[list(permuted.pareto_set)])) == plain.pareto_set


def test_shifting_all_means_changes_nothing(some_cases):
    for case in some_cases:
        shifted = solve(case, means=case.means + np.arange(1.0, case.means.shape[1] + 1))
        assert shifted.value == pytest.approx(solve(case).value, rel=1e-9)


def test_scaling_an_objective_with_its_covariance_and_cone_changes_nothing(some_cases):
    for case in some_cases:
        scale = np.diag([3.0, 0.2, 7.0][: case.means.shape[1]])
        facets = case.facets @ np.linalg.inv(scale)
        facets /= np.linalg.norm(facets, axis=1, keepdims=True)
        scaled = solve(case, means=case.means @ scale, covariance=scale @ case.covariance @ scale, facets=facets)
        assert scaled.value == pytest.approx(solve(case).value, rel=1e-9)
        assert relative(scaled.gradient, solve(case).gradient) < 1e-9


def test_scaling_or_repeating_facet_rows_changes_nothing(some_cases):
    for case in some_cases:
        rows = np.vstack([case.facets * np.arange(1, len(case.facets) + 1)[:, None], case.facets[:1] * 5])
        cone = Cone.from_facets(rows)
        assert cone.n_facets == Cone.from_facets(case.facets).n_facets
        found = evidence(case.means, case.counts, family=Gaussian(covariance=case.covariance), cone=cone)
        assert found.value == pytest.approx(solve(case).value, rel=1e-9)
        assert found.pareto_set == solve(case).pareto_set


def test_repeated_facets_are_harmless_even_if_not_dropped(some_cases):
    for case in some_cases:
        doubled = solve(case, facets=np.vstack([case.facets, case.facets]))
        assert doubled.value == pytest.approx(solve(case).value, rel=1e-9)


def test_evidence_is_homogeneous_and_its_gradient_bounds_it_everywhere(some_cases):
    rng = np.random.default_rng(3)
    for case in some_cases:
        plain = solve(case)
        assert solve(case, counts=case.counts * 7.0).value == pytest.approx(7.0 * plain.value, rel=1e-9)
        others = rng.uniform(1, 40, len(case.counts))
        assert solve(case, counts=others).value <= others @ plain.gradient * (1 + 1e-9)


def test_minimised_objectives_are_flipped_and_shown_back():
    means, counts = np.array([[3.0, 1.0], [1.0, 0.2], [0.5, 2.0]]), [5, 6, 7]
    family, cone = Gaussian(covariance=[[1.0, 0.4], [0.4, 2.0]]), Cone.orthant(2)
    flipped = Gaussian(covariance=[[1.0, -0.4], [-0.4, 2.0]])
    costs = evidence(means, counts, family=family, cone=cone, objectives=("speed", "cost"), minimise=("cost",))
    gains = evidence(means * [1, -1], counts, family=flipped, cone=cone)
    assert costs.value == gains.value
    assert costs.pareto_set == (0, 1)
    np.testing.assert_allclose(costs.alternative.means, gains.alternative.means * [1, -1])
    assert "cost at" in costs.alternative.words


def test_single_arm_has_infinite_evidence():
    found = evidence([[1.0, 2.0]], [3], family=Gaussian(variance=1.0), cone=Cone.orthant(2))
    assert found.value == np.inf and found.alternative is None and found.pieces(1.0) == ()
    assert found.pareto_set == (0,) and not found.gradient.any()


def test_one_objective_is_best_arm_identification():
    means, counts = np.array([1.0, 0.2, 0.7]), np.array([4.0, 5.0, 6.0])
    found = evidence(means[:, None], counts, family=Gaussian(variance=2.0), cone=Cone.orthant(1))
    pairwise = [(1.0 - m) ** 2 / (2 * 2.0 * (1 / 4.0 + 1 / n)) for m, n in zip(means[1:], counts[1:], strict=True)]
    assert found.value == pytest.approx(min(pairwise), rel=1e-12)
    assert found.alternative.kind == "add" and found.alternative.arm == 2


def test_all_pareto_and_all_but_one():
    family, cone = Gaussian(variance=1.0), Cone.orthant(2)
    everyone = evidence([[0, 2], [1, 1], [2, 0]], [1, 1, 1], family=family, cone=cone)
    assert everyone.pareto_set == (0, 1, 2) and everyone.alternative.kind == "remove"
    all_but_one = evidence([[0, 9], [9, 0], [-1, -1]], [1, 1, 1], family=family, cone=cone)
    assert all_but_one.pareto_set == (0, 1) and all_but_one.alternative.kind == "add"


@pytest.mark.parametrize(
    ("means", "pareto_set"),
    [
        ([[1.0, 1.0], [1.0, 1.0]], (0, 1)),  # equal arms: both Pareto optimal
        ([[1.0, 1.0], [1.0, 0.0]], (0,)),  # dominated with one objective equal
        ([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [0.5, 1.0]], (1, 2)),
    ],
)
def test_exact_ties_have_no_evidence(means, pareto_set):
    found = evidence(means, np.ones(len(means)), family=Gaussian(variance=1.0), cone=Cone.orthant(2))
    assert found.value == 0.0 and found.pareto_set == pareto_set and not found.gradient.any()
    assert "on the border" in found.alternative.words
    for piece in found.pieces(0.0):
        assert piece.value == 0.0 and piece.words


def test_the_words_name_the_arms():
    found = evidence(
        [[2.0, 1.0], [0.0, 3.0], [1.0, 0.0]],
        [10, 10, 10],
        family=Gaussian(variance=1.0),
        cone=Cone.orthant(2),
        arms=("left", "right", "low"),
        objectives=("x", "y"),
    )
    assert found.alternative.words == (
        "low would become Pareto optimal if left had y at 0.5 instead of 1 and low had y at 0.5 instead of 0"
    )


def cheapest_add_by_restarts(sphere, counts, rng, n_starts=400):
    """Add(origin) in the orthant with unit variances: alternate between facet choice and hub, from many starts."""
    n_arms, n_objectives = sphere.shape

    def cost(hub):
        escape = 0.5 * counts[:-1, None] * np.maximum(sphere - hub, 0.0) ** 2
        return 0.5 * counts[-1] * hub @ hub + escape.min(axis=1).sum()

    best = np.inf
    for _ in range(n_starts):
        hub = rng.uniform(0.0, 1.0) * np.abs(rng.normal(size=n_objectives))
        for _ in range(200):
            facet = np.maximum(sphere - hub, 0.0).argmin(axis=1)
            new = np.zeros(n_objectives)
            for f in range(n_objectives):  # the hub's optimal coordinate pools with the arms held above it
                order = sorted((i for i in range(n_arms) if facet[i] == f), key=lambda i: -sphere[i, f])
                total, weight = 0.0, counts[-1]
                for i in order:
                    if sphere[i, f] <= total / weight:
                        break
                    total, weight = total + counts[i] * sphere[i, f], weight + counts[i]
                new[f] = total / weight
            if np.abs(new - hub).max() < 1e-15:
                break
            hub = new
        best = min(best, cost(hub))
    return best


@pytest.mark.parametrize("weight", [1.0, 20.0, 1000.0])
def test_sixty_four_pareto_arms_on_a_sphere(weight):
    """6^64 facet choices. Many random restarts of a local search never find less than the branch and bound."""
    rng = np.random.default_rng(4)
    sphere = np.abs(rng.normal(size=(64, 6)))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    means, counts = np.vstack([sphere, np.zeros(6)]), np.append(np.full(64, weight), 1.0)
    found = evidence(means, counts, family=Gaussian(variance=1.0), cone=Cone.orthant(6))
    assert found.pareto_set == tuple(range(64))
    ledger = open_ledger(make_known(np.eye(6)[None], means, counts))
    exact, _ = search(ledger.inst, 64, np.inf, ledger.search, ledger.none, 0)
    restarts = cheapest_add_by_restarts(sphere, counts, rng)
    assert exact <= restarts * (1 + 1e-9)
    assert restarts <= exact * 1.1, "the restarts come close, so they are a real check"
    removes = [
        0.25 * weight * np.sum(np.maximum(a - b, 0.0) ** 2) for a in sphere for b in sphere if not np.array_equal(a, b)
    ]
    assert found.value == pytest.approx(min(exact, *removes), rel=1e-9)


def test_inputs_are_not_changed_and_outputs_are_read_only(some_cases):
    case = some_cases[5]
    frozen = [array.copy() for array in (case.means, case.counts, case.covariance, case.facets)]
    for array in frozen:
        array.flags.writeable = False
    found = evidence(frozen[0], frozen[1], family=Gaussian(covariance=frozen[2]), cone=Cone.from_facets(frozen[3]))
    assert not found.gradient.flags.writeable and not found.alternative.means.flags.writeable


FINE = {"means": [[1.0, 2.0], [2.0, 1.0]], "counts": [1, 1], "family": Gaussian(variance=1.0), "cone": Cone.orthant(2)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"means": [1.0, 2.0]}, r"means must have shape \(n_arms, 2 = n_objectives\), got \(2,\)"),
        ({"means": [[1.0, 2.0, 3.0], [2.0, 1.0, 0.0]]}, r"means must have shape .* got \(2, 3\)"),
        ({"means": [[1.0, np.nan], [2.0, 1.0]]}, r"means must be finite, got nan at position \(0, 1\)"),
        ({"means": [[1.0, np.inf], [2.0, 1.0]]}, r"means must be finite, got inf"),
        ({"means": [["a", 2.0], [2.0, 1.0]]}, r"means must be numbers"),
        ({"means": np.empty((0, 2)), "counts": []}, r"means must not be empty"),
        ({"counts": [1, 1, 1]}, r"counts must have shape \(2 = n_arms,\), got \(3,\)"),
        ({"counts": [1, 0]}, r"counts must be positive, got 0.0 at position \(1,\)"),
        ({"counts": [1, -2]}, r"counts must be positive, got -2.0"),
        ({"counts": [1, np.nan]}, r"counts must be finite"),
        ({"arms": ("a", "a")}, r"arms must be different from each other, got 'a' 2 times"),
        ({"arms": ("a",)}, r"arms must be 2 names"),
        ({"arms": "ab"}, r"arms must be a sequence of 2 names, got the single string 'ab'"),
        ({"minimise": ("cost",)}, r"minimise must be one of 'objective 0', 'objective 1' or an index, got 'cost'"),
        ({"family": Gaussian(variance=[1.0, 2.0, 3.0])}, r"variance must have shape \(2 = n_objectives,\), got \(3,\)"),
        ({"family": Gaussian(covariance=np.eye(3))}, r"covariance must have shape \(2, 2\)"),
        ({"family": Gaussian(covariance=[np.eye(2)] * 3)}, r"covariance must have shape \(2, 2, 2\)"),
    ],
)
def test_bad_input_names_the_argument(changes, message):
    given = FINE | changes
    with pytest.raises(ValueError, match=message):
        evidence(given.pop("means"), given.pop("counts"), **given)


def test_wrong_kinds_are_named():
    with pytest.raises(TypeError, match="cone must be a Cone, got 'orthant'"):
        evidence(FINE["means"], FINE["counts"], family=FINE["family"], cone="orthant")
    with pytest.raises(TypeError, match="family must be a Family"):
        evidence(FINE["means"], FINE["counts"], family=1.0, cone=FINE["cone"])
    with pytest.raises(ValueError, match="slack must be in"):
        evidence(FINE["means"], FINE["counts"], family=FINE["family"], cone=FINE["cone"]).pieces(-1.0)
