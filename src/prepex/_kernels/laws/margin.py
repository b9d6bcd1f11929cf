"""The certified margin of an instance with laws, and the test that binds it.

    e_f(i over j) = cost(i, j, f) - penalties of i and j on the objectives of f,   -inf if i is not ahead on f:
evidence against w_f . mu_i <= w_f . mu_j (docs/certified.md). Margin and prices are those of _kernels/margin.py.
A facet of Gaussian objectives of unknown variance is one stream (fresh.py), its cost that of the stream.
"""

import numpy as np

from prepex._kernels.instance import Floats, Int, Ints
from prepex._kernels.jit import kernel, part
from prepex._kernels.laws.fresh import OWN, PARTS, SHARED, LawFresh, shared_penalty
from prepex._kernels.laws.instance import LawInstance
from prepex._kernels.laws.pair import facet_bound, student_pair, test_cost
from prepex._kernels.margin import AS_RIVAL, BETTER, IN_FRONT, KIND, OUT_OF_FRONT, WHERE, WORSE, Scratch, glr


@part
def paid(fresh: LawFresh, i: Int, j: Int, f: Int) -> float:
    """Penalties of i and j on facet f."""
    total = 0.0
    if fresh.kind[f] == OWN:
        total = fresh.penalty_f[i, f] + fresh.penalty_f[j, f]
    elif fresh.kind[f] == SHARED:
        total = shared_penalty(fresh, i, j, f)
    else:
        for q in range(fresh.penalty.shape[1]):
            if fresh.inst.W[f, q] != 0.0:
                total += fresh.penalty[i, q] + fresh.penalty[j, q]
    return total


@part
def stream_cost(fresh: LawFresh, i: Int, j: Int, f: Int) -> float:
    """min over the common mean of the likelihood ratio of a Gaussian stream of unknown variance."""
    inst, n, m = fresh.inst, fresh.inst.N[i], fresh.inst.N[j]
    square = (inst.S[i, f] - inst.S[j, f]) ** 2
    first, second = inst.line[i, f], inst.line[j, f]
    if fresh.kind[f] == SHARED:
        return 0.5 * (n + m) * np.log1p(square * n * m / (n + m) / (first + second))
    return student_pair(n, first / n / square, m, second / m / square)


@kernel
def e_law(fresh: LawFresh, i: Int, j: Int, f: Int, high: float) -> float:
    """e_f(i over j), exactly if it is below `high`; else a bound of it that is not."""
    inst = fresh.inst
    if not inst.S[i, f] > inst.S[j, f]:
        return -np.inf
    cost = paid(fresh, i, j, f)
    if not cost < np.inf:
        return -np.inf
    if fresh.kind[f] != PARTS:
        return stream_cost(fresh, i, j, f) - cost
    bound = facet_bound(inst, i, j, f) - cost
    return bound if bound >= high else test_cost(inst, i, j, f) - cost


@kernel
def law_front_test(fresh: LawFresh, i: Int, rival: Int, limit: float) -> tuple[float, Int, Int]:
    """(min_{j != i} max_f e_f(i over j), j, f), the rival first; j = -1 if it is not below the limit."""
    S, V = fresh.inst.S, fresh.inst.V
    K, m = S.shape
    best = limit
    worse: Int = np.int64(-1)
    where: Int = np.int64(-1)
    for place in range(-1, K):
        j = rival if place < 0 else np.int64(place)
        if j == i or (j == rival and place >= 0):
            continue
        most, start = -1.0, np.int64(0)
        for f in range(m):
            ratio = glr(S, V, i, j, f)
            if ratio > most:
                most, start = ratio, np.int64(f)
        value, facet = -np.inf, start
        for turn in range(m):
            # The facet of the largest ratio first, in exchange for facet 0.
            c = start if turn == 0 else (np.int64(0) if turn == start else np.int64(turn))
            e = e_law(fresh, i, j, c, best)
            if e > value:
                value, facet = e, c
            if value >= best:
                break
        if value < best:
            best, worse, where = value, j, facet
    return best, worse, where


