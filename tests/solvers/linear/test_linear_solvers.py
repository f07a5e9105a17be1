"""The solvers of the linear machines: every point proves itself, and the best is the best."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from linear_problems import EPSILON, KINDS, LinearCase
from maxmargin.gram import DataMatrix
from maxmargin.losses import Hinge, SquaredHinge
from maxmargin.problem import LinearProblem, Status
from maxmargin.solvers import (
    SGD,
    Automatic,
    DualCoordinateDescent,
    LinearInteriorPoint,
    Newton,
)
from maxmargin.solvers.linear.conjugate_gradients import minimise_on_face
from problems import ALL, LINEAR_EXACT, LINEAR_SIMPLE, takes
from truth import Truth

SMOOTH = [loss for loss in KINDS if KINDS[loss].kappa]


def generated(loss, seed, **special):
    """A few rows away from the origin, with costs of their own."""
    random = np.random.default_rng(seed)
    shape = {"rows": int(random.integers(6, 40)), "columns": int(random.integers(1, 6))}
    return LinearCase(loss, **{"seed": seed, "shift": 2.0, "decades": 1.0, **shape, **special})


cases = st.builds(
    generated,
    st.sampled_from(list(KINDS)),
    st.integers(0, 10_000),
    fit_intercept=st.booleans(),
    csr=st.booleans(),
)


def random_beta(case):
    problem = case.problem
    random = np.random.default_rng(case.seed)
    return problem.feasible(problem.cost * random.normal(size=len(problem.y)))


@pytest.mark.parametrize(
    ("key", "loss"),
    [
        (key, loss)
        for key, solver in {**LINEAR_EXACT, **LINEAR_SIMPLE}.items()
        for loss in KINDS
        if takes(solver, LinearCase(loss))
    ],
)
def test_a_solver_that_is_stopped_still_proves_what_it_has(key, loss):
    case, solver = generated(loss, 3, cost=10.0), replace(ALL[key], tol=1e-12, max_iter=2)
    found = solver.solve(case.problem, case.matrix())
    Truth.of(case).assert_proven(solver, found)
    assert found.n_iter <= 3  # a pass that has begun is finished


@given(case=cases)
@settings(max_examples=60, deadline=None)
def test_any_feasible_beta_bounds_any_model(case):
    """And a point says of itself what is so."""
    truth, beta, epsilon = Truth.of(case), random_beta(case), KINDS[case.loss].epsilon
    truth.assert_feasible(beta)
    point, data = case.problem.point(case.matrix(), beta), case.data()
    random = np.random.default_rng(case.seed + 1)
    for w, b in [(random.normal(size=case.columns), 0.3), (point.coef, point.offset)]:
        primal = naive.linear_primal(case.loss, epsilon, *data, w, b)
        assert truth.objective(beta) <= primal + truth.rounding(beta)
    assert point.values.primal == pytest.approx(primal, rel=1e-10)
    assert point.values.dual == pytest.approx(truth.objective(beta), abs=truth.rounding(beta))
    largest = np.abs(truth.K @ case.variables(beta)).max()
    assert point.values.violation == pytest.approx(truth.violation(beta), abs=1e-11 * (1 + largest))


@given(case=cases)
@settings(max_examples=60, deadline=None)
def test_the_best_offset_is_the_best(case):
    X, y, cost = case.data()
    scores, epsilon = np.round(X[:, 0], 1), KINDS[case.loss].epsilon
    kinks = y - scores
    candidates = np.concatenate([kinks - EPSILON, kinks, kinks + EPSILON, np.linspace(-9, 9, 50)])

    def value(b):
        loss = naive.LOSSES[case.loss]
        return sum(c * loss(t, f + b, epsilon) for c, t, f in zip(cost, y, scores, strict=True))

    best = replace(case, fit_intercept=True).problem.best_offset(scores)
    assert value(best) <= min(map(value, candidates)) + 1e-10 * cost.sum()
    assert replace(case, fit_intercept=False).problem.best_offset(scores) == 0.0


@given(case=cases)
@settings(max_examples=40, deadline=None)
def test_the_best_of_a_face_is_on_it_and_has_one_slope(case):
    truth, beta = Truth.of(case), random_beta(case)
    lower, upper = case.problem.bounds
    better = minimise_on_face(case.problem, case.matrix(), beta)
    assert np.all((lower <= better) & (better <= upper))
    if case.fit_intercept:
        assert better.sum() == pytest.approx(beta.sum(), abs=1e-12 * np.abs(beta).sum())
    at_bound = (beta == lower) | (beta == upper)
    np.testing.assert_array_equal(better[at_bound], beta[at_bound])
    assert truth.objective(better) >= truth.objective(beta) - truth.rounding(beta)
    before, after = free_slopes(truth, beta), free_slopes(truth, better)
    if len(after) > 1:
        assert spread(case, after) <= 2e-3 * spread(case, before) + truth.rounding(beta)


def free_slopes(truth, beta):
    """G of the variables that are neither at a bound nor at the kink of ε|β|."""
    dual, beta = truth.dual, truth.case.variables(beta)
    free = (dual.lower < beta) & (beta < dual.upper) & (beta != 0)
    return naive.gradient(dual, truth.K, beta)[free]


def spread(case, slopes):
    """How far they are from being equal; from zero, if Σβ may change."""
    return np.ptp(slopes) if case.fit_intercept else np.abs(slopes).max()


def test_interior_point_does_not_mind_a_large_C_and_auto_knows():
    """Coordinate descent would need thousands of passes here."""
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 5))
    y = np.where(X[:, 0] + random.normal(size=2000) > 0, 1.0, -1.0)
    problem, rows = LinearProblem(y, np.full(2000, 1e3), Hinge()), DataMatrix(X)
    slow = DualCoordinateDescent(tol=1e-6, max_iter=300).solve(problem, rows)
    assert slow.status is Status.OUT_OF_ITERATIONS
    for solver in (LinearInteriorPoint, Automatic):
        assert solver(tol=1e-6, max_iter=300).solve(problem, rows).status is Status.CONVERGED


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
def test_newton_needs_a_handful_of_steps_whatever_C_is(loss, fit_intercept, C):
    solver = Newton(tol=1e-9, max_iter=50)
    for seed in range(5):
        case = generated(loss, seed, fit_intercept=fit_intercept, cost=C, csr=seed % 2 == 1)
        found = solver.solve(case.problem, case.matrix())
        assert found.status is Status.CONVERGED, found.why
        Truth.of(case).assert_proven(solver, found)


def test_newton_begins_on_a_part_of_the_rows_and_ends_on_all():
    random = np.random.default_rng(0)
    X = random.normal(size=(5000, 3)) + 1
    y = np.where(X[:, 0] + random.normal(size=5000) > 1, 1.0, -1.0)
    problem = LinearProblem(y, np.full(5000, 0.1), SquaredHinge())
    found = Newton(tol=1e-10).solve(problem, DataMatrix(X))
    reference = LinearInteriorPoint(tol=1e-10).solve(problem, DataMatrix(X))
    assert found.values.relative_gap <= 1e-10
    assert found.values.primal == pytest.approx(reference.values.primal, rel=1e-9)


def test_every_ending_says_why():
    case = generated("hinge", 0)
    solution = DualCoordinateDescent(tol=1e-12, max_iter=1).solve(case.problem, case.matrix())
    assert solution.status is Status.OUT_OF_ITERATIONS
    assert solution.why == "passes over the data taken: 1"


def test_sgd_with_a_rate_that_is_too_large_says_which_is_not():
    case = generated("squared", 0, cost=1e6)
    with pytest.raises(ValueError, match=r"learning_rate=100000.0; the data .* allow about"):
        SGD(learning_rate=1e5, batch_size=2, max_iter=200).solve(case.problem, case.matrix())


def test_targets_and_rows_must_be_as_many():
    case = generated("hinge", 0)
    with pytest.raises(ValueError, match=f"{case.rows} targets but the data {case.rows - 1} rows"):
        Newton().solve(case.problem, DataMatrix(case.data()[0][1:]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_not_copied(dtype):
    X = np.ones((3, 2), dtype)
    assert DataMatrix(X).X is X
    S = sp.csr_array(X)
    held = DataMatrix(S).X
    for part in "data", "indices", "indptr":
        assert np.shares_memory(getattr(held, part), getattr(S, part))


def test_a_column_named_twice_counts_as_the_sum():
    twice = sp.csr_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])))
    rows, once = DataMatrix(twice), DataMatrix(twice.toarray())
    np.testing.assert_array_equal(rows.squared_norms(), once.squared_norms())
    weights, centre = np.array([1.0, 2.0]), np.array([3.0, 10.0]) / 3
    np.testing.assert_allclose(rows.scatter(weights, centre), once.scatter(weights, centre))
