"""The form of a kernel that tiles compute: a function f of one inner product.

    linear       x·z                f(t) = t         t = x·z
    polynomial   (γ x·z + c)^d      f(t) = t^d       t = γ x·z + c
    sigmoid      tanh(γ x·z + c)    f(t) = tanh t    t = γ x·z + c
    RBF          exp(−γ‖x − z‖²)    f(t) = 2^t       t = 2g x·z − g(‖x‖² + ‖z‖²),  g = γ log₂e

Sums and multiples of such kernels are sums of such terms. A kernel with another f needs a branch
in `Form.of` and one in `core/form.hpp`, which is the same f in compiled code.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from maxmargin.resources.arrays import Reals, RealType

TANH = -1  # as a power: f(t) = tanh t


class Form(NamedTuple):
    """One term of a kernel: factor · f(t), t = scale x·z + square (‖x‖² + ‖z‖²) + offset.

    f(t) is t to the `power`; tanh t if `power` is TANH; 2^min(t, 0) if `power` is None.

    Examples
    --------
    >>> Form(2, scale=3.0, offset=1.0).of(np.array([0.0, 1.0]), np.zeros(2))  # (3 x·z + 1)²
    array([ 1., 16.])
    """

    power: int | None
    scale: float = 1.0
    square: float = 0.0
    offset: float = 0.0
    factor: float = 1.0

    @property
    def translation_invariant(self) -> bool:
        """Whether t depends on x − z only: then it is a multiple of ‖x − z‖², and a constant."""
        return self.scale == -2 * self.square

    def distance_error(self, largest: float, terms: int, dtype: RealType = np.float64) -> float:
        """Bound of what rounding ‖x‖² + ‖z‖² − 2xᵀz does to 2^t, relative to the largest value.

        For rows z with ‖z‖² ≤ `largest` and sums of so many `terms`. t is a sum of products of size
        (‖x‖ + ‖z‖)² |square| at most, each rounded by u in itself and in every sum it is part of.
        A row x farther than the z makes that larger and 2^t smaller: as (a + b)² ≤ 2(a − b)² + 8b²
        and v 2^(−v) < 1, eight times |square| ‖z‖² and 2 cover every x. 0 without a distance.
        """
        if not self.square:
            return 0.0
        unit = float(np.finfo(dtype).eps) / 2
        return math.log(2) * unit * (terms + 8) * (8 * abs(self.square) * largest + 2)

    def of(self, dot: Reals, squares: Reals) -> Reals:
        """Values from the inner products x·z and the sums ‖x‖² + ‖z‖²."""
        t: Reals = self.scale * dot
        if self.square:
            t += self.square * squares
        t += self.offset
        if self.power is None:
            np.exp2(np.minimum(t, 0, out=t), out=t)
        elif self.power == TANH:
            np.tanh(t, out=t)
        else:
            base = t.copy()
            t[...] = 1
            for _ in range(self.power):  # `np.power` takes ten times as long
                t *= base
        if self.factor != 1:
            t *= self.factor
        return t

    def times(self, factor: float) -> Form:
        """A multiple of the term; t itself is multiplied where f(t) = t."""
        if self.power != 1:
            return self._replace(factor=factor * self.factor)
        factor *= self.factor
        return Form(1, factor * self.scale, factor * self.square, factor * self.offset)


def added(forms: tuple[Form, ...]) -> tuple[Form, ...]:
    """The same sum with fewer terms: all with f(t) = t become one.

    Examples
    --------
    >>> added((Form(1), Form(None, 2.0, -1.0), Form(1, scale=0.0, offset=3.0)))  # x·z + 3, and RBF
    (Form(power=None, scale=2.0, square=-1.0, offset=0.0, factor=1.0),
     Form(power=1, scale=1.0, square=0.0, offset=3.0, factor=1.0))
    """
    linear = [form.times(1.0) for form in forms if form.power == 1]
    others = tuple(form for form in forms if form.power != 1)
    if not linear:
        return others
    totals = [
        sum(term) for term in zip(*((f.scale, f.square, f.offset) for f in linear), strict=True)
    ]
    return (*others, Form(1, *totals))


def sum_of(forms: tuple[Form, ...], dot: Reals, squares: Reals) -> Reals:
    """The sum of the terms, from the inner products x·z and the sums ‖x‖² + ‖z‖²."""
    values = forms[0].of(dot, squares)
    for form in forms[1:]:
        values += form.of(dot, squares)
    return values
