"""Does a plan's budget hold? `python -m benchmarks plan`: the story of docs/howto/plan.md, as a new user would type it,
then 100 studies of it, run live, with truths drawn from the guess and its uncertainty; and the time of a plan of 200
studies of Cov-Boost.
"""

import json
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console

from prepex import Experiment, plan
from prepex.instances import covboost
from prepex.planning.belief import without_noise
from prepex.planning.plan import _from_file
from prepex.runs import clopper_pearson
from prepex.settings import Settings
from prepex.spoken import choose_family

PAGE = Path(__file__).parent.parent / "docs" / "howto" / "plan.md"
N_STUDIES = 100


def typed(folder):
    """What the page says to type, its file in place: (words, the file)."""
    text = PAGE.read_text()
    table = re.search(r"```text\n(.*?)```", text, re.DOTALL)[1]
    (folder / "mortar.csv").write_text(table)
    command = re.search(r"\$ (prepex plan mortar.*?)```", text, re.DOTALL)[1].replace("\\\n", " ")
    return shlex.split(command), folder / "mortar.csv"


def main():
    """The share of studies that the 90 % budget is enough for."""
    console = Console(width=110)
    with tempfile.TemporaryDirectory() as place:
        words, file = typed(Path(place))
        began = time.perf_counter()
        shown = subprocess.run(
            [sys.executable, "-m", *words, "--format", "json"], cwd=place, capture_output=True, text=True, check=True
        )
        seconds = time.perf_counter() - began
        row = json.loads(shown.stdout)["rows"][0]
        family = choose_family(("strength", "days"), ("", ""), ("strength=unknown(9)", "days=lognormal(0.04)"), None)
        given = {"family": family, "minimise": ("days",), "tolerance": {"strength": 1.5, "days": "15%"}}
        belief = _from_file(file, None, None, None, given)
    truths = belief.draw(N_STUDIES, np.random.default_rng(99))
    lengths = [live(belief.settings, *truth, seed) for seed, truth in enumerate(zip(*truths, strict=True))]
    within = int(np.sum(np.array(lengths) <= row["q90"]))
    lower = clopper_pearson(within, N_STUDIES, 0.95)[0]
    console.print(f"plan as typed: {seconds:.0f} s, median {row['median']}, 9 of 10 within {row['q90']}")
    console.print(f"{within} of {N_STUDIES} live studies ended within it (95 % lower bound {lower:.0%})")
    console.print(f"their median {np.median(lengths):.0f}, the longest {max(lengths)}")
    problem = covboost()
    fixed = Settings.make(problem.labels.arms, problem.labels.objectives, family=problem.family, delta=0.1)
    for again in range(2):
        began = time.perf_counter()
        found = plan(problem.means, fixed, scenarios=["guess"], what_if={}, n_runs=200, n_jobs=-1, seed=again)
        console.print(f"200 studies of Cov-Boost: {time.perf_counter() - began:.0f} s, {found.row.words}")


def live(settings, truth, variances, seed):
    """Pulls of one live study."""
    rng = np.random.default_rng((7, seed))
    document = settings.to_document()
    study = Experiment.from_settings(document | {"seed": seed, "family": _written(settings)})
    while not study.done:
        arm = study.choose(1, [0] * len(truth))[0]
        row = rng.normal(truth[arm], np.sqrt(variances[arm]))
        study.tell(study.labels.arms[arm], study.setting.units.outer(row))
    return study.n_pulls


def _written(settings):
    from prepex.document import of_family

    return of_family(without_noise(settings.family))
