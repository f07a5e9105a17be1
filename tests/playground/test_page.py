"""The page in a real Chromium: what a user does, and what then is there."""

import io
from contextlib import redirect_stdout
from urllib.parse import urlparse

import numpy as np
import pytest

from maxmargin.playground.catalogue import KERNELS, MACHINES, PARAMETERS
from maxmargin.playground.presets import points as preset
from maxmargin.playground.tours import lessons

SQUARE = [[-1.0, -1.0, 0], [-1.0, 1.0, 0], [1.0, -1.0, 1], [1.0, 1.0, 1]]


def test_it_asks_nobody_but_its_server(playground):
    assert playground.requests
    hosts = {urlparse(url).netloc for url in playground.requests if not url.startswith("data:")}
    assert hosts == {urlparse(playground.url).netloc}


def test_clicks_add_points_and_move_the_boundary(playground):
    playground.draw(SQUARE)
    before = playground.picture()
    playground.refit(lambda: playground.click(0.5, 2.0))
    assert playground.points[-1][2] == 0
    left = playground.picture()
    assert left != before
    playground.refit(lambda: playground.click(-0.5, -2.0, button="right"))
    assert playground.points[-1][2] == 1
    assert playground.picture() != left
    playground.page.mouse.move(*playground.pixel(2.0, 0.0))
    playground.refit(lambda: playground.page.keyboard.press("3"))
    assert playground.points[-1] == pytest.approx([2.0, 0.0, 2], abs=0.01)
    assert playground.page.locator(".dot").count() == 7


def test_a_point_follows_the_pointer_and_the_machine_follows_the_point(playground):
    playground.draw(SQUARE)
    before, fits = playground.picture(), playground.fits()
    playground.refit(lambda: playground.drag((-1.0, 1.0), (0.0, 1.5), (0.5, 0.0)))
    assert playground.points[1] == pytest.approx([0.5, 0.0, 0], abs=0.01)
    assert playground.fits() > fits + 1  # on the way too
    assert playground.picture() != before
    playground.refit(lambda: playground.control("undo").click())
    assert playground.points == SQUARE
    assert playground.picture() == before
    playground.refit(lambda: playground.page.keyboard.press("Control+Shift+Z"))
    assert playground.points[1] == pytest.approx([0.5, 0.0, 0], abs=0.01)


def test_points_are_deleted_erased_and_brushed(playground):
    playground.draw(SQUARE)
    playground.refit(lambda: playground.page.mouse.dblclick(*playground.pixel(1.0, 1.0)))
    assert playground.points == SQUARE[:3]
    playground.choose("tool", "erase")
    playground.refit(lambda: playground.drag((-2.0, -1.0), (-1.0, -1.0), (-0.5, -1.0)))
    assert playground.points == SQUARE[1:3]
    playground.choose("klass", 1)
    playground.choose("tool", "brush")
    playground.refit(lambda: playground.drag((0.0, 2.0), (2.0, 2.0)))
    assert len(playground.points) > 6
    assert {point[2] for point in playground.points[2:]} == {1}
    playground.refit(lambda: playground.control("undo").click())
    assert playground.points == SQUARE[1:3]


OF_MACHINE = {"nu": "nu-svc", "epsilon": "svr", "ridge": "kernel-regression"}
OF_KERNEL = {"degree": "polynomial", "coef0": "sigmoid", "mix": "sum"}


@pytest.mark.parametrize("name", PARAMETERS)
def test_each_slider_changes_the_machine(open_page, name):
    settings = {
        "machine": OF_MACHINE.get(name, "svc"),
        "kernel": OF_KERNEL.get(name, "rbf"),
        "fourier": str(name == "features").lower(),
    }
    page = open_page("&".join(f"{key}={value}" for key, value in settings.items()))
    page.draw(preset("mixture", 60, 0.4, seed=0).as_json())
    before = page.picture()
    slider = page.page.locator(f"input[name={name}]")
    assert slider.is_visible()
    slider.focus()
    for _ in range(6):
        page.refit(lambda: page.page.keyboard.press("ArrowLeft"))
    assert (
        page.run("(app, name) => app.store.state.settings[name]", name) < PARAMETERS[name].default
    )
    assert page.picture() != before


def test_every_machine_and_kernel_makes_a_picture(playground):
    seen = set()
    for machine, each in MACHINES.items():
        page = playground.page
        name = "sine" if each.learns == "curve" else "moons"
        playground.draw(preset(name, 40, 0.1, seed=0).as_json())
        page.select_option("select[name=kind]", machine)
        playground.settle()
        for kernel in KERNELS:
            playground.choose("kernel", kernel)
            playground.settle()
            seen.add(playground.picture())
    refused = 2  # hard margins that do not exist share the picture of no machine
    assert len(seen) >= len(MACHINES) * len(KERNELS) - refused - len(KERNELS)


def test_switches_and_schemes_change_the_machine(open_page):
    page = open_page("kernel=polynomial")
    page.draw(preset("blobs", 60, 0.5, seed=0).as_json())
    pictures = {page.picture()}
    page.refit(lambda: page.choose("multiclass", "ovr"))
    pictures.add(page.picture())
    page.refit(lambda: page.control("offset").click())
    pictures.add(page.picture())
    assert len(pictures) == 3


