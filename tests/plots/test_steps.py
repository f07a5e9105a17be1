"""Steps: along an axis, or along the line of the constraint, to the best point of the box."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear
from maxmargin.plots import DescentDisplay, PairStepDisplay
from maxmargin.plots.pair_step import PairStep

pytestmark = pytest.mark.small

POINTS = np.array([[1.0, 0.15], [-0.75, -0.9]])
LABELS = np.array([1, -1])


@pytest.fixture
def ax():
    return Figure().subplots()


def test_descent_moves_along_the_axes_and_down_to_the_optimum(ax):
    problem, gram = c_svc(LABELS, C=9.0, fit_intercept=False), Gram(Linear(), POINTS)
    display = DescentDisplay.from_problem(problem, gram, start=[0.1, -0.7], ax=ax)
    steps = np.diff(display.way, axis=0)
    assert np.all(np.count_nonzero(steps, axis=1) == 1)
    assert np.all(np.diff(display.bowl(display.way)) < 0)
    assert_allclose(display.way[-1], -np.linalg.solve(POINTS @ POINTS.T, problem.linear), atol=1e-5)
    assert_allclose(display.way_.get_xydata(), display.way)


def test_descent_stops_at_the_box(ax):
    problem = c_svc(LABELS, C=0.5, fit_intercept=False)
    display = DescentDisplay.from_problem(problem, Gram(Linear(), POINTS), ax=ax)
    assert np.all((display.way >= problem.lower) & (display.way <= problem.upper))
    assert display.way[-1, 0] == 0.5
    assert display.box_.get_width() == pytest.approx(0.5)


def test_descent_is_for_two_variables(ax):
    problem = c_svc(np.array([1, -1, 1]), C=1.0, fit_intercept=False)
    with pytest.raises(ValueError, match="two variables; this problem has 3"):
        DescentDisplay.from_problem(problem, Gram(Linear(), np.eye(3)), ax=ax)


@given(
    alpha=st.tuples(*[st.floats(0, 1)] * 2),
    labels=st.tuples(*[st.sampled_from([-1, 1])] * 2),
    seed=st.integers(0, 100),
)
def test_the_clipped_point_is_the_best_of_the_line_in_the_box(alpha, labels, seed):
    random = np.random.default_rng(seed)
    problem = c_svc(np.array([*labels, 1, -1]), C=1.0)
    gram = Gram(RBF(1.0), random.normal(size=(4, 2)))
    beta = np.array([alpha[0] * labels[0], alpha[1] * labels[1], 0.3, -0.2])
    step = PairStep.of(problem, gram, beta, 0, 1)
    assert step.start[1] + 1e-12 >= step.L
    assert step.start[1] - 1e-12 <= step.H
    assert np.all((step.clipped > -1e-12) & (step.clipped < 1 + 1e-12))
    signs = np.array(labels)
    assert step.clipped @ signs == pytest.approx(step.start @ signs)
    for share in np.linspace(0, 1, 11):
        alpha_j = step.L + share * (step.H - step.L)
        rival = np.array(
            [step.start[0] - labels[0] * labels[1] * (alpha_j - step.start[1]), alpha_j]
        )
        assert step.bowl(step.clipped) <= step.bowl(rival) + 1e-9


def test_the_box_its_line_and_its_marks_are_drawn(ax):
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1, -1, 1, 1])
    problem, gram = c_svc(y, C=0.2), Gram(Linear(), X)
    display = PairStepDisplay.from_problem(problem, gram, np.zeros(4), i=1, j=2, ax=ax)
    step = display.step
    assert_allclose(display.line_.get_ydata(), [step.L, step.H])
    for mark, place in (("start", step.start), ("unclipped", step.best), ("clipped", step.clipped)):
        assert_allclose(display.marks_[mark].get_xydata()[0], place)
    assert display.box_.get_width() == display.box_.get_height() == 0.2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(display.marks_)


def test_a_pair_is_two(ax):
    with pytest.raises(ValueError, match="takes two variables, got 1 twice"):
        PairStep.of(c_svc(LABELS, C=1.0), Gram(Linear(), POINTS), np.zeros(2), 1, 1)
