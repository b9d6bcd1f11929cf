"""Races of functions: what they return, executors, coroutines, grids, going on."""

import asyncio
import os
import random
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import pandas as pd
import pytest

import prepex as px
from prepex import Gaussian, InputError, Study
from prepex.racing.returned import read

KNOWN = {"family": {"gain": Gaussian(variance=0.04)}}


def gain(mean, seed):
    return random.Random(seed).gauss(mean, 0.2)


OPTIONS = {"low": partial(gain, 0.0), "high": partial(gain, 1.0)}


def working(mean, seed):
    time.sleep(0.01)
    return {"gain": random.Random(seed).gauss(mean, 0.2), "worker": float(os.getpid())}


def test_the_same_seed_gives_the_same_race():
    one, same, other = (px.race(OPTIONS, objectives=("gain",), seed=seed) for seed in (1, 1, 2))
    assert one.answer == ("high",) and one.status == "certified" and one.settled
    assert (one.means, one.counts) == (same.means, same.counts) and one.means != other.means
    assert one.states == {"low": "out", "high": "in"}
    assert "high: gain" in str(one) and "Settled after" in one.words[0]
    assert one.to_dict()["answer"] == ["high"] and "| `high` |" in one.to_markdown()


def test_tuples_mappings_and_times():
    def both(cost, seed):
        return random.Random(seed).gauss(1.0, 0.1), cost

    options = {"cheap": partial(both, 1), "dear": partial(both, 5)}
    found = px.race(options, objectives=("gain", "cost"), minimise=("cost",), tolerance={"gain": 0.3})
    # Level in gain: within the tolerance the dear one may stay, the cheap one must.
    assert "cheap" in found.answer and found.means["dear"]["cost"] == 5.0
    found = px.race(
        {"short": partial(time.sleep, 0.001), "long": partial(time.sleep, 0.01)}, objectives="time", tolerance="50%"
    )
    assert found.answer == ("short",) and 0.009 < found.means["long"]["time"] < 0.1


def test_inputs_are_drawn_for_every_trial():
    seen = []

    def of(factor, value, seed):
        seen.append(value)
        return factor * value + random.Random(seed).gauss(0, 0.1)

    found = px.race({"one": partial(of, 1.0), "two": partial(of, 2.0)}, objectives=("gain",), inputs=[1.0, 2.0, 3.0])
    assert found.answer == ("two",) and set(seen) == {1.0, 2.0, 3.0}


@pytest.mark.parametrize("pool", [ProcessPoolExecutor, ThreadPoolExecutor])
def test_executors(pool):
    options = {"low": partial(working, 0.0), "high": partial(working, 1.0)}
    with pool(2) as executor:
        found = px.race(options, objectives=("gain",), executor=executor, seed=1)
    assert found.answer == ("high",) and found.status == "certified"
    # Every outcome is that of some pull's own seed, and none was used twice.
    assert sum(found.counts.values()) == found.n_trials


def test_a_dask_cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = px.race(OPTIONS, objectives=("gain",), executor=client.get_executor(), seed=1)
    assert found.answer == ("high",) and found.status == "certified"


def dies(seed):
    os._exit(1)


def test_a_worker_that_dies_is_a_failure_with_words():
    with (
        ProcessPoolExecutor(1) as executor,
        pytest.raises(InputError, match=r"option '.*' failed: it raised an error; .*Broken"),
    ):
        px.race({"a": dies, "b": dies}, objectives=("gain",), executor=executor)


def test_coroutines_at_most_so_many_at_once():
    at_once, most = 0, 0

    async def answer(p, seed):
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.001)
        at_once -= 1
        return {"right": random.Random(seed).random() < p, "cost": 1.0 + p}

    options = {"short": partial(answer, 0.2), "long": partial(answer, 0.9)}
    found = asyncio.run(px.race_async(options, objectives=("right",), at_once=3, seed=1))
    assert found.answer == ("long",) and found.status == "certified" and most == 3
    found = asyncio.run(px.race_async(options, objectives=("right", "cost"), minimise=("cost",), seed=1))
    assert set(found.answer) == {"short", "long"} and found.means["short"]["cost"] == 1.2


