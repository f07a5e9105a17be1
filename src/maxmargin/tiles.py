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
from typing import Any, NamedTuple

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

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


def _multiply(rows, j, panels, p, out, o):
    """out[o] = rows[j] @ panels[p]; what `_vector_product` does in registers."""
    out[o] = rows[j] @ panels[p]


@overload(_multiply)
def _multiply_compiled(rows, j, panels, p, out, o):
    return lambda rows, j, panels, p, out, o: _vector_product(rows, j, panels, p, out, o)


@intrinsic
def _vector_product(context, rows, j, panels, p, out, o):
    """A row of `rows` is a (ROWS, K) matrix, or a vector of K: so many sums are carried over k."""
    count = ROWS if rows.ndim == 3 else 1
    lanes, size = LANES[panels.dtype.bitwidth // 8], panels.dtype.bitwidth // 8

    def codegen(context, builder, signature, args):
        rows_type, _, panels_type, _, out_type, _ = signature.args
        rows, j, panels, p, out, o = args
        index, number = ir.IntType(64), context.get_value_type(panels_type.dtype)
        vector = ir.VectorType(number, lanes)
        zero = ir.Constant(vector, [0.0] * lanes)
        broadcast = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)

        def address(array_type, array, *indices):
            indices = [*indices, *[index(0)] * (array_type.ndim - len(indices))]
            array = context.make_array(array_type)(context, builder, array)
            return cgutils.get_item_pointer(context, builder, array_type, array, indices)

        length = builder.extract_value(
            context.make_array(panels_type)(context, builder, panels).shape, 1
        )
        z = [address(rows_type, rows, j, *[index(r)][: rows_type.ndim - 2]) for r in range(count)]
        x = builder.bitcast(address(panels_type, panels, p), vector.as_pointer())
        start, loop, end = builder.block, builder.append_basic_block(), builder.append_basic_block()
        builder.branch(loop)

        builder.position_at_end(loop)
        k = builder.phi(index)
        sums = [builder.phi(vector) for _ in range(count)]
        column = builder.load(builder.gep(x, [k]), align=size)
        for r in range(count):
            entry = builder.insert_element(zero, builder.load(builder.gep(z[r], [k])), index(0))
            entry = builder.shuffle_vector(entry, zero, broadcast)
            term = builder.fmul(entry, column, flags=["contract"])
            sums[r].add_incoming(zero, start)
            sums[r].add_incoming(builder.fadd(sums[r], term, flags=["contract"]), loop)
        following = builder.add(k, index(1))
        k.add_incoming(index(0), start)
        k.add_incoming(following, loop)
        builder.cbranch(builder.icmp_signed("<", following, length), loop, end)

        builder.position_at_end(end)
        y = builder.bitcast(address(out_type, out, o), vector.as_pointer())
        for r in range(count):
            (_, _), (total, _) = sums[r].incomings
            builder.store(total, builder.gep(y, [index(r)]), align=size)
        return context.get_dummy_value()

    return types.void(rows, j, panels, p, out, o), codegen


_P32 = tuple(np.float32(math.log(2) ** k / math.factorial(k)) for k in range(7))
_P64 = tuple(math.log(2) ** k / math.factorial(k) for k in range(14))


@njit(nogil=True, fastmath={"contract"})
def _exp2_32(t):
    """2^t for t ≤ 0. Adding 3·2^22 rounds t to a whole number, left in the last bits."""
    t = np.float32(0) if t > 0 else t
    whole = np.float32(t + np.float32(3 << 22))
    f = np.float32(t - (whole - np.float32(3 << 22)))
    p = _P32[6]
    for k in range(5, -1, -1):
        p = _P32[k] + f * p
    bits = np.float32(p).view(np.int32) + (whole.view(np.int32) << np.int32(23))
    return np.float32(0) if t < -126 else np.int32(bits).view(np.float32)


@njit(nogil=True, fastmath={"contract"})
def _exp2_64(t):
    t = 0.0 if t > 0 else t
    whole = np.float64(t + (3 << 51))
    f = t - (whole - (3 << 51))
    p = _P64[13]
    for k in range(12, -1, -1):
        p = _P64[k] + f * p
    bits = np.float64(p).view(np.int64) + (whole.view(np.int64) << 52)
    return 0.0 if t < -1022 else np.int64(bits).view(np.float64)


def _exp2(t):
    return _exp2_32(t) if isinstance(t, np.float32) else _exp2_64(t)


@overload(_exp2, inline="always")
def _exp2_compiled(t):
    if t == types.float32:
        return lambda t: _exp2_32(t)
    return lambda t: _exp2_64(t)


@njit(nogil=True, fastmath={"contract"})
def _apply(function, t, y):
    """y = f(t), entry by entry."""
    if function == EXP2:
        for e in range(t.size):
            y[e] = _exp2(t[e])
    else:
        for e in range(t.size):
            y[e] = t[e]
        for _ in range(function - 1):
            for e in range(t.size):
                y[e] *= t[e]


@njit(cache=True, nogil=True, fastmath={"contract"})
def weigh(panels, rows, coef, function, start, stop, out):
    lanes = panels.shape[2]
    blocks, ones = len(rows) * ROWS // BLOCK, BLOCK // ROWS
    t = np.empty((ones, ROWS, lanes), panels.dtype)
    y = np.empty((1, BLOCK, lanes), panels.dtype)
    total = np.empty((1, lanes), panels.dtype)
    coef = coef.reshape(blocks, BLOCK)
    for p in range(start, stop):
        for b in range(blocks):
            for r in range(ones):
                _multiply(rows, b * ones + r, panels, p, t, r)
            _apply(function, t.reshape(-1), y.reshape(-1))
            _multiply(coef, b, y, 0, total, 0)
            for l in range(lanes):
                out[p, l] += total[0, l]
