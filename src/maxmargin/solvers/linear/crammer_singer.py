"""Dual coordinate descent, a row at a time: the solver of multi_class="crammer_singer".

The k variables α_i of a row are set to their best values together; w_m = Σ_i α_im x_i makes that
cost two passes over the row for each class. With G_m = ∂(−D)/∂α_im, s = ‖x_i‖² and the own class y,

    minimise over a   ½ s ‖a − α_i‖² + Gᵀ(a − α_i),   a_y ≤ c_i,  a_m ≤ 0 for m ≠ y,  Σ_m a_m = 0

has the solution a_m = min(its bound, α_im + (τ − G_m) / s) with the τ that makes the sum 0. Let
D_m = G_m − s α_im, plus s c_i for the own class: then Σ_m max(0, D_m − τ) = s c_i, a projection
onto a simplex. Michelot's rule finds τ: solve for it over some classes, leave out those with
D_m ≤ τ, and solve again until none is left out. It begins with the classes of D_m > max D − s c_i,
a bound of τ from below: few of many.

Offsets that are not regularised bring the constraints Σ_i α_im = 0, one for each class, which no
single row can move along. As in `dual_coordinate_descent` the method of multipliers takes them
into the objective, Σ_m b_m S_m + ½ρ Σ_m S_m² with S_m = Σ_i α_im, and b_m += ρ S_m after every
sweep: each row's problem stays what it was, with s + ρ for s. In the primal it regularises each
offset toward its last value instead of toward zero, so the limit is exact. And as there, since
S = 0 in the end, rows minus their mean do as well as the rows, and are better conditioned.

    repeat
        for the active rows in random order
            G_m = x_iᵀw_m + b_m + ρ S_m + e_im of its live classes m, for the centred rows
            drop the row if only one α_im can rise, and G of all others is far below that one
            drop its classes with α_im = 0 and G_m far below all that can rise
            α_i = the solution of the problem above; w and S follow
        b += ρ S
    until the gap seen in passing is small; then compute it

The gap is a sum over the rows of c_i (max_m G_m − G_y) + Σ_m α_im G_m.

References: S. S. Keerthi, S. Sundararajan, K.-W. Chang, C.-J. Hsieh, C.-J. Lin, A sequential dual
method for large scale multi-class linear SVMs, KDD 2008. C. Michelot, A finite algorithm for
finding the projection of a point onto the canonical simplex of Rⁿ, JOTA 50 (1986), 195–200.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from maxmargin.gram.data_matrix import DataMatrix, dot, row_dot, row_ends
from maxmargin.hardware.arrays import Floats, Numbers, Reals, Records
from maxmargin.hardware.jit import compiled
from maxmargin.problem import CrammerSingerProblem
from maxmargin.problem.crammer_singer import ROUNDING
from maxmargin.solvers.driver import CLOCK
from maxmargin.solvers.linear.crammer_singer_face import solve_free_entries
from maxmargin.solvers.linear.dual_coordinate_descent import PINNED, shuffle
from maxmargin.solvers.linear.solver import LinearSolver
from maxmargin.solvers.linear.state import SMALL, LinearState
from maxmargin.solvers.state import Moves

CHUNK = 20_000_000  # products of a stored number and a class between two looks at the clock
PASSES = 50  # most passes between two computations of the gap
PENALTY = 0.1  # ρ, relative to the mean squared norm of the centred rows
DISTANT = 0.06  # share of the worst violation: a class at 0 whose G is further below is left out;
# letter takes 1.3 times as long with 0.25, and 1.2 with 0 to a gap of 1e-5
FIRST = 0.1  # of the objective: the gap at which it is computed first

ROW = np.dtype([("cost", float), ("square", float), ("shift", float), ("live", np.int64)])
CLASS = np.dtype([(name, float) for name in ("offset", "total", "mean_score")])
MEMORY = np.dtype(
    [(name, float) for name in ("pinned", "distant", "drift", "violation", "gap")]
    + [("active", np.int64), ("random", np.uint64)]
)


@dataclass(frozen=True)
class CrammerSingerDescent(LinearSolver):
    """Random sweeps over rows with shrinking; takes a `CrammerSingerProblem`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC
    >>> machine = LinearSVC(multi_class="crammer_singer").fit(*load_iris(return_X_y=True))
    >>> machine.certificate_.status.value  # it was trained by CrammerSingerDescent
    'converged'
    """

    takes: ClassVar[tuple[type, type]] = (CrammerSingerProblem, DataMatrix)

    def begin(self, problem: Any, matrix: DataMatrix, start: Floats | None) -> LinearState:
        zero = np.zeros((matrix.n, problem.classes))
        state = LinearState(problem, matrix, zero if start is None else start, self.tol)
        state.aim = self.tol
        return state

    def polish(self, state: Any) -> None:
        """Solve for the free entries of a small problem, if that makes it better."""
        if state.rows.stored > SMALL:
            return
        point = solve_free_entries(state.problem, state.rows, state.best)
        if point.values.gap < state.best.values.gap:
            state.movement = float(np.abs(point.beta - state.best.beta).sum())
            state.best = point

    def iterate(self, state: Any) -> Moves:
        problem: CrammerSingerProblem = state.problem
        rows: DataMatrix = state.rows
        # What a step must know of each row; rows are not centred without offsets.
        table = np.empty(rows.n, ROW)
        table["cost"], table["live"] = problem.cost, problem.classes
        mean, table["shift"], table["square"] = rows.centred(problem.fit_intercept)
        penalty = PENALTY * (float(table["square"].mean()) or 1.0) * problem.fit_intercept
        memory, classes = np.zeros(1, MEMORY), np.zeros(problem.classes, CLASS)
        memory["random"] = np.uint64(0x9E3779B97F4A7C15 ^ self.seed)
        order, alpha = np.arange(rows.n), state.now.beta.copy()
        live = np.tile(np.arange(problem.classes, dtype=np.int32), (rows.n, 1))
        live[:, 0], live[order, problem.labels] = problem.labels, 0  # the own class is the first
        chunk = max(CHUNK * rows.n // max(rows.stored * problem.classes, 1), 1)  # rows
        classes["offset"] = state.now.offset + state.now.coef @ mean
        target = FIRST * abs(state.now.values.primal)
        room = np.empty((3, problem.classes))
        while True:
            # Columns of a class lie together for dense rows, classes of a column for sparse ones.
            W = state.now.coef.T.copy("C" if rows.sparse else "F")
            classes["total"], classes["mean_score"] = alpha.sum(axis=0), mean @ W
            memory["active"], memory["drift"], visited = rows.n, 0.0, 0
            memory["pinned"] = memory["distant"] = np.inf
            order[:], table["live"] = np.arange(rows.n), problem.classes
            remaining = self.max_iter - state.steps if self.max_iter >= 0 else np.inf
            most = int(min(PASSES, max(remaining, 1)) * rows.n)
            while visited < most:
                visited += sweeps(
                    *rows.parts,
                    alpha,
                    live,
                    table,
                    classes,
                    penalty,
                    dot(mean, mean),
                    W,
                    order,
                    memory,
                    room,
                    target,
                    min(chunk, most - visited),
                )
                if memory["gap"][0] <= target:
                    break
                yield CLOCK
            state.steps += visited / rows.n
            state.beta, state.offset = alpha, classes["offset"] - mean @ W
            yield
            if memory["violation"][0] == 0:
                return None
            alpha = state.now.beta.copy()
            target = min(target, float(memory["gap"][0]))
            target *= min(max(0.5 * state.aim / state.best.values.relative_gap, 0.1), 0.5)


@compiled()
def sweeps(
    data: Reals,
    indices: Numbers,
    indptr: Numbers,
    alpha: Floats,
    live: Numbers,
    table: Records,
    classes: Records,
    penalty: float,
    mean_square: float,
    W: Floats,
    order: Numbers,
    memory: Records,
    room: Floats,
    target: float,
    work: int,
) -> int:
    """Sweep until the gap seen in passing is ≤ target, or `work` rows are visited; returns those.

    Changes α, W, what is known of the classes, `order` (whose first `active` are active), `live`
    (whose first entries of a row are its live classes, its own before all) and `memory`; `room` is
    for G, α and the step of a row.
    """
    m, G, a, step = memory[0], room[0], room[1], room[2]
    visited = 0
    while visited < work:
        active = m["active"]
        m["random"] = shuffle(order, active, m["random"])
        visited += active
        gap, violation, kept = 0.0, 0.0, 0
        for position in range(active):
            i = order[position]
            row, mine = table[i], live[i]
            cost, shift, count = row["cost"], mean_square - row["shift"] + penalty, row["live"]
            scores(data, indices, indptr, i, W, mine, count, step, G)
            highest, runner_up, lowest, risers = -np.inf, -np.inf, np.inf, 0
            for k in range(count):
                c = classes[mine[k]]
                G[k] += c["offset"] - c["mean_score"] + shift * c["total"] + (k > 0)
                a[k] = alpha[i, mine[k]]
                gap += a[k] * G[k]
                if a[k] < (0.0 if k else cost) - ROUNDING * cost:
                    risers += 1
                    lowest = min(lowest, G[k])
                if G[k] > highest:
                    highest, runner_up = G[k], highest
                elif G[k] > runner_up:
                    runner_up = G[k]
            gap += cost * (highest - G[0])
            if highest <= lowest and risers == 1 and highest - runner_up > m["pinned"]:
                continue
            order[kept] = i
            kept += 1
            violation = max(violation, highest - lowest)
            k = 1
            while k < count:
                if a[k] == 0.0 and lowest - G[k] > m["distant"]:
                    count -= 1
                    mine[k], mine[count] = mine[count], mine[k]
                    G[k], a[k] = G[count], a[count]
                else:
                    k += 1
            row["live"] = count
            if highest - lowest > 1e-15 * abs(highest):
                square = max(row["square"] + penalty, 1e-12)
                best_row(a, G, count, cost, square, step)
                for k in range(count):
                    if step[k] != 0.0:
                        c = mine[k]
                        alpha[i, c] += step[k]
                        classes[c]["total"] += step[k]
                        classes[c]["mean_score"] += step[k] * row["shift"]
                        add(data, indices, indptr, i, step[k], W, c)
        far, drift = 0.0, 0.0
        for c in range(len(classes)):
            far += penalty * classes[c]["total"] ** 2
            classes[c]["offset"] += penalty * classes[c]["total"]
            drift = max(drift, penalty * abs(classes[c]["total"]))
        m["gap"], m["violation"], m["active"] = gap + far, max(violation, drift), kept
        m["pinned"], m["distant"] = PINNED * m["violation"], DISTANT * m["violation"]
        m["drift"] += drift
        if m["gap"] <= target:
            break
        # Where offsets have moved, rows and classes may matter again.
        if kept == 0 or m["drift"] > 4 * m["violation"]:
            m["active"], m["pinned"], m["distant"], m["drift"] = len(order), np.inf, np.inf, 0.0
            for k in range(len(order)):
                order[k], table[k]["live"] = k, len(classes)
    return visited


@compiled()
def scores(
    data: Reals,
    indices: Numbers,
    indptr: Numbers,
    i: int,
    W: Floats,
    mine: Numbers,
    count: int,
    every: Floats,
    out: Floats,
) -> None:
    """x_iᵀw of the first of these classes; `every` is room for those of all."""
    if data.ndim == 2:
        for k in range(count):
            out[k] = row_dot(data, indices, indptr, i, W[:, mine[k]])
    elif 4 * count < len(every):
        out[:] = 0.0
        for j in range(*row_ends(indptr, i)):
            x, line = data[j], W[np.uint64(indices[j])]
            for k in range(count):
                out[k] += x * line[mine[k]]
    else:  # all of a line at once, which uses vectors, take less time than a half one by one
        every[:] = 0.0
        for j in range(*row_ends(indptr, i)):
            x, line = data[j], W[np.uint64(indices[j])]
            for c in range(len(every)):
                every[c] += x * line[c]
        for k in range(count):
            out[k] = every[mine[k]]


@compiled()
def add(
    data: Reals, indices: Numbers, indptr: Numbers, i: int, t: float, W: Floats, c: int
) -> None:
    """w_c += t x_i."""
    if data.ndim == 2:
        for k in range(len(W)):
            W[k, c] += t * data[i, k]
    else:
        for k in range(*row_ends(indptr, i)):
            W[np.uint64(indices[k]), c] += t * data[k]


@compiled()
def best_row(
    alpha: Floats, G: Floats, count: int, cost: float, square: float, step: Floats
) -> None:
    """The step to the minimiser of a row's problem, its own class first; its parts sum to 0."""
    highest, points = -np.inf, step  # D_m, until the step itself is known
    for k in range(count):
        points[k] = G[k] - square * alpha[k] + (0.0 if k else square * cost)
        highest = max(highest, points[k])
    level, above = highest - square * cost, count + 1
    while True:
        total, number = -square * cost, 0
        for k in range(count):
            if points[k] > level:
                total += points[k]
                number += 1
        if not 0 < number < above:  # none was left out, or rounding has brought one back
            break
        level, above = total / number, number
    others = 0.0
    for k in range(1, count):
        step[k] = min(0.0, alpha[k] + (level - G[k]) / square) - alpha[k]
        others += step[k]
    step[0] = -others
