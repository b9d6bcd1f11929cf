"""What is fixed before the first pull: one object that `Experiment`, `Study.create`, HTTP, the command line and the
wizard share. A new option is a field here, a parameter of `make` and a key of the document.

A key that is not used is not written, so that documents of before stay as they are.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, TypeVar

import numpy as np

from prepex import _checks, document
from prepex.agreement import fitted
from prepex.cone import Cone
from prepex.errors import InputError
from prepex.exact import Known, check_known
from prepex.family import Family
from prepex.labels import Labels
from prepex.limits import Limit, Limits, Sides, limits_of, read_document, warn_of_idle
from prepex.run import Setting
from prepex.sampling import InformationDirected, Rule
from prepex.stopping import Certified, Posterior, Threshold, as_threshold
from prepex.tolerance import Eps, Tolerance, check_tolerance

Named = Sequence[str] | int
Made = TypeVar("Made", bound=Callable[..., Any])
# Keys of a document that are always there, and those that are there when they are used.
KEYS = ("labels", "family", "cone", "sampling", "threshold", "delta", "seed", "max_pulls", "max_pending")
EXTRA_KEYS = ("tolerance", "limits", "avoid_infeasible", "known")


class Options(TypedDict, total=False):
    """What `Settings.make` takes beside the names, for those who pass it on."""

    family: Family
    cone: Cone | None
    delta: float
    sampling: Rule | None
    threshold: Any
    minimise: Iterable[str | int]
    seed: int
    max_pulls: int | None
    max_pending: int
    tolerance: Tolerance
    at_most: Sides
    at_least: Sides
    limits: Iterable[Limit]
    avoid_infeasible: bool
    known: Known


class WithNames(Options, total=False):
    """All that `Settings.make` takes."""

    arms: Named
    objectives: Named


@dataclass(frozen=True, eq=False)
class Settings:
    """Checked; `Settings.make` makes them, `to_document` and `from_document` keep them.

    arms, objectives   names, or how many
    sampling           which option to try next; by default InformationDirected()
    threshold          "certified" (default), "posterior" or Posterior(prior=...), "heuristic", "kaufmann_koolen", a
                       function of (counts, delta), or "own" of a rule that stops by itself
    minimise           objectives that are costs
    seed               of the rule's own randomness
    max_pulls          stop by budget: the answer is then "inconclusive" and names what is undecided
    max_pending        most pulls that may be out at once
    tolerance          differences that do not matter, in the units of the objectives: by name, one number for all, or
                       one for each; of a LogNormal a share, "5%"; None: every difference matters
    at_most, at_least  limits of objectives, by name: the answer is the Pareto set of the options that meet them all
    limits             the same of sums of objectives: [Limit({"cost": 1, "time": 2}, at_most=10)]
    avoid_infeasible   do not try an option further once it is certified to break a limit
    known              values of objectives without noise, Exact(), that need not be told: {"price": {"a": 3.2, ...}}

    >>> from prepex import Gaussian
    >>> settings = Settings.make(2, ("strength",), family=Gaussian(variance=1.0), tolerance={"strength": 0.5})
    >>> settings.to_document()["tolerance"]
    [0.5]
    >>> Settings.from_document(settings.to_document()).tolerance
    (0.5,)
    """

    labels: Labels
    family: Family
    cone: Cone
    sampling: Rule
    threshold: Threshold
    delta: float
    seed: int
    max_pulls: int | None
    max_pending: int
    # As it is compared; None without one.
    tolerance: Eps | None
    limits: Limits | None
    avoid_infeasible: bool
    known: dict[str, dict[str, float]] | None

    @classmethod
    def make(
        cls,
        arms: Named,
        objectives: Named,
        *,
        family: Family,
        cone: Cone | None = None,
        delta: float = 0.05,
        sampling: Rule | None = None,
        threshold: Any = "certified",
        minimise: Iterable[str | int] = (),
        seed: int = 0,
        max_pulls: int | None = None,
        max_pending: int = 1024,
        tolerance: Tolerance = None,
        at_most: Sides = None,
        at_least: Sides = None,
        limits: Iterable[Limit] = (),
        avoid_infeasible: bool = False,
        known: Known = None,
    ) -> "Settings":
        """Every argument checked, and refused where it does not go with the others."""
        sizes: list[int] = []
        given: list[tuple[Any, ...] | None] = []
        for name, value in (("arms", arms), ("objectives", objectives)):
            if isinstance(value, int | np.integer) and not isinstance(value, bool):
                sizes.append(_checks.whole(name, value, low=1))
                given.append(None)
            else:
                named = _checks.listed(name, value, "names, or how many")
                given.append(named)
                sizes.append(len(named))
        labels = Labels.make((sizes[0], sizes[1]), given[0], given[1], minimise)
        cone = _checks.instance("cone", Cone.orthant(sizes[1]) if cone is None else cone, Cone)
        family = _checks.instance("family", family, Family).ordered(labels.arms, labels.objectives)
        cone = fitted(cone, labels, family.units(sizes[1]))
        made = cls(
            labels=labels,
            family=family,
            cone=cone,
            delta=_checks.number("delta", delta, low=0.0, high=1.0),
            seed=_checks.seed(seed),
            max_pulls=None if max_pulls is None else _checks.whole("max_pulls", max_pulls, low=sizes[0]),
            max_pending=_checks.whole("max_pending", max_pending, low=1),
            sampling=_checks.instance(
                "sampling", InformationDirected() if sampling is None else sampling, Rule
            ).ordered(labels.arms),
            threshold=hastened(ordered_threshold(threshold, labels, family), avoid_infeasible),
            tolerance=check_tolerance(tolerance, cone, labels, family.units(sizes[1])),
            limits=limits_of(labels, at_most=at_most, at_least=at_least, limits=limits, family=family),
            avoid_infeasible=_checks.instance("avoid_infeasible", avoid_infeasible, bool),
            known=check_known(known, family, labels),
        )
        if made.avoid_infeasible:
            require_avoidable(made.limits, made.threshold)
        if made.limits is not None:
            warn_of_idle(made.limits, labels, family)
        setting = made.setting()
        # A bad allocation or threshold is refused now, not at the first pull.
        setting.aim()
        if setting.own and not made.sampling.stops_itself:
            raise InputError(
                f"threshold must not be 'own' for a rule without a test of its own, got {made.sampling.name}"
            )
        if setting.own:
            made.sampling.check_delta("delta", made.delta)
        if not made.threshold.compiled:
            made.threshold.at(np.ones(sizes[0]), made.delta, setting.shape)
        return made

    def setting(self) -> Setting:
        """What a run is opened with."""
        key = int(np.random.SeedSequence(self.seed).generate_state(1, np.uint64)[0])
        given = self.family, self.cone, self.labels, self.sampling, self.threshold, key
        return Setting.make(*given, tolerance=self.tolerance, limits=self.limits)

    @property
    def short_budget(self) -> str | None:
        """Words about a budget that the pilot of the certified threshold leaves too little of; None: there are none.

        >>> from prepex import Gaussian
        >>> given = {"arms": 3, "objectives": 1, "family": Gaussian(variance=1.0)}
        >>> print(Settings.make(**given, max_pulls=11).short_budget)
        max_pulls is 11: nothing can be certified before 12 outcomes, as the first 9 only set shares of the risk
        >>> Settings.make(**given, max_pulls=14).short_budget[:88]
        'max_pulls is 14: little can be certified, as at least the first 9 outcomes (at most 192)'
        >>> Settings.make(**given, max_pulls=100).short_budget, Settings.make(**given).short_budget
        (None, None)
        """
        if self.max_pulls is None or not isinstance(self.threshold, Certified):
            return None
        K = len(self.labels.arms)
        least, most = self.threshold.pilot_pulls(K), self.threshold.longest_pilot(K)
        if least and self.max_pulls < least + K:
            first = f"nothing can be certified before {least + K:,} outcomes, as the first {least:,}"
            return f"max_pulls is {self.max_pulls:,}: {first} only set shares of the risk"
        # Where the pilot is not over after its least length it is twice as long.
        if most > least and self.max_pulls < 2 * least + K:
            first = f"at least the first {least:,} outcomes (at most {most:,})"
            return f"max_pulls is {self.max_pulls:,}: little can be certified, as {first} only set shares of the risk"
        return None

    def to_document(self) -> dict[str, Any]:
        """As JSON can write it."""
        written: dict[str, Any] = {
            "labels": document.of_labels(self.labels),
            "family": document.of_family(self.family),
            "cone": document.of_cone(self.cone),
            "sampling": document.of_rule(self.sampling),
            "threshold": document.of_threshold(self.threshold),
            "delta": self.delta,
            "seed": self.seed,
            "max_pulls": self.max_pulls,
            "max_pending": self.max_pending,
        }
        if self.tolerance is not None:
            written["tolerance"] = list(self.tolerance)
        if self.limits is not None:
            written["limits"] = self.limits.to_document(self.labels.objectives)
        if self.avoid_infeasible:
            written["avoid_infeasible"] = True
        return written if self.known is None else written | {"known": self.known}

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> "Settings":
        """What `to_document` wrote; other keys are not looked at."""
        with document.damaged():
            labels, threshold = given["labels"], document.threshold(given["threshold"])
            made = cls.make(
                tuple(labels["arms"]),
                tuple(labels["objectives"]),
                family=document.family(given["family"]),
                cone=document.cone(given["cone"]),
                delta=given["delta"],
                sampling=document.rule(given["sampling"]),
                threshold=threshold,
                minimise=tuple(labels["minimise"]),
                seed=given["seed"],
                max_pulls=given["max_pulls"],
                max_pending=given["max_pending"],
                tolerance=Eps(given["tolerance"]) if "tolerance" in given else None,
                limits=read_document(given.get("limits", ()), labels["objectives"]),
                avoid_infeasible=given.get("avoid_infeasible", False),
                known=given.get("known"),
            )
            # The pilot is as long as it was when this was written.
            return replace(made, threshold=threshold) if isinstance(threshold, Certified) else made

    def avoiding(self) -> "Settings":
        """The same with `avoid_infeasible`."""
        require_avoidable(self.limits, self.threshold)
        return replace(self, avoid_infeasible=True, threshold=hastened(self.threshold, True))


def require_avoidable(limits: Limits | None, threshold: Threshold) -> None:
    """Refuse `avoid_infeasible` where nothing is ever certified to break a limit."""
    if limits is None or not isinstance(threshold, Certified):
        what = "no limit" if limits is None else f"the threshold {threshold.name}"
        raise InputError(f"avoid_infeasible must come with a limit and the certified threshold, got {what}")


def hastened(threshold: Threshold, avoid_infeasible: bool) -> Threshold:
    """With a short pilot, if it was left open, where an option is to be left alone once it is certified to break a
    limit: nothing is certified during the pilot."""
    return threshold.with_short_pilot() if avoid_infeasible and isinstance(threshold, Certified) else threshold


def ordered_threshold(given: Any, labels: Labels, family: Family) -> Threshold:
    """A threshold, its prior by the names of the objectives."""
    threshold = as_threshold(given)
    return threshold.ordered(labels, family) if isinstance(threshold, Posterior) else threshold


def with_options(function: Made) -> Made:
    """Where Python shows the signature of a function with `**options`, they are those of `Settings.make`, by name."""
    known = inspect.signature(Settings.make).parameters
    shown = inspect.signature(function)
    own = [entry for entry in shown.parameters.values() if entry.kind is not inspect.Parameter.VAR_KEYWORD]
    taken = {entry.name for entry in own}
    more = [entry.replace(kind=entry.KEYWORD_ONLY) for name, entry in known.items() if name not in taken]
    function.__signature__ = shown.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
    return function
