"""The endpoints. A name may have slashes: every path ends with what is wanted, so it is never ambiguous."""

import re
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response, Security
from fastapi.responses import StreamingResponse
from fastapi.security import HTTPBearer

from prepex.server import bodies, downloads
from prepex.server.errors import problems
from prepex.server.feed import Feed
from prepex.server.lanes import reader, writer
from prepex.server.strict import StrictRoute
from prepex.server.studies import Observer, Owner, Studies, Worker
from prepex.study.answers import Overview, Receipt, Status, Ticket, Voided
from prepex.study.study import Study

# For the documentation: the gate has looked at the token before.
BEARER = HTTPBearer(auto_error=False, description="See `prepex token`. On this machine alone none is needed.")
NAME = "/api/studies/{name:path}"
# With an answer of some moments ago, where a newer one is being computed.
STALE = {"Prepex-Stale": "true"}


def make_router(studies: Studies, feed: Feed) -> APIRouter:
    """All of them."""
    router = APIRouter(dependencies=[Security(BEARER)], route_class=StrictRoute)
    _add_lists(router, studies)
    _add_changes_of_studies(router, feed)
    _add_reading(router, studies)
    _add_files(router, studies)
    _add_work(router, studies)
    _add_changes(router, studies)
    return router


def _add_lists(router: APIRouter, studies: Studies) -> None:
    @router.get("/api/me", response_model=bodies.Me, responses=problems())
    async def me(who: Observer) -> dict[str, Any]:
        """Whose token this is, and what it is for."""
        return {name: getattr(who, name) for name in ("name", "role", "studies", "expires")}

    @router.get("/api/studies", response_model=list[Overview], responses=problems())
    @reader
    def list_studies(who: Observer) -> list[Overview]:
        """The studies of this token."""
        return [entry for entry in Study.list(studies.storage) if who.sees(entry.name)]

    @router.post("/api/studies", response_model=bodies.Standing, status_code=201, responses=problems(400, 409, 413))
    @writer
    def create(body: bodies.Create, who: Owner) -> dict[str, Any]:
        """A new study."""
        if not who.sees(body.name):
            raise HTTPException(403, "this token is for certain studies only, and not for one of this name")
        Study.create(studies.storage, body.name, actor=who.name, **body.settings())
        return _standing(studies[body.name].answer()[0].status)


def _add_changes_of_studies(router: APIRouter, feed: Feed) -> None:
    @router.get(
        "/api/changes",
        response_class=StreamingResponse,
        responses=problems() | {200: {"content": {"text/event-stream": {}}, "description": "Server-sent events"}},
    )
    async def changes(who: Observer, request: Request) -> StreamingResponse:
        """Names of studies whenever they change, as server-sent events: `data: ["doses"]`, at first `data: null`."""
        events = feed.follow(who.sees, request.state.holds)
        return StreamingResponse(events, media_type="text/event-stream", headers={"Cache-Control": "no-store"})


