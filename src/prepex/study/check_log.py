"""An exported log, for check.py: its hashes, and the outcomes in the order in which they count. Nothing but Python."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

Outcomes = list[tuple[int, list[float]]]
# (arm, means, how many outcomes): a summary, or one outcome.
Blocks = list[tuple[int, list[float], int]]


def canonical(document: Any) -> str:
    """JSON in one way only."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def read_log(lines: Iterable[str], problems: list[str]) -> list[dict[str, Any]]:
    """The events of an exported log, each checked against its hash and the one before it."""
    events, previous = list[dict[str, Any]](), "0" * 64
    for number, line in enumerate(lines):
        try:
            event = json.loads(line)
            exact = canonical(event) == line.removesuffix("\n") and line.endswith("\n")
            bare = canonical({name: value for name, value in event.items() if name != "hash"})
            good = exact and event["position"] == number and event["previous"] == previous
            if not good or hashlib.sha256(bare.encode()).hexdigest() != event["hash"]:
                raise ValueError("its hash or place is wrong")
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            problems.append(f"log, event {number}: damaged: {error}")
            break
        previous = event["hash"]
        events.append(event)
    return events


def list_outcomes(events: list[dict[str, Any]], objectives: list[str]) -> Outcomes:
    """(arm, outcome) in the order in which they enter; a summary of n outcomes is n times its mean."""
    return expand(list_blocks(events, objectives))


def expand(blocks: Blocks) -> Outcomes:
    """Single outcomes."""
    return [outcome for arm, values, n in blocks for outcome in [(arm, values)] * n]


def list_blocks(events: list[dict[str, Any]], objectives: list[str]) -> Blocks:
    """In the order in which they enter: that of the pulls, each waiting for those before it."""
    values, arm, size = dict[int, dict[str, float]](), dict[int, int](), dict[int, int]()
    queue, entered, ahead = list[int](), list[int](), 0
    lapsed, settled, void = set[int](), set[int](), set[int]()
    for event in events:
        kind, pull, data = event["kind"], event["pull"], event["data"]
        if kind == "config":
            continue
        if kind in ("asked", "imported"):
            arm[pull], values[pull], size[pull] = data["arm"], {}, data.get("n", 1)
            queue.append(pull)
        values[pull].update(data.get("outcome", {}))
        full = len(values[pull]) == len(objectives)
        if kind == "voided":
            void.add(pull)
        elif kind == "expired":
            lapsed.add(pull)
        elif pull in lapsed and full and pull not in settled:
            settled.add(pull)
            entered.append(pull)
        while ahead < len(queue):
            first = queue[ahead]
            if first not in lapsed and first not in void:
                if len(values[first]) < len(objectives):
                    break
                settled.add(first)
                entered.append(first)
            ahead += 1
    counting = [pull for pull in entered if pull not in void]
    return [(arm[pull], [values[pull][name] for name in objectives], size[pull]) for pull in counting]
