// A dialogue that finds a cone: two real options side by side, in the user's units. The server keeps nothing of it.
import { path, post } from "./api.js";
import { at, el, say } from "./dom.js";
import { lookThrough, rowsText } from "./looks.js";
import { number, plural, short } from "./words.js";

let name = null;
let design = null;
let said = []; // {one: {arm, mean}, other: {arm, mean}, clear}
let found = null;
let turn = 0;

/** Another study: what was said is forgotten. */
export function clearTalk() {
  turn += 1;
  [name, design, said, found] = [null, null, [], null];
  for (const id of ["talk-pair", "talk-clash", "talk-end"]) at(id).hidden = true;
  at("talk-start").hidden = false;
  say(at("talk-error"), "");
  say(at("talk-left"), "");
}

export function drawTalk(wanted, view) {
  [name, design] = [wanted, view.design];
  at("talk-start").disabled = !view.arms.every((arm) => arm.mean);
}

const sentence = ({ one, other, clear }) => (clear ? `${one.arm} rather than ${other.arm}` : `neither of ${one.arm} and ${other.arm}`);
const body = (list) => ({ statements: list.map(({ one, other, clear }) => ({ one: one.mean, other: other.mean, clear })) });

/** Ask with these statements; kept if they agree, else those that clash are named. */
async function ask(list) {
  const mine = (turn += 1);
  say(at("talk-error"), "");
  try {
    const answer = await post(path(name, "dialogue"), body(list));
    if (mine !== turn) return;
    if (answer.clash.length) return showClash(list, answer.clash);
    [said, found] = [list, answer];
    show();
  } catch (problem) {
    if (mine === turn) say(at("talk-error"), problem.message);
  }
}

function show() {
  at("talk-start").hidden = true;
  at("talk-clash").hidden = true;
  const some = found.left.length <= 12 ? `: ${found.left.map((arm) => short(arm, 32)).join(", ")}` : "";
  say(at("talk-left"), `${plural(found.left.length, "option")} left after ${plural(said.length, "answer")}${some}.`);
  if (!found.question) return end("No further answer would change which options are left.");
  at("talk-end").hidden = true;
  at("talk-back").disabled = !said.length;
  const [left, right] = found.question;
  [["talk-one", left], ["talk-two", right]].forEach(([id, option]) => {
    at(id).replaceChildren(el("h3", { title: option.arm }, short(option.arm, 60)), el("dl", {}, ...design.objectives.flatMap((objective, q) => [
      el("dt", {}, `${short(objective, 40)} (${design.minimise.includes(objective) ? "less" : "more"} is better)`), el("dd", {}, number(option.mean[q]))])));
  });
  at("talk-pair").hidden = false;
}

const answer = (one, other, clear) => ask([...said, { one, other, clear }]);

function showClash(list, places) {
  at("talk-pair").hidden = true;
  at("talk-clash").hidden = false;
  const last = list.length - 1;
  // One of the others goes, and the new one stays; or the new one goes.
  const without = (place) => list.filter((_, k) => k !== place);
  at("talk-clashes").replaceChildren(...places.map((place) => el("li", {}, `${place === last ? "now: " : ""}${sentence(list[place])} `,
    el("button", { type: "button", click: () => ask(without(place)) }, place === last ? "Take this answer back" : "Take this one back"))));
  at("talk-clashes").querySelector("button")?.focus();
}

function end(words) {
  at("talk-pair").hidden = true;
  at("talk-clash").hidden = true;
  at("talk-end").hidden = false;
  say(at("talk-end-words"), words);
  say(at("talk-cone"), found.words);
  at("talk-facets").value = rowsText(found.facets);
  at("talk-facets").rows = Math.max(found.facets.length, 2);
}

async function copy() {
  try {
    await navigator.clipboard.writeText(at("talk-facets").value);
    say(at("talk-copied"), "Copied.");
  } catch {
    at("talk-facets").select(); // Without leave to write to the clipboard, the keyboard can.
    say(at("talk-copied"), "Selected: copy it with the keyboard.");
  }
}

/** Into the form for a new study, whose cone is fixed before its outcomes. */
function use() {
  const form = at("create").elements;
  form.cone.value = "facets";
  form.rows.value = at("talk-facets").value;
  location.hash = "#/new";
}

export function setUpTalk() {
  at("talk-start").addEventListener("click", () => ask([]));
  at("talk-choose-one").addEventListener("click", () => answer(...found.question, true));
  at("talk-choose-two").addEventListener("click", () => answer(found.question[1], found.question[0], true));
  at("talk-neither").addEventListener("click", () => answer(...found.question, false));
  at("talk-back").addEventListener("click", () => ask(said.slice(0, -1)));
  at("talk-stop").addEventListener("click", () => end("Stopped. Nothing is called better that you have not implied."));
  at("talk-again").addEventListener("click", () => ask(said.slice(0, -1)));
  at("talk-copy").addEventListener("click", copy);
  at("talk-use").addEventListener("click", use);
  at("talk-look").addEventListener("click", async () => {
    at("look-box").open = true;
    await lookThrough(at("talk-facets").value);
    at("look-box").scrollIntoView({ block: "start" });
  });
}
