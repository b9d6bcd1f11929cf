"""Interleaved timing: the machine's mood hits both sides alike."""

import time
from collections.abc import Callable


def side_by_side(*jobs: Callable[[], object], repeats: int = 7) -> list[float]:
    """The best time of each job, taken in turns."""
    for job in jobs:
        job()
    best = [float("inf")] * len(jobs)
    for _ in range(repeats):
        for index, job in enumerate(jobs):
            start = time.perf_counter()
            job()
            best[index] = min(best[index], time.perf_counter() - start)
    return best
