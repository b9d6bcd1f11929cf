"""How delta is dealt: prices of the arms' tests, and weights of what a test averages (docs/certified.md).

A test averages evidence, log sum_r v_r exp e_r, with weights that were fixed when the pilot ended: of facets (and of
limits of the rival) for an arm of the answer, of rivals (and of limits of its own) for one outside it. It pays

    plain     log(1 / share_k): a union over the arms. What has passed stays passed: the states of single arms
    closed    for the answer as a whole, all tests at the same time: with P_0 the answer of the pilot, H = P xor P_0,
              h = |H|:  log((h + 1) / (1 - SPARE)) for an arm outside H; in H log(1 / share_k), and 1 / SPARE times that
              if h > 1. With a tolerance  log(1 / (1 - SPARE)) if h = 0,  log(1 / (SPARE share_k)) if not.

Legend
    share     of delta for arm k, of the plain union                                     (K,)
    part      of a share for rival j, in the plain rule                                  (K,)
    whole     sum over the rivals j of their appeal to arm k                             (K,)
    lean      what the limits have of a test of an arm outside the answer                (K,)
    mask      P_0                                                                        (K,)
    S, V      scores in the pilot, and the variances of their means                      (K, rows)
    flag      CLOSED: closed prices and averages, else plain prices and maxima;  SEEN: a pilot has said all this   (2,)
"""

from typing import NamedTuple

import numpy as np

from prepex._kernels.instance import Bools, Floats, Instance, Int, Ints, gap
from prepex._kernels.jit import kernel, part

CLOSED, SEEN = 0, 1
# Of the weights of closed testing this much stays with the plain shares.
SPARE = 0.1
# This much of delta, of every share and of every average is dealt equally whatever the pilot says.
EQUAL = 0.1
# A ratio beyond this says no more, and exp(-2 c) of it is still a number.
CERTAIN = 300.0
# What a reason appeals without any evidence; evidence for it multiplies by (1 + ratio)^2, evidence against it divides.
BLANK = 1.0


class Deal(NamedTuple):
    """What was fixed when the pilot ended."""

    share: Floats
    part: Floats
    whole: Floats
    lean: Floats
    mask: Bools
    S: Floats
    V: Floats
    flag: Ints


def make_deal(K: int, n_rows: int, n_facets: int, closed: bool) -> Deal:
    """Equal shares and weights; with limits, half of the test of an arm outside the answer is theirs."""
    lean = 0.0
    if n_rows > n_facets:
        lean = 0.5 if K > 1 else 1.0
    return Deal(
        share=np.full(K, 1.0 / K),
        part=np.full(K, 1.0 / K),
        whole=np.full(K, (K - 1) * BLANK),
        lean=np.full(K, lean),
        mask=np.zeros(K, dtype=np.bool_),
        S=np.zeros((K, n_rows)),
        V=np.zeros((K, n_rows)),
        flag=np.array([closed, 0], dtype=np.int64),
    )


@part
def moved(deal: Deal, mask: Bools) -> Int:
    """h: how many arms have another status than the pilot gave them."""
    h: Int = np.int64(0)
    for k in range(mask.size):
        if mask[k] != deal.mask[k]:
            h += 1
    return h


@part
def plain_price(deal: Deal, k: Int) -> float:
    """Of arm k's test on its own."""
    return -np.log(deal.share[k])


@part
def closed_price(deal: Deal, inst: Instance, k: Int, h: Int) -> float:
    """Of arm k's test as one of all, for the answer in `inst`; the plain one without closed testing."""
    price = plain_price(deal, k)
    if deal.flag[CLOSED] == 1 and deal.flag[SEEN] == 1:
        if inst.lenient:
            price = -np.log(1.0 - SPARE) if h == 0 else price - np.log(SPARE)
        elif inst.mask[k] == deal.mask[k]:
            price = np.log((h + 1.0) / (1.0 - SPARE))
        elif h > 1:
            price -= np.log(SPARE)
    return price


@part
def signed_ratio(ahead: float, spread: float) -> float:
    """The likelihood ratio of a difference against none, with its sign; at most CERTAIN either way."""
    size = 0.0
    if ahead != 0.0:
        size = min(0.5 * ahead * ahead / spread, CERTAIN) if spread > 0.0 else CERTAIN
    return size if ahead > 0.0 else -size


