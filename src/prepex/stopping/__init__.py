"""When to stop: each threshold names its theorem, or says that it has none.

certified         proven for any sampling rule and stopping time; the default of a live experiment
heuristic         log((1 + log t) / delta): what the literature's experiments use; no proof
kaufmann_koolen   proven; far too large in practice
own               the stopping test that PSIPS, APE and Auer bring with them
"""

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

__all__ = [
    "THRESHOLDS",
    "Certified",
    "Heuristic",
    "KaufmannKoolen",
    "Own",
    "Threshold",
    "UserThreshold",
    "as_threshold",
]
