"""Runs from a state onwards: copies of a course, each with a truth of its own, by the loop of simulations.

All runs are side by side: none is followed further than about twice as far as another that goes on still. So if they
are cut off, those that have stopped are not just the short ones of a few.

They are cut off by counted work, so that the same state and seed give the same runs on every machine. The clock is for
what is slower than that: it is looked at too, and whether it was the clock is said.

Legend
    effort    work that runs may come to: pulls, each as heavy as `weight_of` says
    times     pulls from now to the stop; of a run that was not followed so far, how far it was    (n,)
    stopped   has it stopped?                                                                      (n,)
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prepex._checks import Floats
from prepex._kernels import engine
from prepex._kernels.course import Course, leaves
from prepex._kernels.jit import kind_of
from prepex._kernels.own import play_own
from prepex._kernels.play import Stops, play
from prepex.family import STUDENT, draw_noise
from prepex.posterior_draws import Draws
from prepex.run import Setting

# Pulls that all runs are followed at first, and that one is followed before the clock is looked at.
FIRST, PIECE = 64, 256
# Work that a slow core does in a second. Measured on a busy one: 5e6 of the slowest kind of pull (known variances, a
# tolerance), 9e6 to 9e7 of others, over families, thresholds, 3 to 100 arms and 2 to 5 objectives.
PER_SECOND = 4e6
# A pull costs as much as these arms, however few there are.
FEWEST = 20


class Onward(NamedTuple):
    """What came of the runs; late: was it the clock that cut them off?"""

    times: NDArray[np.int64]
    stopped: NDArray[np.bool_]
    counts: NDArray[np.int64]
    late: bool


@dataclass(eq=False)
class Run:
    """One of them."""

    course: Course
    truth: Floats
    roots: Floats
    stops: Stops
    draw: Callable[[int], Floats]
    pulls: int = 0
    done: bool = False


def copy_of(setting: Setting, course: Course, delta: float) -> Course:
    """The same state in arrays of its own."""
    K, L, _ = setting.shape
    made = setting.open(np.zeros((K, L)), delta)
    for array, value in zip(leaves(made), leaves(course), strict=True):
        array[...] = value
    return made


def roots_of(setting: Setting, variances: Floats) -> Floats:
    """What turns noise into rewards; `variances` (K, L), of objectives whose variance is unknown."""
    if setting.laws is None:
        from prepex._kernels.instance import root_of

        return np.asarray(root_of(setting.covariances) * setting.labels.signs)
    laws = setting.laws
    known = np.broadcast_to(laws.scale, variances.shape)
    unknown = np.logical_or(laws.shared, laws.codes == STUDENT)
    return np.ascontiguousarray(np.sqrt(np.where(unknown, variances, known)))[None]


def noise_from(setting: Setting, seed: np.random.SeedSequence) -> Callable[[int], Floats]:
    """Rows of noise (n, L)."""
    rng, L, laws = np.random.default_rng(seed), setting.shape[1], setting.laws
    if laws is None:
        return lambda rows: rng.standard_normal((rows, L))
    return lambda rows: draw_noise(laws, rng, rows)


def stops_at(setting: Setting, *deltas: float) -> Stops:
    """The setting's own threshold, at each delta."""
    K, D, threshold = setting.shape[0], len(deltas), setting.threshold
    return Stops(
        code=np.array([threshold.code], dtype=np.int64),
        level=np.array([[threshold.level(delta, setting.shape) for delta in deltas]]),
        time=np.zeros((1, D), dtype=np.int64),
        answer=np.zeros((1, D, K), dtype=np.bool_),
        moment=np.zeros(0, dtype=np.int64),
        then=np.zeros((0, K), dtype=np.bool_),
    )


