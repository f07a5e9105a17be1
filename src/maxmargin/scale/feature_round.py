"""One step of proximal Newton on features, as each partition computes it.

With φ(x) = Mᵀv(x), Z = VM (see `features.feature_gram`), a partition computes v of its rows tile by
tile, keeps nothing of it, and returns sums over its rows: Vᵀβ, which the driver multiplies by Mᵀ,
and Z_FᵀZ_F over the few rows F whose β is free. These rows are multiplied by M themselves, for M
magnifies rounding errors of V_FᵀV_F beyond all bounds.

What stays with the rows is f = Zw, its change Zd along the present direction, and the point β⁰ of
the last proximal step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.features.feature_gram import Transformer, basis_of, mixing_of
from maxmargin.problem import DualProblem
from maxmargin.problem.dual import Terms
from maxmargin.resources.arrays import Data, Floats, Mask, Numbers, RealType
from maxmargin.resources.threads import available_cores, one_blas_thread, run_all
from maxmargin.scale.partitions import Block
from maxmargin.scale.round import Share, fetch
from maxmargin.scale.rows import RowSet

ENTRIES = 1 << 21  # of v in a tile: 8 MB in float32
# Lengths of a step at which its slope is computed: it is linear in between, but for kinks.
LENGTHS = np.array([0, 1 / 16, 1 / 8, 1 / 4, 3 / 8, 1 / 2, 5 / 8, 3 / 4, 7 / 8, 1, 1.5, 2, 4, 8])


class Memory(NamedTuple):
    """What a partition keeps: f, its change along the direction, and β⁰."""

    scores: Floats
    change: Floats
    anchor: Floats


class NewtonPoint(NamedTuple):
    """The point at which partitions compute their sums: what the driver tells them.

    Attributes
    ----------
    share, features : of the problem
    weights : Mw
    offset : b
    delta : δ
    move : how far the last direction is followed
    settle : δ of the proximal step that ends here, whose β becomes β⁰; 0 if none does
    threads : that a partition may use
    """

    share: Share
    features: Transformer
    weights: Floats
    offset: float
    delta: float
    move: float
    settle: float
    threads: int | None


class Sums(NamedTuple):
    """Sums over the rows of a partition: what ψ, its gradient and its curvature are made of."""

    loss: float
    slope: float
    total: float
    image: Floats
    square: Floats
    line: Floats
    free: int
    rooms: Floats


def measure(
    block: Block, point: NewtonPoint, own: None, state: Memory | None
) -> tuple[Memory, Sums]:
    """β of the point, and the sums that Newton's method needs there."""
    X, problem = members_of(block, point.share)
    if state is None:
        scores = scores_of(point, X, point.weights, np.float32)
        state = Memory(scores, np.zeros(len(scores)), np.zeros(problem.size))
    scores = state.scores + point.move * state.change
    residual = -(problem.on_variables(scores) + problem.linear + point.offset)
    anchor = state.anchor
    if point.settle:
        anchor = np.clip(anchor + residual / point.settle, problem.lower, problem.upper)
    reach = anchor + residual / point.delta
    beta = np.clip(reach, problem.lower, problem.upper)
    loss = residual * np.where(residual > 0, problem.upper, problem.lower)
    free = np.flatnonzero(problem.free(reach))
    counts = np.bincount(problem.row_of(free), minlength=len(scores))
    image, square, line = curved(point, X, problem.on_rows(beta), counts)
    sums = Sums(
        float(loss.sum()),
        float(problem.linear @ beta),
        float(beta.sum()),
        image,
        square,
        line,
        len(free),
        rooms_of(problem, beta),
    )
    return Memory(scores, state.change, anchor), sums


def follow(block: Block, point: NewtonPoint, own: Floats, state: Memory) -> tuple[Memory, Floats]:
    """The change of f along a direction, and Σ along_i clip(β_i) at each of `LENGTHS`.

    `own` is Md and the change of b; `point` is where the step begins.
    """
    X, problem = members_of(block, point.share)
    change = scores_of(point, X, own[:-1], np.float32)
    residual = -(problem.on_variables(state.scores) + problem.linear + point.offset)
    reach = state.anchor + residual / point.delta
    along = -(problem.on_variables(change) + own[-1]) / point.delta
    slopes = np.array(
        [along @ np.clip(reach + t * along, problem.lower, problem.upper) for t in LENGTHS]
    )
    return state._replace(change=change), slopes


