"""One self-contained HTML file: design, progress, Pareto front, evidence over time, certificate."""

import html
import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from prepex._checks import Floats
from prepex.study.answers import Status
from prepex.study.config import Config
from prepex.study.line import Entry

# Points of the curve of the evidence.
POINTS = 200

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
table { border-collapse: collapse; } th, td { padding: .2rem .8rem .2rem 0; text-align: left; }
td.number { text-align: right; font-variant-numeric: tabular-nums; } tr.front td { font-weight: 600; }
.answer { padding: 1rem; background: #eef4fb; border-radius: .5rem; }
svg { max-width: 100%; height: auto; } pre { overflow: auto; background: #f6f6f6; padding: 1rem; font-size: .8rem; }
@media (prefers-color-scheme: dark) {
  body { background: #161616; color: #ddd; } .answer { background: #1d2a3a; } pre { background: #222; }
  svg { background: #fff; }
}
"""


def make_report(status: Status, config: Config, entries: Sequence[Entry], certificate: dict[str, Any]) -> str:
    """The page."""
    parts = [
        f"<h1>{_text(status.name)}</h1>",
        _answer(status),
        "<h2>Design</h2>",
        _design(config),
        "<h2>Progress</h2>",
        _progress(status),
        "<h2>Pareto front</h2>",
        _front(status),
        "<h2>Evidence over time</h2>",
        _evidence(config, entries),
        "<h2>Certificate</h2>",
        "<p>Save it to a file and run <code>prepex verify certificate.json --log events.jsonl</code>.</p>",
        f"<pre>{_text(json.dumps(certificate, indent=1))}</pre>",
    ]
    head = (
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{_text(status.name)}</title>'
    )
    return (
        f'<!doctype html><html lang="en"><head>{head}<style>{STYLE}</style></head><body>{"".join(parts)}</body></html>'
    )


def _text(value: object) -> str:
    return html.escape(str(value))


def _plain(name: str) -> str:
    """A name that matplotlib does not take for a formula."""
    return name.replace("$", r"\$")


def _answer(status: Status) -> str:
    answer = status.recommendation
    words = {
        "certified": f"Certified: wrong with probability at most {answer.delta:g}.",
        "heuristic": "Stopped by a threshold without proof.",
        "inconclusive": "Inconclusive: the budget ended first.",
        "running": "Running: what looks right now.",
    }[answer.status]
    names = ", ".join(map(_text, answer.arms)) or "nothing yet"
    undecided = f"<br>Undecided: {', '.join(map(_text, answer.undecided))}" if answer.undecided else ""
    return f'<p class="answer"><strong>{words}</strong><br>Pareto optimal: {names}{undecided}</p>'


def _table(rows: Sequence[tuple[str, object]]) -> str:
    body = "".join(f"<tr><th>{_text(name)}</th><td>{_text(value)}</td></tr>" for name, value in rows)
    return f"<table>{body}</table>"


def _design(config: Config) -> str:
    settings = config.settings
    labels, family = settings["labels"], settings["family"]
    noise = next(f"{name} {value}" for name, value in family.items() if name != "name")
    signs = [f"{name} ({'min' if name in labels['minimise'] else 'max'})" for name in labels["objectives"]]
    return _table(
        [
            ("arms", len(labels["arms"])),
            ("objectives", ", ".join(signs)),
            ("noise", f"{family['name']}, {noise}"),
            ("cone", settings["cone"]["name"] or f"facets {settings['cone']['facets']}"),
            ("risk delta", settings["delta"]),
            ("sampling", settings["sampling"]["name"]),
            ("threshold", settings["threshold"]["name"]),
            ("budget", settings["max_pulls"] or "none"),
            ("lease", "none" if config.lease is None else f"{config.lease:g} s"),
        ]
    )


def _progress(status: Status) -> str:
    rows = [("outcomes", f"{status.n_pulls:,}"), ("pulls out", status.out), ("told and waiting", status.waiting)]
    rows += [("voided", status.voided), ("corrected", status.corrected), ("leases ended", status.lapsed + status.late)]
    rows += [("imported", status.imported), ("events in the log", status.events), ("last hash", status.head)]
    if status.forecast is not None and not status.done:
        rows.append(("forecast", f"about {status.forecast:,} more"))
    return _table(rows)


def _front(status: Status) -> str:
    front = status.recommendation.arms
    head = "".join(f"<th>{_text(name)}</th>" for name in ("arm", "n", *status.objectives))
    body = ""
    for name, mean in status.means.items():
        cells = "".join(f'<td class="number">{value:.4g}</td>' for value in mean or ())
        mark = ' class="front"' if name in front else ""
        body += f'<tr{mark}><td>{_text(name)}</td><td class="number">{status.counts[name]}</td>{cells}</tr>'
    table = f"<table><tr>{head}</tr>{body}</table>"
    tried = {name: mean for name, mean in status.means.items() if mean is not None}
    if len(status.objectives) < 2 or not tried:
        return table
    from prepex.plot import figure_class

    figure = figure_class()(figsize=(6, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for name, (x, y, *_) in tried.items():
        inside = name in front
        axes.plot(x, y, "o" if inside else ".", color="C0" if inside else "0.6")
        if inside:
            axes.annotate(_plain(name), (x, y), xytext=(4, 4), textcoords="offset points", fontsize=8)
    axes.set_xlabel(_plain(status.objectives[0]))
    axes.set_ylabel(_plain(status.objectives[1]))
    return _svg(figure) + table


def _evidence(config: Config, entries: Sequence[Entry]) -> str:
    at, reached, needed = _curve(config, entries)
    if not len(at):
        return "<p>Nothing yet: the evidence starts when every arm has been tried.</p>"
    from prepex.plot import figure_class

    figure = figure_class()(figsize=(6, 3.5), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(at, reached, color="C0", label="reached")
    axes.plot(at, needed, color="C3", linestyle="--", label="needed")
    axes.set_xlabel("outcomes")
    axes.set_ylabel("certified margin" if config.settings["threshold"]["name"] == "certified" else "evidence")
    axes.legend()
    return _svg(figure)


def _curve(config: Config, entries: Sequence[Entry]) -> tuple[Floats, Floats, Floats]:
    """(outcomes, reached, needed) along the study, as a replay sees it."""
    experiment = config.experiment()
    stops = np.unique(np.linspace(0, len(entries), POINTS + 1).astype(int))
    rows, before = [], 0
    for stop in stops:
        experiment.tell_many([(entry.arm, entry.outcome) for entry in entries[before:stop]])
        before = stop
        if np.isfinite(experiment.reached):
            rows.append((float(stop), experiment.reached, experiment.needed))
    curve = np.array(rows).reshape(-1, 3)
    return curve[:, 0], curve[:, 1], curve[:, 2]


def _svg(figure: Any) -> str:
    out = io.StringIO()
    figure.savefig(out, format="svg")
    text = out.getvalue()
    return text[text.index("<svg") :]
