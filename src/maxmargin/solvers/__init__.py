"""Solvers of the one dual problem: one file, one algorithm, one page."""

from maxmargin.solvers.base import Progress, Solver, State
from maxmargin.solvers.block_smo import BlockSMO
from maxmargin.solvers.second_order_smo import SecondOrderSMO

SOLVERS: dict[str, type[Solver]] = {
    "block": BlockSMO,
    "second-order": SecondOrderSMO,
}

__all__ = ["SOLVERS", "BlockSMO", "Progress", "SecondOrderSMO", "Solver", "State"]
