"""Pictures of machines, after scikit-learn's Display convention (extra ``plot``).

A display is computed once, by ``from_estimator`` or its like, and drawn as often as wanted, by
``plot``, on any matplotlib axes; what was drawn is kept in attributes that end in ``_``.
"""

from maxmargin.plots.convergence import ConvergenceDisplay
from maxmargin.plots.descent import DescentDisplay
from maxmargin.plots.explanation import ExplanationDisplay
from maxmargin.plots.kernel import KernelErrorDisplay, KernelMatrixDisplay
from maxmargin.plots.losses import LossDisplay
from maxmargin.plots.margin import MarginDisplay
from maxmargin.plots.pair_step import PairStepDisplay
from maxmargin.plots.palette import theme
from maxmargin.plots.path import PathDisplay
from maxmargin.plots.race import plot_race
from maxmargin.plots.regions import RegionsDisplay
from maxmargin.plots.rounds import RoundsDisplay
from maxmargin.plots.search import CPathDisplay, SearchDisplay
from maxmargin.plots.tube import TubeDisplay

__all__ = [
    "CPathDisplay",
    "ConvergenceDisplay",
    "DescentDisplay",
    "ExplanationDisplay",
    "KernelErrorDisplay",
    "KernelMatrixDisplay",
    "LossDisplay",
    "MarginDisplay",
    "PairStepDisplay",
    "PathDisplay",
    "RegionsDisplay",
    "RoundsDisplay",
    "SearchDisplay",
    "TubeDisplay",
    "plot_race",
    "theme",
]
