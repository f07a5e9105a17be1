"""Every exercise can be solved in the browser, and a wrong answer is told so."""

import json

import pytest

from maxmargin.playground.schema import Refused
from maxmargin.playground.tours import lessons, read_lesson

LESSONS = {lesson["id"]: lesson for lesson in lessons()}
VERDICT = ".exercise-verdict[data-kind={}]"


@pytest.fixture
def exercise(open_page, server):
    """Open a step of a lesson of exercises."""

    def go(lesson, number):
        page = open_page(url=f"{server.url}?lesson={lesson}")
        for _ in range(number):
            page.control("lesson-next").click()
        page.page.locator(".lesson .count", has_text=f"{number + 1} of").wait_for()
        page.settle()
        page.wait(
            "() => { const { player } = document.querySelector('.playground').playground.stage;"
            " return !player.waiting; }"
        )
        assert page.page.locator(VERDICT.format("right")).count() == 0
        return page

    return go


def solved(page):
    page.page.locator(VERDICT.format("right")).wait_for()


def typed(page, name, value):
    field = page.page.locator(f"[data-control={name}] .typed")
    field.fill(str(value))
    field.press("Enter")
    page.settle()


def alphas(page):
    return page.run("(app) => (app.model.fit?.at ?? {}).alpha")


def test_a_C_with_three_support_vectors(exercise):
    page = exercise("exercises-machines", 0)
    for C in (0.35, 1, 5, 20):
        typed(page, "C", C)
        if page.run("(app) => app.model.fit.support") == 3:
            break
    solved(page)


def test_a_point_that_is_no_support_vector(exercise):
    page = exercise("exercises-machines", 1)
    page.refit(lambda: page.click(-2.7, 2.6))
    solved(page)


def test_a_point_that_ends_the_hard_margin(exercise):
    page = exercise("exercises-machines", 2)
    page.refit(lambda: page.click(2.0, -1.5))
    solved(page)


def choose(page, rows):
    for row in rows:
        page.click(*page.points[row][:2])
    page.control("lesson-check").click()


def test_the_point_that_can_be_left_out_and_one_that_cannot(exercise):
    page = exercise("exercises-machines", 3)
    alpha, before = alphas(page), page.points
    choose(page, [alpha.index(max(alpha))])
    page.page.locator(VERDICT.format("wrong")).wait_for()
    choose(page, [alpha.index(0.0)])
    solved(page)
    assert page.points == before


def test_a_point_at_its_bound(exercise):
    page = exercise("exercises-machines", 4)
    alpha = alphas(page)
    page.control("lesson-hint").click()
    page.page.locator(VERDICT.format("hint"), has_text="α = C").wait_for()
    choose(page, [alpha.index(1.0)])
    solved(page)


def test_a_circle_with_a_polynomial(exercise):
    page = exercise("exercises-machines", 5)
    page.choose("kernel", "polynomial")
    typed(page, "degree", 2)
    solved(page)


def test_every_point_a_support_vector(exercise):
    page = exercise("exercises-machines", 6)
    typed(page, "gamma", 100)
    solved(page)


def test_a_tube_with_few_support_vectors(exercise):
    page = exercise("exercises-machines", 7)
    typed(page, "epsilon", 0.6)
    solved(page)


LANE = "(app) => app.stage.player.frame.lanes[0]"


def residuals(page):
    """E = f(x) − y, α and y of every point."""
    lane = page.run(LANE)
    y = [1 if point[2] == 1 else -1 for point in page.points]
    return [f - k for f, k in zip(lane["f"], y, strict=True)], lane["alpha"], y


def test_the_next_pair_can_be_predicted_from_E(exercise):
    page = exercise("exercises-solvers", 0)
    E, alpha, y = residuals(page)
    rise = [i for i in range(16) if (alpha[i] < 1 if y[i] > 0 else alpha[i] > 0)]
    fall = [i for i in range(16) if (alpha[i] > 0 if y[i] > 0 else alpha[i] < 1)]
    pair = [min(rise, key=lambda i: E[i]), max(fall, key=lambda i: E[i])]
    choose(page, pair)
    solved(page)


