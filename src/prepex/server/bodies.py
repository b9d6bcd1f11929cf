"""The forms of requests and answers."""

from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from prepex.cone import Cone
from prepex.errors import InputError
from prepex.family import Family, Gaussian, Product
from prepex.limits import Limit
from prepex.sampling import RULES
from prepex.spoken import FAMILY_HELP, parse_family, parse_limit
from prepex.stopping import with_prior
from prepex.study.answers import Status
from prepex.study.events import Event
from prepex.study.words import check_reason

# What a study that is created over HTTP may have at most. A certificate looks at every pair of arms.
MOST_ARMS, MOST_OBJECTIVES, MOST_FACETS, MOST_RAYS, MOST_LIMITS = 300, 8, 24, 12, 12
# Statements of a dialogue.
MOST_SAID = 200
# Whole numbers that every reader of JSON keeps exactly.
LARGEST_WHOLE = 2**53 - 1


def _printable(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise InputError("must be printable characters")
    return text


def _addressable(text: str) -> str:
    if {".", ".."} & set(text.split("/")):
        raise InputError("must have no part '.' or '..' between slashes: browsers resolve them away")
    return _printable(text)


Label = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_printable)]
StudyName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_addressable)]
Reason = Annotated[str, Field(min_length=1, max_length=2000), AfterValidator(check_reason)]
Token = Annotated[str, Field(min_length=1, max_length=64)]
# Strict: true and "1.2" are no numbers, whatever they might stand for.
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Whole = Annotated[int, Field(strict=True)]
# Yes or no; the study refuses it where the objective is something else.
Value = Annotated[bool, Field(strict=True)] | Number
# Of a tolerance: a number, or a share.
Size = Number | Annotated[str, Field(pattern=r"^[0-9.]{1,30} ?%$")]
Row = Annotated[list[Number], Field(min_length=1, max_length=MOST_OBJECTIVES)]
Outcome = (
    Annotated[dict[str, Value], Field(min_length=1, max_length=100)]
    | Annotated[list[Value], Field(min_length=1, max_length=100)]
)


Known = Annotated[dict[Label, Number], Field(max_length=MOST_ARMS)]
Sides = Annotated[dict[Label, Number], Field(max_length=MOST_OBJECTIVES)] | None


class Body(BaseModel):
    """A request; a field that is not known is an error, not a silent guess."""

    model_config = ConfigDict(extra="forbid")


class Angle(Body):
    """A cone of two objectives, by its angle."""

    angle: Number = Field(description="degrees", examples=[120.0])


class Facets(Body):
    """A cone by its facets: all z with W z >= 0."""

    facets: Annotated[list[Row], Field(min_length=1, max_length=MOST_FACETS)]


class Rays(Body):
    """A cone by its rays."""

    rays: Annotated[list[Row], Field(min_length=1, max_length=MOST_RAYS)]


class Weighted(Body):
    """A limit: a sum of objectives, each times its weight, and one of the two sides."""

    weights: Annotated[dict[Label, Number], Field(min_length=1, max_length=MOST_OBJECTIVES)]
    at_most: Number | None = None
    at_least: Number | None = None


