"""Evidence of families beyond the known Gaussian against slow definitions."""

import numpy as np
import pytest
import reference_laws as reference
from law_cases import law_sweep, random_law_case

from prepex import Bernoulli, Cone, Exponential, Gaussian, Poisson, Product, evidence
from prepex._kernels.laws import law as kernels
from prepex._kernels.laws.instance import BLIND, make_instance
from prepex._kernels.ledger import move, open_ledger, refresh, share_means

CODES = {"gaussian": 0, "bernoulli": 1, "poisson": 2, "exponential": 3, "student": 4}


def solve(case, **changes):
    given = {"means": case.means, "counts": case.counts, **changes}
    return evidence(given["means"], given["counts"], family=case.family, cone=Cone(case.facets))


@pytest.mark.parametrize("name", CODES)
def test_tilted_minimum_is_where_the_slope_vanishes(name):
    rng = np.random.default_rng(CODES[name])
    for _ in range(200):
        mu, scale = {"bernoulli": rng.uniform(0.01, 0.99), "poisson": rng.uniform(0.1, 9)}.get(name, 1.3), 0.7
        s = rng.normal() * 3
        x = kernels.tilted(CODES[name], mu, s, scale)
        if name == "poisson" and s <= -1:
            assert x == np.inf
            continue
        kept = (name == "exponential" and x >= 2 * mu * (1 - 1e-12)) or (
            name == "student" and (x - mu) ** 2 >= scale * (1 - 1e-12)
        )
        assert kept or reference.slope(name, mu, x, scale) == pytest.approx(-s, rel=1e-8, abs=1e-9)
        d = kernels.divergence(CODES[name], mu, x, scale)
        assert d == pytest.approx(reference.divergence(name, mu, x, scale), rel=1e-9, abs=1e-14)
        if not kept:
            h = 1e-6
            numeric = (
                kernels.tilted(CODES[name], mu, s + h, scale) - kernels.tilted(CODES[name], mu, s - h, scale)
            ) / (2 * h)
            soft = kernels.softness(CODES[name], mu, x, scale)
            assert soft == pytest.approx(-numeric, rel=1e-3) or soft > 50


def test_bernoulli_at_the_border_is_not_clipped():
    assert kernels.divergence(1, 0.0, 0.3, 1.0) == pytest.approx(-np.log(0.7))
    assert kernels.divergence(1, 1.0, 0.3, 1.0) == pytest.approx(-np.log(0.3))
    assert [kernels.tilted(1, 0.0, s, 1.0) for s in (3.0, 0.0, -1.0)] == [0.0, 0.0, 0.0]
    assert kernels.tilted(1, 0.0, -4.0, 1.0) == pytest.approx(0.75)
    assert kernels.tilted(1, 1.0, 4.0, 1.0) == pytest.approx(0.25) and kernels.tilted(1, 1.0, 1.0, 1.0) == 1.0


def check_against_enumeration(case, rel=1e-6):
    pieces = reference.pieces(case.facets, case.laws, case.scales, case.means, case.counts)
    least = min(piece.value for piece in pieces)
    found = solve(case)
    assert found.value == pytest.approx(least, rel=rel, abs=1e-12), case
    moved = case.means.copy()
    moved[list(found.alternative.arms)] = found.alternative.means
    # Several pieces may tie for the minimum: ours must be one of them.
    near = [p for p in pieces if p.value <= least * (1 + 1e-5)]
    scale = max(np.abs(found.gradient).max(), 1e-12)
    assert any(np.abs(found.gradient - p.gradient).max() <= 1e-6 * scale for p in near), case
    assert case.counts @ found.gradient == pytest.approx(found.value, rel=1e-7)


def test_value_and_gradient_equal_the_enumeration():
    checked = 0
    for case in law_sweep(per_cone=35, seed=0):
        check_against_enumeration(case)
        checked += 1
    names = ("gaussian", "bernoulli", "poisson", "exponential")
    for case in law_sweep(per_cone=20, seed=1, names=names, cones=("orthant",)):
        check_against_enumeration(case)
        checked += 1
    assert checked == 160


@pytest.mark.parametrize("name", ["exponential", "student"])
def test_laws_that_are_not_convex_are_bounded_from_below_and_exact_inside(name):
    exact = 0
    for case in law_sweep(per_cone=6, seed=2, names=(name, "bernoulli"), cones=("acute", "obtuse", "many")):
        pieces = reference.pieces(case.facets, case.laws, case.scales, case.means, case.counts, loose=True)
        best = min(pieces, key=lambda piece: piece.value)
        found = solve(case)
        assert found.value <= best.value * (1 + 1e-6)
        exact += found.value >= best.value * (1 - 1e-6)
    assert exact >= 10


