"""The second-order method: its optimum is that of the interior point, and SMO hands over to it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from maxmargin import SVC, SVR
from maxmargin.formulations import c_svc, epsilon_svr
from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.problem import DualProblem, Status
from maxmargin.solvers import BlockInteriorPoint, BlockSMO, Criterion, SecondOrderSMO
from maxmargin.solvers.qp import block_interior_point, face_newton, newton_system
from maxmargin.solvers.qp.block_interior_point import block_of, of_whole_rows
from maxmargin.solvers.qp.face_newton import FaceSystem
from maxmargin.solvers.qp.interior_block import DualBlock
from maxmargin.solvers.qp.newton_system import NewtonSystem
from maxmargin.solvers.qp.state import DualState, exact_gradient
from problems import PROBLEMS
from truth import Truth, optimum

TOL = 1e-9


def start_of(problem, seed):
    """A feasible point anywhere in the box, many variables at a bound."""
    rng = np.random.default_rng(seed)
    low, high = np.maximum(problem.lower, -10.0), np.minimum(problem.upper, 10.0)
    beta = rng.uniform(low, high)
    at = rng.random(problem.size)
    return problem.feasible(np.where(at < 0.3, low, np.where(at > 0.7, high, beta)))


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("seed", [None, 0])
def test_the_dual_only_rises_to_that_of_the_interior_point(name, seed):
    case, solver, rising = PROBLEMS[name], BlockInteriorPoint(tol=TOL), []
    start = None if seed is None else start_of(case.problem, seed)
    solution = solver.solve(
        case.problem,
        case.matrix(),
        start=start,
        observe=lambda now: rising.append((now.objective, now.beta.copy())),
    )
    truth = Truth.of(case)
    for _, beta in rising:
        truth.assert_feasible(beta)
    duals = [dual for dual, _ in rising]
    assert all(after >= before - 1e-12 * abs(before) for before, after in pairwise(duals))
    assert solution.status is Status.CONVERGED
    truth.assert_proven(solver, solution)
    assert solution.values.dual == pytest.approx(optimum(name), rel=1e-9)


def hard(n=400, C=1e6):
    """Two overlapping classes and a smooth kernel: SMO crawls."""
    X, y = make_moons(n, noise=0.4, random_state=0)
    return c_svc(2.0 * y - 1, C), Gram(RBF(0.5), X)


def test_smo_hands_over_where_it_crawls_and_says_so():
    words = []
    solution = BlockSMO().solve(*hard(), observe=lambda now: words.append(now.method))
    assert solution.status is Status.CONVERGED
    assert solution.values.relative_gap <= 1e-3
    assert (words[0], words[-1]) == ("", "second order")


def test_smo_keeps_what_it_solves_itself():
    words = []
    BlockSMO().solve(*hard(C=1.0), observe=lambda now: words.append(now.method))
    assert set(words) == {""}


def test_smo_is_not_left_in_its_first_blocks():
    """Three blocks of 20,000 rows forecast far more work than SMO has: it takes 27."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 8))
    y = np.sign(np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=len(X)))
    words = []
    BlockSMO().solve(
        c_svc(y, 10.0), Gram(RBF(0.1), X), observe=lambda now: words.append(now.method)
    )
    assert set(words) == {""}


def test_a_block_of_a_regressor_has_both_variables_of_its_rows():
    """And all of them, if it has nearly all rows: its matrix is no larger for that."""
    rng = np.random.default_rng(0)
    state = DualState(
        epsilon_svr(rng.normal(size=100), np.ones(100), 0.1), Gram(RBF(1.0), np.eye(100)), None
    )
    row_of = state.problem.row_of
    for count in (50, 95):
        rows = rng.choice(100, count, replace=False)
        W = np.flatnonzero(np.isin(row_of(np.arange(200)), rows))[::2]
        found, outside = of_whole_rows(state, W, 7.0)
        assert {*row_of(found)} == ({*range(100)} if count == 95 else {*row_of(W)})
        assert len(found) == 2 * len({*row_of(found)})
        assert outside == (0.0 if count == 95 else 7.0)


def test_a_part_is_not_much_of_its_block(monkeypatch):
    """Counted in rows, of which a regressor has half as many as variables."""
    shares, solve = [], block_interior_point.optimum_of_part

    def watched(block, point, V, *more):
        shares.append(block.count_rows(V) / len(block.K))
        return (yield from solve(block, point, V, *more))

    monkeypatch.setattr(block_interior_point, "optimum_of_part", watched)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=300)
    SVR(solver=BlockInteriorPoint(), C=1e6, epsilon=0.01, gamma=0.25).fit(X, y)
    assert max(shares, default=0.0) <= block_interior_point.PART


def test_a_gradient_is_not_recomputed_where_it_is_exact():
    """A limit right after the second-order method began: its G is that of the end."""
    problem, gram = hard()
    state = DualState(problem, gram, BlockSMO(max_iter=500).solve(problem, gram).beta)
    state.conclude()
    known = state.gradient
    state.conclude()
    assert state.gradient is known
    state.move_to(np.array([0, 1]), state.beta[[0, 1]] / 2)
    state.conclude()
    assert state.gradient is not known
    np.testing.assert_allclose(state.gradient, exact_gradient(problem, gram, state.beta))