class Create(Body):
    """A new study. Outcomes are Gaussian with the given variance, or have a family for each objective."""

    name: StudyName = Field(examples=["doses"])
    arms: (
        Annotated[Whole, Field(ge=1, le=MOST_ARMS)] | Annotated[list[Label], Field(min_length=1, max_length=MOST_ARMS)]
    ) = Field(description="names, or how many", examples=[["low", "high"]])
    objectives: (
        Annotated[Whole, Field(ge=1, le=MOST_OBJECTIVES)]
        | Annotated[list[Label], Field(min_length=1, max_length=MOST_OBJECTIVES)]
    ) = Field(description="names, or how many", examples=[["response", "harm"]])
    variance: Number | Row | Annotated[list[Row], Field(min_length=1, max_length=MOST_OBJECTIVES)] | None = Field(
        None,
        description="of one measurement: a number, one for each objective, or a covariance matrix",
        examples=[0.25],
    )
    family: Annotated[list[Label], Field(min_length=1, max_length=MOST_OBJECTIVES)] | None = Field(
        None, description="in place of a variance, for each objective one of " + FAMILY_HELP, examples=[["bernoulli"]]
    )
    cone: Angle | Facets | Rays | None = Field(None, description="null: more of every objective is better")
    tolerance: (
        Size
        | Annotated[list[Size], Field(min_length=1, max_length=MOST_OBJECTIVES)]
        | Annotated[dict[Label, Size], Field(max_length=MOST_OBJECTIVES)]
        | None
    ) = Field(
        None,
        description="differences that do not matter, in the units of the objectives, or a share such as 5% of "
        "lognormal ones: by name, one for all, or one for each; null: all matter",
        examples=[{"response": 0.1}],
    )
    at_most: Sides = Field(
        None, description="limits: objectives that must not exceed a number", examples=[{"harm": 0.3}]
    )
    at_least: Sides = Field(None, description="limits: objectives that must reach a number")
    limits: Annotated[list[Weighted | Label], Field(max_length=MOST_LIMITS)] = Field(
        [],
        description="limits of sums of objectives, as documents or in words; the answer is the Pareto set of the "
        "options that meet all limits",
        examples=[["cost + 2 time <= 10"]],
    )
    avoid_infeasible: Annotated[bool, Field(strict=True)] = Field(
        False, description="no more of an option once it is certified to break a limit"
    )
    known: Annotated[dict[Label, Known], Field(max_length=MOST_OBJECTIVES)] | None = Field(
        None,
        description="values of objectives of the family exact, by option, that need not be told",
        examples=[{"price": {"low": 3.2, "high": 4.0}}],
    )
    delta: Number = Field(0.05, description="the risk of a wrong answer, between 0 and 1")
    threshold: Literal["certified", "posterior", "heuristic", "kaufmann_koolen"] = "certified"
    prior: Annotated[dict[Label, tuple[Number, Number]], Field(max_length=MOST_OBJECTIVES)] | None = Field(
        None,
        description="with the threshold posterior: what is believed of the true means, mean and standard deviation by "
        "objective; flat where nothing is said",
        examples=[{"response": [0.5, 0.2]}],
    )
    rule: Literal["information", "frappe", "prets", "tns", "uniform"] = "information"
    minimise: list[Label] = Field([], max_length=MOST_OBJECTIVES, description="objectives that are costs")
    seed: Whole = Field(0, ge=0, le=LARGEST_WHOLE)
    max_pulls: Whole | None = Field(None, ge=1, le=LARGEST_WHOLE, description="stop by budget")
    max_pending: Whole = Field(1024, ge=1, le=10_000, description="most pulls that may be out at once")
    lease: Number | None = Field(None, le=1e9, description="seconds after which a pull gives up its place")
    max_waiting: Whole | None = Field(
        None, ge=0, le=LARGEST_WHOLE, description="told outcomes that may wait for a pull before no more are handed out"
    )

    def settings(self) -> dict[str, Any]:
        """The arguments of Study.create, apart from the name."""
        said_otherwise = {"name", "variance", "family", "cone", "rule", "limits", "prior"}
        return self.model_dump(exclude=said_otherwise) | {
            "family": self._family(),
            "cone": _cone(self.cone),
            "limits": [_limit(entry) for entry in self.limits],
            "sampling": RULES[self.rule](alternatives="complete"),
            "threshold": with_prior(self.threshold, self.prior),
        }

    def _family(self) -> Family:
        if (self.variance is None) == (self.family is None):
            raise InputError(f"variance or family must be given, got {'neither' if self.variance is None else 'both'}")
        if self.family is not None:
            names = [f"objective {q}" for q in range(len(self.family))]
            if isinstance(self.objectives, list) and len(self.objectives) == len(names):
                names = self.objectives
            return Product([parse_family(name, text) for name, text in zip(names, self.family, strict=True)])
        matrix = isinstance(self.variance, list) and isinstance(self.variance[0], list)
        return Gaussian(covariance=self.variance) if matrix else Gaussian(variance=self.variance)


