"""What the dashboard draws, in one request."""

import json
import threading
import weakref
from typing import Any, NamedTuple

from fastapi import APIRouter, Request, Response, Security

from prepex.server.api import BEARER
from prepex.server.errors import problems
from prepex.server.studies import Observer, Studies
from prepex.study.study import Study

# Seconds of one request that may go into the history; a long one is finished by the next requests.
PATIENCE = 1.0


class View(NamedTuple):
    """A view with its tag, for those who may tell and for those who may not: these see no tokens."""

    tag: str
    whole: bytes
    masked: bytes


class Views:
    """The last view of each study: computed anew only when its log has grown, or its history was not complete."""

    def __init__(self) -> None:
        self._last: weakref.WeakKeyDictionary[Study, View] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, study: Study) -> View:
        """The view now."""
        with self._lock:
            known = self._last.get(study)
        if known is not None and known.tag == f'"{study.head()}"':
            return known
        picture, past = study.picture(), study.history(PATIENCE)
        part = "" if past.complete else f"-{past.n_pulls}"
        shown = picture | {"history": past._asdict()}
        made = View(f'"{picture["head"]}{part}"', _bytes(shown), _bytes(masked(shown)))
        with self._lock:
            self._last[study] = made
        return made


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


def view_router(studies: Studies) -> APIRouter:
    """GET /api/studies/NAME/view; 304 for a tag that still holds."""
    router, views = APIRouter(dependencies=[Security(BEARER)]), Views()

    @router.get("/api/studies/{name:path}/view", responses=problems(400, 404))
    def view(name: str, who: Observer, request: Request) -> Response:
        """All that a page about a study shows: design, arms with regions, pulls, why, and the evidence over time."""
        found = views.of(studies[name])
        body, tag = (found.whole, found.tag) if who.may("worker") else (found.masked, f'{found.tag[:-1]}-masked"')
        headers = {"ETag": tag, "Cache-Control": "no-store"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type="application/json", headers=headers)

    return router
