// The study under another cone: in, out or open, with a promise that covers all looks. Nothing of it is written.
import { path, post } from "./api.js";
import { at, el, say } from "./dom.js";
import { number, plural, short } from "./words.js";

// Milliseconds that a slider rests before the server is asked.
const REST = 150;
const STATES = [["in", "In"], ["open", "Open"], ["out", "Out"]];
let view = null;
let name = null;
let timer = null;
let turn = 0;

export const matrix = (text) => text.trim().split(/\n+/).map((line) => line.trim().split(/[\s,;]+/).map(Number));
export const rowsText = (rows) => rows.map((row) => row.map((value) => Number(value.toPrecision(12))).join(" ")).join("\n");

/** Another study, or none: what was looked at is forgotten. */
export function clearLooks() {
  turn += 1;
  clearTimeout(timer);
  [view, name] = [null, null];
  at("look-found").hidden = true;
  say(at("look-error"), "");
}

/** The outcomes have changed, or a study is shown for the first time. */
export function drawLooks(wanted, found) {
  const fresh = name !== wanted, newer = view && view.head !== found.head;
  [name, view] = [wanted, found];
  at("look-angle").hidden = found.design.objectives.length !== 2;
  at("look-rows").placeholder = found.design.objectives.map((_, q) => found.design.objectives.map((__, r) => (q === r ? 1 : 0)).join(" ")).join("\n");
  if (fresh) {
    at("look-degrees").value = 90;
    at("look-rows").value = "";
    sayAngle();
  } else if (newer && !at("look-found").hidden) again();
}

const sayAngle = () => say(at("look-degrees-words"), `${at("look-degrees").value}°`);

let again = () => {};

async function look(cone) {
  again = () => look(cone);
  const mine = (turn += 1);
  try {
    const found = await post(path(name, "under"), { cone });
    if (mine === turn) show(found);
  } catch (problem) {
    if (mine !== turn) return;
    at("look-found").hidden = true;
    say(at("look-error"), problem.message);
  }
}

function show(found) {
  say(at("look-error"), "");
  say(at("look-words"), found.words);
  say(at("look-promise"), found.promise);
  const named = (state) => view.arms.filter((arm) => found.states[arm.name] === state);
  at("look-states").replaceChildren(...STATES.flatMap(([state, title]) => {
    const arms = named(state);
    const chips = arms.map((arm) => el("li", { title: arm.name, class: found.looks.includes(arm.name) ? "looks" : null }, short(arm.name, 32)));
    return [el("dt", {}, `${title}: ${number(arms.length) || 0}`), el("dd", {}, arms.length ? el("ul", { class: `chips ${state}` }, ...chips) : "–")];
  }));
  say(at("look-summary"), `${plural(found.looks.length, "option looks", "options look")} optimal under this cone.`);
  at("look-found").hidden = false;
}

/** Look through facets, as text: from the field, or from the dialogue. */
export function lookThrough(text) {
  at("look-rows").value = text;
  return look({ facets: matrix(text) });
}

export function setUpLooks() {
  at("look-degrees").addEventListener("input", () => {
    sayAngle();
    clearTimeout(timer);
    timer = setTimeout(() => look({ angle: Number(at("look-degrees").value) }), REST);
  });
  at("look").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = at("look-rows").value, rows = matrix(text);
    if (!text.trim() || rows.flat().some(Number.isNaN)) {
      say(at("look-error"), "Facets: rows of numbers, one number for each objective.");
      return at("look-rows").focus();
    }
    lookThrough(text);
  });
}
