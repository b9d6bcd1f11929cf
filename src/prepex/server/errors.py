"""Errors as answers: always {"detail": "..."}; what went wrong inside stays inside."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from sqlalchemy.exc import SQLAlchemyError

from prepex.server.studies import UNKNOWN
from prepex.study.log import NoStudyError
from prepex.study.storage import BadStorageError, NameTakenError


class Problem(BaseModel):
    """What was expected, and what came."""

    detail: str = Field(examples=["token must be one that this study handed out, got '7-00000000'"])


MEANING = {
    400: "Refused, and why",
    401: "No token, or one that is not known",
    403: "The wrong role, or another web site",
    404: "No such study for this token",
    408: "The body did not arrive in time",
    409: "The name is taken",
    413: "The body is too large",
    422: "A request of the wrong form",
    429: "Too many requests",
    503: "The storage cannot be reached",
}


def problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The documentation of these answers, and of those that any request may get."""
    always = (401, 403, 422, 429, 503)
    return {code: {"model": Problem, "description": MEANING[code]} for code in sorted({*codes, *always})}


def add_errors(app: FastAPI) -> None:
    """From exceptions to answers."""
    for kind, code, words in (
        (NoStudyError, 404, UNKNOWN),
        (NameTakenError, 409, None),
        (ValueError, 400, None),
        (BadStorageError, 503, "the storage cannot be used at the moment"),
        (OSError, 503, "the storage cannot be used at the moment"),
        (SQLAlchemyError, 503, "the storage cannot be used at the moment"),
    ):
        app.add_exception_handler(kind, _answer(code, words))
    app.add_exception_handler(RequestValidationError, _explain)


def _answer(code: int, words: str | None) -> Any:
    def handler(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": _plain(words or str(error))}, code)

    return handler


def _explain(_: Request, error: Exception) -> JSONResponse:
    """Where, and what was expected. What came is not repeated: it may be anything, even what JSON cannot say."""
    assert isinstance(error, RequestValidationError)
    parts = []
    for entry in error.errors()[:10]:
        place = ".".join(str(step)[:100] for step in entry["loc"])
        parts.append(f"{place}: {entry['msg']}")
    return JSONResponse({"detail": _plain("; ".join(parts))[:4000]}, 422)


def _plain(text: str) -> str:
    """Text that every encoding takes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
