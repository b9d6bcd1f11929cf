"""A run, and its next arm. The same kernels serve a live experiment and a simulated run.

`observe` (observe.py) is the only door through which a course changes; `propose` only reads. So a log replays to
the same course, and asking twice gives the same arm.

Legend
    near      ledger at the pull counts N: the evidence that stops
    far       ledger at other weights: the sums of x of FraPPE, the allocation in hand of TnS and PreTS
    M         means of the outcomes less `origin`; so are the scores in all ledgers      (K, L)
    origin    a reference from the first outcomes of Gaussian objectives, else 0 (centre.py)   (L,)
    aim       the allocation that is tracked: fixed, or the rule's latest        (K,)
    target    sum_s x_s of the C-tracking rules; the sums of gains of PSIPS      (K,)
    pieces    of `far` near its minimum;  table, label, mix: the game over them
    slot      row of an arm in the table, and the arm of a row; every: 0, 1, 2, ...
    cuts      gradients seen by PreTS;  best  its best allocation
    fresh     the outcomes after the pilot, with the Pareto set of all: what the certified margin may use
    scratch, binding, deal   of the certified margin; both arms of `binding` alike: only that arm is missing
    whole     PULLS t, RULE, FOLLOW, CHECK: when the margin that is followed is next due, READY: seen once,
              PILOT: the pulls of the pilot, or after which it is looked at, LONGEST: that it may have,
              MISSING: arms without a pull after it,
              FIRST, SECOND: the two arms of APE, ROUND: of Auer, LOOKED: the t of MARGIN
    real      MARGIN, STEEP: max |g| so far (TnS), the gap of AdaHedge (PSIPS), TOLERANCE (PreTS),
              SPENT: sum_k log(1 + log N_k), RISK: log(1 / delta), TRIES (PSIPS), CALM: |z| of a quiet draw,
              CALM_CHANCE: how likely it is
    half, draw, drawn, stream   of posterior draws (rules/psips.py);  scale, phase  of rules/ape.py, auer.py
    belief    of the posterior probability of a wrong answer: a prior, and shortcuts (belief.py)
    key       (1,) uint64 of the rule's own randomness
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prepex._kernels.belief import Belief, PriorNumbers, make_belief
from prepex._kernels.centre import facet_scores, reference
from prepex._kernels.deal import Deal, make_deal
from prepex._kernels.instance import (
    Bools,
    Floats,
    Instance,
    Int,
    Ints,
    inverse_of,
    make_known,
    root_of,
    with_limits,
)
from prepex._kernels.jit import part
from prepex._kernels.laws.fresh import make_law_fresh
from prepex._kernels.laws.instance import BLIND, make_instance
from prepex._kernels.laws.law import GAUSSIAN, STUDENT
from prepex._kernels.ledger import Ledger, open_ledger, share_means
from prepex._kernels.margin import Fresh, Scratch, make_scratch
from prepex._kernels.mixture import make_known_fresh
from prepex._kernels.room import Pieces, make_pieces, most_constraints

PULLS, RULE, FOLLOW, CHECK, READY, PILOT, MISSING, FIRST, SECOND, ROUND, LOOKED, LONGEST = range(12)
MARGIN, STEEP, TOLERANCE, SPENT, RISK, TRIES, CALM, CALM_CHANCE = range(8)
FIXED, FRAPPE, INFORMATION, TNS, PRETS, PSIPS, APE, AUER = RULES = range(8)
FOLLOW_EVIDENCE, FOLLOW_MARGIN, FOLLOW_NOTHING, FOLLOW_POSTERIOR = 0, 1, 2, 3

# Pieces that a game may have, and gradients that a search for an allocation may use.
ROOM, CUTS = 48, 192


class Course(NamedTuple):
    """Everything about a run."""

    near: Ledger
    far: Ledger
    M: Floats
    origin: Floats
    aim: Floats
    target: Floats
    pieces: Pieces
    table: Floats
    label: Ints
    mix: Floats
    slot: Ints
    every: Ints
    cuts: Floats
    best: Floats
    fresh: Fresh
    scratch: Scratch
    binding: Ints
    deal: Deal
    whole: Ints
    real: Floats
    key: NDArray[np.uint64]
    half: Floats
    draw: Floats
    drawn: Floats
    stream: NDArray[np.uint64]
    scale: Floats
    phase: Ints
    belief: Belief

    @property
    def with_laws(self) -> bool:
        """Is it of other laws than known Gaussians?"""
        return self.near.with_laws

    @property
    def compiled_for(self) -> tuple[type, int, int]:
        """What decides which machine code it needs: Gaussian or laws, the rule, and what the rule follows."""
        return self.near.compiled_for, int(self.whole[RULE]), int(self.whole[FOLLOW])


class Plan(NamedTuple):
    """What is fixed before the first pull: codes of the rule and of what it follows, and its numbers.

    pilot, longest   pulls of the pilot: so many, and up to so many if some arm is not decided at all
    closed    closed testing around the pilot's answer, and averages; else the plain rule (deal.py)
    slack     of a tolerance, on every facet                       (n_facets,)
    prior     of the means, if a posterior is asked for
    limits    rows g, and their level h: an arm is feasible iff g . M >= h for all; None if there are none
    """

    rule: int
    follow: int
    paper: bool
    aim: Floats
    tolerance: float
    rho: Floats
    pilot: int
    longest: int
    closed: bool
    key: int
    risk: float
    tries: int
    slack: Floats
    limits: Floats | None = None
    level: Floats | None = None
    prior: PriorNumbers | None = None


def open_course(facets: Floats, covariances: Floats, signs: Floats, first: Floats, plan: Plan) -> Course:
    """A course after the first pull of each arm, whose rewards are `first` (K, L). `observe` arm -1 next.

    Rewards in the user's units, signs in the facets; with `signs` (L,) reference and posterior draws are, digit by
    digit, those of the problem in which everything is maximised.
    """
    origin = reference(first * signs) * signs
    first = first - origin
    rows, slack, level = with_limits(facets, plan.slack, plan.limits, plan.level, origin)
    half = rows @ (root_of(covariances) * signs)
    gram = half @ np.swapaxes(half, 1, 2)
    prec = inverse_of(covariances)
    prec = 0.5 * (prec + np.swapaxes(prec, 1, 2))
    inst = make_known(
        gram,
        facet_scores(first, rows) - level,
        np.ones(len(first)),
        facets=rows,
        prec=prec,
        slack=slack,
        level=level,
        n_facets=len(facets),
    )
    fresh = make_known_fresh(inst, plan.rho, plan.pilot > 0)
    return _course(inst, fresh, np.array(first, order="C"), origin, plan)._replace(
        half=np.ascontiguousarray(half),
        scale=np.sqrt(np.max(np.diagonal(gram, axis1=1, axis2=2), axis=0))[: len(facets)],
    )


def open_law_course(facets: Floats, law: Ints, scale: Floats, shared: Bools, first: Floats, plan: Plan) -> Course:
    """The same for objectives with laws, `scale`, `shared` (L,)."""
    K = len(first)
    origin = np.where(np.isin(law, (GAUSSIAN, STUDENT)), reference(first), 0.0)
    first = first - origin
    scales = np.broadcast_to(np.where(shared, BLIND, scale), first.shape)
    rows, slack, level = with_limits(facets, plan.slack, plan.limits, plan.level, origin)
    inst = make_instance(law, scales, rows, first, np.ones(K), shared, slack, level, len(facets))
    return _course(inst, make_law_fresh(inst), inst.M, origin, plan)


def _course(inst: Instance, fresh: Fresh, means: Floats, origin: Floats, plan: Plan) -> Course:
    (K, L), m = means.shape, len(inst.W)
    near = open_ledger(inst, paper=plan.paper)
    if plan.rule not in RULES:
        raise ValueError(f"rule must be among the codes {list(RULES)}, got {plan.rule}")
    return Course(
        near=near,
        far=share_means(near, plan.paper),
        M=means,
        origin=origin,
        aim=np.array(plan.aim, order="C"),
        target=np.ones(K),
        pieces=make_pieces(ROOM, most_constraints(K, m, m - inst.n_facets)),
        table=np.zeros((K + 1, CUTS + 1)),
        label=np.zeros((2, max(K, CUTS) + 1), dtype=np.int64),
        mix=np.zeros(K),
        slot=np.full(2 * K, -1, dtype=np.int64),
        every=np.arange(K),
        cuts=np.zeros((K, CUTS)),
        best=np.zeros(K),
        fresh=fresh,
        scratch=make_scratch(K, m),
        binding=np.full(4, -1, dtype=np.int64),
        deal=make_deal(K, m, inst.n_facets, plan.closed),
        whole=np.array(
            [K, plan.rule, plan.follow, K, 0, plan.pilot, K if plan.pilot else 0, 0, 0, 0, -1, plan.longest],
            dtype=np.int64,
        ),
        real=np.array([-np.inf, 0.0, plan.tolerance, 0.0, plan.risk, plan.tries, *calm_radius(K, L, plan.rule)]),
        key=np.array([plan.key], dtype=np.uint64),
        half=np.zeros((1, m, L)),
        draw=np.zeros((K, L)),
        drawn=np.zeros((K, m)),
        stream=np.zeros(1, dtype=np.uint64),
        scale=np.ones(inst.n_facets),
        phase=np.zeros(K, dtype=np.int64),
        belief=make_belief(plan.prior, inst.W, origin, K),
    )


def leaves(node: Any) -> list[NDArray[Any]]:
    """Every array of a course, in the order of its fields: with them written back, it goes on bit for bit.

    Not what is written by looking at a course: the scratch of the margin and of posteriors.
    """
    found: list[NDArray[Any]] = []
    for name, entry in zip(node._fields, node):
        if name in ("scratch", "label", "draw", "drawn", "stream", "belief"):
            continue
        if isinstance(entry, tuple):
            found += leaves(entry)
        elif isinstance(entry, np.ndarray):
            found.append(entry)
    return found


def calm_radius(n_arms: int, n_objectives: int, rule: int) -> tuple[float, float]:
    """(r, P(|z| <= r)) for z standard normal in R^L, so that all K arms exceed r about once in a thousand draws.

    Only for the rule that draws: scipy takes longer to load than a small experiment to run.
    """
    if rule != PSIPS:
        return 0.0, 0.0
    from scipy.special import chdtr, chdtri

    radius = float(np.sqrt(chdtri(n_objectives, 1e-3 / n_arms)))
    return radius, float(chdtr(n_objectives, radius * radius))


@part
def uniform(key: NDArray[np.uint64], t: Int, draw: Int) -> float:
    """The rule's own random number of round t: a hash of (key, t, draw), so that it needs no state (splitmix64)."""
    z = key[0] + np.uint64(t) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(draw) * np.uint64(0xD1B54A32D192ED03)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)
