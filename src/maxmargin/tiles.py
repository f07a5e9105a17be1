"""The fused kernel tile: kernel entries are computed in registers, used at once, never stored.

Every kernel here is a function f of one inner product t of slightly longer rows:

    linear       x·z                    f(t) = t         t = ⟨(x, ‖x‖², 1), (z, 0, 0)⟩
    polynomial   (γ x·z + c)^d          f(t) = t^d       t = ⟨(x, ‖x‖², 1), (γz, 0, c)⟩
    sigmoid      tanh(γ x·z + c)        f(t) = tanh t    t = ⟨(x, ‖x‖², 1), (γz, 0, c)⟩
    RBF          exp(−γ‖x − z‖²)        f(t) = 2^t       t = ⟨(x, ‖x‖², 1), (2gz, −g, −g‖z‖²)⟩

with g = γ log₂e. `pack` lays out the left rows once per fit, whatever the kernel; `expand` makes
the right rows of the kernel's `Form`; then a tile is a small matrix product followed by f:

    panels (⌈n/LANES⌉, d+2, LANES)    LANES rows of X side by side: a column of them is one vector
    rows   (⌈m/ROWS⌉, ROWS, d+2)      ROWS rows of Z: their ROWS × LANES sums fill the registers

f runs over a block of BLOCK × LANES entries, small enough for the first-level cache, and `weigh`
multiplies the block by its coefficients before the next one is made.

How exact it is: a distance is a small difference of large norms, so t carries an error of about
ε γ(‖x‖² + ‖z‖²), ε = 1e-7 in float32 and 2e-16 in float64. Centred rows (give `pack` and `expand`
the same centre) have the same distances and the smallest norms. Sums over the rows of a block
are taken in the dtype of the panels, sums over blocks in float64.
"""

import math
from functools import partial, singledispatch
from typing import Any, NamedTuple

import numpy as np

from maxmargin.compiled import compiled, inner
from maxmargin.kernels import RBF, Kernel, Linear, Polynomial, Sigmoid, number
from maxmargin.resources import run_split
from maxmargin.vectors import LANES, ROWS, aligned, exp2, multiply, put

TANH = -1
BLOCK = 24
STRIP = 32
CACHE = 1 << 18  # bytes of right rows, or of panels, that stay in the second-level cache


class Form(NamedTuple):
    """A kernel as f(t), t = scale x·z + square (‖x‖² + ‖z‖²) + offset.

    f(t) is the `power` of t, tanh t if that is TANH, and 2^t if there is none.
    """

    power: int | None
    scale: float = 1.0
    square: float = 0.0
    offset: float = 0.0


@singledispatch
def form(kernel: Kernel) -> Form | None:
    """The kernel as a `Form`; None if it is not of that kind."""
    return None


@form.register
def _(kernel: Linear) -> Form:
    return Form(1)


@form.register
def _(kernel: Polynomial) -> Form:
    return Form(int(kernel.degree), number(kernel.gamma), 0, kernel.coef0)


@form.register
def _(kernel: Sigmoid) -> Form:
    return Form(TANH, number(kernel.gamma), 0, kernel.coef0)


@form.register
def _(kernel: RBF) -> Form:
    g = number(kernel.gamma) * math.log2(math.e)
    return Form(None, 2 * g, -g)


