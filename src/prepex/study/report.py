"""One self-contained HTML file: design, progress, Pareto front, evidence over time, certificate."""

import html
import json
import math
from collections.abc import Sequence
from typing import Any

from prepex.noise import NoiseCheck
from prepex.numerals import by_factor, number, plural, scaled, within
from prepex.standing import chance_words, tied_words
from prepex.study import figures
from prepex.study.history import Past
from prepex.study.picture import promise_words
from prepex.tolerance import in_words

STYLE = """
:root { color-scheme: light dark; --paper: #fff; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #17202a; }
h1 { font-size: 1.6rem; overflow-wrap: anywhere; } h2 { font-size: 1.2rem; margin-top: 2rem; }
table { border-collapse: collapse; } th, td { padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr { border-bottom: 1px solid #8884; } tr.front td { font-weight: 600; } .scroll { overflow-x: auto; }
.answer { padding: 1rem; background: #eef4fb; border-radius: .5rem; overflow-wrap: anywhere; } .soft { color: #55616e; }
svg { max-width: 100%; height: auto; }
pre { overflow: auto; background: #f6f6f6; padding: 1rem; font-size: .8rem; max-height: 30rem; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #161616; }
  body { background: #161616; color: #ddd; } .answer { background: #1d2a3a; } pre { background: #222; }
  .soft { color: #a3afbc; }
}
@media print { pre { max-height: none; white-space: pre-wrap; } }
"""


def make_report(picture: dict[str, Any], past: Past, certificate: dict[str, Any], noise: NoiseCheck) -> str:
    """The page of a study, from what the dashboard shows of it, its history and its certificate."""
    evidence = figures.draw_evidence(picture, past)
    parts = [
        f"<h1>{_text(picture['name'])}</h1>",
        _answer(picture),
        "<h2>Design</h2>",
        _design(picture),
        "<h2>Progress</h2>",
        _progress(picture),
        figures.draw_counts(picture),
        "<h2>Pareto front</h2>",
        figures.draw_means(picture),
        _promise(picture),
        _arms(picture),
        "<h2>Noise</h2>",
        _noise(noise),
        "<h2>Evidence over time</h2>",
        evidence or "<p>Nothing yet; the words under Progress say what is missing.</p>",
        "<h2>Certificate</h2>",
        "<p>Save it to a file and run <code>prepex verify certificate.json --log events.jsonl</code>.</p>",
        f"<pre>{_text(json.dumps(certificate, indent=1))}</pre>",
    ]
    title = _text(picture["name"])
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
    return (
        f'<!doctype html><html lang="en"><head>{head}<style>{STYLE}</style></head><body>{"".join(parts)}</body></html>'
    )


def _text(value: object) -> str:
    return html.escape(str(value))


def _answer(picture: dict[str, Any]) -> str:
    answer = picture["answer"]
    words = {
        "certified": f"Certified: wrong with probability at most {answer['delta']:g}.",
        "posterior": f"Stopped: wrong with probability at most {answer['delta']:g} on average over the prior.",
        "heuristic": "Stopped by a threshold without proof.",
        "inconclusive": "Inconclusive: the budget ended first.",
        "running": "Running: what looks right now.",
    }[answer["status"]]
    # With limits, once all options were tried, the answer may be that there is none.
    names = _listed(answer["arms"]) or ("none meets every limit" if answer["reasons"] else "nothing yet")
    looks = "Pareto optimal" if answer["status"] in ("certified", "posterior") else "Looks Pareto optimal"
    looks += " among those that meet the limits" if answer["reasons"] else ""
    looks += "" if picture["design"]["tolerance"] is None else " within the tolerance"
    tally = ", ".join(f"{answer['states'].count(state):,} {state}" for state in ("in", "out", "open"))
    undecided = f"<br>Open: {_listed(answer['undecided'])}" if answer["undecided"] else ""
    undecided = f"<br>Options: {tally} ({_text(picture['meaning'])}){undecided}"
    tied = tied_words(answer["near_ties"], picture["warning"] is not None, answer["covered"])
    ties = "".join(f"<br>{_text(words)}" for words in tied)
    return f'<p class="answer"><strong>{words}</strong><br>{looks}: {names}{undecided}{ties}</p>'


