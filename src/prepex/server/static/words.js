// Numbers and times in words.
export const short = (text, most = 22) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

export function number(value, digits = 4) {
  if (value === null || value === undefined) return "";
  return Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(digits)));
}

/** An arm's mean of objective q, and the ends of its region. */
export function around(arm, q) {
  if (!arm.interval) return number(arm.mean[q]);
  const [low, high] = arm.interval[q];
  return arm.radius === null ? `${number(arm.mean[q])} [${number(low, 3)}, ${number(high, 3)}]` : `${number(arm.mean[q])} ± ${number(0.5 * (high - low), 3)}`;
}

export function span(seconds) {
  if (seconds < 0) return "over";
  for (const [size, unit] of [[86400, "d"], [3600, "h"], [60, "min"]]) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${unit}`;
  }
  return `${Math.floor(seconds)} s`;
}

export function moment(text) {
  const when = new Date(text);
  const two = (value) => String(value).padStart(2, "0");
  const day = `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())}`;
  return `${day} ${two(when.getHours())}:${two(when.getMinutes())}:${two(when.getSeconds())}`;
}

export const pairs = (values) => Object.entries(values).map(([name, value]) => `${name} = ${number(value, 6)}`).join(", ");

export const plural = (n, one, many = one + "s") => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

export const STATES = {
  running: "running",
  certified: "certified",
  heuristic: "stopped, no proof",
  inconclusive: "inconclusive",
};
