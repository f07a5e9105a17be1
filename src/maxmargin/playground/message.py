"""What travels between a page and Python: values that JSON has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TypeAlias

JSON: TypeAlias = "Mapping[str, JSON] | Sequence[JSON] | str | float | None"
Message: TypeAlias = dict[str, JSON]


def finite(value: float) -> float | None:
    """A number, or nothing: JSON has no ∞ and no NaN.

    Examples
    --------
    >>> finite(0.5), finite(float("inf"))
    (0.5, None)
    """
    return value if isfinite(value) else None
