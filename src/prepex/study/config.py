"""What is fixed when a study is created, as the first event of its log. The budget may be extended later."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from prepex import _checks
from prepex.errors import InputError, shown
from prepex.experiment import Experiment

FORMAT = "prepex study 1"
LONGEST_NAME = 200
# A certificate looks at every pair of arms on every facet.
MOST_ARMS, MOST_OBJECTIVES, MOST_FACETS = 2000, 100, 1000
# Seconds, 31 years; the calendar of a log must not end before a lease does.
LONGEST_LEASE = 1e9


@dataclass(frozen=True)
class Config:
    """Name, settings of the experiment, and how pulls are handed out.

    lease         of a pull, in seconds; None: it never ends
    max_waiting   no new pulls while more told outcomes than this wait for one; None: by the number of pulls out
    """

    name: str
    settings: Mapping[str, Any]
    lease: float | None
    max_waiting: int | None = None

    @classmethod
    def make(cls, name: str, experiment: Experiment, lease: float | None, max_waiting: int | None = None) -> "Config":
        """Checked."""
        if max_waiting is not None:
            max_waiting = _checks.whole("max_waiting", max_waiting, low=0)
        return cls(_name(name), _settings(experiment.settings()), _lease(lease), max_waiting)

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> "Config":
        """From the data of the first event."""
        if given.get("format") != FORMAT:
            raise InputError(f"study must have the format {FORMAT!r}, got {given.get('format')!r}")
        return cls(_name(given["name"]), _settings(given["settings"]), _lease(given["lease"]), given.get("max_waiting"))

    def to_document(self) -> dict[str, Any]:
        """The data of the first event."""
        document = {"format": FORMAT, "name": self.name, "settings": dict(self.settings), "lease": self.lease}
        return document if self.max_waiting is None else document | {"max_waiting": self.max_waiting}

    def extended(self, max_pulls: int) -> "Config":
        """The same with a longer budget."""
        return replace(self, settings={**self.settings, "max_pulls": max_pulls})

    def most_waiting(self, out: int) -> int:
        """How many told outcomes may wait while so many pulls are out: some for each of those who work."""
        return 16 + 4 * out if self.max_waiting is None else self.max_waiting

    def experiment(self) -> Experiment:
        """A fresh one."""
        return Experiment.from_settings(self.settings)


def _name(given: Any) -> str:
    if not isinstance(given, str) or not given.strip() or len(given) > LONGEST_NAME or not given.isprintable():
        raise InputError(f"name must be 1 to {LONGEST_NAME} printable characters, got {shown(given)}")
    return given


def _settings(given: Mapping[str, Any]) -> Mapping[str, Any]:
    labels, facets = given["labels"], given["cone"]["facets"]
    sizes = ("arms", labels["arms"], MOST_ARMS), ("objectives", labels["objectives"], MOST_OBJECTIVES)
    for what, listed, most in (*sizes, ("facets", facets, MOST_FACETS)):
        if len(listed) > most:
            raise InputError(f"{what} of a study must be at most {most:,}, got {len(listed):,}")
    return given


def _lease(given: Any) -> float | None:
    return None if given is None else _checks.number("lease", given, low=0.0, high=LONGEST_LEASE)
