"""Kept rows are the rows, whatever was evicted on the way."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.kept_rows import KeptRows

N = 12
K = np.random.default_rng(0).normal(size=(N, N))


def keep(capacity, asked, dtype=np.float64):
    def compute(numbers, out):
        asked.extend(numbers.tolist())
        rows = K[numbers].astype(dtype)
        if out is None:
            return rows
        out[:] = rows
        return out

    return KeptRows(N, capacity, dtype, compute)


@pytest.mark.small
@given(
    st.lists(st.lists(st.integers(0, N - 1), min_size=1, max_size=5), max_size=12),
    st.integers(5, N),
)
@settings(max_examples=40, deadline=None)
def test_products_and_blocks_are_those_of_the_matrix(wishes, capacity):
    kept = keep(capacity, [])
    for wish in map(np.array, wishes):
        coef = np.linspace(-1, 1, len(wish))
        np.testing.assert_allclose(kept.dot(wish, coef, threads=2), coef @ K[wish], atol=1e-14)
        columns, out = np.array([3, 0, 7]), np.zeros((N, 3))
        missing = kept.take(np.arange(N), columns, out, threads=1)
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
