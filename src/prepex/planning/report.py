"""A plan as one self-contained HTML file: the answer in short, tables, pictures, and the command that starts it."""

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from prepex import markup
from prepex.family.words import family_words
from prepex.foresight.forecast import percent
from prepex.numerals import number, plural
from prepex.planning.designs import AS_PLANNED
from prepex.planning.inverse import SURE
from prepex.planning.table import Row
from prepex.tolerance import as_given, in_words

if TYPE_CHECKING:
    from prepex.planning.plan import Plan

COLOURS = ("#2478b4", "#c4552b", "#5b7f2b", "#7a4fa3", "#8a949e", "#00777f")
STYLE = """
:root { color-scheme: light dark; --paper: #fff; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #17202a; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
table { border-collapse: collapse; } th, td { padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr { border-bottom: 1px solid #8884; } tr.planned td { font-weight: 600; } .scroll { overflow-x: auto; }
.answer { padding: 1rem; background: #eef4fb; border-radius: .5rem; } .soft { color: #55616e; }
svg { max-width: 100%; height: auto; }
pre { overflow: auto; background: #f6f6f6; padding: 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #161616; }
  body { background: #161616; color: #ddd; } .answer { background: #1d2a3a; } pre { background: #222; }
  .soft { color: #a3afbc; }
}
"""


def make_report(plan: "Plan", name: str = "NAME") -> str:
    """The page."""
    command = plan.command(name)
    create = (
        f"<p>No shell command can say {_text(plan.unsayable)}; in Python: "
        "<code>Study.create(storage, name, plan.study_settings)</code></p>"
        if command is None
        else f"<pre>{_text(command)}</pre>"
    )
    parts = [
        "<h1>How many trials will it take?</h1>",
        f'<p class="answer">{_text(plan.words)}</p>',
        "<h2>The study</h2>",
        _study(plan),
        "<h2>Chance to have stopped</h2>",
        _draw_chances(plan),
        "<h2>Trials, errors and what-ifs</h2>",
        rows_table(plan),
        _legend(plan),
        "<h2>Trials of each option</h2>",
        _draw_arms(plan),
        _afford(plan),
        _calibration(plan),
        "<h2>Start it</h2>",
        "<p>The study with these settings, which are fixed from then on:</p>",
        "" if plan.calibration is None else f"<p>{_text(plan.start_words)}</p>",
        create,
    ]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Plan of a study</title>'
    return (
        f'<!doctype html><html lang="en"><head>{head}<style>{STYLE}</style></head><body>{"".join(parts)}</body></html>'
    )


def rows_table(plan: "Plan") -> str:
    """Designs by scenarios."""
    chance = ("ends within the budget",) if plan.budget is not None else ()
    names = ("design", "scenario", "median", "9 of 10 within", "wrong", "99 % bound", *chance)
    head = "".join(f"<th>{_text(name)}</th>" for name in names)
    body = ""
    for row in plan.rows:
        mark = ' class="planned"' if row.design == AS_PLANNED else ""
        numbers = [pulls(row, row.median), pulls(row, row.q90), wrong(row), percent(row.error_upper)]
        numbers += [] if row.chance is None else [percent(row.chance)]
        cells = "".join(f'<td class="number">{_text(text)}</td>' for text in numbers)
        body += f"<tr{mark}><td>{_text(row.design)}</td><td>{_text(row.scenario)}</td>{cells}</tr>"
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'


def pulls(row: Row, value: int | None) -> str:
    """A number of trials, or that it is more than were looked at."""
    return f"> {row.most:,}" if value is None else f"{value:,}"


def wrong(row: Row) -> str:
    """Wrong answers of those that were given."""
    return f"{round(row.error * row.n_stopped) if row.n_stopped else 0} of {row.n_stopped}"


def _text(value: object) -> str:
    return html.escape(str(value))


