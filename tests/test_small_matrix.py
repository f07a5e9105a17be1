"""A small matrix has the rows that were asked for, and computes no other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons

from maxmargin import SVC
from maxmargin.certificate import Certificate
from maxmargin.formulations import c_svc
from maxmargin.gram import FEW_ROWS, ON_DEMAND_ROWS, WHOLE_MATRIX_ROWS, Gram
from maxmargin.kernels import RBF, Linear, Polynomial, Sigmoid
from maxmargin.problem import Status
from maxmargin.small_matrix import SmallMatrix, entire
from maxmargin.solvers import BlockSMO

KERNELS = [RBF(0.5), Linear(), Polynomial(2, 0.5, 1.0), Sigmoid(0.3, 0.1)]


@pytest.mark.small
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_rows_come_when_they_are_asked_for(kernel):
    X = np.random.default_rng(0).normal(size=(FEW_ROWS + 45, 3))
    K, gram = kernel(X, X), Gram(kernel, X)
    assert gram.evaluations == 0
    assert_allclose(gram.row(7), K[7], rtol=1e-10, atol=1e-12)
    assert gram.evaluations == len(X)
    some = np.array([3, 7, 299])
    assert_allclose(gram.matrix.rows(some)[some], K[some], rtol=1e-10, atol=1e-12)
    assert gram.evaluations == 3 * len(X)
    assert_allclose(gram.square(np.arange(len(X))), K, rtol=1e-10, atol=1e-12)


@pytest.mark.small
def test_a_matrix_that_is_there_is_left_alone():
    K = np.arange(9.0).reshape(3, 3)
    assert_array_equal(SmallMatrix(entire(K)).rows(np.array([2])), np.arange(9.0).reshape(3, 3))


def test_a_part_has_rows_of_its_own():
    X = np.random.default_rng(1).normal(size=(700, 4))
    gram, some = Gram(RBF(0.3), X), np.arange(0, 700, 2)
    part = gram.take(some)
    assert_allclose(part.row(5), RBF(0.3)(X[some], X[some])[5], rtol=1e-10)
    assert gram.evaluations == 0


def test_few_support_vectors_need_few_rows():
    X, y = make_moons(1500, noise=0.1, random_state=0)
    proof = SVC(gamma=1.0).fit(X, y).certificate_
    assert proof.kernel_evaluations < len(X) ** 2 / 3


def test_a_hard_problem_of_some_thousand_rows_goes_on_in_blocks():
    X = np.random.default_rng(2).normal(size=(WHOLE_MATRIX_ROWS + 100, 4))
    y = np.random.default_rng(3).choice([-1.0, 1.0], len(X))
    problem, gram = c_svc(y, 100.0), Gram(RBF(0.5), X)
    assert len(X) < ON_DEMAND_ROWS
    assert gram.precision == np.float64
    solution = BlockSMO(tol=1e-3).solve(problem, gram)
    assert gram.matrix is None
    assert Certificate.of(problem, solution).kkt_violation <= 1e-3
    assert solution.status is Status.CONVERGED
