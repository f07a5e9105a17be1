"""The ℓ₁ problem: every model proves itself, and the best is the best."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import naive_machines
from maxmargin.gram import DataMatrix
from maxmargin.losses import SquaredEpsilonInsensitive, SquaredHinge
from maxmargin.problem import L1Problem, LinearProblem, Status
from maxmargin.solvers import DualCoordinateDescent, L1Newton
from maxmargin.solvers.linear.l1_newton import minimise_model

WIDE = 250  # more columns than are taken at once


def generated(seed, *, fit_intercept=True, C=0.3, columns=None):
    """Rows away from the origin, two of them and two columns equal, with costs of their own."""
    random = np.random.default_rng(seed)
    n, d = random.integers(6, 40), columns or random.integers(2, 8)
    X = random.normal(size=(n, d)) + random.normal(size=d)
    X[1], X[:, 1] = X[0], X[:, 0]
    y = X @ random.normal(size=d) + random.normal(size=n)
    y = np.where(y > np.median(y), 1.0, -1.0)
    return L1Problem(y, C * random.uniform(0.2, 2, n), SquaredHinge(), fit_intercept), X


def assert_proven(problem, X, found):
    """`found` is a Point or a Solution: β is feasible, the values are what they should be."""
    values, beta = found.values, found.beta
    assert np.all(problem.y * beta >= 0)
    assert np.abs(X.T @ beta).max() <= 1 + 1e-10
    if problem.fit_intercept:
        assert abs(beta.sum()) <= 1e-12 * (1 + np.abs(beta).sum())
    b = values.offsets[0] if problem.fit_intercept else 0.0
    primal = naive.l1_primal(X, problem.y, problem.cost, found.coef, b)
    assert values.primal == pytest.approx(primal, rel=1e-10)
    dual = naive.l1_dual(problem.y, problem.cost, beta)
    assert values.dual == pytest.approx(dual, rel=1e-10, abs=1e-12)
    assert values.gap >= -1e-10 * values.primal


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [1e-3, 0.3, 100.0])
@pytest.mark.parametrize("columns", [None, WIDE])
def test_the_gap_closes_on_every_problem(fit_intercept, C, columns):
    for seed in range(6):
        problem, X = generated(seed, fit_intercept=fit_intercept, C=C, columns=columns)
        for rows in (DataMatrix(X), DataMatrix(sp.csr_array(X))):
            found = L1Newton(tol=1e-9).solve(problem, rows)
            assert found.status is Status.CONVERGED, found.why
            assert found.values.relative_gap <= 1e-9
            assert_proven(problem, X, found)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_optimum_is_that_of_an_independent_solver(fit_intercept):
    for seed in range(4):
        problem, X = generated(seed, fit_intercept=fit_intercept)
        found = L1Newton(tol=1e-10).solve(problem, DataMatrix(X))
        best = naive_machines.l1_optimum(X, problem.y, problem.cost, fit_intercept=fit_intercept)
        assert found.values.primal == pytest.approx(best, rel=1e-7)


@given(seed=st.integers(0, 10_000), size=st.floats(0, 3))
@settings(max_examples=60, deadline=None)
def test_any_model_gives_a_bound_that_holds_for_every_other(seed, size):
    problem, X = generated(seed)
    random = np.random.default_rng(seed)
    w, other = size * random.normal(size=(2, X.shape[1])) * (random.random((2, X.shape[1])) < 0.5)
    point = problem.point(DataMatrix(X), coef=w)
    assert_proven(problem, X, point)
    value = naive.l1_primal(X, problem.y, problem.cost, other, random.normal())
    assert point.values.dual <= value * (1 + 1e-10)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_the_model_of_the_loss_is_minimised(seed):
    """q(x) = ½(x − w)ᵀH(x − w) + gᵀ(x − w) + ‖x‖₁: its subgradient at x contains 0."""
    random = np.random.default_rng(seed)
    d = random.integers(1, 10)
    Z = random.normal(size=(random.integers(d, 2 * d + 1), d))
    H, g, w = Z.T @ Z, 3 * random.normal(size=d), random.normal(size=d)
    x = minimise_model(H, g, w, 1e-9)
    slope = H @ (x - w) + g
    np.testing.assert_allclose(slope[x != 0], -np.sign(x[x != 0]), atol=1e-6)
    assert np.all(np.abs(slope[x == 0]) <= 1 + 1e-6)


def test_zero_is_the_answer_below_the_smallest_C_and_not_above():
    problem, X = generated(0, C=1.0, columns=WIDE)
    smallest = 1 / np.abs(problem.point(DataMatrix(X)).slopes).max()
    for share, empty in ((0.999, True), (1.001, False)):
        part = L1Problem(problem.y, share * smallest * problem.cost, SquaredHinge())
        assert L1Newton(tol=1e-9).solve(part, DataMatrix(X)).coef.any() != empty


def test_the_tube_has_an_l1_machine_too():
    """Any loss of quadratic pieces will do."""
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 5))
    y = X[:, 0] + 0.1 * random.normal(size=30)
    problem = L1Problem(y, np.ones(30), SquaredEpsilonInsensitive(0.1))
    found = L1Newton(tol=1e-9).solve(problem, DataMatrix(X))
    assert found.values.relative_gap <= 1e-9
    assert found.values.dual <= problem.point(DataMatrix(X)).values.primal


def test_a_limit_leaves_a_model_that_proves_itself():
    problem, X = generated(3, C=10.0, columns=WIDE)
    for limit, status in (
        ({"max_iter": 1}, Status.OUT_OF_ITERATIONS),
        ({"max_time": 1e-9}, Status.OUT_OF_TIME),
    ):
        found = L1Newton(tol=1e-14, **limit).solve(problem, DataMatrix(X))
        assert found.status is status
        assert_proven(problem, X, found)


def test_a_solver_of_another_problem_says_which_it_takes():
    problem, X = generated(0)
    with pytest.raises(ValueError, match="takes LinearProblem, not L1Problem; solver='auto'"):
        DualCoordinateDescent().solve(problem, DataMatrix(X))
    ridge = LinearProblem(problem.y, problem.cost, SquaredHinge())
    with pytest.raises(ValueError, match="L1Newton takes L1Problem, not LinearProblem"):
        L1Newton().solve(ridge, DataMatrix(X))
