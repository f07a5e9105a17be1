"""The sign of a decision is that of float64, however close the decision is to 0."""

from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from maxmargin.gram import Cross, cross, cross_dot
from maxmargin.kernels import RBF, Linear, Polynomial


@pytest.mark.small
@given(
    st.integers(0, 10**6),
    st.sampled_from([1e-3, 0.1, 10.0]),
    st.sampled_from([0.0, 1e2, 1e5]),
    st.booleans(),
    st.sampled_from([RBF(0.3), Linear()]),
)
@example(1095, 1e-3, 1e5, True, RBF(0.3))  # in float32 every distance is rounding error
@settings(max_examples=40, deadline=None)
def test_signs_are_those_of_the_values_in_float64(seed, scale, distance, sparse, kernel):
    rng = np.random.default_rng(seed)
    X, Z = (distance + scale * rng.normal(size=(n, 5)) for n in (60, 40))
    coef = 10 * rng.normal(size=40)
    if sparse:
        X, Z = sp.csr_array(X), sp.csr_array(Z)
    values = cross_dot(kernel, X, Z, coef[None])[:, 0]
    for offset in (0.0, -values[0] - 1e-9, -values[1] + 1e-9, -values[2] * (1 + 1e-6)):
        expected = values + offset > 0
        for simple in (0, cross.SIMPLE):  # float32 first, or float64 alone
            with patch.object(cross, "SIMPLE", simple):
                found = Cross(kernel, Z, 2).signs(X, coef, offset)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.small
def test_without_support_vectors_the_offset_decides():
    X = np.ones((3, 2))
    assert Cross(RBF(1.0), X[:0]).signs(X, np.empty(0), 1.0).all()
    assert not Cross(RBF(1.0), X[:0]).signs(X, np.empty(0), -1.0).any()


@pytest.mark.small
@pytest.mark.parametrize(
    "kernel", [RBF(0.3), Linear(), Polynomial(3, 0.5, 1.0), RBF(0.1) + Linear()]
)
@pytest.mark.parametrize("distance", [0.0, 1e3])
def test_one_row_at_a_time_has_the_values_of_all_together(kernel, distance):
    """Few rows are computed by NumPy, many by a tile."""
    rng = np.random.default_rng(0)
    X, Z = (distance + rng.normal(size=(n, 5)) for n in (30, 40))
    coef, ends = rng.normal(size=(3, 40)), [0, 10, 10, 40]
    cross = Cross(kernel, Z)
    together = cross.dot(X, coef, ends)
    largest = np.abs(kernel(X, Z)).max()
    for i in range(len(X)):
        alone = cross.dot(X[[i]], coef, ends)[:, :, 0]
        np.testing.assert_allclose(alone, together[:, :, i], rtol=0, atol=1e-9 * largest)
