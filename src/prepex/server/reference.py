"""The interface described for people, from /openapi.json; nothing is loaded from elsewhere."""

from pathlib import Path

from fastapi import APIRouter, Response

HERE = Path(__file__).parent

router = APIRouter(include_in_schema=False)


@router.get("/docs")
def page() -> Response:
    """The page."""
    return Response((HERE / "docs.html").read_text(encoding="utf-8"), media_type="text/html")


@router.get("/docs.js")
def script() -> Response:
    """Its script."""
    return Response((HERE / "docs.js").read_text(encoding="utf-8"), media_type="text/javascript")
