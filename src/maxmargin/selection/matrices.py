"""Kernel matrices for many fits: one per γ, within the memory budget.

The RBF kernel is 2^(γ t) with t = −log₂e ‖x − z‖², the same for every γ: t is computed once, and a
matrix is one exponential per entry. Folds and values of C share the matrix of their γ. Where it
does not fit into the budget, entries are computed when they are needed, as in any fit.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isqrt
from threading import Lock

import numpy as np

from maxmargin.core import native
from maxmargin.gram import Gram
from maxmargin.gram.held import HeldGram
from maxmargin.gram.layouts import layout_of
from maxmargin.kernels import DotKernel, Form, Kernel
from maxmargin.machines.multiclass import Split
from maxmargin.resources.arrays import Data, Entries, RealType
from maxmargin.resources.memory import available_memory, kept_memory
from maxmargin.resources.threads import run_split
from maxmargin.solvers.qp.held_smo import LARGEST

# Rows up to which entries are held in float64; beyond they are rounded to float32, as LIBSVM's are.
EXACT_ROWS = 2048
CHUNK = 1 << 20  # entries computed in float64 at a time: 8 MB
TABLEAU = 24  # bytes for each entry of a tableau: itself, the inverse of a part, and its products
SHARE = 4  # a tableau of one in so many rows is worth more than t, which is quickly computed again


@dataclass(frozen=True)
class Exponent(DotKernel):
    """t of a kernel factor · 2^(γ t): its values for one γ are those of all others."""

    form: Form

    @property
    def forms(self) -> tuple[Form, ...]:
        return (self.form._replace(power=1, factor=1.0),)


def exponent_of(one: Kernel, two: Kernel) -> Exponent | None:
    """The kernel t, if k is factor · 2^(γ t); given k with γ = 1 and with γ = 2."""
    if one.forms is None or two.forms is None or len(one.forms) != 1:
        return None
    (a,), (b,) = one.forms, two.forms
    linear = (b.scale, b.square, b.factor) == (2 * a.scale, 2 * a.square, a.factor)
    return Exponent(a) if a.power is None and linear and a.offset == b.offset == 0 else None


class Stopped(Exception):
    """There is no time left to compute a matrix."""


class Parts:
    """A matrix, and the matrices of the rows of each problem, made when first needed.

    `room` is that of `Matrices`.
    """

    def __init__(self, gram: Gram, splits: Sequence[Split], room: int) -> None:
        self.gram, self.room, self._splits, self._lock = gram, room, splits, Lock()
        self._parts: dict[int, Gram] = {}

    def of(self, number: int) -> Gram:
        """K of the rows of a problem."""
        with self._lock:
            part = self._parts.get(number) or self.gram.take(self._splits[number].rows)
            if self.gram.matrix is not None:  # else it would hold more and more rows of its own
                self._parts[number] = part
            return part


class Matrices:
    """The matrices of a machine's kernel on the same rows, for several γ.

    Parameters
    ----------
    kernel_of : the kernel by its key
    exponent : t, or None where they are not
    X : the rows
    splits : the rows of each problem of a machine
    cache_size : the budget in MB; None for a quarter of the free memory
    threads : that compute
    over : whether nothing more is to be computed

    Attributes
    ----------
    holds : whether a matrix fits into the budget; else its entries are computed when needed
    most : how many may be there at once
    room : variables of a tableau at most, so that all threads together keep to the budget
    share : MB that a solver may take beside its matrix: a block and a tableau
    """

    def __init__(
        self,
        kernel_of: Callable[[Hashable], Kernel],
        exponent: Exponent | None,
        X: Data,
        splits: Sequence[Split],
        cache_size: float | None,
        threads: int,
        over: Callable[[], bool] = lambda: False,
    ) -> None:
        self.kernel_of, self.X, self.splits, self.threads = kernel_of, X, splits, threads
        self.over = over
        self.n = int(X.shape[0])
        self.dtype: RealType = np.float64 if self.n <= EXACT_ROWS else np.float32
        size = np.dtype(self.dtype).itemsize
        parts = sum(len(each.signs) ** 2 for each in splits if not isinstance(each.rows, slice))
        one, budget = (self.n**2 + parts) * size, budget_of(cache_size)
        rows = max(len(each.signs) for each in splits)
        beside, blocks = self.n**2 * size if exponent else 0, threads * 4 * min(rows, LARGEST) ** 2
        tableaus = threads * TABLEAU * (rows // SHARE) ** 2
        self._exponent = exponent if one + beside + blocks + tableaus <= budget else None
        self.holds = one + blocks <= budget
        spare = budget - blocks - (beside if self._exponent else 0)
        self.most = max(1, (spare - tableaus) // one)
        self.room = isqrt(max(spare - min(self.most, threads) * one, 0) // (threads * TABLEAU))
        self.share = (blocks // threads + TABLEAU * self.room**2) / 2**20
        self.budget = budget
        self._t: Entries | None = None
        self._made: dict[Hashable, Parts] = {}
        self._lock = Lock()

    def of(self, key: Hashable) -> Parts:
        """The matrix of a kernel: computed by all threads, while others that ask for it wait."""
        with self._lock:
            if key not in self._made:
                self._made[key] = Parts(self._make(key), self.splits, self.room)
            return self._made[key]

    def drop(self, key: Hashable) -> None:
        """Forget a matrix: it is not needed any more."""
        with self._lock:
            self._made.pop(key, None)

    def _make(self, key: Hashable) -> Gram:
        kernel = self.kernel_of(key)
        if not self.holds:
            return Gram(kernel, self.X, cache_size=self.budget / 2**20, threads=self.threads)
        exact = kernel.forms is not None and layout_of(kernel, self.X) is not None
        if self._exponent is None or kernel.forms is None or not exact:  # t is not, for this γ
            return HeldGram(self._entries(kernel), cache_size=self.share)
        if self._t is None:
            self._t = self._entries(self._exponent)
        K: Entries = np.empty_like(self._t)
        (form,) = kernel.forms  # γ itself may be a parameter of a part of the kernel
        gamma = form.scale / self._exponent.form.scale
        fill = partial(native.powers, self._t, gamma, form.factor, K)
        run_split(fill, self.n, 4 * self.n**2, self.threads)
        return HeldGram(K, cache_size=self.share)

    def _entries(self, kernel: Kernel) -> Entries:
        """All entries, computed in float64 and stored in the precision that is held."""
        gram = Gram(kernel, self.X, cache_size=1, threads=self.threads)
        K: Entries = np.empty((self.n, self.n), self.dtype)
        step, every = max(1, CHUNK // self.n), np.arange(self.n)
        for start in range(0, self.n, step):
            if self.over():
                raise Stopped
            K[start : start + step] = gram.block(every[start : start + step], every)
        return K


def budget_of(cache_size: float | None) -> int:
    """Bytes that kernel values may take."""
    if cache_size is None:
        return (available_memory() + kept_memory()) // 4
    return int(cache_size * 2**20)
