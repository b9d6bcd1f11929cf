"""The answer of an experiment, by the names of its arms."""

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from prepex import markup
from prepex.choice import Choice, require_source
from prepex.limits import Limit, Sides
from prepex.numerals import plural
from prepex.option_table import OptionTable

State = Literal["in", "out", "open"]
Status = Literal["certified", "posterior", "heuristic", "inconclusive", "running"]


@dataclass(frozen=True)
class Recommendation:
    """The answer, and how far it can be trusted.

    With a tolerance it is right within it: no option is ahead of a listed one by more than the tolerance in everything,
    and every option left out is matched by a listed one within it; with limits, among the options that meet them.

    status      "certified": wrong with probability at most delta, proven; "posterior": the same on average over a
                prior; "heuristic": stopped by a threshold without proof; "inconclusive": the budget ended first;
                "running": not yet
    arms        the arms that look Pareto optimal
    decided     the arms whose status is settled at this delta, in or out; undecided: the others
    near_ties   with a tolerance: pairs of an arm of the answer and another that look equal within it
    covered     with a tolerance: (arm, other), both of the answer: the other looks at least as good in everything
                within it, and better by more in something, so that an answer without the arm would be right as well
    reasons     with limits: of each arm, why it is in the answer or not
    states      of each arm of the experiment, in its order: "in" the answer or "out" of it for good, or "open"
    probabilities   of each arm, as `Experiment.probabilities`; None where they are not known yet
    """

    status: Status
    arms: tuple[str, ...]
    decided: tuple[str, ...]
    undecided: tuple[str, ...]
    delta: float
    n_pulls: int
    near_ties: tuple[tuple[str, str], ...] = ()
    covered: tuple[tuple[str, str], ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict, hash=False)
    states: tuple[State, ...] = ()
    probabilities: tuple[float, ...] | None = None
    # Who knows the estimates: no part of the answer, and not written with it.
    _source: ClassVar[Any] = None

    def best(
        self, objective: str | int, *, at_most: Sides = None, at_least: Sides = None, limits: Iterable[Limit] = ()
    ) -> Choice:
        """Of the options listed, the best in one objective among those that meet these limits: "the cheapest option
        with at least 8.3 stars". By estimated means, with what is clear about it and what is not; see `Choice`.

        >>> from prepex import Experiment, Gaussian
        >>> experiment = Experiment(
        ...     ("inn", "hotel", "palace"), ("stars", "cost"), family=Gaussian(variance=(0.04, 4.0)),
        ...     minimise=("cost",), delta=0.1, seed=1,
        ... )
        >>> while not experiment.done:
        ...     arm = experiment.ask()
        ...     experiment.tell(arm, {"inn": (7.9, 50), "hotel": (8.4, 90), "palace": (9.5, 200)}[arm])
        >>> answer = experiment.recommendation
        >>> answer.best("cost", at_least={"stars": 8.3}).arm
        'hotel'
        >>> print(answer.best("cost", at_least={"stars": 8.3}))  # doctest: +NORMALIZE_WHITESPACE
        hotel: cost 90, the lowest of the 3 options listed with stars at least 8.3. That is not clear yet: hotel may
        miss a limit, and it may be palace instead.
        >>> answer.best("cost", at_least={"stars": 9}).clear
        True
        """
        source = require_source(self._source)
        return source.best(objective, at_most=at_most, at_least=at_least, limits=limits, among=self.arms)

    def asked_of(self, source: Any) -> "Recommendation":
        """The same answer, whose questions go to an experiment or a study."""
        found = copy(self)
        object.__setattr__(found, "_source", source)
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_source"}

    def to_frame(self) -> Any:
        """A row for each option, as a DataFrame of pandas.

        >>> answer = Recommendation("certified", ("a",), ("a", "b"), (), 0.1, 40, states=("in", "out"))
        >>> answer.to_frame()["state"].tolist()
        ['in', 'out']
        """
        return self._table().to_frame()

    def _repr_html_(self) -> str:
        meaning = {
            "certified": f"wrong with probability at most {self.delta:g}",
            "posterior": f"wrong with probability at most {self.delta:g}, on average over the prior",
            "heuristic": "stopped by a threshold without proof",
            "inconclusive": "the budget ended first",
            "running": "what looks right now",
        }[self.status]
        looks = "Pareto optimal" if self.status in ("certified", "posterior") else "Looks Pareto optimal"
        title = f"{looks}: {', '.join(self.arms) or 'none'}"
        words = f"{self.status.capitalize()} after {plural(self.n_pulls, 'pull')}: {meaning}."
        return markup.block(title, markup.line(words), self._table().to_html())

    def _table(self) -> OptionTable:
        """The options in the order of the experiment, if the states say which of them are decided; else those decided
        first."""
        settled, rest = iter(self.decided), iter(self.undecided)
        known = sum(state != "open" for state in self.states) == len(self.decided)
        names = (
            [next(rest if state == "open" else settled) for state in self.states]
            if known and self.states
            else [*self.decided, *self.undecided]
        )
        reasons = [("why", [self.reasons.get(name, "") for name in names])] if self.reasons else []
        front = [name in self.arms for name in names]
        return OptionTable(names, reasons, front, self.states if known else (), self.probabilities if known else None)
