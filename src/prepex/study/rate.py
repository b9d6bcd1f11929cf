"""How fast outcomes come in."""

from prepex.study.log import Log
from prepex.study.words import DAY, apart

# Events at the end of the log that are looked at, and outcomes below which there is no rate.
RECENT, LEAST = 300, 3


def recent_rate(log: Log) -> float | None:
    """Outcomes a day, from those told lately; None: too few, or all at once."""
    last: dict[int | None, str] = {}
    for event in log.since(max(log.position - RECENT, -1)):
        if event.kind == "told":
            # An outcome may be told in parts: it comes in with the last.
            last[event.pull] = event.time
    times = sorted(last.values())
    if len(times) < LEAST:
        return None
    span = apart(times[-1], times[0])
    return (len(times) - 1) * DAY / span if span > 0.0 else None
