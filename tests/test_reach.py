"""Chances beside what has no noise: one that must move almost as far as it can, or farther, costs what it costs.

The judge looks at one chance and one objective without noise: the hub's chance x decides where the others are, and the
cost is convex in x. It bisects the slope, in decimals.
"""

from decimal import Decimal, localcontext
from itertools import product

import numpy as np
import pytest

from prepex import Bernoulli, Cone, Exact, Product, Study, evidence
from prepex._kernels import engine
from prepex.study.check import check

FAMILY = Product([Bernoulli(), Exact()])
CONES = [Cone.from_facets(np.eye(2) + 0.3), Cone.angle(60), Cone.angle(120), Cone.from_facets([[1, 0.3], [0.1, 1]])]
# Of the range that a chance must be moved by.
SHARES = [0.9, 0.999, 0.9999, 1 - 1e-6, 1 - 1e-8, 1 - 1e-10, 1 - 1e-12, 1.001, 1.5, 30.0]
# Next to 1 a chance rounds to it before it is there.
CHANCES = [0.0, 1.0, 1.0, 0.5, 1 / 3, 0.02, 1e-12, 1 - 1e-9]


def divergence(mu, x):
    pairs = [(p, y) for p, y in ((mu, x), (1 - mu, 1 - x)) if p > 0]
    return sum(p * (p / y).ln() for p, y in pairs) if all(y > 0 for _, y in pairs) else Decimal("inf")


def slope(mu, x):
    return ((1 - mu) / (1 - x) if mu < 1 else 0) - (mu / x if mu > 0 else 0)


def star(W, M, N, hub, links):
    """What it costs that w_f . (x_hub - x_a) >= 0 for all links (a, f)."""
    between, low, high = {}, Decimal(0), Decimal(1)
    for a, f in links:
        least, most = between.get(a, (Decimal("-inf"), Decimal("inf")))
        bound = W[f][1] * (M[a][1] - M[hub][1]) / W[f][0]
        between[a] = (max(least, bound), most) if W[f][0] > 0 else (least, min(most, bound))
    for least, most in between.values():
        low, high = max(low, least), min(high, 1 + most)
        if least > most or low > high:
            return Decimal("inf")

    def moved(x):
        return [(N[a], M[a][0], min(max(M[a][0], x - most), x - least)) for a, (least, most) in between.items()]

    def cost(x):
        return sum(n * divergence(mu, y) for n, mu, y in [(N[hub], M[hub][0], x), *moved(x)])

    ends = [low, high]
    for _ in range(160):
        x = sum(ends) / 2
        rises = N[hub] * slope(M[hub][0], x) + sum(n * slope(mu, y) for n, mu, y in moved(x) if y != mu) > 0
        ends[rises] = x
    return min(cost(x) for x in (low, high, *ends))


def judge(W, means, counts, front):
    with localcontext() as context:
        context.prec = 45
        M, N = [[Decimal(x) for x in row] for row in means.tolist()], [Decimal(n) for n in counts.tolist()]
        facets, m = [[Decimal(x) for x in row] for row in W.tolist()], range(len(W))
        stars = [(j, [(i, f) for f in m]) for i in front for j in front if i != j]
        for j in set(range(len(M))) - set(front):
            stars += [(j, list(zip(front, choice))) for choice in product(m, repeat=len(front))]
        return float(min(star(facets, M, N, *one) for one in stars))


def behind(rng, cone, shares):
    """Without noise every arm is so far from the first that a chance makes up for it by such a share of its range."""
    w = cone.facets[rng.integers(2)]
    return rng.normal() + rng.choice([-1, 1]) * np.array([0.0, *shares]) * abs(w[0] / w[1])


def solve(how, means, counts, cone):
    with how():
        return evidence(means, counts, family=FAMILY, cone=cone)


@pytest.mark.parametrize("share", SHARES)
def test_evidence_is_that_of_the_judge(share):
    rng, infinite = np.random.default_rng(int(1e6 * share)), 0
    for case in range(24):
        cone, n_arms = CONES[case % len(CONES)], 2 + case % 3
        known = behind(rng, cone, [share, *rng.choice([0.3, 0.99, share], n_arms - 2)])
        means = np.column_stack([rng.choice(CHANCES, n_arms), known])
        counts = rng.choice([1.0, 3.0, 10.0, 57.0, 400.0], n_arms)
        found, same = (solve(how, means, counts, cone) for how in (engine.waiting, engine.interpreting))
        assert found.value == same.value
        wanted = judge(cone.facets, means, counts, found.pareto_set)
        # What the rounding of the scores is worth where so little is left of the range.
        rounding = min(20 * counts.sum() * 2**-52 / abs(1 - share), 1e-4 * wanted)
        assert found.value == pytest.approx(wanted, rel=1e-8, abs=1e-12 + rounding)
        if found.value < np.inf:
            assert counts @ found.gradient == pytest.approx(wanted, rel=1e-4, abs=1e-6)
        infinite += wanted == np.inf
    assert infinite > 0 or share < 1


def stated(path, outcomes, **options):
    """(certificate, lines of the log) of a study whose arms have one outcome each, at its end or after a while."""
    with Study.create(path / "x.db", "x", arms=[*outcomes], delta=0.1, **options) as study:
        for _ in range(16):
            if (ticket := study.ask()) is not None:
                study.tell(ticket.token, outcomes[ticket.arm])
        study.export(path / "log.jsonl")
        return study.certificate(), (path / "log.jsonl").read_text().splitlines(keepends=True)


@pytest.mark.parametrize("threshold", ["heuristic", "certified"])
@pytest.mark.parametrize("chances", [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)])
@pytest.mark.parametrize("share", [0.9999, 1 - 1e-8, 1.001, 30.0])
def test_certificates_pass_their_check(tmp_path, share, chances, threshold):
    for number, cone in enumerate(CONES[:2]):
        known = behind(np.random.default_rng(number), cone, [share])
        outcomes = {arm: [chance, x] for arm, chance, x in zip("ab", chances, known.tolist())}
        options = {"family": FAMILY, "cone": cone, "threshold": threshold, "objectives": ("u", "v")}
        (tmp_path / str(number)).mkdir()
        certificate, lines = stated(tmp_path / str(number), outcomes, **options)
        assert check(certificate, lines).problems == []
