"""What the page says while a solver steps is true: compared with NumPy, from α and b alone."""

import json

import numpy as np
import pytest

from maxmargin.playground.presets import points as preset

MOONS = preset("moons", 60, 0.25, seed=0)
SQUARE = [[-1.0, -1.0, 0], [-1.0, 1.0, 0], [1.0, -1.0, 1], [1.0, 1.0, 1]]
MARKS = """() => [...document.querySelectorAll('.plane:first-child .dot')].map(
  (dot) => (dot.querySelector('.mark')?.getAttribute('class') ?? 'mark ').split(' ')[1])"""


def gauss(rows, others, gamma):
    return np.exp(-gamma * ((rows[:, None, :] - others[None, :, :]) ** 2).sum(axis=2))


def expected(points, lane, C, gamma):
    """Marks, primal, gap and accuracy of the machine with these α and b."""
    rows = np.array(points)
    y, alpha = np.where(rows[:, 2] == 1, 1.0, -1.0), np.array(lane["alpha"])
    K = gauss(rows[:, :2], rows[:, :2], gamma)
    norm = (y * alpha) @ K @ (y * alpha)
    margin = y * (K @ (y * alpha) + lane["offset"])
    on = np.abs(margin - 1) <= 0.01
    where = np.select([on, margin <= 0, margin < 1], ["margin", "wrong", "inside"], "outside")
    primal = norm / 2 + C * np.maximum(0, 1 - margin).sum()
    dual = alpha.sum() - norm / 2
    return np.where(alpha > 0, where, ""), margin, primal, dual, np.mean(margin > 0)


@pytest.mark.parametrize(
    ("solver", "C"),
    [
        ("random-pair", 1.0),
        ("simplified", 5.0),
        ("platt", 0.6),
        ("maximal-violating-pair", 10.0),
        ("second-order", 0.1),
    ],
)
def test_marks_and_numbers_of_steps_are_those_of_alpha_and_b(open_page, solver, C):
    page = open_page(f"mode=steps&solver={solver}&C={C}&gamma=2")
    page.run("(app, points) => app.store.set({ points })", MOONS.as_json())
    page.started()
    random = np.random.default_rng(len(solver))
    for _ in range(10):
        page.run("(app, n) => app.stage.player.more(n)", int(random.integers(1, 9)))
        page.wait(
            "() => { const { player } = document.querySelector('.playground').playground.stage;"
            " return !player.waiting; }"
        )
        page.frames()
        lane = page.run("(app) => app.stage.player.frame.lanes[0]")
        if lane["ended"]:
            break
        marks, margin, primal, dual, accuracy = expected(page.points, lane, C, 2.0)
        clear = np.abs(np.abs(margin - 1) - 0.01) > 1e-9
        clear &= np.abs(margin) > 1e-9
        shown = np.array(page.page.evaluate(MARKS))
        np.testing.assert_array_equal(shown[clear], marks[clear])
        np.testing.assert_allclose(lane["margin"], margin, atol=1e-9)
        numbers = page.certificate()
        assert numbers["primal"] == pytest.approx(primal, rel=1e-9)
        assert numbers["dual"] == pytest.approx(dual, rel=1e-9)
        assert numbers["gap"] == pytest.approx(primal - dual, rel=1e-9)
        assert lane["accuracy"] == accuracy
        assert f"b = {lane['offset']:.1g}"[:5] in page.control("certificate").inner_text().replace(
            "−", "-"
        )


def test_the_box_has_the_documents_numbers(open_page):
    page = open_page("mode=steps&solver=platt&C=0.6")
    page.run("(app, points) => app.store.set({ points })", MOONS.as_json())
    page.started()
    before = {"alpha": [0.0] * 60, "offset": page.run(OFFSET)}
    for _ in range(8):
        page.steps()
        lane = page.run("(app) => app.stage.player.frame.lanes[0]")
        (i, j), rows = lane["rows"], np.array(page.points)
        y, alpha = np.where(rows[:, 2] == 1, 1.0, -1.0), np.array(before["alpha"])
        K = gauss(rows[:, :2], rows[:, :2], 1.0)
        E = K @ (y * alpha) + before["offset"] - y
        eta = K[i, i] + K[j, j] - 2 * K[i, j]
        if y[i] == y[j]:
            L, H = max(0, alpha[i] + alpha[j] - 0.6), min(0.6, alpha[i] + alpha[j])
        else:
            L, H = max(0, alpha[j] - alpha[i]), min(0.6, 0.6 + alpha[j] - alpha[i])
        best = alpha[j] + y[j] * (E[i] - E[j]) / eta
        shown = page.page.evaluate(
            "() => Object.fromEntries("
            "[...document.querySelectorAll('[data-control=box] dd[data-value]')].map("
            "(cell) => [cell.dataset.value, Number(cell.dataset.exact)]))"
        )
        wanted = {"η": eta, "Eᵢ": E[i], "Eⱼ": E[j], "L": L, "H": H, "αⱼ": best}
        wanted["clipped"] = min(max(best, L), H)
        assert shown == pytest.approx(wanted, abs=1e-9)
        assert lane["alpha"][j] == pytest.approx(wanted["clipped"], abs=1e-9)
        before = lane


