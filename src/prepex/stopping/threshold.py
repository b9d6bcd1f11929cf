"""The thresholds.

Legend
    Z, N, t   evidence, counts, pulls        K, L, m   arms, objectives, facets
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from prepex import _checks
from prepex._checks import Floats
from prepex._kernels.margin import default_grid
from prepex._kernels.play import CERTIFIED, HEURISTIC, KAUFMANN_KOOLEN, OWN


@dataclass(frozen=True)
class Threshold:
    """What the evidence must reach.

    proven    is the error at most delta, by a theorem?
    theorem   which, or why not
    """

    code: ClassVar[int]
    name: ClassVar[str]
    proven: ClassVar[bool]
    theorem: ClassVar[str]

    def level(self, delta: float, shape: tuple[int, int, int]) -> float:
        """The part of the threshold that does not grow with the counts; `shape` = (K, L, m)."""
        raise NotImplementedError

    def growth(self, counts: Floats, shape: tuple[int, int, int]) -> float:
        """The part that does."""
        raise NotImplementedError


@dataclass(frozen=True)
class Heuristic(Threshold):
    """log((1 + log t) / delta). No proof.

    >>> round(Heuristic().level(0.1, (20, 3, 3)) + Heuristic().growth(np.array([50.0, 50.0]), (20, 3, 3)), 3)
    4.026
    """

    code: ClassVar[int] = HEURISTIC
    name: ClassVar[str] = "heuristic"
    proven: ClassVar[bool] = False
    theorem: ClassVar[str] = "none: the convention of the literature's experiments"

    def level(self, delta: float, shape: tuple[int, int, int]) -> float:
        """log(1 / delta)."""
        return -math.log(delta)

    def growth(self, counts: Floats, shape: tuple[int, int, int]) -> float:
        """log(1 + log t)."""
        return math.log1p(math.log(float(np.sum(counts))))


@dataclass(frozen=True)
class KaufmannKoolen(Threshold):
    """sum over K L scalars of 3 log(1 + log N_k) + K L G(log(1 / delta) / (K L)).

    >>> KaufmannKoolen().level(0.1, (20, 3, 3)) > 100
    True
    """

    code: ClassVar[int] = KAUFMANN_KOOLEN
    name: ClassVar[str] = "kaufmann_koolen"
    proven: ClassVar[bool] = True
    theorem: ClassVar[str] = "Kaufmann & Koolen (2021), Theorem 7, for the K L scalars of independent objectives"

    def level(self, delta: float, shape: tuple[int, int, int]) -> float:
        """K L G(log(1 / delta) / (K L))."""
        scalars = shape[0] * shape[1]
        return scalars * mixture_cost(-math.log(delta) / scalars)

    def growth(self, counts: Floats, shape: tuple[int, int, int]) -> float:
        """3 L sum_k log(1 + log N_k)."""
        return 3.0 * shape[1] * float(np.sum(np.log1p(np.log(counts))))


@dataclass(frozen=True)
class Certified(Threshold):
    """Margin 0: pairwise e-processes, each arm with its share of delta. See the documentation for the proof.

    grid    the constants rho of the mixture, fixed in advance
    pilot   rounds of pulls (times the number of arms) that only set the shares of delta: more for the arms that are
            hard to decide; 0: equal shares, and every pull counts; None: as many rounds as arms, at most 20

    >>> Certified().proven
    True
    """

    grid: tuple[float, ...] = tuple(float(rho) for rho in default_grid())
    pilot: int | None = None

    code: ClassVar[int] = CERTIFIED
    name: ClassVar[str] = "certified"
    proven: ClassVar[bool] = True
    theorem: ClassVar[str] = "Ville's inequality for mixture e-processes, any sampling rule, any stopping time"

    def __post_init__(self) -> None:
        _checks.positive("grid", _checks.real_array("grid", self.grid, ("n_constants", None)))
        if self.pilot is not None:
            _checks.whole("pilot", self.pilot, low=0)

    def level(self, delta: float, shape: tuple[int, int, int]) -> float:
        """log(1 / delta); the shares are part of the margin."""
        return -math.log(delta)

    def growth(self, counts: Floats, shape: tuple[int, int, int]) -> float:
        """Nothing: the e-processes pay for their own growth."""
        return 0.0

    def pilot_pulls(self, n_arms: int) -> int:
        """How many pulls the pilot has. It can gain about log K, so few arms get a short one.

        >>> Certified().pilot_pulls(5), Certified().pilot_pulls(100), Certified(pilot=3).pilot_pulls(100)
        (25, 2000, 300)
        """
        return n_arms * (min(n_arms, 20) if self.pilot is None else self.pilot)


@dataclass(frozen=True)
class Own(Threshold):
    """The rule's own test: of PSIPS, APE and Auer.

    >>> Own().name
    'own'
    """

    code: ClassVar[int] = OWN
    name: ClassVar[str] = "own"
    proven: ClassVar[bool] = False
    theorem: ClassVar[str] = "the rule's own, if it has one"

    def level(self, delta: float, shape: tuple[int, int, int]) -> float:
        """log(1 / delta)."""
        return -math.log(delta)

    def growth(self, counts: Floats, shape: tuple[int, int, int]) -> float:
        """Nothing."""
        return 0.0


@dataclass(frozen=True)
class UserThreshold(Threshold):
    """A function of yours: `function(counts, delta)` is what the evidence must reach. Nothing is proven about it."""

    function: Callable[[Floats, float], float]

    code: ClassVar[int] = -1
    name: ClassVar[str] = "user"
    proven: ClassVar[bool] = False
    theorem: ClassVar[str] = "none known: a function given by the user"

    def checked(self, counts: Floats, delta: float) -> float:
        """What the function says, if it is a number."""
        try:
            return _checks.number("threshold(counts, delta)", self.function(counts, delta))
        except TypeError as error:
            raise ValueError(f"threshold must be a function of (counts, delta), got {error}") from None


def mixture_cost(x: float) -> float:
    """G(x) = 2 h~_{3/2}((h^-1(1 + x) + log(pi^2 / 3)) / 2), h(u) = u - log u (Kaufmann & Koolen, 2021, eq. 13).

    The paper prints the case border of h~_z as h^-1(1 / log z); it is h(1 / log z), where the two cases meet.

    >>> round(mixture_cost(1.0), 3)
    9.105
    """
    y = (_inverse(1.0 + x) + math.log(math.pi**2 / 3.0)) / 2.0
    z = 1.5
    border = 1.0 / math.log(z)
    if y >= border - math.log(border):
        u = _inverse(y)
        return 2.0 * math.exp(1.0 / u) * u
    return 2.0 * z * (y - math.log(math.log(z)))


def _inverse(y: float) -> float:
    """The u >= 1 with u - log u = y, by Newton from above: the function is convex."""
    u = y + math.log(y) + 1.0 if y > 1.0 else 1.0
    for _ in range(100):
        if u <= 1.0:
            return 1.0
        step = (u - math.log(u) - y) / (1.0 - 1.0 / u)
        u -= step
        if abs(step) <= 1e-15 * u:
            break
    return u


THRESHOLDS: dict[str, type[Threshold]] = {
    "certified": Certified,
    "heuristic": Heuristic,
    "kaufmann_koolen": KaufmannKoolen,
    "own": Own,
}


def as_threshold(value: Any) -> Threshold:
    """A threshold from its name, itself, or a function.

    >>> as_threshold("heuristic")
    Heuristic()
    """
    if isinstance(value, Threshold):
        return value
    if isinstance(value, str) and value in THRESHOLDS:
        return THRESHOLDS[value]()
    if callable(value):
        return UserThreshold(value)
    raise ValueError(f"threshold must be one of {', '.join(THRESHOLDS)}, or a function, got {value!r}")
