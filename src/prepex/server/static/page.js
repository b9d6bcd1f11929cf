// The way in: which part of the page is shown, who is signed in, and when it is fetched again.
import { token } from "./api.js";
import { setUpCreate, showCreate } from "./create.js";
import { at, say } from "./dom.js";
import { clearList, showList } from "./list.js";
import { hush, listen } from "./news.js";
import { enter, leave, may } from "./session.js";
import { clear, refresh, setUpStudy, showStudy } from "./study.js";

const VIEWS = ["list-view", "create-view", "study-view", "login"];
// Milliseconds between two tries when the server cannot be reached: doubled each time, up to the last.
const [FIRST, LAST] = [2000, 30000];
// Milliseconds until all is fetched again: while news are heard, without them, and when the server had only an old answer.
const [HEARD, DEAF, SOON] = [60000, 5000, 1000];
let entered = false;
let heard = false;
let timer = null;
let wait = FIRST;
let turn = 0;

const show = (id) => VIEWS.forEach((view) => { at(view).hidden = view !== id; });
let fading = null;

function announce(words) {
  say(at("notice"), words);
  clearTimeout(fading);
  fading = setTimeout(() => say(at("notice"), ""), 20000);
}

function place() {
  const [, kind, rest] = location.hash.match(/^#\/(study\/|new)?(.*)$/) || [null, undefined, ""];
  if (kind === "study/") return { kind: "study", name: decodeURIComponent(rest) };
  return { kind: kind === "new" && may("owner") ? "new" : "list" };
}

async function route() {
  if (location.hash && !location.hash.startsWith("#/")) return; // the skip link
  say(at("error"), "");
  await run();
}

async function run() {
  clearTimeout(timer);
  const mine = (turn += 1);
  try {
    if (!entered) {
      await enter();
      entered = true;
    }
    if (!document.hidden) listen({ changed, lost });
    const old = await render();
    if (mine !== turn) return;
    online();
    wait = FIRST;
    if (!document.hidden) timer = setTimeout(run, old ? SOON : heard ? HEARD : DEAF);
  } catch (problem) {
    if (mine === turn) failed(problem);
  }
}

/** News: what is shown may be old. */
function changed(names) {
  const wanted = place(), before = heard;
  heard = true;
  // The first news only say that they are heard; what came before them was fetched just now, or is fetched soon.
  if (names === null ? !before : wanted.kind === "list" || (wanted.kind === "study" && names.includes(wanted.name))) run();
}

function lost(problem) {
  heard = false;
  // At once: is it the news alone, or the server?
  if (problem === null || problem.status === 0) run();
}

/** Answers whether what came is old already. */
async function render() {
  const wanted = place();
  if (wanted.kind === "study") {
    showStudy(wanted.name);
    if (at("study-view").hidden) show("study-view");
    return refresh();
  }
  document.title = "prepex";
  if (wanted.kind === "new") {
    if (at("create-view").hidden) {
      show("create-view");
      showCreate();
    }
    return false;
  }
  if (at("list-view").hidden) show("list-view");
  return showList();
}

function failed(problem) {
  if (problem.status === 401) {
    if (token.get()) say(at("error"), "This token is not known here.");
    signedOut();
    show("login");
    at("token").focus();
    return;
  }
  if (problem.status === 0 || problem.status === 429 || problem.status >= 500) {
    const busy = problem.status === 429 || problem.status === 503;
    const pause = busy && problem.seconds ? Math.min(1000 * problem.seconds, LAST) : wait;
    at("connection").hidden = false;
    at("connection").dataset.state = busy ? "busy" : "offline";
    say(at("connection"), `${busy ? "Busy" : "Offline"}: ${problem.message}. What you see may be old; trying again in ${Math.round(pause / 1000)} s.`);
    timer = setTimeout(run, pause);
    wait = Math.min(2 * wait, LAST);
    return;
  }
  if (problem.status === 404) show("none");
  say(at("error"), problem.message);
  if (problem.status === undefined) console.error(problem);
  timer = setTimeout(run, LAST);
}

function online() {
  if (at("connection").hidden) return;
  at("connection").hidden = true;
  if (at("connection").dataset.state === "offline") announce("Online again.");
}

function signedOut() {
  leave();
  clear();
  clearList();
  hush();
  [entered, heard] = [false, false];
}

function start() {
  setUpCreate(announce);
  setUpStudy(announce);
  at("login").addEventListener("submit", (event) => {
    event.preventDefault();
    token.set(at("token").value.trim());
    at("token").value = "";
    say(at("error"), "");
    run();
  });
  at("leave").addEventListener("click", () => {
    signedOut();
    announce("");
    run();
  });
  addEventListener("hashchange", route);
  addEventListener("online", run);
  addEventListener("offline", run);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return run();
    clearTimeout(timer);
    hush();
    heard = false;
  });
  route();
}

start();
