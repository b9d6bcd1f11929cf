// News from the server: which studies have changed. While it is heard, nothing needs to be asked for again and again.
import { Refused, call } from "./api.js";

// Milliseconds before it is tried again, and without a sign of life after which it is given up; the server sends one
// every ten seconds.
const [AGAIN, SILENT] = [5000, 25000];
let stop = null;

/** changed(names), null for all; lost(problem) when it ends or cannot be had. Only one is open at a time. */
export function listen({ changed, lost }) {
  if (stop) return;
  const control = new AbortController();
  let timer = null;
  stop = () => {
    control.abort();
    clearTimeout(timer);
  };
  const open = async () => {
    try {
      const answer = await call("api/changes", { signal: control.signal });
      await read(answer.body.getReader(), changed);
      lost(null);
    } catch (problem) {
      if (control.signal.aborted) return;
      // A connection that breaks off is one that cannot be reached.
      lost(problem instanceof Refused ? problem : new Refused(0, problem.message));
    }
    if (!control.signal.aborted) timer = setTimeout(open, AGAIN);
  };
  open();
}

/** A page that nobody looks at needs no news, and browsers allow few connections. */
export function hush() {
  if (stop) stop();
  stop = null;
}

async function read(reader, changed) {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { value, done } = await soon(reader.read());
      if (done) return;
      const parts = (text + decoder.decode(value, { stream: true })).split("\n\n");
      text = parts.pop();
      for (const part of parts) if (part.startsWith("data: ")) changed(JSON.parse(part.slice(6)));
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function soon(promise) {
  let timer = null;
  const over = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Refused(0, "the server is silent")), SILENT);
  });
  return Promise.race([promise, over]).finally(() => clearTimeout(timer));
}
