"""An instance whose objectives have laws of their own, in the user's units: signs are in the facets.

Legend (see also _kernels/instance.py)
    law       the law of an objective                                        (L,)
    scale     its parameter: the variance of a Gaussian, estimated or not; of an arm with fewer than three outcomes,
              minus their sum of squares around the mean                     (K, L)
    W         rows, in the facets the columns of minimised objectives negated   (m, L)
    N, M, S   weights, means, scores M W' - level                            (K,), (K, L), (K, m)
    V         variance of an estimated score, for estimates only             (K, m)
    cap       what any point of arm k outside the convex region costs        (K,)
    axis      the objective of a row that looks at one only, else -1         (m,)
    plain     every row looks at one objective and none is STUDENT, nor EXPONENTIAL if there is slack: pools
    shared    a GAUSSIAN objective whose variance is not known but the same for all arms: its scale is the estimate
              from all of them, BLIND before there is one                    (L,)
    square    sums of squares of such an objective around the arm's mean     (K, L)
    line      of the scores                                            (K, m)
    drift     what the last new estimates multiply a cost by at least        (1,)
"""

from typing import NamedTuple

import numpy as np

from prepex._kernels.centre import facet_scores
from prepex._kernels.instance import Bools, Floats, Int, Ints, find_answer, score
from prepex._kernels.jit import kernel
from prepex._kernels.laws.law import EXACT, EXPONENTIAL, LAWS, STUDENT, border, variance

# In place of an estimate that cannot be made yet: outcomes are worth next to nothing.
BLIND = 1e150
# Outcomes beyond one an arm that an estimate needs.
FREE = 2.0


class LawInstance(NamedTuple):
    """All that the closest alternative depends on."""

    law: Ints
    scale: Floats
    W: Floats
    N: Floats
    M: Floats
    S: Floats
    V: Floats
    slack: Floats
    level: Floats
    cap: Floats
    mask: Bools
    front: Ints
    size: Ints
    axis: Ints
    n_facets: int
    plain: bool
    lenient: bool
    shared: Bools
    square: Floats
    line: Floats
    drift: Floats

    @property
    def with_laws(self) -> bool:
        """Which model it is of."""
        return True


def make_instance(
    law: Ints,
    scale: Floats,
    facets: Floats,
    means: Floats,
    weights: Floats,
    shared: Bools | None = None,
    slack: Floats | None = None,
    level: Floats | None = None,
    n_facets: int | None = None,
) -> LawInstance:
    """Fresh arrays; the caller's are not kept. `scale` (K, L). `facets`, `slack`, `level`: of all rows, n_facets of
    them facets (all if not given), then of the limits."""
    (K, L), m = means.shape, len(facets)
    levels = np.zeros(m) if level is None else np.array(level, dtype=np.float64)
    if not np.all(np.isin(law, LAWS)):
        raise ValueError(f"law must be among the codes {LAWS}, got {np.asarray(law).tolist()}")
    single = (facets != 0.0).sum(axis=1) == 1
    lenient = slack is not None and bool(np.any(slack))
    inst = LawInstance(
        law=np.array(law, dtype=np.int64),
        scale=np.array(scale, dtype=np.float64, order="C"),
        W=np.array(facets, dtype=np.float64, order="C"),
        N=np.array(weights, dtype=np.float64),
        M=np.array(means, dtype=np.float64, order="C"),
        S=facet_scores(means, facets) - levels,
        V=np.zeros((K, m)),
        slack=np.zeros(m) if slack is None else np.array(slack, dtype=np.float64),
        level=levels,
        cap=np.zeros(K),
        mask=np.zeros(K, dtype=np.bool_),
        front=np.zeros(K, dtype=np.int64),
        size=np.zeros(1, dtype=np.int64),
        axis=np.where(single, np.argmax(facets != 0.0, axis=1), -1).astype(np.int64),
        n_facets=m if n_facets is None else n_facets,
        plain=pools(law, single, lenient),
        lenient=lenient,
        shared=np.zeros(L, dtype=np.bool_) if shared is None else np.array(shared),
        square=np.zeros((K, L)),
        line=np.zeros((K, m)),
        drift=np.ones(1),
    )
    for k in range(K):
        weigh_law(inst, np.int64(k))
    inst.size[0] = find_answer(inst)
    return inst


def pools(law: Ints, single: Bools, lenient: bool) -> bool:
    """Do arms that are level on a facet pool, objective by objective? With slack an exponential law is not convex."""
    return bool(single.all() and not np.any(law == STUDENT)) and not (lenient and bool(np.any(law == EXPONENTIAL)))


@kernel
def weigh_law(inst: LawInstance, k: Int) -> None:
    """V and cap of arm k at its weight and mean."""
    law, scale, W, n = inst.law, inst.scale[k], inst.W, inst.N[k]
    L = law.size
    least = np.inf
    for f in range(W.shape[0]):
        inst.V[k, f] = 0.0
    for q in range(L):
        own = variance(law[q], inst.M[k, q], scale[q], n)
        own = own if own > 0.0 or law[q] == EXACT else np.inf
        least = min(least, border(law[q], scale[q]))
        for f in range(W.shape[0]):
            if W[f, q] != 0.0:
                inst.V[k, f] += W[f, q] * W[f, q] * own / n
    inst.cap[k] = np.inf if inst.plain else n * least


@kernel
def squares(inst: LawInstance, k: Int, q: Int) -> float:
    """Sum of squares around the mean of a STUDENT objective, from `scale`."""
    return inst.scale[k, q] * inst.N[k] if inst.N[k] > 2.0 else -inst.scale[k, q]


@kernel
def put_mean(inst: LawInstance, k: Int, mean: Floats, shift: Floats, count: float) -> None:
    """More outcomes of arm k have moved its mean by `shift` to `mean`; `count` with them. N and V are as before.

    Of several at once only the mean is known, and the squares grow by those of as many copies of it.
    """
    spread = inst.N[k] * count / (count - inst.N[k])
    for q in range(mean.size):
        inst.M[k, q] = mean[q]
        if inst.shared[q]:
            inst.square[k, q] += spread * shift[q] * shift[q]
        elif inst.law[q] == STUDENT:
            total = squares(inst, k, q) + spread * shift[q] * shift[q]
            inst.scale[k, q] = total / count if count > 2.0 else -total
    for f in range(inst.W.shape[0]):
        moved = 0.0
        for q in range(mean.size):
            moved += inst.W[f, q] * shift[q]
        inst.line[k, f] += spread * moved * moved
    score(inst, k, inst.M[k])


@kernel
def any_shared(inst: LawInstance) -> bool:
    """Is a variance estimated from all arms together?"""
    found = False
    for q in range(inst.shared.size):
        found = found or inst.shared[q]
    return found


@kernel
def pool_variances(inst: LawInstance) -> None:
    """New estimates of the shared variances from `square` and N, and the drift from the old ones."""
    K = inst.N.size
    free = -float(K)
    for k in range(K):
        free += inst.N[k]
    inst.drift[0] = 1.0
    for q in range(inst.shared.size):
        if inst.shared[q]:
            total = 0.0
            for k in range(K):
                total += inst.square[k, q]
            new = total / free if free >= FREE and total > 0.0 else BLIND
            inst.drift[0] = min(inst.drift[0], inst.scale[0, q] / new)
            for k in range(K):
                inst.scale[k, q] = new
    for k in range(K):
        weigh_law(inst, np.int64(k))