def _table(rows: Sequence[tuple[str, object]]) -> str:
    body = "".join(f"<tr><th>{_text(name)}</th><td>{_text(value)}</td></tr>" for name, value in rows)
    return f"<table>{body}</table>"


def _design(picture: dict[str, Any]) -> str:
    design = picture["design"]
    signs = [
        f"{with_unit(design, name)} ({'min' if name in design['minimise'] else 'max'})" for name in design["objectives"]
    ]
    noise, tolerance = design["covariance"], design["tolerance"]
    return _table(
        [
            ("arms", len(picture["arms"])),
            ("objectives", ", ".join(signs)),
            (
                "outcomes are",
                design["outcomes"] if noise is None or len(noise) > 1 else f"Gaussian, covariance {noise[0]}",
            ),
            ("cone", design["cone"] or f"facets {design['facets']}"),
            *([] if tolerance is None else [("tolerance", in_words(tolerance, design["objectives"]))]),
            *([("limits", ", ".join(limit["words"] for limit in design["limits"]))] if design["limits"] else []),
            ("risk delta", design["delta"]),
            ("sampling", design["rule"]),
            ("threshold", f"{design['threshold']}, {promise_words(design)}"),
            ("seed", design["seed"]),
            ("budget", _budget(design)),
            ("lease", "none" if design["lease"] is None else f"{design['lease']:g} s"),
        ]
    )


def _budget(design: dict[str, Any]) -> str:
    """In pulls, or as it was said by whoever keeps it."""
    if design["max_pulls"] is not None:
        return plural(design["max_pulls"], "pull")
    return design.get("budget") or "none"


def _noise(found: NoiseCheck) -> str:
    """The spread seen beside the one declared, and alarms."""
    rows = [
        (
            entry.objective,
            f"standard deviation {number(entry.seen, 3)} seen"
            + ("" if entry.declared is None else f", {number(entry.declared, 3)} declared"),
        )
        for entry in found.spreads
        if entry.seen == entry.seen
    ]
    alarms = f"<p><strong>{_text(found.words)}</strong></p>" if found.alarms else "<p>No alarm.</p>"
    checked = ", ".join(found.checked) or "no objective"
    rate = f"Checked: {checked}. Alarms are false with probability at most {found.rate:g}, over the whole study."
    return alarms + _table(rows) + f'<p class="soft">{_text(rate)}</p>'


def _progress(picture: dict[str, Any]) -> str:
    rows = [("outcomes", f"{picture['n_pulls']:,}"), ("pulls out", picture["out"])]
    rows += [("told and waiting", picture["waiting"]), ("voided", picture["voided"])]
    rows += [("corrected", picture["corrected"]), ("leases ended", picture["lapsed"] + picture["late"])]
    rows += [("imported", picture["imported"]), ("events in the log", picture["events"])]
    rows.append(("last hash", picture["head"]))
    if picture["forecast"] is not None and not picture["answer"]["done"]:
        rows.append(("forecast", picture["forecast"]["words"]))
    return _table(rows) + f"<p>{_text(picture['why'])}</p>"


def _promise(picture: dict[str, Any]) -> str:
    share = 100 * (1 - picture["design"]["delta"])
    if not any(arm["interval"] for arm in picture["arms"]):
        return '<p class="soft">There are no regions around the means (yet): this family needs a pilot for them.</p>'
    means = _listed(picture["design"]["logs"])
    return (
        (f'<p class="soft">Means of {means} are geometric means.</p>' if means else "")
        + '<p class="soft">The regions (in the table: in brackets, behind ±, or factors) hold the true means of all '
        f"arms at the same time, now and at any other time, with a probability of at least {share:g} %. Filled marks "
        "are decided at this risk (blue: in, grey: out), empty ones open. A number beside a point is that of its row "
        "in the table."
        "</p>"
    )


