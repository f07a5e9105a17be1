"""The fused tile for sparse rows of very many columns, as texts have: an inverted index.

As in `tiles`, t = ⟨(x, ‖x‖², 1), (scale z, square, square ‖z‖² + offset)⟩ and k(x, z) = f(t). Two
texts of fifty words share three or four. So a right row z is the list of its columns, as in
`sparse_tiles`, and a column is the list of the left rows that have it: what z adds is added to
them alone,

    for k with z_k ≠ 0:  for x with x_k ≠ 0:  t(x) += z_k x_k.

A column that more than one in COMMON rows has is laid out in full, and added as vectors. Left rows
come in groups of which t stays in the first-level cache.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.compiled import compiled, inner
from maxmargin.resources import run_split
from maxmargin.tiles import Form, apply, symmetric
from maxmargin.vectors import aligned

COMMON = 6
GROUP = 1 << 14  # bytes of t
NONE = np.uint32(0xFFFFFFFF)  # no list
FEW = 24  # right rows


class Left(NamedTuple):
    """Left rows, in groups: their common columns, ‖x‖² and 1 in full, and a list per rare column.

    The lists of group g are firsts[g] ≤ l < lasts[g]. Such a list is about the column names[l] and
    has values[e] in row members[e] of the group for starts[l] ≤ e < starts[l + 1].
    """

    columns: int
    full: np.ndarray  # (groups, common + 2, rows of a group)
    firsts: np.ndarray
    lasts: np.ndarray
    names: np.ndarray
    starts: np.ndarray
    members: np.ndarray
    values: np.ndarray


class Rows(NamedTuple):
    """Right rows: row j has values[k] in columns[k] for starts[j] ≤ k < stops[j].

    The columns before middles[j] are common, and numbered as such.
    """

    starts: np.ndarray
    middles: np.ndarray
    stops: np.ndarray
    columns: np.ndarray
    values: np.ndarray


def common_columns(X: sp.csr_array) -> np.ndarray:
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
    common: np.ndarray,
    dtype: Any,
    numbers: np.ndarray | None = None,
    threads: int = 1,
) -> Left:
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
    left = Left(
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
        _lay(X.indptr, X.indices, X.data, numbers, common, list_of, left, start, stop)

    run_split(lay, len(room), 10 * size, threads)
    return left


def expand(
    Z: sp.csr_array,
    common: np.ndarray,
    form: Form,
    dtype: Any,
    numbers: np.ndarray | None = None,
    threads: int = 1,
) -> Rows:
    """Right rows (scale z, square, square ‖z‖² + offset): all, or those with the given numbers."""
    numbers = np.arange(Z.shape[0]) if numbers is None else numbers
    room = np.diff(Z.indptr)[numbers] + 2
    stops = np.cumsum(room)
    columns, values = np.empty(room.sum(), np.int32), np.empty(room.sum(), dtype)
    rows = Rows(stops - room, np.empty_like(stops), stops, columns, values)
    of_common = common, common.max() + 1, np.array(form[1:])
    copy = partial(_copy, Z.indptr, Z.indices, Z.data, numbers, *of_common, rows)
    run_split(copy, len(numbers), len(columns), threads)
    return rows


def block(left: Left, rows: Rows, form: Form, out: np.ndarray, threads: int = 1) -> np.ndarray:
    """out[j, i] = k(x_i, z_j) for the packed x_i and the expanded z_j."""

    def part(start: int, stop: int) -> None:
        fill(left, rows, form.power, False, start, stop, *space(left), out)

    run_split(part, len(rows.starts), _work(left, rows), threads)
    return out


def square(left: Left, rows: Rows, form: Form, out: np.ndarray, threads: int = 1) -> np.ndarray:
    """`block` of rows with themselves: one half is computed, the other is its mirror image."""

    def part(start: int, stop: int) -> None:
        fill(left, rows, form.power, True, start, stop, *space(left), out)

    run_split(part, len(rows.starts), _work(left, rows) / 2, threads)
    return symmetric(out, threads)


def dot(left: Left, rows: Rows, form: Form, coef: np.ndarray, threads: int = 1) -> np.ndarray:
    """Σ_j coef_j k(x_i, z_j) for every x_i, in float64; zeros at the end of a last group."""
    coef, sums = coef.astype(rows.values.dtype), {}

    def part(start: int, stop: int) -> None:
        few, sums[start] = np.zeros(left.full.shape[2], coef.dtype), np.zeros(left.full[:, 0].shape)
        weigh(left, rows, coef, form.power, start, stop, *space(left), few, sums[start])

    run_split(part, len(coef), _work(left, rows), threads)
    return np.sum([sums[start] for start in sorted(sums)], axis=0).ravel()


def space(left: Left) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where a thread keeps which list a column has, and t and f(t) of a group."""
    size, dtype = left.full.shape[2:], left.full.dtype
    return np.full(left.columns, NONE), aligned(size, dtype), aligned(size, dtype)