def _add_reading(router: APIRouter, studies: Studies) -> None:
    @router.get(NAME + "/status", response_model=bodies.Standing, responses=problems(400, 404))
    @reader
    def status(name: str, who: Observer, response: Response) -> dict[str, Any]:
        """How a study stands. With the header `Prepex-Stale`: some moments ago, as something newer takes long."""
        answer, fresh = studies[name].answer()
        response.headers.update({} if fresh else STALE)
        found = _standing(answer.status)
        if found["blocker"] and not who.may("worker"):
            found["blocker"]["token"] = _number(found["blocker"]["token"])
        return found

    @router.get(NAME + "/why", response_model=bodies.Words, responses=problems(400, 404))
    @reader
    def why(name: str, who: Observer, response: Response) -> dict[str, str]:
        """Why it has not stopped yet, or what it answered, in words."""
        answer, fresh = studies[name].answer()
        response.headers.update({} if fresh else STALE)
        words = answer.why
        if not who.may("worker"):
            words = re.sub(r"(waits? for the pull \d+)-[0-9a-f]+", r"\1", words)
        return {"why": words}

    @router.get(NAME + "/forecast", response_model=bodies.Outlook, responses=problems(400, 404))
    @reader
    def forecast(name: str, _: Observer) -> dict[str, Any]:
        """How many more outcomes, and when. It takes some seconds to compute: while `computing`, ask again, and what is
        here is the last one, if there is any. None in the end: the study has stopped, or nothing can be said yet."""
        found, fresh = studies[name].forecast()
        return {"forecast": None if found is None or found.done else found.forecast, "computing": not fresh}

    @router.post(NAME + "/under", response_model=bodies.Looked, responses=problems(400, 404, 413))
    @reader
    def under(name: str, body: bodies.Under, _: Observer) -> dict[str, Any]:
        """In, out or open under another cone, chosen whenever and as often as one likes. Nothing is written."""
        found: dict[str, Any] = studies[name].compute("under", body.made())
        return found

    @router.post(NAME + "/dialogue", response_model=bodies.Asked, responses=problems(400, 404, 413))
    @reader
    def dialogue(name: str, body: bodies.Dialogue, _: Observer) -> dict[str, Any]:
        """Which two options to compare next, after these statements, and the cone so far. Nothing is written."""
        found: dict[str, Any] = studies[name].compute("dialogue", body.plain())
        return found

    @router.get(NAME + "/certificate", responses=problems(400, 404))
    @writer
    def certificate(name: str, _: Observer) -> dict[str, Any]:
        """The answer with all that it rests on, for `prepex verify`."""
        found: dict[str, Any] = studies[name].compute("certificate")
        return found

    @router.get(NAME + "/events", response_model=bodies.Page, responses=problems(400, 404))
    @reader
    def events(
        name: str,
        who: Observer,
        after: Annotated[int, Query(ge=-1, le=bodies.LARGEST_WHOLE)] = -1,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> dict[str, Any]:
        """The log after a position. To observers a pull has a number, but no token."""
        study = studies[name].study
        found = [event._asdict() for event in study.events(after, limit + 1)]
        arms = study.arms_of({event["pull"] for event in found[:limit] if event["pull"] is not None})
        if not who.may("worker"):
            for event in found:
                if "token" in event["data"]:
                    event["data"]["token"] = _number(event["data"]["token"])
        return {"events": found[:limit], "arms": arms, "more": len(found) > limit}


def _add_files(router: APIRouter, studies: Studies) -> None:
    def text(kind: str) -> dict[int | str, dict[str, Any]]:
        return {200: {"content": {kind: {"schema": {"type": "string"}}}, "description": "A file"}}

    @router.get(
        NAME + "/events.jsonl",
        response_class=StreamingResponse,
        responses=problems(400, 404) | text("application/jsonl"),
    )
    @reader
    def log(name: str, _: Owner) -> StreamingResponse:
        """The whole log with its hashes and tokens, exactly as `prepex verify --log` reads it."""
        return _file(downloads.log_lines(studies[name].study), "application/jsonl", "events.jsonl")

    @router.get(
        NAME + "/observations.csv", response_class=StreamingResponse, responses=problems(400, 404) | text("text/csv")
    )
    @reader
    def observations(name: str, _: Observer) -> StreamingResponse:
        """A row for each pull. A name that a spreadsheet would take for a formula begins with an apostrophe."""
        return _file(downloads.table(studies[name].study), "text/csv", "observations.csv")


def _add_work(router: APIRouter, studies: Studies) -> None:
    @router.post(NAME + "/ask", response_model=list[Ticket], responses=problems(400, 404, 409, 413))
    @writer
    def ask(name: str, body: bodies.Ask, who: Worker) -> list[Ticket]:
        """The next pulls, the holder's own that are out first; none when there is nothing to hand out."""
        found: list[Ticket] = studies[name].write("ask", body.n, who.name, body.new, body.key)
        return found

    @router.post(NAME + "/tell", response_model=Receipt, responses=problems(400, 404, 413))
    @writer
    def tell(name: str, body: bodies.Tell, who: Worker) -> Receipt:
        """What came of a pull; the same twice is once."""
        found: Receipt = studies[name].write("tell", body.token, body.outcome, who.name)
        return found


def _add_changes(router: APIRouter, studies: Studies) -> None:
    @router.post(NAME + "/correct", response_model=bodies.Pulled, responses=problems(400, 404, 413))
    @writer
    def correct(name: str, body: bodies.Correct, who: Owner) -> dict[str, str]:
        """Replace what was told."""
        studies[name].write("correct", body.token, body.outcome, body.reason, who.name)
        return {"token": body.token}

    @router.post(NAME + "/void", response_model=Voided, responses=problems(400, 404, 413))
    @writer
    def void(name: str, body: bodies.Void, who: Owner) -> Voided:
        """A pull that does not count, for a reason that was known without any outcome, its own or another's.

        One that had been voided before keeps its reason, which is returned."""
        found: Voided = studies[name].write("void", body.token, body.reason, who.name)
        return found

    @router.post(NAME + "/extend", response_model=bodies.Named, responses=problems(400, 404, 413))
    @writer
    def extend(name: str, body: bodies.Extend, who: Owner) -> dict[str, str]:
        """A longer budget."""
        studies[name].write("extend", body.max_pulls, body.reason, who.name)
        return {"name": name}

    @router.delete(NAME, response_model=bodies.Named, responses=problems(400, 404))
    @writer
    def delete(name: str, _: Owner, confirm: Annotated[str, Query(max_length=200)]) -> dict[str, str]:
        """Delete a study with its whole log; `confirm` is its name once more."""
        Study.delete(studies.storage, studies[name].name, confirm=confirm)
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
