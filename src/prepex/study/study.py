"""A durable study: ask for pulls, tell outcomes by token, from as many processes and sites as you like.

Every call is one transaction. The log is the truth; the state in memory follows it.
"""

import hashlib
import os
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from prepex import __version__, _checks, _named, markup, tables
from prepex.agreement import fitted
from prepex.any_cone import Regions, states_under
from prepex.any_cone import State as AnyCone
from prepex.choice import Choice
from prepex.cone import Cone
from prepex.errors import InputError, shown
from prepex.exact import filled, require_agreement, table_of
from prepex.experiment import EarlySummaryError, Experiment, Recommendation
from prepex.foresight.forecast import SECONDS, Forecast
from prepex.foresight.onward import copy_of
from prepex.limits import Limit, Sides
from prepex.noise import NoiseCheck
from prepex.numerals import plural
from prepex.settings import Settings, WithNames, with_options
from prepex.study import audit, clock, ingest, summary, words
from prepex.study.answers import Imported, Observation, OpenPull, Overview, Receipt, Status, Ticket, Voided
from prepex.study.calm import calm
from prepex.study.check_log import Record
from prepex.study.check_read import RefusedError
from prepex.study.config import Config
from prepex.study.draft import Case, Draft, find_case
from prepex.study.events import GENESIS, Event, linked, read_line, seal
from prepex.study.foresee import Foreseen
from prepex.study.handout import blocker, hand_out
from prepex.study.history import Past
from prepex.study.log import NoStudyError
from prepex.study.picture import make_picture
from prepex.study.rate import recent_rate
from prepex.study.session import Session
from prepex.study.state import State
from prepex.study.storage import Storage, as_url
from prepex.whole_file import whole_file, write_whole

