// The list of studies.
import { call, get, path } from "./api.js";
import { at, cell, el, keyed, say } from "./dom.js";
import { may } from "./session.js";
import { STATES, moment, number, short } from "./words.js";

// Studies whose state is looked up; a state is a request.
const MOST = 50;
// The length of the log for which a state is shown, by study.
const shown = new Map();
export const link = (name) => "#/study/" + encodeURIComponent(name);

/** Fetch and draw what has changed; answers whether the server was still busy with something newer. */
export async function showList() {
  const found = await get("api/studies");
  at("studies").hidden = !found.length;
  at("no-studies").hidden = found.length > 0;
  say(at("no-studies"), may("owner") ? "There is no study yet. Make the first one." : "There is no study yet. An owner can make one.");
  keyed(at("studies").tBodies[0], found, (study) => study.name, make, fill);
  const wanted = found.slice(0, MOST).filter((study) => shown.get(study.name) !== `${study.created} ${study.events}`);
  return (await Promise.all(wanted.map(state))).some(Boolean);
}

/** Another person may see other things. */
export function clearList() {
  shown.clear();
  at("studies").tBodies[0].replaceChildren();
}

function make(study) {
  const labels = ["Study", "State", "Pareto optimal", "Outcomes", "Arms", "Objectives", "Created"];
  const row = el("tr", {}, ...labels.map((label) => cell(label, "", label === "Study" || label === "Pareto optimal" ? "wide" : "")));
  row.cells[0].append(el("a", { href: link(study.name) }, study.name));
  return row;
}

function fill(row, study) {
  [number(study.n_arms), study.objectives.join(", "), moment(study.created).slice(0, 10)].forEach((text, k) => say(row.cells[4 + k], text));
}

async function state(study) {
  const row = [...at("studies").tBodies[0].rows].find((each) => each.dataset.key === study.name);
  let answer;
  try {
    answer = await call(path(study.name, "status"));
  } catch (problem) {
    // One study that cannot be had must not hide the others.
    if (![400, 404, 500, 503].includes(problem.status)) throw problem;
    if (row) row.cells[1].replaceChildren(el("span", { class: "soft", title: problem.message }, "not known yet"));
    return problem.status === 503;
  }
  const status = await answer.json(), old = answer.headers.has("prepex-stale");
  if (!row) return false;
  const kind = status.recommendation.status;
  row.cells[1].replaceChildren(el("span", { class: `badge ${kind}` }, STATES[kind]));
  say(row.cells[2], short(status.recommendation.arms.join(", "), 120));
  say(row.cells[3], number(status.n_pulls));
  if (!old) shown.set(study.name, `${study.created} ${study.events}`);
  return old;
}
