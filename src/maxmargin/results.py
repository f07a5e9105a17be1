"""How results look: a few lines at a prompt, a table in a notebook, arrays by their shape."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import fields
from enum import Enum
from html import escape
from typing import Any, ClassVar

import numpy as np

from maxmargin.resources.arrays import Labels

LONGEST = 6  # of an array or list that is shown whole


class Result:
    """Base of dataclasses that functions return: short at a prompt, a table in a notebook.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(repr=False)
    ... class Fall(Result):
    ...     heights: np.ndarray
    ...     seconds: float
    >>> Fall(np.zeros(500), 10.1234567)
    Fall(heights=<500 floats>, seconds=10.12)
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def _shown(self) -> dict[str, str]:
        """What is shown of each field."""
        return {each.name: brief(getattr(self, each.name)) for each in fields(self)}

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={text}" for name, text in self._shown().items())
        return f"{type(self).__name__}({parts})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>"
            for name, text in self._shown().items()
        )
        return f"<table><caption>{type(self).__name__}</caption>{rows}</table>"


def brief(value: Any) -> str:
    """A value in a few words.

    >>> brief(np.zeros((3, 40))), brief([0.1, 0.25]), brief({"a": 1.0})
    ('<3 × 40 floats>', '[0.1, 0.25]', '{a: 1}')
    """
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {brief(each)}" for name, each in value.items()) + "}"
    if hasattr(value, "_fields"):  # a named tuple
        parts = (f"{name}={brief(each)}" for name, each in zip(value._fields, value, strict=True))
        return f"{type(value).__name__}({', '.join(parts)})"
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        if len(value.shape) != 1 or len(value) > LONGEST or value.dtype.names:
            return f"<{' × '.join(f'{length:,}' for length in value.shape)} {kind_of(value)}>"
        return brief(value.tolist())
    if isinstance(value, list | tuple) and isinstance(value, Sized):
        if len(value) > LONGEST:
            return f"<{len(value):,} × {type(value[0]).__name__}>"
        return "[" + ", ".join(brief(each) for each in value) + "]"
    return repr(value)


KINDS = {"f": "floats", "i": "integers", "u": "integers", "b": "booleans", "U": "strings"}


def kind_of(array: Labels) -> str:
    """What an array is made of."""
    if array.dtype.names:
        return "records"
    return KINDS.get(array.dtype.kind, "objects")