def test_the_clock_decides_nothing(monkeypatch):
    usual = BlockSMO().solve(*hard())
    ticks = iter(np.cumsum(np.random.default_rng(0).exponential(1000.0, 10**6)))
    monkeypatch.setattr("maxmargin.solvers.state.perf_counter", lambda: float(next(ticks)))
    slow = BlockSMO().solve(*hard())
    assert slow.seconds > 100 * usual.seconds
    np.testing.assert_array_equal(slow.beta, usual.beta)


def test_free_variables_are_solved_for_whatever_rounding_did_to_the_gradient():
    problem, gram = hard(n=300, C=1e4)
    state = DualState(problem, gram, BlockInteriorPoint(tol=TOL).solve(problem, gram).beta)
    state.gradient += 0.01 * np.random.default_rng(0).normal(size=problem.size)
    assert BlockInteriorPoint(tol=1e-6).tries_face(state)
    assert state.exact
    assert problem.violation(state.beta, exact_gradient(problem, gram, state.beta)) <= 1e-6


@given(st.integers(0, 99), st.sampled_from([0, 1, 2]), st.booleans())
@settings(max_examples=30, deadline=None)
def test_one_factor_serves_one_face_after_another(seed, n_groups, shared):
    """Variables leave and join: against the dense system of each face."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(face_newton, "MANY", 0.5)
        assert_faces_are_solved(seed, n_groups, shared)


def assert_faces_are_solved(seed, n_groups, shared):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3))
    K, size = RBF(1.0)(X, X), 40 if shared else 30
    rows = rng.permutation(np.r_[:30, :10]) if shared else np.arange(30)
    group = rng.integers(max(n_groups, 1), size=size)
    p = DualProblem(
        linear=rng.normal(size=size),
        lower=np.full(size, -1.0),
        upper=np.ones(size),
        sums=rng.normal(size=n_groups),
        group=group,
        rows=rows if shared else None,
    )
    block, beta = DualBlock(p, K), rng.normal(size=size)
    system, free, A = FaceSystem(block), rng.random(size) < 0.6, block.members()
    for _ in range(8):
        _, first = np.unique(rows, return_index=True)  # of a row's two variables one is free
        free &= np.isin(np.arange(size), first) if shared else True
        F = np.flatnonzero(free)
        border = np.zeros((n_groups, n_groups))
        dense = np.block([[K[np.ix_(rows[F], rows[F])], A[:, F].T], [A[:, F], border]])
        right = np.r_[-block.gradient(beta)[F], p.sums - A @ beta]
        delta = system.step(free, beta)
        np.testing.assert_allclose(delta[F], np.linalg.solve(dense, right)[: len(F)], atol=1e-7)
        assert not delta[~free].any()
        free = free ^ (rng.random(size) < 0.1)


@pytest.mark.parametrize("tol", [0.3, 0.03, 0.003])
def test_what_tol_bounds(tol):
    """LIBSVM's rule ends no later than both rules; either status says what is so."""
    problem, gram = hard(n=60, C=1e3)
    steps = []
    for criterion in (Criterion.KKT, Criterion.BOTH):
        solution = SecondOrderSMO(tol=tol, criterion=criterion).solve(problem, gram)
        assert solution.status is Status.CONVERGED
        assert criterion.of(solution.values) <= tol
        steps.append(solution.n_iter)
    assert max(solution.values.violation, solution.values.relative_gap) <= tol
    assert steps[0] <= steps[1]


def test_libsvms_rule_is_a_parameter_of_the_machines():
    X, y = moons()
    for rule in Criterion.BOTH, Criterion.KKT:
        with pytest.warns(ConvergenceWarning, match=f"was asked of the {rule.words}"):
            SVC(criterion=rule.value, max_iter=1).fit(X, y)


