"""The fused tile for sparse rows of very many columns, as texts have: an inverted index.

As in `dense_tile`, t = ⟨(x, ‖x‖², 1), (scale z, square, square ‖z‖² + offset)⟩. Two texts of fifty
words share three or four. So a right row z is the list of its columns, as in `sparse_tile`, and a
column is the list of the left rows that have it; z_k is added to t of those rows alone:

    for k with z_k ≠ 0:  for x with x_k ≠ 0:  t(x) += z_k x_k.

A column that more than one in COMMON rows has is laid out in full, and added as vectors. Left rows
come in groups whose t stays in the first-level cache.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.core import native
from maxmargin.gram.sparse_tile import chosen, parts
from maxmargin.kernels.form import Form
from maxmargin.resources.arrays import Entries, Floats, Numbers, Reals, RealType
from maxmargin.resources.threads import run_split

# docs/how-it-works/speed.md, "Constants", has the times with other values of these.
COMMON = 6  # vectors add zeros too, lists add one number at a time
GROUP = 1 << 14  # bytes of t of a group of rows: t and f(t) fill a first-level cache of 32 kB


class InvertedIndex(NamedTuple):
    """Left rows, in groups: their common columns, ‖x‖² and 1 in full, and a list per rare column.

    The lists of group g are firsts[g] ≤ l < lasts[g]. List l is about the column names[l]; it has
    values[e] in row members[e] of the group for starts[l] ≤ e < starts[l + 1].
    """

    columns: int
    full: Reals  # (groups, common + 2, rows of a group)
    firsts: Numbers
    lasts: Numbers
    names: Numbers
    starts: Numbers
    members: Numbers
    values: Reals


class IndexRows(NamedTuple):
    """Right rows: row j has values[k] in columns[k] for starts[j] ≤ k < stops[j].

    The columns before middles[j] are common, and numbered as such.
    """

    starts: Numbers
    middles: Numbers
    stops: Numbers
    columns: Numbers
    values: Reals


def common_columns(X: sp.csr_array) -> Numbers:
    """The number of each column among the common ones; −1 if it is rare.

    Examples
    --------
    >>> common_columns(sp.csr_array([[1.0, 0.0]] * 39 + [[1.0, 1.0]]))
    array([ 0, -1], dtype=int32)
    """
    common = np.bincount(X.indices, minlength=X.shape[1]) * COMMON > X.shape[0]
    return np.where(common, np.cumsum(common) - 1, -1).astype(np.int32)


def pack(
    X: sp.csr_array,
    common: Numbers,
    dtype: RealType,
    numbers: Numbers | None = None,
    threads: int = 1,
) -> InvertedIndex:
    """Left rows (x, ‖x‖², 1): all, or those with the given numbers.

    Examples
    --------
    >>> X = sp.csr_array([[1.0, 2.0, 0.0], [0.0, 4.0, 3.0]])
    >>> left = pack(X, np.array([0, 1, -1], np.int32), np.float64)
    >>> left.full[0]
    array([[ 1.,  0.],
           [ 2.,  4.],
           [ 5., 25.],
           [ 1.,  1.]])
    >>> left.names[0], left.members[0], left.values[0]
    (np.int32(2), np.uint16(1), np.float64(3.0))
    """
    (starts, columns, values), numbers = parts(X), chosen(X, numbers)
    rows = max(1, min(GROUP // np.dtype(dtype).itemsize, len(numbers)))
    room = np.add.reduceat(np.diff(X.indptr)[numbers], np.arange(0, len(numbers), rows)) + 1
    firsts, size = np.cumsum(room) - room, room.sum()
    left = InvertedIndex(
        X.shape[1],
        np.zeros((len(room), common.max() + 3, rows), dtype),
        firsts,
        np.empty_like(firsts),
        np.empty(size, np.int32),
        np.empty(size, np.int64),
        np.empty(size, np.uint16),
        np.empty(size, dtype),
    )

    def part(start: int, stop: int) -> None:
        native.index_lay(starts, columns, values, numbers, common, start, stop, *left)

    run_split(part, len(room), 10 * size, threads)
    return left


def expand(
    Z: sp.csr_array,
    common: Numbers,
    form: Form,
    dtype: RealType,
    numbers: Numbers | None = None,
    threads: int = 1,
) -> IndexRows:
    """Right rows (scale z, square, square ‖z‖² + offset): all, or those with the given numbers."""
    source, numbers = parts(Z), chosen(Z, numbers)
    room = np.diff(Z.indptr)[numbers] + 2
    stops = np.cumsum(room)
    columns, values = np.empty(room.sum(), np.int32), np.empty(room.sum(), dtype)
    rows = IndexRows(stops - room, np.empty_like(stops), stops, columns, values)
    given = *source, numbers, common, int(common.max() + 1), form.scale, form.square, form.offset

    def part(start: int, stop: int) -> None:
        native.index_copy(*given, start, stop, *rows)

    run_split(part, len(numbers), len(columns), threads)
    return rows


def block(
    left: InvertedIndex,
    rows: IndexRows,
    form: Form,
    out: Entries,
    threads: int = 1,
    *,
    half: bool = False,
    add: bool = False,
) -> Entries:
    """out[j, i] = k(x_i, z_j) for the packed x_i and the expanded z_j.

    With `half`, for the same x and z, half is computed and mirrored; `add` adds to `out`.
    """

    def part(start: int, stop: int) -> None:
        native.index_fill(*left, *rows, form.power, form.factor, half, add, start, stop, out)

    run_split(part, len(rows.starts), _work(left, rows) / (2 if half else 1), threads)
    return out


def dot(left: InvertedIndex, rows: IndexRows, form: Form, coef: Floats, threads: int = 1) -> Floats:
    """Σ_j coef_j k(x_i, z_j) for every x_i, in float64; then zeros up to the end of a group."""
    weights = (form.factor * coef).astype(rows.values.dtype)
    sums: dict[int, Floats] = {}

    def part(start: int, stop: int) -> None:
        sums[start] = np.zeros(left.full[:, 0].shape)
        native.index_weigh(*left, *rows, weights, form.power, start, stop, sums[start])

    run_split(part, len(coef), _work(left, rows), threads)
    total: Floats = np.sum([sums[start] for start in sorted(sums)], axis=0)
    return total.ravel()


def _work(left: InvertedIndex, rows: IndexRows) -> float:
    """Nanoseconds, roughly: three for an entry."""
    return 3.0 * left.full[:, 0].size * len(rows.starts)
