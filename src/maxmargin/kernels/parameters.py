"""The parameters of a kernel by name, those of its parts behind two underscores."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

K = TypeVar("K")


def parameters(kernel: Any, deep: bool) -> dict[str, Any]:
    """Every parameter; if `deep`, those of the kernels it is made of too.

    Examples
    --------
    >>> from maxmargin.kernels import RBF, Linear
    >>> parameters(Linear() + 0.5 * RBF(gamma=2.0), deep=True)["right__kernel__gamma"]
    2.0
    """
    own = {each.name: getattr(kernel, each.name) for each in fields(kernel)}
    parts = {name: value for name, value in own.items() if deep and is_dataclass(value)}
    return own | {
        f"{name}__{key}": value
        for name, part in parts.items()
        for key, value in parameters(part, deep).items()
    }


def with_parameters(kernel: K, changes: dict[str, Any]) -> K:
    """A copy with other parameters.

    Examples
    --------
    >>> from maxmargin.kernels import RBF, Linear
    >>> with_parameters(Linear() + RBF(gamma=2.0), {"right__gamma": 3.0})
    Sum(left=Linear(), right=RBF(gamma=3.0))
    """
    new = parameters(kernel, deep=False)
    for key, value in changes.items():
        name, _, rest = key.partition("__")
        if name not in new or (rest and not is_dataclass(new[name])):
            known = sorted(parameters(kernel, deep=True))
            raise ValueError(f"{type(kernel).__name__} has no parameter {key!r}; there are {known}")
        new[name] = with_parameters(new[name], {rest: value}) if rest else value
    return type(kernel)(**new)
