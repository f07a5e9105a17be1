"""K of all rows, each computed when SMO first asks for it; or all at once, if that takes less time.

SMO asks for the rows of the variables that it moves, which are few more than the support vectors:
where classes are easy to tell apart, one in seven. But a row by itself takes two to four times as
long as one of a square, of which half is computed. The first steps tell which is better: if N rows
are equally likely to be asked for, about m²/2N of the first m were asked for before, as with
birthdays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from maxmargin.core import native
from maxmargin.resources.arrays import Entries, Numbers
from maxmargin.resources.memory import large_array

PROBE = 64  # rows that are asked for before it is decided: one in sixteen of 1,000
WORTH = (
    1 / 3
)  # of all rows: if fewer are expected, each is computed by itself (docs/how-it-works/speed.md)

Maker: TypeAlias = "native.RowMaker"  # `core/on_demand.hpp`: makes a row before SMO reads it


class RowsOnDemand:
    """K, of which the rows that `maker` has made are there; all of them without `square`.

    Parameters
    ----------
    K : its memory
    maker : makes single rows; None if nothing does
    square : computes all of K in the memory that it is given
    count : called with the number of entries that were computed one row at a time
    """

    def __init__(
        self,
        K: Entries,
        maker: Maker | None = None,
        square: Callable[[Entries], Entries] | None = None,
        count: Callable[[int], None] = lambda entries: None,
    ) -> None:
        self.K, self.maker, self._square, self._count = K, maker, square, count
        self._made, self._asked, self._chosen = 0, 0, False
        if maker is None:
            self.complete()

    def run(self, solve: Callable[[int], int], limit: int) -> int:
        """At most `limit` steps of solve(most), which asks for two rows in each and counts them.

        On the way it is decided whether rows are computed one at a time.
        """
        taken = 0
        while taken < limit:
            most = limit - taken
            if self._square is not None:
                most = min(most, 1 + len(self.K) // 8 if self._chosen else PROBE // 2)
            steps = solve(most)
            taken += steps
            self._decide(steps)
            if steps < most:
                break
        return taken

    def _decide(self, steps: int) -> None:
        """After so many more steps."""
        if self._square is None or self.maker is None:
            return
        made, few = self._count_made(self.maker), WORTH * len(self.K)
        self._asked += 2 * steps
        if not self._chosen and self._asked >= PROBE:
            self._chosen = self._asked**2 <= 2 * (self._asked - made) * few
        if made > few or (self._asked >= PROBE and not self._chosen):
            self.complete()

    def _count_made(self, maker: Maker) -> int:
        """The rows that are there, of which new ones are counted."""
        before, self._made = self._made, int(np.count_nonzero(maker.made))
        self._count((self._made - before) * len(self.K))
        return self._made

    def complete(self) -> Entries:
        """K with all rows."""
        if self._square is not None:
            self._square(self.K)
            self._square = None
            if self.maker is not None:
                self.maker.made[:] = True
        return self.K

    def has(self, numbers: Numbers) -> bool:
        """Whether these rows are there."""
        return self.maker is None or bool(self.maker.made[numbers].all())

    @property
    def is_whole(self) -> bool:
        """Whether all rows are there."""
        return self._square is None

    def take(self, W: Numbers) -> RowsOnDemand:
        """K[W, W] of a K that is whole, in memory that is used again; W may name a row twice."""
        rows = self.K.take(W, 0, large_array((len(W), self.K.shape[1]), self.K.dtype), "clip")
        square = rows.take(W, 1, large_array((len(W), len(W)), self.K.dtype), "clip")
        return RowsOnDemand(square)
