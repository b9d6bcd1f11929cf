"""On which scale an objective is compared: as it is told, or by its logarithm.

The border between the user's units and the inside: `inner` on the way in, `outer` on the way out. A mean of logarithms
comes out as a geometric mean, and a distance as a factor.
"""

import math
from dataclasses import dataclass

import numpy as np

from prepex._checks import Floats

# Logarithms whose exponentials are numbers.
FARTHEST = 700.0


@dataclass(frozen=True)
class Units:
    """Which objectives are compared by their logarithms.

    >>> units = Units((1,))
    >>> units.inner(np.array([3.0, 1.0])).tolist(), units.outer(np.array([3.0, 0.0])).tolist()
    ([3.0, 0.0], [3.0, 1.0])
    """

    logs: tuple[int, ...] = ()

    def inner(self, values: Floats) -> Floats:
        """From the user's units; values (..., L), those of `logs` positive."""
        if not self.logs:
            return values
        found = np.array(values, dtype=np.float64, order="C")
        for q in self.logs:
            # The C library's logarithm, as in kernels: numpy's depends on the processor.
            column = found[..., q]
            column[...] = np.reshape([math.log(value) for value in column.ravel().tolist()], column.shape)
        return found

    def outer(self, values: Floats) -> Floats:
        """Back; never 0 or infinite, however far the end of an interval is."""
        if not self.logs:
            return values
        found, logs = np.array(values, dtype=np.float64, order="C"), list(self.logs)
        found[..., logs] = np.exp(np.clip(found[..., logs], -FARTHEST, FARTHEST))
        return found
