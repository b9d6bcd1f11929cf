"""The error of `certified` on truths made to hurt: `python -m benchmarks hurt [n_runs]`. Arms that are exactly level,
all arms on a border, and pilots so short that the answer they test around is often wrong.

On a tie the rule mostly goes on for ever, as it should; a run ends at MOST pulls, and is then no error. Each 99 % lower
bound of an error must be at most delta; the control stops too early, and must be caught by the same bound.
"""

from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import borders
from benchmarks.borders import Cell, Question
from benchmarks.guarantee import TooEarly
from prepex import Bernoulli, Cone, Gaussian, Poisson, Problem, simulate
from prepex.sampling import InformationDirected
from prepex.stopping import Certified
from prepex.tolerance import slack_of

MOST = 2000
# Stops far too early: the control.
EARLY = type("Early", (TooEarly,), {"margin": -4.0})


class Case(NamedTuple):
    """A question, and the rounds of its pilot; None: the default."""

    question: Question
    pilot: int | None


def truths() -> dict[str, Question]:
    """Nine: ties in every way an answer can depend on them."""

    def question(means: Any, family: Any, cone: Cone | None = None, **asked: Any) -> Question:
        cone = Cone.orthant(len(means[0])) if cone is None else cone
        names = ("u", "v", "w")[: len(means[0])]
        return Question(Problem(means, family=family, cone=cone, objectives=names), asked)

    unit = Gaussian(variance=0.25)
    return {
        "all equal": question([[0.5, 0.5]] * 5, unit),
        "two equal optima": question([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.2, -0.4]], unit),
        "level with its dominator": question([[1.0, 0.5], [0.5, 0.5], [0.2, 1.0], [0.1, 0.4]], unit),
        "a staircase of ties": question([[1.0, 0.0], [1.0, 0.3], [0.6, 0.3], [0.6, 0.7], [0.1, 0.7]], unit),
        "one objective, a tie at the top": question([[1.0], [1.0], [0.9], [0.2]], unit),
        "on a facet of the cone": question([[1.0, 0.0], [0.5, 0.5], [0.0, 0.4], [0.7, -0.5]], unit, Cone.angle(90.001)),
        "shares, level": question([[0.6, 0.4], [0.6, 0.2], [0.3, 0.4], [0.3, 0.7]], Bernoulli()),
        "counts, level": question([[3.0, 2.0], [3.0, 2.0], [2.0, 2.0], [1.0, 3.0]], Poisson()),
        "unknown variance, level": question(
            [[1.0, 0.5], [0.5, 0.5], [0.2, 1.0]], Gaussian(variance="unknown", noise=0.25)
        ),
    }


def cases() -> dict[str, Case]:
    """Thirty: those of `borders`, and each of the others with a short pilot and with the default one."""
    found = {name: Case(question, 2) for name, question in borders.questions().items()}
    for name, question in truths().items():
        found[f"{name}, short pilot"] = Case(question, 2)
        found[name] = Case(question, None)
    return found


def run(question: Question, threshold: Certified, n_runs: int, delta: float, seed: int = 23) -> Cell:
    """So many runs; `borders.right` looks at what they answer, by definition."""
    problem, asked = question
    given = {"threshold": threshold, "deltas": delta, "n_runs": n_runs, "seed": seed, "max_pulls": MOST, "n_jobs": 1}
    runs = simulate(problem, sampling=InformationDirected(), **given, **asked)
    truth, limits = np.array(problem.inner_means), runs.limits
    slack = slack_of(asked.get("tolerance"), problem.cone, problem.labels, problem.units)
    slack = np.zeros(problem.cone.n_facets) if slack is None else slack
    over = np.zeros((len(truth), 0)) if limits is None else truth @ limits.rows.T - limits.level
    S = (truth * problem.labels.signs) @ problem.cone.facets.T
    stopped = [record for record in runs.records if record.time[0, 0] > 0]
    wrong = sum(not borders.right(S, over, slack, record.answer[0, 0]) for record in stopped)
    return Cell(n_runs, len(stopped), wrong, float(np.mean([record.n_pulls for record in runs.records])))


def main(n_runs: int = 300) -> None:
    """The table, and what it says."""
    console = Console(width=120)
    hard = (
        "two equal optima, short pilot",
        "level with its dominator, short pilot",
        "a staircase of ties, short pilot",
    )
    hard += ("one objective, a tie at the top, short pilot", "beaten by the tolerance")
    for delta, names, size in ((0.1, [*cases()], n_runs), (0.3, hard, max(10 * n_runs // 3, 1))):
        table = Table(
            "truth", "stopped", "wrong", "99 % lower", "mean pulls", box=None, header_style="bold",
            title=f"certified, delta {delta}, {size} runs each, seed 23, at most {MOST:,} pulls",
        )  # fmt: skip
        worst = 0.0
        for name in names:
            question, pilot = cases()[name]
            cell = run(question, Certified(pilot=pilot), size, delta)
            worst = max(worst, cell.lower)
            table.add_row(name, str(cell.stopped), str(cell.wrong), f"{cell.lower:.3f}", f"{cell.pulls:,.0f}")
        console.print(table)
        console.print(f"largest 99 % lower bound: {worst:.3f}, to be at most {delta}")
    control = [run(cases()[name].question, EARLY(pilot=2), 100, 0.1).lower for name in hard]
    console.print(f"control, stopped at a margin of -4: largest 99 % lower bound {max(control):.3f}, to be above 0.1")
