// Plane geometry of the plots, without drawing.

/** Border of {x : (x - mean)' S^-1 (x - mean) <= r^2}, the shadow of an arm's region on objectives a, b: [xs, ys]. */
export function ellipse(mean, radius, covariance, [a, b], steps = 48) {
  const x = Math.sqrt(covariance[a][a]);
  const lean = covariance[a][b] / x;
  const y = Math.sqrt(Math.max(covariance[b][b] - lean * lean, 0));
  const xs = [], ys = [];
  for (let k = 0; k <= steps; k += 1) {
    const [c, s] = [Math.cos((2 * Math.PI * k) / steps), Math.sin((2 * Math.PI * k) / steps)];
    xs.push(mean[a] + radius * x * c);
    ys.push(mean[b] + radius * (lean * c + y * s));
  }
  return [xs, ys];
}

/** Border of what points dominate under a cone of two facets: a staircase in facet scores, led far beyond the points. */
export function staircase(points, facets, far) {
  const [[a, b], [c, d]] = facets;
  const size = a * d - b * c;
  const back = ([s, t]) => [(d * s - b * t) / size, (a * t - c * s) / size];
  const scores = points.map(([x, y]) => [a * x + b * y, c * x + d * y]).sort((p, q) => p[0] - q[0] || q[1] - p[1]);
  if (!scores.length) return [[], []];
  const steps = [[scores[0][0] - far, scores[0][1]]];
  scores.forEach((point, k) => {
    if (k) steps.push([scores[k - 1][0], point[1]]);
    steps.push(point);
  });
  steps.push([scores.at(-1)[0], scores.at(-1)[1] - far]);
  const line = steps.map(back);
  return [line.map((p) => p[0]), line.map((p) => p[1])];
}

/** The same line with ends at which objectives on a log scale are still numbers in the user's units; `logs`: which of the two. */
export function nearer([xs, ys], logs) {
  const points = xs.map((x, k) => [x, ys[k]]);
  for (const [end, inside] of points.length > 1 ? [[0, 1], [points.length - 1, points.length - 2]] : []) {
    const step = [0, 1].map((q) => points[end][q] - points[inside][q]);
    const share = Math.min(1, 500 / Math.max(1, ...step.filter((_, q) => logs[q]).map(Math.abs)));
    points[end] = step.map((size, q) => points[inside][q] + share * size);
  }
  return [points.map((p) => p[0]), points.map((p) => p[1])];
}

const middle = (values) => [...values].sort((p, q) => p - q)[Math.floor(values.length / 2)] ?? 0;

/** A range that shows all means, and of the regions as much as leaves the means apart. */
export function range(centres, ends) {
  const [low, high] = [Math.min(...centres), Math.max(...centres)];
  const half = middle(ends.map(([from, to]) => 0.5 * (to - from)).filter((width) => width > 0));
  const room = Math.max(high - low, 1.3 * half, 1e-9 * Math.abs(high), 1e-12);
  const [least, most] = [Math.min(...ends.map((end) => end[0])), Math.max(...ends.map((end) => end[1]))];
  const [from, to] = [Math.max(least, low - room), Math.min(most, high + room)];
  const edge = 0.06 * Math.max(to - from, 1e-12);
  return [from - edge, to + edge];
}

const SIDES = [["middle right", 1, 0], ["middle left", -1, 0], ["top center", 0, -1], ["bottom center", 0, 1],
  ["top right", 1, -1], ["top left", -1, -1], ["bottom right", 1, 1], ["bottom left", -1, 1]];

/** Does a line from p to q run through a box? Clipped from all four sides (Liang and Barsky). */
function crosses([left, top, right, bottom], [p, q]) {
  let [from, to] = [0, 1];
  for (const [step, room] of [[p[0] - q[0], p[0] - left], [q[0] - p[0], right - p[0]], [p[1] - q[1], p[1] - top], [q[1] - p[1], bottom - p[1]]]) {
    if (step === 0 && room < 0) return false;
    if (step < 0) from = Math.max(from, room / step);
    if (step > 0) to = Math.min(to, room / step);
  }
  return from <= to;
}

/** A side for each label, so that none lies over a point, another label or, if it can be, a line; null for none. */
export function places(labels, [xmin, xmax], [ymin, ymax], width, height, [xs, ys] = [[], []]) {
  const pixel = (x, y) => [((x - xmin) / (xmax - xmin)) * width, ((ymax - y) / (ymax - ymin)) * height];
  const spot = labels.map(({ x, y }) => pixel(x, y));
  const line = xs.slice(1).map((x, k) => [pixel(xs[k], ys[k]), pixel(x, ys[k + 1])]);
  const taken = spot.map(([x, y]) => [x - 6, y - 6, x + 6, y + 6]);
  const hits = (p, q) => p[0] < q[2] && q[0] < p[2] && p[1] < q[3] && q[1] < p[3];
  return labels.map(({ text }, k) => {
    const wide = 7 * text.length + 4;
    for (const [name, right, down, lines] of [...SIDES.map((side) => [...side, line]), ...SIDES.map((side) => [...side, []])]) {
      const x = spot[k][0] + (right ? right * (8 + wide / 2) : 0);
      const y = spot[k][1] + (down ? down * 15 : 0);
      const box = [x - wide / 2, y - 8, x + wide / 2, y + 8];
      const inside = box[0] >= 0 && box[2] <= width && box[1] >= 0 && box[3] <= height;
      if (inside && !taken.some((other, j) => j !== k && hits(box, other)) && !lines.some((part) => crosses(box, part))) {
        taken.push(box);
        return name;
      }
    }
    return null;
  });
}
