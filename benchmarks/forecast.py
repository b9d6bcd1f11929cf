"""Do forecasts hold? `python -m benchmarks forecast`: simulated studies, each looked at after 25, 50 and 75 % of its
length. The 80 % range should hold what is left in 70 to 90 % of the looks.

How long a study takes is chance, even for one who knows the true means: the column "knowing the truth" runs the rule on
from them in place of draws. No forecast can be better than that.
"""

from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from prepex import Bernoulli, Cone, Experiment, Gaussian, LogNormal, Product
from prepex.foresight.forecast import FARTHEST, N_DRAWS, Forecast, forecast
from prepex.foresight.onward import run_on
from prepex.posterior_draws import Draws
from prepex.sampling import InformationDirected

SHARES = (0.25, 0.5, 0.75)
# A study that is longer than this would be looked at for hours; it is counted, and drawn anew.
LONGEST = 20_000
SEED, N_STUDIES = 2026, 40


class Look(NamedTuple):
    """One study after a share of its n pulls, with so many left."""

    kind: str
    n: int
    share: float
    left: int
    made: Forecast
    oracle: float


def gaussian(rng):
    """Five options, two objectives, known noise, certified within a tolerance."""
    truth = rng.normal(size=(5, 2))
    made = Experiment(5, 2, family=Gaussian(variance=1.0), tolerance=0.4, delta=0.05)
    return made, lambda k: truth[k] + rng.normal(size=2), Draws(truth, np.ones((5, 2)))


def formulations(rng):
    """Six formulations: strength and curing time, unknown noise, certified within a tolerance."""
    strength, days = rng.normal(60.0, 4.0, 6), np.exp(rng.normal(2.0, 0.3, 6))
    family = Product([Gaussian(variance="unknown"), LogNormal()])
    made = Experiment(6, ("strength", "days"), family=family, minimise=("days",), tolerance=(1.5, "15%"), delta=0.05)
    truth = Draws(np.stack([strength, np.log(days)], axis=1), np.tile([9.0, 0.25**2], (6, 1)))
    return made, lambda k: (rng.normal(strength[k], 3.0), days[k] * np.exp(0.25 * rng.normal())), truth


def cured(rng):
    """Four treatments, cured or not, certified within a tolerance."""
    truth = rng.uniform(0.1, 0.9, 4)
    made = Experiment(4, ("cured",), family=Bernoulli(), tolerance=0.15, delta=0.1)
    return made, lambda k: [float(rng.random() < truth[k])], Draws(truth[:, None], np.ones((4, 1)))


def heuristic(rng):
    """Four options, correlated noise, an obtuse cone, the heuristic threshold and no tolerance."""
    truth, covariance = rng.normal(size=(4, 2)), np.array([[1.0, 0.5], [0.5, 1.0]])
    root = np.linalg.cholesky(covariance)
    family, cone = Gaussian(covariance=covariance), Cone.angle(110)
    made = Experiment(4, 2, family=family, cone=cone, threshold="heuristic", sampling=InformationDirected(), delta=0.1)
    return made, lambda k: truth[k] + root @ rng.normal(size=2), Draws(truth, np.ones((4, 2)))


KINDS = (gaussian, formulations, cured, heuristic)


def looks(kind, seed):
    """((share, left, forecast), ...) of one study, and how many were too long before it."""
    for again in range(100):
        rng = np.random.default_rng((SEED, KINDS.index(kind), seed, again))
        experiment, world, truth = kind(rng)
        told = []
        while not experiment.done and len(told) < LONGEST:
            arm = experiment.choose(1, [0] * len(experiment.labels.arms))[0]
            told.append((arm, world(arm)))
            experiment.tell(experiment.labels.arms[arm], told[-1][1])
        if experiment.done:
            break
    found, n = [], len(told)
    half = Experiment.from_settings(experiment.settings())
    at = 0
    for share in SHARES:
        upto = max(round(share * n), 1)
        half.tell_many([(half.labels.arms[arm], row) for arm, row in told[at:upto]])
        at = upto
        if half.course is not None:
            made = forecast(half.setting, half.course, half.delta, seconds=np.inf)
            found.append((share, n - upto, made, oracle(half, truth)))
    return n, again, found


def oracle(half, truth):
    """The median of runs onwards from the true means; None: most were not followed so far."""
    truths = Draws(*(np.tile(entry, (N_DRAWS, 1, 1)) for entry in truth))
    most = FARTHEST * half.n_pulls
    found = run_on(half.setting, half.course, half.delta, truths, (SEED,), most=most)
    return float(np.median(np.where(found.stopped, found.times, np.inf)))


def main():
    """The table, by kind and by share."""
    rows, lengths, skipped = [], {}, 0
    for number in range(N_STUDIES):
        kind = KINDS[number % len(KINDS)]
        n, again, found = looks(kind, number // len(KINDS))
        lengths.setdefault(kind.__name__, []).append(n)
        skipped += again
        rows += [Look(kind.__name__, n, *look) for look in found]
    heads = "looks", "", "in the 80 % range", "fewer", "more", "median of the rest within 1.5", "knowing the truth"
    table = Table(*heads, "length within 1.5", "knowing the truth", title="Forecasts")
    groups = [(kind.__name__, [row for row in rows if row.kind == kind.__name__]) for kind in KINDS]
    groups += [(f"at {share:.0%}", [row for row in rows if row.share == share]) for share in SHARES]
    for name, group in [*groups, ("all", rows)]:
        held = [inside(look.left, look.made) for look in group]
        shares = [np.mean([value == side for value in held]) for side in (0, -1, 1)]
        for before in (lambda look: 0, lambda look: look.n - look.left):
            for median in (lambda look: look.made.median or np.inf, lambda look: look.oracle):
                near = [abs(np.log((before(k) + median(k)) / (before(k) + k.left))) <= np.log(1.5) for k in group]
                shares.append(np.mean(near))
        table.add_row(name, str(len(group)), *(f"{share:.0%}" for share in shares))
    console = Console(width=110)
    console.print(table)
    for name, sizes in lengths.items():
        console.print(f"{name}: {min(sizes):,} to {max(sizes):,} pulls, median {np.median(sizes):,.0f}")
    console.print(f"{skipped} studies of more than {LONGEST:,} pulls were drawn anew")


def inside(left, made):
    """0: within the range; -1: fewer pulls were left; 1: more."""
    if made.low is None or left < made.low:
        return -1
    return 0 if made.high is None or left <= made.high else 1
