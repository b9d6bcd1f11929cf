"""Events, their canonical text, and the chain of hashes.

hash_n = SHA-256 of the canonical JSON of event n, which names hash_{n-1}. A changed byte anywhere changes every later
hash, and the last one is in the certificate.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

KINDS = ("config", "asked", "told", "corrected", "voided", "expired", "imported")
# What comes before the first event.
GENESIS = "0" * 64
FIELDS = ("position", "previous", "kind", "time", "actor", "version", "pull", "data")


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the log.

    position   0, 1, 2, ...; `previous`: hash of the event before
    pull       the position at which the pull it is about was asked for or imported; None for the config
    data       what the kind needs: a token, an arm, an outcome, a reason
    """

    position: int
    previous: str
    kind: str
    time: str
    actor: str
    version: str
    pull: int | None
    data: Mapping[str, Any]
    hash: str

    @property
    def text(self) -> str:
        """What is hashed: canonical JSON of everything but the hash."""
        return canonical({name: getattr(self, name) for name in FIELDS})

    @property
    def line(self) -> str:
        """As exported: canonical JSON with the hash."""
        return canonical({name: getattr(self, name) for name in (*FIELDS, "hash")})


def canonical(document: Any) -> str:
    """JSON in one way only: sorted keys, no spaces, ASCII, shortest digits that give the number back.

    >>> canonical({"b": 0.1, "a": [1, None]})
    '{"a":[1,null],"b":0.1}'
    """
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(text: str) -> str:
    """SHA-256, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def seal(
    position: int,
    previous: str,
    kind: str,
    *,
    time: str,
    actor: str,
    version: str,
    pull: int | None,
    data: Mapping[str, Any],
) -> Event:
    """The event with its hash.

    >>> first = seal(0, GENESIS, "config", time="2030-01-01", actor="ada", version="1", pull=None, data={})
    >>> first.hash == digest(first.text)
    True
    """
    bare = Event(position, previous, kind, time, actor, version, pull, data, "")
    return Event(position, previous, kind, time, actor, version, pull, data, digest(bare.text))


def read(text: str, own_hash: str) -> Event:
    """The event that `text` says, with the hash that was kept beside it. `linked` checks the two."""
    try:
        given = json.loads(text)
        if sorted(given) != sorted(FIELDS):
            raise ValueError("not the fields of an event")
        return Event(**given, hash=own_hash)
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"event must be as it was written, got a damaged one: {error}") from None


def read_line(line: str) -> Event:
    """An exported line."""
    try:
        given = json.loads(line)
        if sorted(given) != sorted((*FIELDS, "hash")):
            raise ValueError("not the fields of an event")
        event = Event(**given)
        if event.line != line:
            raise ValueError("not the canonical text of an event")
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"event must be as it was written, got a damaged one: {error}") from None
    return event


def linked(events: Iterable[Event]) -> Iterator[Event]:
    """The same events, each checked against its hash and the one before it.

    >>> first = seal(0, GENESIS, "config", time="", actor="", version="1", pull=None, data={})
    >>> len(list(linked([first])))
    1
    """
    previous, position = GENESIS, 0
    for event in events:
        if event.position != position:
            raise ValueError(f"log must have event {position} next, got event {event.position}")
        if event.kind not in KINDS:
            raise ValueError(f"event {position} must be one of {', '.join(KINDS)}, got {event.kind!r}")
        if event.previous != previous:
            raise ValueError(f"event {position} must follow the hash {previous}, got {event.previous}")
        if digest(event.text) != event.hash:
            raise ValueError(f"event {position} must have the hash {digest(event.text)}, got {event.hash}")
        previous, position = event.hash, position + 1
        yield event
