"""The endpoints. A name may have slashes: every path ends with what is wanted, so it is never ambiguous."""

import re
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Security
from fastapi.responses import StreamingResponse
from fastapi.security import HTTPBearer

from prepex.server import bodies, downloads
from prepex.server.errors import problems
from prepex.server.studies import Observer, Owner, Studies, Worker
from prepex.study.answers import Overview, Receipt, Status, Ticket
from prepex.study.study import Study

# For the documentation: the gate has looked at the token before.
BEARER = HTTPBearer(auto_error=False, description="See `prepex token`. On this machine alone none is needed.")
NAME = "/api/studies/{name:path}"


def make_router(studies: Studies) -> APIRouter:
    """All of them."""
    router = APIRouter(dependencies=[Security(BEARER)])
    _add_lists(router, studies)
    _add_reading(router, studies)
    _add_files(router, studies)
    _add_work(router, studies)
    _add_changes(router, studies)
    return router


def _add_lists(router: APIRouter, studies: Studies) -> None:
    @router.get("/api/me", response_model=bodies.Me, responses=problems())
    def me(who: Observer) -> dict[str, Any]:
        """Whose token this is, and what it is for."""
        return {name: getattr(who, name) for name in ("name", "role", "studies", "expires")}

    @router.get("/api/studies", response_model=list[Overview], responses=problems())
    def list_studies(who: Observer) -> list[Overview]:
        """The studies of this token."""
        return [entry for entry in Study.list(studies.storage) if who.sees(entry.name)]

    @router.post("/api/studies", response_model=bodies.Standing, status_code=201, responses=problems(400, 409, 413))
    def create(body: bodies.Create, who: Owner) -> dict[str, Any]:
        """A new study."""
        if not who.sees(body.name):
            raise HTTPException(403, "this token is for certain studies only, and not for one of this name")
        made = Study.create(studies.storage, body.name, actor=who.name, **body.settings())
        return _standing(made.status())


def _add_reading(router: APIRouter, studies: Studies) -> None:
    @router.get(NAME + "/status", response_model=bodies.Standing, responses=problems(400, 404))
    def status(name: str, who: Observer) -> dict[str, Any]:
        """How a study stands."""
        found = _standing(studies[name].status())
        if found["blocker"] and not who.may("worker"):
            found["blocker"]["token"] = _number(found["blocker"]["token"])
        return found

    @router.get(NAME + "/why", response_model=bodies.Words, responses=problems(400, 404))
    def why(name: str, who: Observer) -> dict[str, str]:
        """Why it has not stopped yet, or what it answered, in words."""
        words = studies[name].why()
        if not who.may("worker"):
            words = re.sub(r"(wait for the pull \d+)-[0-9a-f]+", r"\1", words)
        return {"why": words}

    @router.get(NAME + "/certificate", responses=problems(400, 404))
    def certificate(name: str, _: Observer) -> dict[str, Any]:
        """The answer with all that it rests on, for `prepex verify`."""
        return studies[name].certificate()

    @router.get(NAME + "/events", response_model=bodies.Page, responses=problems(400, 404))
    def events(
        name: str,
        who: Observer,
        after: Annotated[int, Query(ge=-1, le=bodies.LARGEST_WHOLE)] = -1,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> dict[str, Any]:
        """The log after a position. To observers a pull has a number, but no token."""
        found = [asdict(event) for event in studies[name].events(after, limit + 1)]
        if not who.may("worker"):
            for event in found:
                if "token" in event["data"]:
                    event["data"]["token"] = _number(event["data"]["token"])
        return {"events": found[:limit], "more": len(found) > limit}


def _add_files(router: APIRouter, studies: Studies) -> None:
    def text(kind: str) -> dict[int | str, dict[str, Any]]:
        return {200: {"content": {kind: {"schema": {"type": "string"}}}, "description": "A file"}}

    @router.get(
        NAME + "/events.jsonl",
        response_class=StreamingResponse,
        responses=problems(400, 404) | text("application/jsonl"),
    )
    def log(name: str, _: Owner) -> StreamingResponse:
        """The whole log with its hashes and tokens, exactly as `prepex verify --log` reads it."""
        return _file(downloads.log_lines(studies[name]), "application/jsonl", "events.jsonl")

    @router.get(
        NAME + "/observations.csv", response_class=StreamingResponse, responses=problems(400, 404) | text("text/csv")
    )
    def observations(name: str, _: Observer) -> StreamingResponse:
        """A row for each pull. A name that a spreadsheet would take for a formula begins with an apostrophe."""
        return _file(downloads.table(studies[name]), "text/csv", "observations.csv")


def _add_work(router: APIRouter, studies: Studies) -> None:
    @router.post(NAME + "/ask", response_model=list[Ticket], responses=problems(400, 404, 413))
    def ask(name: str, body: bodies.Ask, who: Worker) -> list[Ticket]:
        """The next pulls; none when there is nothing to hand out."""
        found: list[Ticket] = studies[name].ask(body.n, actor=who.name)
        return found

    @router.post(NAME + "/tell", response_model=Receipt, responses=problems(400, 404, 413))
    def tell(name: str, body: bodies.Tell, who: Worker) -> Receipt:
        """What came of a pull; the same twice is once."""
        return studies[name].tell(body.token, body.outcome, actor=who.name)


def _add_changes(router: APIRouter, studies: Studies) -> None:
    @router.post(NAME + "/correct", response_model=bodies.Pulled, responses=problems(400, 404, 413))
    def correct(name: str, body: bodies.Correct, who: Owner) -> dict[str, str]:
        """Replace what was told."""
        studies[name].correct(body.token, body.outcome, reason=body.reason, actor=who.name)
        return {"token": body.token}

    @router.post(NAME + "/void", response_model=bodies.Pulled, responses=problems(400, 404, 413))
    def void(name: str, body: bodies.Void, who: Owner) -> dict[str, str]:
        """A pull that does not count."""
        studies[name].void(body.token, reason=body.reason, actor=who.name)
        return {"token": body.token}

    @router.delete(NAME, response_model=bodies.Named, responses=problems(400, 404))
    def delete(name: str, _: Owner, confirm: Annotated[str, Query(max_length=200)]) -> dict[str, str]:
        """Delete a study with its whole log; `confirm` is its name once more."""
        found = studies[name]
        Study.delete(studies.storage, found.name, confirm=confirm)
        studies.forget(name)
        return {"name": name}


def _standing(status: Status) -> dict[str, Any]:
    return asdict(status) | {"done": status.done}


def _number(token: str) -> str:
    return token.partition("-")[0]


def _file(pieces: Iterator[str], kind: str, name: str) -> StreamingResponse:
    # The first piece now: a study that cannot be read is an error, and not an empty file.
    whole = chain([next(pieces)], pieces)
    return StreamingResponse(whole, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
