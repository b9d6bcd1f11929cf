"""What was told, by position: nothing here knows a name, so that no number can be taken for one."""

from typing import Any, NamedTuple

from prepex._checks import Floats, Ints


class Told(NamedTuple):
    """What was told: one outcome, or the mean of n."""

    arm: int
    reward: Floats
    n: int = 1

    @property
    def row(self) -> Any:
        """As a document."""
        if self.n == 1:
            return [self.arm, *self.reward.tolist()]
        return {"arm": self.arm, "n": self.n, "mean": self.reward.tolist()}


class Rows(NamedTuple):
    """Much of it: arms (n,), rewards (n, L), and of how many outcomes each is the mean (n,)."""

    arms: Ints
    rewards: Floats
    sizes: Ints

    def told(self, at: int) -> Told:
        """One of them."""
        return Told(int(self.arms[at]), self.rewards[at], int(self.sizes[at]))
