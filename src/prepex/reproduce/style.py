"""The look of all pictures. Needs matplotlib: `pip install "prepex[plot]"`."""

from typing import TYPE_CHECKING, Any

from prepex.drawing import figure_class

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ACCENT = "#D55E00"


def sheet(width: float, height: float) -> "Figure":
    """An empty picture, sizes in inches."""
    return figure_class()(figsize=(width, height), layout="constrained")


def tidy(axes: Any, *, grid: str = "both") -> None:
    """No frame above and to the right, a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis=grid, alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)


def plain_log(axis: Any, *, between: bool = False) -> None:
    """A logarithmic axis labelled 1,000 and not 10^3; `between`: also 2,000 and 5,000."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if between else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
