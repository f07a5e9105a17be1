"""What a block is made of, how exact it is, and a gradient that is proved wrong."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_moons

from maxmargin.formulations import c_svc, nu_svc
from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.problem import Status
from maxmargin.solvers import BlockSMO
from maxmargin.solvers.qp import block_smo
from maxmargin.solvers.qp.block_smo import FREE
from maxmargin.solvers.qp.state import DualState, exact_gradient
from maxmargin.solvers.qp.working_set import working_set


def state_of(n, n_groups, seed):
    """A feasible β, most of it at a bound, with its gradient: somewhere on the way of a solve."""
    rng = np.random.default_rng(seed)
    X, y = make_moons(n, noise=0.3, random_state=seed)
    y = 2.0 * y - 1
    problem = c_svc(y, 1.0, fit_intercept=n_groups == 1)
    if n_groups == 2:
        problem = nu_svc(y, np.ones(n), 0.5, n)
    beta = rng.uniform(problem.lower, problem.upper)
    beta = problem.feasible(np.where(rng.random(n) < 0.9, np.round(beta), beta))
    gram = Gram(RBF(1.0), X)
    return DualState(problem, gram, beta)


@given(st.integers(0, 2), st.integers(40, 120), st.integers(8, 32), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_a_block_violates_as_much_as_all_and_says_what_is_left_outside(n_groups, n, size, seed):
    state = state_of(n, n_groups, seed)
    problem, beta, gradient = state.problem, state.beta, state.gradient
    W, outside = working_set(state, size, FREE, np.random.default_rng(seed))
    assert len(W) == len(np.unique(W)) <= size
    inside = np.zeros(n, bool)
    inside[W] = True
    offsets = problem.offsets(beta, gradient)
    residual = gradient + (offsets[problem.group] if n_groups else 0.0)
    wish = np.where(beta < problem.upper, -residual, 0.0)
    wish = np.maximum(wish, np.where(beta > problem.lower, residual, 0.0))
    assert outside == pytest.approx(wish[~inside].max(initial=0.0))
    free = (beta > problem.lower) & (beta < problem.upper)
    if not free[~inside].any():  # else the worst may be one of the free that had no place
        assert wish[inside].max() >= outside


@pytest.mark.parametrize(("C", "kind"), [(1.0, np.uint16), (1000.0, np.float32)])
def test_entries_have_16_bits_where_no_variable_can_move_far(monkeypatch, C, kind):
    X, y = make_moons(BlockSMO.whole + 200, noise=0.3, random_state=0)
    problem, gram, tol = c_svc(2.0 * y - 1, C), Gram(RBF(1.0), X), 1e-3
    kinds, square = set(), Gram.square

    def watched(self, i, dtype=np.float64, out=None):
        if out is not None:  # a block of SMO; the second-order method has its own, in float64
            kinds.add(out.dtype.type)
        return square(self, i, dtype, out)

    monkeypatch.setattr(Gram, "square", watched)
    solution = BlockSMO(tol=tol).solve(problem, gram)
    assert kinds == {kind}
    true = exact_gradient(problem, gram, solution.beta)
    assert problem.violation(solution.beta, true) <= tol


def test_a_gradient_that_is_proved_wrong_is_exact_where_it_counts():
    X, y = make_moons(BlockSMO.whole + 200, noise=0.3, random_state=0)
    problem, gram, tol = c_svc(2.0 * y - 1, 1.0), Gram(RBF(1.0), X), 1e-3
    solution = BlockSMO(tol=tol).solve(problem, gram)
    noise = np.random.default_rng(0).normal(0, 20 * tol, problem.size)
    state = DualState(problem, gram, solution.beta)
    state.gradient, state.dtype = solution.gradient + noise, np.float32
    state.confirm(tol)
    true = exact_gradient(problem, gram, solution.beta)
    support = solution.beta != 0
    np.testing.assert_allclose(state.gradient[support], true[support], atol=1e-10)
    assert problem.violation(state.beta, state.gradient) == pytest.approx(
        problem.violation(state.beta, true), abs=1e-10
    )


def test_entries_have_32_bits_once_a_block_gained_nothing(monkeypatch):
    """Of a smooth kernel 16 bits say little of K_ii + K_jj − 2K_ij: steps may lower the dual."""
    X, y = make_moons(BlockSMO.whole + 200, noise=0.3, random_state=0)
    state, kinds, square = (
        DualState(c_svc(2.0 * y - 1, 1.0), Gram(RBF(0.1), X), None),
        [],
        Gram.square,
    )

    def watched(self, i, dtype=np.float64, out=None):
        kinds.append(out.dtype.type)
        return square(self, i, dtype, out)

    monkeypatch.setattr(Gram, "square", watched)
    state.aim = 1e-3
    blocks = BlockSMO()._blocks(state)
    for state.idle in (0, 1, 0):
        next(blocks)
    assert kinds == [np.uint16, np.float32, np.float32]


def test_a_gap_that_is_refuted_raises_the_precision():
    """Else float32 and float64 sums alternate, each with an optimum of its own (C = 10⁴)."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 6)).astype(np.float32), rng.choice([-1.0, 1.0], 4000)
    duals = []
    BlockSMO().solve(
        c_svc(y, 1e4), Gram(RBF(3.0), X), observe=lambda now: duals.append(now.objective)
    )
    assert sum(after < before for before, after in pairwise(duals)) <= 1