def around(arm: dict[str, Any], logs: Sequence[int] = (), units: Sequence[str] = ()) -> list[str]:
    """An arm's means with the ends of their regions, if it has any and they are apart; a factor, or with a unit and
    below 2 a percentage, for objectives `logs`.

    >>> around({"mean": [14.98765, 0.5], "interval": [[14.1, 15.9], [0.25, 0.75]]})
    ['15.0 [14.1, 15.9]', '0.50 [0.25, 0.75]']
    >>> around({"mean": [2.0], "interval": [[1.9, 2.1]]}, logs=[0])
    ['2 within a factor 1.053']
    >>> around({"mean": [0.0615, 1500.0], "interval": [[0.0563, 0.0672], [1500.0, 1500.0]]}, [0], ["s", "B"])
    ['61.5 ms ± 9.3%', '1,500 B']
    >>> around({"mean": [0.0548], "interval": [[0.0274, 0.1096]]}, [0], ["s"])
    ['54.8 ms within a factor 2']
    >>> around({"mean": None, "interval": None}, [0], ["s", "B"])
    []
    """
    if not (means := arm["mean"]):
        return []  # not tried yet
    ends = arm["interval"] or [(mean, mean) for mean in means]
    names = units or [""] * len(means)
    return [_around(*given, q in logs) for q, given in enumerate(zip(means, ends, names, strict=True))]


def _around(mean: float, ends: Sequence[float], unit: str, log: bool) -> str:
    size, word = scaled(mean, unit)
    value, low, high = mean / size, ends[0] / size, ends[1] / size
    if low == high:
        shown = number(value)
    elif log and word and low > 0.0 and (factor := max(high / value, value / low)) < 2.0:
        return f"{number(value, 3)} {word} ± {number(math.ceil(1e3 * (factor - 1.0) - 1e-6) / 10.0, 3)}%"
    elif log:
        shown, _, rest = by_factor(value, low, high).partition(" within")
        return f"{shown} {word}".rstrip() + (f" within{rest}" if rest else "")
    else:
        shown = within(value, low, high)
    return f"{shown} {word}".rstrip()


def with_unit(design: dict[str, Any], name: str) -> str:
    """An objective, with its unit where it is known.

    >>> with_unit({"units": {"time": "s", "gain": ""}}, "time"), with_unit({}, "gain")
    ('time [s]', 'gain')
    """
    unit = design.get("units", {}).get(name)
    return f"{name} [{unit}]" if unit else name


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(_text, names))


def _arms(picture: dict[str, Any]) -> str:
    why = ("why",) if picture["design"]["limits"] else ()
    design = picture["design"]
    names = ("", "arm", "n", *design["objectives"], "state", "optimal", *why)
    logs = [q for q, name in enumerate(picture["design"]["objectives"]) if name in picture["design"]["logs"]]
    units = [design.get("units", {}).get(name, "") for name in design["objectives"]]
    body = ""
    for k, arm in enumerate(picture["arms"]):
        means = around(arm, logs, units) or [""] * len(picture["design"]["objectives"])
        numbers = "".join(f'<td class="number">{text}</td>' for text in (f"{arm['n']:,}", *means))
        start = f'<td class="number">{k + 1}</td><td>{_text(arm["name"])}</td>'
        mark = ' class="front"' if arm["front"] else ""
        likely = "" if arm["probability"] is None else chance_words(arm["probability"])
        reason = f"<td>{_text(arm['reason'] or '')}</td>" if why else ""
        body += f"<tr{mark}>{start}{numbers}<td>{arm['state']}</td><td>{likely}</td>{reason}</tr>"
    told = f'<p class="soft">optimal: {_text(picture["chances"])}</p>'
    head = "".join(f"<th>{_text(name)}</th>" for name in names)
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>{told}'
