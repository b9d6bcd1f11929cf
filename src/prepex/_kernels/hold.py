"""How long a certified test that is below the goal surely stays there, so that it need not be found at every pull.

exp A_k is an integral over lambda >= 0 of exp(lambda D - lambda^2 s^2 N / 2), D = N u (mixture.py). n more outcomes
that add d to D multiply the integrand by exp(lambda d - lambda^2 s^2 n / 2), at most by

    exp(gain),   gain = d_+^2 / (2 s^2 n).

So at a fixed x the function of which e is the minimum has grown by at most the gains of its two arms since it was
looked at, and e is below it. A test is an average of such terms, with fixed weights: it has grown by at most the
largest gain of a term. Nothing here decides that a test has passed: then the test itself is found.

Legend, each for the answer of all outcomes (0) and for the pilot's (1)
    value     at least the test, when it was held; infinity: nothing is held      (2,)
    arms      whose test it is, and the other arm                                (2, 2)
    mask      the answer then                                                    (2, K)
    N, S      of the outcomes that count, then                                   (2, K), (2, K, rows)
    n         how many terms                                                     (2,)
    better, worse, row   of a term; better is -1 where it is a limit that `worse` breaks   (2, K + rows)
    up, down  u of the two arms then: x_better - x and x - x_worse               (2, K + rows)
"""

from typing import NamedTuple

import numpy as np

from prepex._kernels.alone import has_limits
from prepex._kernels.deal import Deal, rival_weight, weigh_broken, weigh_front
from prepex._kernels.instance import Bools, Floats, Instance, Int, Ints, gap, over_ratio
from prepex._kernels.jit import by_model, kernel, part
from prepex._kernels.laws.fresh import LawFresh
from prepex._kernels.mixture import KnownFresh, minimise_known


class Held(NamedTuple):
    """A test that was below the goal, and what it was made of."""

    value: Floats
    arms: Ints
    mask: Bools
    N: Floats
    S: Floats
    n: Ints
    better: Ints
    worse: Ints
    row: Ints
    up: Floats
    down: Floats


def make_held(K: int, n_rows: int) -> Held:
    """Nothing is held."""
    most = K + n_rows
    return Held(
        value=np.full(2, np.inf),
        arms=np.full((2, 2), -1, dtype=np.int64),
        mask=np.zeros((2, K), dtype=np.bool_),
        N=np.zeros((2, K)),
        S=np.zeros((2, K, n_rows)),
        n=np.zeros(2, dtype=np.int64),
        better=np.zeros((2, most), dtype=np.int64),
        worse=np.zeros((2, most), dtype=np.int64),
        row=np.zeros((2, most), dtype=np.int64),
        up=np.zeros((2, most)),
        down=np.zeros((2, most)),
    )


@part
def gain(held: Held, own: Int, inst: Instance, k: Int, row: Int, u: float, side: float) -> float:
    """By how much the A of arm k has grown at most; u was its distance, `side` is 1 if a higher score adds to it."""
    more = inst.N[k] - held.N[own, k]
    if not more > 0.0:
        return 0.0
    d = max(more * u + inst.N[k] * side * (inst.S[k, row] - held.S[own, k, row]), 0.0)
    return 0.5 * d * d / (inst.V[k, row] * inst.N[k] * more)


@part
def still_below(inst: Instance, held: Held, own: Int, k: Int, other: Int, need: float) -> bool:
    """Is this test held, for the answer that `inst` has, and surely below `need`?"""
    spare = need - held.value[own]
    if not spare > 0.0 or held.arms[own, 0] != k or held.arms[own, 1] != other:
        return False
    for k in range(inst.mask.size):
        if inst.mask[k] != held.mask[own, k]:
            return False
    for n in range(held.n[own]):
        row = held.row[own, n]
        grown = gain(held, own, inst, held.worse[own, n], row, held.down[own, n], -1.0)
        if held.better[own, n] >= 0:
            grown += gain(held, own, inst, held.better[own, n], row, held.up[own, n], 1.0)
        if not grown < spare:
            return False
    return True


