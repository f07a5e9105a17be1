"""A server of our own, a real Chromium, and a page in it."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[2]
COMMAND = "from maxmargin.cli import app; app()"
PATIENCE = 90  # seconds that a page, or a process, may take on a busy machine
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Server:
    """`maxmargin playground` as a process."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, "playground", "--no-browser", *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.greeting = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", self.greeting)
        assert found, f"the server did not start: {self.greeting}{self.process.stdout.read()}"
        self.url, self.port = found[0], int(found[1])

    def stop(self):
        """As Ctrl-C would; what it wrote after its greeting."""
        self.process.send_signal(signal.SIGINT)
        rest = self.process.stdout.read()
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        return rest


@pytest.fixture(scope="session")
def server():
    """One for all tests that do not stop it."""
    running = Server()
    yield running
    running.stop()


@pytest.fixture
def start_server():
    """Start one more; those still running are stopped in the end."""
    started = []

    def start(*arguments):
        started.append(Server(*arguments))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.stop()


@pytest.fixture(scope="module")
def chromium():
    """The browser: Debian's, which `.ci/run` installs.

    Not for the whole session: Playwright keeps an event loop running, which others may want.
    """
    path = shutil.which("chromium")
    assert path, "these tests need Chromium: apt-get update && apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


class Playground:
    """A page of the playground, and what a user does with it."""

    def __init__(self, page, url):
        self.page, self.url = page, url
        self.errors, self.requests = [], []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, fragment=""):
        """The page with its first machine."""
        self.page.goto(f"{self.url}#{fragment}" if fragment else self.url)
        self.wait(
            "() => { const root = document.querySelector('.playground');"
            " return root.dataset.fits > 0 || root.querySelector('.sentence')?.textContent; }"
        )
        return self

    def wait(self, condition, argument=None, seconds=PATIENCE):
        """Until a JavaScript function says yes. (Playwright's own needs eval, which we forbid.)"""
        deadline = monotonic() + seconds
        while not self.page.evaluate(condition, argument):
            assert monotonic() < deadline, f"waited {seconds} s in vain for {condition}"
            self.page.wait_for_timeout(10)

    def run(self, script, *arguments):
        """A JavaScript function of the mounted app."""
        return self.page.evaluate(
            f"(given) => ({script})(document.querySelector('.playground').playground, ...given)",
            list(arguments),
        )

    @property
    def points(self):
        return self.run("(app) => app.store.state.points")

    def fits(self):
        return int(self.page.locator(".playground").get_attribute("data-fits") or 0)

    def refit(self, action):
        """Do something that must lead to a new machine, and wait for the last of it."""
        before = self.fits()
        result = action()
        self.wait("(n) => document.querySelector('.playground').dataset.fits > n", before)
        self.settle()
        return result

    def settle(self):
        """Wait until nothing is under way any more and all is drawn."""
        self.frames()  # a change is asked for in the next one
        self.wait(
            "() => { const { model } = document.querySelector('.playground').playground;"
            " return !model.asked && !model.dirty; }"
        )
        self.frames()

    def frames(self):
        """Let the browser draw twice."""
        self.page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def picture(self):
        """The field as pixels: equal pictures are equal strings."""
        return self.page.evaluate("document.querySelector('canvas.field').toDataURL()")

    def draw(self, points):
        """Put these points on the page."""
        self.refit(lambda: self.run("(app, points) => app.store.set({ points })", points))

    def pixel(self, x, y):
        """Where a place of the plane is on the screen."""
        box = self.page.locator(".plane").first.bounding_box()
        return (
            box["x"] + (x + 3) / 6 * box["width"],
            box["y"] + (3 - y) / 6 * box["height"],
        )

    def click(self, x, y, **more):
        self.page.mouse.click(*self.pixel(x, y), **more)

    def drag(self, start, *way):
        self.page.mouse.move(*self.pixel(*start))
        self.page.mouse.down()
        for place in way:
            self.page.mouse.move(*self.pixel(*place), steps=4)
        self.page.mouse.up()

    def control(self, name):
        return self.page.locator(f"[data-control={name}]")

    def choose(self, name, value):
        self.page.locator(f"[data-control={name}] [data-value='{value}']").click()

    def certificate(self):
        """The numbers as the page has them, in full."""
        cells = self.page.locator("[data-control=certificate] dd")
        return {
            cell.get_attribute("data-value"): float(cell.get_attribute("data-exact"))
            for cell in cells.all()
        }

    def started(self):
        """Wait until the solver that was asked for last stands at its beginning."""
        self.wait(
            "() => { const { player } = document.querySelector('.playground').playground.stage;"
            " return player.frame && !player.waiting; }"
        )

    def sentence(self):
        return self.page.locator(".sentence").inner_text()

    def steps(self, count=1):
        """Press the step button so often, each time waiting for its frame."""
        for _ in range(count):
            before = self.run("(app) => app.stage.player.frames.length")
            self.control("step").click()
            self.wait(
                "(n) => document.querySelector('.playground').playground"
                ".stage.player.frames.length > n",
                before,
            )


@pytest.fixture
def open_page(chromium, server):
    """Open pages; each test gets a browser profile of its own, and no error may pass unseen."""
    contexts, pages = [], []

    def make(fragment="", *, url=None, width=1280, height=800, **options):
        contexts.append(
            chromium.new_context(viewport={"width": width, "height": height}, **options)
        )
        contexts[-1].set_default_timeout(1000 * PATIENCE)
        pages.append(Playground(contexts[-1].new_page(), url or server.url))
        return pages[-1].open(fragment)

    yield make
    for context in contexts:
        context.close()
    assert [error for page in pages for error in page.errors] == []


@pytest.fixture
def playground(open_page):
    """A page as it first appears."""
    return open_page()
