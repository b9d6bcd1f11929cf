"""When to stop: each threshold names its theorem, or says that it has none.

certified         proven for any sampling rule and stopping time; the default of a live experiment
posterior         proven on average over a prior, for any sampling rule
heuristic         log((1 + log t) / delta): what the literature's experiments use; no proof
kaufmann_koolen   proven; far too large in practice
own               the stopping test that PSIPS, APE and Auer bring with them
"""

from prepex.stopping.posterior import Posterior, with_prior
from prepex.stopping.threshold import (
    THRESHOLDS,
    Certified,
    Heuristic,
    KaufmannKoolen,
    Own,
    Threshold,
    UserThreshold,
    as_threshold,
)

THRESHOLDS["posterior"] = Posterior

__all__ = [
    "THRESHOLDS",
    "Certified",
    "Heuristic",
    "KaufmannKoolen",
    "Own",
    "Posterior",
    "Threshold",
    "UserThreshold",
    "as_threshold",
    "with_prior",
]
