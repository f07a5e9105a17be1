"""Curves: losses, convergence, the C-path, and the two themes."""

import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, SVR, LinearSVC, trace
from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.losses import EpsilonInsensitive, Hinge, Squared
from maxmargin.plots import ConvergenceDisplay, LossDisplay, PathDisplay, theme
from maxmargin.plots.palette import class_colors
from maxmargin.solvers import RandomPairSMO

pytestmark = pytest.mark.small

X, y = make_moons(40, noise=0.2, random_state=0)


@pytest.fixture
def ax():
    return Figure().subplots()


def test_losses_on_the_margin_are_the_librarys(ax):
    display = LossDisplay.from_losses({"squared": Squared(), "hinge": Hinge()}, ax=ax)
    margin, hinge = display.lines_["hinge"].get_data()
    assert_allclose(hinge, np.maximum(0, 1 - margin))
    assert_allclose(display.lines_["squared"].get_ydata(), 0.5 * (1 - margin) ** 2)
    assert ax.get_xlabel() == "margin t·y"


def test_losses_on_the_residual_are_the_librarys(ax):
    display = LossDisplay.from_losses(
        {"tube": EpsilonInsensitive(0.5)}, against="residual", limits=(-2, 2), ax=ax
    )
    residual, loss = display.lines_["tube"].get_data()
    assert_allclose(loss, np.maximum(0, np.abs(residual) - 0.5))
    assert ax.get_xlabel() == "residual t − y"


def test_convergence_draws_every_quantity_of_a_trace():
    table = trace(RandomPairSMO(sweeps=10), c_svc(2 * y - 1, 1.0), Gram(RBF(1.0), X))
    axes = Figure().subplots(6)
    display = ConvergenceDisplay.from_history(table, ax=axes)
    assert list(display.lines_) == ["objective", "loss", "gap", "violation", "movement", "accuracy"]
    assert_allclose(display.lines_["gap"].get_ydata(), table["gap"])
    assert [panel.get_yscale() for panel in axes] == ["linear"] * 2 + ["log"] * 3 + ["linear"]
    assert axes[-1].get_xlabel() == "outer iteration"
    steps = trace("platt", c_svc(2 * y - 1, 1.0), Gram(RBF(1.0), X), every="step")
    ConvergenceDisplay.from_history(steps, ax=axes)
    assert axes[-1].get_xlabel() == "step"


def test_convergence_of_a_machine_is_its_history():
    machine = SVC(solver="second-order").fit(X, y)
    display = ConvergenceDisplay.from_estimator(machine, ax=Figure().subplots(4), name="ours")
    assert_allclose(display.lines_["objective"].get_ydata(), machine.history_["objective"])
    assert display.lines_["gap"].get_label() == "ours"


def test_a_solve_of_one_iteration_is_seen_too():
    """A line through a single point is none; and there is no half of an iteration."""
    table = {"gap": np.array([1.0, 0.1]), "movement": np.array([0.0, 3.0])}
    axes = Figure().subplots(2)
    display = ConvergenceDisplay.from_history(table, ax=axes)
    assert all(line.get_marker() == "." for line in display.lines_.values())
    assert all(float(tick).is_integer() for tick in axes[-1].get_xticks())
    many = ConvergenceDisplay.from_history({"gap": np.ones(100)}, ax=[Figure().subplots()])
    assert many.lines_["gap"].get_marker() == ""


def test_convergence_refuses_what_is_not_there():
    history = {"gap": [3.0, 1.0]}
    with pytest.raises(ValueError, match="no accuracy to draw; it has gap"):
        ConvergenceDisplay.from_history(history, quantities=["accuracy"], ax=[None])
    with pytest.raises(ValueError, match="1 quantities need as many axes: 2"):
        ConvergenceDisplay.from_history(history, ax=Figure().subplots(2))


def test_path_is_made_of_machines_that_could_be_fitted_alone(ax):
    Cs = [0.01, 1.0, 100.0]
    display = PathDisplay.from_estimator(SVC(), X[:20], y[:20], X[20:], y[20:], Cs=Cs, ax=ax)
    for k, C in enumerate(Cs):
        machine = SVC(C=C).fit(X[:20], y[:20])
        assert display.shares["training accuracy"][k] == machine.score(X[:20], y[:20])
        assert display.shares["test accuracy"][k] == machine.score(X[20:], y[20:])
        assert display.shares["support vectors"][k] == len(machine.support_) / 20
    assert list(display.lines_) == list(display.shares)
    assert ax.get_xscale() == "log"


def test_path_of_a_regressor_shows_its_score_by_name(ax):
    display = PathDisplay.from_estimator(SVR(), X[:20], y[:20], X[20:], y[20:], Cs=[1e-3, 1], ax=ax)
    assert list(display.shares) == ["training R²", "test R²", "support vectors"]
    assert ax.get_ylabel() == "R², and share of points"
    lowest = min(values.min() for values in display.shares.values())
    assert ax.get_ylim()[0] < lowest


def test_path_of_a_pipeline_is_that_of_its_machine_on_transformed_rows(ax):
    far, Cs = X * [100, 0.01], [0.1, 10.0]
    pipeline = make_pipeline(StandardScaler(), SVC())
    display = PathDisplay.from_estimator(pipeline, far[:20], y[:20], far[20:], y[20:], Cs=Cs, ax=ax)
    for k, C in enumerate(Cs):
        alone = pipeline.set_params(svc__C=C).fit(far[:20], y[:20])
        assert display.shares["test accuracy"][k] == alone.score(far[20:], y[20:])
        assert display.shares["support vectors"][k] == len(alone[-1].support_) / 20
    with pytest.raises(TypeError, match="LinearSVC is none"):
        PathDisplay.from_estimator(LinearSVC(), X, y, X, y, ax=ax)


def test_path_needs_rising_values(ax):
    with pytest.raises(ValueError, match="must rise"):
        PathDisplay.from_estimator(SVC(), X, y, X, y, Cs=[1, 0.1], ax=ax)


def contrast(one, other):
    """WCAG's ratio of luminances, between 1 and 21."""

    def luminance(color):
        c = np.array(to_rgb(color))
        linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
        return linear @ (0.2126, 0.7152, 0.0722)

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_themes_are_legible(name):
    settings = theme(name)
    paper = settings["axes.facecolor"]
    assert contrast(settings["text.color"], paper) > 7
    with rc_context(settings):
        for color in class_colors(8):
            assert contrast(color, paper) > 1.9
        assert len(set(class_colors(8))) == 8


def test_there_are_two_themes():
    with pytest.raises(ValueError, match="'light' or 'dark', got 'pink'"):
        theme("pink")
