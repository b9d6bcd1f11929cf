"""Sampling rules: one file, one rule, one paper."""

from prepex.sampling.ape import APE
from prepex.sampling.auer import Auer
from prepex.sampling.fixed import Oracle, Uniform
from prepex.sampling.frappe import FraPPE
from prepex.sampling.information import InformationDirected
from prepex.sampling.prets import AcceleratedPreTS
from prepex.sampling.psips import PSIPS
from prepex.sampling.rule import Rule
from prepex.sampling.tns import TnS

RULES: dict[str, type[Rule]] = {
    "frappe": FraPPE,
    "information": InformationDirected,
    "prets": AcceleratedPreTS,
    "tns": TnS,
    "oracle": Oracle,
    "uniform": Uniform,
    "psips": PSIPS,
    "ape": APE,
    "auer": Auer,
}

__all__ = [
    "APE",
    "PSIPS",
    "RULES",
    "AcceleratedPreTS",
    "Auer",
    "FraPPE",
    "InformationDirected",
    "Oracle",
    "Rule",
    "TnS",
    "Uniform",
]
