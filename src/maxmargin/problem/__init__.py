"""The problems that the machines solve, and the answer to them."""

from maxmargin.problem.crammer_singer import CrammerSingerProblem
from maxmargin.problem.dual import DualProblem
from maxmargin.problem.l1 import L1Problem
from maxmargin.problem.linear import LinearProblem, Point
from maxmargin.problem.solution import Ending, Interrupted, Solution, Status, Values

__all__ = [
    "CrammerSingerProblem",
    "DualProblem",
    "Ending",
    "Interrupted",
    "L1Problem",
    "LinearProblem",
    "Point",
    "Solution",
    "Status",
    "Values",
]
