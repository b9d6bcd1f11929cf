"""The posterior probability of a wrong answer: a bound in closed form for known Gaussians, seeded draws for other laws.

The answer P is wrong if a member breaks a limit, if a feasible arm beats a member by the tolerance, or if a feasible
arm outside is matched by no member. Known Gaussians, p_f(i, j) = Phi(-gap / sqrt(spread)) of the posterior:

    B = sum_{i in P} ( sum_c P(i breaks c) + sum_{j != i} min( min_f p_f(i, j), min_c P(j meets c) ) )
      + sum_{i not in P} min( min_c P(i meets c), min_{a in P} sum_f p_f(a, i) )

Other laws are looked at rarely, at pulls fixed in advance: look number l at the first pull of at least GROWTH^l. Of
n draws at most c may be wrong, where n kl(c / n, (1 - SHARE) delta) >= log(l (l + 1) / (SHARE delta)): by Chernoff's
bound a look at which the probability is above (1 - SHARE) delta passes with probability at most SHARE delta / (l (l +
1)), and all of them together with at most SHARE delta.

Legend
    surety    log(1 / B); the threshold is log(1 / delta)
    term      (i, j): of B, member i against arm j, or its own limits if j = i; arm i outside, j = -1
    half      W A, back A^-1, pull: of the prior, as in prior.py          (1 or K, m, L), (1 or K, L, L), (1 or K, L)
    mean      of the prior, less the origin                                 (L,)
    law       the conjugate prior of each objective, less the origin        (L, 4)
    S, V      means and variances of scores, with the prior: scratch        (K, m)
    watch     the largest terms when all were summed last, by `size` then, the one that was enough last in front: a
              shortcut, no part of the state                                (WATCHED, 2)
"""

import math

import numpy as np
from numpy.typing import NDArray

from prepex._kernels.course import PULLS, Course
from prepex._kernels.instance import Floats, Instance, Int, Ints, compare, covariance_row, feasible
from prepex._kernels.jit import by_model, kernel, part
from prepex._kernels.laws.instance import squares
from prepex._kernels.laws.law import BERNOULLI, EXACT, EXPONENTIAL, POISSON, STUDENT
from prepex._kernels.ledger import standing
from prepex._kernels.mixture import mills
from prepex._kernels.rules.psips import next_uniform, seed_stream

SIMPLE = 1.0 / math.sqrt(2.0 * math.pi)
# Beyond so many deviations a tail is a continued fraction, so deep; beyond those, nothing.
FAR, DEPTH, NOWHERE = 8.0, 16, 37.5
# Looks at laws: pulls from one to the next, the part of delta for errors of the draws, draws times delta, and of which
# part of the draws it shows that they are too many.
GROWTH, SHARE, WORTH, FEW = 1.04, 0.1, 500.0, 16
LOOK = 4
# A sum of probabilities may be off by so much of itself.
ROUNDING = 1e-12


@part
def tail(z: float) -> float:
    """Phi(-z)."""
    v = abs(z)
    if v < FAR:
        found = mills(v) * SIMPLE * np.exp(-0.5 * v * v)
    elif v < NOWHERE:
        rest = v
        for n in range(DEPTH, 0, -1):
            rest = v + n / rest
        found = SIMPLE * np.exp(-0.5 * v * v) / rest
    else:
        found = 0.0
    return found if z >= 0.0 else 1.0 - found


@part
def put_posterior(course: Course, k: Int) -> None:
    """S and V of arm k."""
    belief, inst = course.belief, course.near.inst
    own, m, L = covariance_row(belief.half, k), inst.S.shape[1], course.M.shape[1]
    for f in range(m):
        belief.S[k, f] = inst.S[k, f]
        belief.V[k, f] = 0.0
    for q in range(L):
        pull = belief.pull[own, q]
        away = 0.0
        for p in range(L):
            away += belief.back[own, q, p] * (course.M[k, p] - belief.mean[p])
        size = inst.N[k] + pull
        for f in range(m):
            belief.S[k, f] -= belief.half[own, f, q] * pull / size * away
            belief.V[k, f] += belief.half[own, f, q] * belief.half[own, f, q] / size


