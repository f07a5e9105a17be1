"""A symmetric matrix of which one half was computed."""

from __future__ import annotations

from functools import partial

from maxmargin.hardware.arrays import Entries
from maxmargin.hardware.jit import compiled, inner
from maxmargin.hardware.simd import SQUARE, transpose
from maxmargin.hardware.threads import run_split

STRIP = 96  # rows that are mirrored together: long pieces are written, from the cache
# (docs/speed.md, "Constants")


def mirrored(out: Entries, threads: int = 1) -> Entries:
    """The entries below the diagonal copied to those above it."""
    strips = -(-len(out) // STRIP)
    run_split(partial(mirror, out), strips, out.size / 4, threads)
    return out


@compiled()
def mirror(out: Entries, start: int, stop: int) -> None:
    """The rows of the strips start ≤ s < stop below the diagonal copied to columns above it."""
    for s in range(start, stop):
        bottom = min((s + 1) * STRIP, len(out))
        mirror_rows(out, s * STRIP, bottom, 0, bottom)


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
