"""The solver theatre on the page and behind it: its steps are those of `trace`."""

import numpy as np
import pytest

from maxmargin import Perceptron, trace
from maxmargin.playground import theatre
from maxmargin.playground.catalogue import SOLVERS
from maxmargin.playground.machine import dual_problem, recipe
from maxmargin.playground.presets import points as preset
from maxmargin.playground.schema import Advance, Refused, Settings, Start
from maxmargin.playground.session import Session
from maxmargin.playground.theatre import Theatre

MOONS = preset("moons", 40, 0.2, seed=0)


def settings_for(name):
    """Coordinate descent is for machines without an offset."""
    return Settings(offset=name != "coordinate-descent")


def frames(name, settings, points=MOONS, most=60):
    """One frame after every step."""
    stage = Theatre(Start(0, points, settings, (name,), 0.0))
    found = [stage.opening()["lanes"][0]]
    while not found[-1]["ended"] and len(found) < most:
        found.append(stage.advance(1)["lanes"][0])
    stage.close()
    return found


@pytest.mark.parametrize("name", SOLVERS)
def test_frames_are_what_trace_writes_down(name):
    settings = settings_for(name)
    table = trace(SOLVERS[name][1], *dual_problem(MOONS, settings), every="step")
    shown = [frame for frame in frames(name, settings)[1:] if not frame["ended"]]
    assert 0 < len(shown) <= len(table)
    for key in ("steps", "objective", "violation", "movement"):
        np.testing.assert_array_equal([frame[key] for frame in shown], table[key][: len(shown)])
    for frame, step in zip(shown, table.itertuples(), strict=False):
        assert frame["gap"] == pytest.approx(frame["primal"] - frame["objective"])
        assert step.why in frame["sentence"]
        if len(step.indices) <= 2 and np.isfinite(step.clipped):
            assert frame["offset"] == step.offset  # the solver's own b, and no other
            assert frame["rows"] == list(step.indices)
            clipped = f"{step.clipped:.2g}" != f"{step.unclipped:.2g}"
            assert ("clipped" in frame["sentence"]) == clipped


@pytest.mark.parametrize("machine", ["svr", "nu-svr", "nu-svc", "one-class", "hard-margin"])
def test_every_dual_machine_can_be_stepped_through(machine):
    points = preset("sine", 30, 0.1, seed=0) if machine.endswith("svr") else MOONS
    settings = Settings(machine=machine)
    last = frames("second-order", settings, points, most=2000)[-1]
    assert last["status"] == "converged"
    assert last["violation"] <= 1e-3


def test_a_clipped_step_ends_on_the_box():
    for frame in frames("maximal-violating-pair", Settings()):
        if frame["box"] and "clipped" in frame["sentence"]:
            place = frame["box"]["along"]["clipped"]
            assert any(value in (0.0, 1.0) for value in place)


def test_a_dual_without_bound_is_refused_on_the_way():
    with pytest.raises(Refused, match="Block: the dual has no bound"):
        frames("block", Settings("hard-margin", "sigmoid"), preset("moons", 40, 0.1, seed=0))


def test_what_a_solver_cannot_take_is_refused_with_one_that_can():
    with pytest.raises(Refused, match="switch the offset b on"):
        Theatre(Start(0, MOONS, Settings(offset=False), ("platt",), 0.0))
    both = ("platt", "second-order")
    with pytest.raises(Refused, match="choose SVC for a race"):
        Theatre(Start(0, MOONS, Settings(machine="kernel-perceptron"), both, 0.1))


