"""The solvers of the linear machines: every point proves itself, and the best is the best."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.losses import (
    EpsilonInsensitive,
    Hinge,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from maxmargin.primal import PrimalProblem
from maxmargin.problem import Status
from maxmargin.rows import Rows
from maxmargin.solvers import (
    SGD,
    Automatic,
    DualCoordinateDescent,
    LinearInteriorPoint,
    Newton,
)
from maxmargin.solvers.face import minimise_on_face

LOSSES = [
    Hinge(),
    SquaredHinge(),
    Squared(),
    EpsilonInsensitive(0.2),
    EpsilonInsensitive(),
    SquaredEpsilonInsensitive(0.2),
]
EXACT = [DualCoordinateDescent, LinearInteriorPoint, Automatic]


def generated(loss, seed, *, fit_intercept=True, C=0.3):
    """Rows away from the origin, some twice, with costs of their own."""
    random = np.random.default_rng(seed)
    n, d = random.integers(6, 40), random.integers(1, 6)
    X = random.normal(size=(n, d)) + 2 * random.normal(size=d)
    X[1] = X[0]
    y = X @ random.normal(size=d) + random.normal(size=n)
    if isinstance(loss, Hinge):
        y = np.where(y > np.median(y), 1.0, -1.0)
    problem = PrimalProblem(y, C * random.uniform(0.2, 2, n), loss, fit_intercept)
    return problem, X


def primal(problem, X, w, b):
    """P, row by row."""
    losses = [problem.loss.value(y, x @ w + b) for x, y in zip(X, problem.y, strict=True)]
    return 0.5 * w @ w + problem.cost @ np.array(losses)


def dual(problem, X, beta):
    """D, from the definition of the conjugate."""
    conjugates = problem.loss.conjugate(problem.y, -beta / problem.cost)
    return -0.5 * np.sum((X.T @ beta) ** 2) - problem.cost @ conjugates


def assert_proven(problem, X, point):
    lower, upper = problem.bounds
    assert np.all((lower <= point.beta) & (point.beta <= upper))
    if problem.fit_intercept:
        assert abs(point.beta.sum()) <= 1e-13 * (1 + np.abs(point.beta).sum())
    assert point.primal == pytest.approx(primal(problem, X, point.coef, point.offset), rel=1e-10)
    assert point.dual == pytest.approx(dual(problem, X, point.beta), rel=1e-10, abs=1e-10)
    assert point.gap >= -1e-10 * point.primal


@pytest.mark.parametrize("solver", EXACT, ids=lambda solver: solver.__name__)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_every_solver_closes_the_gap_on_every_loss(solver, loss, fit_intercept):
    for seed in range(3):
        problem, X = generated(loss, seed, fit_intercept=fit_intercept, C=0.05)
        found = solver(tol=1e-6, max_iter=-1).solve(problem, Rows(X))
        assert found.status is Status.CONVERGED
        assert found.point.relative_gap <= 1e-6
        assert_proven(problem, X, found.point)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("solver", [*EXACT, SGD], ids=lambda solver: solver.__name__)
def test_a_solver_that_is_stopped_still_proves_what_it_has(solver, loss):
    problem, X = generated(loss, 3, C=10.0)
    found = solver(tol=1e-12, max_iter=2).solve(problem, Rows(X))
    assert_proven(problem, X, found.point)
    assert len(found.history)


@given(seed=st.integers(0, 10_000), which=st.integers(0, len(LOSSES) - 1))
@settings(max_examples=60, deadline=None)
def test_any_feasible_beta_bounds_any_model(seed, which):
    problem, X = generated(LOSSES[which], seed)
    random = np.random.default_rng(seed)
    beta = problem.feasible(problem.cost * random.normal(size=len(X)))
    assert dual(problem, X, beta) <= primal(problem, X, random.normal(size=X.shape[1]), 0.3) + 1e-9
    point = problem.point(Rows(X), beta)
    assert_proven(problem, X, point)


@given(seed=st.integers(0, 10_000), which=st.integers(0, len(LOSSES) - 1))
@settings(max_examples=60, deadline=None)
def test_the_best_offset_is_the_best(seed, which):
    problem, X = generated(LOSSES[which], seed)
    scores = np.round(X[:, 0], 1)
    kinks = problem.y - scores
    candidates = np.concatenate([kinks - 0.2, kinks, kinks + 0.2, np.linspace(-9, 9, 50)])

    def value(b):
        return problem.cost @ problem.loss.value(problem.y, scores + b)

    assert value(problem.best_offset(scores)) <= min(map(value, candidates)) + 1e-10


@given(seed=st.integers(0, 10_000), which=st.integers(0, len(LOSSES) - 1))
@settings(max_examples=40, deadline=None)
def test_the_face_is_never_left_and_never_worse(seed, which):
    problem, X = generated(LOSSES[which], seed)
    lower, upper = problem.bounds
    random = np.random.default_rng(seed)
    beta = problem.feasible(problem.cost * random.normal(size=len(X)))
    better = minimise_on_face(problem, Rows(X), beta)
    assert np.all((lower <= better) & (better <= upper))
    at_bound = (beta == lower) | (beta == upper)
    np.testing.assert_array_equal(better[at_bound], beta[at_bound])
    assert better.sum() == pytest.approx(beta.sum(), abs=1e-10)
    assert dual(problem, X, better) >= dual(problem, X, beta) - 1e-10


def test_interior_point_does_not_mind_a_large_C_and_auto_knows():
    """Coordinate descent would need thousands of passes here."""
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 5))
    y = np.where(X[:, 0] + random.normal(size=2000) > 0, 1.0, -1.0)
    problem, rows = PrimalProblem(y, np.full(2000, 1e3), Hinge()), Rows(X)
    slow = DualCoordinateDescent(tol=1e-6, max_iter=300).solve(problem, rows)
    assert slow.status is Status.OUT_OF_ITERATIONS
    for solver in (LinearInteriorPoint, Automatic):
        assert solver(tol=1e-6, max_iter=300).solve(problem, rows).status is Status.CONVERGED


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss.kappa], ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
def test_newton_needs_a_handful_of_steps_whatever_C_is(loss, fit_intercept, C):
    for seed in range(5):
        problem, X = generated(loss, seed, fit_intercept=fit_intercept, C=C)
        for rows in (Rows(X), Rows(sp.csr_array(X))):
            found = Newton(tol=1e-9, max_iter=50).solve(problem, rows)
            assert found.status is Status.CONVERGED, found.why
            assert_proven(problem, X, found.point)


def test_newton_begins_on_a_part_of_the_rows_and_ends_on_all():
    random = np.random.default_rng(0)
    X = random.normal(size=(5000, 3)) + 1
    y = np.where(X[:, 0] + random.normal(size=5000) > 1, 1.0, -1.0)
    problem = PrimalProblem(y, np.full(5000, 0.1), SquaredHinge())
    found = Newton(tol=1e-10).solve(problem, Rows(X))
    reference = LinearInteriorPoint(tol=1e-10).solve(problem, Rows(X))
    assert found.point.relative_gap <= 1e-10
    assert found.point.primal == pytest.approx(reference.point.primal, rel=1e-9)


def test_newton_refuses_a_loss_with_kinks():
    problem, X = generated(Hinge(), 0)
    with pytest.raises(ValueError, match=r"loss without kinks.*Hinge"):
        Newton().solve(problem, Rows(X))


def test_every_ending_says_why():
    problem, X = generated(Hinge(), 0)
    solution = DualCoordinateDescent(tol=1e-12, max_iter=1).solve(problem, Rows(X))
    assert solution.status is Status.OUT_OF_ITERATIONS
    assert solution.why == "max_iter=1 is reached"


def test_sgd_with_a_rate_that_is_too_large_says_which_is_not():
    problem, X = generated(Squared(), 0, C=1.0)
    with pytest.raises(ValueError, match=r"learning_rate=100000.0; the data .* allow about"):
        SGD(learning_rate=1e5, batch_size=2, max_iter=200).solve(problem, Rows(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_not_copied(dtype):
    X = np.ones((3, 2), dtype)
    assert Rows(X).parts[0] is X
    S = sp.csr_array(X)
    assert all(
        np.shares_memory(a, b)
        for a, b in zip(Rows(S).parts, (S.data, S.indices, S.indptr), strict=True)
    )


def test_a_column_named_twice_counts_as_the_sum():
    twice = sp.csr_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])))
    rows, once = Rows(twice), Rows(twice.toarray())
    np.testing.assert_array_equal(rows.squared_norms(), once.squared_norms())
    weights, centre = np.array([1.0, 2.0]), np.array([3.0, 10.0]) / 3
    np.testing.assert_allclose(rows.scatter(weights, centre), once.scatter(weights, centre))
