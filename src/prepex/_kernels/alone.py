"""What the certified tests say of one arm and its limits.

    e_c(k)    evidence that arm k meets limit c:   e of its score above 0, -inf if it is not above; without noise, 0 is
              enough
    e_-c(k)   evidence that it breaks c:           e of its score below 0, -inf if it is not below

Only one of the two is any: `alone` (K, C) of the outcomes that count has it, on the side where the score is. The models
write it after every outcome (mixture.py, laws/fresh.py).
"""

from typing import Any

import numpy as np

from prepex._kernels.instance import Instance, Int, meets_limit
from prepex._kernels.jit import part


@part
def has_limits(inst: Instance) -> bool:
    """Is there any?"""
    return inst.S.shape[1] > inst.n_facets


@part
def weakest_met(fresh: Any, k: Int) -> tuple[float, np.int64]:
    """(min_c e_c(k), its row): infinity without limits."""
    S, n_facets = fresh.inst.S, fresh.inst.n_facets
    least, where = np.inf, np.int64(-1)
    for row in range(n_facets, S.shape[1]):
        e = fresh.alone[k, row - n_facets] if meets_limit(fresh.inst, k, row) else -np.inf
        if e < least:
            least, where = e, np.int64(row)
    return least, where


@part
def strongest_broken(fresh: Any, k: Int) -> tuple[float, np.int64]:
    """(max_c e_-c(k), its row): minus infinity, and the last limit, if it breaks none."""
    S, n_facets = fresh.inst.S, fresh.inst.n_facets
    most, where = -np.inf, np.int64(S.shape[1] - 1)
    for row in range(n_facets, S.shape[1]):
        e = fresh.alone[k, row - n_facets] if S[k, row] < 0.0 else -np.inf
        if e > most:
            most, where = e, np.int64(row)
    return most, where
