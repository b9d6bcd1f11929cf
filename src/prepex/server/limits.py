"""Limits on the size and the rate of requests, before anything else looks at them."""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

# Bytes of a body; requests of one client in a second, and in a burst; clients that are remembered.
LARGEST, RATE, BURST, CLIENTS = 64 * 1024, 50.0, 200.0, 10_000


class Limits:
    """An ASGI layer: 413 for a body that is too large, 429 for too many requests from one address."""

    def __init__(self, app: Any, rate: float = RATE, burst: float = BURST, largest: int = LARGEST) -> None:
        self.app, self.rate, self.burst, self.largest = app, rate, burst, largest
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass on what is within the limits."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif not self._take((scope.get("client") or ("",))[0]):
            await _refuse(send, 429, "too many requests")
        else:
            body = await self._body(receive)
            if body is None:
                await _refuse(send, 413, f"a body must have at most {self.largest} bytes")
                return
            waiting = [{"type": "http.request", "body": body, "more_body": False}]

            async def replay() -> Message:
                return waiting.pop() if waiting else await receive()

            await self.app(scope, replay, send)

    async def _body(self, receive: Receive) -> bytes | None:
        parts, size, more = [], 0, True
        while more:
            message = await receive()
            more = message["type"] == "http.request" and message.get("more_body", False)
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self.largest:
                return None
        return b"".join(parts)

    def _take(self, client: str) -> bool:
        """A bucket that fills at `rate` up to `burst`."""
        now = time.monotonic()
        left, before = self._buckets.pop(client, (self.burst, now))
        left = min(self.burst, left + (now - before) * self.rate)
        self._buckets[client] = (left - 1.0 if left >= 1.0 else left, now)
        while len(self._buckets) > CLIENTS:
            self._buckets.popitem(last=False)
        return left >= 1.0


async def _refuse(send: Send, status: int, words: str) -> None:
    headers = [(b"content-type", b"application/json"), (b"retry-after", b"1")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f'{{"detail":"{words}"}}'.encode()})
