"""Named truths that a plan is tried on.

guess           the guess; with an uncertainty, or from a pilot, each simulated study has a truth of its own
near-tie        the guess, moved two thirds of the way to the closest truth with another answer
no difference   all options have the means of the guess, averaged
worst           of some draws around the guess, the one that is hardest to decide
your own        a table of means
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from prepex import _checks, _named
from prepex.alternatives import Evidence, found_by, solver
from prepex.errors import InputError, shown
from prepex.family import EXACT
from prepex.planning.belief import Belief, in_order, with_noise
from prepex.posterior_draws import Draws
from prepex.tolerance import slack_of

GUESS, NEAR_TIE, NO_DIFFERENCE, WORST = "guess", "near-tie", "no difference", "worst"
NAMED = (GUESS, NEAR_TIE, NO_DIFFERENCE, WORST)
# How far a near-tie is moved, and of how many draws the worst is.
NEARLY, N_WORST = 2.0 / 3.0, 20

Scenarios = Sequence[str] | Mapping[str, Any]


def closest(belief: Belief, means: Any, *, lenient: bool) -> Evidence:
    """The closest alternative of inner means (K, L), one pull each; `lenient`: with the tolerance."""
    settings = belief.settings
    units, eps = settings.setting().units, settings.tolerance
    slack = slack_of(eps, settings.cone, settings.labels, units) if lenient and eps is not None else None
    family = with_noise(settings.family, belief.variances)
    ones = np.ones(len(means))
    return found_by(solver(units.outer(means), ones, family, settings.cone, settings.labels, slack, settings.limits))


def check_names(given: Scenarios | None, belief: Belief) -> dict[str, Any]:
    """Name -> None, or a table of means of the user's own."""
    if given is None:
        # Without an uncertainty there is nothing to draw the worst from.
        return {name: None for name in NAMED if not (name == WORST and belief.sure)}
    if isinstance(given, str) or not isinstance(given, Sequence | Mapping):
        raise InputError(f"scenarios must be names, or a mapping from names to means, got {shown(given)}")
    found = dict(given) if isinstance(given, Mapping) else dict.fromkeys(given)
    for name, means in found.items():
        if means is None and name not in NAMED:
            raise InputError(f"scenarios must be of {_checks.quoted(NAMED)}, or have means, got {shown(name)}")
        if means is not None and name in NAMED:
            raise InputError(f"scenarios of your own must have names of their own, got {shown(name)}")
    if WORST in found and belief.sure:
        raise InputError("scenarios must not have 'worst' without an uncertainty of the guess to draw from, got it")
    return {GUESS: None} | found


def truths(name: str, means: Any, belief: Belief, n: int, seed: int) -> Draws:
    """A truth for each of n simulated studies."""
    rng = np.random.default_rng(np.random.SeedSequence((seed, 7)))
    if name == GUESS and not belief.sure:
        return belief.draw(n, rng)
    inner, variances = belief.means.copy(), belief.variances
    if means is not None:
        inner = _own(name, means, belief)
    elif name == NEAR_TIE:
        inner = _near_tie(belief)
    elif name == NO_DIFFERENCE:
        laws = belief.settings.setting().laws
        noisy = np.ones(inner.shape[1], dtype=bool) if laws is None else np.asarray(laws.codes) != EXACT
        inner[:, noisy] = inner[:, noisy].mean(axis=0)
    elif name == WORST:
        drawn = belief.draw(N_WORST, rng)
        hardest = int(np.argmin([closest(belief, each, lenient=True).value for each in drawn.means]))
        inner, variances = drawn.means[hardest], drawn.variances[hardest]
    return Draws(np.tile(inner, (n, 1, 1)), np.tile(variances, (n, 1, 1)))


def _near_tie(belief: Belief) -> Any:
    inner = belief.means.copy()
    found = closest(belief, inner, lenient=False).alternative
    if found is not None:
        there = belief.settings.setting().units.inner(np.array(found.means))
        moved = list(found.arms)
        inner[moved] += NEARLY * (there - inner[moved])
    return inner


def _own(name: str, means: Any, belief: Belief) -> Any:
    settings = belief.settings
    table, arms, objectives = _named.of_table(f"scenario {name!r}", means, None, None)
    found = in_order(f"scenario {name!r}", table, arms, objectives, settings.labels)
    settings.family.check_means(found, settings.labels.objectives)
    laws = settings.setting().laws
    inner = np.array(settings.setting().units.inner(found))
    if laws is not None:
        for q in np.flatnonzero(np.asarray(laws.codes) == EXACT):
            if not np.array_equal(inner[:, q], belief.means[:, q]):
                objective = settings.labels.objectives[q]
                raise InputError(f"scenario {name!r} must have {objective!r}, which has no noise, as in the guess")
    return inner
