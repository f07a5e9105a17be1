"""The fused tile for sparse rows: the products with zeros are left out.

As in `dense_tile`, t = ⟨(x, ‖x‖², 1), (scale z, square, square ‖z‖² + offset)⟩. The left rows are
laid out in full, WIDE · LANES of them side by side, so that a column of them is one vector; a right
row is the list of its columns that are not zero. A sum runs over that list:

    t(rows x of a panel, z) = Σ_{k : z_k ≠ 0} z_k · panel[k]

A column of a panel that is loaded serves ROWS rows in a dense tile, and one here: a multiplication
costs about twice as much, but only those with non-zeros remain. Rows are not centred, which would
fill them.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.gram.dense_tile import (
    BLOCK,
    CACHE,
    STRIP,
    Part,
    add_entries,
    put_some,
    run_parts,
    space,
)
from maxmargin.hardware.arrays import Entries, Floats, Numbers, Real, Reals, RealType
from maxmargin.hardware.jit import compiled
from maxmargin.hardware.simd import LANES, WIDE, gather, put
from maxmargin.hardware.symmetric import mirror_rows
from maxmargin.hardware.threads import run_split
from maxmargin.kernels.form import Form, apply, multiply_by


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
    run_split(partial(_count, X, indptr), len(X), X.size, threads)
    np.cumsum(indptr, out=indptr)
    if indptr[-1] > densest * X.size:
        return None
    indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], X.dtype)
    run_split(partial(_compress, X, indptr, indices, data), len(X), X.size, threads)
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
    numbers = np.arange(X.shape[0]) if numbers is None else numbers
    lanes = WIDE * LANES[np.dtype(dtype).itemsize]
    panels = np.zeros((-(-len(numbers) // lanes), X.shape[1] + 2, lanes), dtype)
    scatter = partial(_scatter, X.indptr, X.indices, X.data, numbers, panels)
    run_split(scatter, len(numbers), 10 * X.nnz, threads)
    return panels


def expand(
    Z: sp.csr_array,
    form: Form,
    dtype: RealType,
    numbers: Numbers | None = None,
    threads: int = 1,
) -> SparseRows:
    """Right rows of Z, and empty ones up to a multiple of BLOCK; the length of each is even."""
    numbers = np.arange(Z.shape[0]) if numbers is None else numbers
    lengths = np.full(-(-len(numbers) // BLOCK) * BLOCK, 2)
    lengths[: len(numbers)] = (np.diff(Z.indptr)[numbers] + 3) // 2 * 2
    starts = np.concatenate([[0], np.cumsum(lengths)])
    rows = SparseRows(starts, np.zeros(starts[-1], np.int32), np.zeros(starts[-1], dtype))
    source, parameters = (Z.indptr, Z.indices, Z.data), (form.scale, form.square, form.offset)
    given = *source, numbers, np.array(parameters), Z.shape[1]
    copy = partial(_copy, *given, rows.starts, rows.columns, rows.values)
    run_split(copy, len(numbers), starts[-1], threads)
    return rows


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
    factor, adds = form.factor_in(panels.dtype), add or None

    def part(ends: Part) -> None:
        fill(panels, *rows, form.power, factor, half, adds, *ends, *space(panels), out)

    run_parts(part, len(out), len(panels), half, _work(panels, rows), threads)
    return out


def dot(panels: Reals, rows: SparseRows, form: Form, coef: Floats, threads: int = 1) -> Floats:
    """Σ_j coef_j k(x_i, z_j) for every x_i, in float64; then of the zeros in the last panel."""
    padded = np.zeros(len(rows.starts) - 1, rows.values.dtype)
    padded[: len(coef)] = form.factor * coef
    order = (np.arange(len(padded)) % BLOCK).astype(np.int32)
    out = np.zeros((len(panels), panels.shape[2]))

    def part(start: int, stop: int) -> None:
        weigh(panels, *rows, order, padded, form.power, start, stop, *space(panels), out)

    run_split(part, len(panels), _work(panels, rows), threads)
    return out.ravel()


def _work(panels: Reals, rows: SparseRows) -> float:
    """Nanoseconds, roughly, at twenty multiplications each."""
    return float(len(panels) * panels.shape[2] * len(rows.values)) / 20


@compiled()
def _count(X: Reals, indptr: Numbers, start: int, stop: int) -> None:
    """indptr[i + 1] += the non-zeros of row i."""
    for i in range(start, stop):
        for k in range(X.shape[1]):
            indptr[i + 1] += X[i, k] != 0


@compiled()
def _compress(
    X: Reals, indptr: Numbers, indices: Numbers, data: Reals, start: int, stop: int
) -> None:
    """The non-zeros of rows start ≤ i < stop, from indptr[i] on."""
    for i in range(start, stop):
        place = indptr[i]
        for k in range(X.shape[1]):
            if X[i, k] != 0:
                indices[place], data[place] = k, X[i, k]
                place += 1


@compiled()
def _scatter(
    indptr: Numbers,
    indices: Numbers,
    data: Reals,
    numbers: Numbers,
    panels: Reals,
    start: int,
    stop: int,
) -> None:
    """Rows start ≤ r < stop of the panels: (x, ‖x‖², 1)."""
    d, lanes = panels.shape[1] - 2, panels.shape[2]
    for r in range(start, stop):
        panel, lane, norm = r // lanes, r % lanes, 0.0
        for k in range(indptr[numbers[r]], indptr[numbers[r] + 1]):
            panels[panel, indices[k], lane] = data[k]
            norm += np.float64(data[k]) * np.float64(data[k])
        panels[panel, d, lane] = norm
        panels[panel, d + 1, lane] = 1


@compiled()
def _copy(
    indptr: Numbers,
    indices: Numbers,
    data: Reals,
    numbers: Numbers,
    parameters: Floats,
    d: int,
    starts: Numbers,
    columns: Numbers,
    values: Reals,
    start: int,
    stop: int,
) -> None:
    """Right rows start ≤ r < stop: (scale z, square, square ‖z‖² + offset)."""
    scale, square, offset = parameters
    for r in range(start, stop):
        place, norm = starts[r], 0.0
        for k in range(indptr[numbers[r]], indptr[numbers[r] + 1]):
            columns[place], values[place] = indices[k], scale * data[k]
            norm += np.float64(data[k]) * np.float64(data[k])
            place += 1
        columns[place], values[place] = d, square
        columns[place + 1], values[place + 1] = d + 1, square * norm + offset


@compiled(fastmath={"contract"})
def weigh(
    panels: Reals,
    starts: Numbers,
    columns: Numbers,
    values: Reals,
    order: Numbers,
    coef: Reals,
    power: int | None,
    start: int,
    stop: int,
    t: Reals,
    y: Reals,
    out: Entries,
) -> None:
    """out[p, l] += Σ_j coef_j f(t) for the row x in lane l of panel p, start ≤ p < stop."""
    lanes = panels.shape[2]
    for p in range(start, stop):
        for j in range(0, len(coef), BLOCK):
            for r in range(BLOCK):
                gather(columns, values, starts[j + r], starts[j + r + 1], panels, p, t, r * lanes)
            apply(power, t, y)
            gather(order, coef, j, j + BLOCK, y, 0, t, 0)
            for l in range(lanes):
                out[p, l] += t[l]


@compiled(fastmath={"contract"})
def fill(
    panels: Reals,
    starts: Numbers,
    columns: Numbers,
    values: Reals,
    power: int | None,
    factor: Real | None,
    half: bool,
    add: bool | None,
    top: int,
    bottom: int,
    start: int,
    stop: int,
    t: Reals,
    y: Reals,
    out: Entries,
) -> None:
    """out[j, i] = factor f(t) for top ≤ j < bottom and the x_i in the panels start ≤ p < stop.

    If half: for i ≤ j, and out[i, j] = out[j, i]. In strips of rows, as in the dense tile.
    """
    lanes, wide = panels.shape[2], panels.shape[2] // WIDE
    n = out.shape[1]
    step = 1 + CACHE // (panels.shape[1] * lanes * panels.itemsize)
    for strip in range(top, bottom, STRIP):
        end_of_strip = min(strip + STRIP, bottom)
        for first in range(start, stop, step):
            for j in range(strip, end_of_strip, BLOCK):
                last = min(first + step, stop)
                if half:
                    last = min(last, (j + BLOCK - 1) // lanes + 1)
                for p in range(first, last):
                    for r in range(BLOCK):
                        here, there = starts[j + r], starts[j + r + 1]
                        gather(columns, values, here, there, panels, p, t, r * lanes)
                    apply(power, t, y)
                    multiply_by(factor, y)
                    if add is not None:
                        add_entries(out, j, p * lanes, lanes, y)
                    for h in range(min(BLOCK, end_of_strip - j) * WIDE):
                        row, i = j + h // WIDE, p * lanes + h % WIDE * wide
                        end = row + 1 if half else n
                        if i + wide <= end:
                            put(y, h * wide, out, row, i)
                        else:
                            put_some(y, h * wide, out, row, i, end - i)
            if half:
                right = min((first + step) * lanes, n)
                mirror_rows(out, strip, end_of_strip, first * lanes, right)
