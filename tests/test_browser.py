"""The dashboard in a real Chromium, from the form for a new study to a certificate that the checker takes."""

import json
import time
from pathlib import Path
from urllib.parse import quote, urlsplit

import numpy as np
import pytest
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys as Press
from selenium.webdriver.support.ui import Select, WebDriverWait
from typer.testing import CliRunner

from benchmarks.browser import browser, resize, server, set_dark
from prepex import Gaussian, LogNormal, Product, Study, analyse
from prepex.cli import app
from prepex.numerals import apart, by_factor, measured, number, within
from prepex.server.access import Keys
from prepex.study.check import check

# A loaded machine may need long; a healthy one never waits for it.
PATIENCE = 60
EVIL = "<img src=x onerror=window.broken=1>"


class Page:
    """A browser on a server, with short words for what a person does."""

    def __init__(self, driver, address):
        self.driver, self.address = driver, address
        for log in ("browser", "performance"):
            driver.get_log(log)

    def open(self, place=""):
        self.driver.get("about:blank")
        self.driver.get(f"{self.address}/#/{place}")

    def study(self, name):
        self.open("study/" + quote(name, safe=""))
        self.until(lambda: self.text("#log-range"))

    def run(self, script, *given):
        return self.driver.execute_script(script, *given)

    def until(self, true):
        # The page may draw a thing anew between the look and the question: look again.
        again = (StaleElementReferenceException,)
        waiting = WebDriverWait(self.driver, PATIENCE, poll_frequency=0.05, ignored_exceptions=again)
        return waiting.until(lambda _: true())

    def find(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def text(self, css):
        return self.run("return document.querySelector(arguments[0])?.textContent", css)

    def shown(self, css):
        return any(each.is_displayed() for each in self.driver.find_elements(By.CSS_SELECTOR, css))

    def fill(self, css, text):
        field = self.find(css)
        field.clear()
        field.send_keys(text)

    def click(self, css):
        self.until(lambda: self.shown(css) and self.find(css).is_enabled() and self.pressed(css))

    def pressed(self, css):
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", css)
        self.find(css).click()
        return True

    def means(self):
        """The means as Plotly has them: {name of the trace: [[x, y], ...]}."""
        script = """return Object.fromEntries([...document.querySelector("#means > .plot").data]
            .filter((t) => t.meta === "means").map((t) => [t.name, t.x.map((x, k) => [x, t.y[k]])]))"""
        return self.run(script)

    def tell(self, **values):
        """Tell the first pull that is out, in the dialog."""
        before = self.text("#log-range")
        self.click("#pulls button[aria-label^=Tell]")
        for at, value in values.items():
            self.fill(f"#dialog [name='field {at.removeprefix('f')}']", str(value))
        self.click("#dialog button.main")
        self.until(lambda: not self.shown("#dialog") and self.text("#log-range") != before)

    def overflow(self):
        return self.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def check_quiet(self, allowed=()):
        """Nothing to complain about on the console, and no request left the server."""
        for entry in self.driver.get_log("browser"):
            bad = entry["level"] in ("SEVERE", "WARNING")
            assert not bad or any(words in entry["message"] for words in allowed), entry
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = urlsplit(message["params"]["request"]["url"])
                assert url.scheme not in ("http", "https", "ws", "wss") or url.hostname == "127.0.0.1", url


@pytest.fixture(scope="module")
def downloads(tmp_path_factory):
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def driver(downloads):
    with browser(downloads=str(downloads)) as found:
        yield found


@pytest.fixture
def storage(tmp_path):
    return str(tmp_path / "trials.db")


@pytest.fixture
def page(driver, storage):
    resize(driver, 1280, 900)
    set_dark(driver, False)
    with server(storage) as address:
        found = Page(driver, address)
        yield found
        driver.get("about:blank")


def add_study(storage, name="doses", n=40, arms=("low", "high", EVIL), **settings):
    given = {"objectives": ("gain", "cost"), "minimise": ("cost",), "family": Gaussian(variance=0.25), **settings}
    study = Study.create(storage, name, arms=arms, **given)
    rng, width = np.random.default_rng(0), len(given["objectives"])
    for _ in range(n):
        if (ticket := study.ask(actor="site A")) is None:
            break
        study.tell(ticket.token, (arms.index(ticket.arm) + 0.5 * rng.standard_normal(width)).tolist())
    return study


def test_tolerances_and_limits_in_the_form_and_on_the_page(page, storage):
    page.open("new")
    page.until(lambda: page.shown("#create [name=name]"))
    page.fill("#create [name=name]", "limited")
    page.fill("#create [name=arms]", "low\nhigh")
    page.fill("#objectives [data-part=name]", "harm")
    page.run("document.querySelector('#create details').open = true")
    page.fill("#objectives [data-part=tolerance]", "0.5")
    page.fill("#create [name=limits]", "harm <= 0.3")
    page.click("#create [name=avoid_infeasible]")
    page.click("#create button.main")
    page.until(lambda: page.text("#name") == "limited" and page.text("#log-range") == "0 to 0, of 1 from 0 on")
    study = Study.open(storage, "limited")
    settings = study.certificate()["settings"]
    assert settings["tolerance"] == [0.5] and settings["avoid_infeasible"] is True
    assert settings["limits"] == [{"weights": [1.0], "at_most": 0.3}]
    for ticket in study.ask(2):
        study.tell(ticket.token, [1.0 if ticket.arm == "high" else 0.0])
    page.until(lambda: "looks dominated" not in page.text("#arms") and "infeasible: breaks" in page.text("#arms"))
    assert "0.5 in harm" in page.text("#design") and "harm at most 0.3" in page.text("#design")
    shapes = page.run("return document.querySelector('#means > .plot').layout.shapes.map((shape) => shape.x0)")
    assert shapes == [0.3]
    page.check_quiet()


def test_a_study_from_the_form_to_the_certificate(page, storage, downloads):
    page.open()
    page.click("a[href='#/new']")
    page.until(lambda: page.shown("#create [name=name]"))
    page.fill("#create [name=name]", "a/b " + EVIL)
    page.fill("#create [name=arms]", "\n".join(["low", EVIL]))
    page.fill("#objectives [data-part=name]", "gain")
    page.run(
        "const kind = document.querySelector('#objectives [data-part=kind]');"
        "kind.value = 'gaussian'; kind.dispatchEvent(new Event('change'))"
    )
    page.fill("#objectives [data-part=variance]", "0.01")
    page.click("#create button.main")
    page.until(lambda: page.text("#name") == "a/b " + EVIL and page.text("#log-range") == "0 to 0, of 1 from 0 on")
    assert page.text("#front-words") == "Nothing is known yet." and page.shown("#means-empty")
    first = page.text("#why")
    # Ask for two, tell one: it is drawn.
    page.fill("#ask-n", "2")
    page.click("#ask-button")
    page.until(lambda: len(page.driver.find_elements(By.CSS_SELECTOR, "#pulls tbody tr")) == 2)
    assert "low (1-" in page.text("#notice")
    page.tell(f0=0.25)
    page.until(lambda: page.shown("#means .main-svg"))
    assert page.means() == {"best": [], "beaten": [[0.25, 0]]}
    page.click("#pulls button[aria-label^=Tell]")
    page.fill("#dialog [name='field 0']", "1,500")
    page.click("#dialog button.main")
    page.until(lambda: "a number such as" in page.text("#dialog .error"))
    page.click("#dialog .cancel")
    page.tell(f0="1.5")
    page.until(lambda: page.means() == {"best": [[1.5, 1]], "beaten": [[0.25, 0]]})
    assert page.text("#why") != first and EVIL in page.text("#why")
    # The rest through the library, while the page looks on.
    study, values = Study.open(storage, "a/b " + EVIL), {"low": 0.25, EVIL: 1.5}
    while (ticket := study.ask()) is not None:
        study.tell(ticket.token, [values[ticket.arm]])
    page.until(lambda: page.text("#badge") == "certified")
    assert "Stopped after" in page.text("#why") and not page.find("#ask-button").is_enabled()
    curve = page.run("return document.querySelector('#evidence').data.find((t) => t.meta === 'reached').y")
    assert curve[-1] == pytest.approx(study.status().reached) and len(curve) >= study.status().n_pulls
    said = page.run("return [...document.querySelector('#log tbody tr').cells].map((c) => c.textContent)")
    assert said[2] == "told" and said[3] in values
    page.click("[data-download=certificate]")
    page.until(lambda: list(downloads.glob("certificate*.json")))
    assert check(json.loads(next(downloads.glob("certificate*.json")).read_text())).ok
    page.click("[data-download='observations.csv']")
    page.until(lambda: list(downloads.glob("observations*.csv")))
    assert page.run("return window.broken") is None, "names are text"
    assert page.overflow() <= 0
    page.check_quiet()


def fronted(storage):
    """A study in which three options are optimal, with little noise."""
    arms = {"fast": (3.0, 5.0), "cheap": (0.5, 1.0), EVIL: (2.0, 2.0), "bad": (0.0, 6.0)}
    given = {"objectives": ("gain", "cost"), "minimise": ("cost",), "family": Gaussian(variance=1e-4)}
    study = Study.create(storage, "front", arms=tuple(arms), max_pulls=10_000, **given)
    for _ in range(40):
        if (ticket := study.ask()) is None:
            break
        study.tell(ticket.token, arms[ticket.arm])
    return study


def chips(page, state):
    script = "return [...document.querySelectorAll(`#look-states .${arguments[0]} li`)].map((e) => e.title)"
    return sorted(page.run(script, state))


def test_another_cone_afterwards(page, storage):
    study = fronted(storage)
    before = study.certificate()
    page.study("front")
    page.click("#look-box summary")
    slide = """const s = document.getElementById("look-degrees"); s.value = arguments[0];
        s.dispatchEvent(new Event("input", {bubbles: true}))"""
    for degrees, expected in ((90, ["cheap", "fast", EVIL]), (150, ["cheap", EVIL])):
        page.run(slide, degrees)
        page.until(lambda expected=expected: page.shown("#look-found") and chips(page, "in") == sorted(expected))
    assert page.text("#look-degrees-words") == "150°" and chips(page, "out") == ["bad", "fast"]
    assert "under all cones together" in page.text("#look-promise") and "untouched" in page.text("#look-promise")
    assert "Accepts up to" in page.text("#look-words")
    page.fill("#look-rows", "1 0\n0 x")
    page.click("#look button")
    page.until(lambda: "rows of numbers" in page.text("#look-error"))
    page.fill("#look-rows", "1 0\n0 1")
    page.click("#look button")
    page.until(lambda: len(chips(page, "in")) == 3 and not page.text("#look-error"))
    resize(page.driver, 390, 844)
    page.until(lambda: page.overflow() <= 0)
    assert study.certificate() == before and page.run("return window.broken") is None
    page.check_quiet()


def test_the_dialogue_finds_a_cone(page, storage):
    study = fronted(storage)
    events = study.status().events
    page.study("front")
    page.click("#talk-box summary")
    page.click("#talk-start")
    page.until(lambda: page.shown("#talk-pair"))
    assert page.text("#talk-left").startswith("3 options left after 0 answers")
    assert "cost (less is better)" in page.text("#talk-one") and "gain (more is better)" in page.text("#talk-two")
    # Neither, taken back; then the one that is in the middle, until nothing is open.
    page.click("#talk-neither")
    page.until(lambda: "after 1 answer" in page.text("#talk-left"))
    page.click("#talk-back" if page.shown("#talk-back") else "#talk-again")
    page.until(lambda: "after 0 answers" in page.text("#talk-left"))
    for n in range(1, 4):
        if not page.shown("#talk-pair"):
            break
        page.click("#talk-choose-one" if page.text("#talk-one h3") == EVIL else "#talk-choose-two")
        page.until(lambda n=n: f"after {n} answer" in page.text("#talk-left"))
    page.until(lambda: page.shown("#talk-end"))
    assert "Accepts up to" in page.text("#talk-cone") and EVIL[:20] in page.text("#talk-left")
    facets = page.run("return document.getElementById('talk-facets').value")
    page.click("#talk-look")
    page.until(lambda: page.shown("#look-found") and chips(page, "in") == [EVIL])
    resize(page.driver, 390, 844)
    page.until(lambda: page.overflow() <= 0)
    page.click("#talk-use")
    page.until(lambda: page.shown("#create [name=rows]"))
    assert page.run("return document.querySelector('#create [name=rows]').value") == facets
    assert study.status().events == events and page.run("return window.broken") is None
    page.check_quiet()


def test_a_contradiction_on_the_page(page, storage):
    fronted(storage)
    page.study("front")
    # Answers that a person gives by mistake: the page is told another order of the same two options.
    page.run("document.getElementById('talk-box').open = true")
    page.click("#talk-start")
    page.until(lambda: page.shown("#talk-pair"))
    first = page.text("#talk-one h3"), page.text("#talk-two h3")
    page.click("#talk-choose-one")
    page.until(lambda: "after 1 answer" in page.text("#talk-left"))
    again = """const real = window.fetch; window.fetch = (where, given) => {
        if (String(where).endsWith("/dialogue")) {
          const body = JSON.parse(given.body), [a] = body.statements;
          body.statements[body.statements.length - 1] = {one: a.other, other: a.one, clear: true};
          given = {...given, body: JSON.stringify(body)};
        }
        window.fetch = real;
        return real(where, given);
      }"""
    if page.shown("#talk-pair"):
        page.run(again)
        page.click("#talk-choose-two")
        page.until(lambda: page.shown("#talk-clash"))
        assert f"{first[0]} rather than {first[1]}" in page.text("#talk-clashes")
        assert len(page.driver.find_elements(By.CSS_SELECTOR, "#talk-clashes li")) == 2
        page.click("#talk-clashes li:last-child button")
        page.until(lambda: not page.shown("#talk-clash") and "after 1 answer" in page.text("#talk-left"))
    page.check_quiet()


def test_correct_void_and_delete(page, storage):
    study = add_study(storage, n=6)
    page.study("doses")
    page.click("#log button[aria-label^=Correct]")
    page.fill("#dialog [name='field 0']", "7")
    page.click("#dialog button.main")
    page.until(lambda: "Reason: please" in page.text("#dialog .error"))
    page.fill("#dialog [name='field 2']", "swapped")
    page.click("#dialog button.main")
    page.until(lambda: "because: swapped" in (page.text("#log tbody") or ""))
    page.click("#log button[aria-label^=Void]")
    page.fill("#dialog [name='field 0']", "broken vial")
    page.click("#dialog button.main")
    page.until(lambda: "because: broken vial" in (page.text("#log tbody") or ""))
    assert (study.status().corrected, study.status().voided) == (1, 1)
    page.run("document.getElementById('delete').closest('details').open = true")
    page.click("#delete")
    page.fill("#dialog [name='field 0']", "another")
    page.click("#dialog button.main")
    page.until(lambda: "confirm must be" in page.text("#dialog .error"))
    page.fill("#dialog [name='field 0']", "doses")
    page.click("#dialog button.main")
    page.until(lambda: page.shown("#no-studies"))
    assert not Study.list(storage)


def test_with_the_keyboard_alone(page, storage):
    add_study(storage, n=3)
    page.study("doses")

    def keys(*given):
        page.driver.switch_to.active_element.send_keys(*given)

    page.until(lambda: page.shown("#means .main-svg"))
    page.find("body").send_keys(Press.TAB)
    assert page.run("return document.activeElement.className") == "skip"
    for _ in range(12):
        if page.run("return document.activeElement.id") == "ask-button":
            break
        keys(Press.TAB)
    assert page.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    keys(Press.ENTER)
    page.until(lambda: (page.run("return document.activeElement.getAttribute('aria-label')") or "").startswith("Tell"))
    keys(Press.ENTER)
    page.until(lambda: page.shown("#dialog"))
    keys(Press.ESCAPE)
    page.until(lambda: not page.shown("#dialog"))
    keys(Press.ENTER)
    page.until(lambda: page.shown("#dialog"))
    # In part first, then the rest: what is told is fixed.
    keys("0.5", Press.ENTER)
    page.until(lambda: not page.shown("#dialog") and "still misses: cost" in page.text("#notice"))
    page.until(lambda: (page.run("return document.activeElement.getAttribute('aria-label')") or "").startswith("Tell"))
    keys(Press.ENTER)
    page.until(lambda: page.shown("#dialog") and page.run("return document.activeElement.name") == "field 1")
    keys("0.25", Press.ENTER)
    page.until(lambda: not page.shown("#dialog") and page.run("return document.activeElement.id") == "ask-button")
    assert Study.open(storage, "doses").status().n_pulls == 4
    page.check_quiet()


def test_on_a_phone_and_in_the_dark(page, storage):
    names = tuple(f"candidate {k}: polyethylene glycol {'x' * 30} {k}" for k in range(12))
    add_study(storage, "x" * 60, arms=names, objectives=("gain", "cost", "time to market"), n=60)
    resize(page.driver, 390, 844)
    for place in ("", "new", "study/" + "x" * 60):
        page.open(place)
        page.until(lambda: page.shown("#studies .badge, #create [name=name], #counts .main-svg"))
        page.until(lambda place=place: not place.startswith("study") or page.text("#log-range"))
        assert page.overflow() <= 0 and page.run("return document.documentElement.scrollWidth") <= 390
    small = """return [...document.querySelectorAll("button, a.button, input, select, summary")]
        .filter((e) => e.offsetParent && e.getBoundingClientRect().height < 43).map((e) => e.outerHTML)"""
    assert page.run(small) == [], "large enough for a finger"
    look = "return getComputedStyle(document.body).backgroundColor"
    axis = "return document.querySelector('#counts').layout.xaxis.color"
    light = page.run(look), page.run(axis)
    set_dark(page.driver, True)
    page.until(lambda: page.run(axis) != light[1])
    assert page.run(look) != light[0]
    page.check_quiet()


def test_roles(driver, storage, tmp_path):
    add_study(storage, n=5).ask(actor="site A")
    keys = Keys(tmp_path / "keys.json")
    tokens = {role: keys.add(f"the {role}", role) for role in ("observer", "worker", "owner")}
    # Asking, voiding in the log, and making studies.
    expected = {"observer": (False, False, False), "worker": (True, False, False), "owner": (True, True, True)}
    resize(driver, 1280, 900)
    with server(storage, keys) as address:
        page = Page(driver, address)
        page.open("study/doses")
        page.until(lambda: page.shown("#token"))
        page.fill("#token", "wrong")
        page.click("#login button")
        page.until(lambda: "not known" in page.text("#error"))
        for role, parts in expected.items():
            page.fill("#token", tokens[role])
            page.click("#login button")
            page.until(lambda role=role: page.text("#who") == f"the {role} ({role})" and page.text("#log-range"))
            page.until(lambda: page.shown("#pulls tbody tr") and page.shown("#log tbody tr"))
            found = page.shown("#ask-button"), page.shown("#log button[aria-label^=Void]")
            assert found == parts[:2]
            token = page.run("return document.querySelector('#pulls tbody tr').cells[1].textContent")
            assert ("-" in token) == parts[0], "observers see no tokens"
            assert page.shown("[data-download='events.jsonl']") == parts[2]
            page.click(".brand")
            page.until(lambda: page.shown("#studies .badge"))
            assert page.shown("a[href='#/new']") == parts[2]
            page.driver.back()
            page.until(lambda: page.shown("#study-view"))
            page.click("#leave")
            page.until(lambda: page.shown("#token"))
        assert page.run("return sessionStorage.getItem('token')") is None
        page.check_quiet(allowed=("401",))
        driver.get("about:blank")


def test_news_come_without_asking(page, storage):
    study = add_study(storage, n=6)
    page.study("doses")
    page.until(
        lambda: page.run("return performance.getEntriesByType('resource').some((e) => e.name.includes('/view'))")
    )
    time.sleep(1.0)
    page.run("window.asked = []; const real = fetch; window.fetch = (...g) => { asked.push(g[0]); return real(...g); }")
    time.sleep(6.0)
    assert page.run("return window.asked") == [], "nothing has changed, and nobody asks"
    ticket = study.ask()
    page.until(lambda: ticket.token in page.text("#pulls"))
    page.open("")
    page.until(lambda: page.text("#studies tbody tr td:nth-child(4)") == "6")
    study.tell(ticket.token, [0.0, 0.0])
    page.until(lambda: page.text("#studies tbody tr td:nth-child(4)") == "7")
    page.check_quiet()


def test_busy_is_not_offline(page, storage):
    add_study(storage, n=6)
    page.study("doses")
    page.run(
        """window.real = fetch; window.fetch = async () => new Response('{"detail": "too many requests"}',
        {status: 429, headers: {"Retry-After": "1"}}); dispatchEvent(new Event("online"))"""
    )
    page.until(lambda: page.shown("#connection"))
    assert page.text("#connection").startswith("Busy: too many requests.")
    assert "trying again in 1 s" in page.text("#connection")
    page.run("window.fetch = window.real")
    page.until(lambda: not page.shown("#connection"))
    assert "Online again" not in page.text("#notice")


def test_offline_is_said_and_recovers(page, storage):
    study = add_study(storage, n=12)
    page.study("doses")
    offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    page.driver.execute_cdp_cmd("Network.enable", {})
    page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    page.until(lambda: page.shown("#connection"))
    assert "Offline" in page.text("#connection")
    ticket = study.ask()
    page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline | {"offline": False})
    page.until(lambda: not page.shown("#connection") and ticket.token in page.text("#pulls"))
    page.check_quiet(allowed=("ERR_INTERNET_DISCONNECTED",))


