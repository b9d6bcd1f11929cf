"""Instances by name, for the command line."""

from collections.abc import Callable
from dataclasses import dataclass

from prepex.cone import Cone
from prepex.errors import InputError
from prepex.instances.problems import bernoulli, correlated, covboost, dose_finding, snw
from prepex.problem import Problem


@dataclass(frozen=True)
class Entry:
    """An instance with what a list says about it. `usage` shows an argument, if the name takes one."""

    usage: str
    about: str
    cite: str
    make: Callable[[str, Cone | None], Problem]


def _fixed(make: Callable[[Cone | None], Problem]) -> Callable[[str, Cone | None], Problem]:
    def build(argument: str, cone: Cone | None) -> Problem:
        if argument:
            raise InputError(f"this instance takes no argument, got {argument!r}")
        return make(cone)

    return build


def _correlated(argument: str, cone: Cone | None) -> Problem:
    try:
        rho = float(argument or 0.0)
    except ValueError:
        raise InputError(f"correlated:RHO needs a number in (-1, 1), got {argument!r}") from None
    return correlated(rho, cone)


INSTANCES: dict[str, Entry] = {
    "covboost": Entry(
        "covboost", "20 vaccine boosters, 3 immune responses", "Munro et al., Lancet 2021", _fixed(covboost)
    ),
    "correlated": Entry(
        "correlated[:RHO]", "5 arms, 2 objectives with correlation RHO (0)", "Kone et al., 2024", _correlated
    ),
    "bernoulli": Entry("bernoulli", "5 arms, 2 Bernoulli objectives", "Kone et al., 2024", _fixed(bernoulli)),
    "dose_finding": Entry(
        "dose_finding", "5 doses: cured (max) and toxic (min), Bernoulli", "invented for prepex", _fixed(dose_finding)
    ),
    "snw": Entry("snw", "206 sorting networks, area against throughput", "Zuluaga et al., DAC 2012", _fixed(snw)),
}


def load(name: str, cone: Cone | None = None) -> Problem:
    """The instance called `name`, with an argument after a colon.

    >>> load("correlated:0.5").n_arms
    5
    """
    key, _, argument = name.partition(":")
    if key not in INSTANCES:
        raise InputError(f"instance must be one of {', '.join(e.usage for e in INSTANCES.values())}, got {name!r}")
    return INSTANCES[key].make(argument, cone)