OFFSET = "(app) => app.stage.player.frame.lanes[0].offset"


@pytest.mark.parametrize(
    ("fragment", "words"),
    [
        ("machine=hard-margin&kernel=linear", "not separable"),
        ("machine=kernel-perceptron", "minimises nothing"),
        ("mode=steps&solver=coordinate-descent", "switch the offset b off"),
        ("mode=steps&machine=kernel-regression", "linear system"),
    ],
)
def test_where_there_is_no_proof_the_page_says_why(open_page, fragment, words):
    page = open_page(fragment)
    page.page.locator("[data-control=certificate] .status", has_text=words).wait_for()


def test_without_points_there_is_no_machine_and_no_word_of_duals(playground):
    playground.refit(lambda: playground.control("clear").click())
    status = playground.page.locator("[data-control=certificate] .status").inner_text()
    assert "Draw points of two classes" in status
    assert "dual" not in status


def test_kernel_regression_has_the_certificate_of_its_linear_system(open_page):
    page = open_page("machine=kernel-regression")
    page.draw(preset("sine", 30, 0.2, seed=0).as_json())
    numbers = page.certificate()
    rows = np.array(page.points)
    K, ridge = gauss(rows[:, :1], rows[:, :1], 1.0), 0.1
    beta = np.linalg.solve(K + ridge * np.eye(30), rows[:, 1])
    primal = ((rows[:, 1] - K @ beta) ** 2).sum() / 2 + ridge * beta @ K @ beta / 2
    assert numbers["primal"] == pytest.approx(primal, rel=1e-6)
    assert numbers["dual"] == pytest.approx(primal, rel=1e-6)


@pytest.mark.parametrize("mode", ["explore", "steps"])
def test_an_indefinite_kernel_has_no_gap(open_page, mode):
    page = open_page(f"kernel=sigmoid&mode={mode}&speed=5000")
    if mode == "steps":
        page.control("play").click()
        page.wait("() => document.querySelector('.playground').playground.stage.player.ended")
        page.frames()
    proof = page.control("certificate")
    assert "no bound" in proof.locator("dd[data-value=gap]").inner_text()
    assert "indefinite" in proof.locator(".status").inner_text()
    assert "converged" not in proof.locator(".status").inner_text()


def test_a_regressors_legend_and_hint_are_about_tubes(open_page):
    page = open_page("machine=svr&preset=sine,40,0.2,0")
    page.draw(preset("sine", 40, 0.2, seed=0).as_json())
    page.refit(lambda: page.control("noise").locator("input[type=range]").press("ArrowRight"))
    legend = page.page.locator(".legend").inner_text()
    assert "outside it" in legend
    assert "margin" not in legend
    assert "class" not in page.page.locator(".message").inner_text()


def test_nu_svr_shows_the_epsilon_it_found(open_page):
    page = open_page("machine=nu-svr")
    page.draw(preset("sine", 40, 0.2, seed=0).as_json())
    tube = page.run("(app) => app.model.fit.tube")
    assert tube > 0
    found = page.page.locator("[data-control=certificate] .about").inner_text()
    assert f"ε = {tube:.2g}"[:6] in found


def test_every_number_can_be_typed(open_page):
    page = open_page()
    page.draw(MOONS.as_json())
    typed = page.page.locator("[data-control=C] .typed")
    page.refit(lambda: (typed.fill("0.6"), typed.press("Enter")))
    assert page.run("(app) => app.store.state.settings.C") == 0.6
    typed.fill("nonsense")
    typed.press("Enter")
    assert typed.input_value() == "0.6"
    gamma = page.page.locator("[data-control=gamma] .typed")
    page.refit(lambda: (gamma.fill("2,5"), gamma.press("Enter")))
    assert page.run("(app) => app.store.state.settings.gamma") == 2.5


