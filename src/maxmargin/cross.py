"""The kernel between new rows and given ones: what prediction needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.gram import TILE_ENTRIES
from maxmargin.kernels import RBF, Kernel
from maxmargin.resources import available_cores, one_blas_thread, run_all
from maxmargin.tiling import Tiling, tiling
from maxmargin.vectors import LANES, WIDE

PANEL = WIDE * LANES[4]  # rows; parts of so many leave no panel of a tile half empty
POWER = 35  # multiplications that f(t) takes as long as
WORTH_PARTS, WORTH_MORE_PARTS = 2_000_000, 8_000_000  # nanoseconds
SMALL = 1 / 32  # of a kernel entry: eight times that is still small


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
    threads = threads or available_cores()
    tiled = tiling(kernel, Z, threads)
    dtype = np.result_type(X.dtype, Z.dtype).type
    if tiled and len(parts) == len(coef) == 1:
        products[0, :, 0] = _dot(tiled, X, coef[0], dtype, threads)
    elif Z.shape[0]:
        right = tiled.expand(dtype, None, threads) if tiled else None

        def fill(start: int, stop: int) -> None:
            if tiled:
                left = tiled.like(X[start:stop]).pack(dtype, None, 1)
                values = tiled.block(left, right, np.empty((Z.shape[0], stop - start), dtype), 1)
            else:
                values = kernel(X[start:stop], Z).T
            with one_blas_thread():
                for product, (first, last) in zip(products, parts, strict=True):
                    product[start:stop] = (coef[:, first:last] @ values[first:last]).T

        n, m = X.shape[0], Z.shape[0]
        width = tiled.width if tiled else math.prod(X.shape[1:])
        run_all(fill, _parts(n, m, width, TILE_ENTRIES / m, threads), threads)
    return products if ends is not None else products[0]


def _dot(tiled: Tiling, X: Any, coef: np.ndarray, dtype: type, threads: int) -> np.ndarray:
    """K(X, Z) @ coef for the rows Z of the tile."""
    right, values = tiled.expand(dtype, None, threads), np.empty(X.shape[0])

    def fill(start: int, stop: int) -> None:
        left = tiled.like(X[start:stop]).pack(dtype, None, 1)
        values[start:stop] = tiled.dot(left, right, coef, 1)[: stop - start]

    n, m = X.shape[0], tiled.X.shape[0]
    run_all(fill, _parts(n, m, tiled.width, TILE_ENTRIES / tiled.width, threads), threads)
    return values


def _parts(n: int, m: int, width: float, most: float, threads: int) -> list[tuple[int, int]]:
    """Where parts of n rows start and stop: of about equally many, and not many more than `most`.

    Several for every thread, so that none waits long for the others; but only one if there is
    little to do, for between two parts threads wait for Python's lock.
    """
    work = n * m * (width + POWER) / 50  # nanoseconds, roughly
    several = threads * min(4, 1 + int(work / WORTH_MORE_PARTS)) if work > WORTH_PARTS else 1
    count = max(several, math.ceil(n / max(most, 1)))
    step = max(1, -(-n // (count * PANEL))) * PANEL
    return [(start, min(start + step, n)) for start in range(0, n, step)]


def cross_signs(
    kernel: Kernel, X: Any, Z: Any, coef: np.ndarray, offset: float, threads: int | None = None
) -> np.ndarray:
    """Whether K(X, Z) @ coef + offset > 0, for each row of X.

    float32 is twice as fast as float64 and nearly always enough to tell: rows whose value is
    within eight standard deviations of its rounding errors are computed again in float64.

    Rounding a number changes it by ε/√12 of itself, as a standard deviation. For an entry 2^t of
    the RBF kernel with g = γ log₂e, that happens to d sums of up to g‖x‖‖z‖ and a few of up to
    g(‖x‖ + ‖z‖)² (see `tiles`), so that it is off by about 0.1 ε√(d + 16) g(‖x‖ + ‖z‖)² of itself,
    and by 5ε of itself for its power and its way into the sum. Such errors e_i of k_i add up to

        √Σ(β_i k_i e_i)² ≤ e √(max|β| Σ|β_i| k_i)    where those of the entries are independent,
        e |Σ β_i k_i|                                where all share them, as that of ‖x‖².

    The sums over positive and over negative β, taken apart, give both Σ β_i k_i and Σ|β_i| k_i.
    Where e is not small, the k_i themselves say nothing; and what is too small for float32 is lost.
    """
    threads = threads or available_cores()
    exact = np.result_type(X.dtype, Z.dtype) == np.float64
    tiled = tiling(kernel, Z, threads) if exact and isinstance(kernel, RBF) else None
    if tiled is None:
        return cross_dot(kernel, X, Z, coef[None], threads)[:, 0] + offset > 0
    sides = [
        (tiled.expand(np.float32, rows, threads), np.abs(coef[rows]))
        for rows in (np.flatnonzero(coef > 0), np.flatnonzero(coef < 0))
    ]
    farthest = np.sqrt(tiled.squared_norms(tiled.pack(np.float32, None, threads)).max())
    growth = -0.1 * np.sqrt(X.shape[1] + 16) * tiled.form.square
    single, largest = np.finfo(np.float32), np.abs(coef).max()
    epsilon, lost = float(single.eps), float(single.tiny) * np.sum(1 + np.abs(coef))
    values, spread = np.empty(X.shape[0]), np.empty(X.shape[0])

    def fill(start: int, stop: int) -> None:
        left = tiled.like(X[start:stop]).pack(np.float32, None, 1)
        above, below = (tiled.dot(left, *side, 1)[: stop - start] for side in sides)
        distance = np.sqrt(tiled.squared_norms(left)[: stop - start]) + farthest
        off = epsilon * (5 + growth * distance**2)
        values[start:stop] = above - below + offset
        share = np.sqrt(largest * (above + below)) + np.abs(above - below)
        spread[start:stop] = np.where(off < SMALL, off * share + lost, np.inf)

    n, m = X.shape[0], Z.shape[0]
    run_all(fill, _parts(n, m, tiled.width, TILE_ENTRIES / tiled.width, threads), threads)
    unsure = np.flatnonzero(~(np.abs(values) > 8 * spread))
    if len(unsure):
        values[unsure] = _dot(tiled, X[unsure], coef, np.float64, threads) + offset
    return values > 0
