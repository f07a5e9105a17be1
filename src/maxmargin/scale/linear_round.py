"""One step of Newton's method for a linear machine, as each partition computes it.

With e = y − Xw − b + δβ⁰ and q = κ/c, the point (w, b) implies for each row

    β = clip( soft(e, ε) / (q + δ), l, u ),

of which a partition returns sums over its rows: the loss, Xᵀβ, and XᵀΘX with θ = 1 / (q + δ) where
β moves with e, else 0. A loss of quadratic pieces needs no δ. For one of linear pieces q = 0, and
β⁰, which stays with its rows, is the β of the last proximal step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.problem import LinearProblem
from maxmargin.resources.arrays import Data, Floats, Labels, Mask
from maxmargin.scale import feature_round
from maxmargin.scale.partitions import Block

# Lengths of a step at which its slope is computed: where β has many kinks, the best is short.
LENGTHS = np.array([0, *2.0 ** np.arange(-16, -4), *feature_round.LENGTHS[1:]])
# Which of some rows have a weight, and the problem of these, from their labels and weights.
LinearShare = Callable[[Labels | None, Floats], tuple[Mask, LinearProblem]]


class LinearPoint(NamedTuple):
    """The point at which partitions compute their sums.

    Attributes
    ----------
    share : makes the problem of a block
    centre : what is subtracted from each row
    coef, offset : w and b
    delta : δ
    settle : δ of the proximal step that ends here, whose β becomes β⁰; 0 if none does
    """

    share: LinearShare
    centre: Floats
    coef: Floats
    offset: float
    delta: float
    settle: float = 0.0


class LinearSums(NamedTuple):
    """Sums over the rows of a partition.

    Attributes
    ----------
    loss, conjugate : Σ c L and Σ c L*(−β / c)
    image : Xᵀβ
    square, line, total : XᵀΘX, Xᵀθ and Σθ
    above, below : Σ of the positive β, and of the negative ones
    """

    loss: float
    conjugate: float
    image: Floats
    square: Floats
    line: Floats
    total: float
    above: float
    below: float


def sums_at(
    block: Block, point: LinearPoint, own: None, anchor: Floats | None
) -> tuple[Floats | None, LinearSums]:
    """β⁰, and the sums at a point."""
    X, problem, values = rows_at(block, point)
    if point.settle and anchor is not None:
        anchor = implied(problem, values, anchor, point.settle)[0]
    elif anchor is None and not problem.loss.kappa:
        anchor = np.zeros(len(values))
    beta, theta = implied(problem, values, anchor, point.delta)
    loss = float(problem.cost @ problem.loss.value(problem.y, values))
    moving = np.flatnonzero(theta)
    some, by = X[moving], theta[moving]
    weighted = some.multiply(by[:, None]).tocsr() if sp.issparse(some) else some * by[:, None]
    square = some.T @ weighted
    return anchor, LinearSums(
        loss,
        float(problem.cost @ problem.loss.conjugate(problem.y, -beta / problem.cost)),
        X.T @ beta,
        square.toarray() if sp.issparse(square) else square,
        some.T @ by,
        float(by.sum()),
        float(beta[beta > 0].sum()),
        float(beta[beta < 0].sum()),
    )


def slopes_along(
    block: Block, point: LinearPoint, own: tuple[Floats, float], anchor: Floats | None
) -> tuple[Floats | None, Floats]:
    """Σ β_i times the change of the value of row i, at each of `LENGTHS` along a direction."""
    X, problem, values = rows_at(block, point)
    along = X @ own[0] + own[1]
    steps = [implied(problem, values + t * along, anchor, point.delta)[0] for t in LENGTHS]
    return anchor, np.array([beta @ along for beta in steps])


def dual_at(
    block: Block, shared: tuple[LinearPoint, float, float], own: None, anchor: Floats | None
) -> tuple[Floats | None, tuple[float, Floats]]:
    """The linear part of D and Xᵀβ, of β whose positive and negative parts are made smaller."""
    X, problem, beta = feasible_at(block, shared, anchor)
    conjugate = problem.loss.conjugate(problem.y, -beta / problem.cost)
    return anchor, (-float(problem.cost @ conjugate), X.T @ beta)


def violation_at(
    block: Block, shared: tuple[LinearPoint, float, float], own: Floats, anchor: Floats | None
) -> tuple[Floats | None, tuple[float, float]]:
    """The largest slope by which a β of that point can rise, and the smallest by which it can fall.

    `own` is Xᵀβ over all partitions.
    """
    X, problem, beta = feasible_at(block, shared, anchor)
    (lower, upper), (right, left) = problem.bounds, problem.slopes(beta, X @ own)
    rise = float(np.max(-right[beta < upper], initial=-np.inf))
    return anchor, (rise, float(np.min(-left[beta > lower], initial=np.inf)))


# --- the parts ----------------------------------------------------------------------------


def rows_at(block: Block, point: LinearPoint) -> tuple[Data, LinearProblem, Floats]:
    """The rows that have a weight, their problem, and wᵀx + b of each."""
    present, problem = point.share(block.y, block.weights_or_ones)
    X = block.X if present.all() else block.X[present]
    X = X if sp.issparse(X) else X.astype(np.float64) - point.centre
    return X, problem, X @ point.coef + point.offset


def feasible_at(
    block: Block, shared: tuple[LinearPoint, float, float], anchor: Floats | None
) -> tuple[Data, LinearProblem, Floats]:
    """The rows, their problem, and β whose positive and negative parts are made smaller."""
    point, above, below = shared
    X, problem, values = rows_at(block, point)
    beta, _ = implied(problem, values, anchor, point.delta)
    return X, problem, beta * np.where(beta > 0, above, below)


def implied(
    problem: LinearProblem, values: Floats, anchor: Floats | None, delta: float
) -> tuple[Floats, Floats]:
    """β and θ."""
    excess = problem.y - values
    if anchor is not None:
        excess = excess + delta * anchor
    if problem.loss.epsilon:
        excess = excess - np.clip(excess, -problem.loss.epsilon, problem.loss.epsilon)
    lower, upper = problem.bounds
    steep = 1 / (problem.curvature + delta)
    reach = excess * steep
    beta = np.clip(reach, lower, upper)
    moves = (reach > lower) & (reach < upper) & (reach != 0)
    return beta, np.where(moves, steep, 0.0)
