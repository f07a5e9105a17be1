"""max(a, b) and min(a, b) of two numbers, as two instructions.

numba compiles a function for each pair of types, a twentieth of a second.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.core.imputils import lower_builtin
from numba.core.typing import Context, Signature

Extreme: TypeAlias = Callable[[float, float], float]


def extreme(
    function: types.Function,
    context: Context,
    args: Sequence[types.Type],
    keywords: Mapping[str, types.Type],
) -> tuple[Signature, Extreme] | None:
    """The signature of max(a, b) or min(a, b) of numbers, and its implementation's key."""
    of = EXTREMES.get(getattr(function, "typing_key", None))
    numbers = all(isinstance(each, (types.Integer, types.Float)) for each in args)
    if of is None or len(args) != 2 or keywords or not numbers:
        return None
    kind = context.unify_types(*map(types.unliteral, args))
    return Signature(kind, (kind, kind), None), of


def greater(a: float, b: float) -> float:
    """As Python's max(a, b)."""
    return b if b > a else a


def smaller(a: float, b: float) -> float:
    """As Python's min(a, b)."""
    return b if b < a else a


EXTREMES: dict[object, Extreme] = {max: greater, min: smaller}


def _chosen(
    compare: Callable[..., object],
    context: BaseContext,
    builder: ir.IRBuilder,
    signature: Signature,
    args: tuple[ir.Value, ...],
) -> ir.Value:
    """The second where it compares to the first so, as Python has it; they may be NaN."""
    a, b = args
    of_two = Signature(types.boolean, signature.args, None)
    return builder.select(context.get_function(compare, of_two)(builder, (b, a)), b, a)


for _extreme, _compare in ((greater, operator.gt), (smaller, operator.lt)):
    lower_builtin(_extreme, types.Number, types.Number)(partial(_chosen, _compare))
