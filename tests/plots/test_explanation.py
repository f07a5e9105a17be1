import numpy as np
import pytest

from maxmargin import SVC, SVR, explain
from maxmargin.plots import ExplanationDisplay


@pytest.fixture
def found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return explain(SVR().fit(X, 3 * X[:, 2] + X[:, 0]), X)


def test_bars_are_the_mean_sizes_the_largest_first(found):
    display = ExplanationDisplay.from_explanation(found, largest=3)
    lengths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(lengths, np.sort(found.importances)[::-1][:3])
    assert display.names[:2] == ("x2", "x0")


def test_one_row_has_bars_with_a_sign(found):
    one = ExplanationDisplay(
        names=("a", "b"), values=np.array([[1.0, -2.0]]), data=None, kind="bar"
    )
    assert [bar.get_width() for bar in one.plot().bars_] == [1.0, -2.0]


def test_a_beeswarm_has_a_point_for_each_row(found):
    display = ExplanationDisplay.from_explanation(found, kind="beeswarm")
    points = display.points_[0].get_offsets()
    np.testing.assert_array_equal(points[:, 0], found.values[:, 2])
    assert (abs(points[:, 1]) <= 0.4).all()
    assert len(np.unique(display.points_[0].get_array())) == 60


def test_groups_and_several_functions_are_drawn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    clf = SVC().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    found = explain(clf, X, groups=["a", "b", "b", "b"])
    display = ExplanationDisplay.from_explanation(found, kind="beeswarm", function=1)
    assert display.names == ("a", "b")
    assert display.data is None
    with pytest.raises(ValueError, match="'bar' or 'beeswarm'"):
        ExplanationDisplay.from_explanation(found, kind="pie")
