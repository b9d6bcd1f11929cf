// One study: everything on its page follows from one document, which is fetched again while it is looked at.
import { call, download, get, path, post } from "./api.js";
import { openForm } from "./dialog.js";
import { at, cell, el, facts, keyed, say } from "./dom.js";
import { drawLog, restart } from "./log.js";
import { clearLooks, drawLooks, setUpLooks } from "./looks.js";
import { drawCounts, drawEvidence, drawPair, drawRows, forget, isWide, load } from "./plots.js";
import { drawPulls } from "./pulls.js";
import { clearTalk, drawTalk, setUpTalk } from "./talk.js";
import { STATES, apart, around, chance, number, plural, shellWord, short, span } from "./words.js";

let name = null;
let view = null;
let tag = null;
let turns = 0;
let drawn = 0;
let computing = false;
let announce = () => {};

export function setUpStudy(say_) {
  announce = say_;
  at("ask").addEventListener("submit", ask);
  at("delete").addEventListener("click", remove);
  setUpLooks();
  setUpTalk();
  at("pair").addEventListener("change", () => drawMeans(true));
  for (const button of document.querySelectorAll("[data-download]")) {
    button.addEventListener("click", () => attempt(() => download(path(name, button.dataset.download), button.dataset.file)));
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => view && drawPlots());
}

/** Forget what is shown: another study, or another person. */
export function clear(wanted = null) {
  [name, view, tag] = [wanted, null, null];
  for (const id of ["pulls", "arms"]) at(id).tBodies[0].replaceChildren();
  at("means").replaceChildren();
  ["counts", "evidence"].forEach((id) => forget(at(id)));
  clearLooks();
  clearTalk();
  restart();
}

export function showStudy(wanted) {
  if (wanted !== name) clear(wanted);
  say(at("name"), wanted);
  document.title = `${wanted} – prepex`;
}

/** Fetch and draw; answers whether the server was still busy with something newer. */
export async function refresh() {
  const asked = name, mine = (turns += 1);
  const answer = await call(path(asked, "view"), { headers: tag ? { "If-None-Match": tag } : {} });
  const old = answer.headers.has("prepex-stale");
  if (answer.status === 304) return old;
  const found = await answer.json();
  await load();
  // A slow answer must not undo a later one.
  if (asked !== name || mine < drawn) return old;
  drawn = mine;
  const before = view;
  [view, tag] = [found, answer.headers.get("etag")];
  draw(before);
  askForecast(mine);
  await drawLog(view, done);
  return old;
}

function draw(before) {
  const { answer } = view;
  say(at("badge"), STATES[answer.status]);
  at("badge").className = `badge ${answer.status}`;
  const found = `${answer.arms.length} of ${plural(view.arms.length, "arm")}`;
  const within = view.design.tolerance ? " within the tolerance" : "";
  const none = Object.keys(answer.reasons).length ? "No option meets every limit." : "Nothing is known yet.";
  say(at("front-words"), !answer.arms.length ? none : answer.status === "certified" ? `Pareto optimal${within}, proven: ${found}` : answer.status === "posterior" ? `Pareto optimal${within}, proven on average over the prior: ${found}` : `Looks Pareto optimal${within}: ${found}`);
  keyed(at("front-arms"), answer.arms, (arm) => arm, (arm) => el("li", { title: arm }, short(arm, 48)), () => {});
  say(at("why"), [view.noise, view.why, answer.status === "inconclusive" && `Its budget is spent: prepex study extend ${shellWord(name)} --max-pulls N --reason WHY gives it more.`].filter(Boolean).join(" "));
  at("ask-button").disabled = answer.done;
  if (before && before.answer.status !== answer.status) announce(`The study is now: ${STATES[answer.status]}.`);
  drawTiles();
  drawPulls(view, done);
  drawArms();
  drawDesign();
  drawLooks(name, view);
  drawTalk(name, view);
  drawPlots();
}

function drawTiles() {
  const share = view.reached === null ? "–" : apart(view.reached, view.needed, 3).join(" of ");
  const made = view.forecast;
  const ahead = view.answer.done ? "–" : !made ? (computing ? "computing" : "unknown") : made.never ? "no number is enough" : made.median === null ? `more than ${number(made.followed)}` : `about ${number(made.median)}`;
  const all = [["Outcomes", number(view.n_pulls)], ["Pulls out", number(view.out)], ["Told, waiting", number(view.waiting)], [{ certified: "Certified margin", posterior: "Log of 1 / chance of a wrong answer" }[view.design.threshold] || "Evidence", share],
    ["More pulls", ahead], ...(made && !view.answer.done ? outlook(made) : []), ["States at this risk", ["in", "out", "open"].map((state) => `${number(view.arms.filter((arm) => arm.state === state).length)} ${state}`).join(", ")]];
  const rare = [["Late", view.late + view.lapsed], ["Voided", view.voided], ["Corrected", view.corrected], ["Imported", view.imported]];
  facts(at("tiles"), [...all, ...rare.filter(([, n]) => n).map(([words, n]) => [words, number(n)])], true);
}

