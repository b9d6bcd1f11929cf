"""How the bounds of a ledger with laws stay valid while arms move.

    i in the answer    Remove(i, j) depends on i and j only. When j moves, the key falls to the new bound of that pair.
    j outside it       Add(j) is at least as dear as to meet the limits, and as to escape one arm a of the front, its
                       witness: `base`. It holds until a or j moves. A solved value falls back to it when any arm of
                       the front moves.
Weights that grow only make alternatives dearer.
New estimates of shared variances multiply every cost by `drift` at least, and so every bound.

Legend (see _kernels/ledger.py)
    base      lower bound of Add(j) by its witness, nan if not known        (K,)
    witness   that arm of the front, -1 if the limits are dearer            (K,)
"""

from typing import Any

import numpy as np

from prepex._kernels.instance import Floats, Int, escaped, gap
from prepex._kernels.jit import kernel, part
from prepex._kernels.laws.instance import any_shared, pool_variances, put_mean, weigh_law
from prepex._kernels.laws.pair import escape_bound, facet_cost, limit_bound, pair_bound_law
from prepex._kernels.room import STALE, VALUE, come_near, note_move
from prepex._kernels.search import search


@part
def reach_law(ledger: Any, v: float) -> float:
    """The unit of `key`: the value itself."""
    return v


@kernel
def standing_law(ledger: Any) -> float:
    """Z, less what a shared variance that is only estimated may be off: n/2 log(1 + 2 Z / n), n outcomes in all."""
    inst, Z = ledger.inst, ledger.real[VALUE]
    if not any_shared(inst):
        return float(Z)
    n = 0.0
    for k in range(inst.N.size):
        n += inst.N[k]
    return 0.5 * n * np.log1p(2.0 * Z / n)


@part
def follow_drift(ledger: Any) -> None:
    """Estimates of shared variances follow an outcome, and the bounds follow them."""
    inst, key, base = ledger.inst, ledger.key, ledger.base
    if ledger.own:
        pool_variances(inst)
    for k in range(key.size):
        if not ledger.own:
            weigh_law(inst, np.int64(k))
        if key[k] > 0.0:
            key[k] *= inst.drift[0] * (1.0 - 1e-12)
        if ledger.rest[k] > 0.0:
            ledger.rest[k] *= inst.drift[0] * (1.0 - 1e-12)
        base[k] *= inst.drift[0] * (1.0 - 1e-12)
    ledger.whole[STALE] = 1


@kernel
def move_law(ledger: Any, a: Int, mean: Floats, shift: Floats, weight: float) -> None:
    """Arm a has moved by `shift` to `mean` and its weight has grown to `weight`."""
    inst, key, base = ledger.inst, ledger.key, ledger.base
    if ledger.own:
        put_mean(inst, a, mean, shift, weight)
    inst.N[a] = weight
    weigh_law(inst, a)
    if any_shared(inst):
        follow_drift(ledger)
    key[a], base[a], ledger.rest[a] = -np.inf, np.nan, -np.inf
    if inst.mask[a] or inst.lenient:
        for k in range(key.size):
            if inst.mask[k]:
                if k != a:
                    come_near(ledger, np.int64(k), a, pair_bound_law(inst, np.int64(k), a))
            elif inst.mask[a]:
                if ledger.witness[k] == a:
                    base[k] = max(escape_bound(inst, a, np.int64(k)), limit_bound(inst, np.int64(k)))
                key[k] = base[k] if base[k] > 0.0 else -np.inf
    note_move(ledger, a)


@part
def find_witness(ledger: Any, j: Int, limit: float) -> None:
    """The limits, or the arm of the front dearest to escape, by its bound; if too low, what it exactly costs."""
    inst = ledger.inst
    most, arm = limit_bound(inst, j), np.int64(-1)
    if most == 0.0:
        most = -1.0
    for p in range(inst.size[0]):
        bound = escape_bound(inst, inst.front[p], j)
        if bound > most:
            most, arm = bound, inst.front[p]
    if arm >= 0 and most < limit:
        exact = np.inf
        for f in range(inst.n_facets):
            ahead = gap(inst, arm, j, f)
            if ahead > 0.0 or escaped(inst, arm, j, f, ahead):
                exact = min(exact, facet_cost(inst, arm, j, np.int64(f)))
        most = max(exact, most)
    ledger.base[j], ledger.witness[j] = most * (1.0 - 1e-12), arm


@part
def cheapest_add_law(ledger: Any, j: Int, limit: float) -> tuple[float, Int]:
    """Cheapest Add(j), searched unless its witness shows it to be too dear: (value, constraints), or (bound, -1)."""
    if limit < np.inf and not ledger.base[j] >= limit:
        find_witness(ledger, j, limit)
    v = ledger.base[j]
    n: Int = np.int64(-1)
    if not v >= limit:
        v, n = search(ledger.inst, j, limit, ledger.search, ledger.none, ledger.none.real.shape[0])
    return v, n
