// Who is signed in, and what the role allows.
import { get, token } from "./api.js";
import { at, say } from "./dom.js";

const ROLES = ["observer", "worker", "owner"];
let me = null;

export const may = (role) => me !== null && ROLES.indexOf(me.role) >= ROLES.indexOf(role);

/** Ask the server; 401 is thrown on. What the role does not allow is hidden. */
export async function enter() {
  me = await get("api/me");
  say(at("who"), token.get() ? `${me.name} (${me.role})` : "");
  at("leave").hidden = !token.get();
  for (const part of document.querySelectorAll("[data-needs]")) part.hidden = !may(part.dataset.needs);
}

export function leave() {
  me = null;
  token.set(null);
  say(at("who"), "");
  at("leave").hidden = true;
}