/** The range, the chance and the date of a forecast, where they are known. */
function outlook(made) {
  const ends = made.median === null ? null : `${number(made.low)} to ${made.high === null ? "many more" : number(made.high)}`;
  const chance = made.chance === null ? null : made.chance > 0 && made.chance < 0.01 ? "below 1 %" : made.chance > 0.99 && made.chance < 1 ? "above 99 %" : `${Math.round(100 * made.chance)} %`;
  return [["80 % range", ends], ["Within the budget", chance], ["Date at this rate", made.dates[1] && made.dates[1].slice(0, 10)]].filter(([, value]) => value);
}

/** The forecast takes seconds: it is asked for again until it is there, or another document is shown. */
async function askForecast(mine) {
  if (view.answer.done || view.forecast || !view.arms.every((arm) => arm.n)) return;
  computing = true;
  for (const seconds of [0.1, 1, 2, 2, 4, 8, 15, 30, 60]) {
    await new Promise((done_) => setTimeout(done_, 1000 * seconds));
    if (mine !== drawn || !view) return;
    let found;
    try {
      found = await get(path(name, "forecast"));
    } catch {
      break; // The page says elsewhere what is wrong.
    }
    if (mine !== drawn || !view) return;
    if (!found.computing) {
      view.forecast = found.forecast;
      break;
    }
  }
  computing = false;
  drawTiles();
  drawPlots();
}

function drawArms() {
  const labels = ["Arm", "State", "Optimal", "Outcomes", "Pending", ...view.design.objectives, "Looks"];
  at("arms").tHead.rows[0].replaceChildren(...labels.map((label) => el("th", {}, label)));
  say(at("states-words"), `In, out, open: ${view.meaning}. Optimal: ${view.chances}.`);
  keyed(at("arms").tBodies[0], view.arms.map((arm, k) => ({ ...arm, k })), (arm) => arm.k, () => el("tr", {}, ...labels.map((label) => cell(label))), (row, arm) => {
    const means = view.design.objectives.map((_, q) => (arm.mean ? around(view.design, arm, q) : "–"));
    [arm.name, arm.state, chance(arm.probability), number(arm.n), number(arm.pending), ...means, arm.mean ? arm.reason || (arm.front ? "Pareto optimal" : "dominated") : "–"].forEach((text, at_) => say(row.cells[at_], text));
    row.className = arm.front ? "front" : "";
  });
}

function drawDesign() {
  const d = view.design;
  const cone = d.cone || `facets ${d.facets.map((row) => `(${row.map((v) => number(v, 3)).join(", ")})`).join(" ")}`;
  const known = d.covariance && d.covariance.length === 1 ? `Gaussian, covariance ${d.covariance[0].map((row) => row.map((v) => number(v)).join(" ")).join(" / ")}` : d.outcomes;
  facts(at("design"), [["Arms", view.arms.length], ["Objectives", d.objectives.map((o) => `${o} (${d.minimise.includes(o) ? "less" : "more"} is better)`).join(", ")], ["Outcomes are", known],
    ["Cone", cone], ...(d.tolerance ? [["Tolerance", d.tolerance.map((size, q) => [size, d.objectives[q]]).filter(([size]) => size && size !== "0%").map(([size, name]) => `${typeof size === "string" ? size : number(size)} in ${name}`).join(", ")]] : []), ...(d.limits.length ? [["Limits", d.limits.map((limit) => limit.words).join(", ") + (d.avoid_infeasible ? "; no more of an option once it is certified to break one" : "")]] : []), ["Risk delta", d.delta], ["Threshold", `${d.threshold}${!d.proven ? ", no proof" : d.threshold === "posterior" ? `, proven on average over ${d.prior ? "your" : "a flat"} prior` : ", proven"}`], ["Sampling rule", d.rule], ["Seed", d.seed], ["Budget", d.max_pulls === null ? "none" : number(d.max_pulls)],
    ["Pulls out at once", number(d.max_pending)], ["Lease", d.lease === null ? "none" : span(d.lease)], ["Events", number(view.events)], ["Last hash", view.head]]);
}

