"""Solvers of the one dual problem: one file, one algorithm, one page."""

from maxmargin.solvers.base import Solver
from maxmargin.solvers.block_smo import BlockSMO
from maxmargin.solvers.chunking import Chunking
from maxmargin.solvers.coordinate_descent import CoordinateDescent
from maxmargin.solvers.decomposition import Decomposition
from maxmargin.solvers.interior_point import InteriorPoint
from maxmargin.solvers.maximal_violating_pair_smo import MaximalViolatingPairSMO
from maxmargin.solvers.platt_smo import PlattSMO
from maxmargin.solvers.progress import Progress
from maxmargin.solvers.random_pair_smo import RandomPairSMO
from maxmargin.solvers.second_order_smo import SecondOrderSMO
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

__all__ = [
    "SOLVERS",
    "BlockSMO",
    "Chunking",
    "CoordinateDescent",
    "Decomposition",
    "InteriorPoint",
    "MaximalViolatingPairSMO",
    "PlattSMO",
    "Progress",
    "RandomPairSMO",
    "SecondOrderSMO",
    "SimplifiedSMO",
    "Solver",
    "State",
    "Step",
]
