"""The figures and the table of the FraPPE paper, each in one file, from the first pull to the report.

    prepex reproduce all --size small

A figure is cut into cells; each finished cell is stored, so an interrupted run continues where it stopped. The same
seed gives the same stopping times and answers for any number of processes or machines; only clocks differ.
"""

from prepex.reproduce.catalogue import FIGURES
from prepex.reproduce.figure import SIZES
from prepex.reproduce.plan import BACKENDS, Plan, reproduce

__all__ = ["BACKENDS", "FIGURES", "SIZES", "Plan", "reproduce"]