function drawPlots() {
  drawMeans(false);
  drawCounts(at("counts"), view);
  const some = view.history.points.some((point) => point[1] !== null);
  at("evidence").hidden = !some;
  at("evidence-empty").hidden = some;
  say(at("evidence-empty"), "Nothing yet: the evidence starts when every arm has been tried" + (view.design.threshold === "certified" ? ", tried again after the pilot, and every test has something to go by; the words at the top say what is missing." : "."));
  if (some) drawEvidence(at("evidence"), view);
  const made = view.forecast;
  const ahead = !view.answer.done && made && made.median !== null ? ` The forecast: after about ${plural(view.n_pulls + made.median, "outcome")} (the diamond, with its 80 % range).` : "";
  const first = view.history.points.findIndex((point) => point[1] !== null);
  const gaps = some && view.history.points.slice(first).some((point) => point[1] === null) ? " In the gaps nothing spoke for the answer of that time." : "";
  const words = some ? `The study stops when the solid line reaches the dashed one.${ahead}${gaps}` : "";
  say(at("evidence-words"), words);
}

function drawMeans(chosen) {
  const names = view.design.objectives, tried = view.arms.some((arm) => arm.mean);
  at("means-empty").hidden = tried;
  at("means").hidden = !tried;
  at("pair-label").hidden = names.length < 3 || !tried;
  const percent = number(100 * (1 - view.design.delta), 6);
  const shape = names.length === 1 ? "Bars" : view.design.covariance ? "Ellipses" : "Boxes";
  const held = view.arms.some((arm) => arm.interval), later = view.design.threshold === "certified" ? "Regions are drawn when the pilot is over. " : "There are no regions for this family without the certified threshold. ";
  say(at("promise"), tried ? (held ? `${shape}: with a probability of at least ${percent} % they hold the true means of all arms at the same time, now and whenever you look${names.length > 2 ? ", in all pairs together" : ""}. ` : later) +
    (view.design.logs.length ? `Means of ${view.design.logs.join(", ")} are geometric means. ` : "") + "Filled marks are decided at this risk (blue: in, grey: out), empty ones open." : "");
  if (!tried) return;
  const all = names.flatMap((_, a) => names.map((__, b) => [a, b])).filter(([a, b]) => a < b);
  fillPairs(all, chosen);
  const pairs = names.length === 1 ? [[0, 0]] : names.length === 2 || at("pair").value !== "all" ? [all[Number(at("pair").value) || 0]] : all;
  keyed(at("means"), pairs, (pair) => pair.join(), () => el("div", { class: "plot", role: "img" }), () => {});
  pairs.forEach((pair, k) => {
    const place = at("means").children[k];
    place.setAttribute("aria-label", `Means and regions: ${pair.map((q) => names[q]).join(" and ")}; the numbers are in the table of arms`);
    place.classList.toggle("free", names.length === 1);
    if (names.length === 1) drawRows(place, view);
    else drawPair(place, view, pair);
  });
  if (names.length > 1 && [...at("means").children].some((place) => !isWide(place))) at("promise").append(" ↑ more is better, ↓ less is better.");
}

function fillPairs(all, chosen) {
  const names = view.design.objectives, key = `${name} ${all.length}`;
  if (chosen || at("pair").dataset.key === key) return;
  at("pair").dataset.key = key;
  at("pair").replaceChildren(el("option", { value: "all" }, "all pairs"), ...all.map(([a, b], k) => el("option", { value: k }, `${names[a]} and ${names[b]}`)));
  at("pair").value = names.length > 4 || matchMedia("(max-width: 520px)").matches ? "0" : "all";
}

// What one can do

async function attempt(act) {
  say(at("error"), "");
  try {
    await act();
  } catch (problem) {
    say(at("error"), problem.message);
  }
}

function ask(event) {
  event.preventDefault();
  return attempt(async () => {
    const n = Number(at("ask-n").value);
    if (!Number.isInteger(n) || n < 1) throw new Error("How many must be a whole number from 1.");
    at("ask-button").disabled = true;
    try {
      const tickets = await post(path(name, "ask"), { n, new: true });
      await done(tickets.length ? `Try ${tickets.map((ticket) => `${ticket.arm} (${ticket.token})`).join(", ")}.` : "There is nothing to hand out: the study has stopped, or the rest of its budget is out.");
      const row = tickets.length && [...at("pulls").tBodies[0].rows].find((each) => each.dataset.key === tickets[0].token);
      if (row) row.querySelector("button")?.focus();
    } finally {
      at("ask-button").disabled = Boolean(view && view.answer.done);
    }
  });
}

/** Something was done: say it, and show what came of it. */
async function done(words) {
  announce(words);
  await refresh();
}

function remove() {
  openForm({
    title: "Delete this study",
    words: `This deletes ${name} with its whole log, for everyone. Take the log home first. Type the name to confirm.`,
    button: "Delete it",
    fields: [{ name: "confirm", label: "Name of the study", required: true }],
    send: async ({ confirm }) => {
      await call(`${path(name)}?confirm=${encodeURIComponent(confirm)}`, { method: "DELETE" });
      announce(`Deleted: ${name}.`);
      location.hash = "#/";
    },
  });
}
