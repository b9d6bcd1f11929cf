"""Connections: those that say nothing, half of something, or do not read, are dropped; none keeps the others out."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

# Connections at once. For one more, the one that has waited longest without a request in full has to go.
MOST = 400
# Seconds in which the headers of a request must arrive, and in which some of an answer must be read.
HEADERS, STALLED = 10.0, 30.0


class Wire(H11Protocol):
    """Uvicorn's connection, with limits of time and number."""

    headers_within, stalled_within, most = HEADERS, STALLED, MOST
    _timer: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None
    _since = 0.0

    @property
    def waits(self) -> bool:
        """For a request, or for the rest of its headers."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: Any) -> None:
        """Make room, and wait for a request, not forever."""
        if len(self.connections) >= self.most:
            idle = [other for other in self.connections if isinstance(other, Wire) and other.waits]
            if idle:
                min(idle, key=lambda other: other._since).drop()
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """No timer stays behind."""
        self._rest()
        self.resume_writing()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """A request in full ends the wait; its body has a limit of its own (limits.py)."""
        super().handle_events()
        if not self.waits:
            self._rest()

    def on_response_complete(self) -> None:
        """Wait for the next one."""
        super().on_response_complete()
        if self.waits and not self.transport.is_closing():
            self._expect()

    def pause_writing(self) -> None:
        """The other side does not read."""
        super().pause_writing()
        if self._stall is None:
            self._stall = self.loop.call_later(self.stalled_within, self.transport.abort)

    def resume_writing(self) -> None:
        """It reads again."""
        super().resume_writing()
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def drop(self) -> None:
        """End it, now."""
        self.connections.discard(self)
        self.transport.abort()

    def _expect(self) -> None:
        self._rest()
        self._since = self.loop.time()
        self._timer = self.loop.call_later(self.headers_within, self._late)

    def _rest(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        if self.waits:
            self.drop()
