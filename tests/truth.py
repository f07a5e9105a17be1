"""What a solution says of itself, computed again by the definitions."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

import naive
from linear_problems import KINDS, LinearCase
from maxmargin.problem import DualProblem, Solution, Status
from maxmargin.solvers import Criterion, InteriorPoint, Solver
from maxmargin.solvers.qp.active_set import polished
from problems import CASES, AnyCase, FeatureCase, Squares


@dataclass(frozen=True)
class Truth:
    """A problem of any family, written as the one dual problem with its K over the variables."""

    case: AnyCase
    dual: DualProblem
    K: np.ndarray

    @classmethod
    def of(cls, case: AnyCase) -> "Truth":
        dual, gram = case.as_dual()
        everything = np.arange(gram.n)
        return cls(case, dual, naive.on_variables(dual, gram.block(everything, everything)))

    def objective(self, beta: np.ndarray) -> float:
        """D."""
        return -naive.objective(self.dual, self.K, self.case.variables(beta))

    def violation(self, beta: np.ndarray) -> float:
        return naive.violation(self.dual, self.K, self.case.variables(beta))

    def primal(self, solution: Solution) -> float:
        """P at the model of a solution."""
        case, dual, b = self.case, self.dual, solution.offsets
        if isinstance(case, LinearCase):
            offset = b[0] if case.fit_intercept else 0.0
            model = solution.coef, offset
            return naive.linear_primal(case.loss, KINDS[case.loss].epsilon, *case.data(), *model)
        if isinstance(case, FeatureCase):
            Z, w = Squares().transform(case.make()[2]), solution.coef
            return naive.primal(dual, w @ w, dual.on_variables(Z @ w) + dual.linear, b)
        square = solution.beta @ self.K @ solution.beta
        return naive.primal(dual, square, naive.gradient(dual, self.K, solution.beta), b)

    def rounding(self, beta: np.ndarray) -> float:
        """Of D: the terms that are summed can be much larger than their sum.

        And w may be what rounding leaves of a 0, where D is its square.
        """
        size, K = np.abs(self.case.variables(beta)), np.abs(self.K)
        return 1e-11 * float(size @ K @ size + size @ np.abs(self.dual.linear)) + 1e-30 * K.max()

    def assert_feasible(self, beta: np.ndarray) -> None:
        dual, beta = self.dual, self.case.variables(beta)
        assert np.all((dual.lower <= beta) & (beta <= dual.upper))
        for g, total in enumerate(dual.sums):
            part = beta[dual.group == g]
            assert part.sum() == pytest.approx(total, rel=1e-12, abs=1e-12 * np.abs(part).sum())

    def assert_proven(self, solver: Solver, solution: Solution) -> None:
        """Feasible, with the values and the status that it should have, optimal or not."""
        values, rounding = solution.values, self.rounding(solution.beta)
        self.assert_feasible(solution.beta)
        assert values.dual == pytest.approx(self.objective(solution.beta), abs=rounding)
        primal = self.primal(solution)
        assert values.primal == pytest.approx(primal, rel=1e-10, abs=rounding)
        assert values.gap >= -rounding - 1e-11 * abs(values.primal)
        distance = values.relative_gap
        if solver.criterion is not Criterion.GAP:
            violation = self.violation(solution.beta)
            largest = np.abs(self.K @ self.case.variables(solution.beta)).max()
            assert values.violation == pytest.approx(violation, abs=1e-11 * (1 + largest))
            distance = max(violation, distance if solver.criterion is Criterion.BOTH else 0.0)
        assert (solution.status is Status.CONVERGED) == (distance <= solver.tol)


@cache
def truth_of(name: str) -> Truth:
    return Truth.of(CASES[name])


@cache
def optimum(name: str) -> float:
    """D by interior point, polished to the last digits, and judged naively."""
    dual, gram = CASES[name].as_dual()
    K = truth_of(name).K
    solution = InteriorPoint(tol=1e-7, criterion=Criterion.KKT).solve(dual, gram)
    beta, _ = polished(dual, gram, solution.beta, solution.gradient)
    assert naive.violation(dual, K, beta) <= 1e-11 * max(1.0, np.abs(K @ beta).max())
    return -naive.objective(dual, K, beta)
