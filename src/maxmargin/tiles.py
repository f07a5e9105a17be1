"""The fused kernel tile: kernel entries are computed in registers, used at once, never stored.

Every kernel here is a function f of one inner product t of slightly longer rows:

    linear       x·z                    f(t) = t         t = ⟨(x, ‖x‖², 1), (z, 0, 0)⟩
    polynomial   (γ x·z + c)^d          f(t) = t^d       t = ⟨(x, ‖x‖², 1), (γz, 0, c)⟩
    sigmoid      tanh(γ x·z + c)        f(t) = tanh t    t = ⟨(x, ‖x‖², 1), (γz, 0, c)⟩
    RBF          exp(−γ‖x − z‖²)        f(t) = 2^t       t = ⟨(x, ‖x‖², 1), (2gz, −g, −g‖z‖²)⟩

with g = γ log₂e. `pack` lays out the left rows once per fit, whatever the kernel; `expand` makes
the right rows of a `Form`; then a tile is a small matrix product followed by f:

    panels (⌈n/LANES⌉, d+2, LANES)    LANES rows of X side by side: a column of them is one vector
    rows   (⌈m/ROWS⌉, ROWS, d+2)      ROWS rows of Z: their ROWS × LANES sums fill the registers

The product is the one thing the compiler does not find by itself (plain loops reach half of its
speed), so `_multiply` spells it in LLVM's vectors. The rest is plain: f runs over a block of
BLOCK × LANES entries, small enough for the first-level cache, and `weigh` multiplies the block by
its coefficients before the next one is made.

How exact it is: a distance is a small difference of large norms, so t carries an error of about
ε γ(‖x‖² + ‖z‖²), ε = 1e-7 in float32 and 2e-16 in float64. Centred rows (give `pack` and `expand`
the same centre) have the same distances and the smallest norms. Sums over the rows of a block
are taken in the dtype of the panels, sums over blocks in float64.
"""

import math
import platform
from typing import NamedTuple

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable

EXP2, TANH = -1, -2  # f; a number from 0 up is the power of t


class Form(NamedTuple):
    """A kernel as f(t), t = scale x·z + square (‖x‖² + ‖z‖²) + offset."""

    function: int
    scale: float = 1.0
    square: float = 0.0
    offset: float = 0.0


def rbf(gamma: float) -> Form:
    """exp(−γ‖x − z‖²) as a power of two."""
    g = gamma * float(np.log2(np.e))
    return Form(EXP2, 2 * g, -g)


def _registers() -> tuple[int, int]:
    """Bytes in a vector register of this CPU, and the number of them."""
    features = llvmlite.binding.get_host_cpu_features()
    if features.get("avx512f"):
        return 64, 32
    if features.get("avx"):
        return 32, 16
    return 16, 32 if platform.machine() in ("aarch64", "arm64") else 16


