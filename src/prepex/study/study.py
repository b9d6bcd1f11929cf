"""A durable study: ask for pulls, tell outcomes by token, from as many processes and sites as you like.

Every call is one transaction. The log is the truth; the state in memory follows it.
"""

import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from prepex import __version__, _checks
from prepex.cone import Cone
from prepex.experiment import EarlySummaryError, Experiment, Recommendation
from prepex.family import Family
from prepex.sampling import Rule
from prepex.study import audit, ingest, summary, words
from prepex.study.answers import Imported, Observation, Overview, Receipt, Status, Ticket
from prepex.study.config import Config
from prepex.study.draft import Draft, find_case
from prepex.study.events import GENESIS, Event, linked, read_line, seal
from prepex.study.foresee import Foreseen
from prepex.study.history import Lookback, Past
from prepex.study.log import NoStudyError
from prepex.study.picture import make_picture
from prepex.study.session import Session
from prepex.study.state import State
from prepex.study.storage import Storage

Outcome = Mapping[str, float] | Sequence[float]
# The path of an SQLite file, a database URL, or a storage that is open.
Place = str | os.PathLike[str] | Storage


class Study:
    """Made by `Study.create` and `Study.open`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from prepex import Gaussian
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
        self._session = Session(storage, name)
        self._lookback = Lookback()

    # Creating and finding

    @classmethod
    def create(
        cls,
        storage: Place,
        name: str,
        *,
        arms: Sequence[str] | int,
        objectives: Sequence[str] | int,
        family: Family,
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
        laws = experiment.setting.laws
        if laws is not None and laws.noise is not None:
            raise ValueError(f"noise must be left out of a study, it is for simulations, got {family!r}")
        data = Config.make(name, experiment, lease).to_document()
        place = storage if isinstance(storage, Storage) else Storage(storage, create=True)
        with place.writing() as connection:
            log = place.add(connection, name)
            made = {"time": words.now(), "actor": words.check_actor(actor), "version": __version__}
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
    def list(storage: Place) -> Sequence[Overview]:
        """All studies of a storage."""
        with Storage.at(storage) as place:
            return [summary.make_overview(first, events) for first, events in place.firsts()]

    @staticmethod
    def delete(storage: Place, name: str, *, confirm: str) -> None:
        """Delete a study with its whole log. `confirm` must be its name once more."""
        if confirm != name:
            raise ValueError(f"confirm must be the name of the study, {name!r}, got {confirm!r}")
        with Storage.at(storage) as place:
            place.remove(name)

    def close(self) -> None:
        """Let go of the database. Nothing is lost if you do not."""
        self._session.storage.close()

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {self._session.storage.url.render_as_string(hide_password=True)})"

    # Pulls

    def ask(self, n: int | None = None, *, actor: str = "") -> Any:
        """The next pull as a Ticket, or a list of at most n.

        None, or a shorter list, when there is nothing to hand out: the study has stopped, or the rest of its budget
        is out.
        """
        wanted = 1 if n is None else _checks.whole("n", n, low=1)
        with self._session.writing(actor) as draft:
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
                until = None if lease is None else words.later(draft.time, lease)
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
        with self._session.writing(actor) as draft:
            return [self._tell(draft, token, outcome) for token, outcome in outcomes]

    def _tell(self, draft: Draft, token: str, outcome: Outcome) -> Receipt:
        case = draft.find(token)
        values = _values(outcome, draft.state, case.n)
        case.require_counting()
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
        """Replace what was told of a pull; its place in the order stays. The guarantee then rests on your reason.

        Of a summary, its means.
        """
        reason = words.check_reason(reason)
        foreseen = self._foresee("corrected", token, outcome, reason)
        with self._session.writing(actor, foreseen) as draft:
            case = draft.find(token)
            changed = case.correction(_values(outcome, draft.state, case.n))
            if changed:
                draft.add("corrected", case.pull, {"token": token, "outcome": changed, "reason": reason})

    def void(self, token: str, *, reason: str, actor: str = "") -> None:
        """A pull that does not count, told or not. Reasons that depend on the outcome void the guarantee as well.

        A summary is voided as a whole.
        """
        reason = words.check_reason(reason)
        try:
            foreseen = self._foresee("voided", token, None, reason)
            with self._session.writing(actor, foreseen) as draft:
                case = draft.find(token)
                if case.voided is None:
                    draft.add("voided", case.pull, {"token": token, "reason": reason})
        except EarlySummaryError:
            raise ValueError(
                f"token must leave every summary behind the pilot, got {token!r}, without which a summary that was "
                "imported later would lie in it: void that summary first"
            ) from None

    def _foresee(self, kind: str, token: str, outcome: Outcome | None, reason: str) -> Foreseen | None:
        """The long computation of a change of the past, while others go on; None: this one changes none."""
        with self._session.reading() as (state, log):
            case = find_case(log, token)
            data: dict[str, Any] = {"token": token, "reason": reason}
            if outcome is not None:
                data["outcome"] = case.correction(_values(outcome, state, case.n))
            if case.pull in state.line.pulls or case.voided is not None or data.get("outcome") == {}:
                return None
        with self._session.glancing() as log:
            return Foreseen(log, kind, case.pull, data)

    def import_csv(
        self, path: str | os.PathLike[str], *, arm: str = "arm", again: bool = False, actor: str = ""
    ) -> Imported:
        """Historic outcomes: a column `arm` with names and one for each objective, a row for each pull, in order.

        With a column `n`, a row is a summary: the means of n outcomes. Summaries come after the pilot.
        All or none are taken; returns how many outcomes. A file that was imported before is refused, unless `again`.
        See the page on delays for what may be imported.
        """
        with self._session.writing(actor) as draft:
            labels = draft.state.experiment.labels
            rows = ingest.read_outcomes(path, arm, labels, draft.state.experiment.family)
            origin = {"source": Path(path).name, "digest": hashlib.sha256(Path(path).read_bytes()).hexdigest()}
            known = (event for event in draft.log.since(-1) if event.kind == "imported")
            if not again and any(event.data.get("digest") == origin["digest"] for event in known):
                raise ValueError(
                    f"{path} must be new, got a file that was imported before; say again if it counts twice"
                )
            # What comes before the first summary must have entered: only then is the pilot over, whatever happens.
            alone = next((k for k, row in enumerate(rows) if row.n > 1), len(rows))
            for part in (rows[:alone], rows[alone:]):
                if part and part[0].n > 1:
                    _require_pilot_over(draft.state.experiment, path, part[0])
                with draft.together():
                    for row in part:
                        token = f"{draft.next}-{secrets.token_hex(4)}"
                        data = {"token": token, "arm": row.arm, "outcome": row.outcome, **origin}
                        origin.pop("digest", None)  # once a file
                        draft.add("imported", draft.next, data if row.n == 1 else data | {"n": row.n})
        return Imported(sum(row.n for row in rows), sum(row.n for row in rows if row.n > 1))

    # What is known

    def status(self) -> Status:
        """How it stands."""
        with self._session.reading() as (state, _):
            return summary.make_status(self.name, state)

    @property
    def done(self) -> bool:
        """Has it stopped?"""
        with self._session.reading() as (state, _):
            return state.experiment.done

    @property
    def recommendation(self) -> Recommendation:
        """The answer at the stop; before it, what looks right now."""
        with self._session.reading() as (state, _):
            return state.experiment.recommendation

    def why(self) -> str:
        """Why it has not stopped yet, or what it answered, in words."""
        with self._session.reading() as (state, _):
            return summary.explain(self.name, state)

    def head(self) -> str:
        """The last hash of the log: the same as long as nothing has happened."""
        with self._session.glancing() as log:
            return log.head

    def picture(self) -> dict[str, Any]:
        """All that a page about the study shows, but its history, as a JSON document."""
        with self._session.reading() as (state, _):
            return make_picture(state, summary.make_status(self.name, state), summary.explain(self.name, state))

    def history(self, patience: float = np.inf) -> Past:
        """The evidence along the study. It goes on from the last call, for about `patience` seconds at most."""
        with self._session.glancing() as log:
            return self._lookback.look(log, patience)

    def certificate(self) -> dict[str, Any]:
        """The answer with all that it rests on, as a JSON document. See `prepex verify`."""
        with self._session.reading() as (state, log):
            return summary.certify(state, log)

    def verify(self) -> audit.Verdict:
        """Check every hash of the log, and the state and its checkpoint against a full replay."""
        return self._session.verify()

    def events(self, after: int = -1, limit: int | None = None) -> Iterator[Event]:
        """The log, as it was when the first event is taken: what follows the position `after`, at most so many."""
        with self._session.glancing() as log:
            yield from log.since(after, limit)

    def observations(self, first: int, last: int, *, of: str | None = None) -> tuple[Sequence[Observation], int]:
        """(the pulls asked for at the positions first ... last, the last position of the log).

        `of`: the hash of the first event, where the study must not have been deleted and made anew meanwhile.
        """
        with self._session.glancing() as log:
            born = log.at(0)
            if born is None or of not in (None, born.hash):
                raise NoStudyError("study must exist, got one that has been deleted")
            return summary.list_observations(log, first, last), log.position

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

        with self._session.reading() as (state, log):
            # Its own words alone: a report may be handed on, and has no tokens.
            status, why = summary.make_status(self.name, state), state.experiment.why()
            past, certificate = self._lookback.look(log, np.inf), summary.certify(state, log)
            page = make_report(make_picture(state, status, why), past, certificate)
        Path(path).write_text(page, encoding="utf-8")


def _values(outcome: Outcome, state: State, n: int) -> dict[str, float]:
    experiment = state.experiment
    return ingest.outcome_values(outcome, experiment.labels.objectives, experiment.family, n)


def _require_pilot_over(experiment: Experiment, path: str | os.PathLike[str], row: ingest.Row) -> None:
    missing = experiment.missing_before_summary
    if missing:
        raise ValueError(
            f"{path}, line {row.line}: a summary must come when every arm has been tried and the pilot is over, got "
            f"one of {experiment.labels.arms[row.arm]!r} too soon: {missing:,} more single outcomes must enter first "
            "(what waits for pulls that are out has not entered)"
        )