def test_three_objectives_in_pairs(page, storage):
    add_study(storage, n=60, objectives=("gain", "cost", "time"))
    page.study("doses")
    plots = "return document.querySelectorAll('#means > .plot.js-plotly-plot').length"
    page.until(lambda: page.run(plots) == 3)
    Select(page.find("#pair")).select_by_index(2)
    page.until(lambda: page.run(plots) == 1)
    title = page.run("return document.querySelector('#means > .plot').layout.yaxis.title.text")
    assert title.startswith("time")


def test_numbers_read_as_in_the_reports(page):
    """The dashboard writes numbers as numerals.py does, at every scale."""
    rng = np.random.default_rng(0)
    cases = []
    for scale in 10.0 ** np.arange(-20, 21, 2):
        for value, share in zip(scale * rng.normal(size=3), 10.0 ** rng.uniform(-13, 1, 3), strict=True):
            cases.append((float(value), float(value * (1 + share)), float(abs(value) * share)))
    cases += [(0.0, 1.0, 0.5), (1234.0, 1235.0, 3.0), (-0.25, 1e-9, 1e-12), (99999.6, 1e5, 1.0)]
    page.open()
    script = """const [cases, done] = arguments;
        import("/static/words.js").then((words) => done(cases.map(([a, b, e]) => [
            words.number(a), words.number(b, 3), words.apart(a, b).join(" "),
            words.measured(a, e), words.within(a, a - e, a + e),
            words.byFactor(Math.abs(a) || 1, (Math.abs(a) || 1) / (1 + e / 3), (Math.abs(a) || 1) * (1 + e / 4))])))"""
    found = page.driver.execute_async_script(script, cases)
    for (a, b, e), texts in zip(cases, found, strict=True):
        expected = [number(a), number(b, 3), " ".join(apart(a, b)), measured(a, e), within(a, a - e, a + e)]
        size = abs(a) or 1.0
        expected.append(by_factor(size, size / (1 + e / 3), size * (1 + e / 4)))
        assert texts == expected, (a, b, e)


