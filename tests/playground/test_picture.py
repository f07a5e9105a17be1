"""What is drawn is what the machine says."""

import base64
import io
from contextlib import redirect_stdout
from threading import Event

import numpy as np
import pytest

from maxmargin import SVC
from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial, Scaled, Sigmoid
from maxmargin.playground.catalogue import KERNELS, MACHINES, PRESETS
from maxmargin.playground.code import program
from maxmargin.playground.machine import learns, recipe, settings_of, table
from maxmargin.playground.picture import answer, decision, fit, grid_rows, leave_out
from maxmargin.playground.presets import points as preset
from maxmargin.playground.schema import FitRequest, LeaveOut, Points, Refused, Settings
from maxmargin.playground.sentences import Before

MOONS, BLOBS = preset("moons", 40, 0.3, seed=0), preset("blobs", 45, 0.4, seed=0)
SINE = preset("sine", 40, 0.1, seed=0)


def points_for(machine):
    return SINE if MACHINES[machine].learns == "curve" else MOONS


def decoded(text, kind="<f4"):
    return np.frombuffer(base64.b64decode(text), kind)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_always_the_same_and_on_the_page(name):
    first, second = (preset(name, 120, 0.1, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.xy, second.xy)
    assert len(first) == 120
    assert np.all(np.abs(first.xy) <= 5)
    assert not np.array_equal(first.xy, preset(name, 120, 0.1, seed=4).xy)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_field_is_the_decision_function_on_the_grid(machine):
    settings, points = Settings(machine=machine), points_for(machine)
    shown = answer(FitRequest(1, points, settings, 20), Event())["field"]
    fitted = recipe(settings).make().fit(*table(points, settings))
    rows = grid_rows(settings, 20)
    value = fitted.predict if learns(settings) == "curve" else fitted.decision_function
    np.testing.assert_allclose(decoded(shown["f"]), value(rows), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
def test_several_classes_are_regions_and_the_ambiguous_are_marked(scheme):
    settings = Settings(kernel="linear", multiclass=scheme)
    shown = answer(FitRequest(1, BLOBS, settings, 20), Event())["field"]
    machine, _ = fit(BLOBS, settings)
    rows, winner = grid_rows(settings, 40), decoded(shown["winner"], np.uint8)
    np.testing.assert_array_equal(winner & 127, machine.predict(rows))
    assert len(shown["cuts"]) == 3
    if scheme == "ovr":
        claims = np.sum(decision(machine, rows, settings) > 0, axis=1)
        np.testing.assert_array_equal(winner >= 128, claims != 1)
        assert (winner >= 128).any()


def test_kinds_of_points_are_their_kkt_cases():
    settings = Settings(C=1.0, gamma=0.5)
    at = answer(FitRequest(1, MOONS, settings, 8), Event())["at"]
    alpha, margin = np.array(at["alpha"]), np.array(at["margin"])
    kind = np.array(at["kind"])
    np.testing.assert_array_equal(kind == "", alpha == 0)
    assert np.all(margin[kind == ""] >= 1 - 1e-3)
    assert np.all(np.abs(margin[kind == "margin"] - 1) <= 0.01)
    assert np.all(alpha[(kind == "inside") | (kind == "wrong")] == at["upper"])
    np.testing.assert_allclose(at["slack"], np.maximum(0, 1 - margin))
    assert {"", "margin", "inside", "wrong"} == set(kind)


def test_a_point_that_is_no_support_vector_can_be_left_out():
    settings = Settings(kernel="linear", C=1.0)
    at = answer(FitRequest(1, MOONS, settings, 8), Event())["at"]
    idle, needed = at["alpha"].index(0.0), int(np.argmax(at["alpha"]))
    nothing = leave_out(LeaveOut(1, MOONS, settings, 20, idle), Event())
    assert not nothing["support"]
    assert nothing["change"] < 1e-2  # both are optimal to within tol
    moved = leave_out(LeaveOut(1, MOONS, settings, 20, needed), Event())
    assert moved["support"]
    assert moved["change"] > nothing["change"]


@pytest.mark.filterwarnings("ignore:the kernel is indefinite")  # the sigmoid
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("machine", ["svc", "svr"])
def test_the_program_makes_the_same_machine(machine, kernel):
    settings, points = Settings(machine=machine, kernel=kernel), points_for(machine)
    assert_same_machine(settings, points)


@pytest.mark.parametrize("machine", [name for name in MACHINES if name not in ("svc", "svr")])
def test_the_program_makes_the_same_machine_of_every_kind(machine):
    assert_same_machine(Settings(machine=machine), points_for(machine))


@pytest.mark.parametrize(
    "more", [{"fourier": True}, {"offset": False}, {"multiclass": "ovr"}], ids=str
)
def test_the_program_has_the_switches(more):
    assert_same_machine(Settings(**more), BLOBS if "multiclass" in more else MOONS)


def assert_same_machine(settings, points):
    namespace = {}
    with redirect_stdout(io.StringIO()):
        exec(program(points, settings), namespace)
    machine, _ = fit(points, settings)
    X, _ = table(points, settings)
    np.testing.assert_array_equal(namespace["X"], X)
    np.testing.assert_array_equal(
        decision(namespace["machine"], X, settings), decision(machine, X, settings)
    )


@pytest.mark.filterwarnings("ignore:the kernel is indefinite")  # the sigmoid
@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        RBF(0.5),
        Laplacian(2.0),
        Polynomial(2, 0.5, 0.0),
        Polynomial(4, 1.0, 1.0),
        Sigmoid(0.1, -1.0),
        Linear() + 2.0 * RBF(0.5),
        Linear() + RBF(0.5),
        "rbf",
    ],
    ids=str,
)
def test_settings_of_a_machine_make_that_machine(kernel):
    machine = SVC(C=3.0, kernel=kernel).fit(MOONS.xy, MOONS.classes)
    again, _ = fit(MOONS, settings_of(machine, MOONS.xy))
    np.testing.assert_allclose(
        again.decision_function(MOONS.xy), machine.decision_function(MOONS.xy), atol=5e-3
    )


