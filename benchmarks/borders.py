"""The error of `certified` with tolerances and limits, truths on and near the borders of what is right:
`python -m benchmarks borders`. An answer is wrong if it is not right within the tolerance (docs/certified.md).

On a border the rule mostly goes on for ever, as it should; a run ends at MOST pulls, and is then no error. The control
stops too early, and must be caught by the same bound.

Legend
    truth   means as they are compared: logarithms of a LogNormal                 (K, L)
    S       facet scores of the truth                                            (K, m)
    over    how far each limit is met                                            (K, c)
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.stats import beta

from benchmarks.guarantee import TooEarly
from prepex import Bernoulli, Cone, Exponential, Gaussian, LogNormal, Poisson, Problem, Product, simulate
from prepex.sampling import InformationDirected
from prepex.stopping import Certified
from prepex.tolerance import slack_of

Bools = NDArray[np.bool_]
DELTA, MOST, RUNS = 0.1, 3000, 300
# A difference that is exactly the tolerance is one but for rounding.
ROUNDING = 1e-9
UNKNOWN = {"variance": "unknown", "noise": 0.09}


class Question(NamedTuple):
    """A truth, and what is asked of it: tolerance, at_most, at_least."""

    problem: Problem
    asked: dict[str, Any]


class Cell(NamedTuple):
    """Runs of one question: how many, how many stopped, how many of these were wrong; mean pulls."""

    runs: int
    stopped: int
    wrong: int
    pulls: float

    @property
    def upper(self) -> float:
        """99 % upper bound of the error, by Clopper and Pearson."""
        return 1.0 if self.wrong == self.runs else float(beta.ppf(0.99, self.wrong + 1, self.runs - self.wrong))

    @property
    def lower(self) -> float:
        """99 % lower bound."""
        return 0.0 if self.wrong == 0 else float(beta.ppf(0.01, self.wrong, self.runs - self.wrong + 1))


def questions() -> dict[str, Question]:
    """Twelve, every family among them."""

    def question(means: Any, family: Any, cone: Cone | None = None, minimise: Any = (), **asked: Any) -> Question:
        n = len(means[0])
        names = ("u", "v", "w")[:n]
        cone = Cone.orthant(n) if cone is None else cone
        return Question(Problem(means, family=family, cone=cone, objectives=names, minimise=minimise), asked)

    known, tilted = Gaussian(variance=0.09), Gaussian(covariance=[[0.09, 0.05], [0.05, 0.12]])
    dose = Product([Gaussian(**UNKNOWN), Bernoulli()])
    return {
        "beaten by the tolerance": question([[1.0, 0.0], [0.0, 1.0], [0.8, -0.2]], known, tolerance=0.2),
        "beaten by a little more": question(
            [[1.0, 0.0], [0.0, 1.0], [0.75, -0.28]], tilted, Cone.angle(110), tolerance=0.2
        ),
        "equal, unknown variance": question(
            [[1.0, 0.5], [1.0, 0.5], [0.7, 0.2], [0.2, 0.9]], Gaussian(**UNKNOWN), tolerance={"u": 0.3, "v": 0.3}
        ),
        "shares": question([[0.8, 0.3], [0.7, 0.2], [0.4, 0.6]], Bernoulli(), minimise=("v",), tolerance=0.1),
        "counts": question([[3.0, 2.0], [2.5, 1.5], [1.0, 4.0]], Poisson(), tolerance={"u": 0.5, "v": 0.5}),
        "waits on a limit": question([[2.0], [1.0], [1.5]], Exponential(), minimise=("u",), at_least={"u": 1.0}),
        "the best is on the limit": question(
            [[1.0, 0.3], [0.6, 0.1], [0.2, 0.0]], known, minimise=("v",), at_most={"v": 0.3}
        ),
        "limits and a tolerance": question(
            [[1.0, 0.5], [0.8, 0.3], [0.3, 1.2], [0.2, 0.1]],
            tilted,
            Cone.angle(80),
            tolerance=0.2,
            at_least={"u": 0.25, "v": 0.05},
        ),
        "nothing is feasible": question([[0.97, 0.0], [0.9, 0.4], [0.999, 0.2]], known, at_least={"u": 1.0}),
        "shared variance, both": question(
            [[1.0, 0.4], [0.9, 0.3], [0.5, 0.8]],
            Gaussian(**UNKNOWN, shared=True),
            tolerance=0.1,
            at_most={"v": 0.8},
        ),
        "times and doses": question(
            [[10.0, 0.3], [11.0, 0.2], [30.0, 0.3]],
            Product([LogNormal(noise=0.04), Bernoulli()]),
            minimise=("u", "v"),
            tolerance={"u": "10%", "v": 0.1},
            at_most={"v": 0.45},
        ),
        "doses": question([[0.5, 0.3], [0.9, 0.34], [0.2, 0.05]], dose, minimise=("v",), at_most={"v": 0.3}),
    }


def right(S: Any, over: Any, slack: Any, answer: Bools) -> bool:
    """By definition."""
    K, free = len(S), (over >= -ROUNDING).all(axis=1)
    members, feasible = np.flatnonzero(answer), np.flatnonzero(free)

    def beats(j: int, i: int) -> bool:
        return bool((S[j] - S[i] >= slack - ROUNDING).all() and not np.allclose(S[j], S[i], atol=ROUNDING, rtol=0))

    def matches(a: int, i: int) -> bool:
        return bool((S[a] - S[i] >= -slack - ROUNDING).all())

    good = all(free[i] and not any(beats(j, i) for j in feasible) for i in members)
    if slack.any():
        return good and all(any(matches(a, i) for a in members) for i in feasible if not answer[i])
    return good and all(answer[i] or any(beats(j, i) for j in feasible) for i in range(K) if free[i])


def run(question: Question, threshold: Certified, n_runs: int, seed: int = 5) -> Cell:
    """So many runs at DELTA; `right` looks at what they answer."""
    problem, asked = question
    given = {"threshold": threshold, "deltas": DELTA, "n_runs": n_runs, "seed": seed, "max_pulls": MOST}
    runs = simulate(problem, sampling=InformationDirected(), **given, **asked)
    truth, limits = np.array(problem.inner_means), runs.limits
    slack = slack_of(asked.get("tolerance"), problem.cone, problem.labels, problem.units)
    slack = np.zeros(problem.cone.n_facets) if slack is None else slack
    over = np.zeros((len(truth), 0)) if limits is None else truth @ limits.rows.T - limits.level
    S = (truth * problem.labels.signs) @ problem.cone.facets.T
    stopped = [record for record in runs.records if record.time[0, 0] > 0]
    wrong = sum(not right(S, over, slack, record.answer[0, 0]) for record in stopped)
    return Cell(n_runs, len(stopped), wrong, float(np.mean([record.n_pulls for record in runs.records])))


def measure(n_runs: int = RUNS, margin: float = -4.0) -> Iterator[tuple[str, Cell, Cell]]:
    """(name, certified, control) of every question."""
    early = type("Early", (TooEarly,), {"margin": margin})()
    for name, question in questions().items():
        yield name, run(question, Certified(), n_runs), run(question, early, max(n_runs // 3, 1))


def main(n_runs: int = RUNS) -> None:
    """A table, and two verdicts."""
    table = Table(
        "question", "stopped", "mean pulls", "errors", "99 % upper", "errors of the control", "99 % lower",
        box=None, header_style="bold", title=f"certified, delta {DELTA}, {n_runs} runs each of at most {MOST:,} pulls",
    )  # fmt: skip
    worst, caught = 0.0, Cell(0, 0, 0, 0.0)
    for name, cell, control in measure(n_runs):
        worst = max(worst, cell.upper)
        caught = Cell(caught.runs + control.runs, caught.stopped + control.stopped, caught.wrong + control.wrong, 0.0)
        table.add_row(
            name,
            f"{cell.stopped}/{cell.runs}",
            f"{cell.pulls:,.0f}",
            f"{cell.wrong}/{cell.runs}",
            f"{cell.upper:.3f}",
            f"{control.wrong}/{control.runs}",
            f"{control.lower:.3f}",
        )
    console = Console(width=120)
    console.print(table)
    console.print(f"largest 99 % upper bound: {worst:.3f}, {'at most' if worst <= DELTA else 'ABOVE'} {DELTA}")
    seen = "caught" if caught.lower > DELTA else "NOT caught"
    console.print(f"the control errs in {caught.wrong}/{caught.runs}, at least {caught.lower:.3f}: {seen}")