@part
def weakest_facet(inst: Instance, j: Int, i: Int) -> Int:
    """The facet of the least likelihood ratio that j is above i; one on which it is not, if there is any."""
    least, facet = np.inf, np.int64(0)
    for f in range(inst.n_facets):
        found = over_ratio(inst, j, i, f)
        if found < least:
            least, facet = found, np.int64(f)
    return facet


@kernel
def hold_pair(fresh: KnownFresh, held: Held, own: Int, i: Int, j: Int, f: Int, k: Int) -> float:
    """One more term: e_f(i over j) in the test of arm k, or something above it."""
    inst, n = fresh.inst, held.n[own]
    if not inst.V[i, f] * inst.V[j, f] > 0.0:
        return np.inf
    ahead = gap(inst, i, j, f)
    # Half way between two arms in the wrong order both A are at most 0.
    value, y = 0.0, 0.5 * ahead
    if ahead > 0.0:
        value, y = minimise_known(fresh, i, j, f, k, -np.inf, np.inf)
    held.better[own, n], held.worse[own, n], held.row[own, n] = i, j, f
    held.up[own, n], held.down[own, n] = y, ahead - y
    held.n[own] += 1
    return value


@part
def hold_broken(fresh: KnownFresh, held: Held, own: Int, k: Int, row: Int) -> float:
    """One more term: e_-c(k), or something above it."""
    inst, n = fresh.inst, held.n[own]
    if not inst.V[k, row] > 0.0:
        return np.inf
    held.better[own, n], held.worse[own, n], held.row[own, n] = -1, k, row
    held.down[own, n] = -inst.S[k, row]
    held.n[own] += 1
    return fresh.alone[k, row - inst.n_facets] if inst.S[k, row] < 0.0 else 0.0


@kernel
def hold_known(fresh: KnownFresh, deal: Deal, k: Int, other: Int, weight: Floats, held: Held, own: Int) -> float:
    """Hold the test of arm k: in the answer that against the other arm, outside it that of all its rivals, each on its
    weakest facet. At least the test. `weight` is room for the rows."""
    inst, m = fresh.inst, fresh.inst.n_facets
    held.n[own] = 0
    top, total = -np.inf, 0.0
    if inst.mask[k]:
        weigh_front(deal, inst, k, other, weight)
    elif has_limits(inst):
        weigh_broken(deal, inst, k, weight)
    for place in range(inst.size[0] + weight.size):
        r, j = place - inst.size[0], np.int64(-1)
        if r >= m:
            one = hold_broken(fresh, held, own, other if inst.mask[k] else k, np.int64(r)) + np.log(weight[r])
        elif inst.mask[k] and r >= 0:
            one = hold_pair(fresh, held, own, k, other, np.int64(r), k) + np.log(weight[r])
        elif not inst.mask[k] and r < 0:
            j = inst.front[place]
            one = hold_pair(fresh, held, own, j, k, weakest_facet(inst, j, k), k)
            one += np.log(rival_weight(deal, inst, k, j))
        else:
            continue
        if one > top:
            total, top = total * np.exp(top - one), one
        total += np.exp(one - top) if one < np.inf else 0.0
    held.arms[own, 0], held.arms[own, 1] = k, other
    for a in range(inst.N.size):
        held.mask[own, a], held.N[own, a] = inst.mask[a], inst.N[a]
        for row in range(weight.size):
            held.S[own, a, row] = inst.S[a, row]
    held.value[own] = top + np.log(total) if top < np.inf else np.inf
    return held.value[own]


@kernel
def hold_law(fresh: LawFresh, deal: Deal, k: Int, other: Int, weight: Floats, held: Held, own: Int) -> float:
    """Other laws: nothing is held."""
    return np.inf


hold = by_model(known=hold_known, laws=hold_law)
