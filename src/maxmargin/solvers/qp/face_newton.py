"""Newton's method on a face of the box: exact values, once it is known who is at a bound.

With F the free variables and all others at their bounds, β_F solves

    K_FF δ + Aᵀ b = −G_F,   A δ = what the sums lack,

one Cholesky factorisation of K_FF. A variable of F that would leave its box goes to the bound and
out of F; once none does, a variable at a bound whose gradient has the wrong sign comes into F: the
primal–dual active-set method, with one factor for many F. It ends with the optimum to the last
digits if F was right but for a few, and is given up if it was not. K_FF may be singular (duplicate
rows, both copies of a regressor's row, rounding): a multiple of I as small as rounding is added,
and the steps that follow put right what it changed.

References: M. Hintermüller, K. Ito, K. Kunisch, The primal-dual active set strategy as a semismooth
Newton method, SIAM J. Optim. 13 (2003), 865–888; A. El-Bakry, R. Tapia, Y. Zhang, A study of
indicators for identifying zero variables in interior-point methods, SIAM Review 36 (1994), 45–72.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dgemm, dtrsm
from scipy.linalg.lapack import dgesv

from maxmargin.resources.arrays import Floats, Mask, Numbers
from maxmargin.resources.lapack import JITTER, cholesky
from maxmargin.solvers.qp.interior_block import DualBlock, InnerPoint, harmless
from maxmargin.solvers.qp.work import factorisation, passes
from maxmargin.solvers.qp.working_set import apart

FACES = 30  # most that are tried
FEW = 0.1  # of the free variables: if more than that were wrong, F was a guess
MANY = 0.1  # of the variables that L is of: if more have changed sides, another L is cheaper
NOTHING = 1e-14  # of the sums' coefficients: what rounding leaves of them


def face_of(
    block: DualBlock, point: InnerPoint, before: InnerPoint, sure: float = 1.0
) -> tuple[Floats, Mask]:
    """β with those at their bounds that two interior points suggest, and which are free.

    From one point to the next the distance to a bound that is reached vanishes, and its multiplier
    stays; else the multiplier vanishes, and the distance stays: Tapia's indicators. A smaller
    `sure` asks that the distance shrinks by so much more.
    """
    p = block.problem
    below, above = (
        [room(distance) for distance in (point.beta - p.lower, before.beta - p.lower)],
        [room(distance) for distance in (p.upper - point.beta, p.upper - before.beta)],
    )
    low = below[0] * before.lower < sure * point.lower * below[1]
    high = above[0] * before.upper < sure * point.upper * above[1]
    return np.where(low, p.lower, np.where(high, p.upper, point.beta)), ~low & ~high


def room(distance: Floats) -> Floats:
    """The distance to a bound; anything if that is infinite, for then its multiplier is 0."""
    return np.where(np.isfinite(distance), distance, 1.0)


def face_optimum(
    block: DualBlock, face: tuple[Floats, Mask], tol: float, scale: float
) -> tuple[Floats, float]:
    """β of the block if nearly all of the face is right; the larger of violation and gap/scale."""
    p = block.problem
    beta = apart(p, face[0])
    free = face[1] & p.free(beta)
    slight, system = harmless(p, tol, scale), FaceSystem(block)
    best, least = p.feasible(beta), np.inf
    for _ in range(FACES):
        few = 4 + FEW * np.count_nonzero(free)
        beta = beta + system.step(free, beta)
        outside = (beta < p.lower) | (beta > p.upper)
        if np.count_nonzero(outside) > few:
            break
        if outside.any():
            beta, free = np.clip(beta, p.lower, p.upper), free & ~outside
            continue
        repaired = p.feasible(beta)
        gradient = block.gradient(repaired)
        distance, last = block.distance(repaired, gradient, scale), least
        if distance >= last:
            break
        best, least = repaired, distance
        force = p.residual(gradient, p.offsets(repaired, gradient))
        wrong = ((beta < p.upper) & (force < -slight)) | ((beta > p.lower) & (force > slight))
        if least <= tol or np.count_nonzero(wrong & ~free) > few:
            break
        free = free | wrong
    return best, least


class FaceSystem:
    """K_FF δ + Aᵀ b = −G_F, A δ = what the sums lack: for one set F after another.

    Where Aδ is given, adding a multiple of AᵀA to K changes nothing but the right-hand side; but
    then K_FF is singular only if a variable can be replaced by others without changing a sum.

    Cholesky's L is of an F that was, H = K_FF + sAᵀA. A variable j that left F has the condition
    δ_j = 0, with a multiplier; one that joined it is an unknown more, with an equation. With z
    these unknowns, and b,

        H δ + U z = r,    Uᵀδ + S z = c,    so   (S − YᵀY) z = c − YᵀL⁻¹r   with Y = L⁻¹U:

    a column of Y for each. Once there are many, F is factorised again.
    """

    def __init__(self, block: DualBlock) -> None:
        self.block, self.A = block, block.members()
        self.diagonal = np.diagonal(block.K)[block.rows]
        self.shift = float(self.diagonal.mean()) if len(self.A) else 0.0
        self.base: Mask = np.zeros(block.problem.size, bool)
        self.known: Mask = np.zeros(0, bool)

    def matrix(self, some: Numbers, others: Numbers) -> Floats:
        """EKEᵀ + sAᵀA of these variables, in no more memory than that takes."""
        rows, A = self.block.rows, self.A
        K: Floats = self.block.K[np.ix_(rows[some], rows[others])]
        if len(A) and K.size:
            added = self.shift, A[:, others], A[:, some], 1.0, K.T
            K = dgemm(*added, trans_a=1, overwrite_c=1).T
        return K

    def factorise(self, free: Mask) -> None:
        """L of F, and the columns of Y that belong to b."""
        self.base, self.F = free.copy(), np.flatnonzero(free)
        largest = float(self.diagonal[self.F].max()) + self.shift
        least = JITTER * len(self.F) * (largest or 1.0)
        self.L, self.jitter = cholesky(self._made, least, self.block.threads)
        self.known = np.zeros(len(free), bool)
        self.place = np.zeros(len(free), int)
        self.Y = self.forward(self.A[:, self.F].T)

    def _made(self) -> Floats:
        """The matrix over F, about to be factorised."""
        self.block.spend(factorisation(len(self.F)) + passes(len(self.F), 8))
        return self.matrix(self.F, self.F)

    def forward(self, U: Floats) -> Floats:
        """L⁻¹U."""
        self.block.spend(passes(len(self.F), U.shape[1] / 4))
        solved: Floats = dtrsm(1.0, self.L, U, lower=1) if U.size else np.zeros(U.shape)
        return solved

    def border(self, changed: Numbers) -> Floats:
        """The columns of Y of variables that left F or joined it, then those of b."""
        new = changed[~self.known[changed]]
        left, joined = new[self.base[new]], new[~self.base[new]]
        U = np.zeros((len(self.F), len(new)), order="F")
        U[np.searchsorted(self.F, left), np.arange(len(left))] = 1.0
        U[:, len(left) :] = self.matrix(self.F, joined)
        self.known[new] = True
        self.place[left] = self.Y.shape[1] + np.arange(len(left))
        self.place[joined] = self.Y.shape[1] + len(left) + np.arange(len(joined))
        self.Y = np.asfortranarray(np.hstack([self.Y, self.forward(U)]))
        return self.Y[:, np.r_[self.place[changed], : len(self.A)]]

    def step(self, free: Mask, beta: Floats) -> Floats:
        """δ of all variables: 0 where they are not free."""
        delta = np.zeros(len(beta))
        if not free.any():
            return delta
        changed = np.flatnonzero(free != self.base)
        if not len(self.known) or len(changed) > MANY * np.count_nonzero(self.base):
            self.factorise(free)
            changed = changed[:0]
        F, A, k = self.F, self.A, len(changed)
        missing = self.block.problem.sums - A @ beta
        right = self.shift * (A.T @ missing) - self.block.gradient(beta)
        Y, joined = self.border(changed), np.flatnonzero(~self.base[changed])
        S = np.zeros((Y.shape[1], Y.shape[1]))
        new = changed[joined]
        S[np.ix_(joined, joined)] = self.matrix(new, new) + self.jitter * np.eye(len(new))
        S[k:, joined] = A[:, new]
        S[joined, k:] = A[:, new].T
        S[range(k, len(S)), range(k, len(S))] = -NOTHING / (self.shift or 1.0)  # if no b counts
        half = self.forward(right[F, None])
        c = np.r_[np.where(self.base[changed], 0.0, right[changed]), missing]
        if len(c):
            c = dgesv(S - dgemm(1.0, Y, Y, trans_a=1), c - dgemm(1.0, Y, half, trans_a=1)[:, 0])[2]
            half = half - dgemm(1.0, Y, c[:, None])
        delta[F] = dtrsm(1.0, self.L, half, lower=1, trans_a=1)[:, 0]
        delta[changed] = np.where(self.base[changed], 0.0, c[:k])
        return delta
