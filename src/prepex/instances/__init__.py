"""The benchmark problems of the literature, each with its citation.

covboost     20 vaccine boosters, 3 immune responses (Munro et al., 2021)
correlated   5 arms, 2 correlated objectives (Kone et al., 2024)
bernoulli    5 arms, 2 Bernoulli objectives (Kone et al., 2024)
dose_finding 5 doses, cured against toxic, Bernoulli; invented
snw          206 sorting networks, area against throughput (Zuluaga et al., 2012)
"""

from prepex.instances.catalogue import INSTANCES, Entry, load
from prepex.instances.problems import bernoulli, correlated, covboost, dose_finding, snw
from prepex.instances.table import Table, read_table

__all__ = [
    "INSTANCES",
    "Entry",
    "Table",
    "bernoulli",
    "correlated",
    "covboost",
    "dose_finding",
    "load",
    "read_table",
    "snw",
]
