"""Cholesky's factor, the inverse and solutions, without Python's lock."""

import numpy as np
import pytest

from maxmargin.resources.lapack import SMALL, STRIP, WIDTH, factorise, invert, solve_factored


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [SMALL + 1, 4 * WIDTH, 2 * WIDTH + 3 * STRIP + 1])
def test_threads_find_the_same_factor(n, dtype):
    rows = np.random.default_rng(n).normal(size=(n, n + 3))
    A = np.asarray(rows @ rows.T / n + np.eye(n), dtype, order="F")
    alone, together = A.copy(order="F"), A.copy(order="F")
    assert factorise(alone)
    assert factorise(together, threads=2)
    assert np.abs(np.tril(together - alone)).max() <= 1e3 * np.finfo(dtype).eps
    assert np.array_equal(np.triu(together, 1), np.triu(A, 1))


@pytest.mark.parametrize("place", [0, WIDTH, 2 * WIDTH - 1, SMALL + 300])
def test_threads_notice_a_matrix_that_is_not_positive_definite(place):
    A = np.asfortranarray(np.eye(SMALL + 301))
    A[place, place] = -1.0
    assert not factorise(A, threads=2)


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
