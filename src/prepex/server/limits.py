"""Limits on the rate, the number and the size of requests."""

import asyncio
import ipaddress
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

# Requesters that are remembered.
CLIENTS = 10_000


@dataclass(frozen=True)
class Limits:
    """What one requester may do.

    rate, burst   requests in a second, and at once
    busy          requests under way; fewer than the server has threads, so that nobody takes them all
    streams       pages that wait for news;  all_busy, all_streams: the same of all requesters together
    largest       bytes of a body;  patience: seconds in which it must arrive
    """

    rate: float = 50.0
    burst: float = 200.0
    busy: int = 32
    streams: int = 12
    all_busy: int = 200
    all_streams: int = 150
    largest: int = 64 * 1024
    patience: float = 20.0


class Buckets:
    """A bucket for each requester, which fills at `rate` up to `burst`.

    >>> buckets = Buckets(Limits(rate=1e-6, burst=2.0))
    >>> [buckets.take("ada") for _ in range(3)]
    [True, True, False]
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._level: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._busy: Counter[str] = Counter()

    def take(self, who: str) -> bool:
        """One request, if the bucket has one."""
        now = time.monotonic()
        left, before = self._level.pop(who, (self.limits.burst, now))
        left = min(self.limits.burst, left + (now - before) * self.limits.rate)
        self._level[who] = (left - 1.0 if left >= 1.0 else left, now)
        while len(self._level) > CLIENTS:
            self._level.popitem(last=False)
        return left >= 1.0

    @contextmanager
    def turn(self, who: str, *, stream: bool = False) -> Iterator[tuple[int, str] | None]:
        """None, while a request is under way; or (status, words) if too many are."""
        kind = "stream" if stream else "request"
        most, most_of_all = (
            (self.limits.streams, self.limits.all_streams) if stream else (self.limits.busy, self.limits.all_busy)
        )
        own, all_of_them = f"{kind} {who}", f"all {kind}s"
        if self._busy[own] >= most:
            yield 429, "too many requests"
            return
        if self._busy[all_of_them] >= most_of_all:
            yield 503, "the server is busy"
            return
        for each in (own, all_of_them):
            self._busy[each] += 1
        try:
            yield None
        finally:
            for each in (own, all_of_them):
                self._busy[each] -= 1
                if not self._busy[each]:
                    del self._busy[each]


def requester(holder: str | None, address: str) -> str:
    """The holder of a token, else the address: the network of 64 bits that one machine commands, in IPv6.

    >>> requester("ada", "192.0.2.1"), requester(None, "192.0.2.1"), requester(None, "2001:db8::1:2")
    ('holder ada', 'address 192.0.2.1', 'address 2001:db8::/64')
    """
    if holder is not None:
        return f"holder {holder}"
    try:
        if ipaddress.ip_address(address).version == 6:
            address = str(ipaddress.ip_network(f"{address}/64", strict=False))
    except ValueError:
        pass
    return f"address {address}"


class TooLargeError(Exception):
    """A body of too many bytes."""


class GoneError(Exception):
    """The client left before its body had arrived."""


async def read_body(receive: Receive, limits: Limits) -> bytes:
    """The whole body, whatever its header says; TimeoutError if it takes too long."""
    parts, size, more = [], 0, True
    async with asyncio.timeout(limits.patience):
        while more:
            message = await receive()
            if message["type"] != "http.request":
                raise GoneError
            more = message.get("more_body", False)
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > limits.largest:
                raise TooLargeError
    return b"".join(parts)