@pytest.mark.parametrize("noise", [0.0, 0.5])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_each_step_of_the_perceptron_corrects_a_mistake(kernel, noise):
    points = preset("moons", 40, noise, seed=0)
    settings = Settings(machine="kernel-perceptron", kernel=kernel)
    shown = frames("platt", settings, points, most=500)
    X, y = points.xy, np.where(points.classes == 1, 1.0, -1.0)
    K = X @ X.T if kernel == "linear" else np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    alpha = np.zeros(len(y))
    for frame in shown[1:-1]:
        (t,) = frame["rows"]
        assert y[t] * (K[t] @ (y * alpha)) <= 0
        alpha[t] += 1
        assert frame["alpha"] == alpha.tolist()
        assert frame["f"] == pytest.approx(K @ (y * alpha), abs=1e-9)
        assert frame["norm"] == pytest.approx((y * alpha) @ K @ (y * alpha))
        assert frame["norm"] <= frame["bound"] + 1e-9  # Novikoff's upper half
        assert "slack" not in frame  # f(x) = 1 means nothing to it
        assert set(frame["kind"]) <= {"", "support", "wrong"}
    machine = recipe(settings).make().fit(X, points.classes)
    assert shown[-1]["alpha"] == alpha.tolist()
    assert alpha.sum() == machine.n_mistakes_
    apart = (y * (K @ (y * alpha))).min() > 0
    assert ("every point is on its side" in shown[-1]["sentence"]) == apart
    assert apart == (machine.mistakes_[-1] == 0)
    if kernel == "linear":  # Rosenblatt's own
        own = Perceptron(fit_intercept=False, max_iter=machine.max_iter).fit(X, points.classes)
        np.testing.assert_allclose((y * alpha) @ X, own.coef_[0], atol=1e-12)


def test_steps_that_take_long_come_in_several_frames(monkeypatch):
    """On a busy machine nothing is refused: a frame simply comes before all its steps are taken."""
    monkeypatch.setattr(theatre, "PATIENCE", 0.0)
    stage = Theatre(Start(0, MOONS, Settings(), ("simplified",), 0.0))
    stage.opening()
    lane, taken = {"ended": False}, [0]
    while not lane["ended"]:
        (lane,) = stage.advance(1000)["lanes"]
        taken.append(lane["steps"])
    assert lane["status"] == "converged"
    assert taken == sorted(taken)


def test_values_stand_beside_the_line_that_computed_them():
    stage = Theatre(Start(0, MOONS, Settings(), ("simplified",), 0.0))
    text = [line["text"].strip() for line in stage.opening()["listing"]]
    for _ in range(5):
        (lane,) = stage.advance(1)["lanes"]
        beside = {text[each["line"]]: each["values"] for each in lane["ran"]}
        i, j = lane["rows"]
        assert beside["fall, rise = room(board, i, j)"].keys() <= {"fall", "rise"}
        assert beside["α_j, E_i, E_j = α[j], E[i], E[j]"].keys() <= {"α_j", "E_i", "E_j"}
        assert beside["j = int(i + random.integers(1, n)) % n"] == {"j": j}
        assert beside["for i in range(n):"] == {"i": i}
    stage.close()


def test_a_session_has_one_theatre_at_a_time():
    session = Session()
    assert "no solver was started" in session.answer(Advance(1, 1))["why"]
    session.answer(Start(2, MOONS, Settings(), ("simplified",), 0.0))
    first = session.theatre
    session.answer(Start(3, MOONS, Settings(), ("platt",), 0.0))
    first.lanes[0]._thread.join(60)
    assert not first.lanes[0]._thread.is_alive()
    session.close()


def test_stepping_shows_the_pair_and_its_sentence(open_page):
    page = open_page("mode=steps")
    page.run("(app, points) => app.store.set({ points })", MOONS.as_json())
    page.started()
    expected = frames("maximal-violating-pair", Settings(), most=8)
    for frame in expected[1:]:
        page.steps()
        page.settle()
        assert page.sentence() == frame["sentence"]
        numbers = page.certificate()
        assert numbers["primal"] == frame["primal"]
        assert numbers["dual"] == frame["objective"]
        assert numbers["gap"] == frame["gap"]
        assert numbers["kkt_violation"] == frame["violation"]
        chosen = page.page.evaluate(
            "() => [...document.querySelectorAll('.plane:first-child .dot')]"
            ".flatMap((dot, i) => dot.classList.contains('chosen') ? [i] : [])"
        )
        assert chosen == sorted(frame["rows"])
        assert page.page.locator("[data-control=box] .clipped").is_visible()