def test_tables_of_reports_are_read_on_narrow_pages(driver, tmp_path):
    """Wide tables scroll in their place: names keep their lines, and nothing sticks to the box above."""
    rng = np.random.default_rng(3)
    names, objectives = ("gzip -1", "gzip -9 --rsyncable", "xz -0"), ("time", "output size", "memory")
    given = {"arms": names, "objectives": objectives, "family": Gaussian(variance=1.0), "at_least": {"time": -9.0}}
    study = Study.create(tmp_path / "t.db", "levels", **given, threshold="heuristic")
    for _ in range(30):
        if (ticket := study.ask()) is not None:
            study.tell(ticket, 1000.0 + rng.normal(size=3))
    study.report(tmp_path / "study.html")
    rows = [[name, *(5.0 * k + rng.normal(size=3))] for _ in range(5) for k, name in enumerate(names)]
    table = {"arm": [row[0] for row in rows], **{q: [row[k] for row in rows] for k, q in enumerate(objectives, 1)}}
    analyse(table).report(tmp_path / "table.html")
    resize(driver, 500, 900)
    driver.get((tmp_path / "study.html").as_uri())
    lines = """return [...document.querySelectorAll(".scroll td:nth-child(2)")].map((cell) => {
        const inside = document.createRange(); inside.selectNodeContents(cell);
        return new Set([...inside.getClientRects()].map((box) => Math.round(box.top))).size; })"""
    assert driver.execute_script(lines) == [1, 2, 1]
    wide = "const of = document.documentElement; return of.scrollWidth - of.clientWidth"
    assert driver.execute_script(wide) == 0
    assert driver.execute_script(
        "const box = document.querySelector('.scroll'); return box.scrollWidth > box.clientWidth"
    )
    driver.get((tmp_path / "table.html").as_uri())
    apart = """const [box, table] = [".answer", ".scroll"].map((css) => document.querySelector(css));
        return table.getBoundingClientRect().top - box.getBoundingClientRect().bottom"""
    assert driver.execute_script(apart) >= 12 and driver.execute_script(wide) == 0
    driver.get("about:blank")


