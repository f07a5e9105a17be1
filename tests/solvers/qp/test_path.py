"""The neighbours of an optimum are the optima of their own problems."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from maxmargin.formulations import c_svc, epsilon_svr, nu_svc
from maxmargin.gram.held import HeldGram
from maxmargin.kernels import RBF
from maxmargin.solvers import BlockSMO
from maxmargin.solvers.qp.path import Path, staircase

X, Y = make_classification(80, 4, random_state=0, flip_y=0.2)
SIGNS = 2.0 * Y - 1
NUMBERS = make_regression(80, 4, noise=20, random_state=0)[1] / 100
ONES, GRAM, TOL = np.ones(80), HeldGram(RBF(0.3)(X, X)), 1e-9
PROBLEMS = {
    "classes": lambda C: c_svc(SIGNS, C),
    "classes, no offset": lambda C: c_svc(SIGNS, C, fit_intercept=False),
    "numbers": lambda C: epsilon_svr(NUMBERS, C * ONES, 0.1),
    "numbers, no tube": lambda C: epsilon_svr(NUMBERS, C * ONES, 0.0),
    "ν": lambda C: nu_svc(SIGNS, ONES, 0.3 + C / 1000, len(Y)),
}


def solved(problem):
    return BlockSMO(tol=TOL).solve(problem, GRAM).beta


@pytest.mark.parametrize("case", PROBLEMS)
@pytest.mark.parametrize("C", [0.9, 1.5, 3.0])
def test_bounds_and_sums_that_change(case, C):
    known, near = PROBLEMS[case](1.0), PROBLEMS[case](C)
    path = Path(known, GRAM.K, known.on_rows(solved(known)), TOL)
    path.refine()
    (beta,), (rounds,) = path.follow(np.full(1, -1), staircase(near)[None], near.sums[None])
    assert rounds
    assert GRAM.K @ beta == pytest.approx(GRAM.K @ near.on_rows(solved(near)), abs=1e-5)


@pytest.mark.parametrize("case", [*PROBLEMS][:4])
def test_rows_that_go(case):
    known = PROBLEMS[case](2.0)
    path = Path(known, GRAM.K, known.on_rows(solved(known)), TOL)
    path.refine()
    rows = np.flatnonzero(path.beta)
    betas, rounds = path.follow(rows, path.stairs[None], known.sums[None])
    assert rounds.all()
    for row, beta in zip(rows[::7], betas[::7], strict=True):
        own = known.row_of(np.arange(known.size)) == row
        lower, upper = (np.where(own, 0.0, bound) for bound in (known.lower, known.upper))
        near = known.on_rows(solved(replace(known, lower=lower, upper=upper)))
        assert beta[row] == 0
        assert GRAM.K @ beta == pytest.approx(GRAM.K @ near, abs=1e-5)
