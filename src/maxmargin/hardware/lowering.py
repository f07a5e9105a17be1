"""From numba's typed functions to LLVM's instructions, with few of them.

numba writes some thirty instructions to read one entry of an array, and eighty for a loop over a
range: every array is stored in memory for each access, and every variable is cleared before and
after its life, for the sake of reference counts. The optimiser removes all of that; but to write it
down, to read it and to remove it takes half of the time to compile. Here

- a variable that is assigned once, before all its uses, is its value and has no memory;
- entries and rows of arrays, their shapes and lengths are taken from the array as it is;
- a loop over range(n) or range(m, n) is a number and a count.

Everything else is numba's. Values and wrapped negative indices are the same.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple, TypeAlias

from llvmlite import ir as llvm
from numba import types
from numba.core import cgutils, ir
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs
from numba.core.lowering import Lower
from numba.core.typing import Signature

from maxmargin.hardware.array_value import (
    DATA,
    ITEMSIZE,
    NITEMS,
    SHAPE,
    STRIDES,
    address,
    lengths,
)

FIELDS = {"size": NITEMS, "itemsize": ITEMSIZE, "shape": SHAPE}
ITEMS = ir.SetItem, ir.StaticSetItem
READS = ("getattr", "static_getitem", "getiter", "iternext", "pair_first", "pair_second")
RANGES = types.RangeType, types.RangeIteratorType
PLAIN = (types.Array, types.Pair, *RANGES)
USED = (  # below: what a numba lacks of it is an AttributeError here, not at the first fit
    *(Lower._find_singly_assigned_variable, Lower.lower_block, Lower.lower_assign),
    *(Lower.getvar, Lower.loadvar, Lower.storevar, Lower.alloca_lltype, Lower.lower_inst),
    *(Lower.lower_setitem, Lower.lower_getitem, Lower.lower_expr, Lower.lower_call),
    cgutils.get_item_pointer2,
)


class Span(NamedTuple):
    """The value of range(start, stop), or of slice(start, stop), whose ends may be None."""

    start: llvm.Value
    stop: llvm.Value


Places: TypeAlias = list[llvm.Value | Span]  # of each dimension a number, or a part of it


class Count(NamedTuple):
    """The value of its iterator: where the next number is, and how many are left."""

    number: llvm.Value
    left: llvm.Value


class PlainLower(Lower):
    """Of functions that count no references."""

    _singly_assigned_vars: set[str]
    _blk_local_varmap: dict[str, llvm.Value]
    _spans: bool  # whether ranges and their iterators need no memory
    _parts: bool  # whether slices need none

    def _find_singly_assigned_variable(self) -> None:
        """Variables that need no memory: one assignment, in a block that comes before all uses."""
        found = compute_use_defs(self.blocks)
        times = Counter(
            statement.target.name
            for block in self.blocks.values()
            for statement in block.find_insts(ir.Assign)
        )
        single = {name for name, count in times.items() if count == 1}
        home = {name: label for label, names in found.defmap.items() for name in names}
        before = compute_cfg_from_blocks(self.blocks).dominators()
        for label, names in found.usemap.items():
            single -= {
                name
                for name in single.intersection(names)
                if not (home[name] < label and home[name] in before[label])
            }
        self._singly_assigned_vars, self._blk_local_varmap = single, {}
        others = [self.typeof(name) for name in times if name not in single]
        self._spans = not any(isinstance(kind, RANGES) for kind in others)
        self._parts = not any(map(has_slice, others)) and all(
            signature is None
            or not has_slice(signature.args[1])
            or (isinstance(each, ir.Expr) and places(*signature.args, parts=True))
            for each, signature in self.fndesc.calltypes.items()
            if isinstance(each, ITEMS) or getattr(each, "op", "") in ("getitem", "static_getitem")
        )

    def lower_block(self, block: ir.Block) -> None:
        self.pre_block(block)
        for statement in block.body:
            self.loc = statement.loc
            if isinstance(statement, ir.Assign):
                name = statement.target.name
                self.storevar(self.lower_assign(self.typeof(name), statement), name)
            elif not isinstance(statement, ir.Del):
                self.lower_inst(statement)
        self.post_block(block)

    def storevar(self, value: llvm.Value, name: str, argidx: int | None = None) -> None:
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def alloca_lltype(self, name: str, lltype: llvm.Type, datamodel: object = None) -> llvm.Value:
        with self.builder.goto_entry_block():
            return self.builder.alloca(lltype, name=name)

    def lower_inst(self, inst: ir.Stmt) -> None:
        if isinstance(inst, ir.StaticSetItem) and inst.index_var is not None:
            signature = self.fndesc.calltypes[inst]
            if places(*signature.args[:2]):
                self.lower_setitem(inst.target, inst.index_var, inst.value, signature)
                return
        super().lower_inst(inst)

    def lower_setitem(
        self, target_var: ir.Var, index_var: ir.Var, value_var: ir.Var, signature: Signature
    ) -> llvm.Value:
        kind, index, given = signature.args
        if places(kind, index) != getattr(kind, "ndim", None) or isinstance(given, types.Array):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        array = self.loadvar(target_var.name)
        place = self._place(array, kind, self._numbers(array, kind, index_var, index))
        value = self._cast(value_var, given)
        value = self.context.cast(self.builder, value, given, kind.dtype)
        return self.context.pack_value(self.builder, kind.dtype, value, place)

    def lower_getitem(
        self, resty: types.Type, expr: ir.Expr, value: ir.Var, index: ir.Var, signature: Signature
    ) -> llvm.Value:
        kind, of = signature.args
        count = places(kind, of, parts=self._parts)
        if not count or not (count == kind.ndim or kind.layout == "C"):
            return super().lower_getitem(resty, expr, value, index, signature)
        array = self.loadvar(value.name)
        numbers = self._numbers(array, kind, index, of)
        if isinstance(signature.return_type, types.Array):
            item = self._view(array, kind, numbers, signature.return_type)
        else:
            place = self._place(array, kind, numbers)
            item = self.context.unpack_value(self.builder, kind.dtype, place)
        return self.context.cast(self.builder, item, signature.return_type, resty)

    def _cast(self, variable: ir.Var, kind: types.Type) -> llvm.Value:
        """The value of a variable as this type."""
        name = variable.name
        return self.context.cast(self.builder, self.loadvar(name), self.typeof(name), kind)

    def _numbers(
        self, array: llvm.Value, kind: types.Type, variable: ir.Var, index: types.Type
    ) -> Places:
        """Of each dimension that the index takes: a number, or the Span of a slice."""
        given = self.loadvar(variable.name)
        if isinstance(given, Span):
            given, of = [given], [index]
        elif isinstance(given, tuple):  # with slices: not cast
            of = self.typeof(variable.name).types
        else:
            given = self._cast(variable, index)
            is_tuple = isinstance(index, types.BaseTuple)
            of = index.types if is_tuple else [index]
            given = cgutils.unpack_tuple(self.builder, given, len(of)) if is_tuple else [given]
        shape = lengths(self.builder, array, kind.ndim)
        return [self._within(*each) for each in zip(given, of, shape, strict=False)]

    def _within(self, number: llvm.Value, kind: types.Type, length: llvm.Value) -> llvm.Value:
        """A number of the dimension: counted from its end if it is negative."""
        builder, none = self.builder, length.type(0)
        if isinstance(number, Span):
            start, stop = (self._bound(end, length) for end in number)
            return Span(none if start is None else start, length if stop is None else stop)
        if getattr(number, "constant", -1) >= 0:  # known before
            return number
        number = self.context.cast(
            builder, number, kind, types.intp if kind.signed else types.uintp
        )
        if not kind.signed:
            return number
        negative = builder.icmp_signed("<", number, none)
        return builder.select(negative, builder.add(number, length), number)

    def _bound(self, end: llvm.Value | None, length: llvm.Value) -> llvm.Value | None:
        """The end of a slice: between 0 and the length; None if it has none."""
        if end is None:
            return None
        builder, none = self.builder, length.type(0)
        end = self._within(end, types.intp, length)
        end = builder.select(builder.icmp_signed("<", end, none), none, end)
        return builder.select(builder.icmp_signed(">=", end, length), length, end)

    def _place(self, array: llvm.Value, kind: types.Array, numbers: Places) -> llvm.Value:
        """The address of an entry."""
        builder, shape = self.builder, lengths(self.builder, array, kind.ndim)
        if kind.layout == "C":
            return address(builder, array, shape, numbers)
        data = builder.extract_value(array, DATA)
        steps = cgutils.unpack_tuple(builder, builder.extract_value(array, STRIDES))
        return cgutils.get_item_pointer2(
            self.context, builder, data, shape, steps, kind.layout, numbers
        )

    def _view(
        self, array: llvm.Value, kind: types.Type, numbers: Places, view: types.Array
    ) -> llvm.Value:
        """A part of an array, which has no owner."""
        builder = self.builder
        shape = lengths(builder, array, kind.ndim)
        spans: list[Any] = [Span(None, length) for length in shape]
        spans[: len(numbers)] = numbers
        kept = [k for k, span in enumerate(spans) if isinstance(span, Span)]
        starts = [number.start if isinstance(number, Span) else number for number in numbers]
        part = llvm.Constant(self.context.get_value_type(view), None)
        part = builder.insert_value(part, address(builder, array, shape, starts), DATA)
        part = builder.insert_value(part, builder.extract_value(array, ITEMSIZE), ITEMSIZE)
        entries = None
        for place, k in enumerate(kept):
            length = self._length(spans[k]) if k < len(numbers) else shape[k]
            entries = length if entries is None else builder.mul(entries, length)
            part = builder.insert_value(part, length, (SHAPE, place))
            step = builder.extract_value(array, (STRIDES, k))
            part = builder.insert_value(part, step, (STRIDES, place))
        return builder.insert_value(part, entries, NITEMS)

    def _length(self, span: Span) -> llvm.Value:
        """How many numbers it has."""
        length = self.builder.sub(span.stop, span.start)
        none = length.type(0)
        return self.builder.select(self.builder.icmp_signed(">", length, none), length, none)

    def lower_expr(self, resty: types.Type, expr: ir.Expr) -> llvm.Value:
        if expr.op == "build_tuple" and self._parts and has_slice(resty):
            return tuple(
                self.loadvar(item.name) if has_slice(kind) else self._cast(item, kind)
                for item, kind in zip(expr.items, resty.types, strict=True)
            )
        kind = self.typeof(expr.value.name) if expr.op in READS else None
        value = self.loadvar(expr.value.name) if isinstance(kind, PLAIN) else None
        if isinstance(kind, types.Array):
            if expr.op == "getattr" and expr.attr in FIELDS:
                return self.builder.extract_value(value, FIELDS[expr.attr])
            if expr.op == "static_getitem" and expr.index_var is not None:
                signature = self.fndesc.calltypes[expr]
                return self.lower_getitem(resty, expr, expr.value, expr.index_var, signature)
        elif isinstance(kind, types.Pair):
            return self.builder.extract_value(value, 0 if expr.op == "pair_first" else 1)
        elif isinstance(value, Span):
            return self._start(value) if expr.op == "getiter" else getattr(value, expr.attr)
        elif isinstance(value, Count):
            return self._next(value, resty)
        return super().lower_expr(resty, expr)

    def lower_call(self, resty: types.Type, expr: ir.Expr) -> llvm.Value:
        function = getattr(self.typeof(expr.func.name), "typing_key", None)
        kinds = self.fndesc.calltypes[expr].args
        if function is len and isinstance(kinds[0], types.Array):
            return self.builder.extract_value(self.loadvar(expr.args[0].name), (SHAPE, 0))
        if function is range and self._spans and len(kinds) == len(expr.args) < 3:
            ends = [self._cast(arg, kind) for arg, kind in zip(expr.args, kinds, strict=True)]
            return Span(*ends) if len(ends) == 2 else Span(ends[0].type(0), ends[0])
        if function is slice and self._parts and len(kinds) == len(expr.args) == 2:
            ends = [
                None if kind is types.none else self._cast(arg, types.intp)
                for arg, kind in zip(expr.args, kinds, strict=True)
            ]
            return Span(*ends)
        return super().lower_call(resty, expr)

    def _start(self, span: Span) -> Count:
        """A loop begins: its number, and how many are left."""
        builder = self.builder
        number, left = (self.alloca_lltype(name, span.start.type) for name in ("number", "left"))
        builder.store(span.start, number)
        builder.store(self._length(span), left)
        return Count(number, left)

    def _next(self, count: Count, kind: types.Type) -> llvm.Value:
        """The number, and whether there is one."""
        builder = self.builder
        left, number = builder.load(count.left), builder.load(count.number)
        one = left.type(1)
        builder.store(builder.sub(left, one, flags=["nsw"]), count.left)
        builder.store(builder.add(number, one), count.number)
        pair = llvm.Constant(self.context.get_value_type(kind), llvm.Undefined)
        pair = builder.insert_value(pair, number, 0)
        there = builder.icmp_signed(">", left, left.type(0))
        return builder.insert_value(pair, there, 1)


def places(kind: types.Type, index: types.Type, *, parts: bool = False) -> int:
    """How many dimensions of an array the index takes; 0 if it is not of numbers (or parts)."""
    if not isinstance(kind, types.Array) or not kind.aligned:
        return 0
    of = index.types if isinstance(index, types.BaseTuple) else (index,)
    plain = all(
        isinstance(each, types.Integer)
        or (parts and kind.layout == "C" and has_slice(each) and not each.has_step)
        for each in of
    )
    return len(of) if plain and 0 < len(of) <= kind.ndim else 0


def has_slice(kind: types.Type) -> bool:
    """Whether values of this type are slices, or have some in them."""
    if isinstance(kind, types.BaseTuple):
        return any(map(has_slice, kind.types))
    return isinstance(kind, types.SliceType)
