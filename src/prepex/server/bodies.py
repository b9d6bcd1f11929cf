"""The forms of requests and answers."""

from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from prepex.cone import Cone
from prepex.family import Family, Gaussian, Product
from prepex.sampling import RULES
from prepex.spoken import FAMILY_HELP, parse_family
from prepex.study.answers import Status
from prepex.study.events import Event
from prepex.study.words import check_reason

# What a study that is created over HTTP may have at most. A certificate looks at every pair of arms.
MOST_ARMS, MOST_OBJECTIVES, MOST_FACETS, MOST_RAYS = 300, 8, 24, 12
# Whole numbers that every reader of JSON keeps exactly.
LARGEST_WHOLE = 2**53 - 1


def _printable(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("must be printable characters")
    return text


def _addressable(text: str) -> str:
    if {".", ".."} & set(text.split("/")):
        raise ValueError("must have no part '.' or '..' between slashes: browsers resolve them away")
    return _printable(text)


Label = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_printable)]
StudyName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_addressable)]
Reason = Annotated[str, Field(min_length=1, max_length=2000), AfterValidator(check_reason)]
Token = Annotated[str, Field(min_length=1, max_length=64)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Row = Annotated[list[Number], Field(min_length=1, max_length=MOST_OBJECTIVES)]
Outcome = (
    Annotated[dict[str, Number], Field(min_length=1, max_length=100)]
    | Annotated[list[Number], Field(min_length=1, max_length=100)]
)


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


class Create(Body):
    """A new study. Outcomes are Gaussian with the given variance, or have a family for each objective."""

    name: StudyName = Field(examples=["doses"])
    arms: (
        Annotated[int, Field(ge=1, le=MOST_ARMS)] | Annotated[list[Label], Field(min_length=1, max_length=MOST_ARMS)]
    ) = Field(description="names, or how many", examples=[["low", "high"]])
    objectives: (
        Annotated[int, Field(ge=1, le=MOST_OBJECTIVES)]
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
    delta: Number = Field(0.05, description="the risk of a wrong answer, between 0 and 1")
    threshold: Literal["certified", "heuristic", "kaufmann_koolen"] = "certified"
    rule: Literal["information", "frappe", "prets", "tns", "uniform"] = "information"
    minimise: list[Label] = Field([], max_length=MOST_OBJECTIVES, description="objectives that are costs")
    seed: int = Field(0, ge=0, le=LARGEST_WHOLE)
    max_pulls: int | None = Field(None, ge=1, le=LARGEST_WHOLE, description="stop by budget")
    max_pending: int = Field(1024, ge=1, le=10_000, description="most pulls that may be out at once")
    lease: Number | None = Field(None, le=1e9, description="seconds after which a pull gives up its place")

    def settings(self) -> dict[str, Any]:
        """The arguments of Study.create, apart from the name."""
        given = self.model_dump(include={"delta", "threshold", "minimise", "seed", "max_pulls", "max_pending", "lease"})
        return given | {
            "arms": self.arms,
            "objectives": self.objectives,
            "family": self._family(),
            "cone": _cone(self.cone),
            "sampling": RULES[self.rule](alternatives="complete"),
        }

    def _family(self) -> Family:
        if (self.variance is None) == (self.family is None):
            raise ValueError("variance or family must be given, got both or neither")
        if self.family is not None:
            names = [f"objective {q}" for q in range(len(self.family))]
            if isinstance(self.objectives, list) and len(self.objectives) == len(names):
                names = self.objectives
            return Product([parse_family(name, text) for name, text in zip(names, self.family, strict=True)])
        matrix = isinstance(self.variance, list) and isinstance(self.variance[0], list)
        return Gaussian(covariance=self.variance) if matrix else Gaussian(variance=self.variance)


def _cone(given: Angle | Facets | Rays | None) -> Cone | None:
    if isinstance(given, Angle):
        return Cone.angle(given.angle)
    if isinstance(given, Facets):
        return Cone.from_facets(given.facets)
    return None if given is None else Cone.from_rays(given.rays)


class Ask(Body):
    """How many pulls."""

    n: int = Field(1, ge=1, le=1000)


class Tell(Body):
    """What came of a pull: objectives by name, some or all, or all values in order."""

    token: Token = Field(examples=["1-5f0c2a9b"])
    outcome: Outcome = Field(examples=[{"response": 0.3}])


class Correct(Tell):
    """What should have been told, and why."""

    reason: Reason


class Void(Body):
    """A pull that does not count, and why."""

    token: Token
    reason: Reason


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
    **{field.name: (field.type, ...) for field in fields(Event)},  # type: ignore[call-overload]
)


class Page(BaseModel):
    """Part of a log. `more`: ask again after the last position."""

    events: list[EventForm]
    more: bool
