"""The kernel between new rows and given ones: what prediction needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms

from maxmargin.core import native
from maxmargin.gram.dense_tile import BLOCK
from maxmargin.gram.entries import TILE_ENTRIES
from maxmargin.gram.layouts import layout_of
from maxmargin.kernels import Kernel
from maxmargin.kernels.form import sum_of
from maxmargin.resources.arrays import Data, Entries, Floats, Mask, RealType
from maxmargin.resources.memory import large_array
from maxmargin.resources.threads import available_cores, one_blas_thread, run_all

# Rows up to which NumPy computes the entries: a tile computes as many as a vector has lanes.
FEW = 4
SMALL_BLOCK = 4096  # entries, likewise
# Entries up to which float64 takes less time than float32 and what tells how far off that is: 500
# vectors of 40 columns with 100 rows 0.33 and 0.45 ms, with 400 rows 1.05 and 0.72 ms.
SIMPLE = 1 << 17
PANEL = native.SPARSE_PANEL[4]  # rows: parts of a multiple leave no panel of a tile half empty
EXPONENTIAL = (
    17  # multiplications that take as long as f(t) (docs/how-it-works/speed.md, "Constants")
)
# Nanoseconds of work from which there is a part for every thread, and from which there are several:
# more parts even out the threads, fewer wait less often for Python's lock.
WORTH_PARTS, WORTH_MORE_PARTS = 2_000_000, 8_000_000
HALF = 0.5  # relative error of an entry up to which its own value bounds its size


class Cross:
    """The kernel between any rows and the given rows Z, which are laid out once.

    Parameters
    ----------
    kernel : Kernel, bound to its data
    Z : dense or CSR array, or whatever the kernel takes

    Examples
    --------
    >>> from maxmargin.kernels import Linear
    >>> cross = Cross(Linear(), np.array([[1.0, 0.0], [1.0, 2.0]]), threads=1)
    >>> cross.dot(np.array([[3.0, 1.0]]), np.array([[1.0, -1.0]]))
    array([[-2.]])
    """

    def __init__(self, kernel: Kernel, Z: Data, threads: int | None = None) -> None:
        self.kernel, self.Z, self.threads = kernel, Z, threads or available_cores()
        self.layout = layout_of(kernel, Z, self.threads)
        self._right: dict[RealType, tuple[Any, ...]] = {}

    def dot(
        self,
        X: Data,
        coef: Floats,
        ends: Sequence[int] | None = None,
        dtype: RealType | None = None,
    ) -> Floats:
        """K(X, Z) @ coefᵀ, of entries in float64 unless asked otherwise.

        Parameters
        ----------
        coef : ndarray of shape (r, rows of Z)
        ends : where parts of Z end, each of which gives a product of its own
        dtype : of the entries that tiles compute; float64 by default

        Returns
        -------
        ndarray of shape (rows of X, r), or (parts, r, rows of X)
        """
        parts = list(pairwise((0, self.Z.shape[0]) if ends is None else ends))
        n, m = X.shape[0], self.Z.shape[0]
        # Many parts are added up and gone before the next rows come, which use their memory again.
        empty = large_array if len(parts) > 1 else np.empty
        products = (empty if m else np.zeros)((len(parts), len(coef), n), np.float64)
        if m and len(parts) == len(coef) == 1 and self.layout and not self._few(X):
            products[0, 0] = self._line(X, coef[0], dtype or np.float64)
        elif m:
            each = self._parts(n, TILE_ENTRIES / m)

            def fill(start: int, stop: int) -> None:
                values = self._values(X if len(each) == 1 else X[start:stop])
                for product, (first, last) in zip(products, parts, strict=True):
                    np.matmul(coef[:, first:last], values[first:last], out=product[:, start:stop])

            with one_blas_thread() if len(each) > 1 else nullcontext():
                run_all(fill, each, self.threads)
        return products if ends is not None else products[0].T

    def signs(self, X: Data, coef: Floats, offset: float) -> Mask:
        """Whether K(X, Z) @ coef + offset > 0, for each row of X.

        For many, float32 is twice as fast as float64 and nearly always enough to tell: a value that
        is not farther from 0 than its error can be is computed again in float64.

        An entry c·2^t (the RBF kernel has c = 1, |square| = γ log₂e = g) is a sum of d + 2 products
        whose sizes add up to g(‖x‖ + ‖z‖)² at most, each rounded by u of itself wherever it is
        added (see `dense_tile`). So t is off by (d + 8) u g(‖x‖ + ‖z‖)², the entry by the factor
        2^that, and a few units more for its power and its way through a block's sum. The sums over
        positive and over negative β, taken apart, then bound the error of their difference. What is
        too small for float32 is lost.
        """
        layout, threads = self.layout, self.threads
        simple = self._few(X) or X.shape[0] * self.Z.shape[0] <= SIMPLE
        if layout is None or not layout.is_exponential or simple:
            return self.dot(X, coef[None])[:, 0] + offset > 0
        (form,) = layout.forms
        sides = [
            (layout.expand(np.float32, rows, threads), np.abs(coef[rows]))
            for rows in (np.flatnonzero(coef > 0), np.flatnonzero(coef < 0))
        ]
        farthest = np.sqrt(layout.squared_norms(layout.pack(np.float32, None, threads)).max())
        unit = float(np.finfo(np.float32).eps) / 2
        growth = math.log(2) * (layout.terms + 8) * abs(form.square)
        lost = 2.0 ** native.LEAST[4] * np.sum(1 + form.factor * np.abs(coef))
        values, spread = np.empty(X.shape[0]), np.empty(X.shape[0])

        def fill(start: int, stop: int) -> None:
            left = layout.like(X[start:stop]).pack(np.float32, None, 1)
            above, below = (layout.dot(left, *side, 1)[: stop - start] for side in sides)
            distance = np.sqrt(layout.squared_norms(left)[: stop - start]) + farthest
            with np.errstate(over="ignore", invalid="ignore"):
                off = np.expm1(unit * (BLOCK + 8 + growth * distance**2))
            values[start:stop] = above - below + offset
            known = off < HALF  # false where rows are beyond float32
            spread[start:stop] = np.where(known, 2 * off * (above + below) + lost, np.inf)

        run_all(fill, self._parts(X.shape[0], TILE_ENTRIES / layout.width), threads)
        unsure = np.flatnonzero(~(np.abs(values) > spread))
        if len(unsure):
            values[unsure] = self._line(X[unsure], coef, np.float64) + offset
        return values > 0

    def _line(self, X: Data, coef: Floats, dtype: RealType) -> Floats:
        """K(X, Z) @ coef by the tile."""
        layout, right, values = self.layout, self._expanded(dtype), np.empty(X.shape[0])
        assert layout is not None

        def fill(start: int, stop: int) -> None:
            left = layout.like(X[start:stop]).pack(dtype, None, 1)
            values[start:stop] = layout.dot(left, right, coef, 1)[: stop - start]

        run_all(fill, self._parts(X.shape[0], TILE_ENTRIES / layout.width), self.threads)
        return values

    def _values(self, X: Data) -> Entries:
        """K(Z, X)."""
        if self.layout is None:
            return self.kernel(exactly(X), exactly(self.Z)).T
        if self._few(X):
            Z, norms, centre = self._plain
            near = exactly(X) - centre
            return sum_of(self.layout.forms, Z @ near.T, norms + row_norms(near, squared=True))
        dtype = np.float64
        left = self.layout.like(X).pack(dtype, None, 1)
        values: Entries = np.empty((self.Z.shape[0], X.shape[0]), dtype)
        return self.layout.block(left, self._expanded(dtype), values, 1)

    def _few(self, X: Data) -> bool:
        """Whether the rows of X are so few that most of what a tile computes is not used."""
        small = X.shape[0] <= FEW or X.shape[0] * self.Z.shape[0] <= SMALL_BLOCK
        return small and not sp.issparse(X) and not sp.issparse(self.Z)

    @cached_property
    def _plain(self) -> tuple[Floats, Floats, Floats | float]:
        """The rows Z after they are centred, ‖z‖² as a column, and the centre."""
        centre = 0.0 if self.layout is None or self.layout.centre is None else self.layout.centre
        near = np.asarray(self.Z - centre, np.float64)
        return near, row_norms(near, squared=True)[:, None], centre

    def _expanded(self, dtype: RealType) -> tuple[Any, ...]:
        """The rows Z as right rows of the tile."""
        if self.layout is not None and dtype not in self._right:
            self._right[dtype] = self.layout.expand(dtype, None, self.threads)
        return self._right[dtype]

    def _parts(self, n: int, most: float) -> list[tuple[int, int]]:
        """Where parts of n rows start and stop: about equally long, not much longer than `most`.

        Several for every thread, so that none waits long for the others; but only one if there is
        little to do, for between two parts threads wait for Python's lock.
        """
        layout = self.layout
        forms = len(layout.forms) if layout else 1
        width = layout.width if layout else math.prod(self.Z.shape[1:])
        multiplications = n * self.Z.shape[0] * forms * (width + EXPONENTIAL)
        work = multiplications / 50  # nanoseconds, roughly
        more = min(4, 1 + int(work / WORTH_MORE_PARTS))
        several = self.threads * more if work > WORTH_PARTS else 1
        count = max(several, math.ceil(n / max(most, 1)))
        step = max(1, -(-n // (count * PANEL))) * PANEL
        return [(start, min(start + step, n)) for start in range(0, n, step)]


def exactly(X: Data) -> Data:
    """Rows in float64, if they are float32: a kernel computes in the precision of its rows."""
    return X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X


def cross_dot(kernel: Kernel, X: Data, Z: Data, coef: Floats, threads: int | None = None) -> Floats:
    """K(X, Z) @ coefᵀ, of shape (rows of X, lines of coef)."""
    return Cross(kernel, Z, threads).dot(X, coef)
