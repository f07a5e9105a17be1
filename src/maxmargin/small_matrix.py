"""A kernel matrix of few rows, each computed when it is first asked for.

SMO asks for the rows of the variables it moves, which are not many more than the support vectors.
The other rows are never computed, nor is their memory touched. Compiled loops take the matrix as
`parts` and say which rows they `need`; so one loop serves this matrix and one that is all there.
"""

from __future__ import annotations

import numpy as np

from maxmargin.compiled import compiled, inner
from maxmargin.resources import large_array
from maxmargin.tiles import apply
from maxmargin.vectors import aligned, multiply

# How rows are made: which are there, panels and right rows as in `tiles`, room for t, the power.
Maker = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int | None]
Parts = tuple[np.ndarray, Maker | None]


class SmallMatrix:
    """K of n rows in float64, made of the `parts` that `on_demand` or `entire` return.

    Examples
    --------
    >>> from maxmargin.kernels import Linear
    >>> from maxmargin.tiling import tiling
    >>> tile = tiling(Linear(), np.array([[1.0, 0.0], [1.0, 2.0]]))
    >>> left, right = tile.pack(np.float64, None, 1), tile.expand(np.float64, None, 1)
    >>> matrix = SmallMatrix(on_demand(2, left, right, tile.form.power))
    >>> matrix.rows(np.array([1]))[1], matrix.evaluations
    (array([1., 5.]), 2)
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._K, self._maker = parts

    @property
    def evaluations(self) -> int:
        """Entries computed so far."""
        rows = np.count_nonzero(self._maker[0]) if self._maker else len(self._K)
        return len(self._K) * int(rows)

    def rows(self, numbers: np.ndarray) -> np.ndarray:
        """K, in which at least the rows with these numbers are there."""
        if self._maker:
            make(self.parts, numbers)
        return self._K

    def square(self, numbers: np.ndarray) -> np.ndarray:
        """K of the rows with these numbers alone."""
        return self.rows(numbers).take(numbers, 0).take(numbers, 1)

    def dot(self, numbers: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Σ_k coef_k K_i over the rows i with these numbers."""
        values = np.zeros(len(self._K))
        combine(self.parts, numbers, coef, values)
        return values


def on_demand(n: int, panels: np.ndarray, right: np.ndarray, power: int | None) -> Parts:
    """A matrix of n rows, packed and expanded as in `tiles`; `power` is of the kernel's form."""
    K, t = (
        large_array((n, n), np.float64),
        aligned((panels.shape[0] * panels.shape[2],), np.float64),
    )
    return K, (np.zeros(n, bool), panels, right.reshape(-1, right.shape[-1]), t, power)


def entire(K: np.ndarray) -> Parts:
    """A matrix that is all there."""
    return K, None


@inner()
def need(K, maker, i):
    """Compute row i if it is not there. Without a maker nothing of that is even compiled."""
    if maker is not None:
        made, panels, right, t, power = maker
        if not made[i]:
            for p in range(len(panels)):
                multiply(right, i, panels, p, t, p * panels.shape[2])
            apply(power, t[: len(K)], K[i])
            made[i] = True


@compiled()
def combine(matrix, numbers, coef, out):
    """out += Σ_k coef_k K_i over the rows i with these numbers."""
    K, maker = matrix
    for k in range(len(numbers)):
        i, value = numbers[k], coef[k]
        need(K, maker, i)
        for c in range(len(out)):
            out[c] += value * K[i, c]


@compiled()
def make(matrix, numbers):
    """Compute those of the rows with these numbers that are not there."""
    K, maker = matrix
    for i in numbers:
        need(K, maker, i)
