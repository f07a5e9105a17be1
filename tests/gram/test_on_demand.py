"""Rows of K when they are asked for, or all at once."""

from itertools import islice

import numpy as np
import pytest
from numpy.testing import assert_allclose

from maxmargin.gram import Gram
from maxmargin.gram.on_demand import PROBE, WORTH
from maxmargin.kernels import RBF, Linear, Polynomial

N = 600
X = np.random.default_rng(0).normal(size=(N, 5))


def make(K, maker, numbers):
    """Ask for these rows, as SMO does."""
    for i in numbers:
        maker.make(K, int(i))


def asking(rows, numbers):
    """A solver whose steps ask for these rows, two in each."""
    left = iter(numbers.reshape(-1, 2))

    def solve(most):
        steps = list(islice(left, most))
        for pair in steps:
            make(rows.K, rows.maker, pair)
        return len(steps)

    return solve


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [RBF(0.1), Linear(), 0.5 * Polynomial(2, 0.3, 1.0)], ids=str)
def test_rows_that_are_asked_for_are_those_of_the_kernel(kernel, dtype):
    gram, K = Gram(kernel, X, threads=1), kernel(X, X)
    rows, atol = gram.on_demand(dtype), 1e-5 if dtype == np.float32 else 1e-12
    some = np.array([3, 0, 3, 599])
    assert not rows.has(some)
    make(rows.K, rows.maker, some)
    assert rows.has(some)
    assert not rows.has(np.array([1]))
    assert_allclose(rows.K[some], K[some], rtol=0, atol=atol * np.abs(K).max())
    assert not rows.is_whole
    assert_allclose(rows.complete(), K, rtol=0, atol=atol * np.abs(K).max())
    assert rows.is_whole
    assert gram.held(dtype) is rows.K
    W = np.array([5, 3, 7, 3])
    assert_allclose(rows.take(W).K, K[np.ix_(W, W)], rtol=0, atol=atol * np.abs(K).max())


def test_few_rows_that_are_asked_for_again_are_all_that_is_computed():
    gram = Gram(RBF(0.1), X, threads=1)
    rows, few = gram.on_demand(np.float32), N // 12
    numbers = np.random.default_rng(1).integers(few, size=2 * N)
    assert rows.run(asking(rows, numbers), N) == N
    assert rows.has(np.arange(few))
    assert not rows.has(np.arange(N))
    assert gram.evaluations == few * N


def test_where_ever_new_rows_are_asked_for_all_are_computed_soon():
    gram = Gram(RBF(0.1), X, threads=1)
    rows = gram.on_demand(np.float32)
    assert rows.run(asking(rows, np.random.default_rng(2).permutation(N)), N) == N // 2
    assert rows.has(np.arange(N))
    assert gram.evaluations == PROBE * N + N * (N + 1) // 2


def test_where_more_rows_are_asked_for_than_was_expected_all_are_computed():
    gram = Gram(RBF(0.1), X, threads=1)
    rows = gram.on_demand(np.float32)
    at_first = np.random.default_rng(3).integers(20, size=PROBE)
    rows.run(asking(rows, np.concatenate([at_first, np.arange(N)])), N)
    assert rows.has(np.arange(N))
    assert gram.evaluations < (WORTH + 0.5) * N * N * 1.5
