"""What `np` and `math` mean in a kernel that Python interprets: as in compiled code, to the last bit.

numpy's own exp, log, sin and cos are not the C library's, which compiled code calls; `math` has those, but raises
where compiled code gives infinity or nan.
"""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from prepex._kernels.gamma import lgamma

inf, nan = math.inf, math.nan


def log(x: float) -> float:
    """-inf at 0, nan below."""
    return math.log(x) if x > 0.0 else -inf if x == 0.0 else nan


def log1p(x: float) -> float:
    """-inf at -1, nan below."""
    return math.log1p(x) if x > -1.0 else -inf if x == -1.0 else nan


def exp(x: float) -> float:
    """inf where it is too large for a number."""
    try:
        return math.exp(x)
    except OverflowError:
        return inf


def sqrt(x: float) -> float:
    """nan below 0."""
    return math.sqrt(x) if x >= 0.0 else nan


def power(x: float, y: float) -> float:
    """x to the y, x > 0."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return inf


NUMPY = SimpleNamespace(
    inf=inf,
    nan=nan,
    pi=math.pi,
    # An int of Python does as well, and faster.
    int64=int,
    uint64=np.uint64,
    log=log,
    log1p=log1p,
    exp=exp,
    sqrt=sqrt,
    sin=math.sin,
    cos=math.cos,
    floor=np.floor,
    ceil=np.ceil,
    isnan=math.isnan,
    nextafter=math.nextafter,
)
MATH = SimpleNamespace(inf=inf, nan=nan, pi=math.pi, log=log, log1p=log1p, exp=exp, sqrt=sqrt, pow=power, lgamma=lgamma)
MODULES: dict[str, Any] = {"numpy": NUMPY, "math": MATH}
