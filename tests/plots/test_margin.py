"""The pictures show what the machine says: checked by the artists drawn, not by pixels."""

import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, KernelPerceptron, LinearSVC, Perceptron
from maxmargin.plots import MarginDisplay

pytestmark = pytest.mark.small

X, y = make_moons(60, noise=0.25, random_state=0)


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(scope="module")
def machine():
    return SVC(C=1.0, gamma=1.0).fit(X, y)


def test_lines_are_the_boundary_and_the_margins(machine, ax):
    display = MarginDisplay.from_estimator(machine, X, y, ax=ax)
    for level, path in zip((-1, 0, 1), display.lines_.get_paths(), strict=True):
        assert len(path.vertices) > 50
        assert_allclose(machine.decision_function(path.vertices), level, atol=0.02)


def test_support_vectors_are_marked_by_kind(machine, ax):
    display = MarginDisplay.from_estimator(machine, X, y, ax=ax)
    margins = np.where(y == 1, 1, -1) * machine.decision_function(X)
    kinds = display.kinds()
    assert_allclose(np.sort(np.concatenate(list(kinds.values()))), np.sort(machine.support_))
    assert_allclose(margins[kinds["on the margin"]], 1, atol=display.resolution)
    assert np.all(margins[kinds["inside the margin"]] < 1)
    assert np.all(margins[kinds["inside the margin"]] > 0)
    assert np.array_equal(np.sort(kinds["misclassified"]), np.flatnonzero(machine.predict(X) != y))
    for kind, rows in kinds.items():
        assert len(rows)
        assert_allclose(display.support_[kind].get_offsets(), X[rows])


def test_each_class_is_drawn_and_named(machine, ax):
    display = MarginDisplay.from_estimator(machine, X, y, ax=ax)
    for label, points in zip((0, 1), display.points_, strict=True):
        assert_allclose(points.get_offsets(), X[y == label])
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert named == ["class 0", "class 1", *display.kinds()]
    assert ax.get_xlabel()
    assert ax.get_ylabel()


def test_slack_ends_on_the_margin_of_the_right_class(machine, ax):
    display = MarginDisplay.from_estimator(machine, X, y, ax=ax, slack=True)
    sign = np.where(y == 1, 1, -1)
    margins = sign * machine.decision_function(X)
    loose = np.flatnonzero(margins < 1 - display.resolution)
    segments = np.array(display.slack_.get_segments())
    assert_allclose(segments[:, 0], X[loose])
    assert_allclose(machine.decision_function(segments[:, 1]), sign[loose], atol=0.02)


def test_slack_of_a_linear_machine_is_perpendicular_to_its_margin(ax):
    X, y = make_blobs(60, centers=[[-1, 0], [1, 0]], cluster_std=0.7, random_state=0)
    machine = SVC(kernel="linear").fit(X, y)
    display = MarginDisplay.from_estimator(machine, X, y, ax=ax, slack=True)
    normal = machine.coef_[0] / np.linalg.norm(machine.coef_)
    margin_width = 1 / np.linalg.norm(machine.coef_)
    slack = np.maximum(0, 1 - np.where(y == 1, 1, -1) * machine.decision_function(X))
    steps = np.diff(display.slack_.get_segments(), axis=1)[:, 0]
    loose = slack > display.resolution
    assert_allclose(np.abs(steps @ normal), slack[loose] * margin_width, atol=1e-6)
    assert_allclose(np.linalg.norm(steps, axis=1), slack[loose] * margin_width, atol=0.02)


def test_a_display_can_be_drawn_again(machine, ax):
    display = MarginDisplay.from_estimator(machine, X, y, ax=ax, slack=True)
    again = Figure().subplots()
    assert display.plot(ax=again) is display
    assert display.ax_ is again
    assert display.figure_ is again.figure
    assert display.slack_ is None


def test_without_axes_it_makes_a_figure(machine):
    display = MarginDisplay.from_estimator(machine, X, y)
    assert display.figure_.number in pyplot.get_fignums()
    pyplot.close(display.figure_)


def test_ink_follows_the_style(machine):
    with pyplot.style.context("dark_background"):
        display = MarginDisplay.from_estimator(machine, X, y, ax=Figure().subplots())
    assert_allclose(display.lines_.get_edgecolor()[:, :3], 1)


