"""Two options that are nearly tied, where no tolerance says that it does not matter: who, and what one would do."""

import math
from dataclasses import dataclass

import numpy as np

from prepex._checks import Floats
from prepex._kernels.margin import e_value
from prepex._kernels.mixture import IN_FRONT, OUT_OF_FRONT
from prepex.numerals import measured
from prepex.standing import Standing
from prepex.tolerance import as_given, in_words

# Outcomes of each before a small difference says something, and standard errors that are small.
ENOUGH, SMALL = 30, 2.0
# A tolerance is looked for up to so many standard errors, and to this share of itself.
MOST, FINE = 64.0, 0.01


@dataclass(frozen=True)
class Tie:
    """Two arms between which hardly anything decides.

    gap, error   how far `better` is ahead where it decides, and its standard error; percent if `share`
    where        the objective of it; None if the cone mixes some
    tolerance    one number an objective that would settle it with the outcomes so far; None: not found
    """

    better: str
    worse: str
    gap: float
    error: float
    where: str | None
    tolerance: str | None
    share: bool = False

    @property
    def words(self) -> str:
        """As a sentence."""
        where = f" in {self.where}" if self.where else ""
        unit = " %" if self.share else ""
        tied = f"{self.better} and {self.worse} are nearly tied: {measured(self.gap, self.error)}{unit} apart{where}."
        if self.tolerance is None:
            return f"{tied} It may take very many pulls, unless a tolerance says that so little does not matter."
        return f"{tied} A tolerance of {self.tolerance} would settle it."


def find_tie(standing: Standing) -> Tie | None:
    """The two arms of the binding test, if they are nearly tied after many outcomes and much is missing still."""
    inst, labels = standing.course.near.inst, standing.setting.labels
    test = standing.binding()
    if inst.lenient or test is None or test[0] == test[1]:
        return None
    better, worse, kind = test
    facets = slice(inst.n_facets)
    error = np.sqrt(inst.V[better] + inst.V[worse])[facets]
    ahead = (inst.S[better] - inst.S[worse])[facets]
    left = standing.at_this_rate
    if min(inst.N[better], inst.N[worse]) < ENOUGH or not np.isfinite(error).all() or not (error > 0.0).all():
        return None
    if left is not None and left < standing.n_pulls:
        return None
    sizes = ahead / error
    facet = int(np.argmax(sizes) if kind == IN_FRONT else np.argmin(sizes))
    if sizes[facet] > SMALL:
        return None
    entries = np.flatnonzero(inst.W[facet])
    where = labels.objectives[entries[0]] if len(entries) == 1 else None
    found = _tolerance(standing, (better, worse, kind), error)
    units = standing.setting.units
    said = None if found is None else in_words(as_given(found, units), labels.objectives)
    gap, spread = float(ahead[facet]), float(error[facet])
    share = len(entries) == 1 and int(entries[0]) in units.logs
    if share:
        gap, spread = 100.0 * math.expm1(gap), 100.0 * math.exp(gap) * spread
    return Tie(labels.arms[better], labels.arms[worse], gap, spread, where, said, share)


def _tolerance(standing: Standing, test: tuple[int, int, int], error: Floats) -> tuple[float, ...] | None:
    """The smallest, in standard errors, of one objective alone; else of all of them."""
    facets = standing.setting.cone.facets
    L = facets.shape[1]
    alone = [np.eye(L)[q] for q in range(L)]
    # One standard error on every facet.
    together = np.linalg.lstsq(facets, error, rcond=None)[0]
    for directions in (alone, [together]):
        best: tuple[float, Floats] | None = None
        for way in directions:
            slack = facets @ way
            if np.any(way < 0.0) or np.any(slack < 0.0):
                continue
            unit = way / np.max(slack / error)
            size = _smallest(standing, test, facets @ unit)
            if size is not None and (best is None or size < best[0]):
                best = size, unit
        if best is not None:
            sizes = [float(entry) for entry in best[0] * best[1]]
            return tuple(_rounded_up(size, q in standing.setting.units.logs) for q, size in enumerate(sizes))
    return None


def _smallest(standing: Standing, test: tuple[int, int, int], slack: Floats) -> float | None:
    """The smallest multiple of this slack with which the test holds."""
    high = 1.0
    while not _settled(standing, test, high * slack):
        high *= 2.0
        if high > MOST:
            return None
    low = 0.0
    while high - low > FINE * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _settled(standing, test, middle * slack) else (middle, high)
    return high


def _settled(standing: Standing, test: tuple[int, int, int], slack: Floats) -> bool:
    """Would the outcomes so far do, between these two?"""
    better, worse, kind = test
    needed, course = standing.needed, standing.course
    if standing.setting.certified:
        rows = np.append(slack, course.fresh.inst.slack[len(slack) :])
        fresh = course.fresh._replace(inst=course.fresh.inst._replace(slack=rows))
        paid = standing.paid()

        def size(i: int, j: int, tested: int) -> list[float]:
            pair, ends = (np.int64(i), np.int64(j)), (-np.inf, np.inf)
            return [e_value(fresh, *pair, np.int64(f), np.int64(tested), *ends) - paid for f in range(len(slack))]

    else:
        inst = course.near.inst

        def size(i: int, j: int, tested: int) -> list[float]:
            ahead = np.maximum((inst.S[i] - inst.S[j])[: len(slack)] + slack, 0.0)
            return list(0.5 * ahead * ahead / (inst.V[i] + inst.V[j])[: len(slack)])

    if kind == OUT_OF_FRONT:
        return min(size(better, worse, worse)) >= needed
    both = course.near.inst.mask[worse]
    return max(size(better, worse, better)) >= needed and (not both or max(size(worse, better, worse)) >= needed)


def _rounded_up(value: float, log: bool = False) -> float:
    """To two digits; a logarithm so that its share has two."""
    if value == 0.0:
        return 0.0
    if log:
        return math.log1p(_rounded_up(100.0 * math.expm1(value)) / 100.0)
    unit = 10.0 ** (np.floor(np.log10(value)) - 1.0)
    return float(np.ceil(value / unit) * unit)
