// The list of studies.
import { get, path } from "./api.js";
import { at, cell, el, keyed, say } from "./dom.js";
import { may } from "./session.js";
import { STATES, moment, number, short } from "./words.js";

// Studies whose state is looked up; a state is a request.
const MOST = 50;
export const link = (name) => "#/study/" + encodeURIComponent(name);

export async function showList() {
  const found = await get("api/studies");
  at("studies").hidden = !found.length;
  at("no-studies").hidden = found.length > 0;
  say(at("no-studies"), may("owner") ? "There is no study yet. Make the first one." : "There is no study yet. An owner can make one.");
  keyed(at("studies").tBodies[0], found, (study) => study.name, make, fill);
  await Promise.all(found.slice(0, MOST).map(state));
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
  const status = await get(path(study.name, "status"));
  if (!row) return;
  const kind = status.recommendation.status;
  row.cells[1].replaceChildren(el("span", { class: `badge ${kind}` }, STATES[kind]));
  say(row.cells[2], short(status.recommendation.arms.join(", "), 120));
  say(row.cells[3], number(status.n_pulls));
}
