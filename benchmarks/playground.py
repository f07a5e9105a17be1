"""The playground's speed, measured in a real browser: `python -m benchmarks.playground`.

First paint on loopback, frames per second while one of 300 points is dragged around, and the time
from a drop to the new boundary among 200 points. Needs Debian's `chromium` and the extra `test`.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median, quantiles

from playwright.sync_api import Browser, Page, sync_playwright

from maxmargin import __version__
from maxmargin.playground.presets import points
from maxmargin.resources.threads import available_cores

COMMAND = "from maxmargin.cli import app; app()"
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
READY = "() => Number(document.querySelector('.playground').dataset.fits) > 0"

PAINT = """() => new Promise((done) => {
  const found = performance.getEntriesByName("first-contentful-paint")[0];
  if (found) done(found.startTime);
  else new PerformanceObserver((list) => {
    const paint = list.getEntriesByName("first-contentful-paint")[0];
    if (paint) done(paint.startTime);
  }).observe({ type: "paint", buffered: true });
})"""

SET = """(points) => document.querySelector(".playground").playground.store.set({ points })"""

# A finger that moves at every frame: the times between frames, and how many machines were fitted.
DRAG = """async ([x0, y0, frames]) => {
  const plane = document.querySelector(".plane"), root = document.querySelector(".playground");
  const box = plane.getBoundingClientRect();
  const at = (x, y) => ({ clientX: box.left + (x + 3) / 6 * box.width, bubbles: true, button: 0,
    clientY: box.top + (3 - y) / 6 * box.height, pointerId: 1, pointerType: "mouse" });
  plane.setPointerCapture = () => {};
  plane.dispatchEvent(new PointerEvent("pointerdown", at(x0, y0)));
  const fits = Number(root.dataset.fits), times = [];
  let last = await new Promise(requestAnimationFrame);
  for (let k = 0; k < frames; k++) {
    const turn = 2 * Math.PI * k / 120;
    const [x, y] = [1.5 * Math.cos(turn), 1.5 * Math.sin(turn)];
    plane.dispatchEvent(new PointerEvent("pointermove", at(x, y)));
    const now = await new Promise(requestAnimationFrame);
    times.push(now - last);
    last = now;
  }
  plane.dispatchEvent(new PointerEvent("pointerup", at(1.5, 0)));
  return { times, fits: Number(root.dataset.fits) - fits };
}"""

# A point appears; the time until the frame in which the new boundary is drawn.
DROP = """async ([x, y]) => {
  const { store, model } = document.querySelector(".playground").playground;
  model.milliseconds = null;
  store.set({ points: [...store.state.points, [x, y, 1]] });
  while (model.milliseconds === null) await new Promise((done) => setTimeout(done, 1));
  return model.milliseconds;
}"""


def wait(page: Page, condition: str) -> None:
    while not page.evaluate(condition):
        page.wait_for_timeout(10)


def work_per_frame(browser: Browser, page: Page, place: list[float], frames: int) -> float:
    """Milliseconds of its own time that the page's main thread needs for a frame of a drag.

    Unlike frames per second it does not depend on what else the computer is doing.
    """
    browser.start_tracing(page=page, categories=["disabled-by-default-devtools.timeline"])
    page.evaluate(DRAG, [*place, frames])
    events = json.loads(browser.stop_tracing())["traceEvents"]
    main = {
        (event["pid"], event["tid"])
        for event in events
        if event.get("args", {}).get("name") == "CrRendererMain"
    }
    tasks = [
        event["tdur"]
        for event in events
        if event["name"] == "RunTask" and (event["pid"], event["tid"]) in main and "tdur" in event
    ]
    return sum(tasks) / 1000 / frames


def measure(browser: Browser, page: Page, address: str) -> dict[str, float]:
    page.goto(address)
    wait(page, READY)
    paints = []
    for _ in range(9):
        page.reload()
        paints.append(page.evaluate(PAINT))
        wait(page, READY)
    drawn = points("mixture", 300, 0.25, seed=0).as_json()
    page.evaluate(SET, drawn)
    page.wait_for_timeout(500)
    page.evaluate(DRAG, [*drawn[0][:2], 60])  # warm
    page.evaluate(SET, drawn)
    dragged = page.evaluate(DRAG, [*drawn[0][:2], 600])
    page.evaluate(SET, drawn)
    work = work_per_frame(browser, page, drawn[0][:2], 300)
    page.evaluate(SET, points("mixture", 200, 0.25, seed=0).as_json())
    page.wait_for_timeout(500)
    drops = [page.evaluate(DROP, [0.01 * k - 1, 0.5]) for k in range(40)]
    times = dragged["times"]
    return {
        "first paint, ms (median of 9)": median(paints),
        "dragging 300 points: frames per second (mean)": 1000 * len(times) / sum(times),
        "dragging: 95 % of frames within, ms": quantiles(times, n=20)[-1],
        "dragging: work of the page's main thread per frame, ms": work,
        "dragging: machines fitted and drawn per second": 1000 * dragged["fits"] / sum(times),
        "drop to new boundary, 200 points, ms (median of 40)": median(drops),
        "drop: 95 % within, ms": quantiles(drops, n=20)[-1],
    }


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.split(": ")[1] for line in lines if line.startswith("model name"))


def main() -> None:
    server = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "playground", "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        address = server.stdout.readline().split("is at ")[1].split()[0]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=FLAGS
            )
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            results = measure(browser, page, address)
            versions = f"Chromium {browser.version}, Python {platform.python_version()}"
            browser.close()
    finally:
        server.terminate()
        server.wait()
    print(f"maxmargin {__version__}, {versions}, {available_cores()} cores, no GPU,")
    print(f"{processor()}, load {os.getloadavg()[0]:.1f}")
    print(json.dumps({name: round(value, 1) for name, value in results.items()}, indent=2))


if __name__ == "__main__":
    main()
