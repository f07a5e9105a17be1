"""Interior point: the whole quadratic program, handed to a general solver.

    minimise   ½ βᵀKβ + pᵀβ   subject to   Aβ = d,   l ≤ β ≤ u

with one row of A per group, as it stands: K dense, all of it in memory, some fifteen Newton
steps of m³/3 operations each. The slow truth that other solvers are compared with.

An interior point only comes near its bounds. So the result is settled: a variable goes to the
bound whose multiplier is larger than its distance, both in their natural units, and the free
ones carry what the sums then lack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.gram import Gram
from maxmargin.problem import DualProblem, Status
from maxmargin.solvers.base import Ending, Moves, Solver, State, require_positive

ACCURACY = 1e-11  # of residuals and gap: some twenty steps reach it,
MOST_STEPS = 50  # unless rounding does not let them


@dataclass(frozen=True)
class InteriorPoint(Solver):
    """A primal-dual interior-point method on the dense matrix (PIQP; extra `qp`).

    Parameters
    ----------
    largest : most variables it takes, for time grows with their cube and memory with the square
    """

    largest: int = 5000

    def __post_init__(self) -> None:
        require_positive(self, "largest")

    def check(self, problem: DualProblem, gram: Gram) -> None:
        super().check(problem, gram)
        piqp()
        if problem.size > self.largest:
            raise ValueError(
                f"InteriorPoint(largest={self.largest}) cannot take {problem.size} variables: the "
                "dense matrix is too large; use BlockSMO or SecondOrderSMO, or raise `largest`"
            )

    def iterate(self, state: State) -> Moves:
        p, everything = state.problem, np.arange(state.problem.size)
        rows, state.dtype = p.row_of(everything), np.float64
        A = np.equal.outer(np.arange(p.n_groups), p.group).astype(float)
        qp = piqp().DenseSolver()
        qp.settings.max_iter = int(min(MOST_STEPS, state.most_steps))
        for name in ("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel"):
            setattr(qp.settings, name, ACCURACY)
        K = np.asfortranarray(state.gram.block(rows, rows))
        bounds = {"x_l": p.lower, "x_u": p.upper}
        if p.n_groups:
            qp.setup(K, p.linear, np.asfortranarray(A), p.sums, **bounds)
        else:
            qp.setup(K, p.linear, **bounds)
        status = qp.solve()
        state.steps += qp.result.info.iter
        state.move_to(everything, settled(p, K, qp.result), "interior point")
        yield
        return Ending(Status.STAGNATED, f"the accuracy of PIQP, which ended with {status.name}")


def settled(problem: DualProblem, K: np.ndarray, result: Any) -> np.ndarray:
    """A feasible point whose variables are at their bounds where the multipliers say so."""
    beta = np.clip(result.x, problem.lower, problem.upper)
    span, force = np.abs(beta).max(), np.abs(K @ beta).max() + np.abs(problem.linear).max()
    at_lower = (beta - problem.lower) * force < result.z_bl * span
    at_upper = (problem.upper - beta) * force < result.z_bu * span
    beta = np.where(at_lower, problem.lower, np.where(at_upper, problem.upper, beta))
    for g, total in enumerate(problem.sums):
        free = (problem.group == g) & ~at_lower & ~at_upper
        if free.any():
            beta[free] += (total - beta[problem.group == g].sum()) / np.count_nonzero(free)
    return problem.feasible(beta)


def piqp() -> Any:
    """The module, or how to get it."""
    try:
        import piqp
    except ImportError as error:
        raise ImportError("InteriorPoint needs piqp: pip install 'maxmargin[qp]'") from error
    return piqp
