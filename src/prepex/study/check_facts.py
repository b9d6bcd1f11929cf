"""What the tests of a study look at, from its log or from a certificate alone, for check.py. Numpy only.

Legend
    whole, pilot, late   samples of all outcomes up to the answer, of the pilot, and of those after it, less the origin
                         LogNormal outcomes are their logarithms in all of these
    origin               subtracted from Gaussian outcomes before all else: tests look at differences, whose digits are
                         lost in the scores of numbers far from zero; 0 for those of other laws. The origin of the
                         study itself, and means of the pilot as it forms them: where arms are level in the pilot a
                         rounding decides who is ahead, and the prices with it
    peak                 largest outcome of each objective, in size: what the rounding of stated numbers is measured by
    reach                the same of outcomes less the origin, of each arm (K, L): what the rounding of tests is
                         measured by, so that one that is far away makes no others level
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prepex.study import check_laws, check_settings
from prepex.study.check_deal import Deal
from prepex.study.check_laws import Sample
from prepex.study.check_log import Block, pilot_pulls
from prepex.study.check_read import refuse

Floats = NDArray[np.float64]
Document = Mapping[str, Any]
# Scores nearer than TIED of the largest are level; sums of numbers without noise nearer than EXACT of their own.
TIED, EXACT = 1e-12, 1e-15
# A pilot goes on while the likelihood ratio that decides some arm is less.
UNDECIDED = 0.5


@dataclass
class Design:
    """The settings that the statistics need.

    W       rows for outcomes in the user's signs: facets, n_facets of them, then limits    (m, L)
    slack   what a difference may be on a facet without mattering; 0 of a limit             (m,)
    level   what a limit asks of its row at least; 0 of a facet                             (m,)
    logs    which objectives are compared by their logarithms                               (L,)
    sure    what was known without noise before the first outcome, by arm and objective     {(k, q): value}
    signs   -1 of what is minimised                                                         (L,)
    """

    arms: list[str]
    objectives: list[str]
    W: Floats
    covariance: Floats
    var: Floats
    rho: Floats
    pilot: int
    longest: int
    closed: bool
    delta: float
    laws: list[tuple[str, float]] | None
    slack: Floats
    level: Floats
    n_facets: int
    logs: NDArray[np.bool_]
    sure: dict[tuple[int, int], float]
    signs: Floats

    @classmethod
    def read(cls, settings: Document) -> "Design":
        """From settings that were read strictly."""
        labels, family, threshold = settings["labels"], settings["family"], settings["threshold"]
        K, L = len(labels["arms"]), len(labels["objectives"])
        signs = np.array([-1.0 if name in labels["minimise"] else 1.0 for name in labels["objectives"]])
        laws = check_laws.read_laws(family, L)
        covariance = np.array(family.get("covariance", np.eye(L)), dtype=float)
        if laws is None and "variance" in family:
            covariance = np.diag(np.broadcast_to(np.array(family["variance"], dtype=float), L))
        covariance = np.broadcast_to(covariance, (K, L, L))
        facets = np.array(settings["cone"]["facets"], dtype=float)
        W = facets * signs
        # A tolerance on a border of the cone may be a rounding outside.
        slack = np.maximum(facets @ np.array(settings.get("tolerance", np.zeros(L)), dtype=float), 0.0)
        logs = check_settings.logarithmic(family, L)
        level, n_facets = np.zeros(len(W)), len(W)
        if "limits" in settings:
            rows, least = check_settings.read_limits(settings["limits"], logs)
            W, level = np.vstack([W, rows]), np.append(level, least)
            slack = np.append(slack, np.zeros(len(rows)))
        var = np.einsum("fp,kpq,fq->kf", W, covariance, W)
        rho = np.array(threshold.get("grid", [1.0]), dtype=float)
        arms, objectives = labels["arms"], labels["objectives"]
        sure = {
            (arms.index(arm), objectives.index(objective)): value
            for objective, values in settings.get("known", {}).items()
            for arm, value in values.items()
        }
        # Documents of earlier versions do not say it: their rule was the plain one.
        pilot, closed, delta = pilot_pulls(dict(settings)), threshold.get("closed", False), settings["delta"]
        longest = 64 * K if closed and threshold.get("pilot", 0) is None else pilot
        given = arms, objectives, W, covariance, var, rho, pilot, longest, closed, delta
        return cls(*given, laws, slack, level, n_facets, logs, sure, signs)

    def origin(self, first: Floats) -> Floats:
        """Of the first outcomes of the arms (K, L): the lower middle one where an objective is Gaussian, of known
        variance or not; else 0."""
        signs = self.signs if self.laws is None else np.ones(len(self.signs))
        real = [self.laws is None or self.laws[q][0] in ("gaussian", *check_laws.UNKNOWN) for q in range(len(signs))]
        return np.where(real, signs * np.array([middle(column) for column in (signs * first).T]), 0.0)

    def inner(self, values: Floats) -> Floats:
        """As they are compared (n, L): logarithms of some, nan where there is none."""
        return np.where(self.logs, np.log(np.where(self.logs, values, 1.0)), values)

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Rows that nothing can move: all that they look at has no noise (m,)."""
        noisy = [q for q in range(len(self.objectives)) if q not in self.exact]
        return ~np.any(self.W[:, noisy] != 0.0, axis=1)

    def levels(self, origin: Floats) -> Floats:
        """Of outcomes less `origin`."""
        # Rounded once: far from zero it is a small difference of large numbers.
        below = [
            float(Fraction(h) - sum(Fraction(g) * Fraction(x) for g, x in zip(row, origin.tolist())))
            for row, h in zip(self.W.tolist(), self.level.tolist())
        ]
        return np.where(np.arange(len(self.W)) < self.n_facets, 0.0, below)

    @property
    def limited(self) -> bool:
        """Are there limits?"""
        return len(self.W) > self.n_facets

    @property
    def exact(self) -> list[int]:
        """The objectives without noise, by their places."""
        return [q for q, (law, _) in enumerate(self.laws or ()) if law == "exact"]

    @property
    def unknown(self) -> list[bool]:
        """Which objectives have an unknown variance?"""
        return [law in check_laws.UNKNOWN for law, _ in self.laws or ()]


