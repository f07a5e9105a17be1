"""The fused tile for sparse rows: the products with zeros are left out.

As in `dense_tile`, t = ⟨(x, ‖x‖², 1), (scale z, square, square ‖z‖² + offset)⟩. The left rows are
laid out in full, PANEL of them side by side, so that a column of them is one vector; a right
row is the list of its columns that are not zero. A sum runs over that list:

    t(rows x of a panel, z) = Σ_{k : z_k ≠ 0} z_k · panel[k]

A column of a panel that is loaded serves GROUP rows in a dense tile, and one here: a multiplication
costs about twice as much, but only those with non-zeros remain. Rows are not centred, which would
fill them.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.core import native
from maxmargin.gram.dense_tile import BLOCK, Part, run_parts
from maxmargin.kernels.form import Form
from maxmargin.resources.arrays import Entries, Floats, Numbers, Reals, RealType
from maxmargin.resources.threads import run_split

PANEL = native.SPARSE_PANEL  # rows of a panel, by the bytes of a number


class SparseRows(NamedTuple):
    """Right rows: row j has values[k] in columns[k] for starts[j] ≤ k < starts[j + 1]."""

    starts: Numbers
    columns: Numbers
    values: Reals


def compress(X: Reals, densest: float, threads: int = 1) -> sp.csr_array | None:
    """A dense array as CSR; None if more than the share `densest` of its entries is not zero."""
    step = max(1, len(X) // 1000)
    some = X[::step]
    if np.count_nonzero(some) > (2 if step > 1 else 1) * densest * some.size:
        return None  # a sample of a thousand rows has twice as many: no need to count all
    indptr = np.zeros(len(X) + 1, np.int64)

    def count(start: int, stop: int) -> None:
        native.count_nonzero(X, start, stop, indptr)

    run_split(count, len(X), X.size, threads)
    np.cumsum(indptr, out=indptr)
    if indptr[-1] > densest * X.size:
        return None
    indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], X.dtype)

    def part(start: int, stop: int) -> None:
        native.compress(X, start, stop, indptr, indices, data)

    run_split(part, len(X), X.size, threads)
    return sp.csr_array((data, indices, indptr), shape=X.shape)


def pack(
    X: sp.csr_array, dtype: RealType, numbers: Numbers | None = None, threads: int = 1
) -> Reals:
    """Panels of the left rows (x, ‖x‖², 1): all, or those with the given numbers.

    Examples
    --------
    >>> panels = pack(sp.csr_array([[1.0, 2.0], [0.0, 4.0]]), np.float64)
    >>> panels[0, :, :2]
    array([[ 1.,  0.],
           [ 2.,  4.],
           [ 5., 16.],
           [ 1.,  1.]])
    """
    source, numbers = parts(X), chosen(X, numbers)
    lanes = PANEL[np.dtype(dtype).itemsize]
    panels = np.zeros((-(-len(numbers) // lanes), X.shape[1] + 2, lanes), dtype)

    def part(start: int, stop: int) -> None:
        native.scatter(*source, numbers, start, stop, panels)

    run_split(part, len(numbers), 10 * X.nnz, threads)
    return panels


def expand(
    Z: sp.csr_array,
    form: Form,
    dtype: RealType,
    numbers: Numbers | None = None,
    threads: int = 1,
) -> SparseRows:
    """Right rows of Z, and empty ones up to a multiple of BLOCK; the length of each is even."""
    source, numbers = parts(Z), chosen(Z, numbers)
    lengths = np.full(-(-len(numbers) // BLOCK) * BLOCK, 2)
    lengths[: len(numbers)] = (np.diff(Z.indptr)[numbers] + 3) // 2 * 2
    starts = np.concatenate([[0], np.cumsum(lengths)])
    rows = SparseRows(starts, np.zeros(starts[-1], np.int32), np.zeros(starts[-1], dtype))
    given = *source, Z.shape[1], numbers, form.scale, form.square, form.offset

    def part(start: int, stop: int) -> None:
        native.copy_rows(*given, start, stop, *rows)

    run_split(part, len(numbers), starts[-1], threads)
    return rows


def parts(X: sp.csr_array) -> tuple[Numbers, Numbers, Reals]:
    """Where rows start, columns and values, in the types that the core takes."""
    starts, columns = X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False)
    return starts, columns, X.data


def chosen(X: sp.csr_array, numbers: Numbers | None) -> Numbers:
    """The numbers of rows, which are all if None."""
    return np.arange(X.shape[0]) if numbers is None else np.ascontiguousarray(numbers, np.int64)


def block(
    panels: Reals,
    rows: SparseRows,
    form: Form,
    out: Entries,
    threads: int = 1,
    *,
    half: bool = False,
    add: bool = False,
) -> Entries:
    """out[j, i] = k(x_i, z_j) for the x packed in `panels` and the z expanded in `rows`.

    With `half`, for the same x and z, half is computed and mirrored; `add` adds to `out`.
    """

    def part(ends: Part) -> None:
        native.sparse_fill(panels, *rows, form.power, form.factor, half, add, *ends, out)

    run_parts(part, len(out), len(panels), half, _work(panels, rows), threads)
    return out


def dot(panels: Reals, rows: SparseRows, form: Form, coef: Floats, threads: int = 1) -> Floats:
    """Σ_j coef_j k(x_i, z_j) for every x_i, in float64; then of the zeros in the last panel."""
    padded = np.zeros(len(rows.starts) - 1, rows.values.dtype)
    padded[: len(coef)] = form.factor * coef
    out = np.zeros((len(panels), panels.shape[2]))

    def part(start: int, stop: int) -> None:
        native.sparse_weigh(panels, *rows, padded, form.power, start, stop, out)

    run_split(part, len(panels), _work(panels, rows), threads)
    return out.ravel()


def _work(panels: Reals, rows: SparseRows) -> float:
    """Nanoseconds, roughly, at twenty multiplications each."""
    return float(len(panels) * panels.shape[2] * len(rows.values)) / 20
