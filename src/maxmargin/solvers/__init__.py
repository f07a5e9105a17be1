"""Solvers: one file per algorithm, one folder per family, one driver for all.

Those in `SOLVERS` take the one dual problem and its Gram matrix, those in `LINEAR_SOLVERS` the
linear machines' problem and the rows themselves; `FeatureNewton` takes the dual problem of a kernel
that is given by features.
"""

from maxmargin.solvers.driver import CLOCK, STOPPED
from maxmargin.solvers.features.newton import FeatureNewton
from maxmargin.solvers.linear.automatic import Automatic
from maxmargin.solvers.linear.crammer_singer import CrammerSingerDescent
from maxmargin.solvers.linear.dual_coordinate_descent import DualCoordinateDescent
from maxmargin.solvers.linear.interior_point import LinearInteriorPoint
from maxmargin.solvers.linear.l1_newton import L1Newton
from maxmargin.solvers.linear.newton import Newton
from maxmargin.solvers.linear.sgd import SGD
from maxmargin.solvers.linear.solver import LinearSolver
from maxmargin.solvers.progress import Criterion, Observer, Progress
from maxmargin.solvers.qp.block_interior_point import BlockInteriorPoint
from maxmargin.solvers.qp.block_smo import BlockSMO
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.solver import Solver, as_solver
from maxmargin.solvers.state import Moves, State, Step
from maxmargin.solvers.textbook.chunking import Chunking
from maxmargin.solvers.textbook.coordinate_descent import CoordinateDescent
from maxmargin.solvers.textbook.decomposition import Decomposition
from maxmargin.solvers.textbook.interior_point import InteriorPoint
from maxmargin.solvers.textbook.maximal_violating_pair_smo import MaximalViolatingPairSMO
from maxmargin.solvers.textbook.platt_smo import PlattSMO
from maxmargin.solvers.textbook.random_pair_smo import RandomPairSMO
from maxmargin.solvers.textbook.second_order_smo import SecondOrderSMO
from maxmargin.solvers.textbook.simplified_smo import SimplifiedSMO

SOLVERS: dict[str, type[Solver]] = {
    "block": BlockSMO,
    "block-interior-point": BlockInteriorPoint,
    "second-order": SecondOrderSMO,
    "maximal-violating-pair": MaximalViolatingPairSMO,
    "platt": PlattSMO,
    "simplified": SimplifiedSMO,
    "random-pair": RandomPairSMO,
    "coordinate-descent": CoordinateDescent,
    "chunking": Chunking,
    "decomposition": Decomposition,
    "interior-point": InteriorPoint,
}

LINEAR_SOLVERS: dict[str, type[LinearSolver]] = {
    "auto": Automatic,
    "dual": DualCoordinateDescent,
    "interior-point": LinearInteriorPoint,
    "newton": Newton,
    "sgd": SGD,
}

# The solver of "auto", by the problem that it takes.
AUTOMATIC: dict[type, type[LinearSolver]] = {
    solver.takes[0]: solver for solver in (Automatic, L1Newton, CrammerSingerDescent)
}

__all__ = [
    "AUTOMATIC",
    "CLOCK",
    "LINEAR_SOLVERS",
    "SGD",
    "SOLVERS",
    "STOPPED",
    "Automatic",
    "BlockInteriorPoint",
    "BlockSMO",
    "Chunking",
    "CoordinateDescent",
    "CrammerSingerDescent",
    "Criterion",
    "Decomposition",
    "DualCoordinateDescent",
    "DualState",
    "FeatureNewton",
    "InteriorPoint",
    "L1Newton",
    "LinearInteriorPoint",
    "LinearSolver",
    "MaximalViolatingPairSMO",
    "Moves",
    "Newton",
    "Observer",
    "PlattSMO",
    "Progress",
    "RandomPairSMO",
    "SecondOrderSMO",
    "SimplifiedSMO",
    "Solver",
    "State",
    "Step",
    "as_solver",
]
