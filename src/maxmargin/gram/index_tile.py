"""The fused tile for sparse rows of very many columns, as texts have: an inverted index.

As in `dense_tile`, t = ⟨(x, ‖x‖², 1), (scale z, square, square ‖z‖² + offset)⟩. Two texts of fifty
words share three or four. So a right row z is the list of its columns, as in `sparse_tile`, and a
column is the list of the left rows that have it; z_k is added to t of those rows alone:

    for k with z_k ≠ 0:  for x with x_k ≠ 0:  t(x) += z_k x_k.

A column that more than one in COMMON rows has is laid out in full, and added as vectors. Left rows
come in groups whose t stays in the first-level cache.
"""

from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from maxmargin.hardware.arrays import Entries, Floats, Numbers, Real, Reals, RealType
from maxmargin.hardware.jit import compiled, inner
from maxmargin.hardware.simd import aligned
from maxmargin.hardware.symmetric import mirror_rows
from maxmargin.hardware.threads import run_split
from maxmargin.kernels.form import Form, apply, multiply_by

# docs/speed.md, "Constants", has the times with other values of these.
COMMON = 6  # vectors add zeros too, lists add one number at a time
GROUP = 1 << 14  # bytes of t of a group of rows: t and f(t) fill a first-level cache of 32 kB
FEW = 24  # right rows whose products are added in the dtype of the tile: exact against fast
NONE = np.uint32(0xFFFFFFFF)  # the number of no list

# Of a CSR matrix indptr, indices and data; which of its rows; the numbers of its common columns.
Source: TypeAlias = tuple[Numbers, Numbers, Reals, Numbers, Numbers]


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
    numbers = np.arange(X.shape[0]) if numbers is None else numbers
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

    def lay(start: int, stop: int) -> None:
        list_of = np.full(X.shape[1], NONE)
        _lay((X.indptr, X.indices, X.data, numbers, common), list_of, left, start, stop)

    run_split(lay, len(room), 10 * size, threads)
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
    numbers = np.arange(Z.shape[0]) if numbers is None else numbers
    room = np.diff(Z.indptr)[numbers] + 2
    stops = np.cumsum(room)
    columns, values = np.empty(room.sum(), np.int32), np.empty(room.sum(), dtype)
    rows = IndexRows(stops - room, np.empty_like(stops), stops, columns, values)
    parameters = np.array([form.scale, form.square, form.offset])
    source = Z.indptr, Z.indices, Z.data, numbers, common
    copy = partial(_copy, source, common.max() + 1, parameters, rows)
    run_split(copy, len(numbers), len(columns), threads)
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
    factor, adds = form.factor_in(left.full.dtype), add or None

    def part(start: int, stop: int) -> None:
        fill(left, rows, form.power, factor, half, adds, start, stop, *space(left), out)

    run_split(part, len(rows.starts), _work(left, rows) / (2 if half else 1), threads)
    return out


def dot(left: InvertedIndex, rows: IndexRows, form: Form, coef: Floats, threads: int = 1) -> Floats:
    """Σ_j coef_j k(x_i, z_j) for every x_i, in float64; then zeros up to the end of a group."""
    weights = (form.factor * coef).astype(rows.values.dtype)
    sums: dict[int, Floats] = {}

    def part(start: int, stop: int) -> None:
        few = np.zeros(left.full.shape[2], weights.dtype)
        sums[start] = np.zeros(left.full[:, 0].shape)
        weigh(left, rows, weights, form.power, start, stop, *space(left), few, sums[start])

    run_split(part, len(coef), _work(left, rows), threads)
    total: Floats = np.sum([sums[start] for start in sorted(sums)], axis=0)
    return total.ravel()


def space(left: InvertedIndex) -> tuple[Numbers, Reals, Reals]:
    """Working memory of a thread: the list of each column, and t and f(t) of a group."""
    size, dtype = left.full.shape[2:], left.full.dtype
    return np.full(left.columns, NONE), aligned(size, dtype), aligned(size, dtype)


def _work(left: InvertedIndex, rows: IndexRows) -> float:
    """Nanoseconds, roughly: three for an entry."""
    return 3.0 * left.full[:, 0].size * len(rows.starts)


@compiled()
def _lay(source: Source, list_of: Numbers, left: InvertedIndex, start: int, stop: int) -> None:
    """The groups start ≤ g < stop: the lengths of lists, where they start, their entries."""
    indptr, indices, data, numbers, common = source
    _, full, firsts, lasts, names, starts, members, values = left
    d, size = full.shape[1] - 2, full.shape[2]
    for g in range(start, stop):
        first = last = firsts[g]
        some = range(g * size, min((g + 1) * size, len(numbers)))
        for r in some:
            norm = 0.0
            for k in range(indptr[numbers[r]], indptr[numbers[r] + 1]):
                column = indices[k]
                norm += np.float64(data[k]) * np.float64(data[k])
                if common[column] >= 0:
                    full[g, common[column], r - some.start] = data[k]
                else:
                    if list_of[column] == NONE:
                        list_of[column], names[last], starts[last] = last, column, 0
                        last += 1
                    starts[list_of[column]] += 1
            full[g, d, r - some.start] = norm
            full[g, d + 1, r - some.start] = 1
        lasts[g], place = last, first
        for l in range(first, last):
            starts[l], place = place, place + starts[l]
        for r in some:
            for k in range(indptr[numbers[r]], indptr[numbers[r] + 1]):
                l = list_of[indices[k]]
                if l != NONE:
                    members[starts[l]], values[starts[l]] = r - some.start, data[k]
                    starts[l] += 1
        for l in range(last, first, -1):  # filling moved each start to the next one
            starts[l] = starts[l - 1]
            list_of[names[l - 1]] = NONE
        starts[first] = first


