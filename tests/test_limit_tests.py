"""The certified tests of one arm and its limit, for families: by definition, and Ville's inequality on the border."""

import numpy as np
import pytest
import reference_laws as reference
from test_law_margin import CODES, SCALE, TRUTH, draw, end_pilot

from benchmarks import borders
from prepex._kernels.laws.fresh import lone_penalty, make_law_fresh
from prepex._kernels.laws.instance import make_instance
from prepex._kernels.margin import add_fresh, e_value, make_scratch, margin, settle_tests
from prepex.stopping import Certified

import reference_margin
from pooled import DELTA, most

STREAMS, STEPS, RISK = 300, 100, 0.1


def on_border(law, rng, level, side=1.0):
    """(instance of one arm after its pilot, with one facet and the limit side * mean >= side * level; its pilot)."""
    pilot = draw(rng, law, TRUTH[law], 5)
    squares = np.var(pilot) * len(pilot)
    scale = np.array([[squares / 5 if law == "student" else SCALE]])
    near = make_instance(
        np.array([CODES[law]]),
        scale,
        np.array([[1.0], [side]]),
        np.array([[np.mean(pilot)]]),
        np.array([5.0]),
        np.array([law == "shared"]),
        level=np.array([0.0, side * level]),
        n_facets=1,
    )
    near.square[0, 0] = near.line[0, :] = squares
    return near, pilot


