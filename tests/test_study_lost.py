"""Pulls that get lost, requests that are repeated, budgets that grow, and clocks that are wrong."""

import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from benchmarks.kills import play
from prepex import Bernoulli, Gaussian, InputError, Study
from prepex.study import clock as clock_module
from prepex.study.draft import Draft
from prepex.study.handout import BlockedError
from prepex.study.line import KEYS


@pytest.fixture
def place(tmp_path):
    return str(tmp_path / "trials.db")


def create(place, **options):
    given = {"family": Gaussian(variance=0.25), "delta": 0.1, **options}
    return Study.create(place, "dose", arms=tuple("abc"), objectives=("u", "v"), **given)


@pytest.mark.parametrize("named", ["named", "nameless"])
def test_a_killed_loop_goes_on_with_the_pull_it_left(place, named):
    story = play(place, 25, named, np.random.default_rng(5))
    assert story.kills > 2 and story.lost == 0
    assert story.asked == story.outcomes, "every pull that was handed out counts, once"
    assert Study.open(place, "dose").recommendation.status == "certified"


def test_own_pulls_come_first_and_others_are_left_alone(place):
    study = create(place)
    mine, theirs = study.ask(actor="Ada"), study.ask(actor="Bob")
    assert not mine.again and mine.token != theirs.token
    again = study.ask(actor="Ada")
    assert (again.token, again.again) == (mine.token, True)
    other = study.ask(actor="Ada", new=True)
    assert other.token not in (mine.token, theirs.token) and not other.again
    three = study.ask(3, actor="Ada")
    assert [ticket.token for ticket in three[:2]] == [mine.token, other.token] and not three[2].again
    study.tell(mine.token, [1.0, 1.0])
    assert study.ask(actor="Ada").token == other.token
    study.tell(other.token, {"u": 1.0})
    assert study.ask(actor="Ada").token == other.token, "told in part is still to do"


def test_without_a_name_threads_get_pulls_of_their_own(place):
    study, tokens = create(place), []
    threads = [threading.Thread(target=lambda: tokens.append(study.ask().token)) for _ in range(6)]
    together = threading.Barrier(7)

    def ask_and_stay():
        tokens.append(study.ask().token)
        together.wait()

    threads = [threading.Thread(target=ask_and_stay) for _ in range(6)]
    for thread in threads:
        thread.start()
    together.wait()
    for thread in threads:
        thread.join()
    assert len(set(tokens)) == 6
    here = study.ask()
    assert study.ask().token == here.token


def test_the_same_key_gives_the_same_tickets(place):
    study = create(place)
    first = study.ask(2, actor="Ada", key="monday")
    study.tell(first[0].token, [1.0, 1.0])
    again = Study.open(place, "dose").ask(2, actor="Ada", key="monday")
    assert [ticket.token for ticket in again] == [ticket.token for ticket in first]
    assert all(ticket.again for ticket in again) and not any(ticket.again for ticket in first)
    assert study.ask(1, actor="Bob", key="monday")[0].token not in {ticket.token for ticket in first}
    assert study.ask(1, actor="Ada", key="tuesday", new=True)[0].token not in {ticket.token for ticket in first}
    for key in ("", "x" * 300, 7, "a\nb"):
        with pytest.raises(InputError, match="key must be 1 to 200 printable characters"):
            study.ask(key=key)


def test_only_the_latest_keys_are_remembered(place):
    study = create(place, max_pulls=10_000)
    first = study.ask(actor="Ada", key="0", new=True)
    study.tell(first.token, [0.0, 0.0])
    line = study._session.state.line
    for number in range(1, KEYS + 1):
        line._remember(("Ada", str(number)), number)
    assert len(line.keys) == KEYS and ("Ada", "0") not in line.keys


def test_a_receipt_names_what_waits_and_for_which_pull(place):
    study = create(place)
    lost, other = study.ask(2, actor="Ada")
    receipt = study.tell(other.token, [1.0, 1.0])
    assert receipt.waiting == 1
    assert (receipt.waiting_for.token, receipt.waiting_for.actor) == (lost.token, "Ada")
    receipt = study.tell(lost.token, [1.0, 1.0])
    assert receipt.waiting == 0 and receipt.waiting_for is None


