"""The algorithms that are compared: one list for all figures."""

from dataclasses import dataclass

from prepex.sampling import RULES, FraPPE, Rule

PAPER_NOTE = "no guarantee"


@dataclass(frozen=True)
class Algorithm:
    """A rule with its look in all pictures.

    key       in the names of cells
    seconds   about how long a run on Cov-Boost takes until delta 0.01: for cutting work, nothing else
    reach     number of arms up to which it is timed: beyond, a round takes milliseconds
    """

    key: str
    rule: Rule
    colour: str
    line: str
    seconds: float
    reach: int

    @property
    def name(self) -> str:
        """In pictures and tables; the rows carry the rule's own name."""
        return "FraPPE (paper alternatives)" if self.rule.alternatives == "paper" else self.rule.name

    @property
    def slow(self) -> bool:
        """So slow that a figure may give it fewer runs or rounds."""
        return self.seconds > 0.5


# Colours that are told apart by the colour-blind (Okabe & Ito), and lines that are told apart in print.
_LOOKS: dict[str, tuple[str, str, float, int]] = {
    "frappe": ("#0072B2", "-", 0.06, 2000),
    "information": ("#D55E00", "-", 0.03, 2000),
    "psips": ("#009E73", "--", 15.0, 200),
    "ape": ("#CC79A7", "-.", 0.3, 200),
    "tns": ("#E69F00", "--", 0.12, 500),
    "prets": ("#56B4E9", "-.", 1.3, 40),
    "oracle": ("#000000", ":", 0.05, 2000),
    "uniform": ("#7f7f7f", ":", 0.1, 2000),
    "auer": ("#8c564b", "--", 0.4, 2000),
}

ALGORITHMS: dict[str, Algorithm] = {key: Algorithm(key, RULES[key](), *look) for key, look in _LOOKS.items()} | {
    "frappe-paper": Algorithm("frappe-paper", FraPPE(alternatives="paper"), "#0072B2", ":", 0.02, 2000)
}


def chosen(*keys: str) -> list[Algorithm]:
    """These algorithms, in this order.

    >>> [algorithm.name for algorithm in chosen("uniform", "frappe-paper")]
    ['Uniform', 'FraPPE (paper alternatives)']
    """
    return [ALGORITHMS[key] for key in keys]