def test_a_coroutine_that_fails_ends_the_others():
    async def broken(seed):
        raise OSError("no network")

    async def slow(seed):
        await asyncio.sleep(60)

    began = time.monotonic()
    with pytest.raises(InputError, match="option 'a' failed: it raised an error; its last words: OSError: no network"):
        asyncio.run(px.race_async({"a": broken, "b": slow}, objectives=("gain",)))
    assert time.monotonic() - began < 30


class Asks:
    async def __call__(self, seed):
        return 1.0


async def answers(seed):
    return 1.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("function", [answers, partial(answers, seed=1), Asks()])
def test_coroutine_functions_are_refused_before_anything_is_called(function):
    words = r"option 'b' must be a plain function, got a coroutine function .*: prepex\.race_async calls those"
    with pytest.raises(InputError, match=words):
        px.race({"a": lambda: pytest.fail("it was called"), "b": function}, objectives=("gain",))


@pytest.mark.filterwarnings("error")
def test_what_turns_out_to_be_a_coroutine_or_none_names_the_other_function(tmp_path):
    with pytest.raises(InputError, match=r"option '.' failed: it must return a value, got a coroutine: prepex\.race_a"):
        px.race({"a": lambda: answers(1), "b": lambda: answers(1)}, objectives=("gain",))
    words = r"option '.' must be a coroutine function \(async def\), got one that returns 1\.5: prepex\.race calls"
    with pytest.raises(InputError, match=words):
        asyncio.run(px.race_async({"a": lambda: 1.5, "b": lambda: 1.5}, objectives=("gain",)))
    # What returns something to await need not be a coroutine function.
    asked = {"a": lambda seed: answers(seed), "b": lambda seed: answers(seed)}
    assert asyncio.run(px.race_async(asked, objectives=("gain",), max_trials=4)).n_trials == 4


def test_a_function_prints_nothing_and_nobody_says_so():
    with pytest.raises(InputError, match=r"option '.' failed: it must return a number, .*, got 'fast'$"):
        px.race({"a": lambda: "fast", "b": lambda: "fast"}, objectives=("gain",))
    with pytest.raises(InputError, match=r"option '.' failed: gain must be a finite number, got nan$"):
        px.race({"a": lambda: float("nan"), "b": lambda: float("nan")}, objectives=("gain",))


def test_the_answer_says_who_is_level(tmp_path):
    """In Python and in JSON as in a terminal."""
    level = {"one": partial(gain, 1.0), "other": partial(gain, 1.0), "low": partial(gain, 0.0)}
    found = px.race(level, objectives=("gain",), tolerance=0.5, seed=1)
    words = "Left out, as one that is kept is at least as good, within the tolerance, in everything"
    assert any(line.startswith(words) for line in found.words)
    assert any(line.startswith(words) for line in found.to_dict()["notes"])


def test_a_grid_and_a_sample_of_it():
    @px.grid(x=range(3), y=("p", "q"))
    def score(x, y, seed):
        return random.Random(seed).gauss(x + (y == "q") / 2, 0.1)

    found = px.race(score, objectives=("gain",), seed=1, tolerance=0.2)
    assert found.answer == ("x=2, y=q",) and len(found.counts) == 6
    few = px.grid(score, x=range(100), y=("p", "q"), sample=5, seed=1)
    assert len(few.race_options) == 5
    assert score(1, "p", seed=1) == pytest.approx(1.0, abs=0.5)


def test_a_race_that_is_kept_goes_on(tmp_path):
    place = tmp_path / "race.db"
    begun = px.race(OPTIONS, objectives=("gain",), seed=1, storage=place, max_trials=7)
    assert begun.status == "running" and begun.n_trials == 7 and not begun.settled
    ended = px.race(OPTIONS, objectives=("gain",), seed=1, storage=place)
    assert ended.counts == px.race(OPTIONS, objectives=("gain",), seed=1).counts
    assert Study.open(place, "race").verify().ok
    with pytest.raises(InputError, match="must be this one to go on with it"):
        px.race({"low": gain, "other": gain}, objectives=("gain",), storage=place)


