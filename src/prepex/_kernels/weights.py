"""Other weights for the means of a ledger, and the gradients of the pieces it collected."""

import numpy as np

from prepex._kernels.branch import Pieces
from prepex._kernels.instance import Floats, Int, Ints, law
from prepex._kernels.jit import kernel
from prepex._kernels.ledger import CHANGED, DRIFT, SIZE, STALE, UNSEEN, Ledger


@kernel
def add_weight(ledger: Ledger, a: Int, more: float) -> None:
    """Arm a weighs more; its mean stays."""
    inst = ledger.inst
    inst.N[a] += more
    own = law(inst.gram, a)
    for f in range(inst.S.shape[1]):
        inst.V[a, f] = inst.gram[own, f, f] / inst.N[a]
    if inst.mask[a] or ledger.whole[CHANGED] == a:
        ledger.whole[STALE] = 1


@kernel
def put_weights(ledger: Ledger, near: Ledger, weights: Floats) -> None:
    """The means of `near` at these weights: nothing known is kept."""
    inst, other = ledger.inst, near.inst
    K, m = inst.S.shape
    for k in range(K):
        inst.N[k] = weights[k]
        own = law(inst.gram, k)
        for f in range(m):
            inst.S[k, f] = other.S[k, f]
            inst.V[k, f] = inst.gram[own, f, f] / weights[k]
        inst.mask[k] = other.mask[k]
        inst.front[k] = other.front[k]
        ledger.rival[k] = -1
        ledger.load[k, 0] = np.nan
        ledger.gradient[k] = 0.0
    inst.size[0] = other.size[0]
    ledger.real[DRIFT] = 0.0
    whole = ledger.whole
    whole[CHANGED], whole[SIZE], whole[STALE], whole[UNSEEN] = -1, 0, 1, 0


@kernel
def put_gradient(far: Ledger, pieces: Pieces, row: Int, slot: Ints, table: Floats, c: Int) -> None:
    """Add the gradient of a collected piece to column c, arm a in row slot[a]: q' gram q / (2 N^2)."""
    gram, N, whole, real = far.inst.gram, far.inst.N, pieces.whole, pieces.real
    hub = whole[row, 0]
    for d in range(whole[row, 2]):
        a, f = whole[row, 3 + 2 * d], whole[row, 4 + 2 * d]
        for e in range(whole[row, 2]):
            g = whole[row, 4 + 2 * e]
            product = 0.5 * real[row, 1 + d] * real[row, 1 + e]
            table[slot[hub], c] += product * gram[law(gram, hub), f, g] / (N[hub] * N[hub])
            if whole[row, 3 + 2 * e] == a:
                table[slot[a], c] += product * gram[law(gram, a), f, g] / (N[a] * N[a])
