"""The ideas of maxmargin's solver, each switched off in turn, to see what it gains.

An idea is a name and constructor arguments of SVC; the table it becomes needs nothing else.
"""

from typing import Any

from .peers import Maxmargin

IDEAS: list[tuple[str, dict[str, Any]]] = [
    ("as it is", {}),
]


def variants(dtype: str = "float32") -> list[Maxmargin]:
    return [Maxmargin(name, dtype, options) for name, options in IDEAS]
