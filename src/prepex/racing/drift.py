"""Does the machine change while a race goes on? One option is run now and then, beyond the study, and compared."""

import math

import numpy as np

# One run of the reference for so many trials; how many are compared at least; what is said.
EVERY, LEAST = 20, 6
SIGMAS, SHARE = 3.0, 0.05


class Watch:
    """Times of the reference, in order."""

    def __init__(self) -> None:
        self.option: str | None = None
        self.times: list[float] = []
        self._since = 0

    def due(self) -> bool:
        """Is it time for another? Asked once for each trial."""
        self._since += 1
        if self.option is None or self._since < EVERY:
            return False
        self._since = 0
        return True

    def add(self, value: float) -> None:
        """One more run."""
        self.times.append(value)

    @property
    def words(self) -> str | None:
        """What to say, if the first third and the last third of its runs differ by more than chance and 5 %.

        >>> watch = Watch()
        >>> watch.option, watch.times = "a", [1.0, 1.01, 0.99, 1.0, 1.2, 1.21, 1.19, 1.2, 1.2]
        >>> watch.words
        "The machine has become slower by 20 %: 'a', the reference, took 1 s at first and 1.2 s lately."
        """
        if len(self.times) < LEAST or self.option is None:
            return None
        logs, part = np.log(self.times), len(self.times) // 3
        first, last = logs[:part], logs[-part:]
        spread = math.sqrt((first.var(ddof=1) + last.var(ddof=1)) / part) if part > 1 else math.inf
        change = float(last.mean() - first.mean())
        if abs(change) <= max(SIGMAS * spread, math.log1p(SHARE)):
            return None
        from prepex.racing.amounts import with_unit

        way = "slower" if change > 0 else "faster"
        before, now = (with_unit(math.exp(part.mean()), "s") for part in (first, last))
        return (
            f"The machine has become {way} by {100 * math.expm1(abs(change)):.0f} %: {self.option!r}, the reference, "
            f"took {before} at first and {now} lately."
        )
