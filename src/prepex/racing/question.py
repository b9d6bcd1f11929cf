"""What is asked of the outcomes of a race, of commands and functions alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prepex import _checks
from prepex.cone import Cone
from prepex.errors import InputError, shown
from prepex.family import Family, Product
from prepex.limits import Limit
from prepex.settings import Settings
from prepex.stopping import Certified
from prepex.tolerance import Tolerance

# Rounds whose outcomes only prepare the tests: the first ones, from which families may be chosen too.
ROUNDS = 3
# Outcomes that may be out or wait: workers come back when they do.
MOST_OUT = 4096


@dataclass(frozen=True)
class Question:
    """Options, objectives and the settings of the study.

    families   of each objective; None: the first rounds decide
    failed     what counts in place of a measure in a trial that fails; without any, a failure is no outcome
    """

    options: tuple[str, ...]
    objectives: tuple[str, ...]
    minimise: tuple[str, ...]
    families: Mapping[str, Family | None]
    cone: Cone | None = None
    delta: float = 0.05
    tolerance: Tolerance = None
    at_most: Mapping[str, float] = field(default_factory=dict)
    at_least: Mapping[str, float] = field(default_factory=dict)
    limits: Sequence[Limit] = ()
    seed: int = 0
    rounds: int = ROUNDS
    failed: Mapping[str, float] = field(default_factory=dict)
    on_failure: str = "stop"
    units: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.objectives:
            if name in ("n", "option"):
                raise InputError(f"a measure must not be called {name!r}, which tables use, got it: rename it")
        unknown = [name for name in self.failed if name not in self.objectives]
        if unknown:
            raise InputError(f"failed must be of {_checks.quoted(self.objectives)}, got {unknown[0]!r}")
        if self.on_failure not in ("stop", "retry"):
            raise InputError(f"on_failure must be 'stop' or 'retry', got {shown(self.on_failure)}")
        for name, value in self.failed.items():
            _checks.number(f"failed[{name!r}]", value)
        _checks.whole("rounds", self.rounds, low=2)
        # What cannot be is refused before anything runs, whatever the first rounds will say.
        self.settings({})

    @property
    def open_families(self) -> tuple[str, ...]:
        """The objectives whose family the first rounds decide."""
        return tuple(name for name in self.objectives if self.families.get(name) is None)

    def settings(self, decided: Mapping[str, Family]) -> Settings:
        """Of the study, with the families that were decided; a Gaussian where none was."""
        from prepex.family import Gaussian

        usual = Gaussian(variance="unknown")
        families = [self.families.get(name) or decided.get(name) or usual for name in self.objectives]
        return Settings.make(
            self.options,
            self.objectives,
            family=Product(families),
            cone=self.cone,
            delta=self.delta,
            minimise=self.minimise,
            seed=self.seed,
            tolerance=self.tolerance,
            at_most=dict(self.at_most) or None,
            at_least=dict(self.at_least) or None,
            limits=self.limits,
            threshold=Certified(pilot=self.rounds),
            max_pending=MOST_OUT,
        )


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """What differs between two documents, in words, one for each key.

    >>> differences({"delta": 0.05, "seed": 0}, {"delta": 0.1, "seed": 0})
    ['delta (0.05 there, 0.1 here)']
    """
    found = []
    for key in dict.fromkeys([*there, *here]):
        one, other = there.get(key), here.get(key)
        if one == other:
            continue
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            found += [f"{key}: {words}" for words in _entries(one, other)]
        else:
            found.append(f"{key} ({_shown(one)} there, {_shown(other)} here)")
    return found


def _shown(value: Any) -> str:
    return "none" if value is None else shown(value)


def _entries(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    gone, new = [key for key in there if key not in here], [key for key in here if key not in there]
    found = [f"{shown(key)} is only there" for key in gone[:3]] + [f"{shown(key)} is only here" for key in new[:3]]
    return (
        found
        + [
            f"{shown(key)} ({_shown(there[key])} there, {_shown(here[key])} here)"
            for key in there
            if key in here and there[key] != here[key]
        ][:3]
    )