def test_times_on_a_log_scale(page, storage):
    rng = np.random.default_rng(2)
    settings = {"arms": ("gzip", "bzip2", "xz"), "objectives": ("seconds", "size"), "minimise": ("seconds", "size")}
    family = Product([LogNormal(), Gaussian(variance="unknown")])
    study = Study.create(storage, "files", **settings, family=family, max_pulls=60)
    truth = {"gzip": (0.02, 9.0), "bzip2": (0.4, 7.0), "xz": (30.0, 6.0)}
    while (ticket := study.ask()) is not None:
        seconds, size = truth[ticket.arm]
        study.tell(ticket, [seconds * np.exp(0.1 * rng.normal()), size + 0.5 * rng.normal()])
    page.study("files")
    page.until(lambda: page.run("return document.querySelectorAll('#means > .plot.js-plotly-plot').length") == 1)
    shape = page.run("const {xaxis, yaxis} = document.querySelector('#means > .plot').layout; return [xaxis, yaxis]")
    assert [axis["type"] for axis in shape] == ["log", "linear"] and "log scale" in shape[0]["title"]["text"]
    assert shape[0]["range"][0] < np.log10(0.02) and np.log10(30.0) < shape[0]["range"][1] < 3.0
    means = study.status().means
    found = sorted(point for points in page.means().values() for point in points)
    np.testing.assert_allclose(found, [means[name] for name in ("gzip", "bzip2", "xz")])
    # The front goes from point to point, parallel to the axes, in the user's units.
    line = page.run(
        "const t = document.querySelector('#means > .plot').data.find((t) => t.meta === 'front'); return [t.x, t.y]"
    )
    corners = np.array(line).T
    assert np.isfinite(corners).all() and (corners[:, 0] > 0).all()
    for mean in means.values():
        assert np.isclose(corners, mean, rtol=1e-9).all(axis=1).any()
    assert "within a factor 1." in page.text("#arms") and "Means of seconds are geometric means." in page.text(
        "#promise"
    )
    page.check_quiet()


