"""A symmetric matrix of which one half was computed."""

from __future__ import annotations

from functools import partial

from maxmargin.hardware.arrays import Entries
from maxmargin.hardware.jit import compiled
from maxmargin.hardware.threads import run_split

STRIP = 32  # rows and columns of the squares that are mirrored in the first-level cache


def mirrored(out: Entries, threads: int = 1) -> Entries:
    """The entries below the diagonal copied to those above it."""
    strips = -(-len(out) // STRIP)
    run_split(partial(mirror, out), strips, out.size, threads)
    return out


@compiled()
def mirror(out: Entries, start: int, stop: int) -> None:
    """out[i, j] = out[j, i] for i < j and the i in the strips start ≤ s < stop."""
    n = len(out)
    for top in range(start * STRIP, min(stop * STRIP, n), STRIP):
        for left in range(top, n, STRIP):
            for i in range(top, min(top + STRIP, n)):
                for j in range(max(left, i + 1), min(left + STRIP, n)):
                    out[i, j] = out[j, i]
