"""From a known optimum to a nearby one: a row is removed, a bound or a sum changes.

A unit (a row of the data, with all its variables) has a coefficient β between knots B_0 < … < B_P
and a decision value q = (Kβ)_i + b with targets t_1 > … > t_P. It is optimal if it stands on its
staircase: at a knot B_k with t_{k+1} ≤ q ≤ t_k, or free between B_{k−1} and B_k with q = t_k. A
classifier has the knots 0 and C and the target y; a regressor −C, 0, C and y + ε, y − ε. The state
of a unit is 2k at knot k, and 2k − 1 free below it.

At the known optimum the units F are free, the others B at a knot, and

    (β_F, b, q_B) = T (q_F, d, β_B),  T = [ M    −MC         ],  M = [ K_FF  Aᵀ ]⁻¹,  C = [ K_FB ]
                                          [ CᵀM  K_BB − CᵀMC ]       [ A     0  ]         [ A_B  ]

with d the sums of the groups. The right-hand side is given, the left-hand side follows. Removing a
row changes one number on the right. If a β_F then leaves its piece of the staircase, or a q_B its
interval, that unit changes sides: β is given where q was, or q where β was. With J the units that
have changed sides, this is a system over T_JJ, a few numbers in size; and of T only the columns J
are needed. All units that are wrong change sides at once (Kostreva's block pivots). Where that does
not make them fewer, the way is made in shorter steps, each from the optimum before. These pivots
run in the core (`core/path.hpp`). An optimum that rounding or a singular K spoils is noticed:
whoever asks judges it by its coefficients alone.

References: M. Kostreva, Block pivot methods for solving the complementarity problem, Linear Algebra
Appl. 21 (1978), 207–215; G. Cauwenberghs, T. Poggio, Incremental and
decremental support vector machine learning, NIPS 13 (2000).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg.blas import dgemm

from maxmargin.core import native
from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Entries, Floats, Numbers
from maxmargin.resources.lapack import cholesky, invert
from maxmargin.resources.threads import one_blas_thread

# Of the width of the box, or of the largest |β| where that is infinite (a hard margin): what
# rounding leaves of a variable at a bound.
SNAP = 1e-12
ROUNDING = 1e-10  # of the largest diagonal entry: added to K_FF, which may be singular
MORE = 1.05  # times a wrong q: so much the targets of the problem differ that β is optimal for
CHUNK = 256  # columns of T that are made at a time, beside memory for so many rows of K


def units(problem: DualProblem) -> int:
    """How many units there are: rows, or variables where two of a row are of different groups."""
    shared = problem.rows is not None and problem.n_groups < 2
    return problem.size // 2 if shared else problem.size


def staircase(problem: DualProblem) -> Floats:
    """The knots of each unit, then its targets."""
    p, n = problem, problem.size // 2
    if units(p) == p.size:
        return np.column_stack([p.lower, p.upper, -p.linear])
    targets = -p.linear[n:], -p.linear[:n]
    return np.column_stack([p.lower[n:], p.lower[:n], p.upper[:n], *targets])


def pieces(stairs: Floats) -> int:
    """How many pieces a staircase has: one less than knots, and one for each target."""
    return int(stairs.shape[-1] // 2)


def standing(beta: Floats, stairs: Floats) -> tuple[Floats, Numbers]:
    """β with those at a knot that are there but for rounding, and the state of each unit."""
    knots = stairs[:, : pieces(stairs) + 1]
    beta, state = np.clip(beta, knots[:, 0], knots[:, -1]), np.zeros(len(beta), np.int64)
    width = knots[:, -1] - knots[:, 0]
    near = SNAP * np.where(width < np.inf, width, np.abs(beta).max(initial=0.0))
    for k in range(1, knots.shape[1]):
        state = np.where(beta > knots[:, k - 1] + near, 2 * k - 1, state)
        state = np.where(beta >= knots[:, k] - near, 2 * k, state)
    state = np.where(width > 0, state, 0)
    at = state % 2 == 0
    return np.where(at, knots[np.arange(len(beta)), state // 2], beta), state


class Path:
    """The neighbours of an optimum.

    Parameters
    ----------
    problem : whose optimum is known
    K : of the units
    beta : the optimum, of the units
    slack : how far a decision value may be outside of its interval

    Attributes
    ----------
    beta, state : the optimum to the last digits, and the state of each unit
    one_offset : whether free units tell the offset of every group
    """

    def __init__(self, problem: DualProblem, K: Entries, beta: Floats, slack: float) -> None:
        self.problem, self.K, self.slack = problem, K, slack
        self.stairs = staircase(problem)
        self.knots, self.targets = np.split(self.stairs, [pieces(self.stairs) + 1], axis=1)
        groups = np.arange(problem.n_groups)
        self.members: Floats = (problem.group[: len(beta)] == groups[:, None]).astype(float)
        self._stand(beta)
        self._arrange()

    def refine(self) -> None:
        """Take β, which is optimal but for a tolerance, to the last digits."""
        (beta,), (found,) = self.follow(np.full(1, -1), self.stairs[None], self.problem.sums[None])
        if found:
            before = self.state
            self._stand(beta)
            if (self.state != before).any():
                self._arrange()

    def _stand(self, beta: Floats) -> None:
        """The state of each unit at the optimum β.

        The free units of a group tell its offset. Where there are none it may be anything between
        two ends, and the unit that is about to rise at the lower one is taken to be free there.
        """
        self.beta, self.state = standing(beta, self.stairs)
        self.one_offset, n, last = True, len(beta), self.targets.shape[1] - 1
        for member in self.members > 0:
            knot = self.state // 2
            if (self.state[member] % 2).any():
                continue
            self.one_offset = False
            can_rise = member & (self.beta < self.knots[:, -1])
            if can_rise.any():
                target = self.targets[np.arange(n), np.minimum(knot, last)]
                rise = np.where(can_rise, target - self.beta @ self.K, -np.inf)
                self.state[rise.argmax()] += 1

    def _arrange(self) -> None:
        """T for the units that are free now: `columns[k]` is its column k."""
        p, A = self.problem, self.members
        free = self.state % 2 == 1
        F, B, groups = np.flatnonzero(free), np.flatnonzero(~free), np.full(len(A), -1)
        self.count = c = len(F) + len(A)
        self.order = np.concatenate([F, groups, B])
        self.C: Floats = np.vstack([self.K[np.ix_(F, B)], A[:, B]])
        self.columns: Floats = np.empty((c + len(B), c + len(B)))
        M, MC = self.columns[:c, :c], self.columns[:c, c:]
        with one_blas_thread():
            inverse(self.K, F, A[:, F], M)
            for start in range(0, len(B), CHUNK):
                some = slice(start, start + CHUNK)
                np.matmul(M, self.C[:, some], out=MC[:, some])
                self.columns[c:][some, :c] = -MC[:, some].T
                self.columns[c:][some, c:] = self.K[np.ix_(B[some], B)]
            for start in range(0, len(B), CHUNK):
                some = slice(start, start + CHUNK)
                self.columns[c:][some, c:] -= self.C[:, some].T @ MC
            given = np.concatenate([self.targets[F, self.state[F] // 2], p.sums])
            follows = M @ given - MC @ self.beta[B]
            values = (np.where(free, 0.0, self.beta) @ self.K)[B] + follows @ self.C
        self.known = np.concatenate([follows, values])

    @property
    def free(self) -> Numbers:
        """The units that are free."""
        return np.flatnonzero(self.state % 2)

    def spans(self) -> Floats:
        """Squared span of each unit: how far q falls for each unit of β."""
        c, at_knot = self.count, self.order[self.count :]
        spans = np.empty(len(self.beta))
        with np.errstate(divide="ignore"):
            spans[self.free] = 1 / np.diagonal(self.columns)[: len(self.free)]
        spans[at_knot] = np.diagonal(self.columns)[c:]
        return np.maximum(np.where(np.isfinite(spans), spans, 0.0), 0.0)

    def follow(self, removed: Numbers, stairs: Floats, sums: Floats) -> tuple[Floats, Numbers]:
        """β of the neighbours without each of the units `removed`, and the rounds that each took.

        A unit −1 is none. `stairs` and `sums` have a line for each neighbour, or one for all. The
        rounds are 0 where the pivots came to no end: β is then the optimum of a part of the way.
        A β that is at a bound but for rounding is there: b is that of the free ones.
        """
        beta, rounds = np.tile(self.beta, (len(removed), 1)), np.zeros(len(removed), np.int64)
        native.follow(
            (self.columns, self.known, self.order, self.count),
            (self.state, self.beta, self.stairs),
            (self.slack, SNAP),
            *(removed, stairs, sums - self.problem.sums, beta, rounds),
        )
        return beta, rounds


def settled(p: DualProblem, K: Entries, beta: Floats, gradient: Floats) -> Floats:
    """β of the units, moved from nearly optimal to optimal, or as far on the way as pivots lead.

    β is the exact optimum of a problem whose targets differ by as much as β violates KKT; as these
    go to what they are, the optimum goes with them.
    """
    stairs, own = staircase(p), p.on_rows(beta) if units(p) < p.size else beta
    q = (p.residual(gradient, p.offsets(beta, gradient)) - p.linear)[: len(own)]
    own, state = standing(own, stairs)
    every, i, last = np.arange(len(own)), state // 2, pieces(stairs)
    targets = np.column_stack([stairs[:, last + 1 :], np.full(len(own), -np.inf)])
    above = np.where(i > 0, targets[every, i - 1], np.inf)
    wrong = np.minimum(q - targets[every, i], 0.0) + np.maximum(q - above, 0.0)
    free = np.where(state % 2 == 1, q - targets[every, i], MORE * wrong)
    shift = np.where(stairs[:, 0] < stairs[:, last], free, 0.0)
    path = Path(replace(p, linear=p.linear - p.on_variables(shift)), K, own, 0.0)
    ends, _ = path.follow(np.full(1, -1), stairs[None], p.sums[None])
    return np.asarray(ends[0])


def inverse(K: Floats, F: Numbers, A: Floats, M: Floats) -> None:
    """M of the units F, by Cholesky's factor of K + c AᵀA: it has the same but for −c in a block.

    A little is added to the diagonal, which duplicate rows make singular. Beside M there is one
    matrix of its size.
    """
    m = len(F)
    there = np.flatnonzero(A.any(axis=1))  # the groups that have a free unit
    c = float(np.diagonal(K)[F].mean()) if m else 0.0
    M[:] = 0.0

    def made() -> Floats:
        P: Floats = K[np.ix_(F, F)]
        return dgemm(c, A, A, 1.0, P.T, trans_a=1, overwrite_c=1).T if len(A) else P

    if m:
        L, _ = cholesky(made, ROUNDING * (c or 1.0))
        invert(L)
        P = L.T
        PA = P @ A[there].T
        schur = np.linalg.pinv(A[there] @ PA)
        both = PA @ schur
        for start in range(0, m, CHUNK):
            some = slice(start, start + CHUNK)
            M[:m, :m][some] = P[some] - both[some] @ PA.T
        M[:m, m + there] = both
        M[m + there, :m] = both.T
        M[np.ix_(m + there, m + there)] = c * np.eye(len(there)) - schur