@pytest.mark.parametrize(("number", "violates"), [(1, True), (2, False)])
def test_who_violates_kkt(exercise, number, violates):
    page = exercise("exercises-solvers", number)
    lane = page.run(LANE)

    def by(i):
        alpha, margin = lane["alpha"][i], lane["margin"][i]
        return 1 - margin if alpha == 0 else margin - 1 if alpha == 1 else abs(margin - 1)

    right = next(i for i in range(16) if (by(i) > 0.02) == violates and abs(by(i)) > 0.02)
    choose(page, [right])
    solved(page)


def test_simplified_smo_can_be_broken(exercise):
    page = exercise("exercises-solvers", 3)
    page.run(
        "(app, points) => app.store.set({ points,"
        " settings: { ...app.store.state.settings, kernel: 'linear', C: 10000 } })",
        [[-1.0, 0.1, 0], [-0.9, -0.1, 0], [0.9, 0.0, 1], [1.0, 0.2, 1], [0.1, 0.0, 0]],
    )
    page.started()
    page.control("play").click()
    solved(page)


def test_the_second_order_needs_few_steps(exercise):
    page = exercise("exercises-solvers", 4)
    page.page.select_option("select[name=solver]", "second-order")
    page.started()
    page.control("play").click()
    solved(page)


def test_there_are_ten_exercises_and_each_has_a_hint():
    all_steps = [step for lesson in LESSONS.values() for step in lesson["steps"]]
    found = [step for step in all_steps if "exercise" in step]
    assert len(found) >= 10
    assert all(step["hint"] for step in found)


RIGHT = {"title": "Mine", "start": {}, "steps": [{"text": "Look."}]}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"steps": []}, "mine.json: steps is a list"),
        ({"colour": 1}, "title, start and steps"),
        ({"start": {"solver": "magic"}}, "mine.json, step 1: solver is one of"),
        ({"start": {"preset": {"name": "sea"}}}, "the name of a preset"),
        ({"start": {"settings": {"C": -1}}}, "C must be a number"),
        ({"start": {"mode": "dream"}}, "explore, steps or race"),
        ({"start": {"zoom": 2}}, "a state has no zoom"),
        ({"steps": [{"text": "…", "exercise": {"choose": "all"}}]}, "choose is one of"),
        ({"steps": [{"text": "…", "exercise": {"goal": [["C", "is", 1]]}}]}, "a goal is a list"),
    ],
)
def test_a_wrong_lesson_says_where_and_what(wrong, why):
    with pytest.raises(Refused, match=why):
        read_lesson("mine.json", json.dumps({**RIGHT, **wrong}))
    with pytest.raises(Refused, match=r"mine\.json: "):
        read_lesson("mine.json", "{")


def test_a_teachers_own_lesson_is_served_and_can_be_embedded(start_server, open_page, tmp_path):
    (tmp_path / "ours.json").write_text(json.dumps(RIGHT))
    own = start_server("--port", "0", "--lessons", str(tmp_path))
    page = open_page(url=f"{own.url}?lesson=ours&hide=data,layers")
    page.page.locator(".lesson-text", has_text="Look.").wait_for()
    assert not page.control("data").is_visible()
    page.control("share").click()
    frame = page.page.locator("input[name=embed]").input_value()
    assert frame.startswith(f'<iframe src="{own.url}?lesson=ours#')
    assert "hide=data,layers" in frame


def test_slides_of_another_origin_can_show_the_page(server, chromium, tmp_path):
    slides = tmp_path / "slides.html"
    slides.write_text(
        f'<iframe src="{server.url}?lesson=margin" width="1000" height="700"></iframe>'
    )
    page = chromium.new_context().new_page()
    page.goto(slides.as_uri())
    inside = page.frame_locator("iframe")
    inside.locator(".lesson-text", has_text="Many lines").wait_for()
    page.context.close()
