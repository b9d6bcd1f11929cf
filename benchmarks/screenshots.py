"""The pictures of the dashboard in docs/images: `python -m benchmarks.screenshots [FOLDER]`.

A seeded study of five doses, in the middle of its work. Chromium and its driver come from the system's packages.
"""

import base64
import sys
import tempfile
from pathlib import Path

import numpy as np
from selenium.webdriver.support.ui import WebDriverWait

from benchmarks.browser import browser, resize, server, set_dark
from prepex import Gaussian, Study

MEANS = {"placebo": (-0.2, 0.5), "low": (0.2, 0.1), "middle": (1.0, 0.4), "high": (0.7, 1.0), "very high": (1.8, 1.2)}
OUTCOMES = 240
# Name, size of the window, dark, the elements before and after which it begins and ends, scale.
SHOTS = (
    ("dashboard.png", 1200, 1000, False, "who", "h-log", 0.75),
    ("dashboard-phone.png", 390, 844, True, "h-means", "h-evidence", 1.0),
)
# The cards of another cone and of the dialogue, in use.
OPEN = """
for (const id of ["look-box", "talk-box"]) document.getElementById(id).open = true;
const slider = document.getElementById("look-degrees");
slider.value = 120;
slider.dispatchEvent(new Event("input"));
document.getElementById("talk-start").click();
"""
IN_USE = "return ['look-found', 'talk-pair'].every((id) => !document.getElementById(id).hidden)"
DRAWN = "return Boolean(document.querySelector('#log tbody tr') && document.querySelector('#evidence .main-svg'))"
TOP = "return Math.max(0, document.getElementById(arguments[0]).getBoundingClientRect().top + scrollY - 30)"


def make_study(storage: str) -> None:
    objectives = ("response", "side effects")
    noise = Gaussian(covariance=[[0.25, 0.08], [0.08, 0.16]])
    settings = {"objectives": objectives, "minimise": objectives[1:], "family": noise, "delta": 0.05, "lease": 86400.0}
    study = Study.create(storage, "dose finding", arms=tuple(MEANS), seed=1, actor="Ada", **settings)
    rng, root = np.random.default_rng(3), np.linalg.cholesky(np.array(noise.covariance))
    for site in np.arange(OUTCOMES) % 2:
        ticket = study.ask(actor=f"site {'AB'[site]}")
        outcome = MEANS[ticket.arm] + root @ rng.standard_normal(2)
        study.tell(ticket.token, outcome.round(3).tolist(), actor=f"site {'AB'[site]}")
    out = study.ask(3, actor="site A")
    study.tell(out[1].token, {"response": 0.62}, actor="site A")


def main(folder: str = "docs/images") -> None:
    with tempfile.TemporaryDirectory() as place:
        make_study(f"{place}/trials.db")
        with server(f"{place}/trials.db") as address, browser() as driver:
            for name, width, height, dark, start, end, scale in SHOTS:
                resize(driver, width, height)
                set_dark(driver, dark)
                driver.get("about:blank")
                driver.get(f"{address}/#/study/dose%20finding")
                WebDriverWait(driver, 60).until(lambda found: found.execute_script(DRAWN))
                driver.execute_script(OPEN)
                WebDriverWait(driver, 60).until(lambda found: found.execute_script(IN_USE))
                top, bottom = (driver.execute_script(TOP, place) for place in (start, end))
                clip = {"x": 0, "y": top, "width": width, "height": bottom - top, "scale": scale}
                taken = driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
                (Path(folder) / name).write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
