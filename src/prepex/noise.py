"""Is the noise what was declared? Alarms with a stated rate of false ones, however often one looks.

Each alarm rests on an e-process: a density that predicts every outcome from those before it (of another spread, with
a mean that moves, with heavy tails, with an offset of who told it), over the largest likelihood of independent
Gaussian outcomes with a mean for each arm, of the declared variance or of any. The prediction over the truth is a
martingale of mean 1, whatever decides which arm is tried next, and the largest likelihood is above the truth's: so if
all is as declared, it ever reaches 1 / alpha with probability at most alpha (Ville). A union over kinds of alarms and
objectives makes it RATE in all.

Legend
    x      outcomes of one objective of one arm, in order; logarithms of a log-normal objective     (n,)
    gain   log of prediction over largest likelihood after 1, 2, ... outcomes                       (n,)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from prepex._checks import Floats, Ints
from prepex.family import EXACT, GAUSSIAN, STUDENT, Family, Gaussian
from prepex.labels import Labels
from prepex.numerals import number
from prepex.units import Units

# All false alarms of a study together, at any time.
RATE = 0.01
# Outcomes of an arm that predict only.
FIRST = 3
# True over declared variance, as the alternatives have it; how fast a mean is forgotten.
SCALES, MEMORIES = (1 / 16, 1 / 4, 2.0, 4.0, 16.0, 64.0), (0.3, 0.08)
# Student's t with so many degrees of freedom.
TAILS = 3.0
# In place of infinity.
HUGE = 1e6
KINDS = ("spread", "drift", "tails", "teller")


@dataclass(frozen=True)
class Spread:
    """The standard deviation of single outcomes of an objective: declared, if it was, and seen within arms."""

    objective: str
    declared: float | None
    seen: float


@dataclass(frozen=True)
class Alarm:
    """Something that the declared noise cannot well explain; `since`: the outcome at which it was first so."""

    kind: str
    objective: str
    since: int
    words: str


@dataclass(frozen=True)
class NoiseCheck:
    """What the outcomes say about the noise. `rate` bounds the probability of any false alarm, ever.

    checked   the objectives that alarms speak of: Gaussian and log-normal ones
    """

    spreads: tuple[Spread, ...]
    alarms: tuple[Alarm, ...]
    checked: tuple[str, ...]
    rate: float = RATE

    @property
    def words(self) -> str:
        """All alarms in sentences; empty if there is none."""
        return " ".join(alarm.words for alarm in self.alarms)


def check_noise(
    who: Ints, values: Floats, *, labels: Labels, family: Family, tellers: Sequence[str] | None = None
) -> NoiseCheck:
    """Of outcomes (n, L) of arms (n,), in the order in which they came; `tellers` (n,): who told each.

    >>> rng = np.random.default_rng(1)
    >>> labels = Labels.make((2, 1), ("a", "b"), ("gain",))
    >>> who, values = np.tile([0, 1], 40), rng.normal(0.0, 6.0, (80, 1))
    >>> check_noise(who, values, labels=labels, family=Gaussian(variance=36.0)).alarms
    ()
    >>> found = check_noise(who, values, labels=labels, family=Gaussian(variance=1.0))
    >>> found.alarms[0].kind, found.spreads[0].declared
    ('spread', 1.0)
    """
    K, L = len(labels.arms), len(labels.objectives)
    declared, codes, units = _declared(family, K, L)
    inner = units.inner(np.asarray(values, dtype=np.float64).reshape(-1, L))
    looked = [q for q in range(L) if codes[q] in (GAUSSIAN, STUDENT)]
    level = np.log(len(KINDS) * max(len(looked), 1) / RATE)
    said = [None if given is None else float(np.sqrt(np.mean(given))) for given in declared]
    seen = [_seen(who, inner[:, q], K) for q in range(L)]
    alarms = []
    for q in looked:
        found = _courses(who, inner[:, q], K, declared[q], tellers)
        for kind, course in found.items():
            over = np.flatnonzero(course >= level)
            if over.size:
                words = _words(kind, labels.objectives[q], said[q], seen[q])
                alarms.append(Alarm(kind, labels.objectives[q], int(over[0]) + 1, words))
    spreads = [Spread(name, said[q], seen[q]) for q, name in enumerate(labels.objectives) if codes[q] != EXACT]
    return NoiseCheck(tuple(spreads), tuple(alarms), tuple(labels.objectives[q] for q in looked))


def _declared(family: Family, K: int, L: int) -> tuple[list[Floats | None], list[int], Units]:
    """Of each objective, the declared variances of the arms (K,) or None; its law; and what logarithms are of."""
    laws = family.laws(K, L)
    if laws is None:
        assert isinstance(family, Gaussian)
        table = np.broadcast_to(np.diagonal(family.covariances(K, L), axis1=1, axis2=2), (K, L))
        return [table[:, q] for q in range(L)], [GAUSSIAN] * L, Units()
    known = [np.full(K, laws.scale[q]) if laws.codes[q] == GAUSSIAN and not laws.shared[q] else None for q in range(L)]
    return known, [int(code) for code in laws.codes], Units(laws.logs)


def _seen(who: Ints, x: Floats, K: int) -> float:
    """The standard deviation within arms; nan before an arm has two outcomes."""
    n = np.bincount(who, minlength=K)
    mean = np.bincount(who, weights=x, minlength=K) / np.maximum(n, 1)
    free = len(x) - int((n > 0).sum())
    return float(np.sqrt(((x - mean[who]) ** 2).sum() / free)) if free > 0 else float("nan")


def _courses(who: Ints, x: Floats, K: int, declared: Floats | None, tellers: Sequence[str] | None) -> dict[str, Floats]:
    """Of each kind of alarm, the log of its e-process after each outcome (n,)."""
    n = len(x)
    parts: dict[str, list[Floats]] = {"drift": [np.zeros(n) for _ in MEMORIES], "tails": [np.zeros(n)]}
    if declared is not None:
        parts["spread"] = [np.zeros(n) for _ in SCALES]
    offsets = None if tellers is None or len(set(tellers)) < 2 else _offsets(who, x, K, tellers)
    if offsets is not None:
        parts["teller"] = [np.zeros(n)]
    for k in range(K):
        at = np.flatnonzero(who == k)
        if len(at) <= FIRST:
            continue
        own = None if declared is None else float(declared[k])
        steps = _arm(x[at], own, None if offsets is None else offsets[at])
        for kind, rows in parts.items():
            for row, gain in zip(rows, steps[kind], strict=True):
                row[at[FIRST:]] += np.diff(gain, prepend=0.0)
    found = {}
    for kind, rows in parts.items():
        # An average of e-processes is one.
        together = np.cumsum(rows, axis=1)
        top = together.max(axis=0)
        found[kind] = top + np.log(np.mean(np.exp(together - top), axis=0))
    return {kind: found[kind] for kind in KINDS if kind in found}


def _arm(x: Floats, declared: float | None, offset: Floats | None) -> dict[str, list[Floats]]:
    """The gains of one arm, by kind and alternative, from outcome FIRST on."""
    from scipy.signal import lfilter

    x = x - x[0]
    n = np.arange(1, len(x) + 1)
    mean = np.cumsum(x) / n
    square = np.maximum(np.cumsum(x * x) - n * mean * mean, 0.0)
    before, ahead = slice(FIRST - 1, -1), slice(FIRST, None)
    # Until an arm has varied, its variance is a guess that can only lose.
    variance = np.maximum(square[before] / (n[before] - 1), 1e-12 * np.maximum(square[-1], 1e-300))
    best = _largest(x[ahead], declared)
    step = 1.0 + 1.0 / n[before]

    def predict(location: Floats, wider: Any) -> Floats:
        if declared is not None:
            return _normal(x[ahead], location, declared * wider) - best
        return _student(x[ahead], location, np.sqrt(variance * wider), n[before] - 1.0) - best

    found: dict[str, list[Floats]] = {"drift": []}
    if declared is not None:
        found["spread"] = [_normal(x[ahead], mean[before], c * declared * step) - best for c in SCALES]
    for weight in MEMORIES:
        local = lfilter([weight], [1.0, weight - 1.0], x, zi=[(1.0 - weight) * x[0]])[0]
        found["drift"].append(predict(local[before], 1.0 + weight / (2.0 - weight)))
    # Far outcomes move a mean of distances less than one of squares.
    far = np.abs(x - np.concatenate([x[:1], mean[:-1]]))
    scale = 0.9 * (np.cumsum(far) / np.maximum(n - 1, 1))[before]
    scale = np.maximum(scale, 1e-6 * np.sqrt(variance))
    found["tails"] = [_student(x[ahead], mean[before], scale, TAILS) - best]
    if offset is not None:
        found["teller"] = [predict(mean[before] + offset[ahead], step)]
    return found


def _largest(x: Floats, declared: float | None) -> Floats:
    """The largest log-likelihood of the first 1, 2, ... of these with one mean, and this variance or any."""
    n = np.arange(1, len(x) + 1)
    mean = np.cumsum(x) / n
    square = np.maximum(np.cumsum(x * x) - n * mean * mean, 0.0)
    if declared is not None:
        return np.asarray(-0.5 * n * np.log(2.0 * np.pi * declared) - 0.5 * square / declared)
    # Of equal outcomes any density is too small.
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(square > 0.0, -0.5 * n * (np.log(2.0 * np.pi * square / n) + 1.0), HUGE))


def _normal(x: Floats, mean: Floats, variance: Floats) -> Floats:
    return np.cumsum(-0.5 * np.log(2.0 * np.pi * variance) - 0.5 * (x - mean) ** 2 / variance)


def _student(x: Floats, mean: Floats, scale: Floats, free: Any) -> Floats:
    from scipy.special import gammaln

    z = (x - mean) / scale
    constant = gammaln(0.5 * (free + 1.0)) - gammaln(0.5 * free) - 0.5 * np.log(free * np.pi)
    return np.cumsum(constant - np.log(scale) - 0.5 * (free + 1.0) * np.log1p(z * z / free))


def _offsets(who: Ints, x: Floats, K: int, tellers: Sequence[str]) -> Floats:
    """How much higher the teller of each outcome has told so far than others of the same arm, drawn to 0 (n,)."""
    sums, counts = np.zeros(K), np.zeros(K)
    total: dict[Any, float] = {}
    times: dict[Any, int] = {}
    found = np.zeros(len(x))
    for t, (k, value, teller) in enumerate(zip(who.tolist(), x.tolist(), tellers, strict=True)):
        found[t] = total.get(teller, 0.0) / (times.get(teller, 0) + 2.0)
        if counts[k]:
            total[teller] = total.get(teller, 0.0) + value - sums[k] / counts[k]
            times[teller] = times.get(teller, 0) + 1
        sums[k] += value
        counts[k] += 1
    return found


def _words(kind: str, objective: str, declared: float | None, seen: float) -> str:
    if kind == "spread" and declared is not None:
        way = "larger" if seen > declared else "smaller"
        return (
            f"The spread of {objective} is {way} than declared: standard deviation {number(seen, 3)} seen, "
            f"{number(declared, 3)} declared. {_SO[way]}"
        )
    return {
        "drift": f"Outcomes of {objective} seem to drift over time: means of today may not be those of tomorrow.",
        "tails": f"Outcomes of {objective} have heavier tails than Gaussian ones: some are far off. Are there slips?",
        "teller": f"Outcomes of {objective} seem to depend on who told them.",
    }[kind] + " What is certified assumes that they do not."


_SO = {
    "larger": "What is certified assumes the declared one: it may be wrong more often than stated.",
    "smaller": "What is certified stays right; more trials are asked for than needed.",
}
