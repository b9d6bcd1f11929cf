"""Threads for readers and threads for writers: those who wait for their turn to write never take a reader's thread."""

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

T = TypeVar("T")
THREADS = {"read": 24, "write": 40}
_LIMITERS: dict[str, anyio.lowlevel.RunVar[anyio.CapacityLimiter]] = {
    name: anyio.lowlevel.RunVar(f"prepex {name}") for name in THREADS
}


def lane(name: str) -> Callable[[Callable[..., T]], Callable[..., Awaitable[T]]]:
    """An endpoint whose function runs in a thread of this lane."""

    def wrap(function: Callable[..., T]) -> Callable[..., Awaitable[T]]:
        async def endpoint(**given: Any) -> T:
            return await in_lane(name, functools.partial(function, **given))

        functools.update_wrapper(endpoint, function)
        # The framework must see the arguments of the function, but not that it is none to await.
        endpoint.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        del endpoint.__wrapped__  # type: ignore[attr-defined]
        return endpoint

    return wrap


async def in_lane(name: str, function: Callable[[], T]) -> T:
    """Run it in a thread of this lane, when one is free."""
    try:
        limiter = _LIMITERS[name].get()
    except LookupError:
        limiter = anyio.CapacityLimiter(THREADS[name])
        _LIMITERS[name].set(limiter)
    return await anyio.to_thread.run_sync(function, limiter=limiter)


reader, writer = lane("read"), lane("write")
