"""The kernel matrix in order, and the error of its features."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from maxmargin.features import Nystroem, RandomFourierFeatures
from maxmargin.kernels import RBF, Linear
from maxmargin.plots import KernelErrorDisplay, KernelMatrixDisplay

pytestmark = pytest.mark.small

random = np.random.default_rng(0)
X, y = random.normal(size=(30, 3)), random.integers(3, size=30)


@pytest.fixture
def ax():
    return Figure().subplots()


def test_rows_are_ordered_by_class(ax):
    display = KernelMatrixDisplay.from_kernel(RBF(gamma=0.5), X, y, ax=ax)
    order = np.argsort(y, kind="stable")
    distances = np.sum((X[order][:, None] - X[order][None]) ** 2, axis=2)
    assert_allclose(display.image_.get_array(), np.exp(-0.5 * distances))
    assert_allclose(display.counts, np.bincount(y))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "1", "2"]
    between = sorted({line.get_xdata()[0] for line in display.lines_ if line.get_ydata()[0] == 0})
    assert_allclose(between, np.cumsum(display.counts)[:-1] - 0.5)


@pytest.mark.parametrize("names", [["a", "b", "c"], ["a long name of a class", "b", "another one"]])
def test_labels_are_whole_and_apart(names):
    display = KernelMatrixDisplay.from_kernel(RBF(gamma=0.5), X, np.array(names)[y])
    figure = display.figure_
    figure.canvas.draw()
    for labels in (display.ax_.get_xticklabels(), display.ax_.get_yticklabels()):
        assert [label.get_text() for label in labels] == sorted(names)
        boxes = [label.get_window_extent() for label in labels]
        for box in boxes:
            assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
            assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1
        if not labels[0].get_rotation():
            assert not any(one.overlaps(other) for one, other in pairwise(boxes))
    pyplot.close(figure)


def test_negative_values_get_two_sided_colours(ax):
    display = KernelMatrixDisplay.from_kernel(Linear(), X, y, ax=ax)
    low, high = display.image_.get_clim()
    assert low == -high


def test_a_matrix_needs_a_label_per_row(ax):
    with pytest.raises(ValueError, match=r"30 labels, but a kernel matrix of shape \(2, 2\)"):
        KernelMatrixDisplay.from_matrix(np.eye(2), y, ax=ax)


def test_error_is_the_features_own_and_falls(ax):
    features = RandomFourierFeatures(gamma=0.5)
    display = KernelErrorDisplay.from_features(features, X, sizes=[10, 1000], repeats=4, ax=ax)
    assert display.errors.shape == (2, 4)
    first, last = display.errors.mean(axis=1)
    assert 5 < first / last < 20  # 1/√D makes it 10
    assert_allclose(display.line_.get_ydata(), [first, last])
    assert_allclose(display.law_.get_ydata(), [first, first / 10])


def test_several_kinds_share_axes_and_one_law(ax):
    for name, kind in {"random": RandomFourierFeatures, "Nyström": Nystroem}.items():
        KernelErrorDisplay.from_features(kind(gamma=0.5), X, sizes=[5, 20], name=name, ax=ax)
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert named == ["random", "1/√D", "Nyström"]
