// The plots. Plotly understands a few tags in text, so names are escaped for it.
import { el } from "./dom.js";
import { ellipse, nearer, places, range, staircase } from "./geometry.js";
import { around, chance, number, onLogs, plural, short } from "./words.js";

let loading = null;

/** Plotly is large: it is loaded with the first study, not with the list. */
export function load() {
  loading = loading || new Promise((done, failed) => {
    document.head.append(el("script", { src: "plotly.js", load: done, error: () => {
      loading = null;
      failed(new Error("the plots cannot be loaded"));
    } }));
  });
  return loading;
}

const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
const touch = () => matchMedia("(pointer: coarse)").matches;

function theme() {
  // A colour that depends on the mode is only known where it is used.
  const probe = document.body.appendChild(el("i", { hidden: true }));
  const of = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const found = Object.fromEntries(["text", "soft", "line", "accent", "other", "needed", "card"].map((name) => [name, of(name)]));
  probe.remove();
  return found;
}

const clear = (colour, share) => colour.replace(/^rgb\((.*)\)$/, `rgba($1, ${share})`);

function layout(colour, given) {
  const axis = (own) => ({ color: colour.soft, gridcolor: colour.line, zeroline: false, linecolor: colour.line, automargin: true,
    ...own, title: own.title ? { text: plain(own.title), standoff: 8 } : undefined });
  return {
    paper_bgcolor: "transparent", plot_bgcolor: "transparent", font: { color: colour.text, family: "system-ui, sans-serif", size: 13 },
    margin: { l: 20, r: 12, t: 34, b: 20 }, dragmode: touch() ? false : "zoom", hovermode: "closest", hoverlabel: { align: "left" },
    legend: { orientation: "h", x: 0, y: 1, yanchor: "bottom", bgcolor: "transparent", itemclick: false, itemdoubleclick: false },
    uirevision: "same", ...given, xaxis: axis(given.xaxis), yaxis: axis(given.yaxis),
  };
}

const draw = (place, data, shape) => Plotly.react(place, data, shape, { responsive: true, displayModeBar: false });

const covariance = (view, k) => view.design.covariance[view.design.covariance.length > 1 ? k : 0];
const ends = (view, k, q) => (view.arms[k].interval ? view.arms[k].interval[q] : [view.arms[k].mean[q], view.arms[k].mean[q]]);

/** Border of an arm's region on a pair of objectives: an ellipse if the covariance is known, else a box; none without a region. */
function region(view, k, pair) {
  const arm = view.arms[k];
  if (arm.radius !== null) return ellipse(arm.mean, arm.radius, covariance(view, k), pair);
  if (!arm.interval) return [[], []];
  const [[left, right], [low, high]] = pair.map((q) => arm.interval[q]);
  return [[left, right, right, left, left], [low, low, high, high, low]];
}

const better = (view, name) => `${view.design.minimise.includes(name) ? "less" : "more"} is better${view.design.logs.includes(name) ? ", log scale" : ""}`;

/** Where a value of objective q is on its axis, which Plotly counts in powers of ten if it is logarithmic. */
const place10 = (view, q) => (onLogs(view.design, q) ? Math.log10 : (value) => value);
const axisOf = (view, q, range) => ({ range, type: onLogs(view.design, q) ? "log" : "linear" });

function hover(view, k) {
  const arm = view.arms[k];
  const lines = view.design.objectives.map((name, q) => `${plain(short(name))}: ${plain(around(view.design, arm, q))}`);
  const state = `${arm.reason || (arm.front ? "looks Pareto optimal" : "looks dominated")}${arm.decided ? ", decided" : ", open"}${arm.probability === null ? "" : `, ${view.design.tolerance ? "within the tolerance of the front" : "optimal"} with probability ${chance(arm.probability)}`}`;
  return [`<b>${plain(short(arm.name, 60))}</b>`, ...lines, plural(arm.n, "outcome"), state].join("<br>");
}

const marks = (view, ks, colour, front) => ({
  symbol: ks.map((k) => (view.arms[k].decided ? "circle" : "circle-open")), size: front ? 12 : 9,
  color: ks.map((k) => (!view.arms[k].decided ? colour.needed : front ? colour.accent : colour.other)), line: { width: 2 },
});

/** Is there room for words at the axes? If not there are arrows, which are explained below. */
export const isWide = (place) => place.clientWidth > 480;

