"""The problem over a working set W, all other variables held fixed at β_N.

    minimise   ½ β_Wᵀ K_WW β_W + (p_W + K_WN β_N)ᵀ β_W
    subject to l_W ≤ β_W ≤ u_W   and, for each group g,   Σ_{W∩g} β = d_g − Σ_{N∩g} β

It is a `DualProblem` again, so that any solver can take it. Chunking and decomposition repeat
it; they differ in how they choose W.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from maxmargin.gram import Gram
from maxmargin.hardware.arrays import Floats, Numbers
from maxmargin.problem import DualProblem, Interrupted, Solution
from maxmargin.solvers.progress import Criterion
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.solver import Solver


def restricted(
    p: DualProblem, W: Numbers, linear: Floats, sums: Floats, rows: Numbers | None
) -> DualProblem:
    """The problem over β_W, whose linear part, sums and rows the other variables determine."""
    return DualProblem(linear, p.lower[W], p.upper[W], sums, p.group[W], rows)


def restrict(state: DualState, W: Numbers) -> tuple[DualProblem, Gram]:
    """The problem over β_W, and its Gram matrix."""
    p, beta = state.problem, state.beta[W]
    rows, row_of = np.unique(p.row_of(W), return_inverse=True)
    gram = state.gram.take(rows)
    linear = state.gradient[W] - gram.dot(row_of, beta)[row_of]
    sums = np.array([beta[p.group[W] == g].sum() for g in range(p.n_groups)])
    return restricted(p, W, linear, sums, row_of), gram


def improve(state: DualState, W: Numbers, inner: Solver, tol: float) -> None:
    """Move β_W to the solution of `inner`.

    Its tol is a tenth of the present violation, half of `tol` in the end: early working sets
    change again, and the gap of one says little about that of all.
    """
    violation = state.problem.violation(state.beta, state.gradient)
    left = max(state.most_seconds - state.seconds, 0.0)
    aim = max(0.1 * violation, 0.5 * tol)
    inner = replace(inner, tol=aim, max_time=left, criterion=Criterion.KKT)
    problem, gram = restrict(state, W)
    try:
        adopt(state, W, inner.solve(problem, gram, start=state.beta[W]))
    except Interrupted as stop:
        adopt(state, W, stop.solution)
        raise
    finally:
        state.gram.evaluations += gram.evaluations


def adopt(state: DualState, W: Numbers, solution: Solution) -> None:
    """Set β_W to what was found."""
    moved = solution.beta != state.beta[W]
    state.move_to(W[moved], solution.beta[moved], steps=solution.n_iter)


def worst_violators(state: DualState, count: int, tol: float) -> Numbers:
    """The variables that violate KKT most, about half that can rise and half that can fall.

    Per group the largest −G that can rise and the smallest that can fall: the worst pair is always
    among them.
    """
    p, beta, score = state.problem, state.beta, -state.gradient
    n_groups = max(p.n_groups, 1)
    up, down = p.sides(beta, state.gradient)[:2]
    if p.n_groups == 0:
        up, down = np.zeros(1), np.zeros(1)
    each = max(1, count // (2 * n_groups))
    chosen = []
    for g in range(n_groups):
        inside = p.group == g
        rising = np.flatnonzero(inside & (beta < p.upper) & (score > down[g] + tol))
        falling = np.flatnonzero(inside & (beta > p.lower) & (score < up[g] - tol))
        chosen += [rising[np.argsort(-score[rising])[:each]]]
        chosen += [falling[np.argsort(score[falling])[:each]]]
    return np.unique(np.concatenate(chosen))
