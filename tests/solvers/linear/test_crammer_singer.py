"""Crammer and Singer's problem: every α proves itself, and the best is the best."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import naive_machines
from maxmargin.core import native
from maxmargin.gram import DataMatrix
from maxmargin.losses import Hinge
from maxmargin.problem import CrammerSingerProblem, LinearProblem, Status
from maxmargin.solvers import CrammerSingerDescent, LinearInteriorPoint


def generated(seed, *, fit_intercept=True, C=0.3, classes=None):
    """Rows away from the origin, two of them equal, with costs of their own."""
    random = np.random.default_rng(seed)
    n, d, k = random.integers(8, 30), random.integers(1, 6), classes or random.integers(2, 6)
    X = random.normal(size=(n, d)) + 2 * random.normal(size=d)
    X[1] = X[0]
    labels = (X @ random.normal(size=(d, k)) + random.normal(size=(n, k))).argmax(axis=1)
    labels[:k] = np.arange(k)
    return CrammerSingerProblem(labels, C * random.uniform(0.2, 2, n), int(k), fit_intercept), X


def assert_proven(problem, X, found):
    """`found` is a Point or a Solution: α is feasible, the values are what they should be."""
    values, alpha, n = found.values, found.beta, len(X)
    own = np.arange(problem.classes) == problem.labels[:, None]
    assert np.all(alpha <= np.where(own, problem.cost[:, None], 0) * (1 + 1e-12))
    np.testing.assert_allclose(alpha.sum(axis=1), 0, atol=1e-12 * problem.cost.max())
    b = np.zeros(problem.classes)
    if problem.fit_intercept:
        np.testing.assert_allclose(alpha.sum(axis=0), 0, atol=1e-12 * n * problem.cost.max())
        b = values.offsets
    primal = naive.crammer_singer_primal(X, problem.labels, problem.cost, found.coef, b)
    assert values.primal == pytest.approx(primal, rel=1e-10)
    dual = naive.crammer_singer_dual(X, problem.labels, alpha)
    assert values.dual == pytest.approx(dual, rel=1e-9, abs=1e-10)
    assert values.gap >= -1e-10 * values.primal


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [1e-3, 0.3])
def test_the_gap_closes_and_the_optimum_is_that_of_an_independent_solver(fit_intercept, C):
    for seed in range(4):
        problem, X = generated(seed, fit_intercept=fit_intercept, C=C)
        best = naive_machines.crammer_singer_optimum(
            X, problem.labels, problem.cost, fit_intercept=fit_intercept
        )
        for rows in (DataMatrix(X), DataMatrix(sp.csr_array(X))):
            found = CrammerSingerDescent(tol=1e-7, max_iter=-1).solve(problem, rows)
            assert found.status is Status.CONVERGED, found.why
            assert found.values.relative_gap <= 1e-7
            assert found.values.primal == pytest.approx(best, rel=2e-7)
            assert_proven(problem, X, found)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_two_classes_are_the_binary_machine_with_twice_the_C(fit_intercept):
    for seed in range(4):
        problem, X = generated(seed, fit_intercept=fit_intercept, classes=2)
        found = CrammerSingerDescent(tol=1e-7, max_iter=-1).solve(problem, DataMatrix(X))
        signs = np.where(problem.labels == 1, 1.0, -1.0)
        binary = LinearProblem(signs, 2 * problem.cost, Hinge(), fit_intercept)
        best = LinearInteriorPoint(tol=1e-9).solve(binary, DataMatrix(X))
        assert 2 * found.values.primal == pytest.approx(best.values.primal, rel=1e-6)
        w = found.coef[1] - found.coef[0]
        distance = np.linalg.norm(w - best.coef)  # ½‖w − ŵ‖² ≤ P(w) − P(ŵ), strong convexity
        assert distance <= 2 * np.sqrt(1e-6 * best.values.primal)


@given(seed=st.integers(0, 10_000), size=st.floats(0, 3))
@settings(max_examples=60, deadline=None)
def test_any_alpha_is_made_feasible_and_bounds_every_model(seed, size):
    problem, X = generated(seed)
    random = np.random.default_rng(seed)
    alpha = size * random.normal(size=problem.y.shape)
    point = problem.point(DataMatrix(X), alpha, offset=random.normal(size=problem.classes))
    assert_proven(problem, X, point)
    W, b = random.normal(size=point.coef.shape), random.normal(size=problem.classes)
    value = naive.crammer_singer_primal(X, problem.labels, problem.cost, W, b)
    assert point.values.dual <= value * (1 + 1e-10)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_a_feasible_point_stays_where_it_is(seed):
    problem, _ = generated(seed)
    alpha = problem.feasible(np.random.default_rng(seed).normal(size=problem.y.shape))
    np.testing.assert_allclose(problem.feasible(alpha), alpha, atol=1e-12)


@given(seed=st.integers(0, 10_000), classes=st.integers(2, 6))
@settings(max_examples=60, deadline=None)
def test_a_row_is_solved_for_exactly(seed, classes):
    """min ½s‖a − α‖² + Gᵀ(a − α): an independent solver finds nothing better."""
    random = np.random.default_rng(seed)
    cost, square = random.uniform(0.1, 2), random.uniform(0.1, 3)
    own = np.arange(classes) == 0  # the first
    lower, upper = np.where(own, 0.0, -cost), np.where(own, cost, 0.0)
    alpha = -random.uniform(0, cost / classes, classes)
    alpha[0] = -alpha[1:].sum()
    G, step = random.normal(size=classes), np.empty(classes)
    native.best_row(alpha, G, cost, square, step)
    best = naive_machines.quadratic_program(
        square * np.eye(classes), G - square * alpha, lower, upper, np.ones(classes), [0.0]
    )
    assert step.sum() == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(alpha + step, best, atol=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
def test_classes_that_were_left_out_come_back(sparse):
    """Of twelve classes most are left out of most rows; the optimum is that of all of them."""
    problem, X = generated(7, C=5.0, classes=12)
    X = np.vstack([X, X + 0.3])
    problem = CrammerSingerProblem(np.tile(problem.labels, 2), np.tile(problem.cost, 2), 12)
    rows = DataMatrix(sp.csr_array(X) if sparse else X)
    found = CrammerSingerDescent(tol=1e-6, max_iter=-1).solve(problem, rows)
    assert found.status is Status.CONVERGED
    assert_proven(problem, X, found)


def test_shifted_rows_change_only_the_offsets():
    problem, X = generated(1)
    near, far = (
        CrammerSingerDescent(tol=1e-9, max_iter=-1).solve(problem, DataMatrix(rows))
        for rows in (X, X + 100.0)
    )
    assert near.values.primal == pytest.approx(far.values.primal, rel=1e-7)
    np.testing.assert_allclose(near.coef, far.coef, atol=1e-3)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_limit_leaves_a_model_that_proves_itself(fit_intercept):
    problem, X = generated(3, C=10.0, fit_intercept=fit_intercept)
    for limit, status in (
        ({"max_iter": 2}, Status.OUT_OF_ITERATIONS),
        ({"max_time": 1e-9}, Status.OUT_OF_TIME),
    ):
        found = CrammerSingerDescent(tol=1e-14, **limit).solve(problem, DataMatrix(X))
        assert found.status is status
        assert_proven(problem, X, found)