def test_no_new_pulls_while_too_many_outcomes_wait(place):
    study = create(place, max_waiting=3)
    lost = study.ask(actor="Eve")
    for _ in range(4):
        study.tell(study.ask(actor="Ada").token, [0.0, 0.0])
    words = f"at most 3 told outcomes may wait .* got 4: they wait for {lost.token} .a., asked for by Eve at .*"
    with pytest.raises(BlockedError, match=words + "Tell it, or void it with a reason; a study with a lease"):
        study.ask(actor="Ada")
    assert study.ask(actor="Eve").token == lost.token, "who has it out is not refused"
    study.void(lost.token, reason="the plate broke")
    assert study.ask(actor="Ada") is not None and study.status().n_pulls == 4


def test_by_default_more_may_wait_the_more_people_work(place):
    study = create(place, family=Bernoulli())
    study.ask(actor="Eve")
    trials = 0
    with pytest.raises(BlockedError, match="at most 20 told outcomes may wait"):
        while True:
            study.tell(study.ask(actor="Ada").token, [1, 0])
            trials += 1
    assert trials == 21


def test_imports_that_wait_keep_nobody_from_asking(place, tmp_path):
    study = create(place, max_waiting=3)
    first = study.ask(actor="Eve")
    (tmp_path / "old.csv").write_text("arm,u,v\n" + "a,0.5,0.5\n" * 300)
    study.import_csv(tmp_path / "old.csv")
    assert study.status().waiting == 300 and study.status().blocker.token == first.token
    view = study.picture()
    assert len(view["pulls"]) == 200 and view["n_listed"] == 301 and view["pulls"][0]["token"] == first.token
    for _ in range(4):
        study.tell(Study.open(place, "dose").ask(actor="Ada").token, [0.0, 0.0])
    with pytest.raises(BlockedError, match=f"at most 3 told outcomes may wait .* got 4: they wait for {first.token}"):
        study.ask(actor="Ada")
    study.tell(first.token, [0.0, 0.0])
    assert study.status().n_pulls == 305 and study.ask(actor="Ada") is not None


def test_open_pulls_are_listed(place):
    study = create(place, lease=3600.0)
    first, second, third = study.ask(3, actor="Ada")
    study.tell(second.token, {"u": 1.0})
    study.tell(third.token, [1.0, 2.0])
    found = study.pulls()
    assert [(pull.token, pull.state) for pull in found] == [
        (first.token, "out"),
        (second.token, "partly told"),
        (third.token, "waits"),
    ]
    assert found[1].told == {"u": 1.0} and found[0].until == first.until and found[0].actor == "Ada"


def test_a_budget_is_extended_with_a_reason(place):
    study, rng = create(place, max_pulls=10), np.random.default_rng(3)

    def work():
        while (ticket := study.ask()) is not None:
            truth = {"a": (2.0, 0.0), "b": (0.0, 2.0), "c": (-1.0, -1.0)}[ticket.arm]
            study.tell(ticket.token, (truth + 0.5 * rng.standard_normal(2)).tolist())

    work()
    assert study.recommendation.status == "inconclusive" and study.status().n_pulls == 10
    study.extend(400, reason="a second grant", actor="Ada")
    assert study.recommendation.status == "running"
    work()
    assert study.recommendation.status == "certified"
    # From the log alone it is the same, and so it is from a checkpoint.
    assert study.verify().ok
    assert Study.open(place, "dose").recommendation == study.recommendation
    event = next(event for event in study.events() if event.kind == "extended")
    assert dict(event.data) == {"max_pulls": 400, "reason": "a second grant"} and event.actor == "Ada"
    with pytest.raises(InputError, match="max_pulls must be more than the present budget of 400, got 300"):
        study.extend(300, reason="less")
    with pytest.raises(InputError, match="reason must be 1 to 2000 characters"):
        study.extend(500, reason="")
    endless = Study.create(place, "endless", arms=2, objectives=1, family=Bernoulli())
    with pytest.raises(InputError, match="that has a budget, got one that has none"):
        endless.extend(500, reason="more")