def test_a_margin_below_zero_and_what_a_probability_is(page, storage):
    """The tile has the number that the words have; with a tolerance the legend says what is probable."""
    table = Path(storage).with_suffix(".csv")
    x = np.random.default_rng(0).normal(size=24)
    table.write_text("arm,x\n" + "".join(f"{'ab'[k % 2]},{value}\n" for k, value in enumerate(x)))
    words = ["level", "--from", table, "--family", "x=unknown", "--tolerance", "x=0.1", "--storage", storage]
    assert CliRunner().invoke(app, ["study", "create", *map(str, words)]).exit_code == 0
    study = Study.open(storage, "level")
    assert study.status().reached < 0
    page.study("level")
    have = apart(study.status().reached, study.status().needed, 3)[0]
    page.until(lambda: f"{have} of " in page.text("#tiles"))
    assert f"The certified margin is {have}" in study.why()
    assert "that the option is within the tolerance of the front" in page.text("#states-words")
    page.check_quiet()


def test_a_phone_explains_its_arrows_and_a_spent_budget_how_to_go_on(page, storage):
    add_study(storage, "two words", n=30, max_pulls=30)
    for width, said in ((1280, False), (390, True)):
        resize(page.driver, width, 900)
        page.study("two words")
        page.until(lambda: page.run("return document.querySelector('#means > .plot')?.layout?.xaxis.title.text"))
        title = page.run("return document.querySelector('#means > .plot').layout.xaxis.title.text")
        assert ("↑" in title) == said == ("↑ more is better, ↓ less is better." in page.text("#promise"))
    hint = "Its budget is spent: prepex study extend 'two words' --max-pulls N --reason WHY gives it more."
    assert hint in page.text("#why")
    rows = "return [...document.querySelectorAll('#log tbody tr')].map((row) => Number(row.cells[0].textContent))"
    shown = page.run(rows)
    assert page.text("#log-range") == f"{min(shown)} to {max(shown)}, of 61 from 0 on"
    resize(page.driver, 1280, 900)
