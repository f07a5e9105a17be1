"""A symmetric matrix of which one half was computed."""

from __future__ import annotations

from maxmargin.hardware.arrays import Entries
from maxmargin.hardware.jit import inner
from maxmargin.hardware.simd import SQUARE, transpose


@inner()
def mirror_rows(out: Entries, top: int, bottom: int, left: int, right: int) -> None:
    """out[i, j] = out[j, i] for top ≤ j < bottom and left ≤ i < right, i < j."""
    for i in range(left, min(right, bottom), SQUARE):
        for j in range(top, bottom, SQUARE):
            if i + SQUARE <= min(j, right) and j + SQUARE <= bottom:
                transpose(out, j, i)
            else:
                for row in range(j, min(j + SQUARE, bottom)):
                    for column in range(i, min(i + SQUARE, right, row)):
                        out[column, row] = out[row, column]