def test_an_extended_budget_survives_checkpoints_and_corrections(place, monkeypatch):
    from prepex.study import session

    monkeypatch.setattr(session, "EVERY", 5)
    study = create(place, max_pulls=6)
    tokens = []
    for _ in range(6):
        tokens.append(study.ask().token)
        study.tell(tokens[-1], [0.0, 0.0])
    study.extend(8, reason="two more")
    for _ in range(2):
        study.tell(study.ask().token, [0.0, 0.0])
    study.correct(tokens[0], [0.1, 0.1], reason="a slip")
    fresh = Study.open(place, "dose")
    assert fresh.verify().ok and fresh.status().n_pulls == 8
    assert fresh.recommendation.status == "inconclusive" and fresh.ask() is None


class Clock:
    """A database's clock that the test moves."""

    def __init__(self, monkeypatch):
        self.now = datetime(2030, 1, 1, tzinfo=UTC)
        monkeypatch.setattr(clock_module, "database_time", lambda _: self.now.isoformat(timespec="microseconds"))

    def move(self, **by):
        self.now += timedelta(**by)


def test_leases_do_not_go_by_the_clock_of_a_process(place):
    """A process whose own clock is a year ahead changes nothing: the database has a clock of its own."""
    study = create(place, lease=3600.0)
    mine = study.ask(actor="Ada")
    script = (
        "import sys, time, datetime\n"
        "real = time.time\n"
        "time.time = lambda: real() + 365 * 86400\n"
        "from prepex import Study\n"
        "print(Study.open(sys.argv[1], 'dose').ask(actor='Bob').until)\n"
    )
    shown = subprocess.run([sys.executable, "-c", script, place], capture_output=True, text=True, check=True).stdout
    until = datetime.fromisoformat(shown.strip())
    assert abs((until - datetime.now(UTC)).total_seconds() - 3600) < 120
    assert study.ask(actor="Ada").token == mine.token and study.status().lapsed == 0


def test_a_jump_ahead_ends_no_lease_at_once_and_is_said(place, monkeypatch):
    clock = Clock(monkeypatch)
    study = create(place, lease=3600.0)
    lost = study.ask(actor="Ada")
    clock.move(days=400)
    study.ask(actor="Bob")
    status = study.status()
    assert status.lapsed == 0, "one reading of a clock ends nothing"
    assert status.clock.startswith("the time jumped ahead at event 2, from 2030-01-01T00:00:00 to 2031-02-05")
    assert "Mind that the time jumped ahead" in study.why()
    # The clock was wrong: it is back, and all leases run as if nothing had happened.
    clock.move(days=-400, minutes=5)
    later = study.ask(actor="Cid")
    assert later.until.startswith("2030-01-01T01:05:00") and study.status().clock.startswith("the time jumped back")
    assert study.ask(actor="Ada").token == lost.token
    clock.move(minutes=56)
    study.ask(actor="Dan")
    assert {pull.actor for pull in study.pulls() if pull.state == "late"} == {"Ada"}
    clock.move(minutes=10)
    study.ask(actor="Dan")
    assert {pull.actor for pull in study.pulls() if pull.state == "late"} == {"Ada", "Bob", "Cid"}
    assert study.verify().ok


def test_a_study_that_rests_for_days_still_ends_leases(place, monkeypatch):
    clock = Clock(monkeypatch)
    study = create(place, lease=3600.0)
    study.ask(actor="Ada")
    clock.move(days=3)
    study.ask(actor="Bob")
    assert study.status().lapsed == 0
    clock.move(minutes=1)
    study.ask(actor="Bob")
    assert [pull.actor for pull in study.pulls() if pull.state == "late"] == ["Ada"]


def test_small_differences_of_clocks_never_turn_the_log_back(place, monkeypatch):
    clock = Clock(monkeypatch)
    study = create(place)
    times = []
    for minutes in (5, -20, 3, 40, -600):
        clock.move(minutes=minutes)
        study.ask(actor="Ada", new=True)
        times.append(list(study.events())[-1].time)
    assert times == sorted(times) and study.status().clock is None


def test_the_time_of_a_database_is_the_time(place, postgres):
    for storage in (place, postgres):
        study = create(storage)
        with study._session.storage.reading() as connection:
            found = datetime.fromisoformat(clock_module.database_time(connection))
        assert abs((datetime.now(UTC) - found).total_seconds()) < 60
        with study._session.writing("Ada") as draft:
            assert isinstance(draft, Draft)