@part
def pilot_ratio(deal: Deal, inst: Instance, a: Int, j: Int, f: Int) -> float:
    """The likelihood ratio in the pilot of a ahead of j on facet f, the slack included; negative if it is behind."""
    return signed_ratio(deal.S[a, f] - deal.S[j, f] + inst.slack[f], deal.V[a, f] + deal.V[j, f])


@part
def pilot_over(deal: Deal, inst: Instance, j: Int, i: Int) -> float:
    """The same of j to dominate i: the least facet, where nothing is noise to be level is enough; and of j's limits."""
    least = CERTAIN
    for f in range(inst.n_facets):
        known = deal.V[j, f] + deal.V[i, f] == 0.0 and deal.S[j, f] - deal.S[i, f] + inst.slack[f] >= 0.0
        least = min(least, CERTAIN if known else pilot_ratio(deal, inst, j, i, f))
    for row in range(inst.n_facets, deal.S.shape[1]):
        least = min(least, pilot_limit(deal, j, row, 1.0))
    return least


@part
def pilot_limit(deal: Deal, k: Int, row: Int, side: float) -> float:
    """The same of arm k on one side of a limit: 1 if it meets it, -1 if it breaks it."""
    over, spread = side * deal.S[k, row], deal.V[k, row]
    if over == 0.0 and spread == 0.0 and side > 0.0:
        return CERTAIN
    return signed_ratio(over, spread)


@part
def appeal(ratio: float) -> float:
    """How much of an average a reason deserves: the more the pilot speaks for it, and the less against it."""
    size = (1.0 + abs(ratio)) * (1.0 + abs(ratio))
    return BLANK * size if ratio > 0.0 else BLANK / size


@part
def rival_appeal(deal: Deal, inst: Instance, i: Int, j: Int) -> float:
    """Of rival j to an arm i outside the answer; those outside the pilot's answer less, the more surely they are."""
    return appeal(pilot_over(deal, inst, j, i)) * deal.part[j]


@part
def rival_weight(deal: Deal, inst: Instance, i: Int, j: Int) -> float:
    """pi_ij of rival j in the test of an arm i outside the answer, all rivals together 1 - lean."""
    K = deal.share.size
    if deal.flag[CLOSED] == 0:
        share = deal.part[j] / (1.0 - deal.part[i])
    elif deal.flag[SEEN] == 0:
        share = 1.0 / (K - 1.0)
    else:
        share = (1.0 - EQUAL) * rival_appeal(deal, inst, i, j) / deal.whole[i] + EQUAL / (K - 1.0)
    return (1.0 - deal.lean[i]) * share


@kernel
def weigh_front(deal: Deal, inst: Instance, i: Int, j: Int, weight: Floats) -> None:
    """v of the facets and of j's limits in the test of i, of the answer, against j."""
    rows, m = weight.size, inst.n_facets
    total = 0.0
    for r in range(rows):
        weight[r] = BLANK
        if deal.flag[CLOSED] == 1 and deal.flag[SEEN] == 1:
            weight[r] = appeal(pilot_ratio(deal, inst, i, j, r) if r < m else pilot_limit(deal, j, r, -1.0))
        total += weight[r]
    for r in range(rows):
        weight[r] = (1.0 - EQUAL) * weight[r] / total + EQUAL / rows


@kernel
def weigh_broken(deal: Deal, inst: Instance, i: Int, weight: Floats) -> None:
    """p of the own limits of an arm i outside the answer, all together lean: in the rows of the limits."""
    rows, m = weight.size, inst.n_facets
    total = 0.0
    for r in range(m, rows):
        weight[r] = BLANK
        if deal.flag[CLOSED] == 1 and deal.flag[SEEN] == 1:
            weight[r] = appeal(pilot_limit(deal, i, r, -1.0))
        total += weight[r]
    for r in range(m, rows):
        weight[r] = deal.lean[i] * ((1.0 - EQUAL) * weight[r] / total + EQUAL / (rows - m))


@part
def ahead_of(inst: Instance, j: Int, i: Int) -> bool:
    """May the evidence that j dominates i be any? Ahead on every facet, or level without noise."""
    good = True
    for f in range(inst.n_facets):
        ahead = gap(inst, j, i, f)
        good = good and (ahead > 0.0 or (ahead == 0.0 and inst.V[j, f] + inst.V[i, f] == 0.0))
    return good
