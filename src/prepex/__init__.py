"""prepex: the Pareto set of a noisy multi-objective experiment, under your own preference cone.

    Cone, one             which trade-offs count as better
    Gaussian              how outcomes are distributed
    Problem               a simulated truth: means, family, cone, names
    evidence              how far data are from any instance with another Pareto set  -> Evidence, Alternative
    characteristic_time   the floor of every correct algorithm                        -> Bound
    instances             benchmark problems: covboost, correlated, snw
    plot                  pictures (needs the extra `prepex[plot]`)

Names load on first use, so that `import prepex` stays fast.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Alternative": "alternatives",
    "Bound": "bound",
    "Cone": "cone",
    "Evidence": "alternatives",
    "Gaussian": "family",
    "Problem": "problem",
    "characteristic_time": "bound",
    "evidence": "alternatives",
    "one": "cone",
}
_MODULES = ("instances", "plot")

__all__ = [*sorted(_HOME), *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"prepex.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return import_module(f"prepex.{name}")
    raise AttributeError(f"module 'prepex' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
