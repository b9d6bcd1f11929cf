"""Bodies of requests, read strictly: a name that is there twice is refused, not decided by its place."""

import json
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        name, times = Counter(name for name, _ in pairs).most_common(1)[0]
        raise HTTPException(422, f"body must have every name once, got {name[:100]!r} {times} times")
    return found


class StrictRequest(Request):
    """`json` refuses repeated names."""

    async def json(self) -> Any:
        """The body."""
        return json.loads(await self.body(), object_pairs_hook=_unique)


class StrictRoute(APIRoute):
    """Reads its requests strictly."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        """As usual, with a StrictRequest."""
        handler = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            return await handler(StrictRequest(request.scope, request.receive))

        return strictly
