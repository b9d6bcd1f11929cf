// The event log, newest first, a page at a time.
import { get, path } from "./api.js";
import { at, cell, el, keyed, say } from "./dom.js";
import { correct, voidPull } from "./pulls.js";
import { may } from "./session.js";
import { moment, pairs, plural } from "./words.js";

const size = () => (matchMedia("(max-width: 860px)").matches ? 8 : 20);
const LABELS = ["Event", "Time", "Kind", "Arm", "Token", "Says", "By"];
let skipped = 0;
let shown = "";

export function restart() {
  [skipped, shown] = [0, ""];
  at("log").tBodies[0].replaceChildren();
}

export async function drawLog(view, done, force = false) {
  const total = view.events, end = total - skipped, start = Math.max(0, end - size());
  const wanted = `${view.name} ${view.head} ${start} ${end}`;
  if (wanted === shown && !force) return;
  const found = await get(path(view.name, `events?after=${start - 1}&limit=${end - start}`));
  shown = wanted;
  const events = found.events.reverse();
  keyed(at("log").tBodies[0], events, (event) => event.position, (event) => make(view, event, found.arms, done), () => {});
  say(at("log-range"), `${start} to ${end - 1}, of ${total} from 0 on`);
  at("newer").disabled = skipped === 0;
  at("older").disabled = start === 0;
  at("newer").onclick = () => turn(view, -size(), done);
  at("older").onclick = () => turn(view, size(), done);
}

function turn(view, by, done) {
  skipped = Math.max(0, skipped + by);
  return drawLog(view, done, true);
}

function make(view, event, arms, done) {
  const data = event.data, of = "arm" in data ? data.arm : arms[event.pull], arm = of === undefined ? "" : view.arms[of].name;
  const says = event.kind === "config" ? `created by prepex ${event.version}` : [data.n ? `${plural(data.n, "outcome")}, means` : "", data.outcome ? pairs(data.outcome) : "", data.reason ? `because: ${data.reason}` : "", data.source ? `from ${data.source}` : ""].filter(Boolean).join("; ");
  const texts = [String(event.position), moment(event.time), event.kind, arm, data.token || "", says, event.actor];
  const row = el("tr", {}, ...texts.map((text, k) => cell(LABELS[k], text, k === 1 ? "time" : k === 4 ? "token" : k === 3 || k === 5 ? "wide" : "")));
  if (!may("owner")) return row;
  const actions = row.appendChild(cell("", "", "actions"));
  const what = arm || data.token;
  const button = (words, act) => actions.append(el("button", { type: "button", click: act, "aria-label": `${words} ${data.token}` }, words));
  if (data.outcome) button("Correct", () => correct(view, data.token, what, data.outcome, done));
  if (["told", "imported", "corrected"].includes(event.kind)) button("Void", () => voidPull(view, data.token, what, done));
  return row;
}
