"""The closest point of a star whose facets look at one objective each (`plain`): pools, objective by objective.

The hub pools with the arms held above it; exact for every one-parameter family, and with slack, by a root, for those
that are convex. What a pool costs falls and then rises with its score, so a hub with limits on that objective is at the
nearest score that they allow.
"""

import numpy as np

from prepex._kernels.instance import Int, gap, limit_gap, n_limits
from prepex._kernels.jit import kernel, part
from prepex._kernels.laws.instance import LawInstance
from prepex._kernels.laws.law import BERNOULLI, EXACT, GAUSSIAN, POISSON, bent, divergence, inside
from prepex._kernels.room import ARM, FACET, HUB, Search, Star, Y

# Newton steps.
STEPS = 100


@kernel
def balance(
    inst: LawInstance, hub: Int, star: Star, n: Int, f: Int, extra: Int, above: float, top: float, guess: float
) -> float:
    """Score x of the hub, up to top, that balances with the arms of S + slack > `above` at x - slack: Newton."""
    S, M, link, q, slack = inst.S, inst.M, star.link, inst.axis[f], inst.slack[f]
    law, sign = inst.law[q], inst.W[f, q]
    low, high = S[hub, f], top
    if law == BERNOULLI:
        # x and x - slack are chances, or their negatives.
        low, high = max(low, slack if sign > 0.0 else slack - 1.0), min(high, 1.0 if sign > 0.0 else 0.0)
    elif law == POISSON:
        low, high = max(low, slack) if sign > 0.0 else low, high if sign > 0.0 else min(high, 0.0)
    x = guess if low < guess < high else 0.5 * (low + high)
    start, end = low, high
    for _ in range(STEPS):
        if not low < x < high:
            break
        first, second = bent(law, M[hub, q], sign * x, inst.scale[hub, q])
        slope, bend = inst.N[hub] * first, inst.N[hub] * second
        for c in range(-1, n):
            if (c < 0 and extra < 0) or (c >= 0 and link[c, FACET] != f):
                continue
            a = extra if c < 0 else link[c, ARM]
            if S[a, f] + slack > above:
                first, second = bent(law, M[a, q], sign * (x - slack), inst.scale[a, q])
                slope, bend = slope + inst.N[a] * first, bend + inst.N[a] * second
        slope *= sign
        if slope < 0.0:
            low = x
        else:
            high = x
        new = x - slope / bend
        # A step that is lost in rounding ends on x, which is low or high by now.
        if new != x and not low < new < high:
            new = 0.5 * (low + high)
        # What is left is the square of such a step; next to an end steps are small anyway.
        done = abs(new - x) <= 1e-9 * min(1.0 + abs(x), new - start, end - new)
        x = new
        if done:
            break
    return x


@part
def allowed(inst: LawInstance, star: Star, n: Int, f: Int) -> tuple[float, float]:
    """The least and the largest score on facet f, of one objective, that the limits among the constraints leave."""
    low, high = -np.inf, np.inf
    if n_limits(inst) > 0:
        for c in range(n):
            row = star.link[c, FACET]
            if row >= inst.n_facets and inst.axis[row] == inst.axis[f]:
                if inst.W[row, inst.axis[f]] == inst.W[f, inst.axis[f]]:
                    low = max(low, inst.level[row])
                else:
                    high = min(high, -inst.level[row])
    return low, high


@kernel
def free_pool(inst: LawInstance, hub: Int, star: Star, n: Int, f: Int, extra: Int) -> float:
    """Score of the hub pooled with the arms held above it on facet f, `extra` (-1: none) among them; without limits.

    From the pool of all arms above the hub, those below the pool drop out: its mean rises to the right one.
    """
    N, S, link, slack = inst.N, inst.S, star.link, inst.slack[f]
    x, members = S[hub, f], -1
    while inst.law[inst.axis[f]] != EXACT:
        weight, total, count = N[hub], N[hub] * S[hub, f], 0
        top = S[hub, f]
        for c in range(-1, n):
            if (c < 0 and extra < 0) or (c >= 0 and link[c, FACET] != f):
                continue
            a = extra if c < 0 else link[c, ARM]
            if S[a, f] + slack > x:
                weight += N[a]
                total += N[a] * (S[a, f] + slack)
                top = max(top, S[a, f] + slack)
                count += 1
        if count == members or count == 0:
            break
        members = count
        if slack > 0.0 and inst.law[inst.axis[f]] != GAUSSIAN:
            x = max(balance(inst, hub, star, n, f, extra, x, top, total / weight), x)
        else:
            x = min(max(total / weight, x), top)
    return x


@part
def pooled(inst: LawInstance, hub: Int, star: Star, n: Int, f: Int, extra: Int) -> float:
    """The same where the limits allow it."""
    low, high = allowed(inst, star, n, f)
    return min(max(free_pool(inst, hub, star, n, f, extra), low), high)


@kernel
def pool_cost(inst: LawInstance, hub: Int, star: Star, n: Int, f: Int, extra: Int) -> float:
    """What that pool costs; infinity if an objective without noise, or the range of means, does not allow it."""
    N, S, link, q, slack = inst.N, inst.S, star.link, inst.axis[f], inst.slack[f]
    law, sign = inst.law[q], inst.W[f, q]
    x = pooled(inst, hub, star, n, f, extra)
    # With slack the others may have to give way to a hub that cannot rise any more.
    if x <= S[hub, f] and slack == 0.0 and n_limits(inst) == 0:
        return 0.0
    cost = 0.0
    if x != S[hub, f]:
        cost = N[hub] * divergence(law, inst.M[hub, q], sign * x, inst.scale[hub, q])
    for c in range(-1, n):
        if (c < 0 and extra < 0) or (c >= 0 and link[c, FACET] != f):
            continue
        a = extra if c < 0 else link[c, ARM]
        if S[a, f] + slack > x:
            if not inside(law, sign * (x - slack)):
                return np.inf
            cost += N[a] * divergence(law, inst.M[a, q], sign * (x - slack), inst.scale[a, q])
    return cost


@kernel
def settle_pools(inst: LawInstance, hub: Int, n: Int, s: Search) -> None:
    """The pools of a plain star: writes HUB and Y."""
    S, star, link, real, vec = inst.S, s.star, s.star.link, s.star.real, s.desk.vec
    for f in range(inst.n_facets):
        free = free_pool(inst, hub, star, n, f, np.int64(-1))
        low, high = allowed(inst, star, n, f)
        vec[HUB, f] = min(max(free, low), high) - S[hub, f]
        for c in range(n):
            row = link[c, FACET]
            if row == f:
                real[c, Y] = max(inst.N[link[c, ARM]] * (gap(inst, link[c, ARM], hub, f) - vec[HUB, f]), 0.0)
            elif row >= inst.n_facets and inst.axis[row] == inst.axis[f]:
                same = inst.W[row, inst.axis[f]] * inst.W[f, inst.axis[f]]
                vec[HUB, row] = same * vec[HUB, f]
                # The limit holds the hub if it would be beyond it without.
                real[c, Y] = 1.0 if same * (free - S[hub, f]) < limit_gap(inst, hub, row) else 0.0
