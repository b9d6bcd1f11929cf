"""The two ways a kernel is compiled, and two rules that keep the hot path fast and the first call short.

1. Kernels never allocate: all scratch space comes in as an argument. Numba's reference counting can then be left
   out altogether, which makes a round three times faster.
2. Numba emits machine code for a kernel together with all that it calls, so a deep chain is compiled once for
   every link above it. A helper of one kernel is therefore inlined, and costs nothing on its own.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])

# 1/0 is infinity ("no alternative"); no interpreter lock; `_nrt`: no reference counting.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False}


def kernel(function: F) -> F:
    """Compiled on first use and kept on disk."""
    compiled: F = njit(cache=True, **OPTIONS)(function)
    return compiled


def part(function: F) -> F:
    """A helper that becomes part of the kernel that calls it."""
    compiled: F = njit(inline="always", **OPTIONS)(function)
    return compiled
