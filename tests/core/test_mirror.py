"""A symmetric matrix made of one half of it."""

import numpy as np
import pytest

from maxmargin.core import native

pytestmark = pytest.mark.small


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", [np.uint16, np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 7, 8, 17, 70])
def test_the_entries_below_the_diagonal_are_copied_to_those_above(n, dtype, order):
    numbers = np.random.default_rng(n).integers(60_000, size=(n, n)).astype(dtype, order=order)
    below = np.tril(numbers, -1)
    expected = below + below.T + np.diag(np.diag(numbers))
    native.mirror(numbers)
    np.testing.assert_array_equal(numbers, expected)
    np.testing.assert_array_equal(numbers, expected)  # in place
