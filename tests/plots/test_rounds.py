import numpy as np
import pytest

from maxmargin import SVC
from maxmargin.datasets import moons
from maxmargin.plots import RoundsDisplay
from maxmargin.scale import ArrayPartitions
from maxmargin.solvers import BlockSMO, Chunking


def test_the_rounds_of_a_fit_are_drawn():
    clf = SVC(solver=Chunking(inner=BlockSMO(), violators=20))
    display = RoundsDisplay.from_estimator(clf.fit(ArrayPartitions(*moons(200), rows=50)))
    rows, moved, distance = display.axes_
    drawn = rows.lines[0].get_ydata()
    np.testing.assert_array_equal(drawn[:-1], clf.history_["violators"][:-1])
    assert np.isnan(drawn[-1])  # none is left, and the axis is logarithmic
    assert (np.diff(moved.lines[0].get_ydata()) > 0).all()
    assert len(distance.lines) == 2


def test_a_fit_in_memory_has_no_rounds():
    with pytest.raises(ValueError, match="no rounds"):
        RoundsDisplay.from_estimator(SVC().fit(*moons(50)))
