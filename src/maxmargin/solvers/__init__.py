"""Solvers: one file, one algorithm, one page.

Those in `SOLVERS` take the one dual problem, those in `LINEAR_SOLVERS` the linear machines'.
"""

from maxmargin.solvers.automatic import Automatic
from maxmargin.solvers.base import Progress, Solver, State
from maxmargin.solvers.block_smo import BlockSMO
from maxmargin.solvers.dual_coordinate import DualCoordinateDescent
from maxmargin.solvers.linear import LinearProgress, LinearSolution, LinearSolver
from maxmargin.solvers.linear_interior_point import LinearInteriorPoint
from maxmargin.solvers.second_order_smo import SecondOrderSMO
from maxmargin.solvers.sgd import SGD

SOLVERS: dict[str, type[Solver]] = {
    "block": BlockSMO,
    "second-order": SecondOrderSMO,
}

LINEAR_SOLVERS: dict[str, type[LinearSolver]] = {
    "auto": Automatic,
    "dual": DualCoordinateDescent,
    "interior-point": LinearInteriorPoint,
    "sgd": SGD,
}

__all__ = [
    "LINEAR_SOLVERS",
    "SGD",
    "SOLVERS",
    "Automatic",
    "BlockSMO",
    "DualCoordinateDescent",
    "LinearInteriorPoint",
    "LinearProgress",
    "LinearSolution",
    "LinearSolver",
    "Progress",
    "SecondOrderSMO",
    "Solver",
    "State",
]
