"""An array inside compiled code: a value of seven fields; the first two say who owns it."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

NITEMS, ITEMSIZE, DATA, SHAPE, STRIDES = range(2, 7)


def lengths(builder: ir.IRBuilder, array: ir.Value, ndim: int) -> list[ir.Value]:
    """The numbers of its shape."""
    return [builder.extract_value(array, (SHAPE, k)) for k in range(ndim)]


def address(
    builder: ir.IRBuilder, array: ir.Value, shape: Sequence[ir.Value], place: Sequence[ir.Value]
) -> ir.Value:
    """Where array[place] is, of an array in C's order; missing numbers of the place are 0."""
    data, offset = builder.extract_value(array, DATA), None
    for k, number in enumerate(place):
        step = None
        for length in shape[k + 1 :]:
            step = length if step is None else builder.mul(step, length)
        part = number if step is None else builder.mul(number, step)
        offset = part if offset is None else builder.add(offset, part)
    return data if offset is None else builder.gep(data, [offset])