@kernel
def chance(gap: float, spread: float, level: bool) -> float:
    """That what looks `gap` above 0 is not; without noise it is or is not, and 0 counts as above if `level`."""
    if spread > 0.0:
        return tail(gap / np.sqrt(spread))
    return 0.0 if gap > 0.0 or (level and gap == 0.0) else 1.0


@kernel
def meets(inst: Instance, S: Floats, V: Floats, k: Int) -> float:
    """At most so likely does arm k meet all limits; 1 without any."""
    least = 1.0
    for row in range(inst.n_facets, S.shape[1]):
        least = min(least, chance(-S[k, row], V[k, row], False))
    return least


@kernel
def member_term(inst: Instance, S: Floats, V: Floats, i: Int, j: Int) -> float:
    """That arm j beats member i, at most; j = i: that i breaks a limit."""
    value = 0.0
    if i == j:
        for row in range(inst.n_facets, S.shape[1]):
            value += chance(S[i, row], V[i, row], True)
        return value
    # The furthest ahead in deviations is the least likely to be overtaken.
    best, sure, equal = -np.inf, False, not inst.lenient
    for f in range(inst.n_facets):
        ahead, spread = S[i, f] - S[j, f] + inst.slack[f], V[i, f] + V[j, f]
        if spread > 0.0:
            best = max(best, ahead / np.sqrt(spread))
            equal = False
        else:
            sure = sure or ahead > 0.0
            equal = equal and ahead == 0.0
    if not sure and not equal:
        value = min(tail(best) if best > -np.inf else 1.0, meets(inst, S, V, j))
    return value


@kernel
def outside_term(inst: Instance, S: Floats, V: Floats, i: Int) -> float:
    """That arm i outside is feasible and matched by no member, at most."""
    value = meets(inst, S, V, i)
    for p in range(inst.size[0]):
        a = inst.front[p]
        total = 0.0
        for f in range(inst.n_facets):
            total += chance(S[a, f] - S[i, f] + inst.slack[f], V[a, f] + V[i, f], True)
            if total >= value:
                break
        value = min(value, total)
    return value


@part
def keep_term(watch: Ints, size: Floats, value: float, i: Int, j: Int) -> None:
    """One of the largest terms, the largest first."""
    place = size.size - 1
    if not value > size[place]:
        return
    while place > 0 and value > size[place - 1]:
        size[place], watch[place, 0], watch[place, 1] = size[place - 1], watch[place - 1, 0], watch[place - 1, 1]
        place -= 1
    size[place], watch[place, 0], watch[place, 1] = value, i, j


@part
def sum_terms(course: Course, S: Floats, V: Floats) -> float:
    """B, and the largest terms into `watch`."""
    belief, inst = course.belief, course.near.inst
    K = inst.N.size
    total = 0.0
    for w in range(belief.size.size):
        belief.size[w], belief.watch[w, 0] = 0.0, -1
    for i in range(K):
        if inst.mask[i]:
            for j in range(K):
                value = member_term(inst, S, V, np.int64(i), np.int64(j))
                total += value
                if value > 0.0:
                    keep_term(belief.watch, belief.size, value, np.int64(i), np.int64(j))
        else:
            value = outside_term(inst, S, V, np.int64(i))
            total += value
            if value > 0.0:
                keep_term(belief.watch, belief.size, value, np.int64(i), np.int64(-1))
    return total


@kernel
def surety_known(course: Course, level: float, more: float) -> float:
    """log(1 / B) if it is at least `level`, else that or something below `level` but above it."""
    belief, inst = course.belief, course.near.inst
    S, V = (inst.S, inst.V) if belief.flat else (belief.S, belief.V)
    if level > 0.0:
        # Mostly the largest term shows that it is too early, or a few. They are distinct, and each is part of the sum,
        # of which rounding is no part.
        most, total = np.exp(-level) * (1.0 + ROUNDING), 0.0
        for w in range(belief.size.size):
            i, j = belief.watch[w, 0], belief.watch[w, 1]
            if i < 0:
                break
            if inst.mask[i] != (j >= 0):
                continue
            if not belief.flat:
                put_posterior(course, i)
                for k in range(inst.N.size):
                    if k == j or (j < 0 and inst.mask[k]):
                        put_posterior(course, np.int64(k))
            total += member_term(inst, S, V, i, j) if j >= 0 else outside_term(inst, S, V, i)
            if total > most:
                if w > 0:
                    belief.watch[w, 0], belief.watch[w, 1] = belief.watch[0, 0], belief.watch[0, 1]
                    belief.watch[0, 0], belief.watch[0, 1] = i, j
                return -np.log(total)
    if not belief.flat:
        for k in range(inst.N.size):
            put_posterior(course, np.int64(k))
    return -np.log(sum_terms(course, S, V))


