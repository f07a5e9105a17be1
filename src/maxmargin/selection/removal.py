"""Rows removed from a solution: where the others go, exactly, and the proof that it is the optimum.

All rows are removed from one tableau (`tableau`) of the full solution, whose rows are those of the
support vectors and of the few units that pivots are on: a removal is a few pivots. The result is
judged by its own violation and gap, from its coefficients alone: Kβ of many removals is one matrix
product, over the coefficients that have changed. What does not pass is solved again by the
machine's solver.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificate import Certificate
from maxmargin.gram.held import HeldGram
from maxmargin.hardware.arrays import Entries, Floats, Mask, Numbers
from maxmargin.hardware.jit import compiled, linked
from maxmargin.hardware.threads import one_blas_thread
from maxmargin.problem import DualProblem, Solution, Values
from maxmargin.problem.dual import SIDES, primal_of, values_of
from maxmargin.selection.staircase import SNAP, staircase, standing, units
from maxmargin.selection.tableau import MOST, follow_all
from maxmargin.selection.tableau_rows import SOME, inverse
from maxmargin.solvers import Solver
from maxmargin.solvers.driver import convergence

SLACK = 0.2  # of tol: how far a decision value may be outside of its interval
COLUMNS = 256  # of the tableau that are made at a time, or rows of K that are copied: what is more
# would take long without a look at Ctrl-C, and memory

parts_of_values = linked(values_of)


class Removed(NamedTuple):
    """The machine without one row.

    Attributes
    ----------
    decision : of the row that was removed, with the offset
    coef, offset : of the decision function, the former over the rows of the problem
    certificate : of the problem without the row
    """

    decision: float
    coef: Floats
    offset: float
    certificate: Certificate


class Removal:
    """The full solution of a problem, from which rows are removed.

    Parameters
    ----------
    machine : whose problem it is
    problem, gram : the problem of all rows
    solver : for all rows, and for a row whose removal changes too much
    """

    def __init__(self, machine: Any, problem: DualProblem, gram: HeldGram, solver: Solver) -> None:
        self.machine, self.problem, self.gram = machine, problem, gram
        self.solution, self.solver = solved(machine, problem, gram, solver)
        self.certificate = Certificate.of(self.solution)
        self.of_row = problem.on_rows(self.solution.beta)
        self.model: tuple[Floats, float] = machine._decode(self.of_row, self.solution.offsets)
        # The two variables of a regressor's row are one unit, unless they are of different groups.
        shared = units(problem) < problem.size
        self._row: Numbers = problem.row_of(np.arange(problem.size))
        self.unit = self._row
        self.K: Entries = gram.K
        if problem.rows is not None and not shared:
            self.K, self.unit = gram.square(self.unit), np.arange(problem.size)
        beta = self.of_row if shared else self.solution.beta
        self.knots, self.targets = staircase(problem, shared)
        self._stand(beta)
        self._arrange()
        none = np.full(1, -1), self.knots[None], np.zeros((1, problem.n_groups))
        exact, (found,) = self._follow(*none)
        if found:
            before = self.state
            self._stand(exact[0])
            if (self.state != before).any():
                self._arrange()
        with one_blas_thread():
            self.f: Floats = self.beta @ self.K

    def _stand(self, beta: Floats) -> None:
        """The state of each unit at the optimum β.

        The free units of a group tell its offset. Where there are none it may be anything between
        two ends, and the unit that is about to rise at the lower one is taken to be free there.
        """
        self.beta, self.state = standing(beta, self.knots)
        self.one_offset, n, last = True, len(beta), self.targets.shape[1] - 1
        for g in range(self.problem.n_groups):
            members, knot = self.problem.group[:n] == g, self.state // 2
            if (self.state[members] % 2).any():
                continue
            self.one_offset = False
            can_rise = members & (self.beta < self.knots[:, -1])
            if can_rise.any():
                target = self.targets[np.arange(n), np.minimum(knot, last)]
                rise = np.where(can_rise, target - self.beta @ self.K, -np.inf)
                self.state[rise.argmax()] += 1

    def _arrange(self) -> None:
        """The tableau of the units that are free now."""
        p, n, groups = self.problem, len(self.beta), self.problem.n_groups
        free = self.state % 2 == 1
        F, used = np.flatnonzero(free), np.flatnonzero(~free & (self.beta != 0))
        idle = np.flatnonzero(~free & (self.beta == 0))
        B = np.concatenate([used, idle])
        self.members: Floats = (p.group[:n] == np.arange(groups)[:, None]).astype(float)
        A = self.members
        self.count, self.groups = len(F) + groups, slice(len(F), len(F) + groups)
        self.order = np.concatenate([F, np.full(groups, -1), B])
        self.place = np.empty(n, np.int64)
        self.place[F], self.place[B] = np.arange(len(F)), self.count + np.arange(len(B))
        self.C: Floats = np.vstack([self.K[np.ix_(F, B)], A[:, B]])
        self.S: Floats = np.empty((n + groups, n + groups))
        self.made: Mask = np.arange(n + groups) < self.count
        M, MC = self.S[: self.count, : self.count], self.S[: self.count, self.count :]
        at_knots = np.where(free, 0.0, self.beta)
        with one_blas_thread():
            inverse(self.K, F, A[:, F], M)
            for start in range(0, len(B), COLUMNS):
                some = slice(start, start + COLUMNS)
                np.matmul(M, self.C[:, some], out=MC[:, some])
            given = np.concatenate([self.targets[F, self.state[F] // 2], p.sums])
            follows = M @ given - MC @ self.beta[B]
            values = (at_knots @ self.K)[B] + follows @ self.C
        self.known = np.concatenate([follows, values])
        self._make(used)
        # Pivots will be on units at 0 whose q leaves its interval in the first step of a removal:
        # as β_i goes to 0, q changes by β_i S_i if i is at a knot, by β_i S_i / S_ii if it is free.
        others = self.count + len(used)
        steps = np.abs(self.beta[self.order[:others]])
        steps[self.groups] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):  # the only free unit of a group
            steps[: len(F)] /= np.diagonal(M)[: len(F)]
            reach = np.abs(steps[:, None] * self.S[:others, others:]).max(axis=0, initial=0.0)
        ends = np.pad(self.targets, ((0, 0), (1, 1)), constant_values=((0, 0), (np.inf, -np.inf)))
        knot, q = self.state[idle] // 2, values[len(used) :]
        self._make(idle[(q + reach > ends[idle, knot]) | (q - reach < ends[idle, knot + 1])])

    def _make(self, units: Numbers) -> None:
        """The rows of S of some units at a knot."""
        c = self.count
        with one_blas_thread():
            for start in range(0, len(units), SOME):
                rows = units[start : start + SOME]
                place, K = self.place[rows], self.K[np.ix_(rows, self.order[c:])]
                self.S[place, :c] = self.S[:c, place].T
                self.S[place, c:] = K - self.C[:, place - c].T @ self.S[:c, c:]
        self.made[self.place[units]] = True

    @property
    def free(self) -> Numbers:
        """The units that are free."""
        return np.flatnonzero(self.state % 2)

    def spans(self) -> Floats:
        """S² of every row: how far its decision value falls, for each unit of β."""
        c, at_knot = self.count, self.order[self.count :]
        spans = np.empty(len(self.beta))
        with np.errstate(divide="ignore"):
            spans[self.free] = 1 / np.diagonal(self.S)[: len(self.free)]
        spans[at_knot] = np.diagonal(self.K)[at_knot]
        spans[at_knot] -= np.einsum("ij,ij->j", self.C, self.S[:c, c:])
        spans = np.where(np.isfinite(spans), spans, 0.0)
        return np.asarray(np.maximum(spans[: self.gram.n], 0.0))

    def _in_order(self, knots: Floats) -> Floats:
        """The knots in the order of the tableau; those of a group are as far away as can be."""
        ordered: Floats = knots[..., self.order, :]
        ordered[..., self.groups, 0], ordered[..., self.groups, 1:] = -np.inf, np.inf
        return ordered

    def _follow(self, removed: Numbers, knots: Floats, lacking: Floats) -> tuple[Floats, Numbers]:
        """β of the units without each of `removed` (−1 for none), and the rounds that it took.

        `knots` and `lacking` have a line for each of them, or one for all.
        """
        size, state = len(self.S), self.state[self.order]
        state[self.groups] = 1
        places: Numbers = np.where(removed < 0, -1, self.place[removed])
        beta, rounds = np.empty((len(removed), len(self.beta))), np.zeros(len(removed), np.int64)
        slack = SLACK * self.solver.tol
        optimum, targets = self.beta[self.order], self.targets[self.order]
        old, goals = self._in_order(self.knots), self._in_order(knots)
        numbers, reals = np.empty((4, size), np.int64), np.empty((7, size))
        between, system = np.empty((size, knots.shape[-1])), np.empty((MOST, MOST + 1))
        made = self.made.copy()  # another thread may write a row, but only the same numbers
        tableau = self.S, self.count, self.K, self.C, self.order, made, self.known
        follow_all(
            *(*tableau, optimum, state, old, targets, goals, lacking, places, slack),
            *(numbers, reals, between, system, beta, rounds),
        )
        self.made |= made
        return beta, rounds

    def remove(self, rows: Numbers, problems: list[DualProblem] | None) -> list[Removed]:
        """The machine without each of these rows.

        `problems` are those without them; None if they differ in the box of the row alone.
        """
        began, p = perf_counter(), self.problem
        others = [p] if problems is None else problems
        shared = self.targets.shape[1] > 1
        knots = np.array([staircase(q, shared)[0] for q in others])
        sums = np.array([q.sums for q in others])
        beta, rounds = self._follow(rows, knots, sums - p.sums)
        lacks = np.abs(beta @ self.members.T - sums).max(axis=1, initial=0.0)
        feasible = lacks <= SNAP * np.abs(beta).sum(axis=1)
        change = beta - self.beta
        moved = np.flatnonzero(change.any(axis=0))
        f = np.tile(self.f, (len(rows), 1))
        with one_blas_thread():
            for start in range(0, len(moved), COLUMNS):
                some = moved[start : start + COLUMNS]
                f += change[:, some] @ self.K[some]
        low, high = np.array([q.lower for q in others]), np.array([q.upper for q in others])
        parts, offsets = np.empty((5, len(rows))), np.empty((len(rows), p.n_groups))
        coef, space = np.zeros((len(rows), self.gram.n)), np.empty((4, p.size))
        judge(
            *(rows, beta, f, self.unit, self._row, p.linear, low, high, p.group, sums),
            *(space, np.empty((SIDES, max(p.n_groups, 1))), parts, offsets, coef),
        )
        seconds = (perf_counter() - began) / len(rows)
        found = []
        each = zip(rows.tolist(), rounds.tolist(), parts.T.tolist(), strict=True)
        for k, (row, did, (slope, quadratic, loss, margin, violation)) in enumerate(each):
            primal = primal_of(quadratic, loss, margin)
            proved = Values(-(quadratic + slope), primal, violation, offsets[k])
            ending = convergence(proved, self.solver.criterion, self.solver.tol)
            if did and feasible[k] and ending:
                proof = Certificate.made(proved, ending.status, did, 0, seconds)
                found.append(self._removed(row, coef[k], proved.offsets, proof))
            else:
                found.append(self._solved(row, others[k % len(others)]))
        return found

    def _solved(self, row: int, p: DualProblem) -> Removed:
        """By the solver, from the full solution."""
        lower, upper = (np.where(self._row == row, 0.0, bound) for bound in (p.lower, p.upper))
        p = replace(p, lower=lower, upper=upper)
        solution = self.solver.solve(p, self.gram, start=p.feasible(self.solution.beta))
        beta, _ = standing(solution.beta, np.column_stack([lower, upper]))
        offsets = p.offsets(beta, solution.gradient)
        return self._removed(row, p.on_rows(beta), offsets, Certificate.of(solution))

    def _removed(self, row: int, beta: Floats, offsets: Floats, proof: Certificate) -> Removed:
        coef, offset = self.machine._decode(beta, offsets)
        return Removed(float(coef @ self.gram.K[row]) + offset, coef, offset, proof)


@compiled()
def judge(
    removed: Numbers,
    beta: Floats,
    f: Floats,
    unit: Numbers,
    rows: Numbers,
    linear: Floats,
    lower: Floats,
    upper: Floats,
    group: Numbers,
    sums: Floats,
    space: Floats,
    sides: Floats,
    parts: Floats,
    offsets: Floats,
    coef: Floats,
) -> None:
    """What the values of the problem without each row are made of, its offsets, its β of the rows.

    β and f = Kβ are those of the units; bounds and sums a line for each row, or one for all. A
    variable that is at a bound but for rounding is there: b is that of the free ones.
    """
    own, gradient, low, high = space[0], space[1], space[2], space[3]
    for k in range(len(removed)):
        line, largest = k % len(lower), 0.0
        for u in range(beta.shape[1]):
            largest = max(largest, abs(beta[k, u]))
        for v in range(len(linear)):
            low[v], high[v] = lower[line, v], upper[line, v]
            if rows[v] == removed[k]:
                low[v] = high[v] = 0.0
            near = SNAP * (high[v] - low[v] if high[v] - low[v] < np.inf else largest)
            own[v] = beta[k, unit[v]]
            own[v] = low[v] if own[v] <= low[v] + near else own[v]
            own[v] = high[v] if own[v] >= high[v] - near else own[v]
            gradient[v] = f[k, unit[v]] + linear[v]
            coef[k, rows[v]] += own[v]
        found = parts_of_values(
            own, gradient, linear, low, high, group, sums[line], sides, sides[-1]
        )
        parts[0, k], parts[1, k], parts[2, k], parts[3, k], parts[4, k] = found
        for g in range(offsets.shape[1]):
            offsets[k, g] = sides[-1, g]


def solved(
    machine: Any, problem: DualProblem, gram: HeldGram, solver: Solver
) -> tuple[Solution, Solver]:
    """The solution, and the solver for others like it.

    A ν machine divides its coefficients by ρ: what is left of `tol` is divided too, so it is made
    smaller where ρ is.
    """
    solution = solver.solve(problem, gram, observe=machine._watch)
    coef = problem.on_rows(solution.beta)
    largest = int(np.abs(coef).argmax())
    grown = machine._decode(coef, solution.offsets)[0][largest] / coef[largest] if coef.any() else 1
    if grown <= 1:
        return solution, solver
    finer = replace(solver, tol=solver.tol / float(grown))
    return finer.solve(problem, gram, start=solution.beta), finer
