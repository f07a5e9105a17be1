"""Entries of the kernel matrix, computed from the data: by a fused tile, or by the kernel itself.

Both give blocks K[i, j], squares K[i, i] and products K[rows, j] @ coef, on all threads, and count
the entries they compute.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from math import inf
from typing import Any

import numpy as np

from maxmargin.gram.layouts import Layout, largest_square, layout_of
from maxmargin.gram.on_demand import Maker
from maxmargin.kernels import Kernel
from maxmargin.resources.arrays import Data, Entries, Floats, Numbers, RealType
from maxmargin.resources.memory import large_array
from maxmargin.resources.threads import run_all

# Entries computed at a time, and numbers packed at a time: at most 8 MB in float64.
TILE_ENTRIES = 1 << 20
LARGEST = 1e30  # k(x, x) up to which products of float32 values do not overflow
# Columns, times terms of the kernel, from which an entry costs more to compute than to read
# (docs/how-it-works/speed.md, "Rows kept where they are dear").
WIDE = 256
# Rows up to which all cheap entries take less time than to wake another thread: two threads took
# 3.1 ms of CPU time for a fit of 500 rows, one 2.8
# (docs/how-it-works/speed.md, "The caller works too").
FEW = 512
FEWEST = 64  # rows of a slice, at least: a tile of fewer takes longer to lay out than to compute


class EntrySource(ABC):
    """What computes entries of k on the rows of X."""

    rounds = False  # whether entries are cheap and in [0, 1], so that 16 bits say much about them
    packed = 0  # most bytes of the rows as they are laid out for a tile

    def __init__(self, kernel: Kernel, X: Data, threads: int) -> None:
        self.kernel, self.X, self.threads = kernel, X, threads
        self.n: int = X.shape[0]
        self.evaluations = 0

    @property
    @abstractmethod
    def error(self) -> float:
        """Bound of what rounding of distances in float64 does to an entry; 0 without a distance."""

    @property
    @abstractmethod
    def costly(self) -> bool:
        """Whether an entry costs more to compute than to read."""

    @abstractmethod
    def take(self, rows: Numbers) -> EntrySource:
        """The same for some rows, on one thread."""

    def by_differences(self) -> EntrySource:
        """Entries that the kernel itself computes, distances from x − z: slow and exact."""
        return KernelEntries(self.kernel, self.X, self.threads)

    @abstractmethod
    def largest_norm(self) -> float:
        """The largest ‖x‖² of the rows that entries are computed from."""

    @abstractmethod
    def block(
        self, i: Numbers, j: Numbers | None, dtype: RealType, out: Entries | None = None
    ) -> Entries:
        """K[i, j]; every j if None."""

    @abstractmethod
    def dot(self, j: Numbers, coef: Floats, dtype: RealType, rows: Numbers | None) -> Floats:
        """K[rows, j] @ coef; over all rows if None."""

    def computed(self, count: int) -> None:
        """Count entries that were computed elsewhere, by a `row_maker`."""
        self.evaluations += count

    def row_maker(self, dtype: RealType) -> Maker | None:
        """What computes single rows inside compiled code; None if nothing does, or slowly."""
        return None

    def square(self, i: Numbers, dtype: RealType, out: Entries | None = None) -> Entries:
        """K[i, i]."""
        out = large_array((len(i), len(i)), dtype) if out is None else out
        return self.block(i, i, dtype, out)


class TiledEntries(EntrySource):
    """Entries that a tile computes.

    All left rows are packed once, when first needed; or, if that would take more than `room` bytes,
    in slices each time.
    """

    def __init__(self, kernel: Kernel, layout: Layout, threads: int, room: float = inf) -> None:
        super().__init__(kernel, layout.X, threads)
        self.layout, self.room = layout, room
        if self.n <= FEW and not self.costly:
            self.threads = 1
        self._packed: dict[RealType, Any] = {}
        simple = len(layout.forms) == 1 and not self.costly
        self.rounds = simple and layout.rounds and kernel.in_unit_interval
        # All left rows in float32 to choose steps and in float64 to prove the result, or the latter
        # in slices; and slices of the right rows.
        numbers, slices = int(self.n * layout.width), 2 + self._widens(np.float64)
        whole = (4 if self._widens(np.float64) else 12) * numbers
        self._slice = min(TILE_ENTRIES, room / (8 * slices))
        self._in_slices = whole + 8 * slices * min(numbers, self._slice) > room
        self.packed = 0 if self._in_slices else whole
        self.packed += int(8 * slices * min(numbers, self._slice))

    @property
    def error(self) -> float:
        return self.layout.error

    @property
    def costly(self) -> bool:
        return bool(len(self.layout.forms) * self.X.shape[1] >= WIDE)

    def take(self, rows: Numbers) -> TiledEntries:
        return TiledEntries(self.kernel, self.layout.take(rows), 1, self.room)

    def largest_norm(self) -> float:
        return self.layout.largest

    def row_maker(self, dtype: RealType) -> Maker | None:
        cheap = not self.costly and not self._slices(dtype)
        return self.layout.row_maker(self._left(dtype), dtype, self.threads) if cheap else None

    def block(
        self, i: Numbers, j: Numbers | None, dtype: RealType, out: Entries | None = None
    ) -> Entries:
        columns = self.n if j is None else len(j)
        values: Entries = np.empty((len(i), columns), dtype) if out is None else out
        self.evaluations += len(i) * columns
        for some in self._parts(len(i)):
            right = self.layout.expand(dtype, i[some], self.threads)
            for left, packed in self._lefts(dtype, j):
                all_columns = left.stop - left.start == columns
                part = values[some] if all_columns else values[some, left]
                if part.flags.c_contiguous:
                    self.layout.block(packed, right, part, self.threads)
                else:
                    entries: Entries = np.empty(part.shape, dtype)
                    part[:] = self.layout.block(packed, right, entries, self.threads)
        return values

    def square(self, i: Numbers, dtype: RealType, out: Entries | None = None) -> Entries:
        """K[i, i]: half of it is computed, and the other is its mirror image."""
        out = large_array((len(i), len(i)), dtype) if out is None else out
        self.evaluations += len(i) * (len(i) + 1) // 2
        parts = self._parts(len(i)) if self._slices(dtype) else [slice(0, len(i))]
        for number, some in enumerate(parts):
            right = self.layout.expand(dtype, i[some], self.threads)
            for before in parts[:number]:
                left = self.layout.pack(dtype, i[before], self.threads)
                values = np.empty((some.stop - some.start, before.stop - before.start), out.dtype)
                out[some, before] = self.layout.block(left, right, values, self.threads)
                out[before, some] = values.T
            every = len(parts) == 1 and np.array_equal(i, np.arange(self.n))
            packed = self._packed.get(dtype) if every else None
            left = self.layout.pack(dtype, i[some], self.threads) if packed is None else packed
            values = out if len(parts) == 1 else np.empty((some.stop - some.start,) * 2, out.dtype)
            out[some, some] = self.layout.block(left, right, values, self.threads, half=True)
        return out

    def dot(self, j: Numbers, coef: Floats, dtype: RealType, rows: Numbers | None) -> Floats:
        values = np.zeros(self.n if rows is None else len(rows))
        self.evaluations += len(values) * len(j)
        for some in self._parts(len(j)):
            right = self.layout.expand(dtype, j[some], self.threads)
            for left, packed in self._lefts(dtype, rows):
                product = self.layout.dot(packed, right, coef[some], self.threads)
                values[left] += product[: left.stop - left.start]
        return values

    def _left(self, dtype: RealType) -> Any:
        """All rows, packed."""
        if dtype not in self._packed:
            self._packed[dtype] = self.layout.pack(dtype, None, self.threads)
        return self._packed[dtype]

    def _lefts(self, dtype: RealType, rows: Numbers | None) -> Iterator[tuple[slice, Any]]:
        """Packed rows: at once, or in slices where packing would copy too much of X."""
        n = self.n if rows is None else len(rows)
        if not self._slices(dtype):
            packed = self.layout.pack(dtype, rows, self.threads) if rows is not None else None
            yield slice(0, n), self._left(dtype) if packed is None else packed
            return
        rows = np.arange(n) if rows is None else rows
        for part in self._parts(n):
            yield part, self.layout.pack(dtype, rows[part], self.threads)

    def _widens(self, dtype: RealType) -> bool:
        return bool(np.dtype(dtype).itemsize > self.X.dtype.itemsize)

    def _slices(self, dtype: RealType) -> bool:
        """Whether rows are packed in slices: all take too much, or are X in a wider dtype."""
        return self._in_slices or self._widens(dtype)

    def _parts(self, n: int) -> list[slice]:
        """Slices of range(n), of as many rows as have TILE_ENTRIES numbers or fit the room."""
        step = max(FEWEST, int(self._slice / self.layout.width))
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]


class KernelEntries(EntrySource):
    """Entries that the kernel itself computes, in tiles of TILE_ENTRIES."""

    @property
    def error(self) -> float:
        """t = γ‖x − z‖ or γ‖x − z‖² is a sum of d terms, and t exp(−t) < ½."""
        if not self.kernel.translation_invariant:
            return 0.0
        largest = float(self.kernel.diagonal(self.X[:1])[0])
        return float(np.finfo(float).eps) * (int(self.X.shape[1]) + 8) * largest

    def by_differences(self) -> EntrySource:
        return self

    @property
    def costly(self) -> bool:
        return not self.kernel.precomputed

    def take(self, rows: Numbers) -> KernelEntries:
        return KernelEntries(self.kernel, self.kernel.rows(self.X, rows), 1)

    def largest_norm(self) -> float:
        return largest_square(self.X)

    def block(
        self, i: Numbers, j: Numbers | None, dtype: RealType, out: Entries | None = None
    ) -> Entries:
        j = np.arange(self.n) if j is None else j
        values: Entries = np.empty((len(i), len(j)), dtype) if out is None else out

        def fill(start: int, stop: int) -> None:
            values[start:stop] = self._evaluate(i[start:stop], j, dtype)

        self._each(fill, len(i), len(j))
        return values

    def dot(self, j: Numbers, coef: Floats, dtype: RealType, rows: Numbers | None) -> Floats:
        i = np.arange(self.n) if rows is None else rows
        values, weights = np.zeros(len(i)), coef.astype(dtype, copy=False)

        def fill(start: int, stop: int) -> None:
            values[start:stop] = self._evaluate(i[start:stop], j, dtype) @ weights

        self._each(fill, len(i), len(j))
        return values

    def _evaluate(self, i: Numbers, j: Numbers, dtype: RealType) -> Entries:
        self.evaluations += len(i) * len(j)
        return self.kernel.entries(self.X, i, j, dtype)

    def _each(self, fill: Callable[[int, int], None], n: int, columns: int) -> None:
        """Call `fill(start, stop)` for tiles that cover range(n), on all threads.

        Not without columns: a kernel of one's own need not know what to do with no rows.
        """
        n = n if columns else 0
        step = max(1, TILE_ENTRIES // max(columns, 1))
        run_all(fill, [(start, min(start + step, n)) for start in range(0, n, step)], self.threads)


class ReflectedEntries(EntrySource):
    """s_i s_j K_ij of another source, for signs s of the rows."""

    def __init__(self, source: EntrySource, signs: Floats) -> None:
        super().__init__(source.kernel, source.X, source.threads)
        self.source, self.signs = source, signs
        self.packed = source.packed

    @property
    def error(self) -> float:
        return self.source.error

    @property
    def costly(self) -> bool:
        return self.source.costly

    def take(self, rows: Numbers) -> ReflectedEntries:
        return ReflectedEntries(self.source.take(rows), self.signs[rows])

    def by_differences(self) -> EntrySource:
        return ReflectedEntries(self.source.by_differences(), self.signs)

    def largest_norm(self) -> float:
        return self.source.largest_norm()

    def block(
        self, i: Numbers, j: Numbers | None, dtype: RealType, out: Entries | None = None
    ) -> Entries:
        signs = self.signs.astype(dtype)
        values = self.source.block(i, j, dtype, out)
        values *= signs[i][:, None]
        values *= signs if j is None else signs[j]
        self.evaluations += values.size
        return values

    def dot(self, j: Numbers, coef: Floats, dtype: RealType, rows: Numbers | None) -> Floats:
        values = self.source.dot(j, self.signs[j] * coef, dtype, rows)
        self.evaluations += len(values) * len(j)
        return values * (self.signs if rows is None else self.signs[rows])


def entries_of(kernel: Kernel, X: Data, threads: int, room: float = inf) -> EntrySource:
    """How the entries of k on the rows of X are computed: by a tile if there is one.

    `room` is the most bytes that rows may take as they are laid out for it.
    """
    layout = layout_of(kernel, X, threads)
    return (
        TiledEntries(kernel, layout, threads, room) if layout else KernelEntries(kernel, X, threads)
    )
