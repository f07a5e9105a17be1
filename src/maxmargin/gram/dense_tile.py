"""The fused tile for dense rows: kernel entries are computed in registers, and used at once.

A term of a kernel (see `Form`) is f of one inner product of slightly longer rows,

    t = scale x·z + square (‖x‖² + ‖z‖²) + offset
      = ⟨(x, ‖x‖², 1), (scale z, square, square ‖z‖² + offset)⟩,

so `pack` lays out the left rows once per fit, whatever the kernel, `expand` makes the right rows of
a form, and a tile is a small matrix product followed by f:

    panels (⌈n/LANES⌉, d+2, LANES)    LANES rows of X side by side: a column of them is one vector
    rows   (⌈m/ROWS⌉, ROWS, d+2)      ROWS rows of Z: their ROWS × LANES sums fill the registers

f is applied to BLOCK × LANES entries at a time, and `weigh` multiplies them by their coefficients
before the next ones are computed.

Precision: a distance is a small difference of large norms, so t carries an error of about
ε |square| (‖x‖² + ‖z‖²), ε = 1e-7 in float32 and 2e-16 in float64. Centred rows (give `pack` and
`expand` the same centre) have the same distances and the smallest norms. Sums over the rows of a
block are taken in the dtype of the panels, sums over blocks in float64.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from maxmargin.hardware.arrays import Entries, Floats, Numbers, Real, Reals, RealType
from maxmargin.hardware.jit import compiled, inner, small
from maxmargin.hardware.simd import LANES, ROWS, UNIT, aligned, multiply, put
from maxmargin.hardware.symmetric import mirror_rows
from maxmargin.hardware.threads import run_split
from maxmargin.kernels.form import Form, apply, multiply_by

# All keep data in a cache; docs/speed.md, "Constants", has the times with other values.
BLOCK = 24  # rows of Z whose entries with a panel, t and f(t), are in the first-level cache
STRIP = 8 * BLOCK  # rows of Z whose entries are mirrored together, in the second-level cache
CACHE = 1 << 18  # bytes of right rows, or of panels, in the second-level cache

Part: TypeAlias = tuple[int, int, int, int]  # first row, end of the rows, first panel, end


def pack(
    X: Reals,
    dtype: RealType,
    centre: Floats | None = None,
    numbers: Numbers | None = None,
    threads: int = 1,
) -> Reals:
    """Panels of the left rows (x, ‖x‖², 1), after x is moved by −centre; zeros fill the last one.

    All rows of X, or those with the given numbers.

    Examples
    --------
    >>> panels = pack(np.array([[1.0, 2.0], [3.0, 4.0]]), np.float64)
    >>> panels.shape == (1, 4, LANES[8])
    True
    >>> panels[0, :, :2]
    array([[ 1.,  3.],
           [ 2.,  4.],
           [ 5., 25.],
           [ 1.,  1.]])
    """
    numbers = np.arange(len(X)) if numbers is None else numbers
    n, d, lanes = len(numbers), X.shape[1], LANES[np.dtype(dtype).itemsize]
    panels = aligned((-(-n // lanes), d + 2, lanes), dtype)
    _lay_rows(X, numbers, centre, (1.0, 0.0, 1.0, 1.0, 0.0), panels.transpose(0, 2, 1), threads)
    return panels


def expand(
    Z: Reals,
    form: Form,
    dtype: RealType,
    centre: Floats | None = None,
    numbers: Numbers | None = None,
    threads: int = 1,
) -> Reals:
    """Right rows (scale z, square, square ‖z‖² + offset); zeros fill up to a multiple of BLOCK."""
    numbers = np.arange(len(Z)) if numbers is None else numbers
    m, d = len(numbers), Z.shape[1]
    rows = np.zeros((-(-m // BLOCK) * BLOCK // ROWS, ROWS, d + 2), dtype)
    ends = (form.square, 0.0, form.offset, form.square)
    _lay_rows(Z, numbers, centre, (form.scale, *ends), rows, threads)
    return rows


def _lay_rows(
    X: Reals,
    numbers: Numbers,
    centre: Floats | None,
    factors: tuple[float, ...],
    out: Reals,
    threads: int,
) -> None:
    """Copy rows of X, moved and scaled, with their two last entries to `out`, maybe transposed."""
    shift = np.zeros(X.shape[1]) if centre is None else centre  # float64: rounded once, when moved
    strides = tuple(step // out.itemsize for step in out.strides)
    flat = (out if out.flags.c_contiguous else out.transpose(0, 2, 1)).reshape(-1)
    numbers = np.ascontiguousarray(numbers)  # other strides or whole factors would be other types,
    factors = tuple(map(float, factors))  # for which numba compiles again
    lay = partial(_lay, X, numbers, shift, factors, out.shape[1], strides, flat)
    run_split(lay, len(numbers), len(numbers) * X.shape[1], threads)


def block(
    panels: Reals,
    rows: Reals,
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
        fill(panels, rows, form.power, factor, half, adds, *ends, *space(panels), out)

    run_parts(part, len(out), len(panels), half, _work(panels, rows), threads)
    return out


def run_parts(
    run: Callable[[Part], None], m: int, panels: int, half: bool, work: float, threads: int
) -> None:
    """Call `run` for parts of m rows and all panels.

    Parts of a half are strips of rows, the longest rows first; others are of the panels.
    """
    strips = -(-m // STRIP)

    def from_below(start: int, stop: int) -> None:
        run(((strips - stop) * STRIP, min((strips - start) * STRIP, m), 0, panels))

    if half:
        run_split(from_below, strips, work / 2, threads)
    else:
        run_split(lambda start, stop: run((0, m, start, stop)), panels, work, threads)


def dot(panels: Reals, rows: Reals, form: Form, coef: Floats, threads: int = 1) -> Floats:
    """Σ_j coef_j k(x_i, z_j) for every x_i, in float64; then of the zeros in the last panel."""
    blocks = np.zeros((len(rows) * ROWS // BLOCK, BLOCK), rows.dtype)
    blocks.ravel()[: len(coef)] = form.factor * coef
    step = max(1, CACHE // (BLOCK * panels.shape[1] * panels.itemsize))
    out = np.zeros((len(panels), panels.shape[2]))

    def part(start: int, stop: int) -> None:
        weigh(panels, rows, blocks, step, form.power, start, stop, *space(panels), out)

    run_split(part, len(panels), _work(panels, rows), threads)
    return out.ravel()


def space(panels: Reals) -> tuple[Reals, Reals]:
    """Working memory of a thread: t and f(t) of a block."""
    t, y = aligned((2, BLOCK * panels.shape[2]), panels.dtype)
    return t, y


def _work(panels: Reals, rows: Reals) -> float:
    """Nanoseconds, roughly, at fifty multiplications each."""
    return panels.size * len(rows) * ROWS / 50


@compiled(fastmath={"contract", "reassoc"})
def _lay(
    X: Reals,
    numbers: Numbers,
    shift: Reals,
    factors: tuple[float, ...],
    group: int,
    strides: tuple[int, ...],
    out: Reals,
    start: int,
    stop: int,
) -> None:
    """Row r becomes (scale x, a + b‖x‖², c + d‖x‖²) at place r % group of group r // group."""
    of_group, of_row, of_column = strides
    scale, a, b, c, d = factors
    for r in range(start, stop):
        i, place, norm = numbers[r], r // group * of_group + r % group * of_row, 0.0
        for k in range(X.shape[1]):
            x = out.dtype.type(X[i, k] - shift[k])
            norm += np.float64(x) * np.float64(x)
            out[place] = out.dtype.type(scale) * x
            place += of_column
        out[place] = a + b * norm
        out[place + of_column] = c + d * norm


