"""Why each arm is in the answer or not, where there are limits.

An arm outside may break a limit, be dominated, or both: the reason with the more evidence is the one to give.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from prepex._kernels.instance import Floats, Instance
from prepex.limits import Limits
from prepex.numerals import first_few

FEASIBLE = "feasible and not dominated"
# Options that a sentence lists.
MOST_NAMED = 5


def reasons(inst: Instance, names: Sequence[str], limits: Limits | None) -> dict[str, str]:
    """By name; nothing without limits."""
    return {} if limits is None else {name: _reason(inst, k, names, limits) for k, name in enumerate(names)}


def _reason(inst: Instance, k: int, names: Sequence[str], limits: Limits) -> str:
    if inst.mask[k]:
        return FEASIBLE
    on = inst.n_facets
    broken = _size(-inst.S[k, on:], inst.V[k, on:])
    worst = int(np.argmax(broken))
    best, by = 0.0, -1
    for a in np.flatnonzero(inst.mask):
        ahead = inst.S[a, :on] - inst.S[k, :on]
        if np.all(ahead >= 0.0):
            # A difference of exactly 0 without noise holds as it is.
            spread = inst.V[a, :on] + inst.V[k, :on]
            size = float(np.min(np.where(spread == 0.0, np.inf, _size(ahead, spread))))
            best, by = (size, int(a)) if by < 0 or size > best else (best, by)
    if by >= 0 and (best > broken[worst] or inst.S[k, on + worst] >= 0.0):
        return f"dominated by {names[by]}"
    return f"infeasible: breaks {limits.words[worst]}"


def _size(ahead: Floats, spread: Floats) -> Floats:
    """The likelihood ratio, as a Gaussian's, of what is above 0; infinite without noise."""
    above = np.maximum(ahead, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(above > 0.0, 0.5 * above * above / spread, 0.0))


def in_words(found: Mapping[str, str]) -> list[str]:
    """The arms that break limits, in at most one sentence.

    >>> in_words({"low": "feasible and not dominated", "high": "infeasible: breaks toxicity at most 0.3"})
    ['Breaks a limit: high (toxicity at most 0.3).']
    """
    start = "infeasible: breaks "
    out = [f"{name} ({why.removeprefix(start)})" for name, why in found.items() if why.startswith(start)]
    return [f"Breaks a limit: {first_few(out, MOST_NAMED)}."] if out else []
