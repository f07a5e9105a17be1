"""Six operations that LLVM does not vectorise well by itself, written with its vector types.

Each is a plain Python function, which says what it computes and runs when the JIT is off, and a
lowering: the instructions that numba puts in its place inside compiled code. Everything else is
left to plain loops, which LLVM vectorises without help.

    multiply   a small matrix product whose sums stay in registers (plain loops: half the speed)
    gather     the same product for one sparse row: only the columns it has
    put        one vector stored, where a loop would first test how long it is; or rounded
    transpose  a square of a matrix copied to its mirror image, turned in registers
    exp2       2^t by a polynomial, in any loop, without a vendor's library
    larger     max(a, b) that may be reordered, so that the maximum of a loop is vectorised
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias, TypeVar

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.core.typing import Signature
from numba.extending import lower_builtin, type_callable

from maxmargin.hardware.array_value import SHAPE, address, lengths
from maxmargin.hardware.arrays import Entries, Index, Numbers, Real, Reals

Number = TypeVar("Number", bound=Real)
Typer: TypeAlias = Callable[..., types.Type]  # the type of a result, from those of arguments


def _registers() -> tuple[int, int]:
    """Bytes in a vector register of this CPU, and the number of them."""
    features = llvmlite.binding.get_host_cpu_features()
    if features.get("avx512f"):
        return 64, 32
    if features.get("avx"):
        return 32, 16
    return 16, 32 if platform.machine() in ("aarch64", "arm64") else 16


# The shape of a tile: LANES numbers (two registers) by ROWS rows. Their sums take three quarters of
# all registers: more would not stay in them, fewer would load operands more often.
_BYTES, _REGISTERS = _registers()
LANES = {4: 2 * _BYTES // 4, 8: 2 * _BYTES // 8}  # by the bytes of a number
ROWS = 3 * _REGISTERS // 8
# The exponent below which `exp2` gives 0, by the bytes of a number. A product below the smallest
# normal number, 2^-126 in float32, takes a hundred times as long as any other: with these entries
# no coefficient above 2^-62 makes one (letter, a narrow kernel: Kβ took 119 ms, now 11).
LEAST = {4: -64, 8: -1022}
WIDE = 2  # vectors of LANES numbers side by side for sparse rows, of which one sum is kept
SQUARE = 8  # rows and columns that are transposed in registers: a power of two
UNIT = 65535  # what 1 is stored as where entries in [0, 1] have 16 bits


def multiply(rows: Reals, j: Index, panels: Reals, p: int, out: Reals, o: int) -> None:
    """out[o:] = rows[j] @ panels[p]: compiled, the sums stay in vector registers.

    `out` is flat, and so may `panels` be: it then has one panel, which begins at p.
    """
    K, lanes = rows.shape[-1], LANES[out.itemsize]
    panel = panels[p] if panels.ndim > 1 else panels[p : p + K * lanes].reshape(K, lanes)
    product = rows[j] @ panel
    out[o : o + product.size] = product.ravel()


@type_callable(multiply)
def _type_multiply(context: BaseContext) -> Typer:
    return lambda rows, j, panels, p, out, o: types.none


@lower_builtin(
    multiply, types.Array, types.Integer, types.Array, types.Integer, types.Array, types.Integer
)
def _lower_multiply(
    context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: tuple[ir.Value, ...]
) -> ir.Value:
    """rows[j] is a (ROWS, K) matrix or a vector of K numbers; the loop carries a sum per row."""
    rows_type, _, panels_type, _, out_type, _ = signature.args
    rows, j, panels, p, out, o = args
    sums_carried = ROWS if rows_type.ndim == 3 else 1
    size = panels_type.dtype.bitwidth // 8
    lanes = LANES[size]
    index = context.get_value_type(types.intp)
    vector = ir.VectorType(context.get_value_type(panels_type.dtype), lanes)
    zero = ir.Constant(vector, [0.0] * lanes)

    start_of = partial(_address, builder)
    length = builder.extract_value(rows, (SHAPE, rows_type.ndim - 1))
    z = [start_of(rows_type, rows, j, index(r)) for r in range(sums_carried)]
    x = builder.bitcast(start_of(panels_type, panels, p), vector.as_pointer())
    y = builder.bitcast(start_of(out_type, out, o), vector.as_pointer())
    start, loop, end = builder.block, builder.append_basic_block(), builder.append_basic_block()
    builder.branch(loop)

    builder.position_at_end(loop)
    k = builder.phi(index)
    sums = [builder.phi(vector) for _ in z]
    column = builder.load(builder.gep(x, [k]), align=size)
    totals = []
    for z_r, carried in zip(z, sums, strict=True):
        entry = _broadcast(builder, builder.load(builder.gep(z_r, [k])), vector)
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


def gather(
    columns: Numbers,
    values: Reals,
    start: int,
    stop: int,
    panels: Reals,
    p: int,
    out: Reals,
    o: int,
) -> None:
    """out[o:] = values[start:stop] @ panels[p, columns[start:stop]], an even number of them.

    `out` is flat, and so may `panels` be: it then has one panel, which begins at p.
    """
    lanes = WIDE * LANES[out.itemsize]
    panel = panels[p] if panels.ndim > 1 else panels[p:].reshape(-1, lanes)
    out[o : o + lanes] = values[start:stop] @ panel[columns[start:stop]]


@type_callable(gather)
def _type_gather(context: BaseContext) -> Typer:
    return lambda columns, values, start, stop, panels, p, out, o: types.none


@lower_builtin(
    gather,
    *(types.Array, types.Array, types.Integer, types.Integer),
    *(types.Array, types.Integer, types.Array, types.Integer),
)
def _lower_gather(
    context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: tuple[ir.Value, ...]
) -> ir.Value:
    """The loop carries a sum of WIDE × LANES numbers; two columns a turn hide the time of loads."""
    columns_type, values_type, _, _, panels_type, _, out_type, _ = signature.args
    columns, values, start, stop, panels, p, out, o = args
    size = panels_type.dtype.bitwidth // 8
    index = context.get_value_type(types.intp)
    vector = ir.VectorType(context.get_value_type(panels_type.dtype), WIDE * LANES[size])
    zero = ir.Constant(vector, [0.0] * vector.count)

    column = _address(builder, columns_type, columns)
    value = _address(builder, values_type, values)
    x = builder.bitcast(_address(builder, panels_type, panels, p), vector.as_pointer())
    y = builder.bitcast(_address(builder, out_type, out, o), vector.as_pointer())
    before, loop, end = builder.block, builder.append_basic_block(), builder.append_basic_block()
    builder.branch(loop)

    builder.position_at_end(loop)
    k, carried = builder.phi(index), builder.phi(vector)
    following, total = k, carried
    for _ in range(2):
        place = builder.sext(builder.load(builder.gep(column, [following])), index)
        entry = _broadcast(builder, builder.load(builder.gep(value, [following])), vector)
        terms = builder.load(builder.gep(x, [place]), align=size)
        product = builder.fmul(entry, terms, flags=["contract"])
        total = builder.fadd(total, product, flags=["contract"])
        following = builder.add(following, index(1))
    carried.add_incoming(zero, before)
    carried.add_incoming(total, loop)
    k.add_incoming(start, before)
    k.add_incoming(following, loop)
    builder.cbranch(builder.icmp_signed("<", following, stop), loop, end)

    builder.position_at_end(end)
    builder.store(total, y, align=size)
    return context.get_dummy_value()


def _broadcast(builder: ir.IRBuilder, number: ir.Value, vector: ir.VectorType) -> ir.Value:
    """The number in every lane."""
    zero = ir.Constant(vector, [0.0] * vector.count)
    lane_zero = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(
        builder.insert_element(zero, number, ir.IntType(32)(0)), zero, lane_zero
    )


def _address(
    builder: ir.IRBuilder, kind: types.Array, array: ir.Value, *place: ir.Value
) -> ir.Value:
    """The address of array[place] in C's order or Fortran's; missing numbers are 0 in C's."""
    shape = lengths(builder, array, kind.ndim)
    if kind.layout == "F":
        shape, place = shape[::-1], place[::-1]
    return address(builder, array, shape, place)


