"""Families of reward distributions.

Gaussian: X ~ Normal(mean, covariance), d(mu, x) = (mu - x)' covariance^-1 (mu - x) / 2.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from prepex import _checks
from prepex._checks import Floats


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Gaussian rewards of known covariance: one of

    - `variance`: a scalar, or one per objective (independent objectives)
    - `covariance`: (L, L) shared by the arms, or (K, L, L) with one per arm

    >>> Gaussian(variance=0.5).covariances(n_arms=3, n_objectives=2)
    array([[[0.5, 0. ],
            [0. , 0.5]]])
    >>> Gaussian(covariance=[[1.0, 0.3], [0.3, 2.0]])
    Gaussian(covariance (2, 2))
    """

    variance: ArrayLike | None = None
    covariance: ArrayLike | None = None

    def __post_init__(self) -> None:
        if (self.variance is None) == (self.covariance is None):
            raise ValueError("Gaussian needs exactly one of variance= and covariance=, got both or neither")
        if self.variance is not None:
            object.__setattr__(self, "variance", _checked_variance(self.variance))
        else:
            object.__setattr__(self, "covariance", _checked_covariance(self.covariance))

    def __repr__(self) -> str:
        if self.covariance is not None:
            return f"Gaussian(covariance {np.shape(self.covariance)})"
        return f"Gaussian(variance={np.asarray(self.variance).tolist()})"

    def covariances(self, n_arms: int, n_objectives: int) -> Floats:
        """(1, L, L) if the arms share a covariance, else (K, L, L).

        >>> Gaussian(variance=[1.0, 4.0]).covariances(2, 2).shape
        (1, 2, 2)
        """
        if self.covariance is None:
            variance: Floats = np.asarray(self.variance, dtype=np.float64)
            if variance.ndim == 1 and variance.size != n_objectives:
                raise ValueError(f"variance must have shape ({n_objectives} = n_objectives,), got {variance.shape}")
            return np.diag(np.broadcast_to(variance, n_objectives)).astype(np.float64)[None]
        covariance = np.asarray(self.covariance)
        expected = (n_arms, n_objectives, n_objectives)[3 - covariance.ndim :]
        if covariance.shape != expected:
            words = "(n_arms, n_objectives, n_objectives)" if covariance.ndim == 3 else "(n_objectives, n_objectives)"
            raise ValueError(f"covariance must have shape {expected} = {words}, got {covariance.shape}")
        return covariance.reshape(-1, n_objectives, n_objectives)

    def divergence(self, mean: ArrayLike, other: ArrayLike, *, arm: int = 0) -> float:
        """d(mean, other): the information per pull of `arm` against mean `other` when the truth is `mean`.

        >>> Gaussian(variance=2.0).divergence([0.0, 0.0], [2.0, 0.0])
        1.0
        """
        mean = _checks.real_array("mean", mean, ("n_objectives", None))
        other = _checks.real_array("other", other, ("n_objectives", mean.size))
        shape = np.shape(np.asarray(self.covariance)) if self.covariance is not None else ()
        stack = self.covariances(shape[0] if len(shape) == 3 else 1, mean.size)
        covariance = stack[arm if len(stack) > 1 else 0]
        return float(0.5 * (mean - other) @ np.linalg.solve(covariance, mean - other))


def _checked_variance(variance: ArrayLike) -> Floats | float:
    if np.ndim(variance) == 0:
        return _checks.number("variance", variance, low=0.0)
    return _checks.positive("variance", _checks.real_array("variance", variance, ("n_objectives", None)))


def _checked_covariance(covariance: ArrayLike | None) -> Floats:
    shape = np.shape(np.asarray(covariance))
    size = shape[-1] if shape else None
    square = (("n_objectives", size), ("n_objectives", size))
    layout = (("n_arms", None), *square) if len(shape) == 3 else square
    return _checks.covariance("covariance", _checks.real_array("covariance", covariance, *layout))
