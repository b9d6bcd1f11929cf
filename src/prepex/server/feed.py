"""Which studies have changed, pushed to the pages that are open (server-sent events).

One look at the heads of all logs serves every page: it is taken by whichever page is due, while there are any.

Legend
    version   counts the looks that found something
    changed   the version in which a study last changed
"""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable

from sqlalchemy.exc import SQLAlchemyError

from prepex.server.lanes import in_lane
from prepex.study.storage import Storage

# Seconds between two looks at the storage; at what is known; and between two signs of life.
LOOK, TICK, PING = 0.5, 0.1, 10.0
# Seconds after which a page must ask again, so that nothing lives forever.
LONGEST = 600.0


class Feed:
    """The heads of all studies, as of the last look."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.version = 0
        self.changed: dict[str, int] = {}
        self.ended = False
        self.longest = LONGEST
        self._heads: dict[str, str] | None = None
        self._looked = -LOOK
        self._lock = threading.Lock()

    def end(self) -> None:
        """The server ends: so do all pages' connections."""
        self.ended = True

    def due(self) -> bool:
        """Is it time for a look, which nobody takes at the moment?"""
        return not self._lock.locked() and time.monotonic() - self._looked >= LOOK

    def look(self) -> None:
        """Look at the storage; one at a time."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            heads, before = self.storage.heads(), self._heads
            if before is not None:
                moved = {name for name in heads.keys() | before.keys() if heads.get(name) != before.get(name)}
                if moved:
                    self.changed |= dict.fromkeys(moved, self.version + 1)
                    self.version += 1
            self._heads = heads
        except (OSError, SQLAlchemyError, ValueError):
            # Whoever asks for a study is told; here the next look may find it again.
            pass
        finally:
            self._looked = time.monotonic()
            self._lock.release()

    async def follow(self, sees: Callable[[str], bool], holds: Callable[[], bool]) -> AsyncIterator[bytes]:
        """Names of studies that `sees` allows, whenever they change, as long as `holds` says so."""
        await in_lane("read", self.look)
        seen, start = self.version, time.monotonic()
        # To begin with, all may have changed.
        yield b"data: null\n\n"
        sent = start
        while not self.ended and time.monotonic() - start < self.longest and holds():
            if self.due():
                await in_lane("read", self.look)
            now, before, seen = time.monotonic(), seen, self.version
            names = [name for name, version in self.changed.items() if version > before and sees(name)]
            if names:
                yield f"data: {json.dumps(names)}\n\n".encode()
                sent = now
            elif now - sent > PING:
                yield b": still here\n\n"
                sent = now
            await asyncio.sleep(TICK)