@compiled(fastmath={"contract"})
def weigh(
    panels: Reals,
    rows: Reals,
    blocks: Reals,
    step: int,
    power: int | None,
    start: int,
    stop: int,
    t: Reals,
    y: Reals,
    out: Entries,
) -> None:
    """out[p, l] += Σ_j coef_j f(t) for the row x in lane l of panel p, start ≤ p < stop.

    The coefficients come in `blocks`; `step` blocks at a time are multiplied with all panels.
    """
    lanes = panels.shape[2]
    tiles = t.size // (ROWS * lanes)  # BLOCK // ROWS, but a loop that is not unrolled: less code
    for first in range(0, len(blocks), step):
        last = first + step if first + step < len(blocks) else len(blocks)
        for p in range(start, stop):
            for b in range(first, last):
                for r in range(tiles):
                    multiply(rows, b * tiles + r, panels, p, t, r * ROWS * lanes)
                apply(power, t, y)
                multiply(blocks, b, y, 0, t, 0)
                for l in range(lanes):
                    out[p, l] += t[l]


@compiled(fastmath={"contract"})
def fill(
    panels: Reals,
    rows: Reals,
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

    If half: for i ≤ j, and out[i, j] = out[j, i], a strip of rows at a time while it is in the
    cache, so that the mirror image is written in long pieces.

    For each block of z as many panels as stay in the second-level cache take turns, so that rows
    of `out` are written in long pieces, too.
    """
    lanes = panels.shape[2]
    tiles = t.size // (ROWS * lanes)  # BLOCK // ROWS, but a loop that is not unrolled: less code
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
                    for r in range(tiles):
                        multiply(rows, j // ROWS + r, panels, p, t, r * ROWS * lanes)
                    apply(power, t, y)
                    multiply_by(factor, y)
                    i = p * lanes
                    if add is not None:
                        add_entries(out, j, i, lanes, y)
                    for r in range(min(BLOCK, end_of_strip - j)):
                        end = j + r + 1 if half else n
                        if i + lanes <= end:
                            put(y, r * lanes, out, j + r, i)
                        else:
                            put_some(y, r * lanes, out, j + r, i, end - i)
            if half:
                right = min((first + step) * lanes, n)
                mirror_rows(out, strip, end_of_strip, first * lanes, right)


@small()
def put_some(y: Reals, o: int, out: Entries, j: int, i: int, count: int) -> None:
    """As `put`, for fewer numbers than a vector has."""
    for l in range(count):
        out[j, i + l] = y[o + l] * UNIT + 0.5 if out.itemsize == 2 else y[o + l]


@inner()
def add_entries(out: Entries, j: int, i: int, lanes: int, y: Reals) -> None:
    """y += the entries of `out` from (j, i) on, as far as there are any; y has rows of `lanes`."""
    for r in range(min(BLOCK, out.shape[0] - j)):
        for l in range(min(lanes, out.shape[1] - i)):
            y[r * lanes + l] += out[j + r, i + l]
