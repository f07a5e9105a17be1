"""The program that makes the machine on the page."""

from __future__ import annotations

import re
from functools import singledispatch
from textwrap import fill

import numpy as np

from maxmargin.kernels import Scaled, Sum
from maxmargin.playground.catalogue import MACHINES
from maxmargin.playground.machine import learns, recipe, table
from maxmargin.playground.schema import Points, Settings
from maxmargin.resources.arrays import Floats


def program(points: Points, settings: Settings) -> str:
    """Python that can be pasted anywhere, points included.

    Examples
    --------
    >>> two = Points(np.array([[-1.0, 0.0], [1.0, 0.5]]), np.array([0, 1]))
    >>> print(program(two, Settings(C=10.0)))
    import numpy as np
    from maxmargin import SVC
    from maxmargin.kernels import RBF
    <BLANKLINE>
    X = np.array([[-1, 0], [1, 0.5]])
    y = np.array([0, 1])
    <BLANKLINE>
    machine = SVC(C=10.0, kernel=RBF(gamma=1.0)).fit(X, y)
    print(machine.certificate_)
    print(machine.decision_function(X))
    """
    made, kind = recipe(settings), learns(settings)
    arguments = ", ".join(f"{name}={shown(value)}" for name, value in made.arguments.items())
    X, y = table(points, settings)
    columns = "  # from x to y" if kind == "curve" else ""
    kernels = ", ".join(sorted({*re.findall(r"\w+(?=\()", shown(made.arguments["kernel"]))}))
    lines = [
        "import numpy as np",
        f"from maxmargin import {made.machine.__name__}",
        f"from maxmargin.kernels import {kernels}",
        "",
        _wrapped("X", ", ".join(_row(row) for row in X)) + columns,
    ]
    if kind != "region":
        lines.append(_wrapped("y", ", ".join(_number(value) for value in y)))
    target = "" if kind == "region" else ", y"
    lines += ["", f"machine = {made.machine.__name__}({arguments}).fit(X{target})"]
    if not MACHINES[settings.machine].no_solver:
        lines.append("print(machine.certificate_)")
    lines.append(f"print(machine.{'predict' if kind == 'curve' else 'decision_function'}(X))")
    return "\n".join(lines)


@singledispatch
def shown(value: object) -> str:
    """As a program has it: sums and multiples of kernels with + and *.

    Examples
    --------
    >>> from maxmargin.kernels import RBF, Linear
    >>> shown(Linear() + 2.0 * RBF(gamma=1.0))
    'Linear() + 2.0 * RBF(gamma=1.0)'
    """
    return repr(value)


@shown.register
def _(value: float) -> str:
    return "np.inf" if np.isinf(value) else repr(value)


@shown.register
def _(value: Sum) -> str:
    return f"{shown(value.left)} + {shown(value.right)}"


@shown.register
def _(value: Scaled) -> str:
    return f"{value.factor!r} * {shown(value.kernel)}"


def _row(row: Floats) -> str:
    return f"[{', '.join(_number(value) for value in row)}]"


def _number(value: float) -> str:
    return f"{value:.10g}"


def _wrapped(name: str, text: str) -> str:
    """An array in lines of a readable length."""
    whole = f"{name} = np.array([{text}])"
    if len(whole) <= 88:
        return whole
    body = fill(text, 84, initial_indent="    ", subsequent_indent="    ", break_long_words=False)
    return f"{name} = np.array([\n{body}\n])"