def _work(left: Left, rows: Rows) -> float:
    """Nanoseconds, roughly: three for an entry."""
    return 3.0 * left.full[:, 0].size * len(rows.starts)


@compiled()
def _lay(indptr, indices, data, numbers, common, list_of, left, start, stop):
    """The rows of the groups start ≤ g < stop: lists are counted, then laid out, then filled."""
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
        for l in range(last, first, -1):  # each has moved to where the next one starts
            starts[l] = starts[l - 1]
            list_of[names[l - 1]] = NONE
        starts[first] = first


@compiled()
def _copy(indptr, indices, data, numbers, common, d, factors, rows, start, stop):
    starts, middles, stops, columns, values = rows
    scale, square, offset = factors
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
def _open(left, g, list_of, is_open):
    """Say which lists the columns of a group have, or that they are no longer of interest."""
    for l in range(left.firsts[g], left.lasts[g]):
        list_of[left.names[l]] = np.uint32(l) if is_open else NONE


@inner(fastmath={"contract"})
def _multiply(left, g, list_of, rows, j, t):
    """t = ⟨x, z_j⟩ for the first rows x of a group, as many as t has."""
    _, full, _, _, _, list_starts, members, entries = left
    starts, middles, stops, columns, values = rows
    for i in range(t.size):
        t[i] = 0
    for k in range(starts[j], middles[j]):
        z, x = values[k], full[g, columns[k]]
        for i in range(t.size):
            t[i] += z * x[i]
    # Unsigned numbers do not count from the end: numba need not ask.
    for k in range(np.uint64(middles[j]), np.uint64(stops[j])):
        l = list_of[np.uint32(columns[k])]
        if l != NONE:
            z = values[k]
            for e in range(np.uint64(list_starts[l]), np.uint64(list_starts[l + np.uint32(1)])):
                if members[e] >= t.size:
                    break
                t[members[e]] += z * entries[e]


@compiled(fastmath={"contract"})
def weigh(left, rows, coef, power, start, stop, list_of, t, y, few, out):
    """out[g, i] += Σ coef_j k(x, z_j) over start ≤ j < stop, for row i of group g.

    Sums over few rows are taken in the dtype of the tile, sums of those in float64.
    """
    for g in range(len(out)):
        _open(left, g, list_of, True)
        for j in range(start, stop):
            _multiply(left, g, list_of, rows, j, t)
            apply(power, t, y)
            for i in range(t.size):
                few[i] += coef[j] * y[i]
            if (j - start) % FEW == FEW - 1 or j == stop - 1:
                for i in range(t.size):
                    out[g, i] += few[i]
                    few[i] = 0
        _open(left, g, list_of, False)


@compiled(fastmath={"contract"})
def fill(left, rows, power, half, start, stop, list_of, t, y, out):
    """out[j, i] = k(x_i, z_j) for start ≤ j < stop and every x_i; half: for i ≤ j."""
    n = out.shape[1]
    for g in range(len(left.firsts)):
        first = g * t.size
        _open(left, g, list_of, True)
        for j in range(max(start, first) if half else start, stop):
            some = t[: min(n, j + 1 if half else n) - first]
            _multiply(left, g, list_of, rows, j, some)
            apply(power, some, y)
            line = out[j, first:]
            for i in range(some.size):
                line[i] = y[i]
        _open(left, g, list_of, False)