@kernel
def next_normal(stream: NDArray[np.uint64]) -> float:
    """Standard normal."""
    radius = np.sqrt(-2.0 * np.log(next_uniform(stream)))
    return radius * np.cos(2.0 * np.pi * next_uniform(stream))


@kernel
def next_gamma(stream: NDArray[np.uint64], shape: float) -> float:
    """Gamma(shape), rate 1 (Marsaglia & Tsang, 2000); below 1 from Gamma(shape + 1)."""
    a = shape if shape >= 1.0 else shape + 1.0
    d = a - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    found = -1.0
    while found < 0.0:
        z = next_normal(stream)
        v = 1.0 + c * z
        if v > 0.0:
            v = v * v * v
            if np.log(next_uniform(stream)) < 0.5 * z * z + d - d * v + d * np.log(v):
                found = d * v
    if shape < 1.0:
        found *= np.exp(np.log(next_uniform(stream)) / shape)
    return found


@part
def unknown_ready(course: Course) -> bool:
    """Is the posterior of every unknown variance a distribution?"""
    inst, prior = course.near.inst, course.belief.law
    ready = True
    for q in range(inst.law.size):
        if inst.shared[q]:
            free, total = shared_total(course, np.int64(q))
            ready = ready and free > 0.0 and total > 0.0
        elif inst.law[q] == STUDENT:
            for k in range(inst.N.size):
                away, n = inst.M[k, q] - prior[q, 0], inst.N[k]
                total = prior[q, 3] + squares(inst, np.int64(k), np.int64(q))
                total += prior[q, 1] * n / (prior[q, 1] + n) * away * away
                ready = ready and n + prior[q, 2] > 0.0 and total > 0.0
    return ready


@kernel
def shared_total(course: Course, q: Int) -> tuple[float, float]:
    """(degrees of freedom, sum of squares) of a variance that all arms share."""
    inst, prior = course.near.inst, course.belief.law
    free, total = 0.0, prior[q, 3]
    for k in range(inst.N.size):
        away, n = inst.M[k, q] - prior[q, 0], inst.N[k]
        free += n if prior[q, 1] > 0.0 else n - 1.0
        total += inst.square[k, q] + prior[q, 1] * n / (prior[q, 1] + n) * away * away
    return (free + prior[q, 2] if prior[q, 1] > 0.0 else free), total


@kernel
def draw_mean(course: Course, k: Int, q: Int, pooled: float) -> float:
    """A mean from the posterior of objective q of arm k; `pooled`: the variance drawn for all arms."""
    inst, stream = course.near.inst, course.stream
    law, n, x, prior = inst.law[q], inst.N[k], inst.M[k, q], course.belief.law[q]
    if law == EXACT:
        return x
    if law == BERNOULLI:
        yes = next_gamma(stream, prior[0] + n * x)
        return yes / (yes + next_gamma(stream, prior[1] + n * (1.0 - x)))
    if law == POISSON:
        return next_gamma(stream, prior[0] + n * x) / (prior[1] + n)
    if law == EXPONENTIAL:
        return (prior[1] + n * x) / next_gamma(stream, prior[0] + n)
    away, c = x - prior[0], prior[1]
    variance = pooled
    if law == STUDENT:
        total = prior[3] + squares(inst, k, q) + c * n / (c + n) * away * away
        variance = 0.5 * total / next_gamma(stream, 0.5 * (n + prior[2]))
    elif not inst.shared[q]:
        # Of known variance the prior is worth variance / spread^2 outcomes.
        variance = inst.scale[k, q]
        c *= variance
    return x - c / (c + n) * away + np.sqrt(variance / (n + c)) * next_normal(stream)


