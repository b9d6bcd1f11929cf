"""The evidence behind the thresholds heuristic and kaufmann_koolen, for check.py: what the cheapest instance with
another Pareto set costs, by definition and numpy only.

A piece of alternatives is a star: a hub arm j and constraints (a, f), each w_f . (x_j - x_a) >= slack_f; a = -1 for a
limit of the hub itself, g_f . x_j >= level_f.
    Remove(i, j)   j comes to dominate i, both of P (with a tolerance, any j): hub j, the constraints (i, f) of all
                   facets, and the limits of a j outside P
    Add(j)         j comes to be in the answer: hub j, its limits, for every a of P one facet f; branch and bound
    Break(i, c)    i of P comes to break a limit: it alone moves
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
from prepex.study.check_laws import BLIND, RANGES, divergence, peak, tilted, to_border
from prepex.study.check_read import refuse
from prepex.study.check_star import LATE_STUCK, NEVER, STUCK, nonnegative, softness, solvable

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Links = list[tuple[int, int]]
# Stars that are solved before a certificate is called too large to check.
PATIENCE = 20_000
# What a star costs that has no point, if only its cap is known.
NOWHERE = 1e300
# Steps after which means that do not move are taken to be hard.
LATE = 100
BORDER = {"exponential": math.log(2.0) - 0.5, "student": 0.5 * math.log(2.0)}


class Stars:
    """Closest points of stars, for the outcomes of a study."""

    def __init__(self, design: Design, facts: Facts, joint: bool = False) -> None:
        whole, self.joint = facts.whole, joint
        m = design.n_facets
        self.rows, self.slack, self.level = design.W, design.slack, design.levels(facts.origin)
        self.W, self.N, self.M, self.S = design.W[:m], whole.n, whole.mean, whole.score[:, :m]
        self.over = whole.score[:, m:] - self.level[m:]
        self.own: Links = [(-1, row) for row in range(m, len(design.W))]
        self.covariance, self.laws = design.covariance, [law for law, _ in design.laws or ()]
        K, L = self.M.shape
        # The arm that is nearest to where means are counted from: whoever is far loses digits of its own only.
        self.base = self.M[np.abs(self.M).max(axis=1).argmin()]
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
        self.exact, self.off = design.certain, facts.rounding(design)
        single = bool(((self.rows != 0.0).sum(axis=1) == 1).all())
        # Facets of one objective each: the hub pools with the arms above it, convex or not.
        self.plain = bool(self.laws) and single and "student" not in self.laws and not self.slack.any()
        # Laws that are convex everywhere, of means that have an end.
        self.ended = not self.plain and bool({*self.laws} & {"bernoulli", "poisson"}) and not {*self.laws} & {*BORDER}
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
        fixed = [link for link in links if self.exact[link[1]]]
        links = [link for link in links if not self.exact[link[1]]]
        here = all(self._holds(hub, link) for link in fixed)
        if not links or not here or not self._somewhere(hub, links):
            nothing = math.inf if self.joint or not here else NOWHERE
            return 0.0 if here and not links else nothing, self.S[hub] - self.W @ self.base
        if self.plain:
            return self._pooled(hub, links)
        y, value = np.zeros(len(links)), 0.0
        value, left, Q, scores = self._dual(hub, links, y)
        for turn in range(3 * LATE):
            if turn == LATE:
                value, left, Q, scores = self._dual(hub, links, y, LATE_STUCK)
            step = nonnegative(Q, left + Q @ y) - y
            promise = float(left @ step)
            if not promise > 1e-13 * value:
                break
            stuck = STUCK if turn < LATE else LATE_STUCK
            share, found = 1.0, self._dual(hub, links, y + step, stuck)
            while found[0] < value + 1e-4 * share * promise and share > 1e-25:
                share *= 0.5
                found = self._dual(hub, links, np.maximum(y + share * step, 0.0), stuck)
            if found[0] <= value:
                break
            y = np.maximum(y + share * step, 0.0)
            value, left, Q, scores = found
        # No star is cheaper than one of its constraints alone.
        for link in links if self.ended else ():
            cost, alone = self._alone(hub, link)
            if cost > value:
                value, scores = cost, alone
        return value, scores

    def _ways(self, hub: int, link: tuple[int, int]) -> list[tuple[int, int, float]]:
        """What may move for a constraint: (arm, objective, how much of a move counts)."""
        a, row = link
        w = self.rows[row].tolist()
        noisy = [q for q, law in enumerate(self.laws) if law != "exact" and w[q] != 0.0]
        movers = [(hub, 1.0)] + ([(a, -1.0)] if a >= 0 else [])
        return [(k, q, side * w[q]) for k, side in movers for q in noisy]

    def _reached(self, hub: int, link: tuple[int, int]) -> bool:
        """Can means be moved so far that this constraint holds, short of the ends of their ranges?"""
        most = 0.0
        for k, q, part in self._ways(hub, link):
            end = RANGES.get(self.laws[q], (-math.inf, math.inf))[int(part > 0)]
            most += part * (end - self.M[k, q])
        return bool(most > max(self._lacks(hub, link), 0.0)) or self._lacks(hub, link) <= 0

    def _alone(self, hub: int, link: tuple[int, int]) -> tuple[float, Floats]:
        """(what one constraint costs, the hub's scores there), by the slope of its dual."""
        lacks, ways = self._lacks(hub, link), self._ways(hub, link)
        if lacks <= 0:
            return 0.0, self.S[hub] - self.W @ self.base

        def moved(y: float, k: int, q: int, part: float) -> float:
            return tilted(self.laws[q], float(self.M[k, q]), -y * part / self.N[k], float(self.scale[k, q]))

        def at(y: float) -> tuple[float, float]:
            value, slope = 0.0, lacks
            for k, q, part in ways:
                mu, x = float(self.M[k, q]), moved(y, k, q, part)
                if not math.isfinite(x):
                    return -math.inf, -math.inf
                value += self.N[k] * divergence(self.laws[q], mu, x, float(self.scale[k, q]))
                slope -= part * (x - mu)
            return value + y * slope, slope

        y, x_hub = peak(at), self.M[hub] - self.base
        if y == math.inf:
            return 0.0, self.W @ x_hub
        value, slope = at(y)
        for k, q, part in ways:
            if k == hub:
                x_hub[q] = moved(y, k, q, part) - self.base[q]
        # A Poisson mean of 0 moves for a price that is the same all the way, or not at all.
        zeros = [way for way in ways if self.laws[way[1]] == "poisson" and self.M[way[0], way[1]] == 0 and way[2] > 0]
        if slope > 1e-9 * lacks and zeros:
            k, q, part = min(zeros, key=lambda way: self.N[way[0]] / way[2])
            x_hub[q] += slope / part if k == hub else 0.0
        return value, self.W @ x_hub

    def _holds(self, hub: int, link: tuple[int, int]) -> bool:
        """A constraint that nothing can move."""
        a, row = link
        if a < 0:
            return bool(self.over[hub, row - len(self.W)] >= 0)
        return bool(self.S[hub, row] >= self.S[a, row] + self.slack[row])

    def _somewhere(self, hub: int, links: Links) -> bool:
        """Is there a point at all? Rows that look at objectives with and without noise may contradict each other: the
        limits of the hub, which moves alone, and the facets of a pair, of which one or the other moves."""
        if self.ended and not all(self._reached(hub, link) for link in links):
            return False
        noisy = [q for q, law in enumerate(self.laws) if law != "exact"]
        if len(noisy) == len(self.laws):
            return True
        arms = [a for a, _ in links]
        for own in (
            [link for link in links if link[0] < 0],
            [link for link in links if arms.count(link[0]) > 1 and link[0] >= 0],
        ):
            rows = self.rows[[row for _, row in own]][:, noisy]
            lacks = np.array([self._lacks(hub, link) for link in own])
            if len(own) > 1 and not solvable(rows, lacks):
                return False
        return True

    def _lacks(self, hub: int, link: tuple[int, int]) -> float:
        a, row = link
        if a < 0:
            return -float(self.over[hub, row - len(self.W)])
        return float(self.S[a, row] - self.S[hub, row] + self.slack[row])

    def _dual(self, hub: int, links: Links, y: Floats, stuck: float = STUCK) -> tuple[float, Floats, Floats, Floats]:
        """D, its gradient, minus its second derivative, and the hub's scores."""
        chosen, ends = [f for _, f in links], np.array([a for a, _ in links])
        facets = self.rows[chosen]
        value, x_hub, soft_hub = self._moved(hub, y @ facets, stuck)
        left, Q = self.slack[chosen] - facets @ x_hub, facets @ soft_hub @ facets.T
        limits = ends < 0
        left[limits] += self.level[chosen][limits] - facets[limits] @ self.base
        for a in sorted({a for a, _ in links if a >= 0}):
            own = np.flatnonzero(ends == a)
            cost, x, soft = self._moved(a, -y[own] @ facets[own], stuck)
            value += cost
            left[own] += facets[own] @ x
            Q[np.ix_(own, own)] += facets[own] @ soft @ facets[own].T
        return (value + float(y @ left) if math.isfinite(value) else -math.inf), left, Q, self.W @ x_hub

    def _moved(self, k: int, push: Floats, stuck: float) -> tuple[float, Floats, Floats]:
        """(N d(M, x), x, dx / dpush) of an arm; means are taken from those of one arm, which changes no left."""
        base = self.base
        if not self.laws:
            shift = self.covariance[k] @ push / self.N[k]
            return 0.5 * float(push @ shift), self.M[k] - base + shift, self.covariance[k] / self.N[k]
        x, soft, cost = np.empty(push.size), np.empty(push.size), 0.0
        for q, law in enumerate(self.laws):
            mu, var = float(self.M[k, q]), float(self.scale[k, q])
            least = max(mu, NEVER) if law == "poisson" else mu
            x[q] = tilted(law, least, -float(push[q]) / self.N[k], var)
            if not math.isfinite(x[q]):
                return math.inf, self.M[k] - base, np.eye(push.size)
            cost += self.N[k] * divergence(law, mu, float(x[q]), var)
            soft[q] = max(softness(law, mu, float(x[q]), var, stuck), 1e-200)
        return float(cost), x - base, np.diag(soft) / self.N[k]

    def _pooled(self, hub: int, links: Links) -> tuple[float, Floats]:
        """Facets of one objective each."""
        scores, cost = self.S[hub].copy(), 0.0
        for f in range(len(self.W)):
            q = int(np.flatnonzero(self.W[f])[0])
            low, high = -math.inf, math.inf
            for _, row in (link for link in links if link[0] < 0 and self.rows[link[1], q] != 0.0):
                # A limit on the same objective, from below or from above.
                if self.rows[row, q] * self.W[f, q] > 0:
                    low = max(low, self.level[row])
                else:
                    high = min(high, -self.level[row])
            weight, total, pool = self.N[hub], self.N[hub] * self.S[hub, f], [hub]
            above = sorted((a for a, g in links if g == f), key=lambda a: -self.S[a, f])
            for a in above:
                if self.S[a, f] > total / weight:
                    weight, total = weight + self.N[a], total + self.N[a] * self.S[a, f]
                    pool.append(a)
            free = total / weight if len(pool) > 1 else self.S[hub, f]
            scores[f] = min(max(free, low), high)
            if scores[f] != free:
                pool = [hub, *(a for a in above if self.S[a, f] > scores[f])]
            if scores[f] != self.S[hub, f] or len(pool) > 1:
                x = float(scores[f] / self.W[f, q])
                cost += sum(
                    self.N[k] * divergence(self.laws[q], float(self.M[k, q]), x, float(self.scale[k, q])) for k in pool
                )
        return cost, scores - self.W @ self.base

    def remove(self, i: int, j: int, held: bool) -> float:
        """j comes to dominate i, by as much as matters; `held`: and to meet the limits."""
        cap, m = min(self.cap[i], self.cap[j]), len(self.W)
        feasible = not held or bool(np.all(self.over[j] >= 0))
        links = [(i, f) for f in range(m)] + (self.own if held else [])
        if self.exact[:m].all() and np.array_equal(self.S[i], self.S[j] - self.slack[:m]):
            # Equal, and nothing moves them: neither ever dominates the other.
            return math.inf
        # A variance of which nothing is known moves all but what has no noise.
        free = all(self._holds(j, link) for link in links if self.exact[link[1]])
        if (cap <= 0 and free) or (feasible and np.all(self.S[j] >= self.S[i] + self.slack[:m])):
            return 0.0
        value = self.value(j, links)[0]
        # Nothing moves what has no noise, however far the rest is from convex.
        found = min(value, float(cap)) if value < math.inf else value
        return found if found < NOWHERE else math.inf

    def breaking(self, i: int) -> float:
        """i comes to break a limit."""
        found, m = math.inf, len(self.W)
        for c, off in enumerate(self.over[i].tolist()):
            g, level = self.rows[m + c], float(self.level[m + c])
            if not self.laws:
                cost = 0.5 * self.N[i] * off**2 / float(g @ self.covariance[i] @ g)
            else:
                laws = list(zip(self.laws, self.scale[i].tolist()))
                cost = to_border(laws, float(self.N[i]), self.M[i].tolist(), g, off, level, float(self.cap[i]))
            cost = math.inf if self.exact[m + c] and off >= 0 else cost
            found = min(found, cost if off > 0 or (off == 0 and self.exact[m + c]) else 0.0)
        return found

    def add(self, j: int, front: Iterable[int], ceiling: float) -> float:
        """j comes to be in the answer; exact below the ceiling."""
        front = list(front)
        rest = self.S[front] - self.W @ self.base
        best = min(float(self.cap[[j, *front]].min()), ceiling)
        certain = self.exact[: len(self.W)]
        # What nothing moves is compared as it is; where nothing is noise, to be level is not to escape.
        gap = self.S[front] - self.S[j] + self.slack[: len(self.W)]
        fixed = gap >= -(self.off[front] + self.off[j])[:, : len(self.W)]
        nodes: list[Links] = [self.own]
        possible = False
        if not all(self._holds(j, link) for link in self.own if self.exact[link[1]]):
            return math.inf
        while nodes and best > 0:
            links = nodes.pop()
            value, scores = self.value(j, links) if links else (0.0, self.S[j] - self.W @ self.base)
            if value >= NOWHERE and links == self.own:
                cap = float(self.cap[[j, *front]].min())
                return cap if value < math.inf else value
            possible = possible or best <= value < math.inf
            if value >= best:
                continue
            left = rest - scores + self.slack[: len(self.W)]
            left[[front.index(a) for a, _ in links if a >= 0]] = 0.0
            # To the digits of the two that are compared, and of where the hub has been moved.
            size = 1e-12 * (np.maximum(np.abs(rest), np.abs(scores)) + np.abs(self.S[j]) + 1e-300)
            above = np.where(certain, fixed, left > size).all(axis=1)
            above[[front.index(a) for a, _ in links if a >= 0]] = False
            if not above.any():
                best, possible = value, True
                continue
            # The arm that is hardest to escape; its cheapest facet is looked at first.
            p = int(np.where(above, left.min(axis=1), -np.inf).argmax())
            nodes += [[*links, (front[p], int(f))] for f in np.argsort(-left[p]) if not self.exact[f]]
        return best if possible or best <= 0 else math.inf


def arm_values(
    design: Design, facts: Facts, front: Bools, needed: float, paper: bool, joint: bool = False
) -> tuple[list[float], float]:
    """(what it costs to change each arm's status: exact below `needed` and at the least; the evidence).

    `paper`: the evidence is that of the FraPPE paper's alternatives, an arm of P below one that is not. `joint`: a star
    whose rows contradict each other because of what has no noise costs infinitely much; else what its bound is.
    """
    stars, K = Stars(design, facts, joint), len(front)
    inside, outside = np.flatnonzero(front).tolist(), np.flatnonzero(~front).tolist()
    shared = any(law == "shared" for law, _ in design.laws or ())
    n = float(facts.whole.n.sum())
    ceiling = 1.01 * (0.5 * n * math.expm1(2.0 * needed / n) if shared else needed) + 1.0
    values = [math.inf] * K
    # With a tolerance an arm outside P may come to beat one of P before it belongs to P itself.
    rivals = range(K) if design.slack.any() else inside
    for i in inside:
        beaten = (stars.remove(i, j, held=not front[j]) for j in rivals if j != i)
        values[i] = min(min(beaten, default=math.inf), stars.breaking(i))
    for j in outside:
        values[j] = stars.add(j, inside, max(min(values), ceiling))
    evidence = min(values)
    if paper:
        evidence = min((stars.remove(i, j, held=True) for i in inside for j in outside), default=math.inf)

    def discounted(Z: float) -> float:
        """A shared variance is only estimated."""
        return 0.5 * n * math.log1p(2.0 * Z / n) if shared else Z

    return [discounted(value) for value in values], discounted(evidence)
