"""Who is right: an answer against the truth of a simulation, within its tolerance and with its limits."""

from dataclasses import dataclass

import numpy as np

from prepex._checks import Floats
from prepex.limits import Limits
from prepex.problem import Problem
from prepex.tolerance import Bools, Tolerance, right_within, slack_of


@dataclass(frozen=True, eq=False)
class Judge:
    """The truth, as facet scores (K, m), and what may differ on each facet (m,); without any, P alone is right.

    feasible   the arms that meet the limits             (K,)
    pareto     P: those of them that none dominates      (K,)
    """

    scores: Floats
    slack: Floats
    feasible: Bools
    pareto: Bools

    @classmethod
    def of(cls, problem: Problem, tolerance: Tolerance = None, limits: Limits | None = None) -> "Judge":
        """Of a problem's true means.

        >>> from prepex import Cone, Gaussian
        >>> truth = Problem([[1.0], [0.9]], family=Gaussian(variance=1.0), cone=Cone.orthant(1))
        >>> [Judge.of(truth, tolerance).right(np.array([False, True])) for tolerance in (None, 0.2)]
        [False, True]
        """
        slack = slack_of(tolerance, problem.cone, problem.labels, problem.units)
        # From the first arm on: differences keep their digits far from zero.
        near = problem.benefits - problem.benefits[0]
        feasible = np.ones(len(near), dtype=bool) if limits is None else limits.met(problem.inner_means)
        pareto = np.zeros_like(feasible)
        if feasible.any():
            pareto[feasible] = problem.cone.pareto_mask(problem.benefits[feasible])
        room = np.zeros(problem.cone.n_facets) if slack is None else slack
        return cls(near @ problem.cone.facets.T, room, feasible, pareto)

    def right(self, answer: Bools) -> bool:
        """Is this set of arms (K,) an answer that is right?"""
        if not self.slack.any():
            return bool(np.array_equal(answer, self.pareto))
        return right_within(self.scores, answer, self.slack, self.feasible)
