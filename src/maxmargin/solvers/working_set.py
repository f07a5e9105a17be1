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
from maxmargin.problem import DualProblem, Status
from maxmargin.solvers.base import Solver, State


def restrict(state: State, W: np.ndarray) -> tuple[DualProblem, Gram]:
    """The problem over β_W, and its Gram matrix."""
    p, beta = state.problem, state.beta[W]
    rows, row_of = np.unique(p.row_of(W), return_inverse=True)
    gram = state.gram.take(rows)
    group = p.group[W]
    problem = DualProblem(
        linear=state.gradient[W] - gram.dot(row_of, beta)[row_of],
        lower=p.lower[W],
        upper=p.upper[W],
        sums=np.array([beta[group == g].sum() for g in range(p.n_groups)]),
        group=group,
        rows=row_of,
    )
    return problem, gram


def improve(state: State, W: np.ndarray, inner: Solver, tol: float) -> Status:
    """Move β_W to what `inner` makes of it.

    It is asked for a tenth of the present violation, or half of `tol` in the end: early working
    sets are not worth more.
    """
    violation = state.problem.violation(state.beta, state.gradient)
    left = max(state.most_seconds - state.seconds, 0.0)
    inner = replace(inner, tol=max(0.1 * violation, 0.5 * tol), max_time=left)
    problem, gram = restrict(state, W)
    solution = inner.solve(problem, gram, start=state.beta[W])
    state.gram.evaluations += gram.evaluations
    state.steps += solution.n_iter
    moved = solution.beta != state.beta[W]
    state.move_to(W[moved], solution.beta[moved])
    return solution.status


def worst_violators(state: State, count: int, tol: float) -> np.ndarray:
    """The variables that violate KKT most, about half to go up and half to go down.

    Those of a group come in the order of −G: from the top if they can go up, from the bottom if
    they can go down. So the worst pair is always among them.
    """
    p, beta, wish = state.problem, state.beta, -state.gradient
    n_groups = max(p.n_groups, 1)
    up, down = p.sides(beta, state.gradient)[:2]
    if p.n_groups == 0:
        up, down = np.zeros(1), np.zeros(1)
    each = max(1, count // (2 * n_groups))
    chosen = []
    for g in range(n_groups):
        inside = p.group == g
        rising = np.flatnonzero(inside & (beta < p.upper) & (wish > down[g] + tol))
        falling = np.flatnonzero(inside & (beta > p.lower) & (wish < up[g] - tol))
        chosen += [rising[np.argsort(-wish[rising])[:each]]]
        chosen += [falling[np.argsort(wish[falling])[:each]]]
    return np.unique(np.concatenate(chosen))