@part
def draw_truth(course: Course) -> None:
    """Means and scores of all arms from the posterior, into `draw` and `drawn`."""
    inst = course.near.inst
    for q in range(inst.law.size):
        pooled = 0.0
        if inst.shared[q]:
            free, total = shared_total(course, np.int64(q))
            pooled = 0.5 * total / next_gamma(course.stream, 0.5 * free)
        for k in range(inst.N.size):
            course.draw[k, q] = draw_mean(course, np.int64(k), np.int64(q), pooled)
    for k in range(inst.N.size):
        for f in range(inst.W.shape[0]):
            total = 0.0
            for q in range(inst.law.size):
                total += inst.W[f, q] * course.draw[k, q]
            course.drawn[k, f] = total - inst.level[f]


@kernel
def ahead_by(S: Floats, inst: Instance, a: Int, i: Int, sign: float) -> bool:
    """Is arm a ahead of i by `sign` times the slack on every facet? Without slack, does it dominate it?"""
    if not inst.lenient:
        return bool(compare(S, inst.n_facets, a, i) > 0)
    for f in range(inst.n_facets):
        if S[a, f] - S[i, f] < sign * inst.slack[f]:
            return False
    return True


@kernel
def wrong_for(course: Course) -> bool:
    """Is the answer wrong for the truth in `drawn`?"""
    inst, S = course.near.inst, course.drawn
    K, m = inst.N.size, inst.n_facets
    for i in range(K):
        able = feasible(S, m, np.int64(i))
        if inst.mask[i]:
            if not able:
                return True
            for j in range(K):
                if j != i and ahead_by(S, inst, np.int64(j), np.int64(i), 1.0) and feasible(S, m, np.int64(j)):
                    return True
        elif able:
            matched = False
            for p in range(inst.size[0]):
                if ahead_by(S, inst, inst.front[p], np.int64(i), -1.0):
                    matched = True
                    break
            if not matched:
                return True
    return False


@part
def look_number(t: float) -> float:
    """How many looks there may have been by pull t."""
    return np.floor(np.log(t) / np.log(GROWTH))


@kernel
def most_wrong(n: float, chance_: float, risk: float) -> float:
    """The largest c with n kl(c / n, chance_) >= risk; below 0 if there is none."""
    low, high = 0.0, chance_
    if -n * np.log1p(-chance_) < risk:
        return -1.0
    for _ in range(60):
        x = 0.5 * (low + high)
        divergence = x * np.log(x / chance_) + (1.0 - x) * np.log((1.0 - x) / (1.0 - chance_))
        if n * divergence >= risk:
            low = x
        else:
            high = x
    return np.floor(n * low)


@kernel
def surety_law(course: Course, level: float, more: float) -> float:
    """`level` if a look is due, of the last `more` pulls, and passes at delta = exp(-level); else something below.

    If a look fails, log of one over the share of wrong draws; -inf if there was none.
    """
    t = float(course.whole[PULLS])
    number = look_number(t)
    if level == np.inf or number < 1.0 or number == look_number(max(t - more, 1.0)) or not unknown_ready(course):
        return -np.inf
    delta = np.exp(-level)
    # Whatever the draws, one piece alone would be too likely.
    if tail(np.sqrt(2.0 * max(standing(course.near), 0.0))) > 2.0 * delta:
        return -np.inf
    n = np.ceil(WORTH / delta)
    allowed = most_wrong(n, (1.0 - SHARE) * delta, np.log(number * (number + 1.0) / (SHARE * delta)))
    seed_stream(course, np.int64(LOOK))
    wrong, drawn = 0.0, 0.0
    while drawn < n and wrong <= allowed and not (wrong >= FEW and wrong > 2.0 * delta * drawn):
        draw_truth(course)
        drawn += 1.0
        if wrong_for(course):
            wrong += 1.0
    found = level
    if drawn < n or wrong > allowed:
        found = min(-np.log(max(wrong, 0.5) / drawn), np.nextafter(level, -np.inf))
    return found


surety = by_model(known=surety_known, laws=surety_law)