def prove(
    block: Block, shared: tuple[NewtonPoint, float, int], own: None, state: Memory
) -> tuple[Memory, tuple[Terms, float, Floats, int]]:
    """The share in the certificate, from w and β⁰ alone, in float64.

    `shared` has the share of their room by which β moves so that the sum is right, and whose room:
    that of free variables, of those that are not 0, or of all.
    """
    point, share, whose = shared
    X, problem = members_of(block, point.share)
    residual = -(problem.on_variables(state.scores) + problem.linear + point.offset)
    reach = state.anchor + residual / point.delta
    beta = np.clip(reach, problem.lower, problem.upper)
    bound = problem.upper if share > 0 else problem.lower
    beta = np.clip(
        beta + abs(share) * np.where(masks(problem, beta)[whose], bound - beta, 0.0),
        problem.lower,
        problem.upper,
    )
    scores = scores_of(point, X, point.weights, np.float64)
    gradient = problem.on_variables(scores) + problem.linear
    offsets = np.full(problem.n_groups, point.offset)
    terms = problem.terms(beta, gradient, offsets)
    coef = problem.on_rows(beta)
    image = curved(point, X, coef, np.zeros(len(scores), int), np.float64)[0]
    return state, (terms, float(problem.linear @ beta), image, int(np.count_nonzero(coef)))


def draw(block: Block, share: float, start: int) -> RowSet:
    """About a share of a partition's rows, at random."""
    rng = np.random.default_rng(start)
    return fetch(block, None, (start, np.flatnonzero(rng.random(block.X.shape[0]) < share)))


# --- the parts ----------------------------------------------------------------------------


def members_of(block: Block, share: Share) -> tuple[Data, DualProblem]:
    """The rows of a block that belong to a problem, and their problem."""
    members, problem = share(block.y, block.weights_or_ones)
    return block.X[members], problem


def masks(problem: DualProblem, beta: Floats) -> list[Mask]:
    """The variables that may repair a sum: the free ones first, then those not 0, then all."""
    return [problem.free(beta), beta != 0, np.ones(len(beta), bool)]


def rooms_of(problem: DualProblem, beta: Floats) -> Floats:
    """How far the variables of each mask can rise together, and how far they can fall."""
    up, down = problem.upper - beta, beta - problem.lower
    return np.array([[up[some].sum(), down[some].sum()] for some in masks(problem, beta)])


def tiles(X: Data, width: int, numbers: Numbers | None = None) -> list[Numbers]:
    """Numbers of rows, some at a time."""
    step = max(1, ENTRIES // max(width, 1))
    every = np.arange(X.shape[0]) if numbers is None else numbers
    return [every[start : start + step] for start in range(0, len(every), step)]


def scores_of(point: NewtonPoint, X: Data, weights: Floats, dtype: RealType) -> Floats:
    """V · weights, in float64."""
    out, line = np.zeros(X.shape[0]), weights.astype(dtype)

    def fill(rows: Numbers) -> None:
        out[rows] = basis_of(point.features, X[rows[0] : rows[-1] + 1], dtype) @ line

    if weights.any():
        with one_blas_thread():
            threads = point.threads or available_cores()
            run_all(fill, [(rows,) for rows in tiles(X, len(weights))], threads)
    return out


def curved(
    point: NewtonPoint, X: Data, coef: Floats, counts: Numbers, dtype: RealType = np.float32
) -> tuple[Floats, Floats, Floats]:
    """Vᵀcoef, and of the rows with a count Z_FᵀZ_F and Σ z, each as often as it is counted."""
    width, threads = len(point.weights), point.threads or available_cores()
    mixing = mixing_of(point.features)
    mixing = None if mixing is None else mixing.astype(dtype)
    columns = width if mixing is None else mixing.shape[1]
    rows = np.flatnonzero((coef != 0) | (counts > 0))
    parts: list[tuple[Floats, Floats, Floats]] = []

    def add(some: list[Numbers]) -> None:
        image, square, line = np.zeros(width), np.zeros((columns, columns)), np.zeros(columns)
        for numbers in some:
            V = basis_of(point.features, X[numbers], dtype)
            image += coef[numbers] @ V
            free = counts[numbers]
            if free.any():
                Z = V[free > 0] if mixing is None else V[free > 0] @ mixing
                Z *= np.sqrt(free[free > 0])[:, None].astype(dtype)
                square += Z.T @ Z
                line += np.sqrt(free[free > 0]) @ Z
        parts.append((image, square, line))

    each = tiles(X, width, rows)
    with one_blas_thread():
        run_all(add, [(each[k::threads],) for k in range(threads)], threads)
    image, square, line = (np.sum(part, axis=0) for part in zip(*parts, strict=True))
    return image, square, line
