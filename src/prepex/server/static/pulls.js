// The pulls that are out: a table, and the forms to tell, correct and void.
import { now, path, post } from "./api.js";
import { openForm } from "./dialog.js";
import { at, cell, el, keyed, say } from "./dom.js";
import { may } from "./session.js";
import { pairs, plural, short, span } from "./words.js";

// No objective has this name: names are printable.
const REASON = "\n";
const LABELS = ["Arm", "Token", "State", "Asked by", "Age", "Lease", "Told so far"];

export function drawPulls(view, done) {
  const list = view.pulls;
  at("pulls").hidden = !list.length;
  at("no-pulls").hidden = list.length > 0;
  at("more-pulls").hidden = view.n_listed <= list.length;
  say(at("more-pulls"), `${plural(view.n_listed - list.length, "more pull")} not listed.`);
  keyed(at("pulls").tBodies[0], list, (pull) => pull.token, (pull) => make(view, pull, done), update);
}

function make(view, pull, done) {
  const row = el("tr", {}, ...LABELS.map((label) => cell(label, "", label === "Token" ? "token" : label === "Arm" || label === "Told so far" ? "wide" : "")), cell("", "", "actions"));
  const current = () => row.pull;
  const button = (words, role, act) => may(role) && row.lastChild.append(el("button", { type: "button", click: act, "aria-label": `${words} ${pull.token} of ${pull.arm}` }, words));
  if (pull.state !== "waits") button("Tell", "worker", () => tell(view, current(), done));
  button("Void", "owner", () => voidPull(view, current().token, current().arm, done));
  return row;
}

function update(row, pull) {
  row.pull = pull;
  const texts = [pull.arm, pull.token, pull.state === "waits" ? "told; waits for those before it" : pull.state === "late" ? "late: lease over" : pull.state, pull.actor || "–", "", "", pairs(pull.told)];
  texts.forEach((text, k) => k === 4 || k === 5 || say(row.cells[k], text));
  age(row);
}

function age(row) {
  const { since, until } = row.pull, time = now();
  say(row.cells[4], span(Math.max(0, (time - Date.parse(since)) / 1000)));
  const left = until ? (Date.parse(until) - time) / 1000 : null;
  say(row.cells[5], left === null ? "none" : left < 0 ? "over" : `${span(left)} left`);
}

setInterval(() => document.querySelectorAll("#pulls tbody tr").forEach(age), 1000);

const WORDS = { Bernoulli: "1 for yes, 0 for no", Poisson: "a count", Exponential: "positive", LogNormal: "positive", "LogNormal(shared=True)": "positive" };
const signed = (view, name) => {
  const kind = WORDS[view.design.kinds[view.design.objectives.indexOf(name)]];
  return `${kind ? `${kind}; ` : ""}${view.design.minimise.includes(name) ? "less is better" : "more is better"}`;
};

export function tell(view, pull, done) {
  openForm({
    title: `Tell: ${short(pull.arm, 60)}`,
    words: `What came of the pull ${pull.token}? Leave out what is not known yet: it can be told later.`,
    button: "Tell",
    fields: view.design.objectives.map((name) => ({ name, label: name, hint: signed(view, name), number: true, value: Object.hasOwn(pull.told, name) ? pull.told[name] : null, fixed: Object.hasOwn(pull.told, name) })),
    send: async (outcome) => {
      if (!Object.keys(outcome).length) throw new Error("At least one value is needed.");
      const receipt = await post(path(view.name, "tell"), { token: pull.token, outcome });
      await done(receipt.missing.length ? `Told. ${pull.arm} still misses: ${receipt.missing.join(", ")}.` : `Told: ${pull.arm}, ${pairs({ ...pull.told, ...outcome })}.`, pull.token);
    },
  });
}

export function correct(view, token, arm, known, done) {
  openForm({
    title: `Correct: ${short(arm, 60)}`,
    words: `The pull ${token}. The log keeps both values and your reason; the guarantee then rests on it.`,
    button: "Correct",
    fields: [...view.design.objectives.filter((name) => Object.hasOwn(known, name)).map((name) => ({ name, label: name, hint: signed(view, name), number: true, value: known[name] })),
      { name: REASON, label: "Reason", required: true }],
    send: async ({ [REASON]: reason, ...outcome }) => {
      if (!Object.keys(outcome).length) throw new Error("At least one value is needed.");
      await post(path(view.name, "correct"), { token, outcome, reason });
      await done(`Corrected: ${token}.`);
    },
  });
}

export function voidPull(view, token, arm, done) {
  openForm({
    title: `Void: ${short(arm, 60)}`,
    words: `The pull ${token} will not count. A reason that depends on any outcome, this one's or another's, voids the guarantee.`,
    button: "Void",
    fields: [{ name: "reason", label: "Reason", required: true }],
    send: async ({ reason }) => {
      const found = await post(path(view.name, "void"), { token, reason });
      await done(found.new ? `Voided: ${token}.` : `${token} had been voided before, because: ${found.reason}. Nothing changed.`);
    },
  });
}
