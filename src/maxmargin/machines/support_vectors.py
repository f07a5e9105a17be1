"""The exact machine: w = Σ β_i φ(x_i), given by its support vectors.

`SupportVectors` and `FeatureMap` are the two forms of a kernel machine. `fit` chooses one, or one
after the other; the form then decides the matrix, the solver, the fitted attributes and how to
predict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from maxmargin.certificate import Certificate
from maxmargin.gram import Cross, Gram
from maxmargin.kernels import Kernel
from maxmargin.machines.answers import Answers, PairAnswers
from maxmargin.machines.definiteness import evidence
from maxmargin.machines.plan import Machine, Plan
from maxmargin.problem import DualProblem, Solution
from maxmargin.resources.arrays import Data, Floats, Mask, Numbers
from maxmargin.resources.threads import thread_count
from maxmargin.solvers import SOLVERS, BlockSMO, Criterion, Solver, as_solver
from maxmargin.solvers.qp.all_pairs import LONGEST

AT_ONCE = 1 << 21  # decision values, or entries of K, that are computed at a time: 16 to 48 MB
AT_LEAST = 16  # rows that are: of a thousand classes, 200 MB, but fewer take twice as long for each
KEPT = 1 << 20  # numbers of support vectors that are kept laid out: 8 to 24 MB


@dataclass(frozen=True)
class SupportVectors:
    """f(x) = Σ β_i k(x_i, x) + b, over the rows with β_i ≠ 0.

    Parameters
    ----------
    kernel : Kernel, bound to the data
    """

    kernel: Kernel
    # The support vectors as they were laid out for the last prediction.
    _last: list[Cross] = field(default_factory=list, init=False, compare=False, repr=False)

    def __reduce__(self) -> tuple[type[SupportVectors], tuple[Kernel]]:
        return SupportVectors, (self.kernel,)

    def matrix(self, machine: Machine, X: Data, plan: Plan) -> Gram:
        """K, that of the kernel."""
        return machine._gram(self.kernel, X)

    def solver(self, machine: Machine) -> Solver:
        """The solver named or given; `tol`, `max_iter` and `criterion` are the machine's."""
        solver, criterion = as_solver(machine.solver, SOLVERS), Criterion(machine.criterion)
        return replace(solver, tol=machine.tol, max_iter=machine.max_iter, criterion=criterion)

    def all_pairs(self, machine: Machine, plan: Plan) -> bool:
        """Whether the problems are solved together, as pairs of classes of few rows."""
        if not (plan.pairs_of_c_svc and self.kernel.positive_definite):
            return False
        criterion = Criterion(machine.criterion)
        if self.solver(machine) != BlockSMO(tol=machine.tol, criterion=criterion):
            return False
        sizes = np.sort(np.bincount(plan.labels))
        return bool(sizes[-2:].sum() <= LONGEST and sizes[-1] * len(plan.labels) <= AT_ONCE)

    def in_parallel(self, plan: Plan) -> bool:
        """Whether problems are solved in parallel.

        Problems of few rows spend their time in Python, which runs one thread at a time; and
        threads must not share a matrix whose rows are computed on demand.
        """
        rows = [len(split.signs) for split in plan.splits]
        return not plan.shares_rows and max(rows) > LONGEST

    def attributes(
        self,
        machine: Machine,
        X: Data,
        support: Numbers,
        coef: Floats,
        states: Answers | PairAnswers,
    ) -> dict[str, Any]:
        """The support vectors and their coefficients."""
        return {**machine._kept(X, support, coef), "kernel_": self.kernel, "_form_": self}

    def indefinite(
        self,
        X: Data,
        problems: Sequence[DualProblem],
        solutions: Sequence[Solution],
        stopped: Callable[[], object],
    ) -> str:
        """What shows that K is indefinite, so that there is no bound; "" if nothing does."""
        return evidence(self.kernel, X, problems, solutions, stopped)

    def certificate(self, proof: Certificate) -> Certificate:
        """The certificate, which holds for the kernel itself."""
        return proof

    def decisions(self, machine: Machine, X: Data) -> Iterator[Floats]:
        """Decision values, one column per problem, of some rows at a time."""
        X = machine._validate_for_prediction(X)
        ends = np.concatenate([[0], np.cumsum(machine.n_support_)])
        cross, coef = self._cross(machine), machine._dense_dual_coef()
        scheme, n = machine._scheme(), X.shape[0]
        step = max(AT_LEAST, AT_ONCE // len(machine.intercept_))
        for start in range(0, n, step):
            rows = X if n <= step else X[start : start + step]

            def products(coef: Floats, ends: Numbers, rows: Data = rows) -> Floats:
                return cross.dot(rows, coef, ends.tolist())

            values = scheme.decide(coef, ends, products)
            values += machine.intercept_
            yield values

    def positive(self, machine: Machine, X: Data) -> Mask:
        """Which rows have a positive decision value, of a machine with one problem."""
        X, coef = machine._validate_for_prediction(X), machine._dense_dual_coef()[0]
        return self._cross(machine).signs(X, coef, float(machine.intercept_[0]))

    def _cross(self, machine: Machine) -> Cross:
        """The support vectors, laid out; kept for the next call if they are few."""
        vectors, threads = machine.support_vectors_, thread_count(machine.n_jobs)
        for cross in self._last:
            if cross.Z is vectors and cross.threads == threads:
                return cross
        cross = Cross(self.kernel, vectors, threads)
        if vectors.size <= KEPT:
            self._last[:] = [cross]
        return cross
