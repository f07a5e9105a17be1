"""The default solver of the linear machines: coordinate descent, then interior point if need be.

Coordinate descent is the faster one on most data, but it slows down as C and the rows grow;
interior point does not, but it needs few columns. Which it will be cannot be told beforehand. So
coordinate descent runs for as long as interior point would take; if the gap is not closed by then,
interior point takes over. That is never more than twice the time of the better one. A loss of
quadratic pieces leaves many variables free, which makes sweeps long, and has no kinks, which makes
interior point quick: there it goes first if the columns are few. So it does where all is small, for
it comes to the last digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

from maxmargin.solvers.dual_coordinate import DualCoordinateDescent
from maxmargin.solvers.linear import SMALL, LinearSolver, LinearState
from maxmargin.solvers.linear_interior_point import LinearInteriorPoint, cost_in_passes

CHEAP = 100  # sweeps
FEW = 200  # columns


@dataclass(frozen=True)
class Automatic(LinearSolver):
    """`DualCoordinateDescent`, then `LinearInteriorPoint` if the columns are few enough."""

    def iterate(self, state: LinearState) -> Iterator[bool]:
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        budget = cost_in_passes(state.problem, state.rows)
        small = state.rows.stored <= SMALL and state.rows.d <= FEW
        if small or (state.problem.loss.kappa and budget <= CHEAP):
            yield from LinearInteriorPoint(**options).iterate(state)
            return
        for worth in DualCoordinateDescent(**options).iterate(state):
            yield worth
            if state.passes >= budget:
                break
        else:
            return
        yield from LinearInteriorPoint(**options).iterate(state)