@dataclass
class Facts:
    """Outcomes, as far as the tests look at them."""

    whole: Sample
    pilot: Sample | None
    late: Sample | None
    peak: Floats
    reach: Floats
    origin: Floats
    # What was computed from them, by the Pareto set: many certificates may be checked against one log.
    known: dict[bytes, Any] = field(default_factory=dict)

    def rounding(self, design: Design) -> Floats:
        """How far scores may be off (K, m). What has no noise is compared as it was told: only sums of it are rounded,
        each by its own size, however large others are."""
        size = np.abs(self.whole.mean) @ np.abs(design.W.T) + np.abs(design.level)
        alone = np.count_nonzero(design.W, axis=1) == 1
        common = self.reach @ np.abs(design.W.T) + np.abs(design.levels(self.origin))
        return np.where(design.certain, np.where(alone, 0.0, EXACT * size), TIED * common)

    def level_pilot(self, design: Design) -> bool:
        """Are arms level in the pilot, or on a limit, as far as can be seen from numbers that were rounded twice?"""
        if self.pilot is None:
            return False
        m, size = design.n_facets, np.abs(design.W) @ self.peak + np.abs(design.levels(self.origin))
        off = TIED * size * (self.whole.n / np.maximum(self.pilot.n, 1.0)).max()
        over = np.abs(self.pilot.score - design.levels(self.origin))[:, m:] <= off[m:]
        gaps = self.pilot.score[:, None, :m] - self.pilot.score[None, :, :m]
        level = (np.abs(gaps) <= off[:m]) | (np.abs(gaps + design.slack[:m]) <= off[:m])
        level[np.arange(len(level)), np.arange(len(level))] = False
        return bool(
            (np.any(level, axis=(0, 1)) & ~design.certain[:m]).any() or (over.any(axis=0) & ~design.certain[m:]).any()
        )

    @classmethod
    def observed(cls, blocks: Sequence[Block], design: Design) -> "Facts":
        """From the log."""
        arm = np.array([block[0] for block in blocks], dtype=np.int64)
        values = np.array([block[1] for block in blocks], dtype=float).reshape(len(blocks), len(design.objectives))
        values = design.inner(values)
        size = np.array([block[2] for block in blocks], dtype=float)
        _require_exact(arm, values, design)
        peak = np.abs(values).max(axis=0, initial=0.0)
        first = np.unique(arm, return_index=True)[1]
        origin = design.origin(values[first] if len(values) else peak[None])
        values = values - origin

        def sample(part: NDArray[np.int64]) -> Sample:
            return Sample.of(arm[part], values[part], size[part], len(design.arms), design.W)

        # The first outcome of every arm, then the others as they came.
        order = np.concatenate([np.sort(first), np.setdiff1d(np.arange(arm.size), first)]).astype(np.int64)
        over, early = first.size == len(design.arms), design.pilot

        def begin(n: int) -> Sample:
            """The first n of them, rounding for rounding."""
            found = sample(order[:n])
            found.mean = running_means(arm[order[:n]], values[order[:n]], len(design.arms))
            found.score = check_laws.scores(found.mean, design.W)
            return found

        # Up to the first summary; twice as long, and again, while some arm is not decided.
        most = min(design.longest, int(np.argmax(size > 1)) if np.any(size > 1) else design.longest)
        while over and early <= arm.size and early < most and _undecided(begin(early), design, origin):
            early = min(2 * early, most)
        over = over and bool(size.sum() >= early)
        pilot, late = (begin(early), sample(order[early:])) if over else (None, None)
        reach = np.zeros((len(design.arms), values.shape[1]))
        np.maximum.at(reach, arm, np.abs(values))
        return cls(sample(order), pilot, late, peak, reach, origin)

    @classmethod
    def stated(cls, arms: Sequence[Document], design: Design) -> "Facts":
        """From a certificate without its log."""
        K, (m, L) = len(arms), design.W.shape
        n = np.array([arm["n"] for arm in arms], dtype=float)
        mean = design.inner(np.array([[np.nan] * L if arm["mean"] is None else arm["mean"] for arm in arms]))
        tried = np.flatnonzero(n)
        _require_exact(tried, mean[tried], design)
        peak = np.nan_to_num(np.abs(mean)).max(axis=0)
        reach = np.tile(peak, (K, 1))
        origin = design.origin(np.nan_to_num(mean[:1]))
        score = check_laws.scores(mean - origin, design.W)
        whole = Sample(n, mean - origin, np.zeros((K, L)), score, np.zeros((K, m)))
        if "after_pilot" not in arms[0]:
            # Whether the pilot is over cannot be seen from the counts alone, but with one arm.
            over = len(arms) == 1 and n.sum() > design.pilot
            return cls(whole, None, whole if over else None, peak, reach, origin)
        if design.laws is not None:
            pilot, late = Sample.read(arms, "pilot"), Sample.read(arms, "after_pilot")
            _require_parts(n, mean, pilot, late, design, peak)
            for part in (pilot, late):
                _require_exact(np.append(tried, tried), np.vstack([mean[tried], part.mean[tried]]), design)
            return cls(whole, pilot.less(origin, design.W), late.less(origin, design.W), peak, reach, origin)
        late_n = np.array([arm["after_pilot"]["n"] for arm in arms], dtype=float)
        late_score = np.array([arm["after_pilot"]["scores"] for arm in arms]) - design.W @ origin
        early = n - late_n
        with np.errstate(divide="ignore", invalid="ignore"):
            left = (n[:, None] * score - late_n[:, None] * late_score) / early[:, None]
        nothing, flat = np.zeros((K, L)), np.zeros((K, m))
        parts = Sample(early, nothing, nothing, left, flat), Sample(late_n, nothing, nothing, late_score, flat)
        return cls(whole, *parts, peak, reach, origin)


