"""Whole rounds of the sampling rules: pull, update, evidence, next arm, all thresholds."""

import time

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.core import Rounds, equal_front, us, verdict
from benchmarks.timing import side_by_side
from prepex import Cone, Gaussian, Problem, instances
from prepex._kernels.play import CERTIFIED, HEURISTIC, KAUFMANN_KOOLEN, POSTERIOR, Stops, play
from prepex.run import Setting
from prepex.sampling import AcceleratedPreTS, FraPPE, InformationDirected, TnS, Uniform
from prepex.simulation import noise_of, pay_first
from prepex.stopping import Certified, Heuristic, Posterior

console = Console(width=110)
# Times the bare round; of a rule that is led by the certified margin.
BARS = {"FraPPE": 40, "InformationDirected": 20}
LED = 100


class Run:
    """A run of a rule that never stops, with every threshold watched."""

    def __init__(self, problem, rule, n_rounds, *, certified=True, posterior=False, seed=0, **question):
        self.problem, self.n_rounds = problem, n_rounds
        threshold = Certified() if certified else Posterior() if posterior else Heuristic()
        self.setting = Setting.make(problem.family, problem.cone, problem.labels, rule, threshold, seed, **question)
        self.roots, draw = noise_of(self.setting, np.random.default_rng(seed))
        K = len(problem.means)
        self.truth = np.array(problem.means)
        self.first = draw(K)
        for k in range(K):
            pay_first(self.setting, self.truth, self.roots, k, self.first[k])
        self.noise = draw(n_rounds)
        codes = [HEURISTIC, KAUFMANN_KOOLEN] + ([CERTIFIED] if certified else [])
        codes = [POSTERIOR] if posterior else codes
        # A probability of a wrong answer is looked at the closer the nearer it is: one that is not far.
        level = np.log(1000.0) if posterior else 1e300
        self.stops = Stops(
            code=np.array(codes, dtype=np.int64),
            level=np.full((len(codes), 2), level),
            time=np.zeros((len(codes), 2), dtype=np.int64),
            answer=np.zeros((len(codes), 2, K), dtype=bool),
            moment=np.zeros(0, dtype=np.int64),
            then=np.zeros((0, K), dtype=bool),
        )

    def __call__(self):
        K, L = self.problem.means.shape
        course = self.setting.open(self.first, -np.log(0.1))
        arms, pending, shift = np.zeros(1, np.int64), np.zeros(K, np.int64), np.zeros(L)
        play(course, self.truth, self.roots, self.noise.copy(), self.stops, arms, pending, shift)
        return course


def whole_rounds():
    problem = instances.covboost()
    table = Table(
        "rule", "certified too", "a round", "bare round", "ratio", "bar", box=None, header_style="bold",
        title="Cov-Boost: a whole round / the bare round of the core's benchmark",
    )  # fmt: skip
    n = 10_000
    bare = Rounds(problem.means, np.asarray(problem.family.variance), np.full(20, 0.05), n, 1)
    slow = AcceleratedPreTS()
    for rule, certified in (
        (Uniform(), True),
        (InformationDirected(follow="evidence"), True),
        (InformationDirected(follow="evidence"), False),
        (InformationDirected(follow="margin"), True),
        (FraPPE(), True),
        (FraPPE(), False),
        (TnS(), True),
        (slow, True),
    ):
        rounds = n if rule is not slow else 1000
        run = Run(problem, rule, rounds, certified=certified)
        alone, full = side_by_side(bare.bare, run, repeats=2 if rule is slow else 5)
        alone, full = alone / n, full / rounds
        ratio = full / alone
        follow = getattr(rule, "follow", "")
        limit = LED if follow == "margin" else BARS.get(type(rule).__name__)
        name = f"{type(rule).__name__} ({follow})" if follow else rule.name
        shown = verdict(ratio, limit) if limit else ""
        table.add_row(name, "yes" if certified else "no", us(full), us(alone), f"{ratio:.1f}", shown)
    console.print(table)


def to_the_stop():
    """The same on the way to a stop: the closer the margin is to its goal, the closer it is looked at."""
    problem = instances.covboost()
    for follow, limit in (("evidence", BARS["InformationDirected"]), ("margin", LED)):
        run = Run(problem, InformationDirected(follow=follow), 80_000)
        size = (1, 2, len(problem.means))
        run.stops = run.stops._replace(
            code=np.array([CERTIFIED]),
            level=-np.log([[0.1, 0.01]]),
            time=np.zeros(size[:2], dtype=np.int64),
            answer=np.zeros(size, dtype=bool),
        )

        def again(run=run):
            run.stops.time[:] = 0
            run()

        again()
        n = int(run.stops.time.max())
        bare = Rounds(problem.means, np.asarray(problem.family.variance), np.full(20, 0.05), n, 1)
        alone, full = side_by_side(bare.bare, again)
        console.print(
            f"Cov-Boost, InformationDirected ({follow}) to the certified stops at 0.1 and 0.01, {run.stops.time[0]}: a "
            f"round {us(full / n)}, bare {us(alone / n)}, ratio {full / alone:.1f} {verdict(full / alone, limit)}"
        )


def believed():
    """The posterior probability of a wrong answer, watched at delta 0.001, against the heuristic threshold."""
    problem, n = instances.covboost(), 6000
    heuristic = Run(problem, InformationDirected(), n, certified=False)
    posterior = Run(problem, InformationDirected(), n, certified=False, posterior=True)
    one, two = side_by_side(heuristic, posterior)
    stopped = "" if not posterior.stops.time.any() else ", STOPPED early: not comparable"
    console.print(
        f"Cov-Boost, InformationDirected: a round that watches posterior {us(two / n)}, heuristic {us(one / n)}, ratio "
        f"{two / one:.2f} {verdict(two / one, 1.5)}{stopped}"
    )


def scaling():
    table = Table(
        "K", "L", "|P|", "InformationDirected", "FraPPE", box=None, header_style="bold",
        title="A round against K (equal |P|) and L (K = 25, random means)",
    )  # fmt: skip
    rng = np.random.default_rng(2)
    sizes = [(k, 3) for k in (5, 20, 100, 500, 2000)] + [(25, length) for length in (2, 6, 10, 14)]
    for n_arms, n_objectives in sizes:
        by_arms = n_objectives == 3
        means = equal_front(n_arms, rng) if by_arms else rng.normal(size=(n_arms, n_objectives))
        problem = Problem(means, family=Gaussian(variance=1.0), cone=Cone.orthant(n_objectives))
        rounds = max(3000, 3 * n_arms)
        jobs = [Run(problem, rule, rounds, certified=False) for rule in (InformationDirected(), FraPPE())]
        times = [seconds / rounds for seconds in side_by_side(*jobs, repeats=2)]
        table.add_row(str(n_arms), str(n_objectives), str(len(problem.pareto_set)), *(us(t) for t in times))
    console.print(table)


def main():
    began = time.perf_counter()
    whole_rounds()
    to_the_stop()
    believed()
    scaling()
    console.print(f"took {time.perf_counter() - began:.0f} s")