@compiled()
def _copy(
    source: Source, d: int, parameters: Floats, rows: IndexRows, start: int, stop: int
) -> None:
    """Right rows start ≤ r < stop: the two last entries first, then common and rare columns."""
    indptr, indices, data, numbers, common = source
    starts, middles, stops, columns, values = rows
    scale, square, offset = parameters
    for r in range(start, stop):
        front, back, norm = starts[r] + 2, stops[r], 0.0
        for k in range(indptr[numbers[r]], indptr[numbers[r] + 1]):
            norm += np.float64(data[k]) * np.float64(data[k])
            if common[indices[k]] >= 0:
                columns[front], values[front] = common[indices[k]], scale * data[k]
                front += 1
            else:
                back -= 1
                columns[back], values[back] = indices[k], scale * data[k]
        columns[starts[r]], values[starts[r]] = d, square
        columns[starts[r] + 1], values[starts[r] + 1] = d + 1, square * norm + offset
        middles[r] = front


@inner()
def _set_lists(left: InvertedIndex, g: int, list_of: Numbers, present: bool) -> None:
    """Set list_of[column] to the column's list in group g, or back to NONE."""
    for l in range(left.firsts[g], left.lasts[g]):
        list_of[left.names[l]] = np.uint32(l) if present else NONE


@inner(fastmath={"contract"})
def _multiply(
    left: InvertedIndex, g: int, list_of: Numbers, rows: IndexRows, j: int, t: Reals
) -> None:
    """t = ⟨x, z_j⟩ for the first t.size rows x of group g."""
    _, full, _, _, _, list_starts, members, entries = left
    starts, middles, stops, columns, values = rows
    for i in range(t.size):
        t[i] = 0
    for k in range(starts[j], middles[j]):
        z, x = values[k], full[g, columns[k]]
        for i in range(t.size):
            t[i] += z * x[i]
    # An unsigned index cannot be negative: numba leaves out that test.
    for k in range(np.uint64(middles[j]), np.uint64(stops[j])):
        l = list_of[np.uint32(columns[k])]
        if l != NONE:
            z = values[k]
            for e in range(np.uint64(list_starts[l]), np.uint64(list_starts[l + np.uint32(1)])):
                if members[e] >= t.size:
                    break
                t[members[e]] += z * entries[e]


@compiled(fastmath={"contract"})
def weigh(
    left: InvertedIndex,
    rows: IndexRows,
    coef: Reals,
    power: int | None,
    start: int,
    stop: int,
    list_of: Numbers,
    t: Reals,
    y: Reals,
    few: Reals,
    out: Entries,
) -> None:
    """out[g, i] += Σ coef_j f(t) over start ≤ j < stop, for row i of group g.

    Sums over FEW rows are taken in the dtype of the tile, sums of those in float64.
    """
    for g in range(len(out)):
        _set_lists(left, g, list_of, True)
        for j in range(start, stop):
            _multiply(left, g, list_of, rows, j, t)
            apply(power, t, y)
            for i in range(t.size):
                few[i] += coef[j] * y[i]
            if (j - start) % FEW == FEW - 1 or j == stop - 1:
                for i in range(t.size):
                    out[g, i] += few[i]
                    few[i] = 0
        _set_lists(left, g, list_of, False)


@compiled(fastmath={"contract"})
def fill(
    left: InvertedIndex,
    rows: IndexRows,
    power: int | None,
    factor: Real | None,
    half: bool,
    add: bool | None,
    start: int,
    stop: int,
    list_of: Numbers,
    t: Reals,
    y: Reals,
    out: Entries,
) -> None:
    """out[j, i] = factor f(t) for start ≤ j < stop and x_i; half: for i ≤ j, and mirrored."""
    n = out.shape[1]
    for g in range(len(left.firsts)):
        first = g * t.size
        _set_lists(left, g, list_of, True)
        for j in range(max(start, first) if half else start, stop):
            some = t[: min(n, j + 1 if half else n) - first]
            _multiply(left, g, list_of, rows, j, some)
            apply(power, some, y)
            multiply_by(factor, y[: some.size])
            line = out[j, first:]
            if add is not None:
                for i in range(some.size):
                    line[i] += y[i]
            else:
                for i in range(some.size):
                    line[i] = y[i]
        if half:
            mirror_rows(out, start, stop, first, min(first + t.size, n))
        _set_lists(left, g, list_of, False)