def middle(column: Floats) -> float:
    """The lower middle value, or 0 where differences are so small that they are seen from 0 only: where the middle
    costs a thousand times more digits, the largest size of two neighbours in units of their difference."""
    column = np.sort(column)
    centre = float(column[(len(column) - 1) // 2])

    def digits(centre: float) -> float:
        size, gap = np.abs(column - centre), np.diff(column)
        return float(np.max((size[1:] + size[:-1])[gap > 0] / gap[gap > 0], initial=0.0))

    return centre if digits(centre) <= 1e3 * digits(0.0) and np.isfinite(digits(centre)) else 0.0


def running_means(arm: NDArray[np.int64], values: Floats, K: int) -> Floats:
    """Means (K, L) as a study forms them, outcome by outcome, rounding for rounding."""
    mean, n = np.zeros((K, values.shape[1])), [0] * K
    for k, value in zip(arm.tolist(), values):
        n[k] += 1
        mean[k] = value if n[k] == 1 else mean[k] + (value - mean[k]) / n[k]
    return mean


def _undecided(pilot: Sample, design: Design, origin: Floats) -> bool:
    """Is some arm of a pilot not decided at all?"""
    m = design.n_facets
    var = design.var if design.laws is None else check_laws.variances(design.laws, design.W, pilot)
    deal = Deal.of(pilot.score - design.levels(origin), pilot.n, var, design.slack[:m], design.closed)
    return bool(deal.decided.min() < UNDECIDED)


def _require_parts(n: Floats, mean: Floats, pilot: Sample, late: Sample, design: Design, peak: Floats) -> None:
    """Pilot and what came after make the whole; scores are those of the means."""
    sums = pilot.n[:, None] * pilot.mean + late.n[:, None] * late.mean
    if np.any(np.abs(sums / np.maximum(n, 1.0)[:, None] - mean) > 1e-7 * (peak + np.abs(sums).max(axis=0))):
        refuse("mean", "that of pilot and after_pilot together", "another")
    for part in (pilot, late):
        size = np.abs(part.mean) @ np.abs(design.W.T)
        if np.any(np.abs(part.mean @ design.W.T - part.score) > 1e-9 * size):
            refuse("scores", "those of the means", "others")


def _require_exact(arm: NDArray[np.int64], values: Floats, design: Design) -> None:
    """What has no noise is the same in every outcome of an arm, and what was known of it before."""
    sure = dict(design.sure)
    for q in design.exact:
        for k, value in zip(arm.tolist(), values[:, q].tolist()):
            if sure.setdefault((k, q), value) != value:
                where = f"{design.objectives[q]} of {design.arms[k]}"
                refuse(where, f"{sure[k, q]!r}, as it was: it has no noise", value)


def used_blocks(blocks: Sequence[Block], wanted: int, design: Design) -> tuple[list[Block], int]:
    """(those that an answer after `wanted` outcomes rests on, how many there are before the last): whole summaries
    only, all after the pilot."""
    if design.exact:
        # Also of those that came after the stop: no study takes two values of what has no noise.
        told = np.array([block[1] for block in blocks], dtype=float).reshape(len(blocks), len(design.objectives))
        _require_exact(np.array([block[0] for block in blocks], dtype=np.int64), design.inner(told), design)
    used, total, before, tried = list[Block](), 0, 0, set[int]()
    for arm, values, n in blocks:
        if total >= wanted:
            break
        if n > 1 and (total < design.pilot or len(tried) < len(design.arms)):
            refuse("summary", "after the pilot", f"one after {total} outcomes, before the pilot was over")
        used.append((arm, values, n))
        before, total = total, total + n
        tried.add(arm)
    if total < wanted:
        refuse("n_pulls", f"at most {total}, the outcomes of the log", wanted)
    if total > wanted:
        refuse("n_pulls", "outcomes that do not end inside a summary", wanted)
    return used, before
