"""Solutions along C on a held matrix are those of the solver itself, however they are found."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from maxmargin.formulations import c_svc, epsilon_svr
from maxmargin.gram.held import HeldGram
from maxmargin.kernels import RBF
from maxmargin.machines.multiclass import AllRows
from maxmargin.problem import Status
from maxmargin.selection.fold_path import FoldPath
from maxmargin.selection.matrices import TABLEAU, Matrices
from maxmargin.solvers import BlockSMO
from maxmargin.solvers.qp.held_smo import Workspace, of_rows
from maxmargin.solvers.qp.path import settled

X, Y = make_classification(150, 4, random_state=0, flip_y=0.2)
SIGNS = 2.0 * Y - 1
NUMBERS = make_regression(150, 4, noise=20, random_state=0)[1] / 100
HELD_OUT = np.where(np.arange(150) % 5, 1.0, 0.0)
CS = np.logspace(-2, 4, 5)
CASES = {
    "classes": lambda C: c_svc(SIGNS, C * HELD_OUT),
    "numbers": lambda C: epsilon_svr(NUMBERS, C * HELD_OUT, 0.1),
    "no offset": lambda C: c_svc(SIGNS, C * HELD_OUT, fit_intercept=False),
    "no bound": lambda C: c_svc(SIGNS, np.where(HELD_OUT > 0, np.inf if C > 1 else C, 0.0)),
}
SMOOTH, ROUGH = 0.02, 20.0
PAIRS = [
    *((case, gamma) for case in ("classes", "numbers", "no offset") for gamma in (SMOOTH, ROUGH)),
    ("no bound", ROUGH),  # a hard margin, which a smooth kernel does not have on these rows
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("case", "gamma"), PAIRS)
def test_every_C_has_the_optimum_of_a_fit_of_its_own(case, gamma, dtype):
    gram = HeldGram(RBF(gamma)(X, X).astype(dtype))
    path, solver = FoldPath(gram), BlockSMO(tol=1e-5)
    for C in CS:
        problem = CASES[case](C)
        ours, own = path.solve(problem, C, solver), solver.solve(problem, gram)
        assert ours.status is Status.CONVERGED
        assert ours.values.dual == pytest.approx(own.values.dual, rel=3e-5)
        f = gram.K.astype(float) @ problem.on_rows(ours.beta)
        assert of_rows(problem, ours) == pytest.approx(f, abs=1e-9 * np.abs(ours.beta).sum())
        problem.check_feasible(ours.beta, "FoldPath")


@pytest.mark.parametrize("gamma", [SMOOTH, 0.5, ROUGH])
@pytest.mark.parametrize("case", ["classes", "numbers"])
def test_pivots_lead_from_a_near_point_to_the_optimum(case, gamma):
    K, problem = RBF(gamma)(X, X), CASES[case](100.0)
    rows = problem.row_of(np.arange(problem.size))
    beta, f = np.zeros(problem.size), np.zeros(len(X))
    Workspace(problem.size).descend(problem, K, beta, f, 0.02, 10**6)
    before = problem.violation(beta, f[rows] + problem.linear)
    end = settled(problem, K, beta, f[rows] + problem.linear)
    whole = end if problem.rows is None else np.r_[np.maximum(end, 0), np.minimum(end, 0)]
    problem.check_feasible(problem.feasible(whole), "the path")
    left = problem.violation(whole, (K @ end)[rows] + problem.linear)
    assert before > 1e-4
    assert left <= 1e-4 * before


MANY, OF_MANY = make_classification(600, 4, random_state=0, flip_y=0.2)
LARGE = {
    "classes": lambda C: c_svc(2.0 * OF_MANY - 1, C * (np.arange(600) % 5 > 0)),
    "numbers": lambda C: epsilon_svr(MANY[:, 0] + OF_MANY, C * (np.arange(600) % 5 > 0), 0.1),
}


@pytest.mark.parametrize("room", [0, np.inf])
@pytest.mark.parametrize("case", LARGE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_paths_and_interior_points_lead_to_the_optimum(case, dtype, room):
    gram, solver = HeldGram(RBF(0.1)(MANY, MANY).astype(dtype)), BlockSMO(tol=1e-5)
    path = FoldPath(gram, room)
    for C in CS:
        problem = LARGE[case](C)
        ours, own = path.solve(problem, C, solver), solver.solve(problem, gram)
        assert ours.status is Status.CONVERGED
        assert ours.values.dual == pytest.approx(own.values.dual, rel=3e-5)
        problem.check_feasible(ours.beta, "FoldPath")


def test_a_limit_of_steps_and_a_stop_are_kept():
    gram, problem = HeldGram(RBF(SMOOTH)(X, X)), c_svc(SIGNS, 1e4 * HELD_OUT)
    few = FoldPath(gram).solve(problem, 1e4, BlockSMO(max_iter=7))
    assert (few.status, few.n_iter) == (Status.OUT_OF_ITERATIONS, 7)
    stopped = FoldPath(gram, stop=lambda: True).solve(problem, 1e4, BlockSMO(tol=1e-9))
    assert stopped.status is Status.INTERRUPTED


@pytest.mark.parametrize("cache_size", [60, 200, 1000])
def test_matrices_blocks_and_tableaus_are_within_the_budget(cache_size):
    n, threads = 3000, 2
    splits = AllRows().splits(np.zeros(n, int))
    found = Matrices(lambda _: RBF(1.0), None, np.zeros((n, 2)), splits, cache_size, threads)
    used = min(found.most, threads) * 4 * n**2 + threads * (4 * 2048**2 + TABLEAU * found.room**2)
    assert used <= cache_size * 2**20 or not found.room
