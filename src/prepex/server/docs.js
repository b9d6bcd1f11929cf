"use strict";
// The operations of openapi.json. Everything is set as text.
function add(parent, kind, text) {
  const made = parent.appendChild(document.createElement(kind));
  if (text !== undefined) made.textContent = text;
  return made;
}

function table(parent, title, head, rows) {
  if (!rows.length) return;
  add(parent, "h3", title);
  const made = add(parent, "table");
  for (const [kind, cells] of [["th", head], ...rows.map((row) => ["td", row])]) {
    const line = add(made, "tr");
    for (const cell of cells) add(line, kind, cell);
  }
}

function look(schema, all) {
  const name = schema && schema.$ref && schema.$ref.split("/").pop();
  return name ? all[name] : schema || {};
}

function words(schema, all, depth = 0) {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf) return schema.anyOf.map((part) => words(part, all, depth)).join(" | ");
  const found = look(schema, all);
  if (found.type === "array") return `[${found.items ? words(found.items, all, depth) : "..."}]`;
  if (found.properties && depth < 2) {
    return `{${Object.entries(found.properties).map(([key, part]) => `${key}: ${words(part, all, depth + 1)}`).join(", ")}}`;
  }
  const limits = [["minimum", "≥"], ["maximum", "≤"], ["maxLength", "length ≤"]].filter(([key]) => key in found);
  return [found.type || "anything", ...limits.map(([key, sign]) => `${sign} ${found[key]}`)].join(" ");
}

function show(path, method, operation, all) {
  const box = add(document.getElementById("operations"), "details");
  const head = add(box, "summary");
  add(head, "b", method.toUpperCase());
  add(head, "code", path);
  add(head, "span", "  " + (operation.description || operation.summary || ""));
  const inside = add(box, "div");
  table(inside, "Parameters", ["name", "in", "what"],
    (operation.parameters || []).map((p) => [p.name + (p.required ? "" : " (optional)"), p.in, words(p.schema, all)]));
  const body = operation.requestBody && look(operation.requestBody.content["application/json"].schema, all);
  if (body && body.properties) {
    const required = new Set(body.required || []);
    table(inside, "Body (JSON)", ["field", "what", ""], Object.entries(body.properties).map(([key, part]) =>
      [key + (required.has(key) ? "" : " (optional)"), words(part, all), part.description || ""]));
  }
  table(inside, "Answers", ["status", "meaning", "body"], Object.entries(operation.responses).map(([code, answer]) => {
    const [kind, content] = Object.entries(answer.content || {})[0] || ["", {}];
    return [code, answer.description, kind === "application/json" ? words(content.schema || {}, all) : kind];
  }));
}

fetch("openapi.json").then((answer) => answer.json()).then((document_) => {
  for (const [path, methods] of Object.entries(document_.paths)) {
    for (const [method, operation] of Object.entries(methods)) show(path, method, operation, document_.components.schemas);
  }
});
