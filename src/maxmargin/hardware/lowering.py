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
from typing import Any, NamedTuple

from llvmlite import ir as llvm
from numba.core import cgutils, ir
from numba.core import types as numba_types
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs
from numba.core.lowering import Lower
from numba.np import arrayobj

from maxmargin.hardware.array_value import (
    DATA,
    ITEMSIZE,
    NITEMS,
    SHAPE,
    STRIDES,
    address,
    lengths,
)

types: Any = numba_types
FIELDS = {"size": NITEMS, "itemsize": ITEMSIZE, "shape": SHAPE}
READS = ("getattr", "static_getitem", "getiter", "iternext", "pair_first", "pair_second")
RANGES = types.RangeType, types.RangeIteratorType
PLAIN = (types.Array, types.Pair, *RANGES)


class Span(NamedTuple):
    """The value of range(start, stop)."""

    start: Any
    stop: Any


class Count(NamedTuple):
    """The value of its iterator: where the next number is, and how many are left."""

    number: Any
    left: Any


class PlainLower(Lower):
    """Of functions that count no references."""

    _singly_assigned_vars: set[str]
    _blk_local_varmap: dict[str, Any]
    _spans: bool  # whether ranges and their iterators need no memory

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
        others = (self.typeof(name) for name in times if name not in single)
        self._spans = not any(isinstance(kind, RANGES) for kind in others)

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

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        with self.builder.goto_entry_block():
            return self.builder.alloca(lltype, name=name)

    def lower_inst(self, inst: Any) -> None:
        if isinstance(inst, ir.StaticSetItem) and inst.index_var is not None:
            signature = self.fndesc.calltypes[inst]
            if places(*signature.args[:2]):
                self.lower_setitem(inst.target, inst.index_var, inst.value, signature)
                return
        super().lower_inst(inst)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        kind, index, given = signature.args
        count = places(kind, index)
        if count != getattr(kind, "ndim", None) or isinstance(given, types.Array):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        place = self._place(target_var, index_var, kind, index)
        value = self._cast(value_var, given)
        value = self.context.cast(self.builder, value, given, kind.dtype)
        return arrayobj.store_item(self.context, self.builder, kind, value, place)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        kind, of = signature.args
        count = places(kind, of)
        if not count or not (count == kind.ndim or kind.layout == "C"):
            return super().lower_getitem(resty, expr, value, index, signature)
        place = self._place(value, index, kind, of)
        if count == kind.ndim:
            item = arrayobj.load_item(self.context, self.builder, kind, place)
        else:
            item = self._row(self.loadvar(value.name), count, kind, signature.return_type, place)
        return self.context.cast(self.builder, item, signature.return_type, resty)

    def _cast(self, variable: Any, kind: Any) -> Any:
        """The value of a variable as this type."""
        name = variable.name
        return self.context.cast(self.builder, self.loadvar(name), self.typeof(name), kind)

    def _place(self, variable: Any, index_variable: Any, kind: Any, index: Any) -> Any:
        """The address of array[index]."""
        array, given = self.loadvar(variable.name), self._cast(index_variable, index)
        is_tuple = isinstance(index, types.BaseTuple)
        numbers = cgutils.unpack_tuple(self.builder, given, len(index)) if is_tuple else [given]
        of = index.types if is_tuple else [index]
        builder, shape = self.builder, lengths(self.builder, array, kind.ndim)
        numbers = [
            number
            if getattr(number, "constant", -1) >= 0  # known, and not negative
            else arrayobj.fix_integer_index(self.context, builder, each, number, length)
            for number, each, length in zip(numbers, of, shape, strict=False)
        ]
        if kind.layout != "C":
            data = builder.extract_value(array, DATA)
            steps = builder.extract_value(array, STRIDES)
            return cgutils.get_item_pointer2(
                *(self.context, builder, data, shape, cgutils.unpack_tuple(builder, steps)),
                *(kind.layout, numbers),
            )
        return address(builder, array, shape, numbers)

    def _row(self, array: Any, count: int, kind: Any, view: Any, place: Any) -> Any:
        """array[i], which begins at this place and has no owner."""
        builder = self.builder
        left = lengths(builder, array, kind.ndim)[count:]
        entries = left[0]
        for length in left[1:]:
            entries = builder.mul(entries, length)
        row = llvm.Constant(self.context.get_value_type(view), None)
        row = builder.insert_value(row, entries, NITEMS)
        row = builder.insert_value(row, builder.extract_value(array, ITEMSIZE), ITEMSIZE)
        row = builder.insert_value(row, place, DATA)
        for k, length in enumerate(left):
            row = builder.insert_value(row, length, (SHAPE, k))
            step = builder.extract_value(array, (STRIDES, count + k))
            row = builder.insert_value(row, step, (STRIDES, k))
        return row

    def lower_expr(self, resty: Any, expr: Any) -> Any:
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

    def lower_call(self, resty: Any, expr: Any) -> Any:
        function = getattr(self.typeof(expr.func.name), "typing_key", None)
        kinds = self.fndesc.calltypes[expr].args
        if function is len and isinstance(kinds[0], types.Array):
            return self.builder.extract_value(self.loadvar(expr.args[0].name), (SHAPE, 0))
        if function is range and self._spans and len(kinds) == len(expr.args) < 3:
            ends = [self._cast(arg, kind) for arg, kind in zip(expr.args, kinds, strict=True)]
            return Span(*ends) if len(ends) == 2 else Span(ends[0].type(0), ends[0])
        return super().lower_call(resty, expr)

    def _start(self, span: Span) -> Count:
        """A loop begins: its number, and how many are left."""
        builder = self.builder
        number, left = (self.alloca_lltype(name, span.start.type) for name in ("number", "left"))
        length = builder.sub(span.stop, span.start)
        none = length.type(0)
        builder.store(span.start, number)
        builder.store(builder.select(builder.icmp_signed(">", length, none), length, none), left)
        return Count(number, left)

    def _next(self, count: Count, kind: Any) -> Any:
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


def places(kind: Any, index: Any) -> int:
    """How many dimensions of an array the index takes a number of; 0 if it is another index."""
    if not isinstance(kind, types.Array) or not kind.aligned:
        return 0
    of = index.types if isinstance(index, types.BaseTuple) else (index,)
    whole = 0 < len(of) <= kind.ndim and all(isinstance(each, types.Integer) for each in of)
    return len(of) if whole else 0
