"""Trials from their means and spreads.

Given the mean and the spread of n Gaussian outcomes, the outcomes themselves are a uniform draw from a sphere,
whatever the true mean and variance; given the sum of Poisson or yes-or-no outcomes, they are a draw from an urn. So
trials that are drawn anew, given what the table says, are distributed as the true ones were: what is certified from
them is certified.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from prepex._checks import Floats
from prepex.analysis.roles import Trials
from prepex.errors import InputError
from prepex.family import Bernoulli, Exact, Family, Gaussian, Poisson

# Numbers in memory.
MOST = 20_000_000
REDRAWN = (
    "Rows are means: their trials were drawn anew (seeded), given means and spreads, which is as good as having them, "
    "but for correlations between the objectives, of which the table says nothing."
)


def drawn_anew(trials: Trials, families: Sequence[Family], seed: int) -> Trials:
    """The same with a row for each trial: their means and spreads are those of the table.

    >>> table = Trials(("a",), ("x",), np.array([0]), np.array([[5.0]]), np.array([4]), np.array([[2.0]]), ())
    >>> x = drawn_anew(table, [Gaussian(variance="unknown")], 0).values[:, 0]
    >>> len(x), round(float(x.mean()), 9), round(float(x.std(ddof=1)), 9)
    (4, 5.0, 2.0)
    """
    assert trials.sizes is not None and trials.spreads is not None
    if trials.sizes.sum() * len(families) > MOST:
        raise InputError(f"trials must be at most {MOST // len(families):,} in all, got {trials.sizes.sum():,}")
    rng = np.random.default_rng(np.random.SeedSequence([seed, 15]))
    parts = []
    for row, n in enumerate(trials.sizes.tolist()):
        columns = [
            _draw(family, trials.objectives[q], n, trials.values[row, q], trials.spreads[row, q], rng)
            for q, family in enumerate(families)
        ]
        parts.append(np.column_stack(columns))
    who = np.repeat(trials.who, trials.sizes)
    return replace(trials, who=who, values=np.vstack(parts), sizes=None, spreads=None)


def _draw(family: Family, name: str, n: int, mean: float, spread: float, rng: np.random.Generator) -> Floats:
    if isinstance(family, Exact) or (isinstance(family, Gaussian) and not family.unknown):
        # With a known variance only the mean counts.
        return np.full(n, mean)
    if isinstance(family, Gaussian):
        if n == 1:
            return np.array([mean])
        if np.isnan(spread):
            raise InputError(
                f"spreads of {name!r} must be given beside its means, as a column '{name}_sd' (or _se, _var), for a "
                "Gaussian of unknown variance, got none"
            )
        if not spread > 0.0:
            raise InputError(f"spreads of {name!r} must be positive, got {spread:g} beside a mean of {n}")
        noise = rng.standard_normal(n)
        noise -= noise.mean()
        found = mean + spread * np.sqrt(n - 1) * noise / np.linalg.norm(noise)
        return np.asarray(found + (mean - found.mean()))
    if isinstance(family, Bernoulli | Poisson):
        total = round(mean * n)
        if mean < 0.0 or abs(mean * n - total) > 1e-6 * n + 1e-9 or (isinstance(family, Bernoulli) and total > n):
            raise InputError(f"means of {name!r} must be those of {n} whole numbers for {family!r}, got {mean:g}")
        if isinstance(family, Poisson):
            return rng.multinomial(total, np.full(n, 1.0 / n)).astype(np.float64)
        return rng.permutation(np.arange(n) < total).astype(np.float64)
    raise InputError(
        f"family of {name!r} must be Gaussian, bernoulli, poisson or exact where rows are means, got {family!r}"
    )