def test_float32_has_digits_enough_of_a_small_violation():
    """G of free variables is near −b: what counts is the difference, which float32 holds.

    K is nearly I. 335,000 steps, most of them by rounding errors, where G itself was rounded.
    """
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3200, 4)), np.where(np.arange(3200) % 25, -1.0, 1.0)
    solution = BlockSMO().solve(c_svc(y, 1e4), Gram(RBF(100.0), X))
    assert solution.status is Status.CONVERGED
    assert solution.n_iter <= 50_000


@pytest.mark.parametrize(("aim", "kind"), [(1e-3, np.float32), (1e-9, np.float64)])
def test_steps_without_end_below_the_rounding_of_float32_raise_the_precision(
    monkeypatch, aim, kind
):
    X, y = make_moons(BlockSMO.whole + 200, noise=0.3, random_state=0)
    state = DualState(c_svc(2.0 * y - 1, 100.0), Gram(RBF(1.0), X), None)
    state.aim, solve = aim, block_smo.smo_block

    def without_end(*arguments):
        solve(*arguments)
        return arguments[-1]

    monkeypatch.setattr(block_smo, "smo_block", without_end)
    monkeypatch.setattr(block_smo, "working_set", lambda *_: (np.arange(state.problem.size), 0.0))
    next(BlockSMO()._blocks(state))
    assert state.dtype == kind


def test_machines_on_the_same_rows_share_a_block_of_all():
    """K is nearly I, so that all rows are free: the second machine begins with what is there."""
    rng = np.random.default_rng(0)
    n = BlockSMO.whole + 200
    gram, y = Gram(RBF(100.0), rng.normal(size=(n, 4))), rng.integers(3, size=n)
    evaluations, shared = [], []
    for kind in (0, 1):
        before = gram.evaluations
        shared.append(BlockSMO().solve(c_svc(np.where(y == kind, 1.0, -1.0), 100.0), gram))
        evaluations.append(gram.evaluations - before)
    assert gram.is_held
    assert evaluations[1] < evaluations[0] / 3
    alone = BlockSMO().solve(c_svc(np.where(y == 1, 1.0, -1.0), 100.0), Gram(gram.kernel, gram.X))
    assert shared[1].status is alone.status is Status.CONVERGED
    assert shared[1].values.dual == pytest.approx(alone.values.dual, rel=1e-3)