def pack(
    X: np.ndarray,
    dtype: Any,
    centre: np.ndarray | None = None,
    numbers: np.ndarray | None = None,
    threads: int = 1,
) -> np.ndarray:
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
    Z: np.ndarray,
    form: Form,
    dtype: Any,
    centre: np.ndarray | None = None,
    numbers: np.ndarray | None = None,
    threads: int = 1,
) -> np.ndarray:
    """Right rows (scale z, square, square ‖z‖² + offset); zeros fill up to a multiple of BLOCK."""
    numbers = np.arange(len(Z)) if numbers is None else numbers
    m, d = len(numbers), Z.shape[1]
    rows = np.zeros((-(-m // BLOCK) * BLOCK // ROWS, ROWS, d + 2), dtype)
    ends = (form.square, 0.0, form.offset, form.square)
    _lay_rows(Z, numbers, centre, (form.scale, *ends), rows, threads)
    return rows


def _lay_rows(
    X: np.ndarray,
    numbers: np.ndarray,
    centre: np.ndarray | None,
    factors: tuple[float, ...],
    out: np.ndarray,
    threads: int,
) -> None:
    """Lay rows of X, moved and scaled, with their two last entries into `out`, maybe transposed."""
    shift = np.zeros(X.shape[1], X.dtype) if centre is None else centre.astype(X.dtype)
    strides = tuple(step // out.itemsize for step in out.strides)
    flat = (out if out.flags.c_contiguous else out.transpose(0, 2, 1)).reshape(-1)
    numbers = np.ascontiguousarray(numbers)  # a slice with a step would be compiled for anew
    factors = tuple(map(float, factors))  # and so would whole numbers
    lay = partial(_lay, X, numbers, shift, factors, out.shape[1], strides, flat)
    run_split(lay, len(numbers), len(numbers) * X.shape[1], threads)


def block(
    panels: np.ndarray, rows: np.ndarray, form: Form, out: np.ndarray, threads: int = 1
) -> np.ndarray:
    """out[j, i] = k(x_i, z_j) for the x packed in `panels` and the z expanded in `rows`."""

    def part(start: int, stop: int) -> None:
        fill(panels, rows, form.power, False, start, stop, *space(panels), out)

    run_split(part, len(panels), _work(panels, rows), threads)
    return out


def square(
    panels: np.ndarray, rows: np.ndarray, form: Form, out: np.ndarray, threads: int = 1
) -> np.ndarray:
    """`block` of rows with themselves: one half is computed, the other is its mirror image."""

    def part(start: int, stop: int) -> None:
        fill(panels, rows, form.power, True, start, stop, *space(panels), out)

    run_split(part, len(panels), _work(panels, rows) / 2, threads)
    return symmetric(out, threads)


def symmetric(out: np.ndarray, threads: int) -> np.ndarray:
    """Copy what is below the diagonal to its mirror image."""
    strips = -(-len(out) // STRIP)
    run_split(partial(mirror, out), strips, out.size, threads)
    return out


def dot(
    panels: np.ndarray, rows: np.ndarray, form: Form, coef: np.ndarray, threads: int = 1
) -> np.ndarray:
    """Σ_j coef_j k(x_i, z_j) for every x_i, in float64; zeros of a last panel included."""
    blocks = np.zeros((len(rows) * ROWS // BLOCK, BLOCK), rows.dtype)
    blocks.ravel()[: len(coef)] = coef
    step = max(1, CACHE // (BLOCK * panels.shape[1] * panels.itemsize))
    out = np.zeros((len(panels), panels.shape[2]))

    def part(start: int, stop: int) -> None:
        weigh(panels, rows, blocks, step, form.power, start, stop, *space(panels), out)

    run_split(part, len(panels), _work(panels, rows), threads)
    return out.ravel()


def space(panels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where a thread keeps t and f(t) of a block."""
    size = BLOCK * panels.shape[2]
    return aligned((size,), panels.dtype), aligned((size,), panels.dtype)


def _work(panels: np.ndarray, rows: np.ndarray) -> float:
    """Nanoseconds, roughly, at fifty multiplications each."""
    return panels.size * len(rows) * ROWS / 50


@compiled(fastmath={"contract", "reassoc"})
def _lay(X, numbers, shift, factors, group, strides, out, start, stop):
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


@inner(fastmath={"contract"})
def apply(power, t, y):
    """y = f(t), entry by entry. Numba compiles the branch that the type of `power` leaves."""
    if power is None:
        for e in range(t.size):
            y[e] = exp2(t[e])
    elif power == TANH:
        for e in range(t.size):
            u = exp2(-abs(t[e]) * t.dtype.type(2 / math.log(2)))
            y[e] = math.copysign((1 - u) / (1 + u), t[e])
    else:
        for e in range(t.size):
            y[e] = 1
        for _ in range(power):
            for e in range(t.size):
                y[e] *= t[e]


@compiled(fastmath={"contract"})
def weigh(panels, rows, blocks, step, power, start, stop, t, y, out):
    """out[p, l] += Σ_j coef_j k(x, z_j) for the row x in lane l of panel p, start ≤ p < stop.

    The coefficients come in `blocks`, of which `step` at a time pass by all panels.
    """
    lanes, tiles = panels.shape[2], BLOCK // ROWS
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
def fill(panels, rows, power, half, start, stop, t, y, out):
    """out[j, i] = k(x_i, z_j) for the rows x_i in the panels start ≤ p < stop; half: for i ≤ j.

    As many panels as stay in the second-level cache take turns with each block of z, so that rows
    of `out` are written in long pieces.
    """
    lanes, tiles = panels.shape[2], BLOCK // ROWS
    m, n = out.shape
    step = 1 + CACHE // (panels.shape[1] * lanes * panels.itemsize)
    for first in range(start, stop, step):
        for j in range(first * lanes // BLOCK * BLOCK if half else 0, m, BLOCK):
            last = first + step if first + step < stop else stop
            if half and (j + BLOCK - 1) // lanes < last:
                last = (j + BLOCK - 1) // lanes + 1
            for p in range(first, last):
                for r in range(tiles):
                    multiply(rows, j // ROWS + r, panels, p, t, r * ROWS * lanes)
                apply(power, t, y)
                i = p * lanes
                for r in range(BLOCK if j + BLOCK < m else m - j):
                    if i + lanes <= n:
                        put(y, r * lanes, out, j + r, i)
                    else:
                        for l in range(n - i):
                            out[j + r, i + l] = y[r * lanes + l]


@compiled()
def mirror(out, start, stop):
    """out[i, j] = out[j, i] for i < j and the i in the strips start ≤ s < stop.

    Squares of STRIP × STRIP entries, which stay in the first-level cache.
    """
    n = len(out)
    for top in range(start * STRIP, min(stop * STRIP, n), STRIP):
        for left in range(top, n, STRIP):
            for i in range(top, min(top + STRIP, n)):
                for j in range(max(left, i + 1), min(left + STRIP, n)):
                    out[i, j] = out[j, i]
