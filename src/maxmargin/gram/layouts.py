"""How rows are laid out for a fused tile: dense, sparse, or sparse with very many columns.

A layout holds rows and the forms of a kernel, and offers the same whatever its tile is: `pack` left
rows, which are the same for all forms, and `expand` right rows, a set for each form (all rows, or
those with the given numbers); then a `block` of k(x, z), or the product of a block with
coefficients, `dot`. Each is a sum over the forms. Other rows are laid out `like` these.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms

from maxmargin.core import native
from maxmargin.gram import dense_tile, index_tile, sparse_tile
from maxmargin.gram.data_matrix import canonical
from maxmargin.gram.on_demand import Maker
from maxmargin.kernels import Form, Kernel
from maxmargin.kernels.centre import centre_of, moved
from maxmargin.resources.arrays import Data, Entries, Floats, Numbers, Reals, RealType

# Shares of entries that are not zero up to which the sparse tile, or the inverted index, is faster
# than the dense tile (docs/how-it-works/speed.md, "Constants").
SPARSE = 0.3
SPARSE_IF_LONG = 0.1
# Columns beyond which sparse rows take the inverted index: with fewer it is faster on texts, slower
# on denser data such as images (docs/how-it-works/speed.md, "Constants").
LONGEST = 4096
# Largest error of an entry, relative to k(x, x), by the rounding of ‖x‖² + ‖z‖² − 2xᵀz in float64.
# Beyond it differences x − z are used, at a tenth of the speed. Sums with Σ|β| up to 5e5 are then
# exact to a twentieth of the default tol; γ‖x‖² of centred rows may be 2,000 with 40 columns.
EXACT = 1e-10
NEARER = 10.0  # the norms of moved sparse rows must be so many times smaller to be worth it
# The largest |square| ‖x‖² at which dense rows may be compressed and so stay uncentred: t then
# carries an error of about 1e-5 in float32.
HARMLESS = 100.0


SLICE = 1 << 18  # numbers that are moved at a time to know their norms: 2 MB stay in the cache


@dataclass(frozen=True)
class Layout(ABC):
    """The rows X, the forms of the kernel, and the tile: a module with `block` and `dot`."""

    X: Data
    forms: tuple[Form, ...]
    # Taken off each row, where the kernel depends on x − z only.
    centre: Floats | None = field(default=None, kw_only=True)

    tile: ClassVar[ModuleType]
    rounds: ClassVar[bool] = False  # whether the tile can store entries in 16 bits

    @property
    def width(self) -> float:
        """Numbers that a packed row takes."""
        return float(self.X.shape[1] + 2)

    @property
    def terms(self) -> int:
        """Most products that an inner product of two rows is the sum of."""
        return int(np.diff(self.X.indptr).max(initial=0))

    @cached_property
    def largest(self) -> float:
        """The largest ‖x‖² of the rows as they are laid out; infinite beyond float64."""
        return largest_square(self.X)

    @cached_property
    def error(self) -> float:
        """Bound of what rounding of distances in float64 does to a kernel value."""
        return sum(self._errors(abs(form.factor) for form in self.forms))

    @property
    def is_exact(self) -> bool:
        """Whether rounding in float64 leaves distances exact enough for their kernels."""
        return max(self._errors(1.0 for _ in self.forms)) <= EXACT

    def _errors(self, factors: Iterable[float]) -> list[float]:
        """Bounds of the error of each form, times its factor."""
        return [
            factor * form.distance_error(self.largest, self.terms)
            for factor, form in zip(factors, self.forms, strict=True)
        ]

    @property
    def is_exponential(self) -> bool:
        """Whether the kernel is one term c · 2^t."""
        return len(self.forms) == 1 and self.forms[0].power is None

    def squared_norms(self, left: Any) -> Reals:
        """‖x‖² of the packed rows."""
        norms: Reals = left[:, -2].ravel()
        return norms

    def like(self, X: Data) -> Layout:
        """Other rows, laid out in the same way."""
        rows = compressed(X)
        return replace(self, X=rows if self.centre is None else moved(rows, self.centre))

    def take(self, numbers: Numbers) -> Layout:
        """Some of the rows."""
        return replace(self, X=self.X[numbers])

    @abstractmethod
    def pack(self, dtype: RealType, numbers: Numbers | None, threads: int) -> Any:
        """Left rows."""

    @abstractmethod
    def expand_form(
        self, form: Form, dtype: RealType, numbers: Numbers | None, threads: int
    ) -> Any:
        """Right rows of one form."""

    def expand(self, dtype: RealType, numbers: Numbers | None, threads: int) -> tuple[Any, ...]:
        """Right rows of each form."""
        return tuple(self.expand_form(form, dtype, numbers, threads) for form in self.forms)

    def row_maker(self, left: Any, dtype: RealType, threads: int) -> Maker | None:
        """What computes single rows inside compiled code, of all rows; None if nothing does."""
        return None

    def block(
        self, left: Any, right: tuple[Any, ...], out: Entries, threads: int, *, half: bool = False
    ) -> Entries:
        """out[j, i] = k(x_i, z_j). Only the values of a single form may be stored in 16 bits.

        Of rows with themselves one `half` may be computed; the other is its mirror image.
        """
        for k, (rows, form) in enumerate(zip(right, self.forms, strict=True)):
            self.tile.block(left, rows, form, out, threads, half=half, add=k > 0)
        return out

    def dot(self, left: Any, right: tuple[Any, ...], coef: Floats, threads: int) -> Floats:
        """Σ_j coef_j k(x_i, z_j) for every packed x_i, in float64."""
        values: Floats = self.tile.dot(left, right[0], self.forms[0], coef, threads)
        for rows, form in zip(right[1:], self.forms[1:], strict=True):
            values += self.tile.dot(left, rows, form, coef, threads)
        return values


@dataclass(frozen=True)
class DenseLayout(Layout):
    """Rows of an array; `centre` is taken off when they are packed."""

    tile: ClassVar[ModuleType] = dense_tile
    rounds: ClassVar[bool] = True

    @property
    def terms(self) -> int:
        return int(self.X.shape[1])

    @cached_property
    def largest(self) -> float:
        return largest_square(self.X, self.centre)

    def like(self, X: Data) -> DenseLayout:
        return replace(self, X=X)

    def take(self, numbers: Numbers) -> DenseLayout:
        return replace(self, X=self.X.take(numbers, 0))  # a third of the time of X[numbers]

    def pack(self, dtype: RealType, numbers: Numbers | None, threads: int) -> Reals:
        return dense_tile.pack(self.X, dtype, self.centre, numbers, threads)

    def expand_form(
        self, form: Form, dtype: RealType, numbers: Numbers | None, threads: int
    ) -> Reals:
        return dense_tile.expand(self.X, form, dtype, self.centre, numbers, threads)

    def row_maker(self, left: Reals, dtype: RealType, threads: int) -> Maker | None:
        if len(self.forms) > 1:
            return None
        (form,), (right,) = self.forms, self.expand(dtype, None, threads)
        made = np.zeros(len(self.X), bool)
        return native.row_maker(made, left, right, form.power, form.factor)


@dataclass(frozen=True)
class SparseLayout(Layout):
    """Rows of which most entries are zero: left rows in full, right rows as lists of columns."""

    tile: ClassVar[ModuleType] = sparse_tile
    rounds: ClassVar[bool] = True

    def pack(self, dtype: RealType, numbers: Numbers | None, threads: int) -> Reals:
        return sparse_tile.pack(self.X, dtype, numbers, threads)

    def expand_form(
        self, form: Form, dtype: RealType, numbers: Numbers | None, threads: int
    ) -> sparse_tile.SparseRows:
        return sparse_tile.expand(self.X, form, dtype, numbers, threads)


@dataclass(frozen=True)
class IndexLayout(Layout):
    """Sparse rows of very many columns: only the `common` ones are laid out in full."""

    common: Numbers
    tile: ClassVar[ModuleType] = index_tile

    @property
    def width(self) -> float:
        return float(self.common.max() + 3 + self.X.nnz / self.X.shape[0])

    def squared_norms(self, left: index_tile.InvertedIndex) -> Reals:
        return left.full[:, -2].ravel()

    def pack(
        self, dtype: RealType, numbers: Numbers | None, threads: int
    ) -> index_tile.InvertedIndex:
        return index_tile.pack(self.X, self.common, dtype, numbers, threads)

    def expand_form(
        self, form: Form, dtype: RealType, numbers: Numbers | None, threads: int
    ) -> index_tile.IndexRows:
        return index_tile.expand(self.X, self.common, form, dtype, numbers, threads)


def layout_of(kernel: Kernel, X: Data, threads: int = 1) -> Layout | None:
    """The rows of X laid out for the tile of this kernel; None if no tile computes it on them."""
    forms = kernel.forms
    if forms is None or X.dtype not in (np.float32, np.float64) or 0 in X.shape:
        return None
    steepest = max(abs(form.square) for form in forms)
    movable = steepest > 0 and all(form.translation_invariant for form in forms)
    layout = _layout_of(forms, X, steepest, movable, threads)
    # Where one term must be moved and another must not, or no centre is near enough, the kernel
    # itself computes each term, distances from differences.
    return layout if layout.is_exact else None


def _layout_of(
    forms: tuple[Form, ...], X: Data, steepest: float, movable: bool, threads: int
) -> Layout:
    is_long = X.shape[1] > LONGEST
    if not sp.issparse(X):
        rows = sparse_tile.compress(X, SPARSE_IF_LONG if is_long else SPARSE, threads)
        if rows is None or steepest * largest_square(rows) > HARMLESS:
            return DenseLayout(X, forms, centre=centre_of(X) if movable else None)
    else:
        rows = compressed(X)
    layout = _sparse(forms, rows, None, is_long)
    if movable and steepest * layout.largest > HARMLESS:
        centre = centre_of(rows)
        near = _sparse(forms, moved(rows, centre), centre, is_long)
        layout = near if NEARER * near.largest < layout.largest else layout
    return layout


def largest_square(X: Data, centre: Floats | None = None) -> float:
    """The largest ‖x − centre‖², in float64 whatever the rows are; infinite beyond it.

    Examples
    --------
    >>> largest_square(np.array([[3e-30], [4e-30]], np.float32)) > 0  # float32 has no 1e-59
    True
    """
    count = 1 + (X.nnz if sp.issparse(X) else X.size) // SLICE
    ends = np.linspace(0, X.shape[0], count + 1).astype(int)
    largest = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for start, stop in pairwise(ends):
            part = X[start:stop].astype(np.float64, copy=centre is not None)
            if centre is not None:
                part -= centre
            largest = max(largest, float(row_norms(part, squared=True).max(initial=0)))
            del part  # or two would be there at a time
    return float(np.nan_to_num(largest, nan=np.inf))


def _sparse(
    forms: tuple[Form, ...], rows: sp.csr_array, centre: Floats | None, is_long: bool
) -> Layout:
    if is_long:
        return IndexLayout(rows, forms, index_tile.common_columns(rows), centre=centre)
    return SparseLayout(rows, forms, centre=centre)


def compressed(X: Data) -> sp.csr_array:
    """X as CSR in which no entry is listed twice."""
    return canonical(sp.csr_array(X) if sp.issparse(X) else sparse_tile.compress(X, 1.0))
