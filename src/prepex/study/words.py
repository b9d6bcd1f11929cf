"""Words and times that go into the log."""

from datetime import UTC, datetime, timedelta

from prepex.errors import InputError, shown

# A clock that moves by more than this between two events is not believed at once.
DAY = 86_400.0


def as_time(seconds: float) -> str:
    """Seconds since 1970, as the log writes a time.

    >>> as_time(0.5)
    '1970-01-01T00:00:00.500000+00:00'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")


def later(time: str, seconds: float) -> str:
    """A time so many seconds later.

    >>> later("2030-01-01T00:00:00.000000+00:00", 90)
    '2030-01-01T00:01:30.000000+00:00'
    """
    return (datetime.fromisoformat(time) + timedelta(seconds=seconds)).isoformat(timespec="microseconds")


def apart(time: str, before: str) -> float:
    """Seconds from `before` to `time`.

    >>> apart("2030-01-01T00:01:30.000000+00:00", "2030-01-01T00:00:00.000000+00:00")
    90.0
    """
    return (datetime.fromisoformat(time) - datetime.fromisoformat(before)).total_seconds()


def moment(time: str) -> int:
    """In microseconds since 1970.

    >>> moment("1970-01-01T00:00:00.500000+00:00")
    500000
    """
    return (datetime.fromisoformat(time) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def check_key(key: str | None) -> str | None:
    """A caller's name for one request."""
    if key is None:
        return None
    if not isinstance(key, str) or not 1 <= len(key) <= 200 or not key.isprintable():
        raise InputError(f"key must be 1 to 200 printable characters, got {key!r}")
    return key


def check_actor(actor: str) -> str:
    """Who does something; nobody is allowed."""
    if not isinstance(actor, str) or len(actor) > 200 or not (actor.isprintable() or actor == ""):
        raise InputError(f"actor must be at most 200 printable characters, got {shown(actor)}")
    return actor


def check_reason(reason: str) -> str:
    """Why; line breaks are allowed, other control characters would end up in somebody's terminal."""
    if not isinstance(reason, str) or not reason.strip() or len(reason) > 2000:
        raise InputError(f"reason must be 1 to 2000 characters, got {shown(reason)}")
    if not all(letter.isprintable() or letter in "\n\t" for letter in reason):
        raise InputError(f"reason must be printable characters, tabs and line breaks, got {shown(reason)}")
    return reason
