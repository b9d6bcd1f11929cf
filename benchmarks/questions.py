"""What a tolerance and limits cost: whole rounds with them against rounds without.

Two comparisons, as another question has another answer, other pieces near the minimum and other pulls:
    the mechanism   a tolerance and limits that change nothing (a billionth of the spread; limits that all arms meet
                    from afar), so that both runs do the same pulls and solve the same stars
    the question    a tolerance of a tenth of the spread, a limit at a median, limits at the lower quartiles: what a
                    user asks, on instances whose answers differ; the size of the answer stands beside the ratio

Below each row stands what a round looks at, counted at 100 moments of the run: arms whose change of status was solved
exactly, in all ledgers, and pieces within reach of the minimum, which are the columns of FraPPE's game. Both are the
question's own size: where they grow, the problem is larger, and not the code slower. A rule that follows the margin
solves none.
"""

import time

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.core import verdict
from benchmarks.rules import Run
from prepex import Bernoulli, Cone, Gaussian, Problem, instances
from prepex._kernels.course import FRAPPE, PULLS, RULE
from prepex._kernels.ledger import collect, refresh
from prepex._kernels.play import play
from prepex._kernels.room import ROUND
from prepex.limits import limits_of
from prepex.sampling import FraPPE, InformationDirected

console = Console(width=118)
BAR, REPEATS, MOMENTS = 1.3, 5, 100


def cases():
    """Name -> (problem, rounds)."""
    rng = np.random.default_rng(5)
    known = Gaussian(variance=1.0)
    return {
        "Cov-Boost": (instances.covboost(), 10_000),
        "12 x 2": (Problem(rng.normal(size=(12, 2)), family=known, cone=Cone.orthant(2)), 10_000),
        "30 x 3": (Problem(rng.normal(size=(30, 3)), family=known, cone=Cone.orthant(3)), 10_000),
        "20 x 3, wide cone": (
            Problem(rng.normal(size=(20, 3)), family=known, cone=Cone.from_facets(np.eye(3) + 0.3)), 10_000,
        ),
        "12 x 2, Bernoulli": (
            Problem(rng.uniform(0.1, 0.9, (12, 2)), family=Bernoulli(), cone=Cone.orthant(2)), 4000,
        ),
    }  # fmt: skip


def asked(problem):
    """(what changes nothing, what a user asks), each name -> settings."""
    names, means = problem.labels.objectives, problem.means
    size = float(np.ptp(means, axis=0).min())
    chance = isinstance(problem.family, Bernoulli)
    # Of a chance nothing is far: a millionth above 0 is as far as it goes.
    low = {name: 1e-6 if chance else float(means[:, q].min() - 1e3 * size) for q, name in enumerate(names)}
    first = names[0]
    middle = {first: float(np.median(means[:, 0]))}
    quarter = {name: float(np.quantile(means[:, q], 0.25)) for q, name in enumerate(names)}

    def limits(at_least):
        return limits_of(problem.labels, at_least=at_least, family=problem.family)

    return (
        {
            "tolerance": {"tolerance": 1e-9 * size},
            "a limit": {"limits": limits({first: low[first]})},
            "limits on all": {"limits": limits(low)},
            "both": {"tolerance": 1e-9 * size, "limits": limits(low)},
        },
        {
            "tolerance": {"tolerance": 0.1 * size},
            "a limit": {"limits": limits(middle)},
            "limits on all": {"limits": limits(quarter)},
            "both": {"tolerance": 0.1 * size, "limits": limits(quarter)},
        },
    )


def ratios(plain, others):
    """Best processor times of each, taken in turns, over those of the first; sizes of the answers at the end."""
    jobs = [plain, *others]
    sizes = [int(job().near.inst.size[0]) for job in jobs]
    best = [np.inf] * len(jobs)
    for _ in range(REPEATS):
        for place, job in enumerate(jobs):
            began = time.thread_time()
            job()
            best[place] = min(best[place], time.thread_time() - began)
    return best[0], [seconds / best[0] for seconds in best[1:]], sizes


def looked_at(run):
    """(arms solved, pieces within reach) of a round, the mean of some moments of a run."""
    (K, L), course = run.problem.means.shape, run.setting.open(run.first, -np.log(0.1))
    frappe = course.whole[RULE] == FRAPPE
    scratch = np.zeros(1, np.int64), np.zeros(K, np.int64), np.zeros(L)
    noise, step = run.noise.copy(), run.n_rounds // MOMENTS
    solved = pieces = 0
    for start in range(0, MOMENTS * step, step):
        play(course, run.truth, run.roots, noise[start : start + step], run.stops, *scratch)
        for ledger in (course.near, course.far) if frappe else (course.near,):
            solved += int(np.sum(ledger.seen == ledger.whole[ROUND]))
        if frappe:
            # As in frappe_step, with this moment's means and weights.
            slack = float(course.whole[PULLS]) ** 0.1 / K
            refresh(course.far, slack)
            pieces += max(int(collect(course.far, slack, course.pieces)), 0)
    return solved / MOMENTS, pieces / MOMENTS


def growth(plain, asked):
    """How much more a round looks at, of what has grown most; 1 where nothing is counted."""
    return max([now / before for before, now in zip(plain, asked, strict=True) if before > 0] + [1.0])


def main():
    found = {"the mechanism": [], "the question": []}
    for rule, certified in (
        (InformationDirected(follow="evidence"), False),
        (InformationDirected(follow="margin"), True),
        (FraPPE(), False),
        (FraPPE(), True),
    ):
        table = Table("instance", "plain", "", box=None, header_style="bold")
        for name in ("tolerance", "a limit", "limits on all", "both"):
            table.add_column(name, justify="right")
        table.title = f"{rule.name}, {'certified' if certified else 'heuristic'}: a round with / without (|answer|)"
        for name, (problem, rounds) in cases().items():
            plain = Run(problem, rule, rounds, certified=certified)
            for what, settings in zip(found, asked(problem), strict=True):
                runs = [Run(problem, rule, rounds, certified=certified, **question) for question in settings.values()]
                base, each, sizes = ratios(plain, runs)
                counts = [looked_at(run) for run in (plain, *runs)]
                found[what] += [
                    (ratio, growth(counts[0], count)) for ratio, count in zip(each, counts[1:], strict=True)
                ]
                shown = [f"{ratio:.2f} ({size})" for ratio, size in zip(each, sizes[1:], strict=True)]
                table.add_row(name, f"{base / rounds * 1e6:.2f} us ({sizes[0]})", what, *shown)
                first, *others = [f"{arms:.1f} | {pieces:.1f}" for arms, pieces in counts]
                table.add_row("", first, "arms | pieces", *others, style="dim")
        console.print(table)
    for what, entries in found.items():
        every, larger = (np.array(column) for column in zip(*entries))
        mean, most = float(np.exp(np.log(every).mean())), float(every.max())
        console.print(
            f"{what}: geometric mean {mean:.2f} ({verdict(mean, BAR)}), median {np.median(every):.2f}, "
            f"largest {most:.2f}, {int((every <= BAR).sum())} of {every.size} at most {BAR}"
        )
        dear, share = every > BAR, np.median(every / np.maximum(larger, 1.0))
        console.print(
            f"    of the {int(dear.sum())} above it {int((dear & (larger > BAR)).sum())} look at more than {BAR} times "
            f"as many arms or pieces; a round / what it looks at, of all: {share:.2f}"
        )
