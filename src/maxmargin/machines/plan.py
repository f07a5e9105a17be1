"""The dual problems of a fit, and the layout of their coefficients over the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sklearn.base import BaseEstimator

from maxmargin.gram import Gram
from maxmargin.kernels import Kernel
from maxmargin.machines.multiclass import Made, Scheme, Split
from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Data, Floats, Numbers
from maxmargin.solvers import Solver


class Machine(Protocol):
    """The estimator as the forms of a kernel machine use it."""

    C: float
    tol: float
    max_iter: int
    solver: str | Solver
    criterion: str
    cache_size: float | None
    n_jobs: int | None
    approximation: str | BaseEstimator | None
    n_components: int | None
    refine: bool
    shape_fit_: tuple[int, ...]
    n_samples_seen_: int
    intercept_: Floats
    feature_coef_: Floats
    n_support_: Numbers
    support_vectors_: Data

    def _kernel(self) -> Kernel: ...
    def _gram(self, kernel: Kernel, X: Data) -> Gram: ...
    def _validate(self, X: Data, *, reset: bool) -> Data: ...
    def _validate_for_prediction(self, X: Data) -> Data: ...
    def _kept(self, X: Data, support: Numbers, coef: Floats) -> dict[str, Any]: ...
    def _dense_dual_coef(self) -> Floats: ...
    def _scheme(self) -> Scheme: ...


@dataclass(frozen=True)
class Problems(Made[DualProblem]):
    """The binary problems of a classifier, from its splits and the bounds and counts of all rows.

    `problem(number, signs, bounds, counts)` formulates one of them.
    """

    problem: Callable[[int, Floats, Floats, Floats], DualProblem]
    splits: Sequence[Split]
    bounds: Floats
    counts: Floats

    def __len__(self) -> int:
        return len(self.splits)

    def make(self, number: int) -> DualProblem:
        """The problem of one split."""
        _, rows, signs = self.splits[number]
        return self.problem(number, signs, self.bounds[rows], self.counts[rows])


@dataclass(frozen=True)
class Plan:
    """The dual problems of a fit.

    Attributes
    ----------
    scheme : how coefficients are laid out over the rows, and decisions over the classes
    splits : the rows and the signs of each problem
    problems : one for each split
    bounds : the largest |β| of each row
    labels : the number of each row's class; support vectors are kept in this order
    attributes : fitted attributes that do not depend on the solutions
    pairs_of_c_svc : whether the problems are those of a C-SVC with an offset for pairs of classes
    """

    scheme: Scheme
    splits: Sequence[Split]
    problems: Sequence[DualProblem]
    bounds: Floats
    labels: Numbers
    attributes: dict[str, Any]
    pairs_of_c_svc: bool = False

    def listed(self) -> Plan:
        """The same, with splits and problems that are made once: for a solver that takes each."""
        return replace(self, splits=list(self.splits), problems=list(self.problems))

    @property
    def shares_rows(self) -> bool:
        """Whether a row belongs to every problem."""
        return any(isinstance(split.rows, slice) for split in self.splits)
