// Numbers and times in words.
export const short = (text, most = 22) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

// Beyond these powers of ten a number has an exponent; a double has no more digits than MOST. The same as numerals.py.
const [SMALLEST, LARGEST, MOST] = [-5, 15, 17];
const power = (value, digits) => Number(value.toExponential(digits - 1).split("e")[1]);
const exponent = (of) => `e${of < 0 ? "-" : "+"}${String(Math.abs(of)).padStart(2, "0")}`;
const fixed = (value, places) => value.toFixed(places).replace(/^(-?\d+)/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
const stripped = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

/** At least so many significant digits, all of those before the point, and no zeros behind the last. */
export function number(value, digits = 4) {
  if (value === null || value === undefined) return "";
  if (value === 0) return "0";
  const first = power(value, digits);
  if (first >= SMALLEST && first < LARGEST) return stripped(fixed(value, Math.max(digits - 1 - first, 0)));
  return stripped(value.toExponential(digits - 1).split("e")[0]) + exponent(first);
}

/** A probability known to about 0.01. */
export const chance = (p) => (p === null ? "–" : p > 0.99 ? "over 99 %" : p < 0.01 ? "under 1 %" : `${Math.round(100 * p)} %`);

/** Two numbers, with so many digits that they differ, and that their difference has two of its own. */
export function apart(one, other, digits = 4) {
  const gap = Math.abs(one - other);
  if (gap === 0) return [number(one, digits), number(other, digits)];
  const last = power(gap, 2) - 1;
  let needed = [one, other].map((value) => (value ? Math.max(digits, power(value, digits) - last + 1) : digits));
  for (;;) {
    const shown = [one, other].map((value, k) => number(value, Math.min(needed[k], MOST)));
    if (shown[0] !== shown[1] || Math.min(...needed) >= MOST) return shown;
    needed = needed.map((most) => most + 1);
  }
}

/** Numbers to the same place, which shows so many digits of `size`; and a common power of ten, "" for none. */
function aligned(values, size, digits) {
  const top = Math.max(...values.map(Math.abs));
  if (top === 0) return [values.map((value) => number(value)), ""];
  const first = power(top, 1), shift = first >= SMALLEST && first < LARGEST ? 0 : first;
  const last = size > 0 ? power(size, digits) - digits + 1 : first - 3;
  const places = Math.min(Math.max(shift - last, 0), MOST - 1 + shift - first);
  return [values.map((value) => fixed(value / 10 ** shift, places)), shift ? exponent(shift) : ""];
}

export function measured(value, error, digits = 2) {
  const [[shown, spread], end] = aligned([value, error], error, digits);
  return end ? `(${shown} ± ${spread})${end}` : `${shown} ± ${spread}`;
}

export function within(value, low, high, digits = 2) {
  const [[middle, start, stop], end] = aligned([value, low, high], high - low, digits);
  return end ? `(${middle} [${start}, ${stop}])${end}` : `${middle} [${start}, ${stop}]`;
}

/** A positive number, and a factor, rounded up, within which the ends of its interval are. */
export function byFactor(value, low, high, digits = 2) {
  const factor = low > 0 ? Math.max(high / value, value / low) : Infinity;
  if (!(factor > 1 && factor < Infinity)) return number(value);
  const first = power(factor - 1, 1), unit = 10 ** (first - digits + 1);
  const rounded = 1 + Math.ceil(((1 - 1e-9) * (factor - 1)) / unit) * unit;
  const shown = first < LARGEST ? stripped(fixed(rounded, Math.max(digits - 1 - first, 0))) : rounded.toExponential(digits - 1).split("e")[0] + exponent(first);
  return `${number(value, Math.min(Math.max(3, digits - first), MOST))} within a factor ${shown}`;
}

/** Is objective q compared by its logarithm? */
export const onLogs = (design, q) => design.logs.includes(design.objectives[q]);

/** An arm's mean of objective q, and its region: symmetric, its two ends, or a factor. */
export function around(design, arm, q) {
  if (!arm.interval) return number(arm.mean[q]);
  const [low, high] = arm.interval[q];
  if (onLogs(design, q)) return byFactor(arm.mean[q], low, high);
  return arm.radius === null ? within(arm.mean[q], low, high) : measured(arm.mean[q], 0.5 * (high - low));
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

/** A name as a shell reads it, quoted where it must be, as by Python's shlex. */
export const shellWord = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);

export const STATES = {
  running: "running",
  certified: "certified",
  posterior: "stopped, proven on average",
  heuristic: "stopped, no proof",
  inconclusive: "inconclusive",
};
