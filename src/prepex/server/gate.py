"""The gate: what a request must pass before anything else looks at it."""

import json
import logging
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders

from prepex.server.access import Holder, Keys
from prepex.server.guard import HEADERS, is_foreign
from prepex.server.limits import Buckets, GoneError, Limits, Message, Receive, Send, TooLargeError, read_body, requester

LOGGER = logging.getLogger(__name__)
LOCAL = Holder("local", "owner", "")
# What the dashboard sends with its requests, and where it waits for news.
PAGE, STREAM = "x-prepex-page", "/api/changes"


class Gate:
    """An ASGI layer: where a request comes from, whose token it has, how many there are, and how large it is.

    The holder is in `request.state.holder` from then on. Without keys everyone is the owner.
    """

    def __init__(self, app: Any, keys: Keys | None, limits: Limits) -> None:
        self.app, self.keys, self.limits = app, keys, limits
        self._buckets = Buckets(self.limits)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass on what is within the limits."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers, api = Headers(scope=scope), scope["path"].startswith("/api/")
        send = _with_headers(send, private=api)
        if is_foreign(headers, api=api, tokens=self.keys is not None):
            await _refuse(send, 403, "requests must come from this server's own pages")
            return
        try:
            holder = self._holder(headers)
        except (OSError, ValueError):
            await _refuse(send, 503, "the tokens cannot be read at the moment", {"Retry-After": "5"})
            return
        local = self.keys is None or holder is None
        who = requester(None if local or holder is None else holder.name, (scope.get("client") or ("",))[0])
        if not api or (PAGE in headers and scope["method"] == "GET"):
            # What a page reads is counted apart, so that a script of the same person does not blind it.
            who = f"page of {who}"
        stream = scope["path"] == STREAM
        with self._buckets.turn(who, stream=stream) as refused:
            if refused is not None:
                await _refuse(send, *refused, {"Retry-After": "1"})
            elif not self._buckets.take(who):
                await _refuse(send, 429, "too many requests", {"Retry-After": "1"})
            elif api and holder is None:
                await _refuse(send, 401, "a bearer token is needed", {"WWW-Authenticate": "Bearer"})
            else:
                await self._pass(scope, receive, send, holder, headers)

    async def _pass(
        self, scope: MutableMapping[str, Any], receive: Receive, send: Send, holder: Holder | None, headers: Headers
    ) -> None:
        try:
            length = headers.get("content-length", "0")
            if not length.isdecimal() or len(length) > 20 or int(length) > self.limits.largest:
                raise TooLargeError
            body = await read_body(receive, self.limits)
        except TooLargeError:
            await _refuse(send, 413, f"a body must have at most {self.limits.largest} bytes", {"Connection": "close"})
            return
        except TimeoutError:
            await _refuse(send, 408, f"a body must arrive within {self.limits.patience:g} s", {"Connection": "close"})
            return
        except GoneError:
            return
        waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return waiting.pop() if waiting else await receive()

        state = scope.setdefault("state", {})
        state["holder"], state["holds"] = holder, lambda: self._holds(holder, headers)
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, replay, sending)
        except Exception:
            if started:
                raise
            LOGGER.exception("a bug of the server")
            await _refuse(send, 500, "something went wrong inside the server")

    def _holds(self, holder: Holder | None, headers: Headers) -> bool:
        """Does the token still belong to the same holder, with the same rights?"""
        try:
            return self._holder(headers) == holder
        except (OSError, ValueError):
            return False

    def _holder(self, headers: Headers) -> Holder | None:
        if self.keys is None:
            return LOCAL
        kind, _, token = headers.get("authorization", "").partition(" ")
        return self.keys.find(token.strip()) if kind.lower() == "bearer" and token.strip() else None


def _with_headers(send: Send, *, private: bool) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            if private:
                headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sending


async def _refuse(send: Send, status: int, words: str, headers: dict[str, str] | None = None) -> None:
    body = json.dumps({"detail": words}).encode()
    shown = {"Content-Type": "application/json", "Content-Length": str(len(body))} | (headers or {})
    raw = [(name.lower().encode(), value.encode()) for name, value in shown.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