def test_a_refused_solver_leaves_no_curves_and_works_once_the_offset_is_off(open_page):
    page = open_page("mode=steps")
    page.steps(3)
    page.page.select_option("select[name=solver]", "coordinate-descent")
    page.page.locator(".sentence.problem", has_text="switch the offset b off").wait_for()
    assert not page.page.locator(".theatre .chart").first.is_visible()
    assert "CoordinateDescent" not in page.page.locator(".playground").inner_text()
    page.control("offset").click()
    page.started()
    page.steps(1)


def test_on_a_phone_the_plane_stays_and_a_swipe_adds_nothing(open_page):
    page = open_page(width=390, height=844, has_touch=True, is_mobile=True)
    page.page.locator("[data-control=C] input[type=range]").scroll_into_view_if_needed()
    plane = page.page.locator(".plane").first.bounding_box()
    slider = page.page.locator("[data-control=C] input[type=range]").bounding_box()
    assert plane["y"] >= 0
    assert plane["y"] + plane["height"] <= slider["y"] <= 844
    before = page.points
    client = page.page.context.new_cdp_session(page.page)
    x, y = page.pixel(2.6, 2.6)
    for kind, places in [
        ("touchStart", [y]),
        *[("touchMove", [y + k]) for k in (10, 40, 80)],
        ("touchEnd", []),
    ]:
        touches = [{"x": x, "y": each} for each in places]
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})
    page.frames()
    assert page.points == before
    page.refit(lambda: page.page.touchscreen.tap(*page.pixel(2.6, 2.6)))
    assert len(page.points) == len(before) + 1


def test_undo_takes_back_what_was_done_last(open_page):
    page = open_page()
    page.draw(SQUARE)
    page.refit(lambda: page.click(0.3, 0.3))
    page.refit(lambda: page.choose("kernel", "linear"))
    page.page.locator(".plane").first.focus()
    page.refit(lambda: page.page.keyboard.press("Control+Z"))
    assert page.run("(app) => app.store.state.settings.kernel") == "rbf"
    assert len(page.points) == 5
    page.page.keyboard.press("]")
    for _ in range(12):
        page.page.keyboard.press("ArrowUp")
    assert page.points[0][1] == pytest.approx(0.2)
    page.page.keyboard.press("Control+Z")
    assert page.points[0] == SQUARE[0]
    assert len(page.points) == 5


PASTE = """(text) => {
  const event = new ClipboardEvent("paste", { clipboardData: new DataTransfer(), bubbles: true });
  event.clipboardData.setData("text", text);
  document.dispatchEvent(event);
}"""


def test_a_csv_error_goes_with_the_next_change_and_a_large_file_is_sampled(playground):
    playground.page.evaluate(PASTE, "1,2,a\n3,four,b")
    problem = playground.page.locator(".message.problem")
    problem.wait_for()
    playground.refit(lambda: playground.click(2.5, 2.5))
    assert problem.count() == 0
    random = np.random.default_rng(0)
    rows = [f"{x:.3f},{y:.3f},{k % 2}" for k, (x, y) in enumerate(random.uniform(-2, 2, (2000, 2)))]
    playground.page.evaluate(PASTE, "\n".join(rows))
    problem.wait_for()
    playground.refit(lambda: playground.control("sample").click())
    assert len(playground.points) == 1000
    assert playground.page.locator(".message").inner_text().startswith("1,000 points of 2,000")
    playground.click(0.0, 2.9)
    assert "1,000 points are the most" in problem.inner_text()
    assert len(playground.points) == 1000


def test_pictures_have_axes(playground, tmp_path):
    playground.draw(MOONS.as_json())
    saved = {}
    for name in ("png", "svg", "tikz"):
        with playground.page.expect_download() as waiting:
            playground.control(f"save-{name}").click()
        waiting.value.save_as(tmp_path / name)
        saved[name] = (tmp_path / name).read_bytes()
    width = int.from_bytes(saved["png"][16:20], "big")
    assert width >= 2 * 800
    svg, tikz = saved["svg"].decode(), saved["tikz"].decode()
    assert all(f">{tick}</text>" in svg for tick in ("−3", "0", "3"))
    assert "polyline" in svg
    assert tikz.count("mark=") == 60
    assert "node[below] {$-3$}" in tikz


