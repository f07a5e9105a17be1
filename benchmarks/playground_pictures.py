"""The playground's pictures in docs/images/playground: `python -m benchmarks.playground_pictures`.

Each is a state of the page in a real browser, on light or dark, at the width of a desk, a phone or
a projector; reduced to 256 colours. Needs Debian's `chromium`, `fonts-inter` and `pngquant`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.playground import COMMAND, FLAGS, READY, wait

FOLDER = Path(__file__).parents[1] / "docs" / "images" / "playground"
DESK, PROJECTOR, PHONE = (1280, 800), (1920, 1080), (390, 844)


def press(page: Page, control: str, times: int = 1) -> None:
    for _ in range(times):
        page.locator(f"[data-control={control}]").click()
        page.wait_for_timeout(150)


def choose(page: Page, control: str, value: str) -> None:
    page.locator(f"[data-control={control}] [data-value={value}]").click()
    page.wait_for_timeout(700)


def explore(page: Page) -> None:
    dot = page.locator(".plane").first.locator(".dot:has(.mark.margin)").nth(4)
    box = dot.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def steps(page: Page) -> None:
    choose(page, "preset", "mixture")
    choose(page, "mode", "steps")
    press(page, "step", 14)


def race(page: Page) -> None:
    choose(page, "preset", "circles")
    choose(page, "mode", "race")
    page.select_option("select[name=solver]", "random-pair")
    page.wait_for_timeout(700)
    press(page, "play")
    page.wait_for_timeout(6000)


def lesson(page: Page) -> None:
    page.select_option("select[name=lesson]", "4")
    page.wait_for_timeout(900)
    for _ in range(3):
        press(page, "lesson-next")
        page.wait_for_timeout(700)


def regions(page: Page) -> None:
    choose(page, "preset", "blobs")
    choose(page, "kernel", "linear")
    choose(page, "multiclass", "ovr")


def tube(page: Page) -> None:
    choose(page, "preset", "sine")


def phone(page: Page) -> None:
    choose(page, "mode", "steps")
    press(page, "step", 8)
    page.evaluate("scrollTo(0, 0)")


PICTURES: dict[str, tuple[tuple[int, int], str, Callable[[Page], None]]] = {
    "explore": (DESK, "light", explore),
    "explore-dark": (DESK, "dark", explore),
    "steps": (DESK, "light", steps),
    "steps-projector": (PROJECTOR, "light", steps),
    "steps-projector-dark": (PROJECTOR, "dark", steps),
    "race": (DESK, "light", race),
    "lesson": (DESK, "light", lesson),
    "regions": (DESK, "light", regions),
    "tube": (DESK, "dark", tube),
    "phone": (PHONE, "light", phone),
}


def take(browser: Browser, address: str, name: str) -> None:
    (width, height), scheme, arrange = PICTURES[name]
    hand = width < 500
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        device_scale_factor=2 if hand else 1,
        is_mobile=hand,
        has_touch=hand,
    )
    page = context.new_page()
    page.goto(address)
    wait(page, READY)
    page.wait_for_timeout(500)
    arrange(page)
    page.wait_for_timeout(500)
    small = subprocess.run(
        ["pngquant", "-"], input=page.screenshot(), capture_output=True, check=True
    )
    (FOLDER / f"{name}.png").write_bytes(small.stdout)
    context.close()


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    server = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "playground", "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        address = server.stdout.readline().split("is at ")[1].split()[0]
        with sync_playwright() as playwright:
            path = shutil.which("chromium")
            browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
            for name in sys.argv[1:] or PICTURES:
                take(browser, address, name)
            browser.close()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
