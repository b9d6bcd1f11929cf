"""A durable study: ask for pulls, tell outcomes by token, from as many processes and sites as you like.

Every call is one transaction. The log is the truth; the state in memory follows it.
"""

import os
import secrets
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from prepex import __version__, _checks
from prepex.cone import Cone
from prepex.experiment import Experiment, Recommendation
from prepex.family import Gaussian
from prepex.sampling import Rule
from prepex.study import audit, ingest
from prepex.study.answers import Blocker, Overview, Receipt, Status, Ticket
from prepex.study.certificate import make_certificate
from prepex.study.config import Config
from prepex.study.events import GENESIS, Event, linked, read_line, seal
from prepex.study.history import History, Past
from prepex.study.line import Entry, Line, list_entries
from prepex.study.picture import make_picture
from prepex.study.state import PastChangedError, State
from prepex.study.storage import Log, Storage

# Events between two checkpoints: a fresh process applies at most about so many.
EVERY = 2000

Outcome = Mapping[str, float] | Sequence[float]


class Study:
    """Made by `Study.create` and `Study.open`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> storage = Path(tempfile.mkdtemp()) / "trials.db"
    >>> study = Study.create(storage, "dose", arms=("low", "high"), objectives=("gain",), family=Gaussian(variance=1.0))
    >>> ticket = study.ask(actor="site A")
    >>> ticket.arm
    'low'
    >>> study.tell(ticket.token, {"gain": 0.3}).new, study.tell(ticket.token, {"gain": 0.3}).new
    (True, False)
    >>> Study.open(storage, "dose").status().n_pulls
    1
    """

    def __init__(self, storage: Storage, name: str) -> None:
        self.name = name
        self._storage = storage
        self._number = storage.find(name)
        self._lock = threading.RLock()
        self._state: State | None = None
        # Looking back may take a while: others need not wait for it.
        self._looking = threading.Lock()
        self._history: History | None = None

    # Creating and finding

    @classmethod
    def create(
        cls,
        storage: str | os.PathLike[str],
        name: str,
        *,
        arms: Sequence[str] | int,
        objectives: Sequence[str] | int,
        family: Gaussian,
        cone: Cone | None = None,
        delta: float = 0.05,
        sampling: Rule | None = None,
        threshold: Any = "certified",
        minimise: Iterable[str | int] = (),
        seed: int = 0,
        max_pulls: int | None = None,
        max_pending: int = 1024,
        lease: float | None = None,
        actor: str = "",
    ) -> "Study":
        """A new study in a storage: the path of an SQLite file, or a database URL. Settings as in Experiment.

        lease        seconds after which a pull gives up its place; None (default): never, which is always proven
        max_pending  most pulls that may be out at once
        """
        experiment = Experiment(
            arms,
            objectives,
            family=family,
            cone=cone,
            delta=delta,
            sampling=sampling,
            threshold=threshold,
            minimise=minimise,
            seed=seed,
            max_pulls=max_pulls,
            max_pending=max_pending,
        )
        if experiment.setting.laws is not None:
            raise ValueError(f"family of a study must be Gaussian with known variances, got {family!r}")
        data = Config.make(name, experiment, lease).to_document()
        place = Storage(storage, create=True)
        with place.writing() as connection:
            log = place.add(connection, name)
            made = {"time": _now(), "actor": _named(actor), "version": __version__}
            log.append([seal(0, GENESIS, "config", pull=None, data=data, **made)])
        return cls(place, name)

    @classmethod
    def open(cls, storage: str | os.PathLike[str], name: str) -> "Study":
        """A study that exists."""
        return cls(Storage(storage), name)

    @classmethod
    def restore(cls, storage: str | os.PathLike[str], path: str | os.PathLike[str]) -> "Study":
        """A study from an exported log, with its hashes: a backup, or a move to another database."""
        place = Storage(storage, create=True)
        with Path(path).open(encoding="ascii", newline="\n") as file, place.writing() as connection:
            events = linked(read_line(line.removesuffix("\n")) for line in file)
            first = next(events, None)
            if first is None or first.kind != "config":
                raise ValueError(f"{path} must be an exported log, got one without a config")
            name = Config.read(first.data).name
            place.add(connection, name).append(chain([first], events))
        return cls(place, name)

    @staticmethod
    def list(storage: str | os.PathLike[str]) -> Sequence[Overview]:
        """All studies of a storage."""
        place = Storage(storage)
        found = []
        for name in place.names():
            number = place.find(name)
            with place.reading() as connection:
                log = Log(connection, number)
                first = log.at(0)
            assert first is not None
            settings = first.data["settings"]
            labels = settings["labels"]
            objectives = tuple(labels["objectives"])
            found.append(
                Overview(name, first.time, len(labels["arms"]), objectives, settings["delta"], log.position + 1)
            )
        place.close()
        return found

    @staticmethod
    def delete(storage: str | os.PathLike[str], name: str, *, confirm: str) -> None:
        """Delete a study with its whole log. `confirm` must be its name once more."""
        if confirm != name:
            raise ValueError(f"confirm must be the name of the study, {name!r}, got {confirm!r}")
        place = Storage(storage)
        place.remove(name)
        place.close()

    def close(self) -> None:
        """Let go of the database. Nothing is lost if you do not."""
        self._storage.close()

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {self._storage.url.render_as_string(hide_password=True)})"

    # Pulls

    def ask(self, n: int | None = None, *, actor: str = "") -> Any:
        """The next pull as a Ticket, or a list of at most n.

        None, or a shorter list, when there is nothing to hand out: the study has stopped, or the rest of its budget
        is out.
        """
        wanted = 1 if n is None else _checks.whole("n", n, low=1)
        with self._writing(actor) as draft:
            state = draft.state
            experiment, line = state.experiment, state.line
            if experiment.done:
                wanted = 0
            elif experiment.max_pulls is not None:
                wanted = max(min(wanted, experiment.max_pulls - experiment.n_pulls - sum(line.pending)), 0)
            out = line.out()
            if wanted + out > experiment.max_pending:
                limit = experiment.max_pending
                raise ValueError(f"n must leave at most {limit} = max_pending pulls out, got {wanted} more than {out}")
            tickets = []
            for arm in experiment.choose(wanted, line.pending) if wanted else ():
                token = f"{draft.next}-{secrets.token_hex(4)}"
                draft.add("asked", draft.next, {"token": token, "arm": arm})
                lease = state.config.lease
                until = None if lease is None else _later(draft.time, lease)
                tickets.append(Ticket(token, experiment.labels.arms[arm], until))
        if n is None:
            return tickets[0] if tickets else None
        return tickets

    def tell(self, token: str, outcome: Outcome, *, actor: str = "") -> Receipt:
        """What came of a pull: every objective in order, or some or all of them by name.

        Telling the same again changes nothing. A different value is refused: see `correct`.
        """
        return self.tell_many([(token, outcome)], actor=actor)[0]

    def tell_many(self, outcomes: Iterable[tuple[str, Outcome]], *, actor: str = "") -> Sequence[Receipt]:
        """Several reports in one transaction; all or none are taken."""
        with self._writing(actor) as draft:
            return [self._tell(draft, token, outcome) for token, outcome in outcomes]

    def _tell(self, draft: "Draft", token: str, outcome: Outcome) -> Receipt:
        case = draft.find(token)
        values = self._values(outcome)
        if case.voided is not None:
            raise ValueError(f"token must not be voided, got {token!r}, voided because: {case.voided}")
        for name, value in values.items():
            if case.values.get(name, value) != value:
                raise ValueError(
                    f"outcome of {token!r} must be what was told before, {name} = {case.values[name]!r}, "
                    f"got {name} = {value!r}; to change it, correct it with a reason"
                )
        new = {name: value for name, value in values.items() if name not in case.values}
        if new:
            draft.add("told", case.pull, {"token": token, "outcome": new})
        known = {*case.values, *values}
        labels = draft.state.experiment.labels
        missing = tuple(name for name in labels.objectives if name not in known)
        return Receipt(token, labels.arms[case.arm], bool(new), missing, case.lapsed)

    def correct(self, token: str, outcome: Outcome, *, reason: str, actor: str = "") -> None:
        """Replace what was told of a pull; its place in the order stays. The guarantee then rests on your reason."""
        reason = _reason(reason)
        with self._writing(actor) as draft:
            case = draft.find(token)
            values = self._values(outcome)
            if case.voided is not None:
                raise ValueError(f"token must not be voided, got {token!r}, voided because: {case.voided}")
            for name in values:
                if name not in case.values:
                    raise ValueError(
                        f"outcome must have been told before it is corrected, got no {name!r} of {token!r}"
                    )
            changed = {name: value for name, value in values.items() if case.values[name] != value}
            if changed:
                draft.add("corrected", case.pull, {"token": token, "outcome": changed, "reason": reason})

    def void(self, token: str, *, reason: str, actor: str = "") -> None:
        """A pull that does not count, told or not. Reasons that depend on the outcome void the guarantee as well."""
        reason = _reason(reason)
        with self._writing(actor) as draft:
            case = draft.find(token)
            if case.voided is None:
                draft.add("voided", case.pull, {"token": token, "reason": reason})

    def import_csv(self, path: str | os.PathLike[str], *, arm: str = "arm", actor: str = "") -> int:
        """Historic outcomes: a column `arm` with names and one for each objective, a row for each pull, in order.

        All or none are taken; returns how many. See the page on delays for what may be imported.
        """
        with self._writing(actor) as draft:
            labels = draft.state.experiment.labels
            rows, source = ingest.read_outcomes(path, arm, labels), Path(path).name
            with draft.together():
                for number, outcome in rows:
                    token = f"{draft.next}-{secrets.token_hex(4)}"
                    named = dict(zip(labels.objectives, outcome, strict=True))
                    data = {"token": token, "arm": number, "outcome": named, "source": source}
                    draft.add("imported", draft.next, data)
        return len(rows)

    # What is known

    def status(self) -> Status:
        """How it stands."""
        with self._reading() as (state, _):
            return self._status(state)

    def _status(self, state: State) -> Status:
        experiment, line, labels = state.experiment, state.line, state.experiment.labels
        counts = experiment.counts
        means = [tuple(row) if n else None for n, row in zip(counts, experiment.means.tolist(), strict=True)]
        reached = experiment.reached
        incomplete: dict[str, int] = {}
        for pull in line.pulls.values():
            if pull.values and not line.complete(pull):
                incomplete[labels.arms[pull.arm]] = incomplete.get(labels.arms[pull.arm], 0) + 1
        waiting = sum(line.complete(pull) for pull in line.pulls.values())
        blocker = None
        if waiting:
            first = line.pulls[line.queue[0]]
            blocker = Blocker(first.token, labels.arms[first.arm], first.actor, first.time)
        tally = line.tally
        return Status(
            name=self.name,
            recommendation=experiment.recommendation,
            n_pulls=experiment.n_pulls,
            counts=dict(zip(labels.arms, counts.tolist(), strict=True)),
            means=dict(zip(labels.arms, means, strict=True)),
            objectives=labels.objectives,
            reached=reached if np.isfinite(reached) else None,
            needed=experiment.needed,
            forecast=experiment.forecast,
            out=line.out(),
            incomplete=incomplete,
            waiting=waiting,
            blocker=blocker,
            lapsed=sum(pull.lapsed for pull in line.pulls.values()),
            voided=tally["voided"],
            corrected=tally["corrected"],
            late=tally["late"],
            imported=tally["imported"],
            events=state.position + 1,
            head=state.head,
        )

    @property
    def done(self) -> bool:
        """Has it stopped?"""
        with self._reading() as (state, _):
            return state.experiment.done

    @property
    def recommendation(self) -> Recommendation:
        """The answer at the stop; before it, what looks right now."""
        with self._reading() as (state, _):
            return state.experiment.recommendation

    def why(self) -> str:
        """Why it has not stopped yet, or what it answered, in words."""
        with self._reading() as (state, _):
            return self._why(state, self._status(state))

    @staticmethod
    def _why(state: State, status: Status) -> str:
        words = state.experiment.why()
        if status.blocker is not None:
            b = status.blocker
            by = f" by {b.actor}" if b.actor else ""
            words += (
                f" {status.waiting} told outcomes wait for the pull {b.token} of {b.arm}, asked for{by} at {b.since}:"
                " tell it, or void it."
            )
        return words

    def head(self) -> str:
        """The last hash of the log: the same as long as nothing has happened."""
        with self._storage.reading() as connection:
            return Log(connection, self._number).head

    def picture(self) -> dict[str, Any]:
        """All that a page about the study shows, but its history, as a JSON document."""
        with self._reading() as (state, _):
            status = self._status(state)
            return make_picture(state, status, self._why(state, status))

    def history(self, patience: float = np.inf) -> Past:
        """The evidence along the study. It goes on from the last call, for about `patience` seconds at most."""
        with self._looking, self._storage.reading() as connection:
            log, found = Log(connection, self._number), self._history
            moved = found is not None and (found.position > log.position or found.head != log.hash_at(found.position))
            if found is None or moved:
                first = log.at(0)
                assert first is not None
                found = self._history = History(Config.read(first.data))
            end = time.monotonic() + patience
            if found.read(log.since(found.position), patience):
                found.advance(end - time.monotonic())
            return found.past(log.position)

    def certificate(self) -> dict[str, Any]:
        """The answer with all that it rests on, as a JSON document. See `prepex verify`."""
        with self._reading() as (state, log):
            return self._certificate(state, log)

    def _certificate(self, state: State, log: Log) -> dict[str, Any]:
        experiment, stopped = state.experiment, state.experiment.recommendation
        if experiment.n_pulls > stopped.n_pulls:
            # More was told after the stop: back to the state that gave the answer.
            experiment = state.fresh_experiment(islice(self._entries(log).values(), stopped.n_pulls))
        return make_certificate(state.config, experiment, state.position, state.head)

    def verify(self) -> audit.Verdict:
        """Check every hash of the log, and the state and its checkpoint against a full replay."""
        with self._lock, self._storage.reading() as connection:
            log = Log(connection, self._number)
            try:
                self._sync(log)
            except audit.DAMAGE:
                # The audit says what is wrong.
                self._state = None
            return audit.verify(log, self._state)

    def events(self) -> Iterator[Event]:
        """The whole log, as it was when the first event is taken."""
        with self._storage.reading() as connection:
            yield from Log(connection, self._number).since(-1)

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write the log as JSON lines; returns how many."""
        count = 0
        with Path(path).open("w", encoding="ascii", newline="\n") as file:
            for event in self.events():
                file.write(event.line + "\n")
                count += 1
        return count

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write one self-contained HTML file: design, progress, front, evidence over time, certificate."""
        from prepex.study.report import make_report

        with self._reading() as (state, log):
            entries = list(self._entries(log).values())
            page = make_report(self._status(state), state.config, entries, self._certificate(state, log))
        Path(path).write_text(page, encoding="utf-8")

    # The state

    def _entries(self, log: Log) -> dict[int, Entry]:
        state = self._state
        assert state is not None
        labels = state.experiment.labels
        return list_entries(Line(labels.objectives, len(labels.arms)), log.since(-1))

    def _values(self, outcome: Outcome) -> dict[str, float]:
        assert self._state is not None
        return ingest.outcome_values(outcome, self._state.experiment.labels.objectives)

    def _sync(self, log: Log) -> State:
        """The state at the end of the log."""
        try:
            if self._state is None or self._state.position > log.position:
                raise PastChangedError
            if self._state.position < log.position:
                self._state.apply(log.since(self._state.position))
        except PastChangedError:
            self._state = self._load(log)
        if self._state.head != log.head:
            self._state = None
            raise ValueError(f"log of {self.name!r} must end with the hash {log.head}, got a damaged one: verify it")
        return self._state

    def _load(self, log: Log) -> State:
        """From the checkpoint and what came after, or else from the whole log."""
        saved = log.checkpoint()
        first = log.at(0)
        if saved is not None and first is not None:
            try:
                state = State.load(first, *saved)
                state.apply(log.since(state.position))
                return state
            except (PastChangedError, ValueError):
                pass
        return State.replay(log.since(-1))

    @contextmanager
    def _reading(self) -> Iterator[tuple[State, Log]]:
        with self._lock, self._storage.reading() as connection:
            log = Log(connection, self._number)
            yield self._sync(log), log

    @contextmanager
    def _writing(self, actor: str) -> Iterator["Draft"]:
        actor = _named(actor)
        draft: Draft | None = None
        with self._lock:
            try:
                with self._storage.writing() as connection:
                    log = Log(connection, self._number, lock=True)
                    draft = Draft(log, self._sync(log), actor)
                    draft.expire()
                    yield draft
                    log.append(draft.events)
                    if draft.past_changed:
                        self._state = State.replay(log.since(-1))
                        self._save(log, self._state)
                    elif self._state is not None and self._state.position >= log.checkpoint_position() + EVERY:
                        self._save(log, self._state)
            except BaseException:
                # What was drafted did not happen.
                if draft is None or draft.events:
                    self._state = None
                raise

    @staticmethod
    def _save(log: Log, state: State) -> None:
        if state.worth_saving:
            log.put_checkpoint(state.position, state.head, state.save())