/** Two objectives a, b: means, regions, and under two objectives the border of what the front dominates. */
export function drawPair(place, view, pair) {
  const [a, b] = pair, colour = theme(), names = view.design.objectives;
  const tried = view.arms.map((_, k) => k).filter((k) => view.arms[k].mean);
  const mean = (k) => view.arms[k].mean;
  const [x, y] = pair.map((q) => range(tried.map((k) => place10(view, q)(mean(k)[q])), tried.map((k) => ends(view, k, q).map(place10(view, q)))));
  const groups = [[true, "large: looks Pareto optimal"], [false, "small: looks dominated"]].map(([front, title]) => ({ front, title, ks: tried.filter((k) => view.arms[k].front === front) }));
  const data = [];
  for (const { front, ks } of groups) {
    const border = [[], []];
    for (const k of ks) {
      region(view, k, pair).forEach((part, side) => border[side].push(...part, null));
    }
    const shade = front ? colour.accent : colour.other;
    data.push({ type: "scatter", mode: "lines", x: border[0], y: border[1], fill: "toself", fillcolor: clear(shade, 0.1), line: { color: clear(shade, 0.55), width: 1 },
      hoverinfo: "skip", showlegend: false, meta: "regions" });
  }
  let line = [[], []];
  if (names.length === 2) {
    const far = 10 * (x[1] - x[0] + y[1] - y[0]) * Math.max(...view.design.facets.flat().map(Math.abs));
    const logs = pair.map((q) => onLogs(view.design, q));
    const inner = groups[0].ks.map((k) => mean(k).map((value, q) => (logs[q] ? Math.log(value) : value)));
    const seen = nearer(staircase(inner, view.design.facets, far), logs).map((part, q) => (logs[q] ? part.map(Math.exp) : part));
    line = seen.map((part, q) => part.map(place10(view, q)));
    data.push({ type: "scatter", mode: "lines", x: seen[0], y: seen[1], line: { color: colour.accent, width: 2, dash: "dot" }, hoverinfo: "skip", name: "front", meta: "front" });
  }
  const wide = isWide(place);
  const seen = [...(wide || tried.length <= 8 ? groups[0].ks : []), ...(tried.length <= (wide ? 16 : 8) ? groups[1].ks : [])];
  const labels = seen.map((k) => ({ x: place10(view, a)(mean(k)[a]), y: place10(view, b)(mean(k)[b]), text: short(view.arms[k].name, 18) }));
  const sides = places(labels, x, y, Math.max(place.clientWidth - 80, 100), Math.max(place.clientHeight - 90, 100), line);
  const side = new Map(seen.map((k, at) => [k, sides[at]]));
  for (const { front, title, ks } of groups) {
    data.push({ type: "scatter", mode: "markers+text", name: title, x: ks.map((k) => mean(k)[a]), y: ks.map((k) => mean(k)[b]), marker: marks(view, ks, colour, front),
      text: ks.map((k) => (side.get(k) ? plain(short(view.arms[k].name, 18)) : "")), textposition: ks.map((k) => side.get(k) || "top center"),
      textfont: { color: front ? colour.accent : colour.soft, size: 12 }, hovertext: ks.map((k) => hover(view, k)), hoverinfo: "text", cliponaxis: false, meta: "means" });
  }
  const title = (q) => (wide ? `${short(names[q], 36)} (${better(view, names[q])})` : `${short(names[q], 24)} ${view.design.minimise.includes(names[q]) ? "↓" : "↑"}`);
  return draw(place, data, layout(colour, { uirevision: pair.join(), shapes: limitLines(view, pair, colour, x), xaxis: { ...axisOf(view, a, x), title: title(a) }, yaxis: { ...axisOf(view, b, y), title: title(b) } }));
}

/** Lines on which an option just keeps to a limit: those on these two objectives alone. */
function limitLines(view, [a, b], colour, [left, right]) {
  const found = [];
  for (const { weights, value } of view.design.limits) {
    if (weights.some((weight, q) => weight && q !== a && q !== b)) continue;
    const line = { color: colour.needed, width: 2, dash: "dash" }, [p, r] = [weights[a], a === b ? 0 : weights[b]];
    if (!r) found.push({ type: "line", x0: value / p, x1: value / p, yref: "paper", y0: 0, y1: 1, line });
    else if (!p) found.push({ type: "line", y0: value / r, y1: value / r, xref: "paper", x0: 0, x1: 1, line });
    else found.push({ type: "line", x0: left, x1: right, y0: (value - p * left) / r, y1: (value - p * right) / r, line });
  }
  return found;
}

const rows = (view, most) => ({ tickvals: view.arms.map((_, k) => k), ticktext: view.arms.map((arm) => plain(short(arm.name, most))),
  range: [view.arms.length - 0.4, -0.6], fixedrange: true, ticks: "" });
const rowHeight = (view) => (view.arms.length > 60 ? 18 : 28);
const nameWidth = (place) => (place.clientWidth < 420 ? 14 : 26);

