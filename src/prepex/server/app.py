"""The endpoints and the dashboard."""

import ipaddress
import os
import threading
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

from prepex import __version__
from prepex.server.access import Holder, Keys
from prepex.server.limits import Limits
from prepex.study.study import Study

try:
    from fastapi import Depends, FastAPI, HTTPException, Request, Response
    from fastapi.responses import JSONResponse
    from pydantic import BaseModel, Field
except ImportError:
    raise ImportError("the server needs an extra: pip install 'prepex[server]'") from None

from prepex.server import pages
from prepex.server.view import view_router

# Nothing from elsewhere is loaded, so the dashboard works offline and leaks nothing.
POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; frame-ancestors 'none'"

Text = Annotated[str, Field(min_length=1, max_length=2000)]
Token = Annotated[str, Field(min_length=1, max_length=64)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Outcome = dict[str, Number] | list[Number]


class Ask(BaseModel):
    """How many pulls."""

    n: int = Field(1, ge=1, le=1000)


class Tell(BaseModel):
    """What came of a pull."""

    token: Token
    outcome: Outcome


class Correct(Tell):
    """What should have been told, and why."""

    reason: Text


class Void(BaseModel):
    """A pull that does not count, and why."""

    token: Token
    reason: Text


class Studies:
    """The studies of a storage, each opened once."""

    def __init__(self, storage: str | os.PathLike[str]) -> None:
        self.storage = storage
        self._open: dict[str, Study] = {}
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> Study:
        with self._lock:
            if name not in self._open:
                try:
                    self._open[name] = Study.open(self.storage, name)
                except ValueError as error:
                    raise HTTPException(404, str(error)) from None
            return self._open[name]


def needs(role: str) -> Callable[[Request], Holder]:
    """Who asks, if the role is enough."""

    def check(request: Request) -> Holder:
        keys: Keys | None = request.app.state.keys
        if keys is None:
            return Holder("local", "owner", "")
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        holder = keys.find(token) if kind.lower() == "bearer" and token else None
        if holder is None:
            raise HTTPException(401, "a bearer token is needed", headers={"WWW-Authenticate": "Bearer"})
        if not holder.may(role):
            raise HTTPException(403, f"this needs the role {role}, got {holder.role}")
        return holder

    return check


Observer = Annotated[Holder, Depends(needs("observer"))]
Worker = Annotated[Holder, Depends(needs("worker"))]
Owner = Annotated[Holder, Depends(needs("owner"))]


def make_app(storage: str | os.PathLike[str], keys: Keys | None = None, **limits: Any) -> FastAPI:
    """The server of a storage. Without keys everyone may do everything: for this machine alone."""
    app = FastAPI(title="prepex", version=__version__, docs_url=None, redoc_url=None)
    app.state.keys = keys
    studies = Studies(storage)
    _add_errors(app)
    app.include_router(pages.router)
    app.include_router(view_router(studies.__getitem__, needs("observer")))

    @app.get("/api/studies")
    def list_studies(_: Observer) -> list[dict[str, Any]]:
        """All studies."""
        return [asdict(entry) for entry in Study.list(storage)]

    @app.get("/api/studies/{name:path}/status")
    def status(name: str, _: Observer) -> dict[str, Any]:
        """How a study stands."""
        found = studies[name].status()
        return asdict(found) | {"done": found.done}

    @app.get("/api/studies/{name:path}/why")
    def why(name: str, _: Observer) -> dict[str, str]:
        """Why it has not stopped yet, or what it answered, in words."""
        return {"why": studies[name].why()}

    @app.get("/api/studies/{name:path}/certificate")
    def certificate(name: str, _: Observer) -> dict[str, Any]:
        """The answer with all that it rests on."""
        return studies[name].certificate()

    @app.post("/api/studies/{name:path}/ask")
    def ask(name: str, body: Ask, who: Worker) -> list[dict[str, Any]]:
        """The next pulls; none when there is nothing to hand out."""
        return [asdict(ticket) for ticket in studies[name].ask(body.n, actor=who.name)]

    @app.post("/api/studies/{name:path}/tell")
    def tell(name: str, body: Tell, who: Worker) -> dict[str, Any]:
        """What came of a pull; the same twice is once."""
        return asdict(studies[name].tell(body.token, body.outcome, actor=who.name))

    @app.post("/api/studies/{name:path}/correct")
    def correct(name: str, body: Correct, who: Owner) -> dict[str, str]:
        """Replace what was told."""
        studies[name].correct(body.token, body.outcome, reason=body.reason, actor=who.name)
        return {"token": body.token}

    @app.post("/api/studies/{name:path}/void")
    def void(name: str, body: Void, who: Owner) -> dict[str, str]:
        """A pull that does not count."""
        studies[name].void(body.token, reason=body.reason, actor=who.name)
        return {"token": body.token}

    app.add_middleware(Limits, **limits)
    return app


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(ValueError)
    def refused(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, 400)

    @app.exception_handler(OSError)
    def unavailable(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": "the storage cannot be used at the moment"}, 503)

    @app.middleware("http")
    async def same_site(request: Request, call_next: Any) -> Response:
        """Other web sites must not speak through a visitor's browser to a server on the visitor's machine."""
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        local = request.app.state.keys is not None or is_loopback(_without_port(host))
        if not local or (origin is not None and origin.partition("://")[2] != host):
            return JSONResponse({"detail": "requests must come from this server's own pages"}, 403)
        response: Response = await call_next(request)
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response


def is_loopback(host: str) -> bool:
    """Is it this machine?

    >>> is_loopback("127.0.0.1"), is_loopback("[::1]"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


def serve(storage: str, *, host: str, port: int, keys: Keys | None) -> None:
    """Run until interrupted."""
    if keys is not None and not keys.holders():
        raise ValueError(f"keys must hold at least one token, got none in {str(keys.path)!r}: see `prepex token`")
    if keys is None and not is_loopback(host):
        raise ValueError(f"host must be this machine where there are no tokens, got {host!r}: give --keys")
    import uvicorn

    Study.list(storage)
    uvicorn.run(make_app(storage, keys), host=host, port=port, log_level="warning")
