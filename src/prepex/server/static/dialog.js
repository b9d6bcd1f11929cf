// One dialog for every form that needs a few fields. Escape and Cancel close it; the browser keeps the focus inside.
import { at, el, say } from "./dom.js";

// No commas: 1,000 is a thousand to some and one to others.
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** fields: [{name, label, hint, value, number, required, fixed}]; send(values) runs on submit and may refuse. */
export function openForm({ title, words, fields, button, send }) {
  const dialog = at("dialog"), form = dialog.querySelector("form"), error = dialog.querySelector(".error");
  const [main, cancel] = [form.querySelector("button.main"), form.querySelector("button.cancel")];
  say(at("dialog-title"), title);
  say(at("dialog-words"), words);
  say(main, button);
  say(error, "");
  form.querySelector(".fields").replaceChildren(...fields.map((field, k) => el("label", {}, field.label, field.hint ? el("small", {}, " " + field.hint) : null,
    el("input", { name: `field ${k}`, autocomplete: "off", maxlength: field.number ? null : 2000, value: field.value ?? "", disabled: Boolean(field.fixed) }))));
  cancel.onclick = () => dialog.close();
  form.onsubmit = async (event) => {
    event.preventDefault();
    const values = Object.create(null); // an objective may have any name
    try {
      for (const [k, field] of fields.entries()) {
        const input = form.elements[`field ${k}`], text = input.value.trim();
        if (field.fixed || text === "") {
          if (field.required) throw refuse(input, `${field.label}: please fill it in`);
          continue;
        }
        if (field.number && !NUMBER.test(text)) throw refuse(input, `${field.label}: a number such as 1234.5 is needed, got ${text}`);
        values[field.name] = field.number ? Number(text) : text;
      }
      main.disabled = true;
      await send(values);
      dialog.close();
      keepFocus();
    } catch (problem) {
      say(error, problem.message);
    } finally {
      main.disabled = false;
    }
  };
  dialog.showModal();
  (form.querySelector("input:not(:disabled)") || main).focus();
}

/** Where the focus was may be gone, such as the row of a pull that has been told: then the next step has it. */
export function keepFocus() {
  const now = document.activeElement;
  if (now && now !== document.body && now.isConnected && !now.closest("dialog")) return;
  const next = at("ask-button");
  (next.disabled || !next.offsetParent ? at("main") : next).focus();
}

function refuse(input, words) {
  input.focus();
  return new Error(words);
}