def test_failures_that_count_and_those_that_are_tried_again():
    calls = []

    def weak(seed):
        calls.append(seed)
        if len(calls) % 3 == 0:
            raise RuntimeError("out of luck")
        return random.Random(seed).gauss(0.0, 0.2)

    found = px.race({"weak": weak, "high": partial(gain, 2.0)}, objectives=("gain",), on_failure="retry")
    assert found.answer == ("high",) and found.failures["weak"]
    assert "RuntimeError: out of luck" in found.failures["weak"][0]
    found = px.race({"weak": weak, "high": partial(gain, 2.0)}, objectives=("gain",), failed={"gain": -1.0})
    assert found.answer == ("high",) and len(found.failures["weak"]) >= 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"options": {"a": gain}}, "at least 2 names"),
        ({"options": [gain, gain]}, "must be a mapping"),
        ({"options": {"a": gain, "b": 3}}, "functions by name"),
        ({"objectives": ()}, "objectives must be names"),
        ({"executor": 3}, "must be a concurrent.futures.Executor"),
        ({"jobs": 0}, "jobs must be"),
        ({"max_trials": 1}, "max_trials must be"),
        ({"rounds": 1}, "rounds must be an integer of at least 2"),
        ({"rounds": "3"}, "rounds must be an integer of at least 2"),
        ({"failed": {"gain": "0"}}, "must be a number"),
        ({"failed": {"gain": True}}, "must be a number"),
        ({"failed": {"gain": float("nan")}}, "must be finite"),
        ({"family": {"cost": Gaussian(variance=1.0)}}, "family must be of 'gain'"),
        ({"failed": {"cost": 1.0}}, "failed must be of 'gain'"),
        ({"on_failure": "cry"}, "on_failure must be"),
        ({"minimise": ("cost",)}, "minimise"),
        ({"options": {"a": lambda: "fast", "b": lambda: 1.0}}, "it must return a number"),
        ({"options": {"a": lambda: float("nan"), "b": lambda: float("nan")}}, "must be a finite number"),
        ({"options": {"a": lambda: {"cost": 1}, "b": lambda: {"cost": 1}}}, "a mapping with 'gain'"),
        ({"options": {"a": lambda: (1, 2), "b": lambda: (1, 2)}}, "a tuple of 1"),
        ({"options": {"a": lambda: 10**400, "b": lambda: 10**400}}, "must be a finite number"),
    ],
)
def test_bad_input(given, words):
    with pytest.raises(InputError, match=words):
        px.race(**{"options": OPTIONS, "objectives": ("gain",), "seed": 1, **given})


def test_what_only_looks_constant_settles_no_tie():
    """100 but for rare faults: a few runs that are level say nothing, and the race goes on until its budget ends."""

    def score(seed):
        return 0.0 if random.Random(seed).random() < 0.01 else 100.0

    for seed in range(3):
        raced = px.race({"a": score, "b": score}, objectives=("score",), seed=seed, max_trials=12)
        assert raced.status != "certified" and sum(raced.counts.values()) == 12


class Seen(NamedTuple):
    cost: float
    gain: float


def test_names_of_what_a_function_returns_decide_never_their_order():
    clocks = {"time": 0.5, "cpu": 0.1}
    wanted = {"gain": 1.0, "cost": 5.0}
    assert read(Seen(cost=5.0, gain=1.0), ("gain", "cost"), clocks).values == wanted
    assert read(pd.Series({"cost": 5.0, "gain": 1.0}), ("gain", "cost"), clocks).values == wanted
    assert read(Seen(cost=5.0, gain=1.0), ("gain", "time"), clocks).values == {"gain": 1.0, "time": 0.5}
    assert "a mapping with 'loss'" in read(Seen(cost=5.0, gain=1.0), ("loss",), clocks).problem


def test_a_time_below_zero_is_a_failure_and_no_record():
    assert read({"time": -1.0}, ("time",), {}).problem == "time must be at least 0, got -1.0"
    assert read({"time": 0.0}, ("time",), {}).values["time"] > 0.0
