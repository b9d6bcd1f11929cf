"""`prepex pareto --mixtures`: which options stay optimal when they may be mixed in shares."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from prepex._checks import Floats
from prepex.cone import Cone
from prepex.judge import Judge
from prepex.numerals import number
from prepex.problem import Problem

# Mixtures that are written out.
MOST = 10


@dataclass(frozen=True, eq=False)
class Mixed:
    """Of one cone: the Pareto optimal arms that stay so (K,), and of the others the shares (K,) that beat them."""

    stays: tuple[int, ...]
    beaten: dict[int, Floats]

    def means(self, problem: Problem, arm: int) -> list[float]:
        """What the mixture that beats an arm comes to, in the units of the objectives."""
        # Of a log-normal objective the logarithms are averaged, as where options are compared.
        return problem.units.outer(self.beaten[arm] @ problem.inner_means).tolist()

    def document(self, problem: Problem) -> dict[str, Any]:
        """As JSON."""
        names = problem.labels.arms
        return {
            "stay_optimal": [names[k] for k in self.stays],
            "beaten": [
                {
                    "arm": names[arm],
                    "shares": {names[k]: float(shares[k]) for k in np.flatnonzero(shares)},
                    "means": self.means(problem, arm),
                }
                for arm, shares in self.beaten.items()
            ],
        }

    def lines(self, problem: Problem) -> list[str]:
        """Of each arm that does not stay, what beats it."""
        names, objectives = problem.labels.arms, problem.labels.objectives
        found = []
        for arm, shares in list(self.beaten.items())[:MOST]:
            parts = " and ".join(f"{number(100 * shares[k], 3)} % {names[k]}" for k in np.flatnonzero(shares))
            makes, has = (
                ", ".join(f"{name} {number(value)}" for name, value in zip(objectives, values, strict=True))
                for values in (self.means(problem, arm), problem.means[arm])
            )
            found.append(f"{names[arm]} ({has}) is beaten by {parts} ({makes})")
        if len(self.beaten) > MOST:
            found.append(f"and {len(self.beaten) - MOST} more (--format json lists all)")
        return found


def find_mixed(problem: Problem, cone: Cone, judge: Judge) -> Mixed:
    """Among mixtures of the Pareto optimal arms, which meet the limits if there are any."""
    front = np.flatnonzero(judge.pareto)
    if not len(front):
        return Mixed((), {})
    names = [str(k) for k in front]
    beaten = {}
    for name, mixture in cone.beating_mixtures(problem.benefits[front], arms=names).items():
        shares = np.zeros(problem.n_arms)
        for other, share in mixture.items():
            shares[int(other)] = share
        beaten[int(name)] = shares
    return Mixed(tuple(int(k) for k in front if int(k) not in beaten), beaten)
