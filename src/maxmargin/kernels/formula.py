"""A kernel as a formula tree of plain values, and back: what a model file stores.

    RBF(gamma=0.5)                   {"type": "RBF", "gamma": 0.5}
    Linear() + 2 * RBF(gamma=0.5)    {"type": "Sum", "left": {"type": "Linear"}, "right": {"type":
                                      "Scaled", "factor": 2.0, "kernel": {"type": "RBF", …}}}

A function or class of the user's own is in the tree by its name only, and is given again to make
the kernel: a tree is data, and nothing that it names is looked up or run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np

from maxmargin.kernels.kernel import NUMBERS, Constant, Kernel, Product, Scaled, Sum
from maxmargin.kernels.own import Pairwise, Vectorized
from maxmargin.kernels.standard import RBF, Laplacian, Linear, Polynomial, Precomputed, Sigmoid

Tree: TypeAlias = dict[str, Any]
# The user's own functions, kernel classes and kernels, by their names.
Own: TypeAlias = Mapping[str, Callable[..., Any]]

DEEPEST = 100  # levels of a tree: far more than anyone composes, far less than Python's stack
OWN = "own"  # the type of a node that is a kernel class of the user's own
STANDARD: dict[str, type[Kernel]] = {
    kind.__name__: kind
    for kind in (
        Linear,
        Polynomial,
        RBF,
        Laplacian,
        Sigmoid,
        Precomputed,
        Constant,
        Scaled,
        Sum,
        Product,
        Vectorized,
        Pairwise,
    )
}


def tree_of(kernel: Kernel, depth: int = 0) -> Tree:
    """The tree of a kernel.

    Examples
    --------
    >>> tree_of(Linear() + 1)
    {'type': 'Sum', 'left': {'type': 'Linear'}, 'right': {'type': 'Constant', 'value': 1.0}}
    """
    if depth == DEEPEST:
        raise ValueError(f"the kernel is composed of more than {DEEPEST} levels")
    values = {each.name: getattr(kernel, each.name) for each in fields(kernel)}
    plain = {name: _plain(value, name, depth) for name, value in values.items()}
    name = type(kernel).__name__
    if STANDARD.get(name) is type(kernel):
        return {"type": name, **plain}
    return {"type": OWN, "name": name, "parameters": plain}


def _plain(value: Any, name: str, depth: int) -> Any:
    if isinstance(value, Kernel):
        return tree_of(value, depth + 1)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, *NUMBERS)):
        return value
    if callable(value):
        return {"function": name_of(value)}
    raise ValueError(f"{name}={value!r} of the kernel is neither a number, a word nor a function")


def name_of(function: Callable[..., Any]) -> str:
    """The name by which a function is in a tree."""
    return str(getattr(function, "__name__", type(function).__name__))


def kernel_of(tree: Any, own: Own, depth: int = 0) -> Kernel:
    """The kernel of a tree.

    Parameters
    ----------
    own : the functions and kernel classes that the tree names; a kernel stands for its class

    Raises
    ------
    ValueError
        If the tree is not that of a kernel, or names something that is not in `own`.

    Examples
    --------
    >>> kernel_of({"type": "Scaled", "factor": 2.0, "kernel": {"type": "RBF", "gamma": 0.5}}, {})
    Scaled(factor=2.0, kernel=RBF(gamma=0.5))
    """
    if depth == DEEPEST:
        raise ValueError(f"the kernel is composed of more than {DEEPEST} levels")
    if not isinstance(tree, dict) or not isinstance(tree.get("type"), str):
        raise ValueError("a kernel is described by an object with a 'type'")
    values = {name: value for name, value in tree.items() if name != "type"}
    kind = STANDARD.get(tree["type"])
    if tree["type"] == OWN:
        kind, values = _own_kernel(values, own)
    if kind is None:
        raise ValueError(f"there is no kernel {tree['type']!r}")
    wanted = {each.name for each in fields(kind)}
    if values.keys() != wanted:
        raise ValueError(
            f"kernel {tree['type']!r} has the parameters {sorted(wanted)}, not {sorted(values)}"
        )
    made = {name: _made(value, own, depth) for name, value in values.items()}
    _check(kind, made)
    return kind(**made)


def _own_kernel(values: dict[str, Any], own: Own) -> tuple[type[Kernel], dict[str, Any]]:
    given, parameters = given_again(values.get("name"), own), values.get("parameters")
    kind = type(given) if isinstance(given, Kernel) else given
    if not (isinstance(kind, type) and issubclass(kind, Kernel) and isinstance(parameters, dict)):
        raise ValueError(f"kernel {values.get('name')!r} is a class, and {given!r} was given")
    return kind, parameters


def given_again(name: Any, own: Own) -> Callable[..., Any]:
    """What the user gave for a name in the tree."""
    if name not in own:
        raise ValueError(
            f"it uses a kernel of your own, {name!r}: give it again, load(path, kernel={name}), "
            "or several as a dict by their names"
        )
    return own[name]


def _made(value: Any, own: Own, depth: int) -> Any:
    if not isinstance(value, dict):
        return value
    if value.keys() == {"function"}:
        return given_again(value["function"], own)
    return kernel_of(value, own, depth + 1)


def _check(kind: type[Kernel], values: dict[str, Any]) -> None:
    """Refuse values of a wrong type, which the constructors themselves do not all look at."""
    for name, value in values.items():
        if name in ("left", "right", "kernel"):
            right = isinstance(value, Kernel)
        elif name == "function":
            right = callable(value)
        elif STANDARD.get(kind.__name__) is not kind:
            right = True  # a class of the user's own knows
        elif name == "degree":
            right = type(value) is int and value <= 1000
        else:
            rule = name == "gamma" and value in ("scale", "auto")
            right = rule or (type(value) in (int, float) and np.isfinite(value))
        if not right:
            raise ValueError(f"{name}={value!r} cannot be that of the kernel {kind.__name__}")
