"""The incremental ledger: after any sequence of moves it holds what a fresh one would find."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import twice
from prepex._kernels import engine
from prepex._kernels import ledger as kernels
from prepex._kernels.instance import filter_front, make_known
from prepex._kernels.laws.instance import make_instance
from prepex._kernels.laws.law import BERNOULLI
from prepex._kernels.room import make_pieces, make_search
from prepex.stopping import Certified

from cases import CONES, NOISES, random_case


def open_ledger(case, means, counts):
    covariance = case.covariance.reshape(-1, means.shape[1], means.shape[1])
    half = case.facets @ np.linalg.cholesky(covariance)
    given = {"facets": case.facets, "prec": np.linalg.inv(covariance)}
    return kernels.open_ledger(make_known(half @ np.swapaxes(half, 1, 2), means @ case.facets.T, counts, **given))


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("noise", NOISES)
def test_random_walk_equals_a_fresh_start_at_every_step(cone, noise):
    rng = np.random.default_rng(CONES.index(cone) * 10 + NOISES.index(noise))
    changes = 0
    for _ in range(4):
        case = random_case(rng, cone=cone, noise=noise, n_pareto=4, n_objectives=3, n_dominated=5)
        means, counts = case.means.copy(), np.ones(len(case.means))
        covariance = case.covariance.reshape(-1, 3, 3)
        roots = np.linalg.cholesky(covariance)
        ledger = open_ledger(case, means, counts)
        kernels.refresh(ledger, 0.0)
        for _ in range(150):
            before = ledger.inst.mask.copy()
            for _ in range(rng.integers(1, 3)):
                a = int(rng.integers(len(means)))
                law = a if len(covariance) > 1 else 0
                reward = case.means[a] + roots[law] @ rng.normal(size=3)
                counts[a] += 1
                shift = (reward - means[a]) / counts[a]
                means[a] += shift
                kernels.move(ledger, a, means[a], shift, counts[a])
            value = kernels.refresh(ledger, 0.0)
            fresh = open_ledger(case, means, counts)
            assert value == pytest.approx(kernels.refresh(fresh, 0.0), rel=1e-9, abs=1e-14)
            assert np.array_equal(ledger.inst.mask, fresh.inst.mask)
            np.testing.assert_allclose(ledger.inst.S, fresh.inst.S, rtol=1e-12, atol=1e-14)
            if value > 0:
                assert counts @ ledger.gradient == pytest.approx(value, rel=1e-9)
                assert ledger.gradient.min() >= 0
            changes += int(not np.array_equal(before, ledger.inst.mask))
    assert changes > 20, "the walk must cross the border of the Pareto set often"


def test_weights_may_grow_without_a_move():
    rng = np.random.default_rng(7)
    case = random_case(rng, cone="many", noise="per_arm", n_pareto=3, n_objectives=3, n_dominated=3)
    weights = case.counts.copy()
    ledger = open_ledger(case, case.means, weights)
    kernels.refresh(ledger, 0.0)
    for _ in range(100):
        a = int(rng.integers(len(weights)))
        weights[a] += rng.exponential()
        kernels.move(ledger, a, case.means[a], np.zeros(3), weights[a])
        fresh = open_ledger(case, case.means, weights)
        assert kernels.refresh(ledger, 0.0) == pytest.approx(kernels.refresh(fresh, 0.0), rel=1e-9)


def test_ties_made_and_broken():
    case = random_case(
        np.random.default_rng(8), cone="orthant", noise="diagonal", n_pareto=2, n_objectives=2, n_dominated=1
    )
    means, counts = np.array([[0.0, 1.0], [1.0, 0.0], [-1.0, -1.0]]), np.ones(3)
    ledger = open_ledger(case, means, counts)
    assert kernels.refresh(ledger, 0.0) > 0
    for target in ([0.0, 1.0], [1.0, 0.0], [0.5, 2.0], [1.0, 1.0], [-1.0, -1.0]):
        shift = np.array(target) - means[2]
        means[2] = target
        counts[2] += 1
        kernels.move(ledger, 2, means[2], shift, counts[2])
        value = kernels.refresh(ledger, 0.0)
        fresh = open_ledger(case, means, counts)
        assert value == pytest.approx(kernels.refresh(fresh, 0.0), abs=1e-15)
        assert np.array_equal(ledger.inst.mask, fresh.inst.mask)


def test_a_deep_tree_does_not_need_saved_multipliers():
    """Below the levels that are saved, a node starts from no multipliers: slower, the same value."""
    rng = np.random.default_rng(9)
    sphere = np.abs(rng.normal(size=(40, 4)))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    means, counts = np.vstack([sphere, np.zeros(4)]), np.ones(41)
    plain = kernels.open_ledger(make_known(np.eye(4)[None], means, counts))
    shallow = plain._replace(search=make_search(41, 4)._replace(saved=np.zeros((2, 2))))
    assert kernels.refresh(shallow, 0.0) == pytest.approx(
        kernels.refresh(kernels.open_ledger(make_known(np.eye(4)[None], means, counts)), 0.0), rel=1e-12
    )


@pytest.mark.parametrize("kind", ["gaussian", "laws"])
def test_a_full_table_keeps_the_cheapest_pieces(kind):
    """Whatever the order in which they are found; the smallest, which is Z, among them."""
    rng = np.random.default_rng(12)
    means = rng.uniform(0.1, 0.9, size=(30, 3))
    if kind == "gaussian":
        ledger, slack = kernels.open_ledger(make_known(np.eye(3)[None], means, np.ones(30))), 0.02
    else:
        inst = make_instance(np.full(3, BERNOULLI), np.ones((30, 3)), np.eye(3), means, np.ones(30))
        ledger = kernels.open_ledger(inst, 4096)
        slack = 0.1
    value = kernels.refresh(ledger, 0.0)
    many = make_pieces(5000, 31)
    count = kernels.collect(ledger, slack, many)
    assert 1000 < count < 5000
    values = np.sort(many.real[:count, 0])
    assert values[0] == pytest.approx(value, rel=1e-9)
    for room in (1, 7, 48, 400):
        few = make_pieces(room, 31)
        assert kernels.collect(ledger, slack, few) == room
        assert np.sort(few.real[:, 0]) == pytest.approx(values[:room], rel=1e-9)


def test_collecting_says_when_it_runs_out_of_room():
    rng = np.random.default_rng(10)
    means, counts = rng.normal(size=(12, 3)), np.ones(12)
    ledger = kernels.open_ledger(make_known(np.eye(3)[None], means, counts))
    kernels.refresh(ledger, 0.0)
    count = kernels.collect(ledger, 3.0, make_pieces(2000, 13))
    assert count > 2
    assert kernels.collect(ledger, 3.0, make_pieces(2, 13)) == 2
    tight = ledger._replace(search=ledger.search._replace(option=np.zeros(6)))
    assert kernels.collect(tight, 3.0, make_pieces(2000, 13)) == -1
    # Nothing is left behind: the next call with room is right again.
    assert not ledger.search.taken.any() and not ledger.search.forbidden.any()
    assert kernels.collect(ledger, 3.0, make_pieces(2000, 13)) == count


@pytest.mark.parametrize("offset", [1e5, 1e7])
def test_no_arm_is_lost_to_rounding_far_from_zero(offset):
    """Scores are centred before they come here; if they were not, rounding may cost digits but never an alternative."""
    rng = np.random.default_rng(11)
    facets = np.array([[0.97, -0.26], [-0.26, 0.97]])
    gram = (facets @ facets.T)[None]
    truth = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [0.3, 0.1], [0.2, 0.2]]) + offset
    means, counts = truth + rng.normal(size=truth.shape), np.ones(5)
    ledger = kernels.open_ledger(make_known(gram, means @ facets.T, counts, facets=facets, prec=np.eye(2)[None]))
    kernels.refresh(ledger, 0.0)
    for _ in range(3000):
        a = int(rng.integers(5))
        counts[a] += 1
        shift = (truth[a] + rng.normal(size=2) - means[a]) / counts[a]
        means[a] += shift
        kernels.move(ledger, a, means[a], shift, counts[a])
        value = kernels.refresh(ledger, 0.0)
        fresh = kernels.refresh(kernels.open_ledger(make_known(gram, ledger.inst.S, counts)), 0.0)
        assert value == pytest.approx(fresh, rel=1e-15 * offset * counts.sum(), abs=1e-12 * offset)


@pytest.mark.parametrize("asked", [{}, {"tolerance": 0.3}, {"at_least": 0.4}])
@pytest.mark.parametrize("family", ["Gaussian", "unknown", "Bernoulli"])
def test_a_run_that_follows_the_margin_knows_the_answer_and_can_have_the_evidence_again(family, asked):
    changes, kept = 0, 0
    runs = twice.random_runs(seed=3, rounds=3, n_pulls=60, **asked)
    for run in runs:
        if (run.family, run.rule, run.threshold) != (family, "InformationDirected", "certified"):
            continue
        # A short pilot: most pulls come after it.
        experiment, reward, before = replace(run, threshold=Certified(pilot=2)).open(), run.rewards(), None
        with engine.interpreting():
            for pull in range(run.n_pulls):
                arm = pull % 4 if pull < 40 else int(experiment.choose(1, np.zeros(4, dtype=np.int64))[0])
                experiment.tell(arm, reward(arm))
                course = experiment.course
                if course is None:
                    continue
                inst = course.near.inst
                mask, front = np.zeros(4, dtype=np.bool_), np.full(4, -1)
                size = filter_front(inst.S, inst.n_facets, mask, front)
                assert mask.tolist() == inst.mask.tolist() and size == inst.size[0]
                assert front[:size].tolist() == inst.front[:size].tolist()
                changes += before is not None and mask.tolist() != before
                before = mask.tolist()
            # Nobody has asked for it since the pilot.
            kept += course.near.real[0] != experiment.evidence.value
            found = kernels.refresh(course.near, 0.0)
            assert found == pytest.approx(experiment.evidence.value, rel=1e-8, abs=1e-12)
    assert changes > 3 and kept > 1


@pytest.mark.parametrize("slack", [0.0, 0.2], ids=("exact", "tolerance"))
@pytest.mark.parametrize("n_limits", [0, 2])
def test_the_answer_is_followed_from_the_arms_that_moved(slack, n_limits):
    # On a lattice: arms are often level, enter and leave, and keep out what others kept out before.
    rng = np.random.default_rng(8)
    changes = 0
    for _ in range(15):
        K, m = int(rng.integers(2, 9)), 2 + n_limits
        rows = np.vstack([np.eye(2), np.eye(2)])[:m]
        level = np.append(np.zeros(2), np.full(n_limits, -1.0))
        S = rng.integers(-3, 4, (K, 2)) @ rows.T - level
        ledger = kernels.open_ledger(
            make_known(
                rows @ rows.T[None], S, np.ones(K), facets=rows, prec=np.eye(2)[None], level=level, n_facets=2,
                slack=np.append(np.full(2, slack), np.zeros(n_limits)),
            )
        )  # fmt: skip
        inst = ledger.inst
        for step in range(40):
            before = inst.mask.copy()
            for a in rng.integers(0, K, 1 if rng.random() < 0.9 else 2):
                mean = rng.integers(-3, 4, 2).astype(float)
                kernels.move(ledger, a, mean, mean - inst.S[a, :2], inst.N[a] + 1.0)
            if step % 5 == 4:
                kernels.refresh(ledger, 0.0)
            else:
                kernels.follow_answer(ledger)
            mask, front = np.zeros(K, bool), np.zeros(K, np.int64)
            n = filter_front(inst.S, 2, mask, front)
            assert np.array_equal(inst.mask, mask) and np.array_equal(inst.front[: inst.size[0]], front[:n])
            changes += not np.array_equal(before, mask)
    assert changes > 60
