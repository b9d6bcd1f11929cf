"""A family for each objective, guessed from the data, with the reason; and a word where the data do not tell.

Families are compared by their largest log-likelihood with a mean (and a variance, where they have one) for each arm,
less half a log n for each parameter. A guess that leads by less than SURE nats is called unsure.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prepex._checks import Floats, Ints
from prepex.family import Bernoulli, Exact, Exponential, Family, Gaussian, LogNormal, Poisson
from prepex.numerals import number

# Nats: the next family would have to be e^3 = 20 times as likely to be taken instead.
SURE = 3.0
TITLES = {
    "unknown": "Gaussian of unknown variance",
    "shared": "Gaussian of unknown variance, the same for all options",
    "lognormal": "log-normal",
    "poisson": "Poisson",
    "bernoulli": "Bernoulli",
}
# Trials of an arm that say something about its spread.
FEW = 3


@dataclass(frozen=True)
class Guess:
    """A family, why, and whether the data are clear about it."""

    family: Family
    reason: str
    sure: bool = True

    @property
    def words(self) -> str:
        """For a line of text."""
        unsure = "" if self.sure else " (unsure)"
        return f"{TITLES.get(name_of(self.family), name_of(self.family))}: {self.reason}{unsure}"


def name_of(family: Family) -> str:
    """As the command line calls it.

    >>> name_of(Gaussian(variance="unknown")), name_of(LogNormal()), name_of(Gaussian(variance=2.0))
    ('unknown', 'lognormal', 'gaussian(2)')
    """
    if isinstance(family, Gaussian):
        if family.unknown:
            return "shared" if family.shared else "unknown"
        return f"gaussian({float(np.asarray(family.variance)):g})" if family.single else "gaussian"
    return type(family).__name__.lower() + ("(shared)" if getattr(family, "shared", False) else "")


def guess_families(who: Ints, values: Floats, n_arms: int) -> list[Guess]:
    """One for each column of values (n, L); `who` (n,) are the arms of the rows.

    >>> who = np.repeat([0, 1], 6)
    >>> cured, price = np.tile([0.0, 1.0, 1.0], 4), np.repeat([3.5, 2.0], 6)
    >>> [guess.words for guess in guess_families(who, np.column_stack([cured, price]), 2)]
    ['Bernoulli: only 0 and 1 occur', 'exact: an option has the same value whenever it is tried again']
    """
    order = np.argsort(who, kind="stable")
    counts = np.bincount(who, minlength=n_arms)
    ends = np.cumsum(counts)
    return [_guess(np.split(column[order], ends[:-1])) for column in values.T]


def _guess(arms: Sequence[Floats]) -> Guess:
    """Of one objective, the values of each arm."""
    arms = [x for x in arms if x.size]
    together = np.concatenate(arms)
    again = [x for x in arms if x.size > 1]
    zero_one = bool(np.all((together == 0.0) | (together == 1.0)))
    if again and all(np.ptp(x) == 0.0 for x in again):
        most = max(x.size for x in again)
        if zero_one:
            # Of a fair coin, all arms of this size would hardly be constant.
            if most < 8 or together.size < 20:
                return Guess(Bernoulli(), "only 0 and 1 occur, though always the same for an option", sure=False)
            return Guess(Exact(), "an option has the same value, 0 or 1, whenever it is tried again", sure=False)
        sure = sum(x.size - 1 for x in again) >= 3
        return Guess(Exact(), "an option has the same value whenever it is tried again", sure)
    if zero_one:
        return Guess(Bernoulli(), "only 0 and 1 occur")
    useful = [x for x in arms if x.size >= FEW and np.ptp(x) > 0.0]
    whole = bool(np.all(together == np.floor(together)) and together.min() >= 0.0)
    if not useful:
        words = f"fewer than {FEW} trials an option say nothing about the distribution"
        if whole:
            words += "; whole numbers may be counts: poisson"
        return Guess(Gaussian(variance="unknown"), words, sure=False)
    return _best(useful, whole)


def _best(arms: Sequence[Floats], whole: bool) -> Guess:
    n = sum(x.size for x in arms)
    K = len(arms)
    scores = {"unknown": sum(map(_gaussian, arms)) - K * np.log(n)}
    positive = all(x.min() > 0.0 for x in arms)
    if whole:
        scores["poisson"] = sum(map(_poisson, arms)) - 0.5 * K * np.log(n)
    if positive:
        scores["lognormal"] = sum(_gaussian(np.log(x)) - np.log(x).sum() for x in arms) - K * np.log(n)
        if not whole:
            scores["exponential"] = sum(-x.size * (np.log(x.mean()) + 1.0) for x in arms) - 0.5 * K * np.log(n)
    best = max(scores, key=lambda name: scores[name])
    lead = min((scores[best] - score for name, score in scores.items() if name != best), default=np.inf)
    sure = bool(lead >= SURE)
    ratio = sum(x.var(ddof=1) * (x.size - 1) for x in arms) / max(sum(x.mean() * (x.size - 1) for x in arms), 1e-300)
    reasons = {
        "poisson": f"whole numbers with a variance of {number(ratio, 2)} times the mean",
        "lognormal": "positive and skewed",
        "exponential": "positive, with a spread as large as the mean and many small values",
        "unknown": "numbers that spread about evenly to both sides",
    }
    if best == "unknown" and whole:
        reasons[best] = f"whole numbers, but the variance is {number(ratio, 2)} times the mean, unlike that of counts"
    words = reasons[best]
    if not sure:
        rival = max((name for name in scores if name != best), key=lambda name: scores[name])
        words += f"; {rival} would fit nearly as well"
        if best in ("lognormal", "exponential") and scores["unknown"] > scores[best] - SURE:
            best, words = "unknown", f"the data do not tell it from {best}"
    families: dict[str, Family] = {
        "unknown": Gaussian(variance="unknown"),
        "poisson": Poisson(),
        "lognormal": LogNormal(),
        "exponential": Exponential(),
    }
    return Guess(families[best], words, sure)


def _gaussian(x: Floats) -> float:
    """The largest log-likelihood of a Gaussian sample."""
    return float(-0.5 * x.size * (np.log(2.0 * np.pi * x.var()) + 1.0))


def _poisson(x: Floats) -> float:
    from scipy.special import gammaln

    mean = x.mean()
    return float((x * np.log(max(mean, 1e-300))).sum() - x.size * mean - gammaln(x + 1.0).sum())