def test_scrubbing_goes_back_to_what_was_there(open_page):
    page = open_page("mode=steps")
    told = [page.sentence()]
    for _ in range(5):
        page.steps()
        told.append(page.sentence())
    page.settle()
    picture = page.picture()
    scrub = page.page.locator("input[name=scrub]")
    for k in (2, 0, 4):
        scrub.fill(str(k))
        assert page.sentence() == told[k]
    page.page.keyboard.press("Escape")
    page.control("step").click()
    page.settle()
    assert page.sentence() == told[5]
    assert page.picture() == picture
    page.page.locator(".plane").first.focus()
    page.page.keyboard.press(",")
    assert page.sentence() == told[4]


def test_it_plays_to_the_end_and_proves_it(open_page):
    page = open_page("mode=steps&speed=2000")
    page.control("play").click()
    page.page.locator(".status[data-status=converged]").wait_for()
    numbers = page.certificate()
    assert numbers["kkt_violation"] <= 1e-3
    assert numbers["gap"] == pytest.approx(numbers["primal"] - numbers["dual"])


def test_it_plays_until_it_is_paused(open_page):
    page = open_page("mode=steps&speed=20")
    page.control("play").click()
    page.wait(
        "() => document.querySelector('.playground').playground.stage.player.frames.length > 3"
    )
    page.page.locator(".plane").first.focus()
    page.page.keyboard.press("Space")
    page.wait(
        "() => { const { player } = document.querySelector('.playground').playground.stage;"
        " return !player.playing && !player.waiting; }"
    )
    page.frames()
    told = page.sentence()
    page.page.wait_for_timeout(400)
    assert page.sentence() == told


def test_moving_a_point_starts_the_solver_again(open_page):
    page = open_page("mode=steps")
    page.steps(3)
    page.drag(page.points[0][:2], (0.0, 0.0))
    page.page.locator(".sentence", has_text="All α are 0").wait_for()


def test_steps_of_a_run_that_was_replaced_are_dropped(open_page):
    page = open_page("mode=steps&solver=platt")
    page.steps(1)
    opened, kept = page.run(
        """async (app) => {
          const { player } = app.stage;
          const late = player.forward(20);
          await Promise.all([late, app.stage.begin()]);
          return [player.frames.length, player.frame.lanes[0].steps];
        }"""
    )
    assert (opened, kept) == (1, 0)
    page.steps(1)
    assert page.run("(app) => app.stage.player.frame.lanes[0].steps") == 1


def test_the_perceptron_is_stepped_beside_its_code(open_page):
    page = open_page("mode=steps&machine=kernel-perceptron")
    page.run("(app, points) => app.store.set({ points })", MOONS.as_json())
    page.started()
    assert not page.control("solver").is_visible()
    page.steps(3)
    assert "a mistake" in page.sentence()
    code = page.control("listing")
    assert code.locator(".now code").inner_text().strip() == "yield t, Δ"
    (row,) = page.run("(app) => app.stage.player.frame.lanes[0].rows")
    assert f"t = {row}" in code.locator(".margin", has_text="t = ").first.inner_text()
    status = page.page.locator("[data-control=certificate] .status").inner_text()
    assert "minimises nothing" in status
    shown = page.page.locator(".theatre .chart:visible").all()
    assert len(shown) == 2  # ‖w‖² and accuracy: there is no gap
    page.control("play").click()
    page.run("(app) => app.stage.player.more(1000)")
    page.page.locator(".sentence", has_text="every point is on its side").wait_for()


def test_a_race_ends_and_names_the_first(open_page):
    page = open_page("mode=race&solver=random-pair&rival=second-order&goal=0.01&speed=3000")
    assert page.page.locator(".plane").nth(1).is_visible()
    page.control("play").click()
    page.wait("() => document.querySelector('.playground').playground.stage.player.ended")
    lanes = page.run("(app) => app.stage.player.frame.lanes")
    assert lanes[1]["status"] == "reached the gap"
    assert lanes[1]["relative_gap"] <= 0.01
    assert "Second order" in page.sentence()
    table = page.page.locator(".results").inner_text()
    assert f"{lanes[1]['steps']:,}" in table
