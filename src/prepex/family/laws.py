"""What kernels know of a family: a law for each objective, by its code; which outcomes and means it has."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from prepex import _checks
from prepex._checks import Floats
from prepex.errors import InputError

# Codes of _kernels/laws/law.py, which importing this module must not load.
GAUSSIAN, BERNOULLI, POISSON, EXPONENTIAL, STUDENT, EXACT = LAWS = 0, 1, 2, 3, 4, 5


@dataclass(frozen=True, eq=False)
class Laws:
    """A law for each objective: codes (L,), variances of the Gaussian ones (L,), and what the user calls them.

    `noise` (K, L): true or estimated variances of Gaussian objectives of unknown variance, None if not given.
    `shared` (L,): is the unknown variance of a Gaussian objective the same for all arms?
    `logs`: the objectives whose law is that of their logarithm.
    """

    codes: Any
    scale: Floats
    names: tuple[str, ...]
    noise: Floats | None = None
    shared: Any = False
    logs: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        unknown = [code for code in np.asarray(self.codes).tolist() if code not in LAWS]
        if unknown:
            raise InputError(f"law must be one of the codes {', '.join(map(str, LAWS))}, got {unknown[0]!r}")
        object.__setattr__(self, "shared", np.broadcast_to(np.asarray(self.shared, dtype=np.bool_), len(self.codes)))

    @property
    def unknown(self) -> bool:
        """Is a variance estimated?"""
        return STUDENT in self.codes or bool(self.shared.any())

    @property
    def kinds(self) -> list[int]:
        """Codes (L,) that tell which outcomes and means there are: where the law is that of a logarithm, positive ones.

        >>> from prepex import Exponential, LogNormal
        >>> LogNormal().laws(1, 1).kinds == Exponential().laws(1, 1).kinds
        True
        """
        return [EXPONENTIAL if q in self.logs else int(code) for q, code in enumerate(self.codes)]

    @property
    def deviations(self) -> Floats:
        """Standard deviations of one reward of the Gaussian objectives, (L,) or (K, L)."""
        return np.sqrt(self.scale if self.noise is None else self.noise)


# The largest count that a double holds exactly, as it does every smaller one.
LARGEST_COUNT = 2.0**53
SUPPORT = {BERNOULLI: "0 or 1", POISSON: "0, 1, 2, ...", EXPONENTIAL: "positive"}
DOMAIN = {BERNOULLI: "in [0, 1]", POISSON: "at least 0", EXPONENTIAL: "positive"}


def in_support(code: int, value: Any) -> Any:
    """Of one value, or of an array of them."""
    if code == BERNOULLI:
        return (value == 0.0) | (value == 1.0)
    if code == POISSON:
        return (value >= 0.0) & (value == np.floor(value)) & (value <= LARGEST_COUNT)
    return value >= _checks.SMALLEST if code == EXPONENTIAL else np.isfinite(value)


def in_domain(code: int, mean: float) -> bool:
    """Is it a mean that the law of this code can have?"""
    if code == BERNOULLI:
        return 0.0 <= mean <= 1.0
    if code == POISSON:
        return mean >= 0.0
    return code != EXPONENTIAL or mean > 0.0


def range_of(code: int) -> tuple[float, float]:
    """The least and the largest mean that the law of this code can have, or come near to."""
    low = 0.0 if code in (BERNOULLI, POISSON, EXPONENTIAL) else -np.inf
    return low, 1.0 if code == BERNOULLI else np.inf


def why_not(code: int, value: float) -> str:
    """Why a count is too large, or a positive number too small."""
    if code == POISSON and value > LARGEST_COUNT:
        return ", at most 2^53 (larger counts cannot be told apart)"
    return f", at least {_checks.SMALLEST:g}" if code == EXPONENTIAL and 0.0 < value < _checks.SMALLEST else ""


def draw_noise(laws: Laws, rng: np.random.Generator, rows: int) -> Floats:
    """(rows, L): standard normal, standard exponential or uniform numbers, one row a reward whatever their number."""
    from scipy.special import ndtri

    uniform = rng.random((rows, len(laws.codes)))
    for q, code in enumerate(laws.codes):
        if code in (GAUSSIAN, STUDENT):
            uniform[:, q] = ndtri(np.maximum(uniform[:, q], 2.0**-54))
        elif code == EXPONENTIAL:
            uniform[:, q] = -np.log1p(-np.maximum(uniform[:, q], 2.0**-54))
    return uniform