def test_gaussian_laws_are_the_gaussian_kernels():
    for case in law_sweep(per_cone=12, seed=3, names=("gaussian",)):
        known = evidence(
            case.means, case.counts, family=Gaussian(variance=case.scales[0]), cone=Cone(case.facets), minimise=(0,)
        )
        ours = evidence(case.means, case.counts, family=case.family, cone=Cone(case.facets), minimise=(0,))
        assert ours.value == pytest.approx(known.value, rel=1e-9)
        np.testing.assert_allclose(ours.gradient, known.gradient, rtol=1e-6, atol=1e-9 * known.gradient.max())
        assert ours.alternative.constraints and ours.pareto_set == known.pareto_set
        slack = 0.5 * known.value
        ours_all, known_all = ours.pieces(slack), known.pieces(slack)
        assert [p.value for p in ours_all] == pytest.approx([p.value for p in known_all], rel=1e-8)


def test_gradient_is_the_derivative():
    for case in law_sweep(per_cone=5, seed=4):
        found = solve(case)
        for k in range(len(case.counts)):
            step = 1e-5 * case.counts[k]
            more, less = case.counts.copy(), case.counts.copy()
            more[k] += step
            less[k] -= step
            numeric = (solve(case, counts=more).value - solve(case, counts=less).value) / (2 * step)
            # At a kink two pieces tie, and the gradient is that of one of them.
            if solve(case).pieces(1e-3 * found.value + 1e-9)[1:]:
                continue
            assert found.gradient[k] == pytest.approx(numeric, rel=1e-4, abs=1e-7)


def outcome(rng, law, mean, scale):
    return {
        "bernoulli": lambda: float(rng.random() < mean),
        "poisson": lambda: float(rng.poisson(mean)),
        "exponential": lambda: rng.exponential(mean),
    }.get(law, lambda: rng.normal(mean, np.sqrt(scale)))()


