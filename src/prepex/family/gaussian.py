"""Gaussian outcomes, and those whose logarithm is Gaussian."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from prepex import _checks, _named
from prepex._checks import Floats
from prepex._given import are_positions
from prepex.errors import InputError, shown
from prepex.family.base import Family, sum_of_laws
from prepex.family.laws import GAUSSIAN, STUDENT, Laws


@dataclass(frozen=True, eq=False)
class Gaussian(Family):
    """Gaussian rewards; one of

    - `variance`: a scalar, or one per objective (independent objectives)
    - `covariance`: (L, L) shared by the arms, or (K, L, L) with one per arm
    - `variance="unknown"`: independent objectives, a variance for each objective of each arm, estimated from its
      outcomes, or with `shared=True` a variance for each objective, the same for all arms, estimated from all outcomes
      (under a cone whose facets mix objectives `certified` needs the correlations to be the same for all arms, too);
      a simulation is told the true ones by `noise`: a scalar, (L,), or (K, L) if not shared

    What has names (a mapping, a Series, a DataFrame such as `frame.cov()`) is put in the order of the objectives, and
    of the arms, by the experiment or problem that it is given to.

    >>> Gaussian(variance=0.5).covariances(n_arms=3, n_objectives=2)
    array([[[0.5, 0. ],
            [0. , 0.5]]])
    >>> Gaussian(covariance=[[1.0, 0.3], [0.3, 2.0]])
    Gaussian(covariance (2, 2))
    >>> Gaussian(variance="unknown", noise=2.0)
    Gaussian(variance='unknown', noise=2.0)
    >>> Gaussian(variance="unknown", shared=True)
    Gaussian(variance='unknown', shared=True)
    """

    variance: ArrayLike | str | None = None
    covariance: ArrayLike | None = None
    noise: ArrayLike | None = None
    shared: bool = False

    def __post_init__(self) -> None:
        self._put_names_aside()
        if (self.variance is None) == (self.covariance is None):
            came = "neither" if self.variance is None else "both"
            raise InputError(f"Gaussian needs exactly one of variance= and covariance=, got {came}")
        for name, given in (("noise", self.noise is not None), ("shared", self.shared is not False)):
            if given and not self.unknown:
                raise InputError(f"{name} must be left out unless the variance is 'unknown'")
        if not isinstance(self.shared, bool):
            raise InputError(f"shared must be True or False, got {self.shared!r}")
        if self.noise is not None:
            if self.shared and np.ndim(self.noise) > 1:
                raise InputError(f"noise must be a number or one for each objective if shared, got {self.noise!r}")
            shape = [("n_arms", None), ("n_objectives", None)][2 - np.ndim(self.noise) :]
            checked = (
                _checks.variance("noise", self.noise)
                if np.ndim(self.noise) == 0
                else _checks.variances("noise", _checks.real_array("noise", self.noise, *shape))
            )
            object.__setattr__(self, "noise", checked)
        if self.unknown:
            return
        if self.variance is not None:
            object.__setattr__(self, "variance", _checked_variance(self.variance))
        else:
            object.__setattr__(self, "covariance", _checked_covariance(self.covariance))

    def _put_names_aside(self) -> None:
        """Numbers in their own order, until `ordered`."""
        names: dict[str, _named.Axes] = {}
        for name in ("variance", "covariance", "noise"):
            plain, axes = _named.unlabelled(name, getattr(self, name))
            if all(labels is None for labels in axes):
                continue
            object.__setattr__(self, name, plain)
            names[name] = axes
            if name == "covariance":
                # Rows are what columns are, whichever of them say so.
                *outer, rows, columns = (None, None, *axes)[-max(len(axes), 2) :]
                says = [labels for labels in (rows, columns) if labels is not None and not are_positions(labels)]
                if len(says) < 2:
                    rows = columns = says[0] if says else rows or columns
                if rows != columns:
                    order = _named.order("rows of covariance", rows or (), [*map(str, columns or ())])
                    object.__setattr__(self, name, np.asarray(plain).take(order, axis=-2))
                names[name] = (*outer, columns, columns)
        object.__setattr__(self, "_names", names)

    def ordered(self, arms: Sequence[str], objectives: Sequence[str]) -> "Gaussian":
        """The same with what was given by name in the order of these names.

        >>> Gaussian(variance={"cost": 4.0, "gain": 1.0}).ordered(("a", "b"), ("gain", "cost"))
        Gaussian(variance=[1.0, 4.0])
        """
        names: dict[str, _named.Axes] = self.__dict__["_names"]
        if not names:
            return self
        given = {"variance": self.variance, "covariance": self.covariance, "noise": self.noise}
        for name, axes in names.items():
            table = np.asarray(given[name])
            # Of a variance for each arm, a noise or a covariance, the first dimension is that of the arms.
            by_arm = table.ndim == (3 if name == "covariance" else 2)
            for axis, labels in enumerate(axes):
                known = arms if by_arm and axis == 0 else objectives
                if labels is not None and not _named.stand_for_positions(labels, known):
                    table = table.take(_named.order(f"names of {name}", labels, known), axis=axis)
            given[name] = table
        return Gaussian(**given, shared=self.shared)

    def __repr__(self) -> str:
        if self.covariance is not None:
            return f"Gaussian(covariance {np.shape(self.covariance)})"
        if self.unknown:
            known = "" if self.noise is None else f", noise={np.asarray(self.noise).tolist()}"
            return f"Gaussian(variance='unknown'{', shared=True' if self.shared else ''}{known})"
        return f"Gaussian(variance={np.asarray(self.variance).tolist()})"

    @property
    def unknown(self) -> bool:
        """Is the variance estimated?"""
        return isinstance(self.variance, str) and self.variance == "unknown"

    @property
    def single(self) -> bool:
        """Is it about any one objective?"""
        several = (value is not None and np.ndim(value) > 0 for value in (self.variance, self.noise))
        return self.covariance is None and not any(several)

    def laws(self, n_arms: int, n_objectives: int) -> Laws | None:
        """None if the covariance is known."""
        if not self.unknown:
            return None
        noise = None
        if self.noise is not None:
            given = np.asarray(self.noise, dtype=np.float64)
            if given.ndim == 1 and given.size != n_objectives:
                raise InputError(f"noise must have shape ({n_objectives} = n_objectives,), got {given.shape}")
            if given.ndim == 2 and given.shape != (n_arms, n_objectives) and n_arms > 1:
                raise InputError(f"noise must have shape ({n_arms} = n_arms, {n_objectives}), got {given.shape}")
            noise = np.broadcast_to(given if given.ndim < 2 or n_arms > 1 else given[:1], (n_arms, n_objectives))
        names = (f"Gaussian(variance='unknown'{', shared=True' if self.shared else ''})",) * n_objectives
        code = GAUSSIAN if self.shared else STUDENT
        return Laws(np.full(n_objectives, code), np.zeros(n_objectives), names, noise, self.shared)

    def covariances(self, n_arms: int, n_objectives: int) -> Floats:
        """(1, L, L) if the arms share a covariance, else (K, L, L).

        >>> Gaussian(variance=[1.0, 4.0]).covariances(2, 2).shape
        (1, 2, 2)
        """
        if self.covariance is None:
            variance: Floats = np.asarray(self.variance, dtype=np.float64)
            if variance.ndim == 1 and variance.size != n_objectives:
                raise InputError(f"variance must have shape ({n_objectives} = n_objectives,), got {variance.shape}")
            return np.diag(np.broadcast_to(variance, n_objectives)).astype(np.float64)[None]
        covariance = np.asarray(self.covariance)
        expected = (n_arms, n_objectives, n_objectives)[3 - covariance.ndim :]
        if covariance.shape != expected:
            words = "(n_arms, n_objectives, n_objectives)" if covariance.ndim == 3 else "(n_objectives, n_objectives)"
            raise InputError(f"covariance must have shape {expected} = {words}, got {covariance.shape}")
        return covariance.reshape(-1, n_objectives, n_objectives)

    def divergence(self, mean: ArrayLike, other: ArrayLike, *, arm: int = 0) -> float:
        """d(mean, other): the information per pull of `arm` against mean `other` when the truth is `mean`.

        >>> Gaussian(variance=2.0).divergence([0.0, 0.0], [2.0, 0.0])
        1.0
        """
        mean = _checks.real_array("mean", mean, ("n_objectives", None))
        other = _checks.real_array("other", other, ("n_objectives", mean.size))
        if self.unknown:
            return sum_of_laws(self, mean, other, arm)
        shape = np.shape(np.asarray(self.covariance)) if self.covariance is not None else ()
        stack = self.covariances(shape[0] if len(shape) == 3 else 1, mean.size)
        covariance = stack[arm if len(stack) > 1 else 0]
        return float(0.5 * (mean - other) @ np.linalg.solve(covariance, mean - other))


@dataclass(frozen=True, eq=False)
class LogNormal(Family):
    """Positive outcomes whose logarithm is Gaussian, of unknown variance: times, sizes, concentrations.

    Options are compared by factors: means are geometric means, a tolerance is a share (`"5%"`), and the unit of an
    outcome does not matter. `shared` and `noise` (of the natural logarithm; for simulations) as in `Gaussian`.

    >>> LogNormal(), LogNormal(shared=True), LogNormal(noise=0.01)
    (LogNormal(), LogNormal(shared=True), LogNormal(noise=0.01))
    >>> one, other = LogNormal(noise=0.01).divergence([2.0], [3.0]), LogNormal(noise=0.01).divergence([200.0], [300.0])
    >>> round(one, 9) == round(other, 9)
    True
    """

    noise: ArrayLike | None = None
    shared: bool = False

    def __post_init__(self) -> None:
        logarithm = Gaussian(variance="unknown", noise=self.noise, shared=self.shared)
        object.__setattr__(self, "_logarithm", logarithm)
        object.__setattr__(self, "noise", logarithm.noise)

    @property
    def logarithm(self) -> Gaussian:
        """The family of the logarithms."""
        found: Gaussian = self.__dict__["_logarithm"]
        return found

    def ordered(self, arms: Sequence[str], objectives: Sequence[str]) -> "LogNormal":
        """The same with what was given by name in the order of these names."""
        return LogNormal(noise=self.logarithm.ordered(arms, objectives).noise, shared=self.shared)

    def __repr__(self) -> str:
        known = [] if self.noise is None else [f"noise={np.asarray(self.noise).tolist()}"]
        return f"LogNormal({', '.join([*(['shared=True'] if self.shared else []), *known])})"

    @property
    def single(self) -> bool:
        """Is it about any one objective?"""
        return self.logarithm.single

    def laws(self, n_arms: int, n_objectives: int) -> Laws:
        """Those of the logarithms."""
        found = self.logarithm.laws(n_arms, n_objectives)
        assert found is not None
        names = (f"LogNormal{'(shared=True)' if self.shared else ''}",) * n_objectives
        return replace(found, names=names, logs=tuple(range(n_objectives)))

    def divergence(self, mean: ArrayLike, other: ArrayLike, *, arm: int = 0) -> float:
        """d(mean, other) of geometric means, summed over objectives: the information per pull of `arm`."""
        return sum_of_laws(self, mean, other, arm)


def _checked_variance(variance: ArrayLike) -> Floats | float:
    if isinstance(variance, str):
        raise InputError(f"variance must be a number, one for each objective, or 'unknown', got {shown(variance)}")
    if np.ndim(variance) == 0:
        return _checks.variance("variance", variance)
    return _checks.variances("variance", _checks.real_array("variance", variance, ("n_objectives", None)))


def _checked_covariance(covariance: ArrayLike | None) -> Floats:
    shape = np.shape(np.asarray(covariance))
    size = shape[-1] if shape else None
    square = (("n_objectives", size), ("n_objectives", size))
    layout = (("n_arms", None), *square) if len(shape) == 3 else square
    return _checks.covariance("covariance", _checks.real_array("covariance", covariance, *layout))
