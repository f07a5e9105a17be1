"""The tube is where the machine says it is, and its points are of the right kind."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge

from maxmargin import SVR, LinearSVR, NuSVR
from maxmargin.plots import TubeDisplay

pytestmark = pytest.mark.small

random = np.random.default_rng(0)
X = np.sort(random.uniform(0, 6, 40))[:, None]
y = np.sin(X[:, 0]) + random.normal(0, 0.2, 40)


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(scope="module", params=[SVR(epsilon=0.15), NuSVR(nu=0.4)], ids=["SVR", "NuSVR"])
def machine(request):
    return request.param.fit(X, y)


def test_line_and_tube_are_the_machines(machine, ax):
    display = TubeDisplay.from_estimator(machine, X, y, ax=ax)
    x, f = display.line_.get_data()
    assert_allclose(f, machine.predict(x[:, None]))
    edges = display.tube_.get_paths()[0].vertices
    width = getattr(machine, "epsilon_", getattr(machine, "epsilon", None))
    distance = np.abs(edges[:, 1] - machine.predict(edges[:, :1]))
    assert_allclose(distance, width)


def test_points_are_of_the_right_kind(machine, ax):
    display = TubeDisplay.from_estimator(machine, X, y, ax=ax)
    kinds = display.kinds()
    assert_allclose(np.sort(np.concatenate(list(kinds.values()))), np.arange(len(y)))
    off = np.abs(y - machine.predict(X)) - display.epsilon
    room = display.resolution * display.epsilon
    assert np.all(off[kinds["inside the tube"]] < room)
    assert_allclose(off[kinds["on its edge"]], 0, atol=room)
    assert np.all(off[kinds["outside"]] > 0)
    for kind, rows in kinds.items():
        assert_allclose(display.points_[kind].get_offsets(), np.column_stack([X[rows, 0], y[rows]]))


def test_slack_goes_from_the_point_to_the_tube(machine, ax):
    display = TubeDisplay.from_estimator(machine, X, y, ax=ax)
    for (x, start), (same, end) in display.slack_.get_segments():
        assert x == same
        assert abs(end - machine.predict([[x]])[0]) == pytest.approx(display.epsilon)
        assert abs(start - machine.predict([[x]])[0]) > display.epsilon
    assert TubeDisplay.from_estimator(machine, X, y, ax=ax, slack=False).slack_ is None


def test_frames_name_the_axes(ax):
    frame, target = pd.DataFrame({"time (s)": X[:, 0]}), pd.Series(y, name="height (m)")
    TubeDisplay.from_estimator(SVR().fit(frame, target), frame, target, ax=ax)
    assert ax.get_xlabel() == "time (s)"
    assert ax.get_ylabel() == "height (m)"


def test_what_cannot_be_drawn_is_refused_with_a_reason(ax):
    with pytest.raises(TypeError, match="KernelRidge has none"):
        TubeDisplay.from_estimator(KernelRidge().fit(X, y), X, y, ax=ax)
    wide = np.hstack([X, X])
    with pytest.raises(ValueError, match=r"draws one feature; X has shape \(40, 2\)"):
        TubeDisplay.from_estimator(SVR().fit(wide, y), wide, y, ax=ax)
    with pytest.raises(NotFittedError):
        TubeDisplay.from_estimator(SVR(), X, y, ax=ax)
    with pytest.raises(ValueError, match="not among the rows of X"):
        TubeDisplay.from_estimator(SVR().fit(X, y), X + 1, y, ax=ax)


def test_a_linear_machine_has_the_points_of_its_loss(ax):
    machine = LinearSVR(epsilon=0.3).fit(X, y)
    display = TubeDisplay.from_estimator(machine, X.tolist(), y.tolist(), ax=ax)
    off = np.abs(y - machine.predict(X))
    kinds = display.kinds()
    assert np.all(off[kinds["inside the tube"]] < 0.3)
    assert_allclose(off[kinds["on its edge"]], 0.3, rtol=display.resolution)
    assert np.all(off[kinds["outside"]] > 0.3)