def _limit(given: Weighted | str) -> Limit:
    if isinstance(given, str):
        return parse_limit(given)
    return Limit(given.weights, at_most=given.at_most, at_least=given.at_least)


def _cone(given: Angle | Facets | Rays | None) -> Cone | None:
    if isinstance(given, Angle):
        return Cone.angle(given.angle)
    if isinstance(given, Facets):
        return Cone.from_facets(given.facets)
    return None if given is None else Cone.from_rays(given.rays)


class Ask(Body):
    """How many pulls."""

    n: Whole = Field(1, ge=1, le=1000)
    new: Annotated[bool, Field(strict=True)] = Field(
        False, description="none that you have out already; for workers that share a token"
    )
    key: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_printable)] | None = Field(
        None, description="your name for this request: sent again, it gives the same pulls"
    )


class Tell(Body):
    """What came of a pull: objectives by name, some or all, or all values in order."""

    token: Token = Field(examples=["1-5f0c2a9b"])
    outcome: Outcome = Field(examples=[{"response": 0.3}])


class Correct(Tell):
    """What should have been told, and why."""

    reason: Reason


class Void(Body):
    """A pull that does not count, and why: known without any outcome, its own or another's."""

    token: Token
    reason: Reason


class Extend(Body):
    """A longer budget, and why."""

    max_pulls: Whole = Field(ge=1, le=LARGEST_WHOLE)
    reason: Reason


class Under(Body):
    """A cone to look through."""

    cone: Angle | Facets | Rays

    def made(self) -> Cone:
        """The cone itself."""
        found = _cone(self.cone)
        assert found is not None
        return found


class Said(Body):
    """Two outcomes, in the order of the objectives: the first is better, or neither is clearly better."""

    one: Row
    other: Row
    clear: Annotated[bool, Field(strict=True)] = True


class Dialogue(Body):
    """What was said so far."""

    statements: Annotated[list[Said], Field(max_length=MOST_SAID)] = []

    def plain(self) -> list[tuple[list[float], list[float], bool]]:
        """Without words."""
        return [(entry.one, entry.other, entry.clear) for entry in self.statements]


class Looked(BaseModel):
    """Each option under another cone; `looks`: those that look optimal; what the cone gives up; what it is worth."""

    states: dict[str, Literal["in", "out", "open"]]
    looks: list[str]
    words: str
    promise: str


class Compared(BaseModel):
    """An option in a question, with its means in your units."""

    arm: str
    mean: list[float]


class Asked(BaseModel):
    """The next question, null if no answer would change anything; options left, and the cone so far.

    `clash`: places of statements that contradict each other, a smallest set; then there is nothing else.
    """

    clash: list[int]
    question: list[Compared] | None
    left: list[str]
    words: str
    facets: list[list[float]]


class Me(BaseModel):
    """Whose token it is; `studies`: those it is for, null: all."""

    name: str
    role: Literal["observer", "worker", "owner"]
    studies: list[str] | None
    expires: str | None


class Named(BaseModel):
    """Which study."""

    name: str


class Pulled(BaseModel):
    """Which pull."""

    token: str


class Outlook(BaseModel):
    """The forecast as `Forecast` has it, with its words; `computing`: a newer one is on its way."""

    forecast: dict[str, Any] | None
    computing: bool


class Words(BaseModel):
    """In words."""

    why: str


Standing: Any = create_model(
    "Standing",
    __doc__=Status.__doc__,
    done=(bool, ...),
    **{field.name: (field.type, ...) for field in fields(Status)},  # type: ignore[call-overload]
)
EventForm: Any = create_model(
    "Event",
    __doc__=Event.__doc__,
    **{name: (kind, ...) for name, kind in Event.__annotations__.items()},  # type: ignore[call-overload]
)


class Page(BaseModel):
    """Part of a log. `arms`: which option, by its place, a pull is of. `more`: ask again after the last position."""

    events: list[EventForm]
    arms: dict[int, int]
    more: bool
