"""Which pulls a request is given: those of its key, then the actor's own open ones, then new ones.

A loop that was killed between `ask` and `tell` and is started again so goes on with the pull that it left behind, and
a request whose answer was lost can be repeated. New pulls are refused while too many told outcomes wait for one that
does not come: trials that cannot count are not worth their patients.
"""

import secrets
from collections.abc import Sequence
from typing import Any

from prepex.errors import InputError
from prepex.study import words
from prepex.study.answers import Blocker, Ticket
from prepex.study.draft import Draft, find_case
from prepex.study.state import State
from prepex.study.worker import left_behind, this_worker


class BlockedError(InputError):
    """Told outcomes wait for a pull that does not come."""

    __module__ = "prepex"


def hand_out(draft: Draft, wanted: int, *, new: bool, key: str | None) -> list[Ticket]:
    """At most `wanted` tickets. `new`: none that were handed out before, but for those of the same key."""
    line = draft.state.line
    known = line.keys.get((draft.actor, key)) if key is not None else None
    if known is not None:
        _require_same_request(draft, known, wanted, key)
        return [again(draft, number) for number in known]
    mine = [] if new or draft.state.experiment.done else line.open_pulls(draft.actor)
    if not draft.actor:
        mine = [number for number in mine if left_behind(line.pulls[number].worker)]
    # If there are more than are wanted: those asked for first, for which others wait.
    tickets = [again(draft, number) for number in mine[:wanted]]
    return tickets + _new_pulls(draft, wanted - len(tickets), key, wanted)


def _require_same_request(draft: Draft, known: Sequence[int], wanted: int, key: str | None) -> None:
    """The same key for another number is a slip: which of the two was meant, nobody can say."""
    first = int(draft.log.of_pull(known[0])[0].data.get("wanted", len(known)))
    if wanted != first:
        raise InputError(
            f"n must be {first} as in the first request with the key {key!r}, got {wanted}; another request has "
            "another key"
        )


def _new_pulls(draft: Draft, wanted: int, key: str | None, n: int) -> list[Ticket]:
    """At most `wanted` of the n that a request is for."""
    state = draft.state
    experiment, line, lease = state.experiment, state.line, state.config.lease
    if experiment.done:
        wanted = 0
    elif experiment.max_pulls is not None:
        wanted = max(min(wanted, experiment.max_pulls - experiment.n_pulls - sum(line.pending)), 0)
    out = line.out()
    if wanted + out > experiment.max_pending:
        limit = experiment.max_pending
        raise InputError(f"n must leave at most {limit} = max_pending pulls out, got {wanted} more than {out}")
    if not wanted:
        return []
    _require_flow(state, out)
    tickets = []
    marks: dict[str, Any] = ({} if key is None else {"key": key}) | ({} if draft.actor else {"worker": this_worker()})
    if key is not None and n != wanted:
        marks["wanted"] = n  # or the number of the pulls with this key says it
    for arm in experiment.choose(wanted, line.pending):
        token = f"{draft.next}-{secrets.token_hex(4)}"
        draft.add("asked", draft.next, {"token": token, "arm": arm, **marks})
        until = None if lease is None else words.later(draft.time, lease)
        tickets.append(Ticket(token, experiment.labels.arms[arm], until))
    return tickets


def again(draft: Draft, number: int) -> Ticket:
    """The ticket of a pull that was handed out before."""
    state, lease = draft.state, draft.state.config.lease
    pull = state.line.pulls.get(number)
    arms = state.experiment.labels.arms
    if pull is None:
        # Told or voided meanwhile: only the log knows it.
        asked = draft.log.of_pull(number)[0]
        case = find_case(draft.log, asked.data["token"])
        return Ticket(case.token, arms[case.arm], None, again=True)
    until = None if lease is None or pull.lapsed else words.later(pull.time, lease)
    return Ticket(pull.token, arms[pull.arm], until, again=True)


def blocker(state: State) -> Blocker | None:
    """The pull for which told outcomes wait, if any do."""
    line = state.line
    if not line.waiting():
        return None
    first = line.pulls[line.queue[0]]
    return Blocker(first.token, state.experiment.labels.arms[first.arm], first.actor, first.time)


def _require_flow(state: State, out: int) -> None:
    waiting, limit = state.line.trials_waiting(), state.config.most_waiting(out)
    found = blocker(state) if waiting > limit else None
    if found is None:
        return
    by = f" by {found.actor}" if found.actor else ""
    raise BlockedError(
        f"at most {limit} told outcomes may wait for a pull before them, got {waiting}: they wait for {found.token} "
        f"({found.arm}), asked for{by} at {found.since}. Tell it, or void it with a reason; a study with a lease lets "
        "such a pull go by itself"
    )
