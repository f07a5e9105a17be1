"""What the lessons say of their pictures is true."""

import numpy as np
import pytest

from maxmargin.playground.catalogue import PRESETS, SOLVERS
from maxmargin.playground.machine import table
from maxmargin.playground.picture import fit
from maxmargin.playground.presets import points as preset
from maxmargin.playground.schema import Start, read_points, read_settings
from maxmargin.playground.theatre import Theatre
from maxmargin.playground.tours import STATE, lessons

LESSONS = lessons()


def state(lesson, step):
    """What the page makes of a step: the start of the lesson, but for what the step says."""
    start, own = LESSONS[lesson]["start"], LESSONS[lesson]["steps"][step].get("state", {})
    return {**start, **own, "settings": {**start.get("settings", {}), **own.get("settings", {})}}


def points_of(now):
    if "points" in now:
        return read_points("points", now["points"])
    given = {"n": 100, "noise": 0.15, "seed": 0, **now["preset"]}
    return preset(given["name"], given["n"], given["noise"], given["seed"])


def machine(lesson, step):
    now = state(lesson, step)
    points = points_of(now)
    fitted, _ = fit(points, read_settings("settings", now["settings"]))
    margins = np.where(points.classes == 1, 1, -1) * fitted.decision_function(points.xy)
    return fitted, margins


def ended(lesson, step):
    now = state(lesson, step)
    settings = read_settings("settings", now["settings"])
    theatre = Theatre(Start(0, points_of(now), settings, (now.get("solver", "platt"),), 0.0))
    theatre.opening()
    frame = theatre.advance(now["advance"])["lanes"][0]
    theatre.close()
    return frame


@pytest.mark.parametrize("number", range(len(LESSONS)))
def test_every_state_is_one_the_page_knows(number):
    assert set(LESSONS[number]) == {"id", "title", "start", "steps"}
    assert 4 <= len(LESSONS[number]["steps"]) <= 8
    for step in range(len(LESSONS[number]["steps"])):
        now = state(number, step)
        assert set(now) <= STATE
        assert len(points_of(now)) > 0
        read_settings("settings", now["settings"])
        assert now.get("mode", "explore") in ("explore", "steps", "race")
        assert {now.get("solver", "platt"), now.get("rival", "platt")} <= set(SOLVERS)
        assert now.get("preset", {"name": "moons"})["name"] in PRESETS
        assert LESSONS[number]["steps"][step]["text"]


def test_margin_one_point_does_not_matter_and_another_does():
    fitted, margins = machine(0, 0)
    np.testing.assert_allclose(margins[fitted.support_], 1, atol=1e-3)
    assert state(0, 1)["hover"] in fitted.support_
    assert state(0, 2)["hover"] not in fitted.support_
    assert state(0, 3)["hover"] in fitted.support_


def test_slack_with_a_large_c_the_band_is_narrow():
    inside = [np.sum(machine(1, step)[1] < 1) for step in (1, 0, 2)]
    assert inside == sorted(inside, reverse=True)
    assert inside[0] > 60
    assert np.sum(machine(1, 2)[1] < 0) > 0  # a line leaves some wrong, whatever the price
    assert np.all(machine(1, 3)[1] > 0)  # with a Gaussian all points are learnt
    assert np.any(machine(1, 4)[1] < 0)  # at C = 1 some may be wrong


def test_kernels_a_line_is_hopeless_and_a_circle_is_not():
    assert np.mean(machine(2, 0)[1] > 0) < 0.7
    assert np.all(machine(2, 1)[1] > 0)
    assert np.all(machine(2, 3)[1] < 1 + 1e-3)  # the band has swallowed every point
    fitted, _ = machine(2, 4)
    assert len(fitted.support_) > 95
    assert fitted.predict([[0.0, 0.0]]) == 0  # the outer class, in the middle of the inner one


def test_kkt_there_are_all_cases_and_at_last_only_rings():
    fitted, margins = machine(3, 0)
    assert len(fitted.support_) < 60
    assert np.any(np.abs(margins - 1) < 0.01)
    assert np.any(margins < 0)
    assert fitted.certificate_.relative_gap < 1e-3
    fitted, margins = machine(3, 5)
    np.testing.assert_allclose(margins[fitted.support_], 1, atol=0.01)