class Case:
    """All that is known of one pull."""

    def __init__(self, events: Sequence[Event]) -> None:
        born = events[0]
        assert born.pull is not None
        self.pull: int = born.pull
        self.arm: int = born.data["arm"]
        self.token: str = born.data["token"]
        self.values: dict[str, float] = dict(born.data.get("outcome", {}))
        self.lapsed = False
        self.voided: str | None = None
        for event in events[1:]:
            self.values.update(event.data.get("outcome", {}))
            self.lapsed = self.lapsed or event.kind == "expired"
            if event.kind == "voided":
                self.voided = event.data["reason"]


class Draft:
    """The events of a transaction that is under way, applied to the state as they are added."""

    def __init__(self, log: Log, state: State, actor: str) -> None:
        self.log, self.state, self.actor = log, state, actor
        self.events: list[Event] = []
        # Clocks of different machines may differ, but the log's time never runs backwards.
        self.time = max(_now(), state.time)
        self.past_changed = False
        self._head = log.head
        self._held: list[Event] | None = None

    @property
    def next(self) -> int:
        """The position of the next event."""
        return self.log.position + len(self.events) + 1

    def add(self, kind: str, pull: int, data: Mapping[str, Any]) -> None:
        """One more."""
        made = {"time": self.time, "actor": self.actor, "version": __version__}
        event = seal(self.next, self._head, kind, pull=pull, data=data, **made)
        self.events.append(event)
        self._head = event.hash
        if self._held is not None:
            self._held.append(event)
        elif not self.past_changed:
            try:
                self.state.apply([event])
            except PastChangedError:
                self.past_changed = True

    @contextmanager
    def together(self) -> Iterator[None]:
        """Many events that do not change the past are applied at once."""
        self._held = []
        yield
        held, self._held = self._held, None
        self.state.apply(held)

    def expire(self) -> None:
        """Leases that have ended are events like any other."""
        lease = self.state.config.lease
        if lease is None:
            return
        line, latest = self.state.line, _later(self.time, -lease)
        over = [k for k in line.queue if line.pulls[k].time < latest and not line.complete(line.pulls[k])]
        for number in over:
            self.add("expired", number, {"token": line.pulls[number].token})

    def find(self, token: str) -> Case:
        """The pull of a token, with everything that was said about it, in this draft too."""
        known: list[Event] = []
        if isinstance(token, str) and token.partition("-")[0].isdecimal():
            number = int(token.partition("-")[0])
            if number <= self.next:
                known = self.log.of_pull(number) + [event for event in self.events if event.pull == number]
        if not known or known[0].data.get("token") != token:
            raise ValueError(f"token must be one that this study handed out, got {token!r}")
        return Case(known)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _later(time: str, seconds: float) -> str:
    return (datetime.fromisoformat(time) + timedelta(seconds=seconds)).isoformat(timespec="microseconds")


def _named(actor: str) -> str:
    if not isinstance(actor, str) or len(actor) > 200 or not (actor.isprintable() or actor == ""):
        raise ValueError(f"actor must be at most 200 printable characters, got {actor!r}")
    return actor


def _reason(reason: str) -> str:
    if not isinstance(reason, str) or not reason.strip() or len(reason) > 2000:
        raise ValueError(f"reason must be 1 to 2000 characters, got {reason!r}")
    return reason
