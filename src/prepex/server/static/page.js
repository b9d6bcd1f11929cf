// The way in: which part of the page is shown, who is signed in, and when it is fetched again.
import { token } from "./api.js";
import { setUpCreate, showCreate } from "./create.js";
import { at, say } from "./dom.js";
import { showList } from "./list.js";
import { enter, leave, may } from "./session.js";
import { clear, refresh, setUpStudy, showStudy } from "./study.js";

const VIEWS = ["list-view", "create-view", "study-view", "login"];
// Milliseconds between two tries when the server cannot be reached: doubled each time, up to the last.
const [FIRST, LAST] = [2000, 30000];
let entered = false;
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
    const next = await render();
    if (mine !== turn) return;
    online();
    wait = FIRST;
    if (next !== null) timer = setTimeout(run, next);
  } catch (problem) {
    if (mine === turn) failed(problem);
  }
}

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
    return null;
  }
  if (at("list-view").hidden) show("list-view");
  await showList();
  return 5000;
}

function failed(problem) {
  if (problem.status === 401) {
    if (token.get()) say(at("error"), "This token is not known here.");
    leave();
    clear();
    entered = false;
    show("login");
    at("token").focus();
    return;
  }
  if (problem.status === 0 || problem.status === 429 || problem.status >= 500) {
    at("connection").hidden = false;
    say(at("connection"), `Offline: ${problem.message}. What you see may be old; trying again in ${Math.round(wait / 1000)} s.`);
    timer = setTimeout(run, wait);
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
  announce("Online again.");
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
    leave();
    entered = false;
    announce("");
    run();
  });
  addEventListener("hashchange", route);
  addEventListener("online", run);
  document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : run()));
  route();
}

start();
