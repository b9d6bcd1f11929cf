"""The evidence behind the thresholds heuristic and kaufmann_koolen, for check.py: what the cheapest instance with
another Pareto set costs, by definition and numpy only.

A piece of alternatives is a star: a hub arm j and constraints (a, f), each w_f . (x_j - x_a) >= slack_f.
    Remove(i, j)   j comes to dominate i, both of P (with a tolerance, any j): hub j, the constraints (i, f) of all
    Add(j)         j comes to be Pareto optimal: hub j, for every a of P one facet f; branch and bound over the choices
The closest point of a star by its dual, concave in y >= 0 (docs/certified.md, step 6, has the case of one constraint):
    D(y) = sum_k N_k d(M_k, x_k) + sum_c y_c left_c,   left_c = w_c . (x_a - x_hub) + slack_c = dD/dy_c

Legend
    push   what pulls an arm's mean: sum_c y_c w_c for the hub, minus y_c w_c for the arms of the constraints   (L,)
    cap    what a point where a law is not convex costs at least: a star is never dearer                        (K,)
"""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from prepex.study.check_facts import Design, Facts
from prepex.study.check_laws import BLIND, divergence, tilted
from prepex.study.check_read import refuse

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Links = list[tuple[int, int]]
# Stars that are solved before a certificate is called too large to check.
PATIENCE = 20_000
BORDER = {"exponential": math.log(2.0) - 0.5, "student": 0.5 * math.log(2.0)}


class Stars:
    """Closest points of stars, for the outcomes of a study."""

    def __init__(self, design: Design, facts: Facts) -> None:
        whole = facts.whole
        self.W, self.N, self.M, self.S = design.W, whole.n, whole.mean, whole.score
        self.slack = design.slack
        self.covariance, self.laws = design.covariance, [law for law, _ in design.laws or ()]
        K, L = self.M.shape
        self.scale, self.cap = np.ones((K, L)), np.full(K, np.inf)
        self.solved = 0
        for q, (law, known) in enumerate(design.laws or ()):
            square, free = whole.square[:, q], whole.n.sum() - K
            self.scale[:, q] = known if law == "gaussian" else 1.0
            if law == "student":
                self.scale[:, q] = square / whole.n
            if law == "shared":
                self.laws[q] = "gaussian"
                self.scale[:, q] = square.sum() / free if free >= 2 and square.sum() > 0 else BLIND
        single = bool(((self.W != 0.0).sum(axis=1) == 1).all())
        # Facets of one objective each: the hub pools with the arms above it, convex or not.
        self.plain = bool(self.laws) and single and "student" not in self.laws and not self.slack.any()
        if not self.plain:
            for law in {*self.laws} & {*BORDER}:
                self.cap = np.minimum(self.cap, BORDER[law] * self.N)
            for q, law in enumerate(self.laws):
                if law == "student":
                    self.cap[(self.N < 3) | (self.scale[:, q] <= 0)] = 0.0

    def value(self, hub: int, links: Links) -> tuple[float, Floats]:
        """(what the star costs, the hub's scores at its closest point)."""
        self.solved += 1
        if self.solved > PATIENCE:
            refuse("evidence", f"found by at most {PATIENCE:,} searches", "a study too large for this check")
        if self.plain:
            return self._pooled(hub, links)
        y, value = np.zeros(len(links)), 0.0
        value, left, Q, scores = self._dual(hub, links, y)
        for _ in range(200):
            step = nonnegative(Q, left + Q @ y) - y
            promise = float(left @ step)
            if not promise > 1e-13 * value:
                break
            share, found = 1.0, self._dual(hub, links, y + step)
            while found[0] < value + 1e-4 * share * promise and share > 1e-15:
                share *= 0.5
                found = self._dual(hub, links, np.maximum(y + share * step, 0.0))
            if found[0] <= value:
                break
            y = np.maximum(y + share * step, 0.0)
            value, left, Q, scores = found
        return value, scores

    def _dual(self, hub: int, links: Links, y: Floats) -> tuple[float, Floats, Floats, Floats]:
        """D, its gradient, minus its second derivative, and the hub's scores."""
        chosen = [f for _, f in links]
        facets = self.W[chosen]
        arms = sorted({a for a, _ in links})
        place = np.array([arms.index(a) for a, _ in links])
        value, x_hub, soft_hub = self._moved(hub, y @ facets)
        left, Q = self.slack[chosen] - facets @ x_hub, facets @ soft_hub @ facets.T
        for p, a in enumerate(arms):
            own = np.flatnonzero(place == p)
            cost, x, soft = self._moved(a, -y[own] @ facets[own])
            value += cost
            left[own] += facets[own] @ x
            Q[np.ix_(own, own)] += facets[own] @ soft @ facets[own].T
        return (value + float(y @ left) if math.isfinite(value) else -math.inf), left, Q, self.W @ x_hub

    def _moved(self, k: int, push: Floats) -> tuple[float, Floats, Floats]:
        """(N d(M, x), x, dx / dpush) of an arm; means are taken from those of the first arm, which changes no left."""
        base = self.M[0]
        if not self.laws:
            shift = self.covariance[k] @ push / self.N[k]
            return 0.5 * float(push @ shift), self.M[k] - base + shift, self.covariance[k] / self.N[k]
        x, soft, cost = np.empty(push.size), np.empty(push.size), 0.0
        for q, law in enumerate(self.laws):
            mu, var = float(self.M[k, q]), float(self.scale[k, q])
            x[q] = tilted(law, mu, -float(push[q]) / self.N[k], var)
            if not math.isfinite(x[q]):
                return math.inf, self.M[k] - base, np.eye(push.size)
            cost += self.N[k] * divergence(law, mu, float(x[q]), var)
            soft[q] = max(softness(law, mu, float(x[q]), var), 1e-200)
        return float(cost), x - base, np.diag(soft) / self.N[k]

    def _pooled(self, hub: int, links: Links) -> tuple[float, Floats]:
        """Facets of one objective each."""
        scores, cost = self.S[hub].copy(), 0.0
        for f in {f for _, f in links}:
            q = int(np.flatnonzero(self.W[f])[0])
            weight, total, pool = self.N[hub], self.N[hub] * self.S[hub, f], [hub]
            for a in sorted((a for a, g in links if g == f), key=lambda a: -self.S[a, f]):
                if self.S[a, f] > total / weight:
                    weight, total = weight + self.N[a], total + self.N[a] * self.S[a, f]
                    pool.append(a)
            if len(pool) > 1:
                scores[f] = total / weight
                x = float(scores[f] / self.W[f, q])
                cost += sum(
                    self.N[k] * divergence(self.laws[q], float(self.M[k, q]), x, float(self.scale[k, q])) for k in pool
                )
        return cost, scores - self.W @ self.M[0]

    def remove(self, i: int, j: int) -> float:
        """j comes to dominate i, by as much as matters."""
        cap = min(self.cap[i], self.cap[j])
        if cap <= 0 or np.all(self.S[j] >= self.S[i] + self.slack):
            return 0.0
        return min(self.value(j, [(i, f) for f in range(len(self.W))])[0], float(cap))

    def add(self, j: int, front: Iterable[int], ceiling: float) -> float:
        """j comes to be Pareto optimal; exact below the ceiling."""
        front = list(front)
        rest = self.S[front] - self.W @ self.M[0]
        best = min(float(self.cap[[j, *front]].min()), ceiling)
        size = 1e-12 * (np.abs(self.S).max(axis=0) + 1e-300)
        nodes: list[Links] = [[]]
        while nodes and best > 0:
            links = nodes.pop()
            value, scores = self.value(j, links) if links else (0.0, self.S[j] - self.W @ self.M[0])
            if value >= best:
                continue
            left = rest - scores + self.slack
            left[[front.index(a) for a, _ in links]] = 0.0
            above = (left > size).all(axis=1)
            if not above.any():
                best = value
                continue
            # The arm that is hardest to escape; its cheapest facet is looked at first.
            p = int(np.where(above, left.min(axis=1), -np.inf).argmax())
            nodes += [[*links, (front[p], int(f))] for f in np.argsort(-left[p])]
        return best


