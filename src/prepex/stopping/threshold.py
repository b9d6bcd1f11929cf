"""The thresholds.

Legend
    Z, N, t   evidence, counts, pulls        K, L, m   arms, objectives, facets
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from prepex import _checks
from prepex._checks import Floats
from prepex._kernels.mixture import default_grid
from prepex._kernels.play import CERTIFIED, HEURISTIC, KAUFMANN_KOOLEN, OWN, PYTHON
from prepex.errors import InputError, shown
from prepex.naming import described

UNKNOWN = "none known: a threshold given by the user"


@dataclass(frozen=True)
class Threshold:
    """What the evidence must reach.

    proven    is the error at most delta, by a theorem?
    theorem   which, or why not

    A class of your own says `level` and `growth`; nothing is proven about it unless it says so.

    >>> class Cautious(Heuristic):
    ...     def growth(self, counts, shape):
    ...         return 2.0 * super().growth(counts, shape)
    >>> Cautious().name, Cautious().proven, Cautious().compiled
    ('Cautious', False, False)
    """

    code: ClassVar[int] = PYTHON
    title: ClassVar[str] = "user"
    proven: ClassVar[bool] = False
    theorem: ClassVar[str] = UNKNOWN

    def __init_subclass__(cls) -> None:
        # What a class states is about itself: a subclass is another threshold.
        for name, own in (("title", cls.__name__), ("proven", False), ("theorem", UNKNOWN)):
            if name not in cls.__dict__:
                setattr(cls, name, own)

    @property
    def name(self) -> str:
        """As in tables: parameters that are not the default ones are part of it.

        >>> Certified().name, Certified(pilot=0).name
        ('certified', 'certified(pilot=0)')
        """
        return described(self.title, self)

    @property
    def compiled(self) -> bool:
        """Do the kernels know how it grows? If not it is watched from Python, which is slower."""
        return any(self.code == kind.code and type(self).growth is kind.growth for kind in THRESHOLDS.values())

    def level(self, delta: float, shape: tuple[int, int, int]) -> float:
        """The part of the threshold that does not grow with the counts; `shape` = (K, L, m)."""
        raise NotImplementedError

    def growth(self, counts: Floats, shape: tuple[int, int, int]) -> float:
        """The part that does."""
        raise NotImplementedError

    def at(self, counts: Floats, delta: float, shape: tuple[int, int, int]) -> float:
        """What must be reached at these counts."""
        return self.level(delta, shape) + self.growth(counts, shape)


@dataclass(frozen=True)
class Heuristic(Threshold):
    """log((1 + log t) / delta). No proof.

    >>> round(Heuristic().level(0.1, (20, 3, 3)) + Heuristic().growth(np.array([50.0, 50.0]), (20, 3, 3)), 3)
    4.026
    """

    code: ClassVar[int] = HEURISTIC
    title: ClassVar[str] = "heuristic"
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
    title: ClassVar[str] = "kaufmann_koolen"
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
    """Margin 0: averages of pairwise e-processes, around the pilot's answer. See the documentation for the proof.

    grid    the constants rho of the mixture, fixed in advance
    pilot   rounds of pulls (times the number of arms) that only choose: an answer to test around, shares and weights of
            delta; 0: equal shares, and every pull counts; None: as many rounds as arms, at most 8, and up to 64 while
            some arm is not decided at all (with `avoid_infeasible`: 3 rounds, as nothing is certified before it ends)
    closed  closed testing around the pilot's answer; if not, each arm has its share of delta, and a test looks at the
            largest of its evidence in place of the average: the rule of earlier versions

    >>> Certified().proven
    True
    """

    grid: tuple[float, ...] = tuple(float(rho) for rho in default_grid())
    pilot: int | None = None
    closed: bool = True

    code: ClassVar[int] = CERTIFIED
    title: ClassVar[str] = "certified"
    proven: ClassVar[bool] = True
    theorem: ClassVar[str] = "Ville's inequality for mixture e-processes, any sampling rule, any stopping time"

    def __post_init__(self) -> None:
        grid = _checks.positive("grid", _checks.real_array("grid", self.grid, ("n_constants", None)))
        object.__setattr__(self, "grid", tuple(grid.tolist()))
        if self.pilot is not None:
            _checks.whole("pilot", self.pilot, low=0)
        if not isinstance(self.closed, bool):
            raise InputError(f"closed must be True or False, got {shown(self.closed)}")

    def level(self, delta: float, shape: tuple[int, int, int]) -> float:
        """log(1 / delta); the shares are part of the margin."""
        return -math.log(delta)

    def growth(self, counts: Floats, shape: tuple[int, int, int]) -> float:
        """Nothing: the e-processes pay for their own growth."""
        return 0.0

    def pilot_pulls(self, n_arms: int) -> int:
        """How many pulls the pilot has at least. It can gain about log K, so few arms get a short one.

        >>> Certified().pilot_pulls(5), Certified().pilot_pulls(100), Certified(pilot=3).pilot_pulls(100)
        (25, 800, 300)
        """
        return n_arms * (min(n_arms, 8 if self.closed else 20) if self.pilot is None else self.pilot)

    def longest_pilot(self, n_arms: int) -> int:
        """How many it has at most: twice as many, and again, while some arm is not decided at all.

        >>> Certified().longest_pilot(5), Certified(pilot=3).longest_pilot(5), Certified(closed=False).longest_pilot(5)
        (320, 15, 25)
        """
        return n_arms * 64 if self.closed and self.pilot is None else self.pilot_pulls(n_arms)

    def with_short_pilot(self) -> "Certified":
        """Where it is urgent to certify something: 3 rounds, unless a length was given.

        >>> Certified().with_short_pilot().pilot, Certified(pilot=5).with_short_pilot().pilot
        (3, 5)
        """
        return replace(self, pilot=3) if self.closed and self.pilot is None else self


@dataclass(frozen=True)
class Own(Threshold):
    """The rule's own test: of PSIPS, APE and Auer.

    >>> Own().name
    'own'
    """

    code: ClassVar[int] = OWN
    title: ClassVar[str] = "own"
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
    """A function of yours: `function(counts, delta)` is what the evidence must reach. Nothing is proven about it.

    `name` is what tables call it, if not by the function's own name.

    >>> def linear(counts, delta):
    ...     return 0.01 * counts.sum()
    >>> UserThreshold(linear).name, UserThreshold(lambda counts, delta: 3.0, name="three").name
    ('user(linear)', 'user(three)')
    """

    function: Callable[[Floats, float], float]
    name: str = ""

    theorem: ClassVar[str] = "none known: a function given by the user"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InputError(f"name must be a text, got {self.name!r}")
        own = getattr(self.function, "__name__", "")
        called = self.name or (own if own.isidentifier() else "")
        if called != "user" and not called.startswith("user("):
            # Never mistaken for a threshold of prepex.
            object.__setattr__(self, "name", f"user({called})" if called else "user")

    def at(self, counts: Floats, delta: float, shape: tuple[int, int, int]) -> float:
        """What the function says, if it is a number."""
        try:
            return _checks.number("threshold(counts, delta)", self.function(counts, delta))
        except TypeError as error:
            raise InputError(f"threshold must be a function of (counts, delta), got {error}") from None


def mixture_cost(x: float) -> float:
    """G(x) = 2 h~_{3/2}((h^-1(1 + x) + log(pi^2 / 3)) / 2), h(u) = u - log u (Kaufmann & Koolen, 2021, eq. 13).

    The paper prints the case border of h~_z as h^-1(1 / log z); it is h(1 / log z), where the two cases meet.

    >>> round(mixture_cost(1.0), 3)
    9.105
    """
    # Next to 0, where the digits of x are lost in 1 + x, by its series in p.
    p = math.sqrt(2.0 * x)
    first = _inverse(1.0 + x) if x > 1e-6 else 1.0 + p * (1.0 + p * (1 / 3 + p * (1 / 36 - p / 270)))
    y = (first + math.log(math.pi**2 / 3.0)) / 2.0
    z = 1.5
    border = 1.0 / math.log(z)
    if y >= border - math.log(border):
        u = _inverse(y)
        return 2.0 * math.exp(1.0 / u) * u
    return 2.0 * z * (y - math.log(math.log(z)))


def _inverse(y: float) -> float:
    """The u >= 1 with u - log u = y: -u exp(-u) = -exp(-y)."""
    from scipy.special import lambertw

    return float(-lambertw(-math.exp(-y), -1).real) if y > 1.0 else 1.0


# Others join it where they are defined (stopping/__init__.py).
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
        return _checked(value)
    if isinstance(value, str) and value in THRESHOLDS:
        return THRESHOLDS[value]()
    if callable(value):
        return UserThreshold(value)
    raise InputError(f"threshold must be one of {', '.join(THRESHOLDS)}, or a function, got {shown(value)}")


def _checked(threshold: Threshold) -> Threshold:
    """One that can be watched as it says: by the kernels, or from Python."""
    kind = type(threshold)
    if isinstance(threshold, UserThreshold) or threshold.compiled:
        return threshold
    for base in (THRESHOLDS[name] for name in ("certified", "own", "posterior")):
        if issubclass(kind, base) or threshold.code == base.code:
            as_is = f"leave the code and the growth of {base.__name__} as they are"
            raise InputError(f"threshold must {as_is}, got {kind.__name__}")
    if kind.level is Threshold.level or kind.growth is Threshold.growth:
        raise InputError(f"threshold must say both its level and its growth, got {kind.__name__}")
    return threshold
