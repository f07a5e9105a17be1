"""Regions have the colour of who wins there, and are hatched where the machines disagree."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import svm
from sklearn.datasets import make_blobs, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, SVR, Perceptron
from maxmargin.plots import RegionsDisplay
from maxmargin.plots.palette import class_colors, class_shape

pytestmark = pytest.mark.small

X, numbers = make_blobs(90, centers=[[0, 2], [-2, -1], [2, -1]], random_state=0)
y = np.array(["left", "middle", "right"])[numbers]
REST = SVC(kernel="linear", multiclass="ovr").fit(X, y)
PAIRS = SVC(kernel="linear").fit(X, y)


@pytest.fixture
def ax():
    return Figure().subplots()


def draw(machine, ax, **options):
    return RegionsDisplay.from_estimator(machine, X, y, ax=ax, grid_resolution=60, **options)


def rows(display):
    return np.column_stack([display.xx.ravel(), display.yy.ravel()])


@pytest.mark.parametrize("machine", [REST, PAIRS, LogisticRegression().fit(X, y)])
def test_regions_are_what_the_machine_predicts(machine, ax):
    display = draw(machine, ax)
    predicted = machine.predict(rows(display)).reshape(display.xx.shape)
    assert_array_equal(machine.classes_[display.winner], predicted)
    pixels = display.surface_.get_array()
    assert len(np.unique(pixels.reshape(-1, 4), axis=0)) == 3
    left, right, bottom, top = display.surface_.get_extent()
    assert_allclose([left, bottom], [display.xx.min(), display.yy.min()], atol=0.1)
    assert_allclose([right, top], [display.xx.max(), display.yy.max()], atol=0.1)


def test_one_versus_rest_is_ambiguous_where_none_or_several_claim(ax):
    display = draw(REST, ax)
    claims = np.sum(REST.decision_function(rows(display)) > 0, axis=1)
    assert_array_equal(display.ambiguous.ravel(), claims != 1)
    assert 0 < display.ambiguous.mean() < 1
    assert display.hatched_.hatches == ["///"]


def test_one_versus_one_is_ambiguous_where_votes_are_shared(ax):
    display = draw(PAIRS, ax)
    asked = SVC(kernel="linear", decision_function_shape="ovo").fit(X, y)
    decisions = asked.decision_function(rows(display))
    # Of three classes, votes are shared exactly if each beats one of the others.
    beats = decisions > 0
    in_a_circle = (beats == [True, False, True]).all(axis=1) | (beats == [False, True, False]).all(
        axis=1
    )
    assert_array_equal(display.ambiguous.ravel(), in_a_circle)


def test_asking_for_pairs_leaves_the_machine_alone(ax):
    machine = svm.SVC(kernel="linear").fit(X, y)
    display = draw(machine, ax, scheme="one-versus-one")
    assert machine.decision_function_shape == "ovr"
    assert len(display.rivals) == 3


@pytest.mark.parametrize("machine", [REST, LogisticRegression().fit(X, y), Perceptron().fit(X, y)])
def test_lines_are_where_two_classes_score_the_same(machine, ax):
    display = draw(machine, ax)
    assert display.lines_
    for line in display.lines_:
        for path in line.get_paths():
            scores = np.sort(machine.decision_function(path.vertices), axis=1)
            ahead = scores[:, -1] - scores[:, -2]  # a line may end a pixel too late
            assert np.quantile(ahead, 0.9) < 0.01 * np.abs(scores).max()


def test_lines_of_pairs_are_those_of_their_machines_and_end_where_others_win(ax):
    display = draw(PAIRS, ax)
    asked = SVC(kernel="linear", decision_function_shape="ovo").fit(X, y)
    assert 2 <= len(display.lines_) <= 3
    for line in display.lines_:
        vertices = np.concatenate([path.vertices for path in line.get_paths()])
        assert np.abs(asked.decision_function(vertices)).max(axis=0).min() < 0.05


def test_many_classes_have_a_mark_of_their_own_and_no_line_too_many(ax):
    many, labels = make_blobs(240, centers=12, random_state=1, cluster_std=0.6)
    display = RegionsDisplay.from_estimator(
        SVC().fit(many, labels), many, labels, ax=ax, grid_resolution=60
    )
    assert len(display.rivals) == 66
    assert len(display.lines_) < 36  # a planar map of 12 regions has at most 3 · 12 − 6 borders
    marks = {(color, class_shape(k)) for k, color in enumerate(class_colors(64))}
    assert len(marks) == 64


def test_the_names_of_many_classes_are_not_cropped():
    many, labels = make_blobs(200, centers=10, random_state=1)
    names = np.array([f"number {k}" for k in range(10)])[labels]
    display = RegionsDisplay.from_estimator(SVC().fit(many, names), many, names, grid_resolution=30)
    figure = display.figure_
    figure.canvas.draw()
    legend = display.ax_.get_legend().get_window_extent()
    assert (legend.x0, legend.y0) > (0, 0)
    assert (legend.x1, legend.y1) < (figure.bbox.x1, figure.bbox.y1)
    assert display.ax_.get_window_extent().width > 0.4 * figure.bbox.width
    pyplot.close(figure)


def test_lists_and_searches_are_taken_and_strange_labels_are_not(ax):
    search = GridSearchCV(SVC(), {"C": [0.1, 1.0]}).fit(X, y)
    display = RegionsDisplay.from_estimator(search, X.tolist(), y.tolist(), ax=ax)
    assert_array_equal(display.labels, numbers)
    with pytest.raises(ValueError, match=r"row 3 has the label 'up', but the machine knows 'left'"):
        RegionsDisplay.from_estimator(REST, X, np.where(np.arange(len(y)) == 3, "up", y), ax=ax)


def test_the_boundary_passes_between_two_classes(ax):
    X, y = make_moons(60, noise=0.1, random_state=0)
    machine = SVC(gamma=2, C=100).fit(X, y)
    display = RegionsDisplay.from_estimator(machine, X, y, ax=ax, grid_resolution=100)
    assert not display.ambiguous.any()
    at = [np.abs(display.xx[0] - X[:, :1]).argmin(1), np.abs(display.yy[:, 0] - X[:, 1:]).argmin(1)]
    assert np.mean(display.winner[at[1], at[0]] == y) > 0.95


def test_a_joint_classifier_is_never_ambiguous_and_still_has_lines(ax):
    display = draw(KNeighborsClassifier().fit(X, y), ax)
    assert not display.ambiguous.any()
    assert display.hatched_ is None
    assert len(display.lines_[0].get_paths()[0].vertices) > 10


def test_points_and_legend(ax):
    display = draw(REST, ax)
    for k, points in enumerate(display.points_):
        assert_allclose(points.get_offsets(), X[numbers == k])
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert named == ["class left", "class middle", "class right", "ambiguous"]
    assert len(set(class_colors(3))) == 3


def test_the_plane_holds_what_it_is_asked_to(ax):
    far = np.array([[-20.0, -20.0], [20.0, 20.0]])
    display = draw(REST, ax, over=far)
    assert display.xx.min() < -20 < 20 < display.xx.max()


def test_pipelines_and_frames_are_drawn_in_their_own_units(ax):
    frame = pd.DataFrame({"width (cm)": 100 * X[:, 0], "height (cm)": X[:, 1]})
    pipeline = make_pipeline(StandardScaler(), SVC(kernel="linear", multiclass="ovr"))
    pipeline.fit(frame, y)
    display = RegionsDisplay.from_estimator(pipeline, frame, y, ax=ax, grid_resolution=60)
    assert ax.get_xlabel() == "width (cm)"
    assert len(display.rivals) == 3
    assert display.ambiguous.any()


def test_what_cannot_be_drawn_is_refused_with_a_reason(ax):
    with pytest.raises(TypeError, match="SVR is none"):
        RegionsDisplay.from_estimator(SVR().fit(X, numbers), X, y, ax=ax)
    many = np.arange(90) % 4
    machine = SVC(multiclass="ovr").fit(X, many)
    with pytest.raises(ValueError, match="4 classes has 6 decision values, but decision_function"):
        RegionsDisplay.from_estimator(
            machine, X, many, scheme="one-versus-one", ax=ax, grid_resolution=20
        )
    with pytest.raises(ValueError, match="a plane has two features"):
        RegionsDisplay.from_estimator(REST, np.hstack([X, X]), y, ax=ax)
