"""The answer at a moment, from how the course stands and what the posterior believes."""

from collections.abc import Collection

import numpy as np

from prepex._kernels.own import own_answer
from prepex.live.recommendation import Recommendation, State, Status
from prepex.posterior import Belief
from prepex.run import Setting
from prepex.standing import Standing


def final_answer(standing: Standing, believed: Belief | None, n_pulls: int) -> Recommendation:
    """When the threshold is reached: every arm is decided."""
    setting, arms = standing.setting, standing.setting.labels.arms
    names, proven = standing.pareto_names, is_proven(setting)
    if setting.own:
        proven, answer = setting.rule.proven, np.zeros(len(arms), dtype=np.bool_)
        own_answer(standing.course, answer)
        names = tuple(arms[k] for k in answer.nonzero()[0])
    status: Status = "heuristic" if not proven else "posterior" if setting.posterior else "certified"
    level = standing.near_ties, standing.covered
    given = names, arms, (), standing.delta, n_pulls, *level, standing.reasons
    return Recommendation(status, *given, states_of(arms, names, range(len(arms))), _chances(believed))


def open_answer(
    status: Status, setting: Setting, delta: float, n_pulls: int, standing: Standing | None, believed: Belief | None
) -> Recommendation:
    """What looks right now, and which arms are decided; without a standing some arm was not tried yet."""
    arms = setting.labels.arms
    decided = set() if standing is None else _decided(standing, believed)
    looks = () if standing is None else standing.pareto_names
    return Recommendation(
        status,
        looks,
        tuple(name for k, name in enumerate(arms) if k in decided),
        tuple(name for k, name in enumerate(arms) if k not in decided),
        delta,
        n_pulls,
        () if standing is None else standing.near_ties,
        () if standing is None else standing.covered,
        {} if standing is None else standing.reasons,
        states_of(arms, looks, _agreed(setting, delta, looks, decided, believed)),
        _chances(believed),
    )


def is_proven(setting: Setting) -> bool:
    """Is an answer right with probability 1 - delta when the threshold is reached?"""
    return setting.threshold.proven and setting.rule.alternatives == "complete"


def states_of(arms: tuple[str, ...], answer: tuple[str, ...], decided: Collection[int]) -> tuple[State, ...]:
    """Of each arm, where those `decided` are as the answer says.

    >>> states_of(("a", "b", "c"), ("a",), {0, 2})
    ('in', 'open', 'out')
    """
    return tuple("open" if k not in decided else "in" if name in answer else "out" for k, name in enumerate(arms))


def _decided(standing: Standing, believed: Belief | None) -> set[int]:
    if standing.setting.posterior:
        return set() if believed is None else {int(k) for k in np.flatnonzero(believed.sure)}
    return standing.decided()


def _agreed(
    setting: Setting, delta: float, looks: tuple[str, ...], decided: set[int], believed: Belief | None
) -> set[int]:
    """Those decided; where only evidence speaks, which is of whole sets, the probability of the arm must agree."""
    if setting.certified or setting.posterior or believed is None:
        return decided
    inside = np.isin(setting.labels.arms, looks)
    wrong = np.where(inside, 1.0 - believed.probability, 0.0)
    return {k for k in decided if wrong[k] <= delta}


def _chances(believed: Belief | None) -> tuple[float, ...] | None:
    return None if believed is None else tuple(believed.probability.tolist())