@pytest.mark.parametrize("cone", ["orthant", "obtuse", "many"])
@pytest.mark.parametrize(
    "laws",
    [
        ["bernoulli"] * 3,
        ["gaussian", "poisson", "exponential"],
        ["student"] * 3,
        ["shared"] * 3,
        ["shared", "bernoulli", "student"],
    ],
)
def test_random_walk_equals_a_fresh_start(cone, laws):
    rng = np.random.default_rng(len(cone) + len(laws[1]))
    case = random_law_case(rng, cone, laws, 7, most_pieces=10**6)
    shared = np.array([law == "shared" for law in laws])
    codes = np.array([CODES.get(law, 0) for law in laws])
    first = np.array([[outcome(rng, *z) for z in zip(laws, case.means[k], case.scales[k])] for k in range(7)])
    rewards = [[row] for row in first]
    start = np.where(codes == 4, 0.0, np.where(shared, BLIND, case.scales))
    near = open_ledger(make_instance(codes, start, case.facets, first, np.ones(7), shared))
    far = share_means(near)
    refresh(near, 0.0)
    refresh(far, 0.0)
    for step in range(150):
        a = int(rng.integers(7))
        rewards[a].append([outcome(rng, *z) for z in zip(laws, case.means[a], case.scales[a])])
        mean = np.mean(rewards[a], axis=0)
        shift = mean - near.inst.M[a]
        move(near, a, mean, shift, float(len(rewards[a])))
        move(far, a, mean, shift, far.inst.N[a] + (0.3 if step % 3 else 0.0))
        if step % 4:
            continue
        means = np.array([np.mean(rows, axis=0) for rows in rewards])
        squares = np.array([np.var(rows, axis=0) if len(rows) > 2 else np.zeros(3) for rows in rewards])
        free = sum(len(rows) - 1 for rows in rewards)
        pooled = sum(np.var(rows, axis=0) * len(rows) for rows in rewards) / max(free, 1)
        scale = np.where(codes == 4, squares, np.where(shared, pooled if free > 1 else BLIND, case.scales))
        for ledger in (near, far):
            value = refresh(ledger, 0.0)
            fresh = open_ledger(make_instance(codes, scale, case.facets, means, ledger.inst.N))
            assert value == pytest.approx(refresh(fresh, 0.0), rel=1e-8, abs=1e-12)
            assert np.array_equal(ledger.inst.mask, fresh.inst.mask)
            if value > 0:
                assert ledger.inst.N @ ledger.gradient == pytest.approx(value, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("cone", [Cone.orthant(2), Cone.angle(120), Cone.angle(60)])
def test_means_at_the_border_of_the_domain(cone):
    for family in (Bernoulli(), Product([Bernoulli(), Poisson()])):
        found = evidence([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [3, 4, 5], family=family, cone=cone)
        assert np.isfinite(found.value) and found.value >= 0
        assert np.all(np.isfinite(found.gradient))
        # Three successes against four failures cannot be worth more than their likelihood.
        assert found.value <= 12 * np.log(2)
    everyone = evidence([[1.0, 1.0], [1.0, 1.0]], [9, 9], family=Bernoulli(), cone=cone)
    assert everyone.value == 0.0


@pytest.mark.parametrize("seed", range(6))
def test_means_of_zero_do_not_hide_a_change_of_the_front(seed):
    """A Poisson mean of 0 has no tilted minimum of its own; with what stands for it Z must still reach 0 exactly."""
    rng = np.random.default_rng(seed)
    facets, truth = np.eye(3) + 0.3, rng.uniform(0.1, 1.2, (4, 3))
    total = rng.poisson(truth).astype(float)
    near = open_ledger(make_instance(np.array([2, 2, 2]), np.ones((4, 3)), facets, total, np.ones(4)))
    counts = np.ones(4)
    refresh(near, 0.0)
    for _ in range(40):
        a = int(rng.integers(4))
        counts[a] += 1
        total[a] += rng.poisson(truth[a])
        mean = total[a] / counts[a]
        move(near, a, mean, mean - near.inst.M[a], counts[a])
        refresh(near, 0.0)
        fresh = open_ledger(make_instance(near.inst.law, near.inst.scale, facets, near.inst.M.copy(), counts))
        assert near.inst.mask.tolist() == fresh.inst.mask.tolist()


def test_poisson_zero_under_a_cone_is_a_limit():
    cone = Cone.angle(110)
    values = [
        evidence([[e, 1.0], [1.5, 2.0], [2.0, 0.5]], [5, 6, 7], family=Poisson(), cone=cone).value
        for e in (1e-6, 1e-8, 0.0)
    ]
    assert values[2] == pytest.approx(values[1], rel=1e-4) and np.isfinite(values[2])


def test_minimised_objectives_stay_in_their_domain():
    means = [[0.6, 0.2], [0.3, 0.1], [0.2, 0.5]]
    found = evidence(means, [20, 20, 20], family=Bernoulli(), cone=Cone.orthant(2), minimise=(1,))
    assert found.pareto_set == (0, 1)
    assert np.all((found.alternative.means >= 0) & (found.alternative.means <= 1))
    flipped = [[m, 1 - t] for m, t in means]
    assert evidence(flipped, [20, 20, 20], family=Bernoulli(), cone=Cone.orthant(2)).value == pytest.approx(
        found.value, rel=1e-12
    )


@pytest.mark.parametrize(
    ("family", "means", "message"),
    [
        (Bernoulli(), [[1.2, 0.5]], "mean of 'objective 0' must be in .0, 1. for Bernoulli, got 1.2"),
        (Poisson(), [[0.2, -1.0]], "mean of 'objective 1' must be at least 0 for Poisson, got -1"),
        (Exponential(), [[0.0, 1.0]], "must be positive for Exponential, got 0"),
        (Product([Bernoulli()]), [[0.5, 0.5]], "families must be 2 = n_objectives, got 1"),
        (Gaussian(variance="unknown"), [[0.5, 0.5]], "noise must be given"),
    ],
)
def test_bad_means_name_objective_family_and_value(family, means, message):
    with pytest.raises(ValueError, match=message):
        evidence(means, [3], family=family, cone=Cone.orthant(2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Product([]), "families must be a sequence"),
        (lambda: Product([Product([Bernoulli()])]), "got a Product among them"),
        (lambda: Product([Gaussian(variance=[1.0, 2.0])]), "one objective each"),
        (lambda: Gaussian(variance="big"), "or 'unknown', got 'big'"),
        (lambda: Gaussian(variance=1.0, noise=1.0), "noise must be left out"),
        (lambda: Gaussian(variance="unknown", noise=[[1.0, -1.0]]), "noise must be positive"),
    ],
)
def test_bad_families_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
    with pytest.raises(TypeError, match="families must be a Family"):
        Product([1.0])
