"""Errors as answers: always {"detail": "..."}; what went wrong inside stays inside."""

import re
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from sqlalchemy.exc import SQLAlchemyError

from prepex.errors import InputError
from prepex.server.crew import LostError, TooLongError
from prepex.server.studies import UNKNOWN
from prepex.study.handout import BlockedError
from prepex.study.log import NoStudyError
from prepex.study.storage import BadStorageError, BusyError, NameTakenError, ReadOnlyError


class Problem(BaseModel):
    """What was expected, and what came."""

    detail: str = Field(examples=["token must be one that this study handed out, got '7-00000000'"])


MEANING = {
    400: "Refused, and why",
    401: "No token, or one that is not known",
    403: "The wrong role, or another web site",
    404: "No such study for this token",
    408: "The body did not arrive in time",
    409: "The name is taken, or told outcomes wait for a pull",
    413: "The body is too large",
    422: "A request of the wrong form",
    429: "Too many requests",
    503: "Busy, or the storage cannot be used; `Retry-After` says when to try again",
}


GONE = "the storage cannot be used at the moment"


def problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The documentation of these answers, and of those that any request may get."""
    always = (401, 403, 422, 429, 503)
    return {code: {"model": Problem, "description": MEANING[code]} for code in sorted({*codes, *always})}


def add_errors(app: FastAPI) -> None:
    """From exceptions to answers."""
    for kind, code, words, wait in (
        (NoStudyError, 404, UNKNOWN, None),
        (NameTakenError, 409, None, None),
        (BlockedError, 409, None, None),
        (InputError, 400, None, None),
        (BusyError, 503, "somebody else is writing, or much is being computed; nothing has happened: try again", 1),
        (ReadOnlyError, 503, "the storage can be read, but not written at the moment; nothing has happened", 10),
        (TooLongError, 503, None, 300),
        (LostError, 503, "what computed this has ended; try again", 1),
        (BadStorageError, 503, GONE, 5),
        (OSError, 503, GONE, 5),
        (SQLAlchemyError, 503, GONE, 5),
    ):
        app.add_exception_handler(kind, _answer(code, words, wait))
    app.add_exception_handler(RequestValidationError, _explain)


def _answer(code: int, words: str | None, wait: int | None) -> Any:
    headers = None if wait is None else {"Retry-After": str(wait)}

    def handler(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": _plain(words or str(error))}, code, headers)

    return handler


def _explain(_: Request, error: Exception) -> JSONResponse:
    """Where, and what was expected. What came is not repeated: it may be anything, even what JSON cannot say."""
    assert isinstance(error, RequestValidationError)
    return JSONResponse({"detail": _plain("; ".join(_places(error.errors())))[:4000]}, 422)


# Where something may be of several kinds, the place names the kind that was tried: no word for a reader.
_KIND = re.compile(r"bool|float|int|str|Angle|Facets|Rays|[a-z-]+\[.*", re.DOTALL)
_EXPECTED = {
    "bool_type": "must be true or false",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "string_type": "must be text",
    "dict_type": "must be an object of names and values",
    "model_attributes_type": "must be an object of names and values",
    "list_type": "must be a list",
    # The only text with a form is a tolerance.
    "string_pattern_mismatch": "must be a share such as 5%",
}


def _places(errors: Sequence[Any]) -> list[str]:
    """A sentence for each place; of several kinds that it might have been, those that were begun."""
    found: dict[str, list[str]] = {}
    for entry in errors[:20]:
        first, *steps = (str(step)[:100] for step in entry["loc"])
        place = ".".join([first, *(step for step in steps if not _KIND.fullmatch(step))])
        words = found.setdefault(place, [])
        if (said := _EXPECTED.get(entry["type"], entry["msg"])) not in words:
            words.append(said)
    kinds = {*_EXPECTED.values()}
    deeper = [place for place in found if any(other.startswith(place + ".") for other in found)]
    for place in deeper:
        if kinds.issuperset(found[place]):
            del found[place]
    return [f"{place}: {', or '.join(words)}" for place, words in [*found.items()][:10]]


def _plain(text: str) -> str:
    """Text that every encoding takes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
