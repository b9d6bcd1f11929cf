"""One function an instance; the data files carry their citation in the first lines."""

from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike

from prepex import _checks
from prepex.cone import Cone
from prepex.family import Bernoulli, Gaussian
from prepex.instances.table import Table, parse_table
from prepex.problem import Problem


def covboost(cone: Cone | None = None) -> Problem:
    """COV-BOOST (Munro et al., Lancet 2021): 20 vaccine boosters, mean log responses of three immune markers.

    Means as printed in the FraPPE paper; independent Gaussian noise with the trial's pooled variances.

    >>> covboost().pareto_names
    ('m1273 (BNT/BNT)', 'm1273 (ChAd/ChAd)')
    """
    table = _packaged("covboost.csv")
    pairs = (arm.split(", ") for arm in table.arms)
    return Problem(
        table.means,
        family=Gaussian(variance=(0.70, 0.83, 1.54)),
        cone=cone or Cone.orthant(3),
        arms=tuple(f"{booster} ({prime})" for prime, booster in pairs),
        objectives=table.objectives,
    )


def correlated(rho: float = 0.0, cone: Cone | None = None) -> Problem:
    """The 5-arm instance of Kone et al. (PSIPS): two objectives of unit variance with correlation `rho`.

    >>> correlated(0.5).family
    Gaussian(covariance (2, 2))
    """
    rho = _checks.number("rho", rho, low=-1.0, high=1.0)
    table = _packaged("correlated.csv")
    return Problem(
        table.means,
        family=Gaussian(covariance=[[1.0, rho], [rho, 1.0]]),
        cone=cone or Cone.orthant(2),
        objectives=table.objectives,
    )


def snw(cone: Cone | None = None, *, noise: ArrayLike | None = None) -> Problem:
    """Sorting networks (Zuluaga, Milder & Pueschel, DAC 2012): 206 designs, area (minimised) and throughput.

    `noise` is the standard deviation of a measurement, a scalar or one per objective; by default 0.1 times the
    range of each objective.

    >>> len(snw().pareto_set), len(snw(Cone.angle(120)).pareto_set)
    (26, 14)
    """
    table = _packaged("snw.csv", ("area", "throughput"))
    if noise is None:
        deviation = 0.1 * np.ptp(table.means, axis=0)
    elif np.ndim(noise) == 0:
        deviation = np.full(2, _checks.number("noise", noise, low=0.0))
    else:
        deviation = _checks.positive("noise", _checks.real_array("noise", noise, ("n_objectives", 2)))
    return Problem(
        table.means,
        family=Gaussian(variance=deviation**2),
        cone=cone or Cone.orthant(2),
        arms=tuple(f"design {k}" for k in range(len(table.arms))),
        objectives=table.objectives,
        minimise=("area",),
    )


def bernoulli(cone: Cone | None = None) -> Problem:
    """The 5-arm, 2-objective Bernoulli instance of Kone et al. (PSIPS).

    >>> bernoulli().pareto_set
    (2, 4)
    """
    table = _packaged("bernoulli.csv")
    return Problem(
        table.means, family=Bernoulli(), cone=cone or Cone.orthant(2), arms=table.arms, objectives=table.objectives
    )


def dose_finding(cone: Cone | None = None) -> Problem:
    """An invented phase I/II trial: five doses, each patient cured or not, and with a toxic reaction or not.

    More of the drug cures more up to a plateau and harms ever more: the doses beyond the plateau are dominated.

    >>> dose_finding().pareto_names
    ('10 mg', '20 mg', '40 mg')
    """
    return Problem(
        [[0.20, 0.05], [0.40, 0.10], [0.60, 0.25], [0.55, 0.45], [0.50, 0.60]],
        family=Bernoulli(),
        cone=cone or Cone.orthant(2),
        arms=("10 mg", "20 mg", "40 mg", "60 mg", "80 mg"),
        objectives=("cured", "toxic"),
        minimise=("toxic",),
    )


def _packaged(name: str, objectives: tuple[str, ...] | None = None) -> Table:
    text = (files("prepex.instances") / "data" / name).read_text(encoding="utf-8")
    return parse_table(text, source=name, objectives=objectives)
