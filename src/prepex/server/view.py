"""What the dashboard draws, in one request."""

from fastapi import APIRouter, Request, Response, Security

from prepex.server.api import BEARER, STALE
from prepex.server.errors import problems
from prepex.server.lanes import reader
from prepex.server.studies import Observer, Studies


def view_router(studies: Studies) -> APIRouter:
    """GET /api/studies/NAME/view; 304 for a tag that still holds."""
    router = APIRouter(dependencies=[Security(BEARER)])

    @router.get("/api/studies/{name:path}/view", responses=problems(400, 404))
    @reader
    def view(name: str, who: Observer, request: Request) -> Response:
        """All that a page about a study shows: design, arms with regions, pulls, why, and the evidence over time."""
        found, fresh = studies[name].view()
        body, tag = (found.whole, f'"{found.head}"') if who.may("worker") else (found.masked, f'"{found.head}-masked"')
        headers = {"ETag": tag, "Cache-Control": "no-store"} | ({} if fresh else STALE)
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type="application/json", headers=headers)

    return router
