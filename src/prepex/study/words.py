"""Words and times that go into the log."""

from datetime import UTC, datetime, timedelta


def now() -> str:
    """The time, as the log writes it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def later(time: str, seconds: float) -> str:
    """A time so many seconds later.

    >>> later("2030-01-01T00:00:00.000000+00:00", 90)
    '2030-01-01T00:01:30.000000+00:00'
    """
    return (datetime.fromisoformat(time) + timedelta(seconds=seconds)).isoformat(timespec="microseconds")


def check_actor(actor: str) -> str:
    """Who does something; nobody is allowed."""
    if not isinstance(actor, str) or len(actor) > 200 or not (actor.isprintable() or actor == ""):
        raise ValueError(f"actor must be at most 200 printable characters, got {actor!r}")
    return actor


def check_reason(reason: str) -> str:
    """Why; line breaks are allowed, other control characters would end up in somebody's terminal."""
    if not isinstance(reason, str) or not reason.strip() or len(reason) > 2000:
        raise ValueError(f"reason must be 1 to 2000 characters, got {reason!r}")
    if not all(letter.isprintable() or letter in "\n\t" for letter in reason):
        raise ValueError(f"reason must be printable characters, tabs and line breaks, got {reason!r}")
    return reason