Outcome = Mapping[str, float] | Sequence[float]
# Events up to which a page checks the noise with every change; a report and `check_noise` always do.
MOST_LOOKED_AT = 2000
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
        if not isinstance(storage, Storage):
            raise InputError(f"storage must be opened, with Study.open or Study.create, got {shown(storage)}")
        self.name = name
        self._place = storage.address
        self._session = Session(storage, name)

    @cached_property
    def _session(self) -> Session:
        """Opened here only where the study came out of a pickle."""
        return Session(Storage(self._place), self.name)

    # It can be sent to another process, which opens it on first use: connections are never shared. The address of a
    # database is sent with its password.
    def __getstate__(self) -> dict[str, str]:
        return {"name": self.name, "place": self._place}

    def __setstate__(self, state: dict[str, str]) -> None:
        self.name, self._place = state["name"], state["place"]

    # Creating and finding

    @classmethod
    @with_options
    def create(
        cls,
        storage: Place,
        name: str,
        settings: Settings | Experiment | None = None,
        *,
        lease: float | None = None,
        max_waiting: int | None = None,
        actor: str = "",
        **options: Unpack[WithNames],
    ) -> "Study":
        """A new study in a storage: the path of an SQLite file, or a database URL. Settings as in Experiment, or those
        of an experiment to which nothing was told.

        lease        seconds after which a pull gives up its place; None (default): never, which is always proven
        max_pending  most pulls that may be out at once
        max_waiting  no new pulls while more told outcomes than this wait for one before them, not counting imported
                     ones; None (default): 16, and 4 for each pull that is out
        """
        experiment = _experiment(settings, options)
        if len(experiment.labels.arms) < 2:
            raise InputError(f"arms must be at least 2, to choose from, got {shown(experiment.labels.arms[0])} alone")
        laws = experiment.setting.laws
        if laws is not None and laws.noise is not None:
            raise InputError(f"noise must be left out of a study, it is for simulations, got {experiment.family!r}")
        data = Config.make(name, experiment, lease, max_waiting).to_document()
        place = storage if isinstance(storage, Storage) else Storage(storage, create=True)
        with place.writing() as connection:
            log = place.add(connection, name)
            made = {"time": clock.database_time(connection), "actor": words.check_actor(actor), "version": __version__}
            log.append([seal(0, GENESIS, "config", pull=None, data=data, **made)])
        return cls(place, name)

    @classmethod
    def open(cls, storage: str | os.PathLike[str], name: str) -> "Study":
        """A study that exists."""
        return cls(Storage(storage), name)

    @classmethod
    def restore(cls, storage: str | os.PathLike[str], path: str | os.PathLike[str]) -> "Study":
        """A study from an exported log, with its hashes: a backup, or a move to another database."""
        # ASCII; whatever else there is is not what was written.
        with _checks.path("path", path).open(encoding="latin-1", newline="\n") as file:
            with _from_a_log(path):
                events = linked(read_line(line.removesuffix("\n")) for line in _written(file))
                first = next(events, None)
                if first is None or first.kind != "config":
                    raise InputError("a log without a config")
                name = Config.read(first.data).name
            place = Storage(storage, create=True)
            with place.writing() as connection:
                log = place.add(connection, name)
                with _from_a_log(path):
                    log.append(chain([first], events))
                    # Hashes alone do not make a log that a study could go on with.
                    State.replay(log.since(-1))
        return cls(place, name)

    @staticmethod
    def list(storage: Place) -> Sequence[Overview]:
        """All studies of a storage."""
        with Storage.at(storage) as place:
            return [summary.make_overview(first, events) for first, events in place.firsts()]

    @staticmethod
    def delete(storage: Place, name: str, *, confirm: str) -> None:
        """Delete a study with its whole log. `confirm` must be its name once more."""
        if not isinstance(confirm, str) or confirm != name:
            raise InputError(f"confirm must be the name of the study, {shown(name)}, got {shown(confirm)}")
        with Storage.at(storage) as place:
            place.remove(name)

    def close(self) -> None:
        """Let go of the database. Nothing is lost if you do not."""
        if "_session" in self.__dict__:
            self._session.storage.close()

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {as_url(self._place).render_as_string(hide_password=True)})"

    # Pulls

    def ask(self, n: int | None = None, *, actor: str = "", new: bool = False, key: str | None = None) -> Any:
        """The next pull as a Ticket, or a list of at most n.

        The actor's own pulls that are not told yet come first (`Ticket.again`), so that a loop that was killed goes on
        where it was when it is started again. So workers that run side by side have names of their own, or ask for
        `new` pulls only. Without a name, own pulls are those of the same thread, and those of processes of the same
        machine that have ended. A request with a `key` can be repeated: the same key and n of the same actor give the
        same tickets.

        None, or a shorter list, when there is nothing to hand out: the study has stopped, or the rest of its budget
        is out. Too many told outcomes that wait for a pull are an error, which names it (`max_waiting`).
        """
        wanted, new = 1 if n is None else _checks.whole("n", n, low=1), _checks.flag("new", new)
        named = words.check_key(key)
        with self._session.writing(actor) as draft:
            tickets = hand_out(draft, wanted, new=new, key=named)
        if n is None:
            return tickets[0] if tickets else None
        return tickets

    def tell(self, token: str | Ticket, outcome: Outcome, *, actor: str = "") -> Receipt:
        """What came of a pull, of a token or a Ticket: every objective in order, or some or all of them by name.

        Telling the same again changes nothing. A different value is refused: see `correct`.
        """
        return self.tell_many([(token, outcome)], actor=actor)[0]

    def tell_many(self, outcomes: Iterable[tuple[str | Ticket, Outcome]], *, actor: str = "") -> Sequence[Receipt]:
        """Several reports in one transaction; all or none are taken."""
        pairs = _pairs(outcomes)
        with self._session.writing(actor) as draft:
            receipts = [self._tell(draft, _token(given), outcome) for given, outcome in pairs]
            waiting, pull = draft.state.line.waiting(), blocker(draft.state)
            return [replace(receipt, waiting=waiting, waiting_for=pull) for receipt in receipts]

    def _tell(self, draft: Draft, token: str, outcome: Outcome) -> Receipt:
        case = draft.find(token)
        values = _values(outcome, draft.state, case)
        case.require_counting()
        for name, value in values.items():
            if case.values.get(name, value) != value:
                raise InputError(
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

    def correct(self, token: str | Ticket, outcome: Outcome, *, reason: str, actor: str = "") -> None:
        """Replace what was told of a pull; its place in the order stays. The guarantee then rests on your reason.

        Of a summary, its means. What has no noise is the same in every outcome of an option: it is corrected in all
        of them, each with an event of its own.
        """
        token, reason = _token(token), words.check_reason(reason)
        foreseen = self._foresee("corrected", token, outcome, reason)
        with self._session.writing(actor, foreseen) as draft:
            case = draft.find(token)
            changed = case.correction(_values(outcome, draft.state, case, fill=False))
            if changed:
                draft.add("corrected", case.pull, {"token": token, "outcome": changed, "reason": reason})
            for other, values in draft.same_of(case, _noiseless(changed, draft.state.experiment)):
                draft.add("corrected", other.pull, {"token": other.token, "outcome": values, "reason": reason})

    def void(self, token: str | Ticket, *, reason: str, actor: str = "") -> Voided:
        """A pull that does not count, told or not. A summary is voided as a whole.

        Voiding again changes nothing: the first reason stays, and is returned.

        Harmless if the reason was known without any outcome, not just without its own: to void by the others of the
        same day gives false stops in 4 of 10 studies at delta 0.1 (docs/howto/delays.md).
        """
        token, reason = _token(token), words.check_reason(reason)
        try:
            foreseen = self._foresee("voided", token, None, reason)
            with self._session.writing(actor, foreseen) as draft:
                case = draft.find(token)
                if case.voided is None:
                    draft.add("voided", case.pull, {"token": token, "reason": reason})
                return Voided(token, case.voided is None, reason if case.voided is None else case.voided)
        except EarlySummaryError:
            raise InputError(
                f"token must leave every summary behind the pilot, got {token!r}, without which a summary that was "
                "imported later would lie in it: void that summary first"
            ) from None

    def extend(self, max_pulls: int, *, reason: str, actor: str = "") -> None:
        """A longer budget, with a reason. A study that ended by its budget goes on; the guarantee allows it.

        >>> import tempfile
        >>> from prepex import Gaussian
        >>> place = Path(tempfile.mkdtemp()) / "trials.db"
        >>> study = Study.create(place, "dose", arms=2, objectives=1, family=Gaussian(variance=1.0), max_pulls=2)
        >>> for _ in range(2):
        ...     receipt = study.tell(study.ask().token, [0.0])
        >>> study.recommendation.status
        'inconclusive'
        >>> study.extend(100, reason="a second grant")
        >>> study.recommendation.status, study.ask().arm
        ('running', 'arm 0')
        """
        reason = words.check_reason(reason)
        data = {"max_pulls": _checks.whole("max_pulls", max_pulls, low=1), "reason": reason}
        with self._session.glancing() as log:
            foreseen = Foreseen(log, "extended", None, data)
        with self._session.writing(actor, foreseen) as draft:
            present = draft.state.experiment.max_pulls
            if present is None:
                raise InputError("max_pulls must be of a study that has a budget, got one that has none to extend")
            if max_pulls <= present:
                raise InputError(f"max_pulls must be more than the present budget of {present}, got {max_pulls}")
            draft.add("extended", None, data)

    def _foresee(self, kind: str, token: str, outcome: Any, reason: str) -> Foreseen | None:
        """The long computation of a change of the past, while others go on; None: this one changes none."""
        with self._session.reading() as (state, log):
            case = find_case(log, token)
            data: dict[str, Any] = {"token": token, "reason": reason}
            if kind == "corrected":
                data["outcome"] = case.correction(_values(outcome, state, case, fill=False))
            if case.pull in state.line.pulls or case.voided is not None or data.get("outcome") == {}:
                return None
            if _noiseless(data.get("outcome", {}), state.experiment):
                # More than one pull may have to be corrected.
                return None
        with self._session.glancing() as log:
            return Foreseen(log, kind, case.pull, data)

    @calm()
    def import_csv(
        self, path: str | os.PathLike[str], *, arm: str = "arm", again: bool = False, actor: str = ""
    ) -> Imported:
        """Historic outcomes: a column `arm` with names and one for each objective, a row for each pull, in order.

        With a column `n`, a row is a summary: the means of n outcomes. Summaries come after the pilot.
        All or none are taken; returns how many outcomes, and which columns were not used. A file that was imported
        before is refused, unless `again`.
        See the page on delays for what may be imported.
        """
        again = _checks.flag("again", again)
        data = tables.read_bytes(path)
        sheet = tables.parse_sheet(tables.decode(data, str(path)), str(path))
        with self._session.writing(actor) as draft:
            labels = draft.state.experiment.labels
            experiment = draft.state.experiment
            sure = ingest.sure_values(draft.state) if experiment.exact else None
            rows = ingest.read_outcomes(sheet, arm, labels, experiment.family, sure)
            if sure is not None:
                outcomes = np.array([[row.outcome[name] for name in labels.objectives] for row in rows])
                require_agreement(sure, np.array([row.arm for row in rows]), outcomes, experiment.exact, labels)
            origin = {"source": Path(path).name, "digest": hashlib.sha256(data).hexdigest()}
            if not again and draft.log.has_file(origin["digest"]):
                raise InputError(
                    f"{path} must be new, got a file that was imported before; if it counts twice, say so: "
                    "again=True, or --again in a shell"
                )
            # What comes before the first summary must have entered: only then is the pilot over, whatever happens.
            alone = next((k for k, row in enumerate(rows) if row.n > 1), len(rows))
            for part in (rows[:alone], rows[alone:]):
                if part and part[0].n > 1:
                    _require_pilot_over(draft.state.experiment, path, part[0])
                tails = secrets.token_hex(4 * len(part))
                with draft.together():
                    for k, row in enumerate(part):
                        token = f"{draft.next}-{tails[8 * k : 8 * k + 8]}"
                        made = {"token": token, "arm": row.arm, "outcome": row.outcome, **origin}
                        origin.pop("digest", None)  # once a file
                        draft.add("imported", draft.next, made if row.n == 1 else made | {"n": row.n})
        used = {name.strip() for name in (arm, ingest.SIZE, *labels.objectives)}
        unused = tuple(name for name in sheet.columns if name not in used)
        return Imported(sum(row.n for row in rows), sum(row.n for row in rows if row.n > 1), unused)

    # What is known

    def status(self) -> Status:
        """How it stands."""
        with self._session.reading() as (state, _):
            return summary.make_status(self.name, state)

    def forecast(
        self, *, seconds: float = SECONDS, wait: bool = True, progress: Callable[[int], None] | None = None
    ) -> Forecast | None:
        """How many more outcomes, when that is at the recent rate, and the chance to end within the budget.

        As `Experiment.forecast`, kept until an outcome enters; others may go on meanwhile. Without `wait`, None also
        where there is no machine code yet: it is then being made.
        """
        _checks.number("seconds", seconds, low=0.0)
        with self._session.reading() as (state, log):
            experiment, course = state.experiment, state.experiment.course
            if course is None or experiment.done:
                return None
            made, rate = experiment.known_forecast, recent_rate(log)
            # Runs go on from a copy: the state moves on while they last.
            course = copy_of(experiment.setting, course, experiment.delta)
        if made is None:
            made = experiment.foresee(course, seconds=seconds, wait=wait, progress=progress)
            if made is None:
                return None
            with self._session.reading() as (state, _):
                state.experiment.keep_forecast(made if state.experiment is experiment else None)
        return made.at_rate(rate, datetime.now(UTC))

    def experiment_now(self) -> Experiment:
        """A copy of the experiment as it stands, to look at or to plan with: nothing told to it reaches the study."""
        with self._session.reading() as (state, _):
            copy = state.config.experiment()
            copy.restore(state.experiment.snapshot())
            return copy

    def under(self, cone: Cone) -> dict[str, AnyCone]:
        """In, out or open of each arm under another cone, chosen whenever and as often as one likes.

        All that is ever said so, under all cones together, is right with probability 1 - delta; the study's own answer
        and certificate are untouched. Limits and tolerances are not looked at.
        """
        _checks.instance("cone", cone, Cone)
        with self._session.reading() as (state, _):
            experiment = state.experiment
            order = fitted(cone, experiment.labels, experiment.setting.units)
            found = states_under(Regions.of(experiment), order, experiment.labels.signs)
            return dict(zip(experiment.labels.arms, found, strict=True))

    def check_noise(self) -> NoiseCheck:
        """The spread seen beside the one declared, and alarms where outcomes are not as declared: another spread, a
        drift, heavy tails, or a dependence on who told them. False ones come with a probability of 1 % in all."""
        with self._session.reading() as (state, log):
            return summary.noise_of(state, log)

    def pulls(self) -> Sequence[OpenPull]:
        """The pulls that have not entered the statistics: out, partly told, waiting for one before them, or late."""
        with self._session.reading() as (state, _):
            return summary.list_pulls(state)

    def standing(self) -> tuple[Status, str]:
        """(how it stands, the same in words) at one moment."""
        with self._session.reading() as (state, _):
            return summary.make_status(self.name, state), summary.explain(self.name, state)

    @property
    def done(self) -> bool:
        """Has it stopped?"""
        with self._session.reading() as (state, _):
            return state.experiment.done

    @property
    def recommendation(self) -> Recommendation:
        """The answer at the stop; before it, what looks right now."""
        with self._session.reading() as (state, _):
            return state.experiment.recommendation.asked_of(self)

    def best(
        self,
        objective: str | int,
        *,
        at_most: Sides = None,
        at_least: Sides = None,
        limits: Iterable[Limit] = (),
        among: Iterable[str | int] | None = None,
    ) -> Choice:
        """Of the answer's options, or of others, the best in one objective that meets these limits, by the outcomes so
        far: as `Experiment.best`."""
        with self._session.reading() as (state, _):
            return state.experiment.best(objective, at_most=at_most, at_least=at_least, limits=limits, among=among)

    def why(self) -> str:
        """Why it has not stopped yet, or what it answered, in words."""
        with self._session.reading() as (state, _):
            return summary.explain(self.name, state)

    def head(self) -> str:
        """The last hash of the log: the same as long as nothing has happened."""
        with self._session.glancing() as log:
            return log.head

    def picture(self) -> dict[str, Any]:
        """All that a page about the study shows, with its history, as a JSON document."""
        with self._session.reading() as (state, log):
            shown = make_picture(state, summary.make_status(self.name, state), summary.explain(self.name, state))
            shown |= {"noise": summary.noise_of(state, log).words if state.position < MOST_LOOKED_AT else ""}
            return shown | {"history": state.curve.past(state.experiment)._asdict()}

    def history(self) -> Past:
        """The evidence along the study."""
        with self._session.reading() as (state, _):
            return state.curve.past(state.experiment)

    def certificate(self) -> dict[str, Any]:
        """The answer with all that it rests on, as a JSON document. See `prepex verify`."""
        with self._session.reading() as (state, log):
            return summary.certify(state, log)

    def verify(self) -> audit.Verdict:
        """Check every hash of the log, and the state and its checkpoint against a full replay."""
        return self._session.verify()

    def events(self, after: int = -1, limit: int | None = None) -> Iterator[Event]:
        """The log, as it was when the first event is taken: what follows the position `after`, at most so many."""
        after = _checks.whole("after", after, low=-1)
        most = None if limit is None else _checks.whole("limit", limit, low=0)
        with self._session.glancing() as log:
            yield from log.since(after, most)

    def arms_of(self, pulls: Collection[int]) -> dict[int, int]:
        """Which option, by its place, each of these pulls is of; `pulls` are numbers as events have them."""
        with self._session.glancing() as log:
            return log.arms_of({_checks.whole("pulls", pull, low=0) for pull in pulls})

    def observations(self, first: int, last: int, *, of: str | None = None) -> tuple[Sequence[Observation], int]:
        """(the pulls asked for at the positions first ... last, the last position of the log).

        `of`: the hash of the first event, where the study must not have been deleted and made anew meanwhile.
        """
        first, last = _checks.whole("first", first, low=0), _checks.whole("last", last, low=0)
        if of is not None:
            _checks.instance("of", of, str)
        with self._session.glancing() as log:
            born = log.at(0)
            if born is None or of not in (None, born.hash):
                raise NoStudyError("study must exist, got one that has been deleted")
            return summary.list_observations(log, first, last), log.position

    def to_frame(self) -> Any:
        """A row for each pull, in the order of the log: who was asked and told what, and when (needs pandas).

        For a row an option: `status().to_frame()`.
        """
        with self._session.reading() as (state, log):
            rows, objectives = summary.list_observations(log, 0, log.position), state.experiment.labels.objectives
        names = ("arm", "state", "n", "asked", "asked_by", "told", "told_by")
        columns = [(name, [getattr(row, name) for row in rows]) for name in names]
        outcomes = [(name, [row.values.get(name) for row in rows]) for name in objectives]
        return markup.Rows("pull", [row.pull for row in rows], [*columns, *outcomes]).to_frame()

    def _repr_html_(self) -> str:
        with self._session.reading() as (state, _):
            # Its own words alone: a notebook may be handed on, and has no tokens.
            status, why = summary.make_status(self.name, state), state.experiment.why()
        title = f"{self.name}: {status.recommendation.status}"
        return markup.block(title, markup.line(why), status.table.to_html())

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write the log as JSON lines; returns how many."""
        count = 0
        with whole_file(_checks.target("path", path), encoding="ascii", newline="\n") as file:
            for event in self.events():
                file.write(event.line + "\n")
                count += 1
        return count

    def report(
        self, path: str | os.PathLike[str], *, units: Mapping[str, str] | None = None, budget: str | None = None
    ) -> None:
        """Write one self-contained HTML file: design, progress, front, evidence over time, certificate.

        `units`: of objectives, by name, to be written beside them. `budget`: in words, one that is kept elsewhere.
        """
        from prepex.study.report import make_report

        target = _checks.target("path", path)
        ahead = self.forecast()
        with self._session.reading() as (state, log):
            # Its own words alone: a report may be handed on, and has no tokens.
            status, why = summary.make_status(self.name, state), state.experiment.why()
            past, certificate = state.curve.past(state.experiment), summary.certify(state, log)
            shown = make_picture(state, status, why)
            shown["design"] |= {"units": dict(units or {}), "budget": budget}
            shown["forecast"] = None if ahead is None else ahead.to_document()
            page = make_report(shown, past, certificate, summary.noise_of(state, log))
        write_whole(target, page)


def _experiment(settings: Settings | Experiment | None, options: WithNames) -> Experiment:
    """Fresh, from settings, from another to which nothing was told, or from names and options."""
    if settings is None:
        return Experiment.of(Settings.make(**options))
    if options:
        raise InputError(f"settings must hold all that is fixed, got them and {', '.join(options)}")
    if isinstance(settings, Experiment):
        if settings.n_pulls:
            raise InputError(f"experiment must have been told nothing, got {plural(settings.n_pulls, 'outcome')}")
        return settings
    return Experiment.of(_checks.instance("settings", settings, Settings))


@contextmanager
def _from_a_log(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except audit.DAMAGE as error:
        raise InputError(
            f"{path} must be a log that prepex exported, got one that is not: {str(error)[:300]}"
        ) from None


def _pairs(outcomes: Any) -> list[tuple[str | Ticket, Outcome]]:
    if not isinstance(outcomes, Iterable) or isinstance(outcomes, str | bytes | Mapping):
        raise InputError(f"outcomes must be pairs (token, outcome), got {shown(outcomes)}")
    return [
        _named.pair("outcomes", entry, ("token", "outcome")) for entry in _checks.in_some_order("outcomes", outcomes)
    ]


def _token(given: str | Ticket) -> str:
    return given.token if isinstance(given, Ticket) else given


def _written(lines: Iterable[str]) -> Iterator[str]:
    """The same lines, if a study wrote them: hashes alone can be made for any nonsense."""
    record = Record()
    for line in lines:
        try:
            record.add(line)
        except RefusedError as error:
            raise InputError(str(error)) from None
        yield line


def _values(outcome: Outcome, state: State, case: Case, fill: bool = True) -> dict[str, float]:
    """By name. `fill`: with what is known without noise and need not be told; else only what is given, corrected,
    which must agree with what was known in advance."""
    experiment, objectives = state.experiment, state.experiment.labels.objectives
    if not experiment.exact:
        return ingest.outcome_values(outcome, objectives, experiment.family, case.n)
    if fill:
        sure = ingest.sure_values(state, case.pull)[case.arm]
        outcome = filled(outcome, sure, objectives, "outcome")
    else:
        sure = table_of(state.config.settings.get("known"), experiment.labels)[case.arm]
    values = ingest.outcome_values(outcome, objectives, experiment.family, case.n)
    ingest.require_sure(values, sure, experiment.labels.arms[case.arm], objectives)
    return values


def _noiseless(values: Mapping[str, float], experiment: Experiment) -> dict[str, float]:
    """Those of objectives without noise."""
    exact = [experiment.labels.objectives[q] for q in experiment.exact]
    return {name: value for name, value in values.items() if name in exact}


def _require_pilot_over(experiment: Experiment, path: str | os.PathLike[str], row: ingest.Row) -> None:
    missing = experiment.missing_before_summary
    if missing:
        raise InputError(
            f"{path}, line {row.line}: a summary must come when every arm has been tried and the pilot is over, got "
            f"one of {experiment.labels.arms[row.arm]!r} too soon: {plural(missing, 'more single outcome')} must enter "
            "first (what waits for pulls that are out has not entered)"
        )
