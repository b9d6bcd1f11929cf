"""What the dashboard draws, in one request."""

import json
import threading
import weakref
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Depends, Request, Response

from prepex.study.study import Study

# Seconds of one request that may go into the history; a long one is finished by the next requests.
PATIENCE = 1.0


class Views:
    """The last view of each study, with its tag."""

    def __init__(self) -> None:
        self._last: weakref.WeakKeyDictionary[Study, tuple[str, bytes]] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, study: Study) -> tuple[str, bytes]:
        """(tag, JSON): computed anew only when the log has grown, or the history was not complete."""
        head = study.head()
        with self._lock:
            known = self._last.get(study)
        if known is not None and known[0] == f'"{head}"':
            return known
        picture, past = study.picture(), study.history(PATIENCE)
        part = "" if past.complete else f"-{past.n_pulls}"
        made = f'"{picture["head"]}{part}"', json.dumps(picture | {"history": past._asdict()}).encode()
        with self._lock:
            self._last[study] = made
        return made


def view_router(studies: Callable[[str], Study], observer: Callable[[Request], Any]) -> APIRouter:
    """GET /api/studies/NAME/view; 304 for a tag that still holds."""
    router, views = APIRouter(dependencies=[Depends(observer)]), Views()

    @router.get("/api/studies/{name:path}/view")
    def view(name: str, request: Request) -> Response:
        """All that a page about a study shows: design, arms with regions, pulls, why, and the evidence over time."""
        tag, body = views.of(studies(name))
        headers = {"ETag": tag, "Cache-Control": "no-store"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type="application/json", headers=headers)

    return router
