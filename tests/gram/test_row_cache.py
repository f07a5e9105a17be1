"""Kept rows are the rows, whatever was evicted on the way."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.gram.row_cache import RowCache

N = 12
K = np.random.default_rng(0).normal(size=(N, N))
K += K.T


def keep(capacity, asked, dtype=np.float64):
    def compute(numbers, out):
        asked.extend(numbers.tolist())
        rows = K[numbers].astype(dtype)
        if out is None:
            return rows
        out[:] = rows
        return out

    def square(numbers):
        asked.extend(numbers.tolist())
        return K[np.ix_(numbers, numbers)].astype(dtype)

    return RowCache(N, capacity, dtype, compute, square, threads=2)


@pytest.mark.small
@given(
    st.lists(st.lists(st.integers(0, N - 1), min_size=1, max_size=5), max_size=12),
    st.integers(5, N),
    st.integers(1, N),
)
@settings(max_examples=60, deadline=None)
def test_products_and_blocks_are_those_of_the_matrix(wishes, capacity, in_a_piece):
    kept = keep(capacity, [])
    kept.in_a_piece = in_a_piece
    for wish in map(np.array, wishes):
        coef = np.linspace(-1, 1, len(wish))
        np.testing.assert_allclose(kept.dot(wish, coef), coef @ K[wish], atol=1e-14)
        columns, out = np.array([3, 0, 7]), np.zeros((N, 3))
        missing = kept.take(np.arange(N), columns, out)
        present = np.setdiff1d(np.arange(N), missing)
        np.testing.assert_array_equal(out[present], K[np.ix_(present, columns)])
        assert len(present) <= capacity


@pytest.mark.small
def test_a_row_is_computed_once_until_it_is_the_one_longest_unused():
    asked = []
    kept = keep(3, asked)
    for numbers in ([0, 1], [0, 2], [0, 3], [0], [1]):
        kept.fetch(np.array(numbers))
    assert asked == [0, 1, 2, 3, 1]


@pytest.mark.small
def test_once_a_third_is_there_the_rest_comes_at_half_the_price():
    asked = []
    kept = keep(N, asked)
    kept.fetch(np.array([7, 2]))
    np.testing.assert_array_equal(kept.dot(np.array([0, 5, 9]), np.ones(3)), K[[0, 5, 9]].sum(0))
    assert asked == [2, 7, *np.delete(np.arange(N), [2, 7])]
    kept.fetch(np.arange(N))
    assert len(asked) == N
