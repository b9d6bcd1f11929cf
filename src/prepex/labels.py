"""Names and signs: the border between the user's objectives and the inside, where everything is maximised."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from prepex import _checks
from prepex._checks import Floats
from prepex.errors import InputError, shown


@dataclass(frozen=True)
class Labels:
    """Names of arms and objectives, and which objectives the user minimises."""

    arms: tuple[str, ...]
    objectives: tuple[str, ...]
    minimise: tuple[str, ...] = ()

    @classmethod
    def make(
        cls,
        shape: tuple[int, ...],
        arms: Iterable[str] | None = None,
        objectives: Iterable[str] | None = None,
        minimise: Iterable[str | int] = (),
    ) -> "Labels":
        """Checked labels for means of this shape, with defaults.

        >>> Labels.make((2, 2), objectives=("gain", "cost"), minimise=("cost",)).signs
        array([ 1., -1.])
        """
        n_arms, n_objectives = shape
        known = _checks.names("objectives", objectives, n_objectives, "objective")
        if isinstance(minimise, Mapping):
            raise InputError(f"minimise must be names of objectives that are costs, got {shown(minimise)}")
        chosen = {_checks.member("minimise", entry, known) for entry in _checks.one_or_several(minimise)}
        return cls(
            _checks.names("arms", arms, n_arms, "arm"),
            known,
            tuple(name for index, name in enumerate(known) if index in chosen),
        )

    @property
    def signed(self) -> tuple[str, ...]:
        """The objectives as heads of a table.

        >>> Labels.make((2, 2), objectives=("gain", "cost"), minimise=("cost",)).signed
        ('gain (max)', 'cost (min)')
        """
        return tuple(f"{name} ({'min' if name in self.minimise else 'max'})" for name in self.objectives)

    @property
    def signs(self) -> Floats:
        """+1 for a maximised objective, -1 for a minimised one: benefit = sign * value, and back."""
        signs: Floats = np.array([-1.0 if name in self.minimise else 1.0 for name in self.objectives])
        return _checks.frozen(signs)
