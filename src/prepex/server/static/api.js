// Requests to this server, with the token of this tab if there is one.
export class Refused extends Error {
  constructor(status, words, seconds = null) {
    super(words);
    this.status = status;
    this.seconds = seconds; // after which to try again, if the server says so
  }
}

export const token = {
  get: () => sessionStorage.getItem("token"),
  set: (value) => (value ? sessionStorage.setItem("token", value) : sessionStorage.removeItem("token")),
};

// Server's clock less this one's, in milliseconds.
let drift = 0;
export const now = () => Date.now() + drift;

function words(detail, status) {
  if (typeof detail === "string") return detail;
  if (Array.isArray(detail)) return detail.map((part) => `${(part.loc || []).slice(1).join(" ")}: ${part.msg}`).join("; ");
  return `the server answered ${status}`;
}

export async function call(path, { method = "GET", body, headers = {}, signal } = {}) {
  // What a page reads is counted apart from what scripts of the same person do.
  const sent = { "X-Prepex-Page": "1", ...headers };
  if (token.get()) sent.Authorization = "Bearer " + token.get();
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, { method, headers: sent, body: body === undefined ? undefined : JSON.stringify(body), signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "the server cannot be reached");
  }
  const date = Date.parse(answer.headers.get("date") || "");
  if (!Number.isNaN(date) && Math.abs(date - Date.now()) > 2000) drift = date - Date.now();
  if (answer.ok || answer.status === 304) return answer;
  let detail = null;
  try {
    detail = (await answer.json()).detail;
  } catch {
    // Not JSON: the status says enough.
  }
  throw new Refused(answer.status, words(detail, answer.status), Number(answer.headers.get("retry-after")) || null);
}

export const get = async (path) => (await call(path)).json();
export const post = async (path, body) => (await call(path, { method: "POST", body })).json();

export const path = (name, what) => {
  const place = "api/studies/" + name.split("/").map(encodeURIComponent).join("/");
  return what ? `${place}/${what}` : place;
};

export async function download(from, file) {
  const answer = await call(from);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = file;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
