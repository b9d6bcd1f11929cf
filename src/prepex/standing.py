"""What a course says: how far it is, which arms are decided, what is missing. Nothing here changes it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from prepex._checks import Floats
from prepex._kernels import course as kernels
from prepex._kernels.course import Course
from prepex._kernels.deal import closed_price, moved, plain_price, rival_weight, weigh_broken, weigh_front
from prepex._kernels.instance import Bools, Ints
from prepex._kernels.laws.fresh import PARTS, SHARED
from prepex._kernels.laws.law import STUDENT
from prepex._kernels.ledger import standing
from prepex._kernels.margin import margin, settle_tests
from prepex._kernels.mixture import IN_FRONT, OUT_OF_FRONT
from prepex._kernels.own import own_stops
from prepex._kernels.posterior import surety
from prepex.alternatives import Evidence, found_by
from prepex.family import Family
from prepex.limits import Limits
from prepex.numerals import apart
from prepex.reasons import in_words as breaking_words
from prepex.reasons import reasons
from prepex.run import Setting
from prepex.solvers import GaussianSolver, LawSolver
from prepex.tolerance import covered, near_ties

# Options, or pairs of them, that a sentence lists.
MOST_NAMED = 5


def level_at(setting: Setting, counts: Floats, delta: float) -> float:
    """What must be reached at these counts."""
    threshold = setting.threshold
    if setting.own:
        return 1.0
    return threshold.at(counts, delta, setting.shape)


def looks_words(looks: str, arms: Sequence[str], limits: Limits | None) -> str:
    """The answer as part of a sentence; with limits it may be empty.

    >>> looks_words("Looks Pareto optimal", ("a", "b"), None)
    'Looks Pareto optimal: a, b'
    """
    if limits is not None and not arms:
        return "No option meets every limit" if looks[0] == "P" else "No option looks as if it meets every limit"
    among = "" if limits is None else " among those that meet the limits"
    return f"{looks}{among}: {', '.join(arms)}"


def tied_words(
    near_ties: Sequence[tuple[str, str]], all_equal: bool, covered: Sequence[tuple[str, str]] = ()
) -> list[str]:
    """What looks equal within the tolerance, and who is listed all the same: a sentence each, where there are some.

    >>> tied_words([("a", "b"), ("a", "c")], False)
    ['Equal within the tolerance: a and b, a and c.']
    >>> tied_words([], False, [("d", "a")])[0][:70]
    'Listed, though another listed one is at least as good in everything, w'
    """
    if all_equal:
        return ["All options look equal within the tolerance: it is larger than any difference seen so far."]
    found = []
    if near_ties:
        found.append(f"Equal within the tolerance: {_some([f'{a} and {b}' for a, b in near_ties])}.")
    if covered:
        who = _some([f"{a} ({b})" for a, b in covered])
        found.append(
            f"Listed, though another listed one is at least as good in everything, within the tolerance: {who}."
        )
    return found


def _some(words: Sequence[str]) -> str:
    return ", ".join(words[:MOST_NAMED]) + (f" and {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else "")


def spared(arms: Sequence[str], states: Sequence[str], chances: Iterable[float] | None, lenient: bool) -> list[str]:
    """With a tolerance: those that are out though they are probably within it of the front.

    >>> spared(("a", "b"), ("in", "out"), (0.9, 0.85), True), spared(("a", "b"), ("in", "out"), (0.9, 0.85), False)
    (['b'], [])
    """
    if not lenient or chances is None:
        return []
    return [name for name, state, chance in zip(arms, states, chances, strict=True) if state == "out" and chance > 0.5]


def chance_meaning(lenient: bool, spared: Sequence[str] = ()) -> str:
    """What the probability beside an option is, as the end of a sentence; with a tolerance also why some are out.

    >>> chance_meaning(False)
    'the probability, given the outcomes, that the option is Pareto optimal'
    >>> chance_meaning(True, ["e"])[77:]
    'of the front; out all the same, as one that is kept is at least as good, within the tolerance, in everything: e'
    """
    if not lenient:
        return "the probability, given the outcomes, that the option is Pareto optimal"
    words = "the probability, given the outcomes, that the option is within the tolerance of the front"
    return f"{words}; out all the same, {_spared_words(spared)}" if spared else words


def _spared_words(names: Sequence[str]) -> str:
    return f"as one that is kept is at least as good, within the tolerance, in everything: {_some(names)}"


def states_words(
    arms: Sequence[str],
    states: Sequence[str],
    chances: Sequence[float] | None,
    delta: float,
    proven: bool,
    lenient: bool = False,
) -> str:
    """Which arms are decided, and which are open with what probability of being optimal; the least certain first.

    >>> states_words(("a", "b", "c"), ("in", "open", "out"), (1.0, 0.62, 0.0), 0.1, True)
    'Decided at delta 0.1: in a; out c. Open: b (optimal with probability 62 %).'
    """
    kinds = {state: [k for k, given in enumerate(states) if given == state] for state in ("in", "out", "open")}
    if chances is not None:
        kinds["open"].sort(key=lambda k: abs(chances[k] - 0.5))

    def listed(state: str) -> str:
        found = kinds[state]
        named: list[str] = []
        for k in found[:MOST_NAMED]:
            what = "within the tolerance of the front" if lenient else "optimal"
            first = "" if named else f"{what} with probability "
            likely = "" if state != "open" or chances is None else f" ({first}{chance_words(chances[k])})"
            named.append(arms[k] + likely)
        more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
        return ", ".join(named) + more

    parts = []
    settled = [f"{state} {listed(state)}" for state in ("in", "out") if kinds[state]]
    if settled:
        parts.append(f"Decided at delta {delta:g}{'' if proven else ' (not proven)'}: {'; '.join(settled)}.")
    if out := spared(arms, states, chances, lenient):
        parts.append(f"Out, {_spared_words(out)}.")
    if kinds["open"]:
        parts.append(f"Open: {listed('open')}.")
    return " ".join(parts)


def meaning_of(setting: Setting, delta: float) -> str:
    """What the states of all arms are worth, as the end of a sentence."""
    share = f"{100.0 * (1.0 - delta):g} %"
    if setting.certified and setting.rule.alternatives == "complete":
        return f"all of them right, now and at any time, with a probability of at least {share}"
    if setting.posterior:
        prior = "a flat prior" if setting.prior is None else "your prior"
        return f"all of them right with a posterior probability of at least {share}, under {prior}"
    return "not proven"


def chance_words(chance: float) -> str:
    """A probability known to about 0.01.

    >>> chance_words(0.617), chance_words(0.9995), chance_words(0.0)
    ('62 %', 'over 99 %', 'under 1 %')
    """
    if chance > 0.99:
        return "over 99 %"
    return "under 1 %" if chance < 0.01 else f"{100.0 * chance:.0f} %"


@dataclass(frozen=True, eq=False)
class Standing:
    """A course in which every arm was tried, at one delta."""

    setting: Setting
    course: Course
    family: Family
    delta: float
    # Of a posterior that is looked at rarely, what the last look said.
    seen: float = -np.inf

    @property
    def n_pulls(self) -> int:
        """Outcomes so far."""
        return int(self.course.whole[kernels.PULLS])

    @property
    def pareto_names(self) -> tuple[str, ...]:
        """The arms that look Pareto optimal."""
        return tuple(self.setting.labels.arms[k] for k in self.answer.nonzero()[0])

    @property
    def answer(self) -> Bools:
        """Which arms are in the answer: the Pareto set of the means; with a tolerance, that of the pilot if only it is
        certified."""
        course = self.course
        if self.setting.certified and course.near.inst.lenient and self.testable and self.reached >= self.needed:
            return course.deal.mask if course.scratch.own[0] else course.near.inst.mask
        return course.near.inst.mask

    @property
    def testable(self) -> bool:
        """Is the pilot over, and every arm tried since?"""
        whole = self.course.whole
        return bool(whole[kernels.PULLS] >= whole[kernels.PILOT] and whole[kernels.MISSING] == 0)

    @property
    def reached(self) -> float:
        """What the threshold looks at: the certified margin, the evidence, log(1 / the posterior probability of a wrong
        answer), or 1 if the rule's own test is passed."""
        course = self.course
        if self.setting.own:
            return float(own_stops(course, -np.log(self.delta)))
        if self.setting.posterior:
            return self.seen if course.with_laws else float(surety(course, -np.inf, 1.0))
        if not self.setting.certified:
            return float(standing(course.near))
        return self.margin()[0] if self.testable else -np.inf

    def margin(self) -> tuple[float, Ints]:
        """The certified margin of a testable course, and its binding test."""
        course, binding = self.course, self.course.binding.copy()
        if course.whole[kernels.LOOKED] == course.whole[kernels.PULLS] and not course.near.inst.lenient:
            return float(course.real[kernels.MARGIN]), binding
        value = margin(course.fresh, course.near.inst, course.deal, course.scratch, binding)
        return float(value), binding

    def binding(self) -> tuple[int, int, int] | None:
        """The two arms between which the least is decided, the better one first, and the kind of the test."""
        if self.setting.own or (self.setting.certified and not self.testable):
            return None
        if self.setting.certified:
            better, worse, _, kind = (int(entry) for entry in self.margin()[1])
            return (better, worse, kind) if better >= 0 else None
        closest = self.evidence.alternative
        if closest is None or closest.capped:
            return None
        if closest.kind == "remove":
            return closest.arm, closest.hub, IN_FRONT
        escaped = {arm for arm, _ in closest.constraints}
        return (escaped.pop(), closest.hub, OUT_OF_FRONT) if len(escaped) == 1 else None

    @property
    def needed(self) -> float:
        """What it must reach."""
        return level_at(self.setting, self.course.near.inst.N, self.delta)

    @property
    def evidence(self) -> Evidence:
        """How far the data are from any other Pareto set."""
        near, labels = self.course.near, self.setting.labels
        asked = self.setting.slack, self.setting.limits
        if near.with_laws:
            inst = near.inst
            given = inst.M.copy(), self.course.origin, inst.N.copy()
            units = self.setting.units
            solver = LawSolver(*given, inst.law, inst.scale, self.setting.facets, labels, *asked, units)
            return found_by(solver)
        covariances, facets = self.setting.covariances, self.setting.facets
        given = self.course.M.copy(), self.course.origin, near.inst.N.copy()
        return found_by(GaussianSolver(*given, covariances, facets, labels, *asked))

    def decided(self) -> set[int]:
        """The arms of which no change of status is cheaper than the threshold: as the stop compares, arm by arm."""
        arms, needed = set(range(len(self.setting.labels.arms))), self.needed
        if self.setting.own or (self.setting.certified and not self.testable):
            return set()
        if self.setting.certified:
            return (
                arms if self.reached >= needed else {k for k, value in enumerate(self.lone_tests()) if value >= needed}
            )
        if self.reached >= needed:
            return arms
        found = self.evidence
        # A little more than what is missing: which pieces are below the level is compared below, once for all.
        slack = max((1.0 + 1e-9) * (self._before_discount(needed) - found.value), 0.0)
        risky = {piece.arm for piece in found.pieces(slack) if not self._discounted(piece.value) >= needed}
        # The closest is, by the comparison above, whatever its last digit says when it is computed anew.
        closest = set() if found.alternative is None else {found.alternative.arm}
        return arms - risky - closest

    def tests(self) -> Floats:
        """Every arm's certified test less its price as one of all (K,); the margin is the least of them."""
        self._settle()
        return self.course.scratch.bound.copy()

    def lone_tests(self) -> Floats:
        """Every arm's certified test less its price on its own (K,): statements about single arms, all of them true
        together, and at all times, with probability 1 - delta."""
        self._settle()
        return self.course.scratch.plain.copy()

    def _settle(self) -> None:
        course = self.course
        self.margin()
        settle_tests(course.fresh, course.near.inst, course.deal, course.scratch)

    @property
    def at_this_rate(self) -> int | None:
        """Pulls still needed if the evidence went on growing in proportion, which it does not: a rough size, for the
        question whether much is missing. None if there is no evidence yet."""
        if self.setting.own:
            return None
        paid, pulls = 0.0, self.n_pulls
        if self.setting.certified:
            if not self.testable:
                return None
            paid, pulls = self.paid(), pulls - int(self.course.whole[kernels.PILOT])
        have, need = self.reached + paid, self.needed + paid
        if not have > 0:
            return None
        return max(int(np.ceil(pulls * (need / have - 1.0))), 0) if np.isfinite(have) else 0

    @property
    def reasons(self) -> dict[str, str]:
        """Of each arm, why it is in the answer or not; nothing without limits."""
        return reasons(self.course.near.inst, self.setting.labels.arms, self.setting.limits)

    def broken(self) -> set[int]:
        """The arms that are certified to break a limit, at this delta: for themselves, and as rivals of the answer's.

        With less, a test of an arm of the answer might need more of one that nobody tries any more.
        """
        course, inst = self.course, self.course.fresh.inst
        if not self.setting.certified or not self.testable or self.setting.limits is None:
            return set()
        deal, weight, found = course.deal, course.scratch.weight, set()
        front = np.flatnonzero(inst.mask)
        for k, row in zip(*np.nonzero(inst.S[:, inst.n_facets :] < 0.0)):
            weigh_broken(deal, inst, k, weight)
            values = [np.log(weight[inst.n_facets + row]) - plain_price(deal, k)]
            for i in front:
                weigh_front(deal, inst, i, k, weight)
                values.append(np.log(weight[inst.n_facets + row]) - plain_price(deal, i))
            if course.fresh.alone[k, row] + min(values) >= self.needed:
                found.add(int(k))
        return found

    def avoided(self) -> set[int]:
        """The arms that need not be tried further, as they break a limit; never all of them.

        What has no noise needs no test: such an arm is left alone at once, but for one outcome after the pilot, without
        which nothing is tested.
        """
        inst, fresh, whole = self.course.near.inst, self.course.fresh, self.course.whole
        on = inst.n_facets
        known = np.any((inst.S[:, on:] < 0.0) & (inst.V[:, on:] == 0.0), axis=1)
        known &= (fresh.N > 0.0) | (whole[kernels.PULLS] < whole[kernels.PILOT])
        found = self.broken() | {int(k) for k in np.flatnonzero(known)}
        return found if len(found) < len(known) else set()

    @property
    def near_ties(self) -> tuple[tuple[str, str], ...]:
        """Pairs of an arm of the answer and another that look equal within the tolerance; none without one."""
        inst, names = self.course.near.inst, self.setting.labels.arms
        if not inst.lenient:
            return ()
        on = inst.n_facets
        return tuple((names[i], names[j]) for i, j in near_ties(inst.S[:, :on], self.answer, inst.slack[:on]))

    @property
    def covered(self) -> tuple[tuple[str, str], ...]:
        """(arm, other) of the answer: within the tolerance the other does as well, and so the arm need not be there."""
        inst, names = self.course.near.inst, self.setting.labels.arms
        if not inst.lenient:
            return ()
        on = inst.n_facets
        return tuple((names[i], names[j]) for i, j in covered(inst.S[:, :on], self.answer, inst.slack[:on]))

    @property
    def all_equal(self) -> bool:
        """Is the tolerance larger than any difference seen so far?"""
        inst, on = self.course.near.inst, self.course.near.inst.n_facets
        return bool(inst.lenient and np.all(np.ptp(inst.S[:, :on], axis=0) <= inst.slack[:on]))

    def in_words(self, states: str = "") -> str:
        """What looks right, what is said of the states, and what is missing."""
        parts = [f"{looks_words('Looks Pareto optimal', self.pareto_names, self.setting.limits)}."]
        parts += [states] if states else []
        parts += breaking_words(self.reasons)
        parts += tied_words(self.near_ties, self.all_equal, self.covered)
        parts.append(f"The closest alternative: {self.evidence.alternative or 'none'}.")
        if self.setting.own:
            return " ".join([*parts, f"{self.setting.rule.name}'s own test at delta {self.delta:g} is not passed yet."])
        if self.setting.certified and not self.testable:
            pilot = int(self.course.whole[kernels.PILOT])
            first = "first pull only sets" if pilot == 1 else f"first {pilot:,} pulls only set"
            # It is looked at when it ends, and goes on while an option is not decided at all.
            open_ended = self.course.whole[kernels.LONGEST] > pilot and self.n_pulls < pilot
            the = "At least the" if open_ended else "The"
            parts.append(f"{the} {first} the shares of the risk; then every option is tried again.")
        else:
            parts.append(self._how_far())
        return " ".join(parts)

    def _how_far(self) -> str:
        """What is reached of what is needed, and the weakest test."""
        what = "certified margin" if self.setting.certified else "evidence"
        reached, needed = self.reached, self.needed
        if self.setting.posterior:
            return self._how_likely(reached)
        have, want = apart(reached, needed, 3)
        if reached == -np.inf:
            words = f"The {what} cannot be computed yet: {self._nothing()}. It must reach {want}"
        elif reached < needed:
            nothing = " (below 0: not yet more than looking often costs)" if reached < 0.0 else ""
            words = f"The {what} is {have}{nothing}; it must reach {want}"
        else:
            words = f"The {what} is {have}, which is more than the {want} that it must reach"
        words += f" at delta {self.delta:g}."
        if self.setting.certified:
            words += f" The weakest test: {self._test_words()}."
        return words

    def _how_likely(self, reached: float) -> str:
        """Under `posterior`."""
        must = f"It must be at most {self.delta:g}."
        if reached == -np.inf:
            return f"The posterior probability of a wrong answer is looked at rarely, and was not yet. {must}"
        by = "by the draws of the last look about" if self.course.with_laws else "at most"
        have, _ = apart(min(np.exp(-reached), 1.0), self.delta, 2)
        return f"The posterior probability of a wrong answer is {by} {have}. {must}"

    def _test_words(self) -> str:
        """The binding test; one of a limit is of one arm alone."""
        first, second, row, kind = (int(entry) for entry in self.margin()[1])
        better, worse = (self.setting.labels.arms[k] for k in (first, second))
        place, limits = row - self.course.fresh.inst.n_facets, self.setting.limits
        if limits is None or place < 0:
            return f"{better} over {worse}"
        # In the answer, an arm meets its own limits; a rival may break one. Outside, it is the other way round.
        meets = (kind == IN_FRONT) == (first == second)
        return f"{better if meets else worse} {'meets' if meets else 'breaks'} {limits.words[place]}"

    def _nothing(self) -> str:
        """Why the weakest test says nothing at all: not ahead as it must be, or no variance to compare with."""
        fresh: Any = self.course.fresh
        if words := self.behind():
            return words
        if np.any(fresh.spread[fresh.inst.law == STUDENT] <= 0.0) or np.any(fresh.spread_f[fresh.kind != PARTS] <= 0.0):
            return "a variance is not known, nor will be: the pilot, which sets its scale, saw no option vary"
        if fresh.kind[self.margin()[1][2]] == SHARED:
            return "a variance is not known before any two options have four outcomes, not all equal, after the pilot"
        return "a variance is not known before each option has three outcomes, not all equal, after the pilot"

    def behind(self) -> str:
        """That in the weakest test an option is not ahead as it must be; nothing if it is."""
        inst: Any = self.course.fresh.inst
        names, (better, worse, facet, kind) = self.setting.labels.arms, self.margin()[1]
        when = "since the pilot" if self.course.whole[kernels.PILOT] else "so far"
        facets = slice(inst.n_facets)
        if facet >= inst.n_facets and better == worse and kind == IN_FRONT:
            if not inst.S[better, facet] > 0.0:
                return f"{when} it does not look so that {self._test_words()}"
        elif kind == IN_FRONT:
            if not np.any((inst.S[better] + inst.slack > inst.S[worse])[facets]):
                behind = "is nowhere ahead of" if not inst.lenient else "is behind, by more than the tolerance,"
                return f"{when} {names[better]} {behind} {names[worse]}"
        elif not np.any(np.all((inst.S[inst.mask] + inst.slack > inst.S[worse])[:, facets], axis=1)):
            within = " within the tolerance" if inst.lenient else ""
            within += "" if self.setting.limits is None else ", nor does it break a limit"
            return f"{when} no option that looks Pareto optimal is ahead of {names[worse]} in everything{within}"
        return ""

    def _before_discount(self, level: float) -> float:
        """The evidence at which `reached` is `level`; they differ where a shared variance is estimated."""
        n, laws = self.n_pulls, self.setting.laws
        return level if laws is None or not laws.shared.any() else 0.5 * n * float(np.expm1(2.0 * level / n))

    def _discounted(self, value: float) -> float:
        """What a threshold compares in place of an alternative's value."""
        n, laws = self.n_pulls, self.setting.laws
        return value if laws is None or not laws.shared.any() else 0.5 * n * float(np.log1p(2.0 * value / n))

    def paid(self) -> float:
        """The price of the binding test, and of the weight of its largest term."""
        course, (better, worse, row, kind) = self.course, self.margin()[1]
        deal, inst, weight = course.deal, course.near.inst, course.scratch.weight
        if better < 0:
            return 0.0
        h = 0 if course.scratch.own[0] else moved(deal, inst.mask)
        price = closed_price(deal, inst, better if kind == IN_FRONT else worse, h)
        if better == worse:
            if kind == IN_FRONT:
                return float(price)
            weigh_broken(deal, inst, worse, weight)
        elif kind == IN_FRONT:
            weigh_front(deal, inst, better, worse, weight)
        else:
            return float(price - np.log(rival_weight(deal, inst, worse, better)))
        return float(price - np.log(weight[row]))
