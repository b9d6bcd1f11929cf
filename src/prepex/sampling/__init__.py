"""Sampling rules: one file, one rule, one paper."""

from prepex.sampling.fixed import Oracle, Uniform
from prepex.sampling.frappe import FraPPE
from prepex.sampling.information import InformationDirected
from prepex.sampling.prets import AcceleratedPreTS
from prepex.sampling.rule import Rule
from prepex.sampling.tns import TnS

RULES: dict[str, type[Rule]] = {
    "frappe": FraPPE,
    "information": InformationDirected,
    "prets": AcceleratedPreTS,
    "tns": TnS,
    "oracle": Oracle,
    "uniform": Uniform,
}

__all__ = ["RULES", "AcceleratedPreTS", "FraPPE", "InformationDirected", "Oracle", "Rule", "TnS", "Uniform"]
