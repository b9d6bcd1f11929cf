"""The files of the dashboard. Nothing comes from elsewhere, so it works without the internet."""

import gzip
from functools import cache
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request, Response

FOLDER = Path(__file__).parent / "static"
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

router = APIRouter(include_in_schema=False)


@router.get("/")
def page() -> Response:
    """The page."""
    return file("page.html")


@router.get("/static/{name}")
def file(name: str) -> Response:
    """One file of the folder; asked for again each time, so that an upgrade is seen at once."""
    found = FOLDER / name
    if found.suffix not in KINDS or found.parent != FOLDER or not found.is_file():
        raise HTTPException(404, f"there is no file {name!r}")
    return Response(found.read_bytes(), media_type=KINDS[found.suffix], headers={"Cache-Control": "no-cache"})


@router.get("/plotly.js")
def plotly(request: Request) -> Response:
    """The plotting library, compressed if the browser takes it."""
    headers = {"Cache-Control": "max-age=86400", "Vary": "Accept-Encoding"}
    small = "gzip" in request.headers.get("accept-encoding", "")
    if small:
        headers["Content-Encoding"] = "gzip"
    return Response(_plotly(small), media_type="text/javascript", headers=headers)


@cache
def _plotly(small: bool) -> bytes:
    from plotly.offline import get_plotlyjs

    text: bytes = get_plotlyjs().encode()
    return gzip.compress(text, 6) if small else text
