"""Work, counted: what a solve has cost, whatever else the machine is doing.

The unit is one multiplication and addition inside a Cholesky factorisation, 0.04 ns on the machine
of docs/how-it-works/speed.md. Two solvers that are compared by it take turns in the same
way in every run, on a busy machine as on an idle one.
"""

from __future__ import annotations

# Measured beside each other, in units (benchmarks/switch.py, `--units`):
STEP = 20  # one step of SMO, per variable of its block and 4 bytes of an entry
ENTRY, COLUMN = 20.0, 0.5  # a kernel entry, and each column that it is computed from
EXACT = 3  # times as much for an entry in float64 as in float32
PASS = 6  # an entry of a matrix that is read once: a product, a substitution, a copy


def factorisation(rows: float) -> float:
    """Cholesky's method."""
    return rows**3 / 6


def passes(rows: float, count: float = 1.0) -> float:
    """Products with a square matrix, or substitutions."""
    return count * PASS * rows**2