def put(flat: Reals, o: int, out: Entries, j: int, i: int) -> None:
    """out[j, i : i + LANES] = flat[o : o + LANES]; values · UNIT, rounded, if `out` is unsigned."""
    values = flat[o : o + LANES[flat.itemsize]]
    if out.dtype.kind == "u":
        values = (values * UNIT + 0.5).astype(out.dtype)
    out[j, i : i + len(values)] = values


@type_callable(put)
def _type_put(context: BaseContext) -> Typer:
    return lambda flat, o, out, j, i: types.none


@lower_builtin(put, types.Array, types.Integer, types.Array, types.Integer, types.Integer)
def _lower_put(
    context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: tuple[ir.Value, ...]
) -> ir.Value:
    flat_type, _, out_type, _, _ = signature.args
    flat, o, out, j, i = args
    size, stored = flat_type.dtype.bitwidth // 8, out_type.dtype.bitwidth // 8
    vector = ir.VectorType(context.get_value_type(flat_type.dtype), LANES[size])
    target = ir.VectorType(context.get_value_type(out_type.dtype), LANES[size])
    source = builder.bitcast(_address(builder, flat_type, flat, o), vector.as_pointer())
    values = builder.load(source, align=size)
    if isinstance(out_type.dtype, types.Integer):
        values = builder.fmul(values, ir.Constant(vector, [float(UNIT)] * vector.count))
        values = builder.fadd(values, ir.Constant(vector, [0.5] * vector.count))
        wide = ir.VectorType(ir.IntType(32), vector.count)  # CPUs convert floats to 32 bits only
        values = builder.trunc(builder.fptosi(values, wide), target)
    place = builder.bitcast(_address(builder, out_type, out, j, i), target.as_pointer())
    builder.store(values, place, align=stored)
    return context.get_dummy_value()


