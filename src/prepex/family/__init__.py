"""Families of reward distributions.

    family             outcomes                     d(mu, x)
    Gaussian           real, noise known            (mu - x)' covariance^-1 (mu - x) / 2
    Gaussian(variance="unknown")  real              1/2 log(1 + (mu - x)^2 / variance), summed over objectives
      the same, shared=True       real              as if it were known; a discount when it is compared with a threshold
    Bernoulli          0 or 1                       mu log(mu/x) + (1-mu) log((1-mu)/(1-x))
    Poisson            0, 1, 2, ...                 mu log(mu/x) + x - mu
    Exponential        positive, e.g. a time        mu/x - 1 - log(mu/x)
    LogNormal          positive, e.g. a time        that of a Gaussian of unknown variance, of log mu and log x
    Exact              any number, without noise    0 if x = mu, else infinite
    Product            one of these for each objective

The parameter of a LogNormal objective is its geometric mean: kernels see logarithms (units.py).
Objectives of other families than a Gaussian with a covariance are independent given the arm.

    laws        codes, and which outcomes and means they have
    base        Family
    gaussian    Gaussian, LogNormal
    simple      the families without parameters, Product
    words       families as people say them
"""

from prepex.family.base import Family
from prepex.family.gaussian import Gaussian, LogNormal
from prepex.family.laws import (
    BERNOULLI,
    EXACT,
    EXPONENTIAL,
    GAUSSIAN,
    LAWS,
    POISSON,
    STUDENT,
    Laws,
    draw_noise,
    in_domain,
    range_of,
)
from prepex.family.simple import Bernoulli, Exact, Exponential, Poisson, Product

FAMILIES: dict[str, type[Family]] = {
    "Gaussian": Gaussian,
    "Bernoulli": Bernoulli,
    "Poisson": Poisson,
    "Exponential": Exponential,
    "LogNormal": LogNormal,
    "Exact": Exact,
    "Product": Product,
}

__all__ = [
    "BERNOULLI",
    "EXACT",
    "EXPONENTIAL",
    "FAMILIES",
    "GAUSSIAN",
    "LAWS",
    "POISSON",
    "STUDENT",
    "Bernoulli",
    "Exact",
    "Exponential",
    "Family",
    "Gaussian",
    "Laws",
    "LogNormal",
    "Poisson",
    "Product",
    "draw_noise",
    "in_domain",
    "range_of",
]
