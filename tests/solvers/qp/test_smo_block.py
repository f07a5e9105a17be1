"""The compiled inner loop finds the optimum of its block, in any of the problem's shapes."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, minimize

from maxmargin.core import native
from maxmargin.gram.on_demand import RowsOnDemand
from maxmargin.solvers.qp import smo_shrinking as shrinking
from maxmargin.solvers.qp.smo_block import smo_block

TOL = 1e-6


def rbf_block(rng, q, dtype=np.float64):
    X = rng.normal(size=(q, 3))
    return np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2)).astype(dtype)


def classifier(rng, q, C):
    y = np.where(rng.random(q) < 0.5, 1.0, -1.0)
    y[:2] = 1, -1
    return -y, np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)


def solve(K, p, lower, upper, group=None, n_groups=1, tol=TOL, max_steps=10**6):
    beta = np.clip(np.zeros(len(p)), lower, upper)
    gradient = K.astype(np.float64) @ beta + p
    group = np.zeros(len(p), np.int8) if group is None else group
    diagonal = K.diagonal().copy()
    bounds = lower, upper, group, n_groups
    steps = smo_block(K, diagonal, gradient, beta, *bounds, tol, max_steps)
    return beta, gradient, steps


def violation(gradient, beta, lower, upper, group, n_groups):
    if n_groups == 0:
        up, down = -gradient[beta < upper], gradient[beta > lower]
        return max(np.max(up, initial=0), np.max(down, initial=0))
    return max(
        np.max(-gradient[(group == g) & (beta < upper)], initial=-np.inf)
        - np.min(-gradient[(group == g) & (beta > lower)], initial=np.inf)
        for g in range(n_groups)
    )


def best_pairs(K, gradient, beta, lower, upper, tol):
    """The pairs that second-order SMO may move next, by its definition; none if it has ended.

    After a step both variables have the same slope, so that rounding decides which comes first:
    every pair that is best up to rounding is one.
    """
    up = [k for k in range(len(beta)) if beta[k] < upper[k]]
    down = [k for k in range(len(beta)) if beta[k] > lower[k]]
    top = max(-gradient[k] for k in up)
    if top - min(-gradient[k] for k in down) <= tol:
        return set()
    pairs = set()
    for i in (k for k in up if -gradient[k] >= top - 1e-13):
        partners = [k for k in down if gradient[k] > gradient[i]]
        curvature = {k: max(K[i, i] + K[k, k] - 2 * K[i, k], 1e-12) for k in partners}
        gains = {k: (gradient[k] - gradient[i]) ** 2 / curvature[k] for k in partners}
        pairs |= {(i, k) for k in partners if gains[k] >= (1 - 1e-10) * max(gains.values())}
    return pairs


@pytest.mark.small
@pytest.mark.parametrize("C", [0.5, 30.0])
def test_every_step_is_one_that_the_definition_allows(C):
    rng = np.random.default_rng(3)
    K, (p, lower, upper) = rbf_block(rng, 25), classifier(rng, 25, C)
    beta = np.zeros(25)
    for step in range(1000):
        gradient = p + K @ beta
        allowed = best_pairs(K, gradient, beta, lower, upper, 1e-3)
        after, _, _ = solve(K, p, lower, upper, tol=1e-3, max_steps=step + 1)
        moved = np.flatnonzero(after != beta)
        if not allowed:
            break
        i, j = moved if after[moved[0]] > beta[moved[0]] else moved[::-1]
        assert (i, j) in allowed
        best = (gradient[j] - gradient[i]) / (K[i, i] + K[j, j] - 2 * K[i, j])
        t = min(best, upper[i] - beta[i], beta[j] - lower[j])
        assert after[i] - beta[i] == pytest.approx(t, abs=1e-10 * C)
        beta = after
    assert not len(moved)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_groups", [0, 1, 2])
@given(seed=st.integers(0, 10**6), q=st.integers(4, 60), C=st.sampled_from([0.1, 1.0, 50.0]))
@example(seed=23794, q=4, C=1.0)  # without offset, the last step is of one variable alone
@settings(max_examples=30, deadline=None)
def test_ends_feasible_and_within_tol_of_optimal(dtype, n_groups, seed, q, C):
    rng = np.random.default_rng(seed)
    tol = {np.float32: 2e-3, np.float64: TOL}[dtype]
    K, (p, lower, upper) = rbf_block(rng, q, dtype), classifier(rng, q, C)
    group = (rng.random(q) < 0.5).astype(np.int8) if n_groups == 2 else np.zeros(q, np.int8)
    beta, gradient, _ = solve(K, p, lower, upper, group, n_groups, tol)
    assert np.all((lower <= beta) & (beta <= upper))
    for g in range(n_groups):
        assert abs(beta[group == g].sum()) <= 1e-13 * C * q
    true_gradient = K.astype(np.float64) @ beta + p
    np.testing.assert_allclose(gradient, true_gradient, atol=1e-5 * (1 + C))
    assert violation(true_gradient, beta, lower, upper, group, n_groups) <= 1.5 * tol


@pytest.mark.parametrize("n_groups", [0, 1, 2])
@given(seed=st.integers(0, 10**6), q=st.integers(4, 60), C=st.sampled_from([0.1, 1.0]))
@settings(max_examples=30, deadline=None)
def test_a_matrix_in_16_bits_is_the_matrix_that_it_stands_for(n_groups, seed, q, C):
    rng = np.random.default_rng(seed)
    p, lower, upper = classifier(rng, q, C)
    group = (rng.random(q) < 0.5).astype(np.int8) if n_groups == 2 else np.zeros(q, np.int8)
    rounded = np.rint(rbf_block(rng, q) * native.UNIT).astype(np.uint16)
    longer = np.hstack([rounded, rng.integers(native.UNIT, size=(q, 3), dtype=np.uint16)])
    beta, gradient, limit = np.zeros(q), p.copy(), 1000 * q
    bounds = lower, upper, group, n_groups
    ones = np.ones(q, np.float32)
    steps = smo_block(longer, ones, gradient, beta, *bounds, 2e-3, limit)
    assert steps < limit
    true_gradient = rounded / native.UNIT @ beta + p
    np.testing.assert_allclose(gradient, true_gradient, atol=1e-5)
    assert violation(true_gradient, beta, *bounds) <= 3e-3


@pytest.mark.parametrize("n_groups", [0, 1])
def test_objective_is_that_of_a_general_solver(n_groups):
    rng = np.random.default_rng(5)
    K, (p, lower, upper) = rbf_block(rng, 20), classifier(rng, 20, 2.0)
    beta, gradient, _ = solve(K, p, lower, upper, n_groups=n_groups)
    constraints = [LinearConstraint(np.ones((1, 20)), 0, 0)] * n_groups
    reference = minimize(
        lambda b: 0.5 * b @ K @ b + p @ b,
        np.zeros(20),
        jac=lambda b: K @ b + p,
        bounds=list(zip(lower, upper, strict=True)),
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert 0.5 * beta @ (gradient + p) == pytest.approx(reference.fun, rel=1e-8)


@pytest.mark.small
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_groups", [0, 1])
def test_duplicated_rows_with_opposite_labels_go_to_their_bounds(dtype, n_groups):
    K = np.ones((6, 6), dtype)
    y = np.array([1.0, -1, 1, -1, 1, -1])
    lower, upper = np.minimum(y, 0) * 2, np.maximum(y, 0) * 2
    beta, _, steps = solve(K, -y, lower, upper, n_groups=n_groups)
    assert steps < 100
    assert np.all(np.isfinite(beta))
    if n_groups:
        np.testing.assert_array_equal(np.abs(beta), 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_infinite_bounds_give_the_hard_margin(dtype):
    K = np.array([[1.0, -1.0], [-1.0, 1.0]], dtype)  # the points ±1 on a line
    p = np.array([-1.0, 1.0])
    beta, gradient, _ = solve(K, p, np.array([0, -np.inf]), np.array([np.inf, 0]))
    np.testing.assert_allclose(beta, [0.5, -0.5])
    np.testing.assert_allclose(gradient, 0, atol=1e-12)


@pytest.mark.small
def test_stops_at_the_limit_of_steps_and_at_once_when_optimal():
    rng = np.random.default_rng(0)
    K, (p, lower, upper) = rbf_block(rng, 30), classifier(rng, 30, 1.0)
    assert solve(K, p, lower, upper, max_steps=3)[2] == 3
    assert solve(K, p, np.zeros(30), np.zeros(30))[2] == 0
    assert solve(K, p, lower, upper, tol=10.0)[2] == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e4])
@pytest.mark.parametrize("columns", [1, 2])
def test_without_a_sum_rows_may_be_parallel(columns, scale, dtype):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, columns)), rng.standard_normal(12)
    K = np.tile((scale**2 * X @ X.T).astype(dtype), (2, 2))  # both copies of a row, and ε = 0
    lower, upper = np.repeat([0.0, -1.0], 12) / scale**2, np.repeat([1.0, 0.0], 12) / scale**2
    beta, _, _ = solve(K, np.tile(-y, 2), lower, upper, n_groups=0, tol=1e-3)
    gradient = K.astype(float) @ beta - np.tile(y, 2)
    assert violation(gradient, beta, lower, upper, None, 0) <= 2e-3


numbers = st.floats(-3, 3)


@pytest.mark.small
@given(st.tuples(numbers, numbers), st.floats(0.1, 2), st.floats(0.1, 2), st.floats(-0.99, 0.99))
@settings(max_examples=100, deadline=None)
def test_steps_of_two_end_in_the_minimum_over_a_box(G, a, b, correlation):
    K = np.array([[a, correlation * np.sqrt(a * b)], [correlation * np.sqrt(a * b), b]])
    low, high = np.array([-1.0, 0.0]), np.array([0.5, np.inf])
    step, group = np.zeros(2), np.zeros(2, np.int8)
    smo_block(K, np.diag(K).copy(), np.array(G), step, low, high, group, 0, 1e-12, 99)
    slope = np.array(G) + K @ step
    assert np.all((low <= step) & (step <= high))
    assert np.all(
        (np.abs(slope) <= 1e-9) | (slope > 0) & (step == low) | (slope < 0) & (step == high)
    )


@pytest.mark.parametrize("n_groups", [0, 1, 2])
def test_variables_out_of_play_are_missed_by_nobody(n_groups, monkeypatch):
    sizes, every = [], shrinking.smo_block

    def watched(K, *rest, **maker):
        sizes.append(len(K))
        return every(K, *rest, **maker)

    monkeypatch.setattr(shrinking, "smo_block", watched)
    q, C, rng = 400, 10.0, np.random.default_rng(0)
    X = rng.normal(size=(q, 3))
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=q) > 0, 1.0, -1.0)
    p, lower, upper = -y, np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)
    group = np.arange(q, dtype=np.int8) % max(n_groups, 1)
    beta, gradient, bounds = np.zeros(q), p.copy(), (lower, upper, group, n_groups)
    for _ in range(2):
        shrinking.smo_shrinking(RowsOnDemand(K), np.ones(q), gradient, beta, *bounds, TOL, 10**6)
        gradient = K @ beta + p
    assert violation(gradient, beta, *bounds) <= 1.5 * TOL
    assert sizes[0] == q
    assert min(sizes) < shrinking.SHRUNK * q
    alone, _, _ = solve(K, p, lower, upper, group, n_groups)
    np.testing.assert_allclose(0.5 * beta @ (gradient + p), 0.5 * alone @ (K @ alone + 2 * p))