def softness(law: str, mu: float, x: float, var: float) -> float:
    """1 / d''(x)."""
    if law == "gaussian":
        return var
    if law == "bernoulli":
        bend = (mu / (x * x) if mu > 0 and x > 0 else 0.0) + ((1 - mu) / (1 - x) ** 2 if mu < 1 and x < 1 else 0.0)
        return 1.0 / bend if bend > 0 and 0 < x < 1 else 1e-6
    if law == "poisson":
        return x * x / max(mu, 1e-9)
    if law == "exponential":
        return x**3 / (2.0 * mu - x) if 2.0 * mu - x > 1e-9 * mu else 1e-6 * mu * mu
    square = (x - mu) ** 2
    return (var + square) ** 2 / (var - square) if var - square > 1e-9 * var else 1e-6 * var


def nonnegative(Q: Floats, b: Floats) -> Floats:
    """argmax_{y >= 0} b . y - y'Qy / 2, by Lawson and Hanson's active set."""
    y, use = np.zeros(b.size), np.zeros(b.size, dtype=bool)
    for _ in range(10 * b.size + 10):
        slope = np.where(use, -np.inf, b - Q @ y)
        new = int(slope.argmax())
        if not slope[new] > 1e-13 * (abs(b[new]) + np.abs(Q[new] * y).sum()):
            break
        use[new] = True
        while use.any():
            trial = np.zeros(b.size)
            trial[use] = np.linalg.lstsq(Q[np.ix_(use, use)], b[use], rcond=None)[0]
            if trial[use].min() > 0:
                y = trial
                break
            bad = use & (trial <= 0)
            share = float((y[bad] / np.maximum(y[bad] - trial[bad], 1e-300)).min())
            y = y + share * (trial - y)
            use &= ~(bad & (y <= 1e-15 * (1.0 + np.abs(y).max())))
            if share == 0.0 and not use[new]:
                return y
            y[~use] = 0.0
    return y


def arm_values(design: Design, facts: Facts, front: Bools, needed: float, paper: bool) -> tuple[list[float], float]:
    """(what it costs to change each arm's status: exact below `needed` and at the least; the evidence).

    `paper`: the evidence is that of the FraPPE paper's alternatives, an arm of P below one that is not.
    """
    stars, K = Stars(design, facts), len(front)
    inside, outside = np.flatnonzero(front).tolist(), np.flatnonzero(~front).tolist()
    shared = any(law == "shared" for law, _ in design.laws or ())
    n = float(facts.whole.n.sum())
    ceiling = 1.01 * (0.5 * n * math.expm1(2.0 * needed / n) if shared else needed) + 1.0
    values = [math.inf] * K
    # With a tolerance an arm outside P may come to beat one of P before it belongs to P itself.
    rivals = range(K) if design.slack.any() else inside
    for i in inside:
        values[i] = min((stars.remove(i, j) for j in rivals if j != i), default=math.inf)
    for j in outside:
        values[j] = stars.add(j, inside, max(min(values), ceiling))
    evidence = min(values)
    if paper:
        evidence = min((stars.remove(i, j) for i in inside for j in outside), default=math.inf)

    def discounted(Z: float) -> float:
        """A shared variance is only estimated."""
        return 0.5 * n * math.log1p(2.0 * Z / n) if shared else Z

    return [discounted(value) for value in values], discounted(evidence)
