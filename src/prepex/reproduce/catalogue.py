"""All figures by name, in the order of the report."""

from prepex.errors import InputError
from prepex.reproduce import arms, correlation, covboost, error, fronts, objectives, polar, prets, table
from prepex.reproduce.figure import SIZES, Figure

FIGURES: dict[str, Figure] = {
    module.FIGURE.name: module.FIGURE
    for module in (fronts, polar, covboost, error, correlation, arms, objectives, table, prets)
}


def find(names: tuple[str, ...]) -> list[Figure]:
    """Figures by name; "all", or nothing, means all of them.

    >>> [figure.name for figure in find(("error", "fronts"))]
    ['fronts', 'error']
    """
    unknown = [name for name in names if name not in FIGURES and name != "all"]
    if unknown:
        raise InputError(f"figure must be one of all, {', '.join(FIGURES)}, got {unknown[0]!r}")
    everything = not names or "all" in names
    return [figure for name, figure in FIGURES.items() if everything or name in names]


def check_size(size: str) -> str:
    """A known size.

    >>> check_size("small")
    'small'
    """
    if size not in SIZES:
        raise InputError(f"size must be one of {', '.join(SIZES)}, got {size!r}")
    return size
