"""The step that all SMO solvers share is the lecture's step."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import naive
from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.textbook.blackboard import (
    Blackboard,
    take_single_step,
    take_step,
    violates,
)


def state_of(problem, gram, beta=None):
    state = DualState(problem, gram, beta)
    state.dtype = np.float64
    return state


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10**6), C=st.sampled_from([0.1, 1.0, 100.0]))
@example(seed=103617, C=1.0)  # both meet their bounds at once, but for rounding
def test_a_step_is_the_step_of_the_lecture(seed, C):
    random = np.random.default_rng(seed)
    n = 8
    X, y = random.normal(size=(n, 2)), np.where(np.arange(n) % 2, 1, -1)
    problem, gram = c_svc(y, C), Gram(RBF(1.0), X)
    everything = np.arange(n)
    K = gram.block(everything, everything)
    state = state_of(problem, gram)
    told = []
    state.watch = told.append
    for _ in range(6):
        i, j = random.choice(n, 2, replace=False)
        alpha, b = y * state.beta, state.offsets[0]
        expected, new_b, unclipped, L, H = naive.lecture_step(K, y, alpha, b, C, i, j)
        moved = take_step(Blackboard(state), i, j, "test")
        np.testing.assert_allclose(y * state.beta, expected, atol=1e-9 * C)
        if not moved:
            continue
        rest = np.minimum(y * state.beta, C - y * state.beta)[[i, j]]
        if not np.any((rest > 0) & (rest < 1e-12 * C)):  # else rounding decides which are free
            assert state.offsets[0] == pytest.approx(new_b, abs=1e-9 * max(1, C))
        # The lecture moves a_j; here β_j −= t, so that a_j = a_j_old − y_j t.
        step = told[-1]
        assert step.indices == (i, j)
        assert alpha[j] - y[j] * step.unclipped == pytest.approx(unclipped, abs=1e-9 * C)
        ends = sorted([alpha[j] - y[j] * step.low, alpha[j] - y[j] * step.high])
        np.testing.assert_allclose(ends, [L, H], atol=1e-12 * C)
        assert step.offset == state.offsets[0]


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10**6), slack=st.sampled_from([0.0, 1e-3]))
def test_the_kkt_test_is_the_test_of_the_lecture(seed, slack):
    random = np.random.default_rng(seed)
    n, C, tol = 10, 1.0, 0.1
    X, y = random.normal(size=(n, 2)), np.where(np.arange(n) % 2, 1, -1)
    start = y * random.choice([0.0, 1e-4, 0.5, 1.0 - 1e-4, 1.0], n)
    state = state_of(c_svc(y, C), Gram(RBF(1.0), X), start)
    alpha = y * state.beta
    for i in range(n):
        E = state.gradient[i] + state.offsets[0]
        expected = (alpha[i] < C - slack and y[i] * E < -tol) or (
            alpha[i] > slack and y[i] * E > tol
        )
        assert violates(Blackboard(state), i, tol, slack) == expected


def test_a_step_never_leaves_the_box_and_meets_its_bounds_exactly():
    X, y = np.array([[0.0], [0.1]]), np.array([-1, 1])
    C = 0.1 + 0.2  # which is not 0.3
    state = state_of(c_svc(y, C), Gram(Linear(), X))
    assert take_step(Blackboard(state), 0, 1, "test")
    assert state.beta.tolist() == [-C, C]
    assert not take_step(Blackboard(state), 0, 1, "test")


def test_duplicates_go_to_a_bound():
    """Their curvature is zero: the objective is linear, and its best is at an end of [L, H]."""
    X, y = np.array([[1.0], [1.0]]), np.array([-1, 1])
    state = state_of(c_svc(y, 2.0), Gram(Linear(), X))
    assert take_step(Blackboard(state), 1, 0, "test")
    assert state.beta.tolist() == [-2.0, 2.0]


def test_a_single_step_is_the_minimum_over_one_variable():
    X, y = np.array([[2.0], [1.0]]), np.array([-1, 1])
    state = state_of(c_svc(y, 1.0, fit_intercept=False), Gram(Linear(), X))
    told = []
    state.watch = told.append
    take_single_step(Blackboard(state), 0, "test")
    assert state.beta.tolist() == [-0.25, 0.0]  # −G/K = −1/4
    np.testing.assert_allclose(state.gradient, [0.0, -1.5])
    assert (told[0].unclipped, told[0].low, told[0].high) == (-0.25, -1.0, 0.0)