/** One objective: a row for each arm, its mean and its interval. */
export function drawRows(place, view) {
  const colour = theme(), tried = view.arms.map((_, k) => k).filter((k) => view.arms[k].mean);
  const x = range(tried.map((k) => place10(view, 0)(view.arms[k].mean[0])), tried.map((k) => ends(view, k, 0).map(place10(view, 0))));
  const data = [[true, "best"], [false, "beaten"]].map(([front, name]) => {
    const ks = tried.filter((k) => view.arms[k].front === front), shade = front ? colour.accent : colour.other;
    return { type: "scatter", mode: "markers", name, x: ks.map((k) => view.arms[k].mean[0]), y: ks, marker: marks(view, ks, colour, front), hovertext: ks.map((k) => hover(view, k)),
      hoverinfo: "text", error_x: { type: "data", symmetric: false, array: ks.map((k) => ends(view, k, 0)[1] - view.arms[k].mean[0]), arrayminus: ks.map((k) => view.arms[k].mean[0] - ends(view, k, 0)[0]), color: shade, thickness: 2, width: 5 }, meta: "means" };
  });
  const shape = layout(colour, { shapes: limitLines(view, [0, 0], colour, x), xaxis: { ...axisOf(view, 0, x), title: `${short(view.design.objectives[0], 40)} (${better(view, view.design.objectives[0])})` }, yaxis: rows(view, nameWidth(place)) });
  return draw(place, data, { ...shape, height: 110 + rowHeight(view) * view.arms.length });
}

/** Outcomes of each arm, and the pulls that are out on top of them. */
export function drawCounts(place, view) {
  const colour = theme(), ks = view.arms.map((_, k) => k);
  const bar = (name, key, shade, text) => ({ type: "bar", orientation: "h", name, y: ks, x: ks.map((k) => view.arms[k][key]), marker: { color: shade },
    hovertext: ks.map((k) => `${plain(short(view.arms[k].name, 60))}: ${text(view.arms[k][key])}`), hoverinfo: "text", textposition: "none" });
  const most = Math.max(...ks.map((k) => view.arms[k].n + view.arms[k].pending), 1);
  const data = [bar("outcomes", "n", ks.map((k) => (view.arms[k].front ? colour.accent : colour.other)), (n) => plural(n, "outcome")), bar("pending", "pending", colour.needed, (n) => `${number(n)} pending`)];
  const shape = layout(colour, { legend: { orientation: "h", x: 0, y: 1, yanchor: "bottom", traceorder: "normal", itemclick: false, itemdoubleclick: false }, barmode: "stack", bargap: 0.3, xaxis: { range: [0, most * 1.05], title: "pulls", fixedrange: true, nticks: 6 }, yaxis: rows(view, nameWidth(place)) });
  return draw(place, data, { ...shape, height: 110 + rowHeight(view) * view.arms.length });
}

/** What was reached and needed after each outcome, and when it is expected to stop. */
export function drawEvidence(place, view) {
  const colour = theme(), points = view.history.points, last = points.at(-1);
  const line = (name, y, given) => ({ type: "scatter", mode: points.length < 3 ? "lines+markers" : "lines", name, x: points.map((p) => p[0]), y, hovertemplate: `%{x:,} outcomes: %{y:.3f}<extra></extra>`, ...given });
  // A far forecast leaves the picture, so that what has happened can be seen.
  const made = !view.answer.done && last && view.forecast && view.forecast.median !== null ? view.forecast : null;
  const ahead = made ? last[0] + made.median : 0, latest = made ? last[0] + (made.high === null ? 10 * made.median : made.high) : 0;
  const end = Math.max(Math.min(latest, 3 * last[0]), last[0]) * 1.03;
  const data = [
    line("reached", points.map((p) => p[1]), { line: { color: colour.accent, width: 2.5 }, meta: "reached" }),
    line("needed", [...points.map((p) => p[2]), last[2]], { x: [...points.map((p) => p[0]), Math.max(ahead, last[0])], line: { color: colour.needed, dash: "dash", width: 2 }, meta: "needed" }),
  ];
  if (ahead) {
    data.push({ type: "scatter", mode: "lines+markers", name: "forecast", x: [last[0] + made.low, ahead, latest], y: [last[2], last[2], last[2]], meta: "forecast",
      line: { color: colour.accent, width: 4 }, marker: { size: [0, 10, 0], symbol: "diamond", color: colour.accent }, hovertemplate: `%{x:,} outcomes<extra></extra>` });
  }
  const stop = view.answer.done ? [{ type: "line", x0: view.answer.n_pulls, x1: view.answer.n_pulls, yref: "paper", y0: 0, y1: 1, line: { color: colour.soft, width: 1, dash: "dot" } }] : [];
  return draw(place, data, layout(colour, { shapes: stop, uirevision: "", xaxis: { title: "outcomes", range: [0, end], nticks: 6 }, yaxis: { title: { certified: "certified margin", posterior: "log of 1 / chance of a wrong answer" }[view.design.threshold] || "evidence" } }));
}

export const forget = (place) => window.Plotly && Plotly.purge(place);
