"""`python -m benchmarks [core] [rules] [guarantee] [hurt] [borders] [study] [families] [voids] [mutations] [kills]
[fuzz] [load] [startup] [bits] [questions] [analyse] [dialogue] [noise] [race] [race-long]
[race-truth] [race-kills] [race-workers] [forecast] [plan] [prior] [compare] [optuna] [optuna-picture]`: by default the
timings, core, rules, questions and startup.
"""

import sys
from importlib import import_module
from itertools import takewhile

from prepex._kernels import engine

# The module and the function of each: only what is asked for is imported.
PARTS = {
    "core": "core.main",
    "rules": "rules.main",
    "questions": "questions.main",
    "guarantee": "guarantee.main",
    "hurt": "hurt.main",
    "borders": "borders.main",
    "study": "study.main",
    "families": "families.main",
    "voids": "voids.main",
    "mutations": "mutations.main",
    "kills": "kills.main",
    "fuzz": "fuzz.main",
    "load": "load.main",
    "startup": "startup.main",
    "bits": "startup.bits",
    "analyse": "analyse.main",
    "race": "race.levels",
    "race-long": "race.levels_long",
    "race-truth": "race.truth",
    "race-kills": "race.kills",
    "race-workers": "race.workers",
    "dialogue": "dialogue.main",
    "forecast": "forecast.main",
    "plan": "plan.main",
    "prior": "prior.main",
    "compare": "compare.main",
    "noise": "noise.main",
    "optuna": "optuna.main",
    "optuna-picture": "optuna.picture",
}

# Numbers, and what follows --, are for the parts that take them.
words = takewhile(lambda word: not word.startswith("--"), sys.argv[1:])
for name in [word for word in words if not word[0].isdigit()] or ["core", "rules", "questions", "startup"]:
    if name not in PARTS:
        sys.exit(f"benchmark must be one of {', '.join(PARTS)}, got {name!r}")
    module, function = PARTS[name].split(".")
    part = getattr(import_module(f"benchmarks.{module}"), function)
    # What is timed is compiled code, whatever would be interpreted first.
    with engine.waiting():
        part()
