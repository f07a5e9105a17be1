"""The default solver of the linear machines: coordinate descent, then Newton if need be.

Coordinate descent is the faster one on most data, but it slows down as C and the rows grow; methods
of Newton's kind do not, but they need few columns: on P itself if the loss has quadratic pieces, by
interior point if it has kinks. Which it will be cannot be told beforehand. So coordinate descent
runs for as long as the other would take; if the gap is not closed by then, nor will be in as much
time again at the speed it falls, the other takes over. Where the other costs only a few sweeps it
goes first; so it does where all is small, for it comes to the last digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from maxmargin.primal import PrimalProblem
from maxmargin.rows import Rows, dot
from maxmargin.solvers.dual_coordinate import DualCoordinateDescent
from maxmargin.solvers.linear import SMALL, LinearSolver, LinearState
from maxmargin.solvers.linear_interior_point import LinearInteriorPoint
from maxmargin.solvers.newton import Newton

CHEAP = 10  # sweeps
FEW = 200  # columns


@dataclass(frozen=True)
class Automatic(LinearSolver):
    """`DualCoordinateDescent`; with few columns `Newton` or `LinearInteriorPoint`."""

    def iterate(self, state: LinearState) -> Iterator[bool]:
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        second = (Newton if state.problem.loss.kappa else LinearInteriorPoint)(**options)
        budget = cost_in_passes(state.problem, state.rows)
        small = state.rows.stored <= SMALL and state.rows.d <= FEW
        if small or budget <= CHEAP:
            yield from second.iterate(state)
            return
        passes, gap = 0.0, 1.0
        for worth in DualCoordinateDescent(**options).iterate(state):
            yield worth
            if not worth:
                continue
            speed = np.log(gap / state.best.relative_gap) / (state.passes - passes)
            passes, gap = state.passes, state.best.relative_gap
            if passes >= budget and np.log(gap / state.aim) > speed * budget:
                break
        else:
            return
        yield from second.iterate(state)


def cost_in_passes(problem: PrimalProblem, rows: Rows) -> float:
    """About how many sweeps the other solver costs; measured, not derived.

    A multiplication in dense matrices is `blas` times faster than in rows.
    """
    steps, passes, blas = (4, 1, 64) if problem.loss.kappa else (20, 7, 16)
    if rows.sparse:
        lengths = np.diff(rows.parts[2]).astype(float)
        products, sweep = dot(lengths, lengths) / 2, 6 * rows.stored
    else:
        products, sweep = rows.n * rows.d**2 / blas, rows.stored
    step = products + rows.d**3 / blas + passes * rows.stored
    return steps * step / max(sweep, 1)