def _study(plan: "Plan") -> str:
    settings = plan.settings
    labels, units = settings.labels, settings.setting().units
    size = "none: every difference matters"
    if settings.tolerance is not None:
        size = in_words(as_given(settings.tolerance, units), labels.objectives)
    rows = [
        ("options", ", ".join(labels.arms[:20]) + (" ..." if len(labels.arms) > 20 else "")),
        ("objectives", ", ".join(labels.signed)),
        ("outcomes are", family_words(settings.family, labels.objectives)),
        ("cone", settings.cone.name or "of your own"),
        ("tolerance", size),
        *([] if settings.limits is None else [("limits", ", ".join(settings.limits.words))]),
        ("risk delta", f"{settings.delta:g}"),
        ("threshold", settings.threshold.name + (", proven" if settings.threshold.proven else ", no worst-case proof")),
        ("budget", "not said" if plan.budget is None else plural(plan.budget, "trial")),
    ]
    body = "".join(f"<tr><th>{_text(name)}</th><td>{_text(value)}</td></tr>" for name, value in rows)
    return f"<table>{body}</table><br>{_guess(plan)}"


def _guess(plan: "Plan") -> str:
    """Means, and beside them how far off they may be."""
    labels, logs = plan.settings.labels, plan.settings.setting().units.logs
    unsure, heads, columns = plan.uncertainty, ["guess"], [list(labels.arms)]
    for q, name in enumerate(labels.objectives):
        heads.append(name)
        columns.append([number(value) for value in plan.guess[:, q]])
        if unsure is not None and unsure[:, q].any():
            heads.append(f"{name} sd")
            columns.append([f"{number(100 * s, 3)} %" if q in logs else number(s) for s in unsure[:, q]])
    marks = ["<td>", *["<td class=number>"] * (len(heads) - 1)]
    body = "".join(
        f"<tr>{''.join(f'{mark}{_text(cell)}</td>' for mark, cell in zip(marks, row, strict=True))}</tr>"
        for row in zip(*columns, strict=True)
    )
    head = "".join(f"<th>{_text(name)}</th>" for name in heads)
    note = ""
    if len(heads) > 1 + len(labels.objectives):
        note = '<p class="soft">sd: how far off the guess may be, as a standard deviation.</p>'
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>{note}'


def error_words(plan: "Plan") -> str:
    """How far off the shares of simulated studies may be."""
    sizes = sorted({row.n_runs for row in plan.rows}, reverse=True)
    parts = [f"{50.0 / n**0.5:.0f} percentage points from {n:,} studies" for n in sizes]
    own = f" (as planned under the guess: {plan.row.n_runs:,})" if len(sizes) > 1 else ""
    return f"A chance has a standard error of up to {', '.join(parts)}{own}."


def _legend(plan: "Plan") -> str:
    studies = ", ".join(dict.fromkeys(f"{row.n_runs}" for row in plan.rows))
    return (
        f'<p class="soft">From {studies} simulated studies a row (seed {plan.seed}). '
        f"{_text(error_words(plan)) if plan.budget is not None else ''} <em>guess</em>: truths drawn "
        "around the guess, or the guess itself if it has no uncertainty. <em>near-tie</em>: moved two thirds of the "
        "way to the closest truth with another answer. <em>no difference</em>: all options alike. <em>worst</em>: the "
        "hardest of 20 draws. &gt;: not stopped when the simulation ended. The bound is the upper end of a one-sided "
        "99 % interval of the error: with few studies it is large even if none was wrong.</p>"
    )


def _afford(plan: "Plan") -> str:
    found = plan.afford
    if found is None:
        return ""
    names = plan.settings.labels.objectives
    rows = [(f"delta {delta:g}", chance) for delta, chance in found.deltas]
    rows += [(f"tolerance {in_words(size, names)}", chance) for size, chance in found.tolerances]
    body = ""
    for name, chance in rows:
        mark = ' class="planned"' if chance >= SURE else ""
        body += f'<tr{mark}><td>{_text(name)}</td><td class="number">{percent(chance)}</td></tr>'
    return (
        f"<h2>What {plural(found.budget, 'trial')} afford</h2><p>{_text(afford_words(plan))}</p>"
        f'<div class="scroll"><table><tr><th>with</th><th>ends within the budget</th></tr>{body}</table></div>'
        f'<p class="soft">From {found.n_runs:,} simulated studies each, as planned {plan.row.n_runs:,}. '
        f"{_text(error_words(plan))}</p>"
    )


