"""What to try next, by position."""

import numpy as np

from prepex._checks import Ints
from prepex._kernels.own import propose_own
from prepex._kernels.play import MANY
from prepex._kernels.propose import propose
from prepex.live.progress import Progress


def propose_next(progress: Progress, n: int, pending: Ints) -> list[int]:
    """The next n arms, when `pending` (K,) pulls of each are out."""
    out = pending.copy()
    chosen = []
    avoided = _avoided(progress)
    for _ in range(n):
        arm = _next(progress, out, avoided)
        out[arm] += 1
        chosen.append(arm)
    return chosen


def _avoided(progress: Progress) -> set[int]:
    """Arms that are certified to break a limit and are not to be tried further."""
    avoid = progress.settings.avoid_infeasible and progress.course is not None
    return progress.standing().avoided() if avoid else set()


def _next(progress: Progress, out: Ints, avoided: set[int]) -> int:
    if progress.course is None:
        return int(np.argmin(progress.counts + out))
    rule = propose_own if progress.setting.rule.stops_itself else propose
    ahead = np.int64(out.sum())
    if avoided:
        # To the rule they look tried beyond all others. Where its next test is of such an arm, the least tried
        # one is in its place.
        out = out.copy()
        out[list(avoided)] += MANY
    arm = int(rule(progress.course, out, ahead))
    return int(np.argmin(progress.counts + out)) if arm in avoided else arm
