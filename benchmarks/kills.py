"""The plain loop of the documentation, killed between ask and tell and started again: it ends, and nothing is lost.

`python -m benchmarks kills` kills it 200 times; tests/test_study_lost.py some 50 times.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from prepex import Gaussian, Study

KILLED = 9
# It ends itself, without a word to anybody, when its life is over: between ask and tell.
LOOP = """
import os, sys
import numpy as np
from prepex import Study
storage, life, named = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "named"
study = Study.open(storage, "dose")
name = {"actor": "Ada"} if named else {}
while (ticket := study.ask(**name)) is not None:
    life -= 1
    if life == 0:
        os._exit(9)
    pull = int(ticket.token.partition("-")[0])
    truth = {"a": (2.0, 0.0), "b": (0.0, 2.0), "c": (-1.0, -1.0)}[ticket.arm]
    outcome = truth + 0.5 * np.random.default_rng(pull).standard_normal(2)
    study.tell(ticket.token, outcome.tolist(), **name)
"""


class Story(NamedTuple):
    """What became of a study: kills, outcomes, pulls handed out and not told, pulls asked for."""

    kills: int
    outcomes: int
    lost: int
    asked: int


def play(place: str, kills: int, named: str, rng: np.random.Generator, longest: int = 8) -> Story:
    """Kill the loop so many times, after 1 to `longest` asks each, then let it end."""
    given = {"family": Gaussian(variance=0.25), "delta": 0.1}
    study = Study.create(place, "dose", arms=tuple("abc"), objectives=("u", "v"), **given)
    done = 0
    while not study.done:
        life = int(rng.integers(1, longest + 1)) if done < kills else 10**6
        code = subprocess.run([sys.executable, "-c", LOOP, place, str(life), named], check=False).returncode
        if code not in (0, KILLED):
            raise RuntimeError(f"the loop must end or be killed, got status {code}")
        done += code == KILLED
        if study.status().out > 1:
            raise RuntimeError(f"at most the last pull may be out, got {study.status().out}")
    status = study.status()
    asked = sum(event.kind == "asked" for event in study.events())
    study.close()
    return Story(done, status.n_pulls, status.out + status.waiting, asked)


def main(kills: int = 200) -> None:
    """In as many studies as that takes, by turns with a name and without."""
    began, rng, stories = time.perf_counter(), np.random.default_rng(0), list[Story]()
    with tempfile.TemporaryDirectory() as folder:
        while (left := kills - sum(story.kills for story in stories)) > 0:
            number = len(stories)
            named = ("named", "nameless")[number % 2]
            stories.append(play(str(Path(folder) / f"{number}.db"), left, named, rng, longest=3))
            print(f"study {number + 1}, {named}: {stories[-1]}", flush=True)
    killed, outcomes, lost, asked = (sum(column) for column in zip(*stories, strict=True))
    ends = f"{killed} kills in {len(stories)} studies, all ended"
    print(f"{ends}; {asked} pulls asked for, {outcomes} outcomes, {lost} lost; {time.perf_counter() - began:.0f} s")