@pytest.mark.parametrize("law", CODES)
def test_evidence_of_a_limit_is_likelihood_over_mixture(law):
    rng = np.random.default_rng(1)
    for side in (1.0, -1.0):
        near, pilot = on_border(law, rng, 0.7 * TRUTH[law], side)
        fresh = make_law_fresh(near)
        end_pilot(fresh, near)
        seen = draw(rng, law, TRUTH[law], 20)
        for x in seen:
            add_fresh(fresh, 0, np.array([x]), 1.0)
        # With one arm a shared variance is its own, but for the prior, whose spread is weighed otherwise.
        kind = "student" if law == "shared" else law
        spread = np.var(pilot) * 5 / 4
        prior = 5, np.mean(pilot), np.var(pilot) * 5, spread
        top = reference.log_likelihood(kind, seen, np.mean(seen), SCALE)
        if law != "shared":
            mixed = reference.log_mixture(kind, seen, prior, SCALE)
            assert lone_penalty(fresh, 0, 1) == pytest.approx(top - mixed, rel=1e-6, abs=1e-7)
        scale = np.var(seen) if kind == "student" else SCALE
        cost = 20 * reference.divergence(kind, np.mean(seen), 0.7 * TRUTH[law], scale)
        assert fresh.alone[0, 0] == pytest.approx(cost - lone_penalty(fresh, 0, 1), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("side", [1.0, -1.0], ids=("at least", "at most"))
@pytest.mark.parametrize("law", CODES)
def test_ville_on_the_border(law, side):
    """An arm whose mean is the limit: that it meets it, or breaks it, is claimed with probability at most a each."""
    rng, met, broken = np.random.default_rng(2), 0, 0
    for _ in range(STREAMS):
        near, _ = on_border(law, rng, TRUTH[law], side)
        fresh = make_law_fresh(near)
        end_pilot(fresh, near)
        high = {1.0: -np.inf, -1.0: -np.inf, 0.0: -np.inf}
        for step in range(STEPS):
            add_fresh(fresh, 0, draw(rng, law, TRUTH[law], 1), 1.0)
            if step >= 3:
                where = float(np.sign(fresh.inst.S[0, 1]))
                high[where] = max(high[where], fresh.alone[0, 0])
        met += high[1.0] >= np.log(1 / RISK)
        broken += high[-1.0] >= np.log(1 / RISK)
    allowed = STREAMS * RISK + 3 * np.sqrt(STREAMS * RISK * (1 - RISK))
    assert max(met, broken) <= allowed
    # The same check notices a limit that is not the mean.
    seen = 0
    for _ in range(60):
        near, _ = on_border(law, rng, (0.4 if law == "bernoulli" else 0.3) * TRUTH[law], side)
        fresh = make_law_fresh(near)
        end_pilot(fresh, near)
        for _ in range(3 * STEPS):
            add_fresh(fresh, 0, draw(rng, law, TRUTH[law], 1), 1.0)
        seen += fresh.alone[0, 0] >= np.log(1 / RISK)
    assert seen > 2 * 60 * RISK


def test_margin_against_its_definition():
    rng, kinds = np.random.default_rng(5), set()
    for trial in range(40):
        laws = ["bernoulli", "poisson", "gaussian"][: 2 + trial % 2]
        K, L, C = int(rng.integers(2, 6)), len(laws), int(rng.integers(1, 3))
        codes, facets = np.array([CODES[law] for law in laws]), np.eye(L) + (0.3 if trial % 3 else 0.0)
        truth = np.column_stack([rng.uniform(0.2, 0.8, K), rng.uniform(1, 4, K), rng.normal(size=K)])[:, :L]
        rows = rng.normal(size=(C, L))
        if trial % 2:
            rows = np.eye(L)[rng.integers(L, size=C)] * rng.choice([1.0, -1.0], (C, 1))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        level = rows @ truth[rng.integers(K)] + rng.normal(0, 0.2, C)
        slack = np.append(rng.uniform(0, 0.2, L) * (trial % 4 == 1), np.zeros(C))
        told = [np.column_stack([draw(rng, law, truth[k, q], 60) for q, law in enumerate(laws)]) for k in range(K)]
        means = np.array([values[:5].mean(axis=0) for values in told])
        given = np.vstack([facets, rows]), means, np.full(K, 5.0), np.zeros(L, dtype=bool), slack
        near = make_instance(codes, np.full((K, L), SCALE), *given, np.append(np.zeros(L), level), L)
        fresh = make_law_fresh(near)
        deal = end_pilot(fresh, near)
        for k in range(K):
            for values in told[k][5 : int(rng.integers(8, 60))]:
                add_fresh(fresh, k, values, 1.0)
        binding, scratch = np.full(4, -1, dtype=np.int64), make_scratch(K, L + C)
        value = margin(fresh, near, deal, scratch, binding)
        dealt = reference_margin.Dealt(near.S, near.N, near.V, L, slack)

        def e(i, j, f, k, fresh=fresh):
            return e_value(fresh, i, j, f, k, -np.inf, np.inf)

        def lone(k, side, fresh=fresh, L=L, C=C):
            right = side * fresh.inst.S[k, L:] > 0
            return [(fresh.alone[k, c] if right[c] else -np.inf, L + c) for c in range(C)]

        front = np.flatnonzero(near.mask).tolist()
        expected = reference_margin.arm_tests(
            front, e, lambda k, lone=lone: lone(k, 1), lambda k, lone=lone: lone(k, -1), L, dealt
        )
        assert value == pytest.approx(reference_margin.margin(expected, dealt, front)[0], abs=1e-9)
        settle_tests(fresh, near, deal, scratch)
        own = [found - dealt.plain_price(k) for k, (found, _) in enumerate(expected)]
        np.testing.assert_allclose(scratch.plain, own, rtol=1e-9, atol=1e-9)
        kinds.add("limit" if binding[2] >= L else "facet")
    assert kinds == {"limit", "facet"}


# Errors of certified answers on the borders: a sample of `python -m benchmarks borders`.
QUESTIONS = ("beaten by the tolerance", "the best is on the limit", "limits and a tolerance", "shares", "doses")
EACH = 60


def test_errors_on_the_borders_stay_below_delta(monkeypatch):
    monkeypatch.setattr(borders, "MOST", 1000)
    known = borders.questions()
    cells = [borders.run(known[name], Certified(), EACH) for name in QUESTIONS]
    assert sum(cell.wrong for cell in cells) <= most(EACH * len(QUESTIONS))
    assert sum(cell.stopped for cell in cells) > 2 * EACH
    assert pytest.approx(borders.DELTA) == DELTA


def test_the_same_check_catches_a_stop_that_is_too_early(monkeypatch):
    monkeypatch.setattr(borders, "MOST", 1000)
    known, early = borders.questions(), type("Early", (borders.TooEarly,), {"margin": -4.0})()
    cells = [borders.run(known[name], early, EACH) for name in QUESTIONS]
    assert sum(cell.wrong for cell in cells) > most(EACH * len(QUESTIONS))
