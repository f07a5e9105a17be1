"""The tile computes what the formulas of the kernels say, in any shape and any split."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.core import native
from maxmargin.gram import dense_tile
from maxmargin.kernels import RBF, Form, Linear, Polynomial, Sigmoid

GAMMA, OFFSET = 0.3, 0.5
KERNELS = {
    "linear": (Linear(), lambda dot, distance: dot),
    "cubic": (Polynomial(3, GAMMA, OFFSET), lambda dot, distance: (GAMMA * dot + OFFSET) ** 3),
    "constant": (Polynomial(0, GAMMA, OFFSET), lambda dot, distance: np.ones_like(dot)),
    "sigmoid": (Sigmoid(GAMMA, OFFSET), lambda dot, distance: np.tanh(GAMMA * dot + OFFSET)),
    "rbf": (RBF(GAMMA), lambda dot, distance: np.exp(-GAMMA * distance)),
}
TOLERANCE = {np.float32: 2e-6, np.float64: 4e-15}


def exact(kernel, Z, X):
    """k(z, x) in float64, from the differences themselves."""
    Z, X = Z.astype(np.float64), X.astype(np.float64)
    return KERNELS[kernel][1](Z @ X.T, ((Z[:, None] - X[None]) ** 2).sum(axis=2))


def form_of(kernel):
    (form,) = kernel.forms
    return form


def data(rng, n, m, d, dtype):
    return rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(m, d)).astype(dtype)


@pytest.mark.small
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("n", "m", "d"), [(1, 1, 1), (19, 25, 3), (70, 50, 11)])
def test_entries_and_weighted_sums_are_those_of_the_formula(kernel, dtype, n, m, d):
    X, Z = data(np.random.default_rng(n), n, m, d, dtype)
    form = form_of(KERNELS[kernel][0])
    panels, rows = dense_tile.pack(X, X.dtype), dense_tile.expand(Z, form, X.dtype)
    K = exact(kernel, Z, X)
    size = 1 + np.abs(K).max()

    out = np.full((m, n), np.nan, dtype)
    dense_tile.block(panels, rows, form, out)
    np.testing.assert_allclose(out, K, rtol=0, atol=TOLERANCE[dtype] * size)

    square, right = np.full((n, n), np.nan, dtype), dense_tile.expand(X, form, dtype)
    dense_tile.block(panels, right, form, square, half=True)
    K_XX = exact(kernel, X, X)
    np.testing.assert_allclose(square, K_XX, rtol=0, atol=TOLERANCE[dtype] * (1 + K_XX.max()))
    np.testing.assert_array_equal(square, square.T)

    coef = np.linspace(-1, 1, m)
    sums = dense_tile.dot(panels, rows, form, coef)[:n]
    np.testing.assert_allclose(sums, coef @ K, rtol=0, atol=TOLERANCE[dtype] * size * m)


@pytest.mark.small
def test_entries_between_0_and_1_may_be_stored_as_whole_numbers():
    X, Z = data(np.random.default_rng(0), 40, 30, 5, np.float32)
    form = form_of(RBF(GAMMA))
    panels, rows = dense_tile.pack(X, X.dtype), dense_tile.expand(Z, form, X.dtype)
    out = np.zeros((30, 40), np.uint16)
    dense_tile.block(panels, rows, form, out)
    expected = exact("rbf", Z, X)
    np.testing.assert_allclose(out / native.UNIT, expected, rtol=0, atol=0.5 / native.UNIT + 2e-6)


@pytest.mark.parametrize("dtype", TOLERANCE)
@given(cuts=st.sets(st.integers(1, 9)))
@settings(max_examples=20, deadline=None)
def test_same_bits_however_the_panels_are_split(dtype, cuts):
    X, Z = data(np.random.default_rng(0), 10 * native.PANEL[dtype(0).itemsize], 30, 5, dtype)
    form = form_of(RBF(GAMMA))
    panels, rows = dense_tile.pack(X, X.dtype), dense_tile.expand(Z, form, X.dtype)
    coef = np.linspace(-1, 1, 2 * dense_tile.BLOCK, dtype=dtype)
    edges = [0, *sorted(cuts), len(panels)]
    parts, whole = (np.zeros((len(panels), panels.shape[2])) for _ in range(2))
    for start, stop in itertools.pairwise(edges):
        native.dense_weigh(panels, rows, coef, form.power, start, stop, parts)
    native.dense_weigh(panels, rows, coef, form.power, 0, len(panels), whole)
    np.testing.assert_array_equal(parts, whole)


def test_wide_rows_are_summed_in_several_passes():
    d = (1 << 18) // dense_tile.BLOCK // 4
    X, Z = data(np.random.default_rng(0), 20, 60, d, np.float32)
    form = form_of(RBF(GAMMA / d))
    panels, rows = dense_tile.pack(X, X.dtype), dense_tile.expand(Z, form, X.dtype)
    sums = dense_tile.dot(panels, rows, form, np.ones(60))
    dot, xx, zz = (A.astype(np.float64) for A in (X @ Z.T, (X**2).sum(1), (Z**2).sum(1)))
    K = np.exp(-GAMMA / d * (xx[:, None] + zz - 2 * dot))
    np.testing.assert_allclose(sums[:20], K.sum(axis=1), rtol=1e-5)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_centred_rows_keep_their_distances_far_from_the_origin(dtype):
    X, _ = data(np.random.default_rng(1), 30, 1, 4, dtype)
    far = X + dtype(1e3)
    form, centre = form_of(RBF(GAMMA)), far.mean(axis=0, dtype=np.float64)
    panels, rows = dense_tile.pack(far, dtype, centre), dense_tile.expand(far, form, dtype, centre)
    out = np.empty((30, 30), dtype)
    dense_tile.block(panels, rows, form, out)
    np.testing.assert_allclose(out, exact("rbf", far, far), rtol=0, atol=2 * TOLERANCE[dtype])
    assert out.max() <= 1 + TOLERANCE[dtype]


def exp2(t):
    """2^min(t, 0) as the tile computes it: the inner product of rows of one column."""
    form, one = Form(None), np.ones((1, 1), t.dtype)
    panels, rows = dense_tile.pack(t[:, None], t.dtype), dense_tile.expand(one, form, t.dtype)
    return dense_tile.block(panels, rows, form, np.empty((1, len(t)), t.dtype))[0]


@pytest.mark.parametrize(("dtype", "digits"), [(np.float32, 3e-7), (np.float64, 5e-16)])
def test_exp2_is_exact_to_rounding_and_underflows_to_zero(dtype, digits):
    smallest = native.LEAST[np.dtype(dtype).itemsize]
    t = np.linspace(smallest, 0, 100_001).astype(dtype)
    np.testing.assert_allclose(exp2(t), np.exp2(t.astype(np.float64)), rtol=digits)
    np.testing.assert_array_equal(exp2(np.array([smallest - 1, -1e15, 1e-3], dtype)), [0, 0, 1])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [dense_tile.STRIP, 2 * dense_tile.STRIP + 29])
def test_a_square_in_strips_is_the_block_of_all_its_entries(n, threads):
    X, form = np.random.default_rng(n).normal(size=(n, 5)).astype(np.float32), form_of(RBF(GAMMA))
    panels, rows = dense_tile.pack(X, X.dtype), dense_tile.expand(X, form, X.dtype)
    square, whole = np.full((2, n, n), np.nan, X.dtype)
    dense_tile.block(panels, rows, form, whole)
    dense_tile.block(panels, rows, form, square, threads, half=True)
    lower = np.tri(n, dtype=bool)
    np.testing.assert_array_equal(square, np.where(lower, whole, whole.T))
