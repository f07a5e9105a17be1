"""Interior point: the whole quadratic program, handed to a general solver.

    minimise   ½ βᵀKβ + pᵀβ   subject to   Aβ = d,   l ≤ β ≤ u

with one row of A per group, as it stands: K dense, all of it in memory, some twenty Newton steps
of m³/3 operations each: the reference that other solvers are compared with.

The solver is PIQP. Of the eight on the registry that take such a problem it is the fastest on
every one tried (`experiments/qp_solvers.py`: at 1,000 rows .6 to .8 s, the next best 1.1 to
2.9 s), has a dense backend, takes bounds as bounds and a singular K as it is, and reaches 1e-11.
HiGHS, Clarabel and CVXOPT stop at violations of 1e-4 on some; DAQP, quadprog and ProxQP slow down
with the number of bounds reached, by up to fifty times; quadprog refuses a singular K; OSQP depends
on its polishing.

Reference: R. Schwan, Y. Jiang, D. Kuhn, C. N. Jones, PIQP: a proximal interior-point quadratic
programming solver, IEEE CDC (2023), 1088–1093.

An interior point only comes near its bounds. So a variable is set to the bound whose multiplier
exceeds its distance, and the free ones correct the sums. Multipliers and distances have different
units: a few ratios are tried, and the β of least violation is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.gram import Gram
from maxmargin.hardware.arrays import Floats
from maxmargin.problem import DualProblem, Ending, Status
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.solver import Solver, require_positive
from maxmargin.solvers.state import Moves

ACCURACY = 1e-11  # of residuals and gap: about twenty steps reach it (experiments/qp_solvers.py)
MOST_STEPS = 50  # ends a solve that rounding keeps above ACCURACY
RATES = np.array([1e-4, 1e-2, 1.0])  # of multipliers to distances; the best result is kept


@dataclass(frozen=True)
class InteriorPoint(Solver):
    """A primal-dual interior-point method on the dense matrix (PIQP; extra `qp`).

    Parameters
    ----------
    largest : int, default=5000
        Most variables it takes: time grows with their cube and memory with the square.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> SVC(solver=InteriorPoint()).fit(X, y).certificate_.status.value
    'converged'
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

    def iterate(self, state: DualState) -> Moves:
        p, everything = state.problem, np.arange(state.problem.size)
        rows, state.dtype = p.row_of(everything), np.float64
        A = np.equal.outer(np.arange(p.n_groups), p.group).astype(float)
        qp = piqp().DenseSolver()
        qp.settings.max_iter = int(min(MOST_STEPS, state.most_steps))
        for name in ("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel"):
            setattr(qp.settings, name, ACCURACY)
        # In x = β / unit and with G / scale, so that neither is smaller than the accuracy.
        unit = min(1.0, np.abs([p.lower, p.upper]).max())
        scale = min(1.0, max(np.abs(p.linear).max(), unit * state.diagonal.max()))
        K = np.asfortranarray(unit / scale * state.gram.square(rows))
        linear, bounds = p.linear / scale, {"x_l": p.lower / unit, "x_u": p.upper / unit}
        if p.n_groups:
            qp.setup(K, linear, np.asfortranarray(A), p.sums / unit, **bounds)
        else:
            qp.setup(K, linear, **bounds)
        status = qp.solve()
        choices = [
            settled(p, unit * qp.result.x, rate * qp.result.z_bl, rate * qp.result.z_bu)
            for rate in np.abs(qp.result.x).max() * RATES
        ]
        best = min(choices, key=lambda beta: p.violation(beta, K @ (beta / unit) + linear))
        state.move_to(everything, best, "interior point", steps=qp.result.info.iter)
        yield
        return Ending(Status.STAGNATED, f"the accuracy of PIQP, which ended with {status.name}")


def settled(problem: DualProblem, beta: Floats, pull_down: Floats, pull_up: Floats) -> Floats:
    """A feasible point whose variables are at a bound if nearer to it than its multiplier."""
    beta = np.clip(beta, problem.lower, problem.upper)
    at_lower = beta - problem.lower < pull_down
    at_upper = problem.upper - beta < pull_up
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