def afford_words(plan: "Plan") -> str:
    """Which delta or tolerance a budget affords, as a sentence."""
    found = plan.afford
    if found is None:
        return ""
    names = plan.settings.labels.objectives
    delta = "no delta that was tried" if found.delta is None else f"a delta of {found.delta:g}"
    parts = [f"With a chance of at least {SURE:.0%}, {plural(found.budget, 'trial')} afford {delta}"]
    if found.tolerances:
        size = "no tolerance that was tried"
        if found.tolerance is not None:
            size = f"a tolerance of {in_words(found.tolerance, names)}"
        parts.append(f"at delta {plan.settings.delta:g}, {size}")
    return "; ".join(parts) + "."


def calibration_words(plan: "Plan") -> str:
    """The outcome of a calibration, as a sentence."""
    found = plan.calibration
    if found is None:
        return ""
    name = plan.settings.threshold.name
    if found.delta is None:
        least = found.bounds[-1]
        return (
            f"No delta of {name} that was tried keeps the error at most {found.wanted:g} in all scenarios: at "
            f"{least[0]:g} the 99 % bound is {percent(least[1])} under {least[2]!r}. More studies give smaller bounds."
        )
    return (
        f"With delta {found.delta:g}, {name} has an error of at most {found.wanted:g} in each of these scenarios (99 % "
        "bounds). It is a statement about these scenarios, and no guarantee beyond them."
    )


def _calibration(plan: "Plan") -> str:
    found = plan.calibration
    if found is None:
        return ""
    body = "".join(
        f'<tr><td class="number">{delta:g}</td><td class="number">{percent(bound)}</td><td>{_text(name)}</td></tr>'
        for delta, bound, name in found.bounds
    )
    head = "<tr><th>delta of the rule</th><th>largest 99 % bound</th><th>under</th></tr>"
    return f"<h2>Calibration</h2><p>{_text(calibration_words(plan))}</p><table>{head}{body}</table>"


def _draw_chances(plan: "Plan") -> str:
    """As planned: the share of studies that have stopped after so many trials, one line a scenario."""
    figure = _figure(8.0, 3.8)
    axes = figure.add_subplot()
    planned = [row for row in plan.rows if row.design == AS_PLANNED]
    ends = [row.lengths[-1] for row in planned if row.lengths] + [plan.budget or 0, 2 * len(plan.settings.labels.arms)]
    first = planned[0]
    far = max(ends) if first.q90 is None else min(max(ends), max(3 * first.q90, plan.budget or 0))
    for row, colour in zip(planned, COLOURS * (1 + len(planned) // len(COLOURS))):
        steps = np.arange(1, len(row.lengths) + 1) / row.n_runs
        until = max(far, row.lengths[-1] if row.lengths else 0)
        last = steps[-1] if len(steps) else 0.0
        axes.step([0, *row.lengths, until], [0.0, *steps, last], where="post", color=colour, label=row.scenario)
    if plan.budget is not None:
        axes.axvline(plan.budget, color="0.4", linestyle="--", linewidth=1, label="budget")
    axes.axhline(0.9, color="0.7", linestyle=":", linewidth=1)
    axes.set(xlim=(0, 1.02 * far), ylim=(0, 1.02), xlabel="trials", ylabel="share of studies that have stopped")
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return _svg(figure)


def _draw_arms(plan: "Plan") -> str:
    names, row = plan.settings.labels.arms, plan.row
    shown = list(range(len(names)))[:40]
    figure = _figure(7.0, 0.9 + 0.28 * len(shown))
    axes = figure.add_subplot()
    axes.barh(shown, [row.by_arm[k] for k in shown], color=COLOURS[0], height=0.7)
    labels = [(names[k] if len(names[k]) <= 40 else names[k][:39] + "…").replace("$", r"\$") for k in shown]
    axes.set_yticks(shown, labels, fontsize=8)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlabel("trials on average, as planned, under the guess")
    return _svg(figure)


def _figure(width: float, height: float) -> Any:
    from prepex.drawing import figure_class

    figure: Any = figure_class()(figsize=(width, height), layout="constrained")
    return figure


def _svg(figure: Any) -> str:
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    return markup.svg_of(figure)
