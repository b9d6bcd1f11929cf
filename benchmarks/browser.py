"""A server of one's own and a Chromium without a window, for as long as they are needed.

Chromium and its driver come from the system's packages: nothing is downloaded, and nothing is looked up.
"""

import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from selenium import webdriver

from prepex.server.access import Keys
from prepex.server.app import make_app, make_server

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)


@contextmanager
def server(storage: str, keys: Keys | None = None) -> Iterator[str]:
    """The address of a server on a free port of this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        running = make_server(make_app(storage, keys), host="127.0.0.1", port=0)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [free]}, daemon=True)
        thread.start()
        end = time.monotonic() + 60
        while not running.started:
            if not thread.is_alive() or time.monotonic() > end:
                raise RuntimeError("the server has not started")
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{free.getsockname()[1]}"
        finally:
            running.should_exit = True
            thread.join(30)


@contextmanager
def browser(width: int = 1280, height: int = 900, *, downloads: str | None = None) -> Iterator[Any]:
    """Chromium with a profile of its own, which is deleted at the end."""
    os.environ["SE_OFFLINE"] = "true"
    with tempfile.TemporaryDirectory(prefix="prepex-chromium-", ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in (*FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        if downloads is not None:
            options.add_experimental_option("prefs", {"download.default_directory": downloads})
        found = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
        try:
            found.set_page_load_timeout(120)
            found.set_script_timeout(120)
            resize(found, width, height)
            yield found
        finally:
            found.quit()


def resize(driver: Any, width: int, height: int) -> None:
    """A screen of this size; a narrow one is a phone's."""
    phone = width < 500
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": phone})


def set_dark(driver: Any, dark: bool) -> None:
    """What the system prefers."""
    wanted = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})
