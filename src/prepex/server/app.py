"""The server: the interface, the dashboard, and the gate before both."""

import os
import socket
import sys
from typing import Any

from prepex import __version__
from prepex.server.access import Keys
from prepex.study.storage import Storage

try:
    from fastapi import FastAPI
    from fastapi.routing import APIRoute
except ImportError:
    raise ImportError("the server needs an extra: pip install 'prepex[server]'") from None

from prepex.server import pages, reference
from prepex.server.api import make_router
from prepex.server.errors import add_errors
from prepex.server.gate import Gate
from prepex.server.guard import is_loopback
from prepex.server.limits import Limits
from prepex.server.studies import Studies
from prepex.server.view import view_router

# Connections at once, with slow ones; more are refused.
CONNECTIONS = 500


def make_app(storage: str | os.PathLike[str], keys: Keys | None = None, **limits: Any) -> FastAPI:
    """The server of a storage. Without keys everyone may do everything: for this machine alone. See `Limits`."""
    app = FastAPI(
        title="prepex",
        version=__version__,
        description="Live studies: which options are Pareto optimal, from noisy outcomes.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=_name,
    )
    studies = Studies(Storage(storage, create=True))
    add_errors(app)
    app.include_router(pages.router)
    app.include_router(reference.router)
    app.include_router(make_router(studies))
    app.include_router(view_router(studies))
    app.add_middleware(Gate, keys=keys, limits=Limits(**limits))
    return app


def _name(route: APIRoute) -> str:
    return route.name


def serve(storage: str, *, host: str, port: int, keys: Keys | None) -> None:
    """Run until interrupted."""
    if keys is not None and not keys.holders():
        raise ValueError(f"keys must hold at least one token, got none in {str(keys.path)!r}: see `prepex token`")
    if keys is not None:
        keys.check_private()
    if keys is None and not is_loopback(host):
        raise ValueError(f"host must be this machine where there are no tokens, got {host!r}: give --keys")
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            free.bind((host, port))
        except OSError as error:
            raise ValueError(f"port must be free at {host}, got {port}: {error.strerror or error}") from None
    print(f"http://{f'[{host}]' if ':' in host else host}:{port}/", file=sys.stderr, flush=True)
    make_server(make_app(storage, keys), host=host, port=port).run()


def make_server(app: FastAPI, *, host: str, port: int) -> Any:
    """A uvicorn server, not running yet."""
    import uvicorn

    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        # A header that anyone can write says nothing about who asks.
        proxy_headers=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=10,
    )
    return uvicorn.Server(config)
