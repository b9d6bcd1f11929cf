"use strict";
// The dashboard: polls the status of one study and draws it. Names are only ever set as text.
const at = (id) => document.getElementById(id);
const curves = {};
let timer = null;

async function get(path) {
  const token = sessionStorage.getItem("token");
  const answer = await fetch(path, { headers: token ? { Authorization: "Bearer " + token } : {} });
  if (answer.status === 401) at("login").hidden = false;
  if (!answer.ok) throw new Error((await answer.json()).detail);
  at("login").hidden = true;
  return answer.json();
}

const study = (name, what) => "api/studies/" + name.split("/").map(encodeURIComponent).join("/") + "/" + what;
// Plotly takes a few tags in labels.
const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

function row(cells, kind, front) {
  const line = document.createElement("tr");
  for (const cell of cells) line.appendChild(document.createElement(kind)).textContent = cell;
  if (front) line.className = "front";
  return line;
}

function layout(x, y) {
  const colour = getComputedStyle(document.body).color;
  const axis = (title) => ({ title: { text: plain(title) }, color: colour, gridcolor: "rgba(128,128,128,.3)" });
  return { paper_bgcolor: "transparent", plot_bgcolor: "transparent", font: { color: colour }, showlegend: false,
    margin: { l: 50, r: 10, t: 10, b: 45 }, xaxis: axis(x), yaxis: axis(y) };
}

function draw(status, why) {
  document.querySelector("main").hidden = false; // first: a hidden plot has no size
  const inside = new Set(status.recommendation.arms);
  const tried = Object.entries(status.means).filter(([, mean]) => mean !== null);
  const waits = status.waiting ? ` ${status.waiting} outcomes wait.` : "";
  at("answer").textContent = `${status.recommendation.status}: ${status.n_pulls} outcomes, ${status.out} pulls out.${waits} ${why}`;
  at("head").replaceChildren(...row(["arm", "n", ...status.objectives, "decided"], "th").children);
  at("arms").replaceChildren(...Object.keys(status.means).map((name) => row(
    [name, status.counts[name], ...(status.means[name] || status.objectives.map(() => "")).map((v) => v === "" ? v : v.toPrecision(4)),
      status.recommendation.decided.includes(name) ? "yes" : ""], "td", inside.has(name))));
  const [x, y] = [0, Math.min(1, status.objectives.length - 1)];
  Plotly.react("front", [{ type: "scatter", mode: "markers", x: tried.map(([, m]) => m[x]), y: tried.map(([, m]) => m[y]),
    text: tried.map(([name]) => plain(name)), hoverinfo: "text+x+y",
    marker: { size: tried.map(([name]) => inside.has(name) ? 12 : 7), color: tried.map(([name]) => inside.has(name) ? "#0072B2" : "#999") } }],
  layout(status.objectives[x], status.objectives[y]), { responsive: true, displayModeBar: false });
  const seen = curves[status.name] = curves[status.name] || [];
  if (status.reached !== null && (!seen.length || seen[seen.length - 1].n !== status.n_pulls)) {
    seen.push({ n: status.n_pulls, reached: status.reached, needed: status.needed });
  }
  const curve = (key, dash) => ({ type: "scatter", mode: "lines+markers", x: seen.map((p) => p.n), y: seen.map((p) => p[key]), line: { dash } });
  Plotly.react("evidence", [curve("reached", "solid"), curve("needed", "dash")], layout("outcomes", "evidence reached and needed"),
    { responsive: true, displayModeBar: false });
}

async function refresh() {
  clearTimeout(timer);
  try {
    const name = at("studies").value;
    if (name) draw(await get(study(name, "status")), (await get(study(name, "why"))).why);
    at("error").textContent = "";
  } catch (error) {
    at("error").textContent = error.message;
  }
  timer = setTimeout(refresh, 2000);
}

async function start() {
  try {
    const found = await get("api/studies");
    at("studies").replaceChildren(...found.map((entry) => new Option(entry.name, entry.name)));
    at("error").textContent = found.length ? "" : "There is no study yet: prepex study create";
    refresh();
  } catch (error) {
    at("error").textContent = error.message;
  }
}

at("studies").addEventListener("change", refresh);
at("login").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", at("token").value);
  start();
});
start();
