"""Ticks of axes that people can read. Imports matplotlib."""

from typing import Any

import numpy as np
from matplotlib.ticker import LogLocator, MaxNLocator, ScalarFormatter

# Multiples of powers of ten, from few to many.
SETS = ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), tuple(range(1, 10)))
FEWEST, MOST = 3, 8


class RoundNumbers(LogLocator):
    """Of a logarithmic axis: 1, 2, 5 and the like where it spans enough of them, else as of a linear one."""

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """The smallest set with enough numbers in sight."""
        low, high = sorted((vmin, vmax))
        if not 0.0 < low < high < np.inf:
            return super().tick_values(vmin, vmax)
        powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
        for numbers in SETS:
            found = np.sort(np.outer(powers, numbers).ravel())
            seen = found[(found >= low) & (found <= high)]
            if len(seen) >= FEWEST:
                return seen[:: -(-len(seen) // MOST)]
        found = np.asarray(MaxNLocator(5).tick_values(low, high))
        return found[(found >= low) & (found <= high)]


class Thousands(ScalarFormatter):
    """Commas in large whole numbers."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """As it is written."""
        if abs(x) >= 10_000 and x == round(x) and not self.get_offset():
            return f"{x:,.0f}".replace("-", "\N{MINUS SIGN}")
        return super().__call__(x, pos)
