"""What every family can say about outcomes and means."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prepex import _checks
from prepex._checks import Floats
from prepex.errors import InputError
from prepex.family.laws import BERNOULLI, DOMAIN, POISSON, STUDENT, SUPPORT, Laws, in_domain, in_support, why_not
from prepex.units import Units

# How far a sum of whole numbers, found from their mean, may be from one.
WHOLE = 1e-6


class Family(ABC):
    """How outcomes are distributed."""

    @abstractmethod
    def laws(self, n_arms: int, n_objectives: int) -> Laws | None:
        """A law for each objective; None for a Gaussian of known covariance, which has kernels of its own."""

    def units(self, n_objectives: int) -> Units:
        """Which objectives are compared by their logarithms.

        >>> from prepex import Bernoulli, LogNormal
        >>> LogNormal().units(2), Bernoulli().units(2)
        (Units(logs=(0, 1)), Units(logs=()))
        """
        laws = self.laws(1, n_objectives)
        return Units() if laws is None else Units(laws.logs)

    def ordered(self, arms: Sequence[str], objectives: Sequence[str]) -> "Family":
        """The same family with what was given by name in the order of these names."""
        return self

    def check_means(self, means: Floats, objectives: Sequence[str]) -> None:
        """Refuse means outside the domain, naming objective, family and value."""
        laws = self.laws(means.shape[0], means.shape[1])
        if laws is None:
            return
        for q, code in enumerate(laws.kinds):
            for k, mean in enumerate(means[:, q]):
                if not in_domain(code, mean) or why_not(code, mean):
                    raise InputError(
                        f"mean of {objectives[q]!r} must be {DOMAIN[code]}{why_not(code, mean)} for {laws.names[q]}, "
                        f"got {mean:g} (arm {k})"
                    )

    def check_reward(self, reward: Floats, objectives: Sequence[str]) -> None:
        """Refuse a reward outside the support, naming objective, family and value."""
        self.check_values(dict(zip(objectives, reward.tolist(), strict=True)), objectives)

    def check_rewards(self, rewards: Floats, objectives: Sequence[str]) -> None:
        """The same of many rewards (n, L) at once."""
        laws = self.laws(1, len(objectives))
        if laws is None:
            return
        for q, code in enumerate(laws.kinds):
            for row in np.flatnonzero(~in_support(code, rewards[:, q]))[:1]:
                self.check_values({objectives[q]: float(rewards[row, q])}, objectives)

    def as_numbers(self, outcome: Any, n_objectives: int) -> Any:
        """The same outcome; True and False of yes-or-no objectives become 1 and 0.

        >>> from prepex import Bernoulli, Gaussian
        >>> Bernoulli().as_numbers([True, False], 2), Gaussian(variance=1.0).as_numbers([True], 1)
        ([1.0, 0.0], [True])
        """
        laws = self.laws(1, n_objectives)
        if laws is None or not isinstance(outcome, list | tuple | np.ndarray):
            return outcome
        if isinstance(outcome, np.ndarray) and outcome.dtype == bool:
            yes_or_no = all(code == BERNOULLI for code in laws.codes)
            return outcome.astype(np.float64) if yes_or_no else outcome
        if len(outcome) != n_objectives:
            return outcome
        return [
            float(value) if code == BERNOULLI and isinstance(value, bool | np.bool_) else value
            for value, code in zip(outcome, laws.codes, strict=True)
        ]

    def check_values(self, values: Mapping[str, float], objectives: Sequence[str]) -> None:
        """The same for some of the objectives."""
        laws = self.laws(1, len(objectives))
        if laws is None:
            return
        for q, (name, code) in enumerate(zip(objectives, laws.kinds, strict=True)):
            if name in values and not in_support(code, values[name]):
                raise InputError(
                    f"reward of {name!r} must be {SUPPORT[code]}{why_not(code, values[name])} for {laws.names[q]}, "
                    f"got {values[name]:g}"
                )

    def summary_values(self, values: Mapping[str, float], objectives: Sequence[str], n: int) -> dict[str, float]:
        """Means of n outcomes, freed of rounding where outcomes are whole numbers. Refuse means that cannot be.

        >>> from prepex import Bernoulli
        >>> Bernoulli().summary_values({"cured": 0.33333333}, ("cured",), 3)
        {'cured': 0.3333333333333333}
        """
        laws, found = self.laws(1, len(objectives)), dict(values)
        if laws is None:
            return found
        if laws.unknown:
            unknown = next(q for q, code in enumerate(laws.codes) if code == STUDENT or laws.shared[q])
            raise InputError(
                f"outcomes of {objectives[unknown]!r} must be told one by one for {laws.names[unknown]}, "
                f"got a mean of {n}: the variance is estimated from their squares"
            )
        for q, (name, code) in enumerate(zip(objectives, laws.codes, strict=True)):
            if name not in values:
                continue
            possible = True
            if code in (BERNOULLI, POISSON):
                total = round(values[name] * n)
                # Beside the digits that a user leaves out, the rounding of a large mean.
                possible = abs(values[name] * n - total) <= max(WHOLE, 2.0**-52 * abs(total))
                found[name] = total / n
            if not possible or not in_domain(code, found[name]) or why_not(code, found[name]):
                raise InputError(
                    f"mean of {name!r} must be that of {n} outcomes, each {SUPPORT[code]}"
                    f"{why_not(code, values[name])}, for {laws.names[q]}, got {values[name]!r} (with all its digits?)"
                )
        return found


def sum_of_laws(family: Family, mean: ArrayLike, other: ArrayLike, arm: int) -> float:
    """d(mean, other) of an arm, summed over objectives."""
    from prepex._kernels.laws.law import divergence

    mu = _checks.real_array("mean", mean, ("n_objectives", None))
    x = _checks.real_array("other", other, ("n_objectives", mu.size))
    for values in (mu, x):
        family.check_means(values[None], [f"objective {q}" for q in range(mu.size)])
    laws = family.laws(arm + 1, mu.size)
    assert laws is not None
    units = Units(laws.logs)
    mu, x = units.inner(mu), units.inner(x)
    scale = laws.scale if laws.noise is None else laws.noise[arm]
    if laws.unknown and laws.noise is None:
        raise InputError("noise must be given for a divergence of unknown variance")
    return float(sum(divergence(int(c), m, y, s) for c, m, y, s in zip(laws.codes, mu, x, scale, strict=True)))
