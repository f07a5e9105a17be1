"""A cache of rows of a kernel matrix, in a bounded amount of memory.

Worth it where an entry costs more to compute than to read: hundreds of columns, sparse rows, a
user's own kernel. When it is full, the least recently used rows are evicted. Memory is allocated
a piece at a time, as rows come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from maxmargin.core import native
from maxmargin.resources.arrays import Entries, Floats, Numbers, Reals, RealType
from maxmargin.resources.memory import PIECE, large_array
from maxmargin.resources.threads import run_split

GROUP = 4  # rows added in their own dtype before float64 takes over: exact against fast
TEMPORARY = 8 << 20  # bytes of rows on their way to places that are not next to each other


class RowCache:
    """Up to `capacity` rows of length n.

    `compute(numbers, out)` computes rows that are missing, `square(numbers)` the entries of some
    rows in their own columns.

    Examples
    --------
    >>> def compute(numbers, out):
    ...     return np.eye(3).take(numbers, 0, out)
    >>> cache = RowCache(3, 2, np.float64, compute, lambda numbers: np.eye(len(numbers)))
    >>> cache.row(2)
    array([0., 0., 1.])
    >>> cache.dot(np.array([1, 2]), np.array([5.0, 7.0]))
    array([0., 5., 7.])
    """

    def __init__(
        self,
        n: int,
        capacity: int,
        dtype: RealType,
        compute: Callable[[Numbers, Entries | None], Entries],
        square: Callable[[Numbers], Entries],
        threads: int = 1,
    ) -> None:
        self.n, self.capacity, self.dtype, self.threads = n, capacity, dtype, threads
        self.compute, self.square = compute, square
        self.pieces: list[Entries] = []
        self.in_a_piece = max(1, PIECE // (n * np.dtype(dtype).itemsize))
        self.place = np.full(n, -1)  # of each row; −1 if it is not cached
        self.owner = np.full(capacity, -1)  # the row in each place; −1 if it is empty
        self.used = np.zeros(capacity, int)  # the time when each place was last used
        self.time = 0

    def fetch(self, numbers: Numbers) -> Numbers:
        """The places of the rows with these numbers, at most `capacity` different ones."""
        self.time += 1
        cached = numbers[self.place[numbers] >= 0]
        self.used[self.place[cached]] = self.time
        missing = np.unique(numbers[self.place[numbers] < 0])
        if len(missing):
            present = int(np.count_nonzero(self.owner >= 0))
            a_third = 3 * (present + len(missing)) > self.n  # then nearly all will be needed
            if a_third and self.n <= min(self.capacity, self.in_a_piece):
                self._fetch_the_rest()
            else:
                self._fetch(missing)
        return self.place[numbers]

    def _fetch(self, missing: Numbers) -> None:
        """Compute these rows, in the least recently used places."""
        oldest = np.sort(np.argsort(self.used, kind="stable")[: len(missing)])
        evicted = self.owner[oldest]
        self.place[evicted[evicted >= 0]] = -1
        self._own(missing, oldest)
        for piece, some, lines in self._by_piece(oldest):
            if lines[-1] - lines[0] < len(lines):
                self.compute(missing[some], piece[lines[0] : lines[-1] + 1])
                continue
            step = max(1, TEMPORARY // (self.n * piece.itemsize))  # rows that are copied at a time
            for start in range(0, len(lines), step):
                part = slice(start, start + step)
                piece[lines[part]] = self.compute(missing[some[part]], None)

    def _fetch_the_rest(self) -> None:
        """Compute all missing rows: of an entry and its mirror image, one is computed."""
        present, missing = np.flatnonzero(self.place >= 0), np.flatnonzero(self.place < 0)
        self._own(missing, np.flatnonzero(self.owner < 0))
        ((piece, *_),) = self._by_piece(self.place)
        complete(piece, self.place, present, missing, self.square(missing), self.threads)

    def _own(self, numbers: Numbers, places: Numbers) -> None:
        """Record that rows are in these places."""
        self.owner[places], self.place[numbers], self.used[places] = numbers, places, self.time

    def _by_piece(self, places: Numbers) -> Iterator[tuple[Entries, Numbers, Numbers]]:
        """Each piece of memory with some of the places, which of them, and their lines in it."""
        while len(self.pieces) * self.in_a_piece <= places.max(initial=-1):
            lines = min(self.in_a_piece, self.capacity)
            self.pieces.append(large_array((lines, self.n), self.dtype))
        for number, piece in enumerate(self.pieces):
            some = np.flatnonzero((places >= 0) & (places // self.in_a_piece == number))
            if len(some):
                yield piece, some, places[some] - number * self.in_a_piece

    def row(self, number: int) -> Entries:
        """One of the rows."""
        piece, line = divmod(int(self.fetch(np.array([number]))[0]), self.in_a_piece)
        row: Entries = self.pieces[piece][line]
        return row

    def dot(self, numbers: Numbers, coef: Floats) -> Floats:
        """Σ coef_j row_j in float64."""
        places, out = self.fetch(numbers), np.zeros(self.n)
        for piece, some, lines in self._by_piece(places):
            add_rows(piece, lines, coef[some].astype(self.dtype), out, self.threads)
        return out

    def take(self, numbers: Numbers, columns: Numbers, out: Entries) -> Numbers:
        """Copy some columns of the cached rows to `out`; returns which numbers are not cached."""
        places = self.place[numbers]
        for piece, some, lines in self._by_piece(places):
            gather_entries(piece, lines, columns, some, out, self.threads)
        return np.flatnonzero(places < 0)


def add_rows(rows: Reals, places: Numbers, coef: Reals, out: Floats, threads: int) -> None:
    """out += Σ_j coef_j rows[places[j]], GROUP products at a time in the dtype of `coef`."""
    if not len(places):
        return
    padded: Reals = np.zeros(-(-len(places) // GROUP) * GROUP, coef.dtype)
    padded[: len(places)] = coef
    used = np.resize(places, len(padded))

    def part(start: int, stop: int) -> None:
        native.add_rows(rows, used, padded, out, start, stop)

    run_split(part, len(out), len(out) * len(padded) / 4, threads)


def gather_entries(
    rows: Entries, lines: Numbers, columns: Numbers, into: Numbers, out: Entries, threads: int
) -> None:
    """out[into[i], j] = rows[lines[i], columns[j]]."""

    def part(start: int, stop: int) -> None:
        native.gather_entries(rows, lines, columns, into, out, start, stop)

    run_split(part, len(lines), len(lines) * len(columns), threads)


def complete(
    values: Entries,
    place: Numbers,
    present: Numbers,
    missing: Numbers,
    entries: Entries,
    threads: int,
) -> None:
    """Fill the missing rows of a symmetric matrix whose row i is at place[i].

    Their `entries` in the missing columns are given; those in the columns of the rows that are
    present are the mirror images of entries of these.
    """

    def part(start: int, stop: int) -> None:
        native.complete(values, place, present, missing, entries, start, stop)

    run_split(part, len(missing), 4 * len(missing) * values.shape[1], threads)