def test_every_layer_can_be_left_out(playground):
    playground.draw(preset("moons", 40, 0.4, seed=0).as_json())
    for name in ("shade", "boundary", "margins"):
        before = playground.picture()
        playground.control(f"layer-{name}").click()
        playground.settle()
        assert playground.picture() != before
    marks = playground.page.locator(".dot .mark.margin")
    assert marks.count() > 0
    playground.control("layer-support").click()
    playground.settle()
    assert marks.count() == 0
    slack = playground.page.locator(".slack path")
    assert slack.get_attribute("d")
    playground.control("layer-slack").click()
    playground.settle()
    assert not slack.get_attribute("d")


def test_a_point_tells_its_kkt_case_and_can_be_left_out(playground):
    playground.draw([*SQUARE, [-2.5, 0.0, 0]])
    playground.page.mouse.move(*playground.pixel(-2.5, 0.0))
    words = playground.page.locator(".plane .tip").first
    words.wait_for(state="visible")
    playground.control("leave-out").click()
    playground.page.mouse.move(*playground.pixel(1.0, 1.0))
    assert "Point 3, class B" in words.inner_text()
    assert "y·f(x)" in words.inner_text()
    verdict = playground.page.locator(".verdict", has_text="Without point 3")
    verdict.wait_for()
    assert "a support vector, the machine moves" in verdict.inner_text()


def test_leaving_out_what_is_no_support_vector_moves_nothing(open_page):
    page = open_page("kernel=linear")
    page.draw([*SQUARE, [-2.5, 0.0, 0]])
    page.control("leave-out").click()
    page.page.mouse.move(*page.pixel(-2.5, 0.0))
    page.page.locator(".verdict", has_text="Without point 4 nothing moves").wait_for()


@pytest.mark.parametrize("number", range(len(lessons())))
def test_every_lesson_can_be_taken_to_its_end(playground, number):
    lesson = lessons()[number]
    playground.page.select_option("select[name=lesson]", str(number))
    for i, step in enumerate(lesson["steps"]):
        playground.page.locator(".lesson .count", has_text=f"{i + 1} of").wait_for()
        assert playground.page.locator(".lesson-text").inner_text() == step["text"]
        wanted = {**lesson["start"], **step.get("state", {})}
        if advance := wanted.get("advance"):
            playground.wait(
                "(n) => { const { player } = document.querySelector('.playground')"
                ".playground.stage; return player.frame && !player.waiting"
                " && (player.ended || player.frame.lanes[0].steps >= n); }",
                advance,
            )
        else:
            playground.settle()
        mode = playground.page.locator(".playground").get_attribute("data-mode")
        assert mode == wanted.get("mode", "explore")
        assert playground.page.locator(".problem").count() == 0
        playground.control("lesson-next").click()
    assert not playground.page.locator(".lesson").is_visible()


def test_the_code_panel_makes_this_very_machine(playground):
    playground.draw(preset("moons", 40, 0.3, seed=0).as_json())
    playground.control("code").locator("summary").click()
    text = playground.page.locator("pre.code", has_text="decision_function")
    text.wait_for()
    namespace = {}
    with redirect_stdout(io.StringIO()):
        exec(text.inner_text(), namespace)
    shown = playground.run("(app) => app.model.fit.at.f")
    np.testing.assert_allclose(namespace["machine"].decision_function(namespace["X"]), shown)
    proof = namespace["machine"].certificate_
    assert playground.certificate()["primal"] == pytest.approx(proof.primal, rel=1e-12)


def test_it_works_by_keyboard_alone(playground):
    page = playground.page
    playground.refit(lambda: playground.control("clear").press("Enter"))
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('plane')"):
            break
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("1")
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    playground.refit(lambda: page.keyboard.press("b"))
    assert playground.points == [[-0.5, 0, 0], [0.5, 0, 1]]
    assert playground.certificate()["gap"] < 1e-6
    page.keyboard.press("]")
    playground.refit(lambda: page.keyboard.press("ArrowUp"))
    assert playground.points[0] == [-0.5, 0.1, 0]
    assert "Point 0, class A" in page.locator("[data-control=point]").inner_text()
    page.keyboard.press("Delete")
    assert len(playground.points) == 1


def test_every_control_has_a_name(playground):
    nameless = playground.page.evaluate(
        """() => [...document.querySelectorAll("button, select, input")]
          .filter((e) => !(e.labels?.length || e.getAttribute("aria-label") || e.textContent.trim()
            || e.hidden || e.closest("label")))
          .map((e) => e.outerHTML)"""
    )
    assert nameless == []


@pytest.mark.parametrize(("width", "height"), [(360, 740), (768, 1024), (1280, 720), (1920, 1080)])
@pytest.mark.parametrize("mode", ["explore", "steps", "race"])
def test_nothing_is_cut_off_at_any_width(open_page, width, height, mode):
    page = open_page(f"mode={mode}", width=width, height=height).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator(".plane").first.bounding_box()
    assert box["width"] >= min(0.4 * width, 200)
    assert box["width"] == pytest.approx(box["height"], abs=1)


def test_light_and_dark_are_both_there(open_page):
    pictures = {scheme: open_page(color_scheme=scheme).picture() for scheme in ("light", "dark")}
    assert pictures["light"] != pictures["dark"]
