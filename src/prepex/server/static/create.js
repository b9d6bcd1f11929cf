// The form for a new study.
import { post } from "./api.js";
import { at, el, say } from "./dom.js";
import { link } from "./list.js";

const form = () => at("create");

const KINDS = [["unknown", "measured, noise unknown"], ["gaussian", "measured, noise known"], ["shared", "measured, noise unknown, same for all arms"],
  ["bernoulli", "yes or no (1 or 0)"], ["poisson", "counts"], ["exact", "known without noise"], ["lognormal", "positive, compared by factors (times, sizes)"], ["exponential", "positive, exponential (waiting times)"]];

function addObjective() {
  const n = at("objectives").children.length + 1;
  const kind = el("select", { "data-part": "kind" }, ...KINDS.map(([value, words]) => el("option", { value }, words)));
  const variance = el("input", { "data-part": "variance", type: "number", min: 0, step: "any" });
  const asked = el("label", { hidden: true }, "Noise variance", variance);
  kind.addEventListener("change", () => { asked.hidden = kind.value !== "gaussian"; variance.required = !asked.hidden; });
  const row = el("div", { class: "objective" },
    el("label", {}, "Name", el("input", { "data-part": "name", required: true, autocomplete: "off", maxlength: 200 })),
    el("label", {}, "Better is", el("select", { "data-part": "sign" }, el("option", { value: "max" }, "more"), el("option", { value: "min" }, "less"))),
    el("label", {}, "Outcomes are", kind),
    asked,
    el("label", { title: "Differences below this do not matter, in the unit of the objective, or 5% where outcomes are compared by factors; empty: all matter" }, "Tolerance", el("input", { "data-part": "tolerance", inputmode: "decimal", autocomplete: "off", placeholder: "0" })),
    el("button", { type: "button", "aria-label": `Remove objective ${n}`, click: () => remove(row) }, "Remove"));
  at("objectives").append(row);
  return row;
}

function remove(row) {
  if (at("objectives").children.length > 1) row.remove();
  at("add-objective").focus();
}

const chooseCone = () => form().querySelectorAll("[data-cone]").forEach((label) => {
  label.hidden = !label.dataset.cone.split(" ").includes(form().elements.cone.value);
});

const matrix = (text) => text.trim().split(/\n+/).map((line) => line.trim().split(/[\s,;]+/).map(Number));

/** The known variances, or a family for each objective. */
function noise(given, parts) {
  if (given.covariance.trim()) return { variance: matrix(given.covariance) };
  if (parts.every((part) => part.kind === "gaussian")) return { variance: parts.map((part) => Number(part.variance)) };
  return { family: parts.map((part) => (part.kind === "gaussian" ? `gaussian(${Number(part.variance)})` : part.kind)) };
}

function read() {
  const given = Object.fromEntries(new FormData(form()));
  const lines = given.arms.split("\n").map((line) => line.trim()).filter(Boolean);
  const parts = [...at("objectives").children].map((row) => Object.fromEntries([...row.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part.value.trim()])));
  const cones = { orthant: () => null, angle: () => ({ angle: Number(given.angle) }), facets: () => ({ facets: matrix(given.rows) }), rays: () => ({ rays: matrix(given.rows) }) };
  const body = {
    name: given.name.trim(),
    arms: lines.length === 1 && /^\d+$/.test(lines[0]) ? Number(lines[0]) : lines,
    objectives: parts.map((part) => part.name),
    minimise: parts.filter((part) => part.sign === "min").map((part) => part.name),
    ...noise(given, parts),
    cone: cones[given.cone](),
    delta: Number(given.delta), threshold: given.threshold, rule: given.rule, seed: Number(given.seed || 0), max_pending: Number(given.max_pending || 1024),
  };
  const tolerances = parts.filter((part) => part.tolerance).map((part) => [part.name, part.tolerance.endsWith("%") ? part.tolerance : Number(part.tolerance)]);
  const limits = given.limits.split("\n").map((line) => line.trim()).filter(Boolean);
  const prior = given.prior.split("\n").map((line) => line.trim()).filter(Boolean).map((line) => [line.slice(0, line.lastIndexOf("=")).trim(), line.slice(line.lastIndexOf("=") + 1).split(":").map(Number)]);
  if (prior.length) body.prior = Object.fromEntries(prior);
  if (limits.length) [body.limits, body.avoid_infeasible] = [limits, Boolean(given.avoid_infeasible)];
  if (tolerances.length) body.tolerance = Object.fromEntries(tolerances);
  if (given.max_pulls) body.max_pulls = Number(given.max_pulls);
  if (given.lease) body.lease = Number(given.lease);
  return body;
}

export function showCreate() {
  if (!at("objectives").children.length) addObjective();
  chooseCone();
  form().elements.name.focus();
}

export function setUpCreate(announce) {
  at("add-objective").addEventListener("click", () => addObjective().querySelector("input").focus());
  form().elements.cone.addEventListener("change", chooseCone);
  form().addEventListener("submit", async (event) => {
    event.preventDefault();
    const error = form().querySelector(".error"), button = form().querySelector("button.main");
    say(error, "");
    const empty = [...form().querySelectorAll("[required]")].find((input) => !input.value.trim() && !input.closest("[hidden]"));
    if (empty) {
      say(error, `${empty.closest("label").firstChild.textContent.trim()}: please fill it in.`);
      return empty.focus();
    }
    button.disabled = true;
    try {
      const body = read();
      await post("api/studies", body);
      form().reset();
      at("objectives").replaceChildren();
      announce(`Created: ${body.name}.`);
      location.hash = link(body.name);
    } catch (problem) {
      say(error, problem.message);
    } finally {
      button.disabled = false;
    }
  });
}