def transpose(out: Entries, j: int, i: int) -> None:
    """out[i : i + SQUARE, j : j + SQUARE] = out[j : j + SQUARE, i : i + SQUARE].T."""
    out[i : i + SQUARE, j : j + SQUARE] = out[j : j + SQUARE, i : i + SQUARE].T.copy()


@type_callable(transpose)
def _type_transpose(context: BaseContext) -> Typer:
    return lambda out, j, i: types.none if out.layout in "CF" else None


@lower_builtin(transpose, types.Array, types.Integer, types.Integer)
def _lower_transpose(
    context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: tuple[ir.Value, ...]
) -> ir.Value:
    """For each bit of their numbers, lines that differ in it swap the lanes that differ in it."""
    kind, (out, j, i), lanes = signature.args[0], args, range(SQUARE)
    size, index = kind.dtype.bitwidth // 8, context.get_value_type(types.intp)
    number, order = context.get_value_type(kind.dtype), ir.VectorType(ir.IntType(32), SQUARE)
    vector = ir.VectorType(number, SQUARE)

    def line(row: ir.Value, column: ir.Value, k: int) -> ir.Value:
        """Row k of a square; or column k, where columns lie in one piece."""
        steps = (k, 0) if kind.layout == "C" else (0, k)
        place = map(builder.add, (row, column), map(index, steps))
        return builder.bitcast(_address(builder, kind, out, *place), vector.as_pointer())

    lines, bit = [builder.load(line(j, i, k), align=size) for k in lanes], SQUARE
    while bit := bit // 2:
        upper = [SQUARE + c - bit if c & bit else c for c in lanes]
        masks = [ir.Constant(order, mask) for mask in (upper, [c + bit for c in upper])]
        pairs = [(lines[k & ~bit], lines[k | bit], masks[k // bit % 2]) for k in lanes]
        lines = [builder.shuffle_vector(*pair) for pair in pairs]
    for k, values in enumerate(lines):
        builder.store(values, line(i, j, k), align=size)
    return context.get_dummy_value()


def exp2(t: np.floating[Any]) -> Real:
    """2^min(t, 0), or 0 below 2^LEAST: compiled, a few multiplications that are vectorised."""
    power: Real = np.exp2(min(t, t.dtype.type(0)))
    return power


@type_callable(exp2)
def _type_exp2(context: BaseContext) -> Typer:
    return lambda t: t


@lower_builtin(exp2, types.Float)
def _lower_exp2(
    context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: tuple[ir.Value, ...]
) -> ir.Value:
    """2^t = 2^n 2^f, n whole and |f| ≤ ½: Taylor's series of 2^f, and n added to its exponent.

    Adding the large number 1.5·2^mantissa rounds t to n and leaves n in the lowest bits.
    """
    (t,) = args
    number = t.type
    mantissa, terms, size = (23, 7, 4) if number == ir.FloatType() else (52, 14, 8)
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
    underflow = builder.fcmp_ordered("<", t, ir.Constant(number, float(LEAST[size])))
    return builder.select(underflow, zero, power)


def larger(a: Number, b: Number) -> Number:
    """max(a, b) of numbers that are not NaN: the form whose loops LLVM vectorises."""
    return max(a, b)


@type_callable(larger)
def _type_larger(context: BaseContext) -> Typer:
    return lambda a, b: a


@lower_builtin(larger, types.Float, types.Float)
def _lower_larger(
    context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: tuple[ir.Value, ...]
) -> ir.Value:
    flags = ["nnan", "nsz"]
    return builder.select(builder.fcmp_ordered(">", *args, flags=flags), *args, flags=flags)
