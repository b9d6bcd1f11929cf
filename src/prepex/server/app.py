"""The server: the interface, the dashboard, and the gate before both."""

import asyncio
import os
import socket
import sys
import threading
from typing import Any

from prepex import __version__
from prepex.extras import missing
from prepex.server.access import Keys
from prepex.study.storage import Storage

try:
    from fastapi import FastAPI
    from fastapi.routing import APIRoute
except ImportError:
    raise missing("server", "the server needs") from None

from prepex.errors import InputError
from prepex.server import pages, reference
from prepex.server.api import make_router
from prepex.server.crew import Crew, Inline, Runner, default_workers
from prepex.server.errors import add_errors
from prepex.server.feed import Feed
from prepex.server.gate import Gate
from prepex.server.guard import is_loopback
from prepex.server.limits import Limits
from prepex.server.studies import Studies
from prepex.server.view import view_router

# Seconds that a write waits for its turn, and after which a computation is stopped.
PATIENCE, LIMIT = 5.0, 60.0
# Seconds for requests under way after a signal to end, until what they compute is stopped; and until all ends anyway.
GRACE, END = 2, 4.5


def make_app(
    storage: str | os.PathLike[str], keys: Keys | None = None, *, workers: int = 0, limit: float = LIMIT, **limits: Any
) -> FastAPI:
    """The server of a storage. Without keys everyone may do everything: for this machine alone. See `Limits`.

    workers   processes that compute; 0: this one, where nothing can be stopped
    limit     seconds after which they are stopped
    """
    app = FastAPI(
        title="prepex",
        version=__version__,
        description="Live studies: which options are Pareto optimal, from noisy outcomes.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=_name,
    )
    place = Storage(storage, create=True, patience=PATIENCE, follow=True)
    runner: Runner = Crew(place, workers=workers, limit=limit) if workers else Inline(place)
    studies, feed = Studies(place, runner), Feed(place)
    app.state.runner, app.state.feed = runner, feed
    add_errors(app)
    app.include_router(pages.router)
    app.include_router(reference.router)
    app.include_router(make_router(studies, feed))
    app.include_router(view_router(studies))
    app.add_middleware(Gate, keys=keys, limits=Limits(**limits))
    return app


def _name(route: APIRoute) -> str:
    return route.name


def serve(storage: str, *, host: str, port: int, keys: Keys | None) -> None:
    """Run until interrupted."""
    if keys is not None and not keys.holders():
        raise InputError(f"keys must hold at least one token, got none in {str(keys.path)!r}: see `prepex token`")
    if keys is not None:
        keys.check_private()
    if keys is None and not is_loopback(host):
        raise InputError(f"host must be this machine where there are no tokens, got {host!r}: give --keys")
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            free.bind((host, port))
        except OSError as error:
            raise InputError(f"port must be free at {host}, got {port}: {error.strerror or error}") from None
    print(f"http://{f'[{host}]' if ':' in host else host}:{port}/", file=sys.stderr, flush=True)
    app = make_app(storage, keys, workers=default_workers())
    app.state.runner.start()
    make_server(app, host=host, port=port).run()


def make_server(app: FastAPI, *, host: str, port: int) -> Any:
    """A uvicorn server, not running yet. It ends soon after a signal, whatever is under way: the log has the rest."""
    import uvicorn

    from prepex.server.wire import Wire

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: Any) -> None:
            last = threading.Timer(END, _leave, (app, sig))
            last.daemon = True
            last.start()
            super().handle_exit(sig, frame)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            app.state.feed.end()
            stop = asyncio.get_running_loop().call_later(GRACE, app.state.runner.close)
            await super().shutdown(sockets)
            stop.cancel()
            app.state.runner.close()

    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        http=Wire,
        ws="none",
        # A header that anyone can write says nothing about who asks.
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=GRACE + 1,
    )
    return Server(config)


def _leave(app: FastAPI, sig: int) -> None:
    """Something does not end by itself, such as a database that does not answer."""
    app.state.runner.close()
    os._exit(128 + sig)