@pytest.mark.parametrize(
    ("machine", "why"),
    [
        (SVC(kernel=Scaled(2.0, Linear())), "has no Scaled"),
        (SVC(kernel=RBF(1e9)), "gamma must be a number from"),
        (SVC(approximation="nystroem"), "'rff' only"),
        (Points(MOONS.xy, MOONS.classes), "not Points"),
    ],
    ids=["kernel", "range", "features", "no machine"],
)
def test_what_the_page_has_no_slider_for_is_refused(machine, why):
    with pytest.raises(Refused, match=why):
        settings_of(machine, MOONS.xy)


def test_what_cannot_be_a_machine_says_why():
    one = Points(MOONS.xy, np.zeros(len(MOONS), int))
    with pytest.raises(Refused, match="two classes"):
        fit(one, Settings())
    with pytest.raises(Refused, match="Draw a few points"):
        fit(Points(np.zeros((0, 2)), np.zeros(0, int)), Settings(machine="one-class"))
    with pytest.raises(Refused, match="not separable"):
        fit(MOONS, Settings(machine="hard-margin", kernel="linear"))
    with pytest.raises(Refused, match="has no bound"):
        answer(
            FitRequest(1, preset("moons", 40, 0.1, 0), Settings("hard-margin", "sigmoid"), 8),
            Event(),
        )


def test_the_violation_of_a_variable_is_what_kkt_says():
    from maxmargin.formulations import c_svc

    problem = c_svc(np.array([1.0, -1.0]), 1.0)
    start = Before(np.zeros(2), np.array([-1.0, 1.0]), np.array([0.25]))
    assert start.violation(problem, 0) == 0.75
    assert start.violation(problem, 1) == 1.25
    full = Before(np.array([1.0, -1.0]), np.array([-1.0, 1.0]), np.zeros(1))
    assert full.violation(problem, 0) == 0.0
