"""Choosing a machine: the search over C, γ and ε, exact leave-one-out, paths along C."""

from maxmargin.selection.bounds import Estimate
from maxmargin.selection.learned_metric import LearnedMetric
from maxmargin.selection.leave_one_out import LeaveOneOut, leave_one_out
from maxmargin.selection.path import CPath, c_path
from maxmargin.selection.search import Search
from maxmargin.selection.svc_cv import SVCCV
from maxmargin.selection.svr_cv import SVRCV
from maxmargin.selection.tabular import TabularSVC, TabularSVR
from maxmargin.selection.tune import tune

__all__ = [
    "SVCCV",
    "SVRCV",
    "CPath",
    "Estimate",
    "LearnedMetric",
    "LeaveOneOut",
    "Search",
    "TabularSVC",
    "TabularSVR",
    "c_path",
    "leave_one_out",
    "tune",
]