# Two registers per vector; the sums take three quarters of all registers, operands the rest.
_BYTES, _REGISTERS = _registers()
LANES = {4: 2 * _BYTES // 4, 8: 2 * _BYTES // 8}  # by the bytes of a number
ROWS = 3 * _REGISTERS // 8
BLOCK = 24
CACHE = 1 << 18  # bytes of right rows that stay in the second-level cache while panels pass


def pack(X: np.ndarray, centre: np.ndarray | None = None) -> np.ndarray:
    """Panels of the left rows (x, ‖x‖², 1), after x is moved by −centre; zeros fill the last one.

    Examples
    --------
    >>> panels = pack(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> panels.shape == (1, 4, LANES[8])
    True
    >>> panels[0, :, :2]
    array([[ 1.,  3.],
           [ 2.,  4.],
           [ 5., 25.],
           [ 1.,  1.]])
    """
    rows = _long_rows(X, centre, LANES[X.dtype.itemsize])
    rows[: len(X), -1] = 1
    panels = rows.reshape(-1, LANES[X.dtype.itemsize], rows.shape[1])
    return np.ascontiguousarray(panels.transpose(0, 2, 1))


def expand(Z: np.ndarray, form: Form, centre: np.ndarray | None = None) -> np.ndarray:
    """Right rows (scale z, square, square ‖z‖² + offset), BLOCK or a multiple: zeros fill up."""
    rows = _long_rows(Z, centre, BLOCK)
    m, d = Z.shape
    rows[:m, d + 1] = form.square * rows[:m, d] + form.offset
    rows[:m, d] = form.square
    rows[:m, :d] *= Z.dtype.type(form.scale)
    return rows.reshape(-1, ROWS, d + 2)


def _long_rows(X: np.ndarray, centre: np.ndarray | None, multiple: int) -> np.ndarray:
    """Rows (x − centre, ‖x − centre‖², 0), and rows of zeros up to a multiple."""
    m, d = X.shape
    rows = np.zeros((-(-m // multiple) * multiple, d + 2), X.dtype)
    x = rows[:m, :d]
    np.subtract(X, 0 if centre is None else centre, out=x, casting="same_kind")
    rows[:m, d] = np.einsum("ij,ij->i", x, x, dtype=np.float64)
    return rows


def multiply(rows, j, panels, p, out, o):
    """out[o] = rows[j] @ panels[p]: compiled, the sums stay in vector registers."""
    out[o] = rows[j] @ panels[p]


@type_callable(multiply)
def _type_multiply(context):
    return lambda rows, j, panels, p, out, o: types.none


@lower_builtin(
    multiply, types.Array, types.Integer, types.Array, types.Integer, types.Array, types.Integer
)
def _lower_multiply(context, builder, signature, args):
    """Rows of `rows` are (ROWS, K) matrices or vectors of K; one sum per row is carried over k."""
    rows_type, _, panels_type, _, out_type, _ = signature.args
    rows, j, panels, p, out, o = args
    sums_carried = ROWS if rows_type.ndim == 3 else 1
    size = panels_type.dtype.bitwidth // 8
    lanes = LANES[size]
    index = context.get_value_type(types.intp)
    vector = ir.VectorType(context.get_value_type(panels_type.dtype), lanes)
    zero = ir.Constant(vector, [0.0] * lanes)
    to_all_lanes = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)

    def array(kind, value):
        return context.make_array(kind)(context, builder, value)

    def address(kind, value, *place):
        place = (*place, *[index(0)] * kind.ndim)[: kind.ndim]
        return cgutils.get_item_pointer(context, builder, kind, array(kind, value), place)

    length = builder.extract_value(array(panels_type, panels).shape, 1)
    z = [address(rows_type, rows, j, index(r)) for r in range(sums_carried)]
    x = builder.bitcast(address(panels_type, panels, p), vector.as_pointer())
    y = builder.bitcast(address(out_type, out, o), vector.as_pointer())
    start, loop, end = builder.block, builder.append_basic_block(), builder.append_basic_block()
    builder.branch(loop)

    builder.position_at_end(loop)
    k = builder.phi(index)
    sums = [builder.phi(vector) for _ in z]
    column = builder.load(builder.gep(x, [k]), align=size)
    totals = []
    for z_r, carried in zip(z, sums, strict=True):
        entry = builder.insert_element(zero, builder.load(builder.gep(z_r, [k])), index(0))
        entry = builder.shuffle_vector(entry, zero, to_all_lanes)
        product = builder.fmul(entry, column, flags=["contract"])
        totals.append(builder.fadd(carried, product, flags=["contract"]))
        carried.add_incoming(zero, start)
        carried.add_incoming(totals[-1], loop)
    following = builder.add(k, index(1))
    k.add_incoming(index(0), start)
    k.add_incoming(following, loop)
    builder.cbranch(builder.icmp_signed("<", following, length), loop, end)

    builder.position_at_end(end)
    for r, total in enumerate(totals):
        builder.store(total, builder.gep(y, [index(r)]), align=size)
    return context.get_dummy_value()


def exp2(t):
    """2^min(t, 0): compiled, a few multiplications that vectorise."""
    return np.exp2(min(t, t.dtype.type(0)))


@type_callable(exp2)
def _type_exp2(context):
    return lambda t: t


@lower_builtin(exp2, types.Float)
def _lower_exp2(context, builder, signature, args):
    """2^t = 2^n 2^f, n whole and |f| ≤ ½: Taylor's series of 2^f, and n added to its exponent.

    Adding the large number 1.5·2^mantissa rounds t to n and leaves n in the lowest bits.
    """
    (t,) = args
    number = t.type
    mantissa, terms, smallest = (23, 7, -126) if number == ir.FloatType() else (52, 14, -1022)
    whole_number = ir.IntType(signature.args[0].bitwidth)

    zero = ir.Constant(number, 0.0)
    t = builder.select(builder.fcmp_ordered(">", t, zero), zero, t)
    large = ir.Constant(number, 1.5 * 2.0**mantissa)
    shifted = builder.fadd(t, large)
    f = builder.fsub(t, builder.fsub(shifted, large))
    power = zero
    for k in reversed(range(terms)):
        power = builder.fmul(power, f, flags=["contract"])
        coefficient = ir.Constant(number, math.log(2) ** k / math.factorial(k))
        power = builder.fadd(power, coefficient, flags=["contract"])
    n = builder.shl(builder.bitcast(shifted, whole_number), whole_number(mantissa))
    power = builder.bitcast(builder.add(builder.bitcast(power, whole_number), n), number)
    underflow = builder.fcmp_ordered("<", t, ir.Constant(number, float(smallest)))
    return builder.select(underflow, zero, power)


@njit(cache=True, nogil=True, fastmath={"contract"})
def _apply(function, t, y):
    """y = f(t), entry by entry."""
    if function == EXP2:
        for e in range(t.size):
            y[e] = exp2(t[e])
    elif function == TANH:
        for e in range(t.size):
            u = exp2(-abs(t[e]) * t.dtype.type(2 / math.log(2)))
            y[e] = math.copysign((1 - u) / (1 + u), t[e])
    else:
        y[:] = 1
        for _ in range(function):
            for e in range(t.size):
                y[e] *= t[e]


@njit(cache=True, nogil=True, fastmath={"contract"})
def weigh(panels, rows, coef, function, start, stop, out):
    """out[p, l] += Σ_j coef_j k(x, z_j) for the row x in lane l of panel p, start ≤ p < stop."""
    lanes, tiles = panels.shape[2], BLOCK // ROWS
    t = np.empty((tiles, ROWS, lanes), panels.dtype)
    y = np.empty((1, BLOCK, lanes), panels.dtype)
    flat_t, flat_y = t.reshape(-1), y.reshape(-1)
    total = np.empty((1, lanes), panels.dtype)
    blocks = coef.reshape(-1, BLOCK)
    step = max(1, CACHE // (BLOCK * panels.shape[1] * panels.itemsize))
    for first in range(0, len(blocks), step):
        for p in range(start, stop):
            for b in range(first, min(first + step, len(blocks))):
                for r in range(tiles):
                    multiply(rows, b * tiles + r, panels, p, t, r)
                _apply(function, flat_t, flat_y)
                multiply(blocks, b, y, 0, total, 0)
                for l in range(lanes):
                    out[p, l] += total[0, l]


@njit(cache=True, nogil=True, fastmath={"contract"})
def fill(panels, rows, function, start, stop, out):
    """out[j, i] = k(x_i, z_j) for the rows x_i in the panels start ≤ p < stop."""
    lanes, tiles = panels.shape[2], BLOCK // ROWS
    t = np.empty((tiles, ROWS, lanes), panels.dtype)
    y = np.empty((BLOCK, lanes), panels.dtype)
    flat_t, flat_y = t.reshape(-1), y.reshape(-1)
    m, n = out.shape
    for p in range(start, stop):
        i = p * lanes
        width = min(lanes, n - i)
        for j in range(0, m, BLOCK):
            for r in range(tiles):
                multiply(rows, j // ROWS + r, panels, p, t, r)
            _apply(function, flat_t, flat_y)
            for r in range(min(BLOCK, m - j)):
                for l in range(width):
                    out[j + r, i + l] = y[r, l]
