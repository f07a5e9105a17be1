"""The fused tile for dense rows: kernel entries are computed in registers, and used at once.

A term of a kernel (see `Form`) is f of one inner product of slightly longer rows,

    t = scale x·z + square (‖x‖² + ‖z‖²) + offset
      = ⟨(x, ‖x‖², 1), (scale z, square, square ‖z‖² + offset)⟩,

so `pack` lays out the left rows once per fit, whatever the kernel, `expand` makes the right rows of
a form, and a tile is a small matrix product followed by f:

    panels (⌈n/PANEL⌉, d+2, PANEL)    PANEL rows of X side by side: a column of them is two vectors
    rows   (⌈m/GROUP⌉, d+2, GROUP)    GROUP rows of Z: their GROUP × PANEL sums fill the registers

f is applied to BLOCK × PANEL entries at a time, which are used before the next ones are computed.
`core/tile.hpp` and `core/dense_tile.hpp` are the loops.

Precision: a distance is a small difference of large norms, so t carries an error of about
ε |square| (‖x‖² + ‖z‖²), ε = 1e-7 in float32 and 2e-16 in float64. Centred rows (give `pack` and
`expand` the same centre) have the same distances and the smallest norms. Sums over the rows of a
block are taken in the dtype of the panels, sums over blocks in float64.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from maxmargin.core import native
from maxmargin.kernels.form import Form
from maxmargin.resources.arrays import Entries, Floats, Numbers, Reals, RealType
from maxmargin.resources.memory import aligned
from maxmargin.resources.threads import run_split

BLOCK, GROUP, PANEL = native.BLOCK, native.GROUP, native.PANEL
STRIP = 8 * BLOCK  # rows of Z whose entries are mirrored together, in the second-level cache

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
    >>> panels.shape == (1, 4, PANEL[8])
    True
    >>> panels[0, :, :2]
    array([[ 1.,  3.],
           [ 2.,  4.],
           [ 5., 25.],
           [ 1.,  1.]])
    """
    numbers = np.arange(len(X)) if numbers is None else numbers
    n, d, lanes = len(numbers), X.shape[1], PANEL[np.dtype(dtype).itemsize]
    panels = aligned((-(-n // lanes), d + 2, lanes), dtype)
    _lay(X, numbers, centre, (1.0, 0.0, 1.0, 1.0, 0.0), panels, threads)
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
    rows = np.zeros((-(-m // BLOCK) * BLOCK // GROUP, d + 2, GROUP), dtype)
    ends = (form.square, 0.0, form.offset, form.square)
    _lay(Z, numbers, centre, (form.scale, *ends), rows, threads)
    return rows


def _lay(
    X: Reals,
    numbers: Numbers,
    centre: Floats | None,
    factors: tuple[float, float, float, float, float],
    out: Reals,
    threads: int,
) -> None:
    """Row r of `out` is (scale x, a + b‖x‖², c + d‖x‖²), for x moved by −centre."""
    shift = np.zeros(X.shape[1]) if centre is None else centre  # float64: rounded once, when moved
    numbers = np.ascontiguousarray(numbers, np.int64)

    def part(start: int, stop: int) -> None:
        native.lay(X, numbers, shift, *factors, start, stop, out)

    run_split(part, len(numbers), len(numbers) * X.shape[1], threads)


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

    def part(ends: Part) -> None:
        native.dense_fill(panels, rows, form.power, form.factor, half, add, *ends, out)

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
    padded = np.zeros(len(rows) * GROUP, rows.dtype)
    padded[: len(coef)] = form.factor * coef
    out = np.zeros((len(panels), panels.shape[2]))

    def part(start: int, stop: int) -> None:
        native.dense_weigh(panels, rows, padded, form.power, start, stop, out)

    run_split(part, len(panels), _work(panels, rows), threads)
    return out.ravel()


def _work(panels: Reals, rows: Reals) -> float:
    """Nanoseconds, roughly, at fifty multiplications each."""
    return panels.size * len(rows) * GROUP / 50
