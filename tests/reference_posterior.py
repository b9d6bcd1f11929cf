"""What the posterior says, by definition: slow and obvious. Imports nothing from prepex."""

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
