"""The error of `posterior` over truths drawn from its prior: `python -m benchmarks prior [n_runs]`, 10,000 in all.

A run that has not stopped after MOST pulls has given no answer: truths with near-ties take long, and are not wrong.
"""

import sys

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import beta

from prepex import Bernoulli, Cone, Exponential, Gaussian, LogNormal, Poisson, Prior, Problem, simulate
from prepex.sampling import InformationDirected
from prepex.stopping import Posterior

MOST, SEED = 3000, 77


def normal(K, prior):
    spread = np.diag(np.square(prior.spread)) if prior.covariance is None else np.array(prior.covariance)
    return lambda rng: (rng.multivariate_normal(prior.mean, spread, size=K), None)


def unknown(K, prior, logs=False):
    """Variances, then means given them: a variance for each objective of each arm."""

    def draw(rng):
        noise, spread = np.array(prior.noise), np.array(prior.spread)
        variance = prior.weight * noise**2 / rng.chisquare(prior.weight, size=(K, len(noise)))
        mean = np.log(prior.mean) if logs else np.array(prior.mean)
        means = mean + np.sqrt(variance) * (spread / noise) * rng.standard_normal(variance.shape)
        return np.exp(means) if logs else means, variance

    return draw


def settings():
    """(name, family of the true noise, prior or None, draw of a truth, cone, delta, question)."""
    two = Prior(mean=[0.0, 1.0], spread=[1.0, 0.7])
    three = Prior(mean=[0.0] * 3, covariance=[[1.0, 0.4, 0.0], [0.4, 1.0, -0.3], [0.0, -0.3, 0.8]])
    square = Cone.from_facets([[1, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1]])
    noise = 0.4 * np.eye(3) + 0.2
    hidden = Prior(mean=[0.0, 0.0], spread=[1.5, 1.5], noise=[1.0, 1.0], weight=6.0)
    times = Prior(mean=[2.0, 3.0], spread=[0.6, 0.6], noise=[0.4, 0.4], weight=6.0)
    chances, counts = Prior(mean=[0.5, 0.3], spread=[0.2, 0.15]), Prior(mean=[4.0, 2.0], spread=[2.0, 1.0])
    waits = Prior(mean=[2.0, 3.0], spread=[1.0, 1.5])
    known = Gaussian(variance=0.5)

    def betas(rng, K=4):
        size = np.array([m * (1 - m) / s**2 - 1 for m, s in zip(chances.mean, chances.spread, strict=True)])
        return rng.beta(np.array(chances.mean) * size, (1 - np.array(chances.mean)) * size, size=(K, 2)), None

    def gammas(rng, K=4):
        m, s = np.array(counts.mean), np.array(counts.spread)
        return rng.gamma((m / s) ** 2, s**2 / m, size=(K, 2)), None

    def inverse_gammas(rng, K=4):
        m, s = np.array(waits.mean), np.array(waits.spread)
        a = 2 + (m / s) ** 2
        return m * (a - 1) / rng.gamma(a, 1.0, size=(K, 2)), None

    return [
        ("Gaussian, K 3, L 2", known, two, normal(3, two), Cone.orthant(2), 0.1, {}),
        ("Gaussian, K 8, L 2, 120 degrees", known, two, normal(8, two), Cone.angle(120), 0.1, {}),
        ("Gaussian, K 5, L 3, matrices", Gaussian(covariance=noise), three, normal(5, three), Cone.orthant(3), 0.2, {}),
        ("Gaussian, K 5, L 3, 4 facets", Gaussian(variance=0.5), three, normal(5, three), square, 0.1, {}),
        ("Gaussian, tolerance 0.3", known, two, normal(5, two), Cone.orthant(2), 0.1, {"tolerance": 0.3}),
        ("Gaussian, a limit", known, two, normal(5, two), Cone.orthant(2), 0.1, {"at_least": {1: 0.8}}),
        ("Bernoulli, uniform prior", Bernoulli(), None, lambda rng: (rng.uniform(size=(4, 2)), None),
         Cone.orthant(2), 0.1, {}),
        ("Bernoulli, its own prior", Bernoulli(), chances, betas, Cone.orthant(2), 0.2, {}),
        ("Poisson", Poisson(), counts, gammas, Cone.orthant(2), 0.1, {}),
        ("Exponential, 60 degrees", Exponential(), waits, inverse_gammas, Cone.angle(60), 0.1, {}),
        ("unknown variances", Gaussian(variance="unknown"), hidden, unknown(4, hidden), Cone.orthant(2), 0.1, {}),
        ("LogNormal, K 3", LogNormal(), times, unknown(3, times, logs=True), Cone.orthant(2), 0.1, {}),
    ]  # fmt: skip


def errors(family, prior, draw, cone, delta, question, n_runs, seed):
    """(wrong answers, runs that stopped, mean pulls)."""
    wrong = stopped = pulls = 0
    for run in range(n_runs):
        means, variances = draw(np.random.default_rng(np.random.SeedSequence((seed, run))))
        true = family
        if variances is not None:
            true = (
                LogNormal(noise=variances)
                if isinstance(family, LogNormal)
                else Gaussian(variance="unknown", noise=variances)
            )
        found = simulate(
            Problem(means, family=true, cone=cone), sampling=InformationDirected(),
            threshold=Posterior(prior=prior), deltas=delta, n_runs=1, first_run=run, seed=seed, max_pulls=MOST,
            **question,
        )  # fmt: skip
        (row,) = found.rows()
        wrong += bool(row["stopped"] and not row["correct"])
        stopped += bool(row["stopped"])
        pulls += row["stopping_time"] if row["stopped"] else MOST
    return wrong, stopped, pulls / n_runs


def main(n_runs=None):
    given = n_runs or next((int(word) for word in sys.argv[2:] if word.isdigit()), 840)
    table = Table(
        "prior", "delta", "runs", "stopped", "mean pulls", "wrong", "share", "99 % interval", "at most delta?",
        box=None, header_style="bold",
        title=f"posterior: truths drawn from the prior, at most {MOST:,} pulls, seed {SEED}",
    )  # fmt: skip
    fine, total, all_wrong = True, 0, 0
    for at, (name, family, prior, draw, cone, delta, question) in enumerate(settings()):
        wrong, stopped, pulls = errors(family, prior, draw, cone, delta, question, given, SEED + at)
        low = beta.ppf(0.005, wrong, given - wrong + 1) if wrong else 0.0
        high = beta.ppf(0.995, wrong + 1, given - wrong)
        good = low <= delta
        fine, total, all_wrong = fine and good, total + given, all_wrong + wrong
        table.add_row(
            name, f"{delta:g}", f"{given:,}", f"{stopped:,}", f"{pulls:,.0f}", str(wrong), f"{wrong / given:.4f}",
            f"{low:.4f} to {high:.4f}", "yes" if good else "NO",
        )  # fmt: skip
    console = Console(width=130)
    console.print(table)
    console.print(f"{total:,} runs, {all_wrong} wrong; {'every' if fine else 'NOT every'} share is within its delta")


if __name__ == "__main__":
    main()
