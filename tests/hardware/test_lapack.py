"""Cholesky's factor, the inverse and solutions, without Python's lock."""

import numpy as np
import pytest

from maxmargin.hardware.lapack import factorise, invert, solve_factored


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 2, 33, 100])
def test_the_factor_and_the_inverse_are_those_of_the_matrix(n, dtype):
    rows = np.random.default_rng(n).normal(size=(n, n + 3))
    A = np.asarray(rows @ rows.T + n * np.eye(n), dtype)
    factor = A.T.copy(order="F")
    assert factorise(factor)
    L = np.tril(factor)
    exact = 1e-5 if dtype is np.float32 else 1e-12
    assert pytest.approx(A, rel=exact, abs=exact * n) == L @ L.T
    invert(factor)
    assert factor @ A == pytest.approx(np.eye(n), abs=100 * exact)
    assert np.array_equal(factor, factor.T)


@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize("n", [0, 1, 33])
def test_solutions_are_those_of_the_matrix(n, count):
    rows = np.random.default_rng(n).normal(size=(n, n + 3))
    A, right = rows @ rows.T + n * np.eye(n), np.random.default_rng(1).normal(size=(count, n))
    factor, given = A.T.copy(order="F"), right.copy()
    assert factorise(factor)
    assert solve_factored(factor, right) @ A == pytest.approx(right, abs=1e-12)
    assert np.array_equal(right, given)


def test_a_matrix_that_is_not_positive_definite_has_no_factor():
    assert not factorise(np.array([[1.0, 2.0], [2.0, 1.0]], order="F"))


def test_another_layout_is_refused():
    with pytest.raises(ValueError, match="Fortran's order"):
        factorise(np.zeros((4, 4))[::2, ::2])
