"""Solvers: one file, one algorithm, one page.

Those in `SOLVERS` take the one dual problem, those in `LINEAR_SOLVERS` the linear machines'.
"""

from maxmargin.solvers.automatic import Automatic
from maxmargin.solvers.base import Solver
from maxmargin.solvers.block_smo import BlockSMO
from maxmargin.solvers.chunking import Chunking
from maxmargin.solvers.coordinate_descent import CoordinateDescent
from maxmargin.solvers.decomposition import Decomposition
from maxmargin.solvers.dual_coordinate import DualCoordinateDescent
from maxmargin.solvers.feature_newton import FeatureNewton
from maxmargin.solvers.interior_point import InteriorPoint
from maxmargin.solvers.linear import LinearProgress, LinearSolution, LinearSolver
from maxmargin.solvers.linear_interior_point import LinearInteriorPoint
from maxmargin.solvers.maximal_violating_pair_smo import MaximalViolatingPairSMO
from maxmargin.solvers.newton import Newton
from maxmargin.solvers.platt_smo import PlattSMO
from maxmargin.solvers.progress import Progress
from maxmargin.solvers.random_pair_smo import RandomPairSMO
from maxmargin.solvers.second_order_smo import SecondOrderSMO
from maxmargin.solvers.sgd import SGD
from maxmargin.solvers.simplified_smo import SimplifiedSMO
from maxmargin.solvers.state import State, Step

SOLVERS: dict[str, type[Solver]] = {
    "block": BlockSMO,
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

__all__ = [
    "LINEAR_SOLVERS",
    "SGD",
    "SOLVERS",
    "Automatic",
    "BlockSMO",
    "Chunking",
    "CoordinateDescent",
    "Decomposition",
    "DualCoordinateDescent",
    "FeatureNewton",
    "InteriorPoint",
    "LinearInteriorPoint",
    "LinearProgress",
    "LinearSolution",
    "LinearSolver",
    "MaximalViolatingPairSMO",
    "Newton",
    "PlattSMO",
    "Progress",
    "RandomPairSMO",
    "SecondOrderSMO",
    "SimplifiedSMO",
    "Solver",
    "State",
    "Step",
]
