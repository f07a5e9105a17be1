"""The variables W that are moved together, and the problem over them alone.

W has the free variables and a sample of those that violate KKT, drawn among those that violate it
by a twentieth of the worst or more. The worst alone are much alike: once a few have moved, the
others no longer violate. With all other variables held fixed at β_N, the problem over W is

    minimise   ½ β_Wᵀ K_WW β_W + (p_W + K_WN β_N)ᵀ β_W
    subject to l_W ≤ β_W ≤ u_W   and, for each group g,   Σ_{W∩g} β = d_g − Σ_{N∩g} β

a `DualProblem` again, so that any solver can take it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from maxmargin.gram import Gram
from maxmargin.problem import DualProblem, Interrupted, Solution
from maxmargin.resources.arrays import Floats, Numbers
from maxmargin.solvers.progress import Criterion
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.solver import Solver


def working_set(
    state: DualState, size: int, share: float, rng: np.random.Generator
) -> tuple[Numbers, float]:
    """The free variables, up to a share of the set, and violators that can rise or fall.

    Also returns the worst violation of the others: −G − b if β can rise, G + b if it can fall.
    """
    problem, beta = state.problem, state.beta
    can_rise, can_fall = beta < problem.upper, beta > problem.lower
    free = np.flatnonzero(can_rise & can_fall)
    if size >= problem.size:
        return np.arange(problem.size), 0.0
    residual = state.residual()
    rise, fall = np.where(can_rise, -residual, 0.0), np.where(can_fall, residual, 0.0)
    groups = range(max(problem.n_groups, 1))
    chosen = np.zeros(problem.size, bool)
    most_free = min(int(share * size), size - 2 * len(groups))  # leaves a violator of each side
    chosen[most(np.abs(residual), free, most_free)] = True
    each = (size - int(chosen.sum())) // (2 * len(groups))
    for g in groups:
        for violation, can_move in ((rise, can_rise), (fall, can_fall)):
            candidates = np.flatnonzero(can_move & (problem.group == g) & ~chosen)
            violations = violation[candidates]
            bad = candidates[violations > 0.05 * violations.max(initial=0)]
            if len(bad) > each:
                some = rng.choice(bad, each, replace=False)
                some[:1] = bad[violation[bad].argmax()]  # the worst pair is in the set
                chosen[some] = True
            else:
                chosen[most(violation, candidates, each)] = True
    W = np.flatnonzero(chosen)
    others = np.maximum(rise, fall)
    others[W] = 0.0
    return W, float(others.max())


def most(score: Floats, candidates: Numbers, count: int) -> Numbers:
    """The `count` candidates with the largest score."""
    if len(candidates) <= count:
        return candidates
    return candidates[np.argpartition(-score[candidates], count)[:count]]


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
    change again, and the gap of one says little about that of all. A solver that need not raise
    the dual on its way has the last tol at once, or it could end below its start.
    """
    violation = state.problem.violation(state.beta, state.gradient)
    left = max(state.most_seconds - state.seconds, 0.0)
    aim = 0.5 * tol if inner.patience == np.inf else max(0.1 * violation, 0.5 * tol)
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


def apart(p: DualProblem, beta: Floats) -> Floats:
    """β without what two variables of a regressor's row have in common: one of them is then 0.

    β₊ ≥ 0 pulls f(x_i) up and β₋ ≤ 0 down. Moving both by t towards 0 changes neither Kβ nor a sum,
    and pᵀβ falls by t (p₊ − p₋) = 2εt. SMO brings that about where its violation of 2ε is the
    worst; where C is large, those that rounding leaves are worse, and many rows keep both. Newton's
    method on a face needs one of them to be fixed: rows twice in K_FF make it singular.

    Examples
    --------
    >>> y, rows = np.array([1.0, 2.0]), np.array([0, 1, 0, 1])
    >>> p = DualProblem(
    ...     linear=np.r_[0.1 - y, -0.1 - y],
    ...     lower=np.array([0.0, 0.0, -9.0, -9.0]),
    ...     upper=np.array([9.0, 9.0, 0.0, 0.0]),
    ...     rows=rows,
    ... )
    >>> apart(p, np.array([5.0, 1.0, -3.0, -3.0]))
    array([ 2.,  0.,  0., -2.])
    """
    if p.rows is None or p.n_groups > 1:
        return beta
    above, below = (np.bincount(p.rows, np.maximum(side, 0.0)) for side in (beta, -beta))
    t = np.minimum(above, below)
    if not t.any():
        return beta
    pairs = np.bincount(p.rows, beta != 0) == 2
    pairs &= np.bincount(p.rows, np.sign(beta) * p.linear) >= 0
    moved = beta - np.sign(beta) * np.where(pairs, t, 0.0)[p.rows]
    inside = (p.lower <= moved) & (moved <= p.upper)
    return moved if inside.all() else beta