@kernel
def law_dominated_test(fresh: LawFresh, toll: Floats, i: Int, rival: Int, limit: float) -> tuple[float, Int, Int]:
    """(max_{j in P} min_f e_f(j over i) - toll_j, j, f), the rival first; at least the limit if not below it."""
    inst = fresh.inst
    m = inst.S.shape[1]
    best = -np.inf
    better: Int = rival
    where: Int = np.int64(-1)
    for place in range(-1, inst.size[0]):
        j = rival if place < 0 else inst.front[place]
        if (j == rival and place >= 0) or best >= limit:
            continue
        value, facet = np.inf, np.int64(0)
        for f in range(m):
            e = e_law(fresh, j, i, np.int64(f), min(value, limit) + toll[j]) - toll[j]
            if e < value:
                value, facet = e, np.int64(f)
            if value <= best:
                break
        if value > best or where < 0:
            best, better, where = value, j, facet
    return best, better, where


@part
def likely_dominator(guide: LawInstance, toll: Floats, i: Int) -> Int:
    """The j in P that all outcomes name."""
    most, rival = -np.inf, guide.front[0]
    for p in range(guide.size[0]):
        least = np.inf
        for f in range(guide.S.shape[1]):
            least = min(least, glr(guide.S, guide.V, guide.front[p], i, f))
        if least - toll[guide.front[p]] > most:
            most, rival = least - toll[guide.front[p]], guide.front[p]
    return rival


@part
def likely_rival(inst: LawInstance, i: Int) -> Int:
    """The arm that i is least ahead of."""
    low, rival = np.inf, np.int64(-1)
    for j in range(inst.N.size):
        if j != i:
            most = 0.0
            for f in range(inst.S.shape[1]):
                most = max(most, glr(inst.S, inst.V, i, np.int64(j), f))
            if most < low or rival < 0:
                low, rival = most, np.int64(j)
    return rival


@part
def law_test(fresh: LawFresh, guide: LawInstance, price: Floats, k: Int, limit: float) -> tuple[float, Int, Int]:
    """Arm k's test less its price, with the other arm and the facet; the other is -1 if it is not below the limit."""
    toll = price[AS_RIVAL]
    if fresh.inst.mask[k]:
        own = price[IN_FRONT, k]
        value, other, facet = law_front_test(fresh, k, likely_rival(fresh.inst, k), limit + own)
    else:
        own = price[OUT_OF_FRONT, k]
        value, other, facet = law_dominated_test(fresh, toll, k, likely_dominator(guide, toll, k), limit + own)
    return value - own, other, facet


@kernel
def margin_law(fresh: LawFresh, guide: LawInstance, price: Floats, binding: Ints) -> float:
    """The margin, and in `binding` the test that attains it. One arm: infinity, and -1 everywhere."""
    mask = fresh.inst.mask
    K = mask.size
    best = np.inf
    # The arm that bound last time first: its test makes the others short.
    start = np.int64(0)
    if binding[BETTER] >= 0:
        start = binding[WORSE] if binding[KIND] == OUT_OF_FRONT else binding[BETTER]
    binding[:] = -1
    if K == 1:
        return best
    for turn in range(-1, K):
        k = start if turn < 0 else np.int64(turn)
        if k == start and turn >= 0:
            continue
        value, other, facet = law_test(fresh, guide, price, k, best)
        if value < best and other >= 0:
            best = value
            binding[BETTER] = k if mask[k] else other
            binding[WORSE] = other if mask[k] else k
            binding[WHERE] = facet
            binding[KIND] = IN_FRONT if mask[k] else OUT_OF_FRONT
    return best


@kernel
def settle_law_tests(fresh: LawFresh, guide: LawInstance, price: Floats, goal: float, scratch: Scratch) -> None:
    """Write every arm's test, less its price, into scratch.bound: exact below `goal`, at least `goal` above it."""
    for k in range(fresh.inst.mask.size):
        scratch.bound[k] = law_test(fresh, guide, price, np.int64(k), goal)[0]
