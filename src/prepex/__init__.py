"""prepex: the Pareto set of a noisy multi-objective experiment, under your own preference cone.

    Cone, one             which trade-offs count as better
    better, neither       statements for Cone.from_preferences; Dialogue asks for them; ClashError where they clash
    Gaussian, LogNormal, Bernoulli, Poisson, Exponential, Exact, Product    how outcomes are distributed
    Limit                 what an option must satisfy: a sum of objectives at most or at least a number
    Problem               a simulated truth: means, family, cone, names
    evidence              how far data are from any instance with another Pareto set  -> Evidence, Alternative
    characteristic_time   the floor of every correct algorithm                        -> Bound
    Experiment            a live experiment: ask, tell, done, recommendation, why     -> Recommendation
    Settings              what is fixed before its first pull, checked: for Experiment.of and Study.create
    analyse               what a table of measurements says already, and what to measure next   -> Analysis
    Study                 a durable experiment in a database, shared by many workers  (needs `prepex[study]`)
    race, grid            functions as options, called until it is settled which are worth keeping
    race_async            the same for coroutines
    plan                  how many trials a study will take, before it starts         -> Plan
    simulate              many seeded runs of rules and thresholds                    -> Runs
    sampling              FraPPE, InformationDirected, AcceleratedPreTS, TnS, Oracle, Uniform; PSIPS, APE, Auer
    stopping              thresholds: certified, posterior, heuristic, kaufmann_koolen
    Prior                 what is believed of the means before the first pull, for stopping.Posterior
    instances             benchmark problems: covboost, correlated, snw, bernoulli, dose_finding
    InputError            what bad input raises, a ValueError; of studies also NoStudyError, NameTakenError, and
                          BlockedError where told outcomes wait for a pull
    optuna                optuna.confirm: is the front of an Optuna study real? (needs the extra `prepex[optuna]`)
    cluster               simulations on a Dask cluster (needs the extra `prepex[dask]`)
    plot                  pictures (needs the extra `prepex[plot]`)

Names load on first use, so that `import prepex` stays fast.
"""

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

_HOME = {
    "Alternative": "solvers",
    "Analysis": "analysis.analyse",
    "Bernoulli": "family",
    "BlockedError": "study.handout",
    "Bound": "bound",
    "ClashError": "preferences",
    "Cone": "cone",
    "Dialogue": "dialogue",
    "Evidence": "alternatives",
    "Exact": "family",
    "Experiment": "experiment",
    "Exponential": "family",
    "Forecast": "foresight.forecast",
    "Gaussian": "family",
    "InputError": "errors",
    "Limit": "limits",
    "LogNormal": "family",
    "NameTakenError": "study.storage",
    "NoStudyError": "study.log",
    "Plan": "planning.plan",
    "Poisson": "family",
    "Prior": "prior",
    "Problem": "problem",
    "Product": "family",
    "Recommendation": "live.recommendation",
    "Runs": "runs",
    "Settings": "settings",
    "Study": "study.study",
    "analyse": "analysis.analyse",
    "better": "preferences",
    "characteristic_time": "bound",
    "evidence": "alternatives",
    "grid": "racing.grid",
    "neither": "preferences",
    "one": "trade_offs",
    "plan": "planning.plan",
    "race": "racing.calls",
    "race_async": "racing.calls",
    "simulate": "simulation",
}
_MODULES = ("cluster", "instances", "optuna", "plot", "sampling", "stopping")

__all__ = [*sorted(_HOME), *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"prepex.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return import_module(f"prepex.{name}")
    raise AttributeError(f"module 'prepex' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
