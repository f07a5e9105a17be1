"""The kernel between new rows and given ones: what prediction needs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.gram import TILE_ENTRIES
from maxmargin.kernels import Kernel
from maxmargin.resources import available_cores, one_blas_thread, run_all
from maxmargin.tiling import tiling


def cross_dot(
    kernel: Kernel,
    X: Any,
    Z: Any,
    coef: np.ndarray,
    threads: int | None = None,
    ends: Sequence[int] | None = None,
) -> np.ndarray:
    """K(X, Z) @ coefᵀ in tiles: what prediction needs. In float32 if X and Z are.

    Parameters
    ----------
    coef : ndarray of shape (r, rows of Z)
    ends : where parts of Z end, each of which gives a product of its own

    Returns
    -------
    ndarray of shape (rows of X, r), or (parts, rows of X, r)
    """
    parts = list(pairwise((0, Z.shape[0]) if ends is None else ends))
    products = np.zeros((len(parts), X.shape[0], len(coef)))
    step = max(1, TILE_ENTRIES // max(Z.shape[0], 1))
    tiled = tiling(kernel, Z)
    if tiled:
        dtype = np.result_type(X.dtype, Z.dtype).type
        right = tiled.expand(dtype, None, 1)

    def fill(start: int) -> None:
        some = X[start : start + step]
        here = slice(start, start + some.shape[0])
        if not tiled:
            values = kernel(some, Z).T
        else:
            left = tiled.like(some).pack(dtype, None, 1)
            if len(parts) == len(coef) == 1:
                products[0, here, 0] = tiled.dot(left, right, coef[0], 1)[: some.shape[0]]
                return
            values = tiled.block(left, right, np.empty((Z.shape[0], some.shape[0]), dtype), 1)
        with one_blas_thread():
            for product, (first, last) in zip(products, parts, strict=True):
                product[here] = (coef[:, first:last] @ values[first:last]).T

    if Z.shape[0]:
        run_all(fill, [(s,) for s in range(0, X.shape[0], step)], threads or available_cores())
    return products if ends is not None else products[0]


def cross_signs(
    kernel: Kernel, X: Any, Z: Any, coef: np.ndarray, offset: float, threads: int | None = None
) -> np.ndarray:
    """Whether K(X, Z) @ coef + offset > 0, for each row of X.

    float32 is twice as fast as float64 and nearly always enough to tell: rows whose value is
    within eight standard deviations of its rounding errors are computed again in float64.

    An entry 2^t of the RBF kernel is off by about ε√d g(‖x‖ + ‖z‖)², g = γ log₂e, d the columns
    (see `tiles`), and those of a sum independently of each other.
    """
    tiled = tiling(kernel, Z) if Z.shape[0] else None
    single = tiled is not None and tiled.form.square != 0
    if not single or np.result_type(X.dtype, Z.dtype) == np.float32:
        return cross_dot(kernel, X, Z, coef[None], threads)[:, 0] + offset > 0
    assert tiled
    right = tiled.expand(np.float32, None, 1)
    far = np.sqrt(squared_norms(tiled.pack(np.float32, None, 1)).max())
    rounding = float(np.finfo(np.float32).eps * np.linalg.norm(coef))
    growth = -tiled.form.square * np.sqrt(X.shape[1] + 2)
    values, spread = np.empty(X.shape[0]), np.empty(X.shape[0])
    step = max(1, TILE_ENTRIES // Z.shape[0])

    def fill(start: int) -> None:
        some = X[start : start + step]
        here = slice(start, start + some.shape[0])
        left = tiled.like(some).pack(np.float32, None, 1)
        distance = np.sqrt(squared_norms(left)[: some.shape[0]]) + far
        values[here] = tiled.dot(left, right, coef, 1)[: some.shape[0]] + offset
        spread[here] = rounding * (5 + growth * distance**2)

    run_all(fill, [(s,) for s in range(0, X.shape[0], step)], threads or available_cores())
    unsure = np.flatnonzero(~(np.abs(values) > 8 * spread))
    values[unsure] = cross_dot(kernel, X[unsure], Z, coef[None], threads)[:, 0] + offset
    return values > 0


def squared_norms(panels: np.ndarray) -> np.ndarray:
    """‖x‖² of the rows in a tile's panels."""
    return panels[:, -2].ravel()
