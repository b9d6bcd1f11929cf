"""What the posterior says, by definition: slow and obvious. Imports nothing from prepex."""

import math

import numpy as np


def beats(one, other, slack):
    """Is one better than other on every facet, by the slack or more? Equal ones are not."""
    return bool(np.all(one - other >= slack) and np.any(one > other))


def optimal(scores, feasible, slack):
    """(K,) of one truth: feasible, and beaten by no feasible arm."""
    K = len(scores)
    return np.array(
        [
            feasible[i] and not any(feasible[j] and j != i and beats(scores[j], scores[i], slack) for j in range(K))
            for i in range(K)
        ]
    )


def right(scores, feasible, slack, answer):
    """Is the answer (K,) right for a truth? Without slack it is the Pareto set, with some right within it."""
    best = optimal(scores, feasible, slack)
    if not slack.any():
        return bool(np.array_equal(best, answer))
    members = np.flatnonzero(answer)
    matched = [any(np.all(scores[a] - row >= -slack) for a in members) for row in scores]
    return bool(np.all(best[answer]) and all(matched[k] or not feasible[k] for k in np.flatnonzero(~answer)))


def tail(gap, spread, level):
    """That what looks `gap` above 0 is not. Without noise it is or it is not; 0 counts as above if `level`."""
    if spread > 0.0:
        return 0.5 * math.erfc(gap / math.sqrt(2.0 * spread))
    return 0.0 if gap > 0.0 or (level and gap == 0.0) else 1.0


def bound(S, V, slack, n_facets, answer):
    """Of the posterior probability that the answer is wrong, from posterior means S and variances V of scores."""
    K, m = len(S), n_facets
    limits, lenient = range(m, S.shape[1]), bool(np.any(slack[:m]))
    meets = [min([1.0, *(tail(-S[k, c], V[k, c], False) for c in limits)]) for k in range(K)]
    total = 0.0
    for i in range(K):
        if answer[i]:
            total += sum(tail(S[i, c], V[i, c], True) for c in limits)
            for j in range(K):
                spreads = [V[i, f] + V[j, f] for f in range(m)]
                gaps = [S[i, f] - S[j, f] + slack[f] for f in range(m)]
                if j == i or (not lenient and not any(spreads) and not any(gaps)):
                    continue
                total += min(meets[j], *(tail(gaps[f], spreads[f], False) for f in range(m)))
        else:
            members = np.flatnonzero(answer)
            ways = [sum(tail(S[a, f] - S[i, f] + slack[f], V[a, f] + V[i, f], True) for f in range(m)) for a in members]
            total += min([meets[i], *ways])
    return total
