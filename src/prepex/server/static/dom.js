// Small helpers. Text from users goes in as text only, never as markup.
export const at = (id) => document.getElementById(id);

/** el("td", {class: "token"}, "text", child): an element; functions become listeners. */
export function el(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Rows by key: those that stay are kept, so that the focus stays where it is. */
export function keyed(body, items, key, make, update) {
  const known = new Map([...body.children].map((row) => [row.dataset.key, row]));
  let before = null;
  for (const item of items) {
    const name = String(key(item));
    let row = known.get(name);
    if (row) known.delete(name);
    else {
      row = make(item);
      row.dataset.key = name;
    }
    update(row, item);
    const place = before ? before.nextElementSibling : body.firstElementChild;
    if (place !== row) body.insertBefore(row, place);
    before = row;
  }
  for (const row of known.values()) row.remove();
}

/** Set text only where it changes: a screen reader, a selection and the layout are left alone. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A table cell that knows its column, for narrow screens. */
export const cell = (label, text = "", kind = "") => el("td", { "data-label": label, class: kind || null }, text);

export function facts(list, pairs, wrap) {
  const made = pairs.map(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))]);
  list.replaceChildren(...(wrap ? made.map((pair) => el("div", {}, ...pair)) : made.flat()));
}
