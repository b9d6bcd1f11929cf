"""What every sampling rule must keep to. A new rule is one more name here."""

from prepex.sampling import APE, PSIPS, AcceleratedPreTS, Auer, FraPPE, InformationDirected, Oracle, TnS, Uniform

RULES = {
    "frappe": FraPPE(),
    "information": InformationDirected(),
    "information_evidence": InformationDirected(follow="evidence"),
    "prets": AcceleratedPreTS(gap=0.1),
    "tns": TnS(),
    "oracle": Oracle(allocation=(0.3, 0.1, 0.1, 0.25, 0.25)),
    "uniform": Uniform(),
    "psips": PSIPS(),
    "ape": APE(),
    "auer": Auer(),
}
# These go only where their own test needs a pull.
UNFORCED = ("psips", "ape", "auer")