def test_curves_have_a_scale_and_the_lecture_size_is_large(open_page):
    page = open_page("mode=steps")
    page.steps(4)
    ticks = page.page.locator(".chart").first.locator(".tick").count()
    assert ticks >= 4
    size = "() => parseFloat(getComputedStyle(document.querySelector('.sentence')).fontSize)"
    before = page.page.evaluate(size)
    page.control("size").click()
    page.frames()
    assert page.page.evaluate(size) >= 1.4 * before


@pytest.mark.parametrize("fragment", ["", "&machine=hard-margin", "&solver=platt"])
def test_the_console_has_no_errors(open_page, fragment):
    page = open_page(f"mode=steps{fragment}")
    told = []
    page.page.on("console", lambda message: told.append((message.type, message.text)))
    for _ in range(3):
        page.control("step").click()
    page.wait(
        "() => !document.querySelector('.playground').playground.stage.player.waiting",
    )
    page.frames()
    assert [text for kind, text in told if kind == "error"] == []


def test_clicks_right_after_a_change_of_solver_count(open_page):
    page = open_page("mode=steps")
    page.page.select_option("select[name=solver]", "second-order")
    page.page.evaluate(
        "() => [1, 2, 3].forEach(() => document.querySelector('[data-control=step]').click())"
    )
    page.wait(
        "() => { const { player } = document.querySelector('.playground').playground.stage;"
        " return !player.waiting && player.frame?.lanes[0].steps === 3; }"
    )
    assert page.run("(app) => app.stage.player.frame.lanes[0].solver") == "Second order"


def test_play_right_after_a_change_of_solver_counts(open_page):
    page = open_page("mode=steps&speed=2000")
    page.run(
        "(app) => { app.store.set({ solver: 'second-order' });"
        " document.querySelector('[data-control=play]').click(); }"
    )
    page.page.locator(".status[data-status=converged]").wait_for()
    assert page.run("(app) => app.stage.player.frame.lanes[0].solver") == "Second order"


def test_the_switch_leave_it_out_does_not_run_away_from_the_pointer(playground):
    """A click lands where it was aimed, though the words about a point go as the pointer leaves."""
    playground.draw([*SQUARE, [-2.5, 0.0, 0]])
    playground.page.mouse.move(*playground.pixel(-2.5, 0.0))
    playground.page.locator(".plane .tip").first.wait_for(state="visible")
    switch = playground.control("leave-out")
    there = switch.bounding_box()
    playground.page.mouse.move(there["x"] + 9, there["y"] + 9)
    playground.frames()
    assert switch.bounding_box() == there


def test_what_was_asked_is_asked_again_when_the_server_comes_back(playground):
    playground.draw([*SQUARE, [-2.5, 0.0, 0]])
    playground.control("leave-out").click()
    lost = """(app) => {
      const { send } = WebSocket.prototype;
      WebSocket.prototype.send = function (text) {
        if (!text.includes("leave-out")) return send.call(this, text);
        WebSocket.prototype.send = send; // this one is lost, with its connection
        this.close();
      };
    }"""
    playground.run(lost)
    playground.page.mouse.move(*playground.pixel(1.0, 1.0))
    playground.page.locator(".verdict", has_text="Without point 3").wait_for()


def test_a_lesson_of_steps_shows_the_code_that_runs(open_page):
    page = open_page("mode=steps&solver=simplified")
    page.run("(app, points) => app.store.set({ points })", MOONS.as_json())
    page.started()
    page.steps(2)
    code = page.page.locator("[data-control=listing]")
    assert "E_i, E_j" in code.inner_text()
    assert code.locator(".now").count() == 1
    margin = code.locator(".margin", has_text="η = ").inner_text()
    eta = page.run("(app) => app.stage.player.frame.lanes[0].box.values.eta")
    assert margin.startswith(f"η = {eta:.3g}")
    now = code.locator(".now code").inner_text()
    code.locator(".listing").focus()
    page.page.keyboard.press("ArrowUp")
    assert code.locator(".now code").inner_text() != now
    assert json.dumps(page.run("(app) => app.stage.player.frame.lanes[0].ran"))