@given(st.integers(0, 99), st.sampled_from([0, 1, 2]), st.sampled_from(["one", "any", "two"]))
@settings(max_examples=30, deadline=None)
def test_systems_are_solved_the_same_in_every_way(seed, n_groups, order):
    """Low rank, float32 with conjugate gradients, float64: against the dense system."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    K = RBF(0.05)(X, X)
    rows = rng.permutation(60) if order == "any" else np.arange(60)
    rows = np.concatenate([rows, rng.integers(60, size=30)]) if order == "two" else rows
    D = 10.0 ** rng.uniform(-1, 3, len(rows))
    A = np.equal.outer(np.arange(n_groups), rng.integers(max(n_groups, 1), size=len(rows)))
    r, s = rng.normal(size=len(rows)), rng.normal(size=n_groups)
    dense = np.block(
        [[K[np.ix_(rows, rows)] + np.diag(D), A.T], [A, np.zeros((n_groups, n_groups))]]
    ).astype(float)
    x, b = np.split(np.linalg.solve(dense, np.concatenate([r, s])), [len(rows)])
    few, many = newton_system.FEW, newton_system.MANY
    try:
        for newton_system.FEW, newton_system.MANY, coarse in (
            (10**9, 10**9, 0.0),
            (10**9, 1, 0.0),
            (1, 10**9, 1e-9),
        ):
            system = NewtonSystem(K, rows, A.astype(float), coarse)
            system.factorise(D)
            found, offsets = system.solve(r, s)
            np.testing.assert_allclose(A @ found, s, atol=1e-9)
            np.testing.assert_allclose(found, x, atol=2e-3 * np.abs(x).max())
            np.testing.assert_allclose(offsets, b, atol=2e-3 * np.abs(dense @ np.r_[x, b]).max())
    finally:
        newton_system.FEW, newton_system.MANY = few, many


def test_a_finer_factor_is_made_where_the_first_is_not_exact_enough(monkeypatch):
    """And its systems are those of K = LLᵀ, up to the columns that do not matter."""
    monkeypatch.setattr(newton_system, "FEW", 1)
    rng = np.random.default_rng(0)
    X, r = rng.normal(size=(200, 2)), rng.normal(size=200)
    K = RBF(0.05)(X, X)
    system, columns = NewtonSystem(K, np.arange(200), np.zeros((0, 200)), 0.01), []
    for D in (1.0, 1e-4):
        system.factorise(np.full(200, D))
        L = system.L
        columns.append(L.shape[1])
        assert np.abs(np.diagonal(K - L @ L.T)).max() <= D
        x, _ = system.solve(r, np.zeros(0))
        np.testing.assert_allclose(L @ (L.T @ x) + D * x, r, atol=1e-9)
    assert columns[0] < columns[1]


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("seed", [0, 1])
def test_an_interior_point_begins_inside_with_one_product_for_all_bounds(name, seed):
    whole, gram = PROBLEMS[name].problem, PROBLEMS[name].matrix()
    beta, W = start_of(whole, seed), np.flatnonzero(whole.lower < whole.upper)
    state = DualState(whole, gram, beta)
    state.refresh()
    block, _ = block_of(state, W)
    p, point = block.problem, block.start(beta[W])
    has_lower, has_upper = np.isfinite(p.lower), np.isfinite(p.upper)
    below, above = (point.beta - p.lower)[has_lower], (p.upper - point.beta)[has_upper]
    assert np.all(below > 0)
    assert np.all(above > 0)
    products = np.r_[below * point.lower[has_lower], above * point.upper[has_upper]]
    np.testing.assert_allclose(products, products[0], rtol=1e-9)
    assert not point.lower[~has_lower].any()
    assert not point.upper[~has_upper].any()


@pytest.mark.parametrize("gamma", [0.02, 0.2])
def test_noise_with_a_large_C(gamma):
    """Where SMO stagnated, with the advice to scale the data."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5))
    y = np.sin(2 * X[:, 0]) + 0.5 * rng.normal(size=3000) > 0
    proof = SVC(C=1e4, gamma=gamma, max_time=100).fit(X, y).certificate_
    assert proof.status is Status.CONVERGED
    assert max(proof.kkt_violation, proof.relative_gap) <= 1e-3


def moons():
    X, y = make_moons(150, noise=0.3, random_state=0)
    return X, y


def dollars(spread=1e5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    return X, spread * (np.sin(X[:, 0]) + 0.1 * rng.normal(size=150))


def contradictory():
    X, y = moons()
    return np.concatenate([X, X]), np.concatenate([y, 1 - y])


@pytest.mark.parametrize(
    ("machine", "data"),
    [
        (SVR(), dollars),
        (SVR(C=1e5), dollars),
        (SVR(C=1e5, epsilon=0.0), dollars),
        (SVR(epsilon=0.0), dollars),
        (SVC(C=1e12), moons),
        (SVC(C=1e6), contradictory),
        (SVC(C=1e6, gamma=1e-12), moons),
        (SVC(C=1e6, gamma=1e9), moons),
        (SVR(C=1e6, gamma=1e9), dollars),
    ],
    ids=lambda value: getattr(value, "__name__", None) or repr(value),
)
def test_extreme_numbers_end_converged(machine, data):
    X, y = data()
    proof = machine.set_params(max_time=60).fit(X, y).certificate_
    assert proof.status is Status.CONVERGED
    assert proof.kkt_violation <= machine.tol
    assert proof.relative_gap <= machine.tol


def test_blocks_give_way_to_all_variables_once_they_were_as_much_work(monkeypatch):
    """A forecast that prefers blocks is refuted by what they take."""
    X, y = make_moons(1200, noise=0.4, random_state=0)
    sizes, block_of = [], block_interior_point.block_of

    def counted(state, W):
        sizes.append(len(W))
        return block_of(state, W)

    monkeypatch.setattr(block_interior_point, "block_of", counted)
    monkeypatch.setattr(BlockInteriorPoint, "work_of_blocks", lambda self, state: 0.0)
    solver = BlockInteriorPoint(smallest=200)
    solution = solver.solve(c_svc(2.0 * y - 1, 1e6), Gram(RBF(0.002), X))
    assert solution.status is Status.CONVERGED
    assert sizes[0] == 200
    assert sizes[-1] == 1200