def test_pipelines_and_frames_are_drawn_in_their_own_units(ax):
    frame = pd.DataFrame({"width (cm)": 1000 * X[:, 0], "height (cm)": X[:, 1]})
    labels = np.where(y == 1, "yes", "no")
    pipeline = make_pipeline(StandardScaler(), SVC()).fit(frame, labels)
    display = MarginDisplay.from_estimator(pipeline, frame, labels, ax=ax)
    assert ax.get_xlabel() == "width (cm)"
    assert ax.get_ylabel() == "height (cm)"
    assert display.class_names == ("class no", "class yes")
    vertices = display.lines_.get_paths()[1].vertices
    on_boundary = pipeline.decision_function(pd.DataFrame(vertices, columns=frame.columns))
    assert_allclose(on_boundary, 0, atol=0.02)


def test_what_cannot_be_drawn_is_refused_with_a_reason(machine, ax):
    iris, species = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="binary machines; this one has 3 classes"):
        MarginDisplay.from_estimator(SVC().fit(iris[:, :2], species), iris[:, :2], species, ax=ax)
    with pytest.raises(TypeError, match="KNeighborsClassifier has none"):
        MarginDisplay.from_estimator(KNeighborsClassifier().fit(X, y), X, y, ax=ax)
    with pytest.raises(ValueError, match="X has 10 rows, but the machine was fitted on 60"):
        MarginDisplay.from_estimator(machine, X[:10], y[:10], ax=ax)
    wide = np.hstack([X, X])
    with pytest.raises(ValueError, match="a plane has two features"):
        MarginDisplay.from_estimator(SVC().fit(wide, y), wide, y, ax=ax)
    with pytest.raises(NotFittedError):
        MarginDisplay.from_estimator(SVC(), X, y, ax=ax)


def test_data_it_was_not_fitted_on_and_labels_it_does_not_know_are_refused(machine, ax):
    with pytest.raises(ValueError, match=r"not among the rows of X: give the X and y it was"):
        MarginDisplay.from_estimator(machine, X[::-1], y[::-1], ax=ax)
    with pytest.raises(ValueError, match="row 0 has the label 'a', but the machine knows 0, 1"):
        MarginDisplay.from_estimator(machine, X, np.where(y == y[0], "a", "b"), ax=ax)


def test_lists_and_searches_are_taken(ax):
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1.0]})
    search.fit(X, y)
    display = MarginDisplay.from_estimator(search, X.tolist(), y.tolist(), ax=ax)
    best = search.best_estimator_
    assert_array_equal(display.support, best[-1].support_)
    assert_allclose(display.margins, np.where(y == 1, 1, -1) * best.decision_function(X))


def test_a_linear_machine_marks_the_points_of_its_loss(ax):
    machine = LinearSVC().fit(X, y)
    display = MarginDisplay.from_estimator(machine, X, y, ax=ax, slack=True)
    margins = np.where(y == 1, 1, -1) * machine.decision_function(X)
    assert_array_equal(display.support, np.flatnonzero(margins <= 1 + display.resolution))
    assert len(display.slack_.get_segments()) == np.sum(margins < 1 - display.resolution)


@pytest.mark.parametrize("machine", [KernelPerceptron(gamma=2.0), Perceptron()])
def test_a_perceptron_has_a_boundary_and_no_margins(machine, ax):
    display = MarginDisplay.from_estimator(machine.fit(X, y), X, y, ax=ax, slack=True)
    assert display.levels_ == [0]
    assert display.kinds() == {}
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert named == ["class 0", "class 1"]


def test_margins_outside_of_the_plane_are_not_drawn(ax):
    machine = SVC(C=1e-4).fit(X, y)
    display = MarginDisplay.from_estimator(machine, X, y, ax=ax, slack=True)
    assert np.abs(display.response).max() < 1
    assert set(display.levels_) <= {0}
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "on the margin" not in named
    assert "slack" not in named


def test_slack_is_perpendicular_in_the_space_of_the_machine(ax):
    """Behind a scaler, where the margin is what it makes wide; not in the units of the picture."""
    wide = X * [1000.0, 1.0]
    pipeline = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(wide, y)
    display = MarginDisplay.from_estimator(pipeline, wide, y, ax=ax, slack=True)
    scaled = [pipeline[0].transform(segment) for segment in display.slack_.get_segments()]
    normal = pipeline[-1].coef_[0] / np.linalg.norm(pipeline[-1].coef_)
    inside = [(b - a) / np.linalg.norm(b - a) for a, b in scaled if np.linalg.norm(b - a) > 0.1]
    assert inside
    assert np.median(np.abs(np.array(inside) @ normal)) > 0.98


def test_without_matplotlib_the_error_names_the_extra(machine, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'maxmargin\[plot\]'"):
        MarginDisplay.from_estimator(machine, X, y)
