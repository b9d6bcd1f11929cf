"""What is computed for a request: each a function of a study and plain values, so that another process can do it."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from prepex.server.looks import dialogue, under
from prepex.study.answers import Receipt, Status, Ticket, Voided
from prepex.study.study import Outcome, Study


class Answer(NamedTuple):
    """How a study stands at one head of its log, in numbers and in words."""

    head: str
    status: Status
    why: str


class View(NamedTuple):
    """What the dashboard draws, for those who may tell and for those who may not: these see no tokens."""

    head: str
    whole: bytes
    masked: bytes


class Ahead(NamedTuple):
    """The forecast at one head of the log; None: not known, or not yet."""

    head: str
    forecast: dict[str, Any] | None
    done: bool


class Done(NamedTuple):
    """What a change returns, and the answer after it where that costs little."""

    result: Any
    answer: Answer | None


def ask(study: Study, n: int, actor: str, new: bool = False, key: str | None = None) -> list[Ticket]:
    """The next pulls."""
    found: list[Ticket] = study.ask(n, actor=actor, new=new, key=key)
    return found


def tell(study: Study, token: str, outcome: Outcome, actor: str) -> Receipt:
    """What came of a pull."""
    return study.tell(token, outcome, actor=actor)


def correct(study: Study, token: str, outcome: Outcome, reason: str, actor: str) -> None:
    """Replace what was told."""
    study.correct(token, outcome, reason=reason, actor=actor)


def void(study: Study, token: str, reason: str, actor: str) -> Voided:
    """A pull that does not count."""
    return study.void(token, reason=reason, actor=actor)


def extend(study: Study, max_pulls: int, reason: str, actor: str) -> None:
    """A longer budget."""
    study.extend(max_pulls, reason=reason, actor=actor)


def answer(study: Study) -> Answer:
    """How it stands."""
    status, why = study.standing()
    return Answer(status.head, status, why)


def view(study: Study) -> View:
    """All that a page about the study shows."""
    shown = study.picture()
    return View(shown["head"], _bytes(shown), _bytes(masked(shown)))


def forecast(study: Study) -> Ahead:
    """How many more outcomes; never waits for a compiler."""
    head = study.head()
    made = study.forecast(wait=False)
    return Ahead(head, None if made is None else made.to_document(), study.done)


def certificate(study: Study) -> dict[str, Any]:
    """The answer with all that it rests on."""
    return study.certificate()


TASKS: dict[str, Callable[..., Any]] = {
    task.__name__: task
    for task in (ask, tell, correct, void, extend, answer, view, forecast, certificate, under, dialogue)
}
WRITES = frozenset({"ask", "tell", "correct", "void", "extend"})
# They may compute for long before they write, and others go on meanwhile.
APART = frozenset({"correct", "void", "extend"})
# They compute for seconds, and nothing waits for them.
AHEAD = frozenset({"forecast"})


def masked(view: dict[str, Any]) -> dict[str, Any]:
    """Pulls have a number in place of a token.

    >>> masked({"why": "", "blocker": None, "pulls": [{"token": "7-5f0c2a9b"}]})["pulls"]
    [{'token': '7'}]
    """
    pulls = [pull | {"token": _number(pull["token"])} for pull in view["pulls"]]
    why, blocker = view["why"], view["blocker"]
    if blocker is not None:
        why = why.replace(blocker["token"], _number(blocker["token"]))
        blocker = blocker | {"token": _number(blocker["token"])}
    return view | {"pulls": pulls, "why": why, "blocker": blocker}


def _bytes(document: dict[str, Any]) -> bytes:
    # Browsers know no infinity.
    return json.dumps(document, allow_nan=False).encode()


def _number(token: str) -> str:
    return token.partition("-")[0]
