"""What is fixed when a study is created, as the first event of its log."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prepex import _checks
from prepex.experiment import Experiment

FORMAT = "prepex study 1"
LONGEST_NAME = 200


@dataclass(frozen=True)
class Config:
    """Name, settings of the experiment, and the lease of a pull in seconds (None: it never ends)."""

    name: str
    settings: Mapping[str, Any]
    lease: float | None

    @classmethod
    def make(cls, name: str, experiment: Experiment, lease: float | None) -> "Config":
        """Checked."""
        if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            raise ValueError(f"name must be 1 to {LONGEST_NAME} printable characters, got {name!r}")
        lease = None if lease is None else _checks.number("lease", lease, low=0.0)
        return cls(name, experiment.settings(), lease)

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> "Config":
        """From the data of the first event."""
        if given.get("format") != FORMAT:
            raise ValueError(f"study must have the format {FORMAT!r}, got {given.get('format')!r}")
        return cls(given["name"], given["settings"], given["lease"])

    def to_document(self) -> dict[str, Any]:
        """The data of the first event."""
        return {"format": FORMAT, "name": self.name, "settings": dict(self.settings), "lease": self.lease}

    def experiment(self) -> Experiment:
        """A fresh one."""
        return Experiment.from_settings(self.settings)