def at_hand(setting: Setting, course: Course, delta: float, truths: Draws) -> bool:
    """Is the loop's machine code made? If not, a process in the background makes it: who asks later may find it."""
    if engine.disabled():
        return False
    K, L, _ = setting.shape
    loop: Any = play_own if setting.rule.stops_itself else play
    scratch = np.zeros(1, np.int64), np.zeros(K, np.int64), np.zeros(L)
    truth, roots = np.ascontiguousarray(truths.means[0]), roots_of(setting, truths.variances[0])
    given = copy_of(setting, course, delta), truth, roots, np.empty((0, L)), stops_at(setting, delta), *scratch
    kind = kind_of(course)
    if kind not in loop.ready:
        from prepex._kernels import workshop

        # As if it had been interpreted for so long that this is worth it.
        workshop.consider(loop, kind, given, 1.01 * engine.COMPILE_AFTER)
    return kind in loop.ready


def weight_of(setting: Setting) -> float:
    """How heavy a pull is: what looks at an arm looks at all of its scores."""
    return float((FEWEST + setting.shape[0]) * max(setting.shape[1], len(setting.cone.facets)))


def farther(horizon: int, most: int, affordable: float) -> int:
    """How far all runs are followed next: twice as far, or what is left for each, to two digits; the same: it is over.

    >>> farther(0, 9000, 1e9), farther(2048, 9000, 1e9), farther(2048, 9000, 700.0), farther(2048, 9000, 100.0)
    (64, 4096, 2700, 2048)
    """
    if affordable >= max(2 * horizon, FIRST) - horizon:
        return min(max(2 * horizon, FIRST), most)
    reach = horizon + int(affordable)
    unit = 10 ** max(len(str(reach)) - 2, 0)
    reach = min(reach // unit * unit, most)
    return reach if reach == most or reach - horizon >= PIECE else horizon


def run_on(
    setting: Setting,
    course: Course,
    delta: float,
    truths: Draws,
    seed: tuple[int, ...],
    *,
    most: int,
    effort: float = np.inf,
    seconds: float = np.inf,
    progress: Callable[[int], None] | None = None,
) -> Onward:
    """Each truth's run from the state of `course`: for `most` pulls at most, and in all for so much work and about so
    many seconds."""
    K, L, _ = setting.shape
    seeds = np.random.SeedSequence(seed).spawn(len(truths.means))
    runs = [
        Run(
            copy_of(setting, course, delta),
            np.ascontiguousarray(truth),
            roots_of(setting, variances),
            stops_at(setting, delta),
            noise_from(setting, own),
        )
        for truth, variances, own in zip(*truths, seeds, strict=True)
    ]
    scratch = np.zeros(1, np.int64), np.zeros(K, np.int64), np.zeros(L)
    with engine.waiting():
        loop: Any = play_own if setting.rule.stops_itself else play
        first = runs[0]
        # No noise, no pull: but the machine code is there now, and not on the clock.
        loop(first.course, first.truth, first.roots, np.empty((0, L)), first.stops, *scratch)
        end, horizon = time.perf_counter() + seconds, 0
        left, late, weight = runs, False, weight_of(setting)
        while left and not late:
            spent = weight * sum(run.pulls for run in runs)
            reach = farther(horizon, most, (effort - spent) / (weight * len(left)) if effort < np.inf else np.inf)
            if reach == horizon:
                break
            horizon = reach
            for run in left:
                while not run.done and run.pulls < horizon and time.perf_counter() < end:
                    rows = run.draw(min(PIECE, horizon - run.pulls))
                    done, used = loop(run.course, run.truth, run.roots, rows, run.stops, *scratch)
                    run.done, run.pulls = bool(done), run.pulls + int(used)
                if run.done and progress is not None:
                    progress(1)
            left = [run for run in left if not run.done]
            late = any(run.pulls < horizon for run in left)
    before = course.near.inst.N
    return Onward(
        np.array([run.pulls for run in runs]),
        np.array([run.done for run in runs]),
        np.array([run.course.near.inst.N - before for run in runs]).astype(np.int64),
        late,
    )