def test_smo_the_first_step_is_clipped_and_a_later_one_whole():
    assert "was clipped" in ended(4, 1)["sentence"]
    assert "taken whole" in ended(4, 3)["sentence"]


def test_stopping_a_hundred_random_steps_leave_a_gap_and_kkt_does_not():
    random, proven = ended(5, 1), ended(5, 2)
    assert not random["ended"]
    assert proven["status"] == "converged"
    assert random["gap"] > 100 * proven["gap"]
    assert random["violation"] > 0.1


NUMBER = {lesson["id"]: k for k, lesson in enumerate(LESSONS)}


def fitted(name, step):
    """The machine of a step, and what it was trained on."""
    now = state(NUMBER[name], step)
    settings = read_settings("settings", now["settings"])
    points = points_of(now)
    return fit(points, settings)[0], *table(points, settings)


def test_svr_a_wide_tube_needs_few_support_vectors_and_nu_bounds_their_share():
    counts = [len(np.unique(fitted("svr", step)[0].support_)) for step in (0, 1, 2)]
    assert counts[1] < counts[0] < counts[2] >= 0.9 * 60
    machine, X, y = fitted("svr", 3)
    outside = np.abs(y - machine.predict(X)) > machine.epsilon_ + 1e-2
    assert outside.mean() <= 0.3 <= len(np.unique(machine.support_)) / 60
    flat, X, _ = fitted("svr", 4)
    assert np.ptp(flat.predict(X)) < 0.3 * np.ptp(fitted("svr", 0)[0].predict(X))


def test_leave_one_out_point_8_is_no_support_vector_and_a_large_gamma_makes_all_of_them():
    assert 8 not in fitted("leave-one-out", 1)[0].support_
    assert len(fitted("leave-one-out", 3)[0].support_) >= 0.9 * 40


def test_features_many_cosines_are_nearly_the_kernel():
    exact, X, _ = fitted("features", 4)
    few, many = (fitted("features", step)[0].decision_function(X) for step in (2, 3))
    f = exact.decision_function(X)
    assert np.abs(many - f).mean() < np.abs(few - f).mean()
    assert np.mean(np.sign(many) == np.sign(f)) > 0.95


def test_primal_and_dual_the_room_is_open_on_the_way_and_closed_at_the_end():
    number = NUMBER["primal-and-dual"]
    assert ended(number, 3)["gap"] > 1
    last = ended(number, 4)
    assert last["status"] == "converged"
    assert last["relative_gap"] <= 1e-3


def test_kernel_regression_lambda_flattens_and_small_lambda_follows():
    spread = [
        np.ptp(machine.predict(X))
        for machine, X, _ in (fitted("kernel-regression", k) for k in (0, 1))
    ]
    assert spread[1] < 0.5 * spread[0]
    machine, X, y = fitted("kernel-regression", 2)
    assert np.abs(machine.predict(X) - y).max() < 0.1


def test_perceptron_ends_without_mistakes_where_the_classes_are_apart_only():
    apart, X, y = fitted("perceptron", 0)
    assert apart.score(X, y) == 1
    assert "every point is on its side" in ended(NUMBER["perceptron"], 2)["sentence"]
    assert ended(NUMBER["perceptron"], 3)["accuracy"] < 1  # no line through the origin
    overlapping, X, y = fitted("perceptron", 6)
    assert overlapping.mistakes_[-1] > 0


def test_platt_and_decomposition_and_no_offset_converge():
    for name, step in (("platt", 3), ("decomposition", 1), ("decomposition", 3), ("no-offset", 3)):
        assert ended(NUMBER[name], step)["status"] == "converged"


def test_neighbours_a_large_gamma_agrees_with_the_nearest_point():
    machine, X, y = fitted("neighbours", 1)
    grid = np.stack(np.meshgrid(*2 * [np.linspace(-2.5, 2.5, 40)]), axis=-1).reshape(-1, 2)
    squares = ((grid[:, None] - X) ** 2).sum(axis=2)
    near, nearest = squares.min(axis=1) < 0.2**2, y[squares.argmin(axis=1)]
    assert np.mean((machine.predict(grid) == nearest)[near]) > 0.9
