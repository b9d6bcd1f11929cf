"""Events, their canonical text, and the chain of hashes.

hash_n = SHA-256 of the canonical JSON of event n, which names hash_{n-1}. A changed byte anywhere changes every later
hash, and the last one is in the certificate.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any, NamedTuple

from prepex.errors import InputError

KINDS = ("config", "asked", "told", "corrected", "voided", "expired", "imported", "extended")
# What comes before the first event.
GENESIS = "0" * 64
FIELDS = frozenset(("position", "previous", "kind", "time", "actor", "version", "pull", "data"))


class Event(NamedTuple):
    """One line of the log.

    position   0, 1, 2, ...; `previous`: hash of the event before
    pull       the position at which the pull it is about was asked for or imported; None if it is about none
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
        return self._written("")

    @property
    def line(self) -> str:
        """As exported: canonical JSON with the hash."""
        return self._written(f'"hash":{_quoted(self.hash)},')

    def _written(self, own_hash: str) -> str:
        """`canonical`, spelled out, as most of an event is plain: a million of them are written and checked."""
        return (
            f'{{"actor":{_quoted(self.actor)},"data":{canonical(self.data)},{own_hash}"kind":{_quoted(self.kind)},'
            f'"position":{self.position},"previous":{_quoted(self.previous)},'
            f'"pull":{"null" if self.pull is None else self.pull},"time":{_quoted(self.time)},'
            f'"version":{_quoted(self.version)}}}'
        )


# A million events are written with it: made once.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical(document: Any) -> str:
    """JSON in one way only: sorted keys, no spaces, ASCII, shortest digits that give the number back.

    >>> canonical({"b": 0.1, "a": [1, None]})
    '{"a":[1,null],"b":0.1}'
    """
    return _ENCODER.encode(document)


def digest(text: str) -> str:
    """SHA-256, hexadecimal."""
    return hashlib.sha256(text.encode("ascii")).hexdigest()


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
    return seal_text(position, previous, kind, time=time, actor=actor, version=version, pull=pull, data=data)[0]


def seal_text(
    position: int,
    previous: str,
    kind: str,
    *,
    time: str,
    actor: str,
    version: str,
    pull: int | None,
    data: Mapping[str, Any],
) -> tuple[Event, str]:
    """The event with its hash, and its text."""
    text = Event(position, previous, kind, time, actor, version, pull, data, "").text
    return Event(position, previous, kind, time, actor, version, pull, data, digest(text)), text


@contextmanager
def trusted() -> Iterator[None]:
    """Events are looked into before their hashes: what only damaged ones can cause, in one clear line."""
    try:
        yield
    except InputError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, AssertionError) as error:
        raise InputError(f"log must be as it was written, got a damaged one: verify it ({error!r})") from None


def read(text: str, own_hash: str) -> Event:
    """The event that `text` says, with the hash that was kept beside it. `linked` checks the two."""
    try:
        given = json.loads(text)
        if given.keys() != FIELDS:
            raise InputError("not the fields of an event")
        return Event(**given, hash=own_hash)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"event must be as it was written, got a damaged one: {error}") from None


# The text of almost every event: strings without escapes, which are their own JSON, around the data.
_PLAIN = r"[ !#-\[\]-~]*"
_WHOLE = r"0|[1-9][0-9]{0,17}"
_FORM = re.compile(
    rf'\{{"actor":"({_PLAIN})","data":(\{{.*\}}),"kind":"({_PLAIN})","position":({_WHOLE}),"previous":"({_PLAIN})",'
    rf'"pull":(null|{_WHOLE}),"time":"({_PLAIN})","version":"({_PLAIN})"\}}'
)


def read_many(texts: Sequence[str], hashes: Sequence[str], *, exact: bool = False) -> list[Event] | None:
    """As `read`, of many at once in a third of the time; None if one of them must be read by itself, or is damaged.

    exact   each text is the canonical one as well: `event.text == text`

    >>> first = seal(0, GENESIS, "config", time="", actor="", version="1", pull=None, data={"a": 0.1})
    >>> read_many([first.text], [first.hash], exact=True) == [first]
    True
    >>> read_many([first.text.replace("0.1", "0.10")], [first.hash], exact=True) is None
    True
    """
    forms = [_FORM.fullmatch(text) for text in texts]
    if None in forms:
        return None
    parts = [form.groups() for form in forms if form is not None]
    # All data as one document. Between two of them stands a number that nobody could know when they were written: if it
    # is there again, none of them reaches into the next.
    mark = secrets.randbits(62)
    joined = "[" + f",{mark},".join([part[1] for part in parts]) + "]"
    try:
        found = json.loads(joined)
        if exact and canonical(found) != joined:
            return None
    except (ValueError, RecursionError):
        return None
    if found[1::2] != [mark] * (len(texts) - 1):
        return None
    new = tuple.__new__  # without the detour through keywords
    return [
        new(Event, (int(at), previous, kind, time, actor, by, None if pull == "null" else int(pull), data, own))
        for (actor, _, kind, at, previous, pull, time, by), data, own in zip(parts, found[::2], hashes, strict=True)
    ]


def read_all(texts: Sequence[str], hashes: Sequence[str]) -> Iterable[Event]:
    """As `read`, of all."""
    found = read_many(texts, hashes)
    return map(read, texts, hashes) if found is None else found


def read_line(line: str) -> Event:
    """An exported line."""
    try:
        given = json.loads(line)
        if given.keys() != FIELDS | {"hash"}:
            raise InputError("not the fields of an event")
        event = Event(**given)
        if event.line != line:
            raise InputError("not the canonical text of an event")
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"event must be as it was written, got a damaged one: {error}") from None
    return event


def linked(events: Iterable[Event]) -> Iterator[Event]:
    """The same events, each checked against its hash and the one before it.

    >>> first = seal(0, GENESIS, "config", time="", actor="", version="1", pull=None, data={})
    >>> len(list(linked([first])))
    1
    """
    for event in chained(events):
        if digest(event.text) != event.hash:
            raise InputError(f"event {event.position} must have the hash {digest(event.text)}, got {event.hash}")
        yield event


def chained(events: Iterable[Event]) -> Iterator[Event]:
    """The same events, each checked against the one before it; their own hashes are taken as they are."""
    previous, position = GENESIS, 0
    for event in events:
        if event.position != position:
            raise InputError(f"log must have event {position} next, got event {event.position}")
        if event.kind not in KINDS:
            raise InputError(f"event {position} must be one of {', '.join(KINDS)}, got {event.kind!r}")
        if event.previous != previous:
            raise InputError(f"event {position} must follow the hash {previous}, got {event.previous}")
        previous, position = event.hash, position + 1
        yield event
