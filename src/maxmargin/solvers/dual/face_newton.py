"""Newton's method on a face of the box: exact values, once it is known who is at a bound.

With F the free variables and all others at their bounds, β_F solves

    K_FF δ + Aᵀ b = −G_F,   A δ = what the sums lack,

one Cholesky factorisation of K_FF. A variable of F that would leave its box goes to the bound and
out of F; once none does, a variable at a bound whose gradient has the wrong sign comes into F: the
primal–dual active-set method. It ends with the optimum to the last digits if F was right but for a
few, and is given up if it was not. K_FF may be singular (duplicate rows, both copies of a
regressor's row, rounding): a multiple of I as small as rounding is added, and the steps that follow
put right what it changed.

References: M. Hintermüller, K. Ito, K. Kunisch, The primal-dual active set strategy as a semismooth
Newton method, SIAM J. Optim. 13 (2003), 865–888; A. El-Bakry, R. Tapia, Y. Zhang, A study of
indicators for identifying zero variables in interior-point methods, SIAM Review 36 (1994), 45–72.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from maxmargin.hardware.arrays import Floats, Mask, Numbers
from maxmargin.solvers.dual.interior_block import Block, Point, harmless

FACES = 10  # most that are tried
FEW = 0.1  # of the free variables: if more than that were wrong, F was a guess
ROUNDING = 1e-15  # of the largest diagonal entry, per row: what is added to the diagonal


def face_of(block: Block, point: Point, before: Point, sure: float = 1.0) -> tuple[Floats, Mask]:
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
    block: Block, face: tuple[Floats, Mask], tol: float, scale: float
) -> tuple[Floats, float]:
    """β of the block if the face is right but for a few, and the larger of violation, gap/scale."""
    p, (beta, free) = block.problem, face
    slight = harmless(p, tol, scale)
    few = 4 + FEW * np.count_nonzero(free)
    best, least, last = p.feasible(beta), np.inf, np.inf
    for _ in range(FACES):
        F = np.flatnonzero(free)
        beta[F] += face_step(block, F, beta)
        outside = (beta < p.lower) | (beta > p.upper)
        beta = np.clip(beta, p.lower, p.upper)
        if np.count_nonzero(outside) > few:
            break
        repaired = p.feasible(beta)
        gradient = block.gradient(repaired)
        distance = block.distance(repaired, gradient, scale)
        if distance < least:
            best, least = repaired, distance
        if least <= tol or not (outside.any() or distance < last):
            break
        force = gradient + (p.offsets(repaired, gradient)[p.group] if p.n_groups else 0.0)
        wrong = ((beta < p.upper) & (force < -slight)) | ((beta > p.lower) & (force > slight))
        if outside.any():
            free &= ~outside
        elif np.count_nonzero(wrong & ~free) <= few:
            free, last = free | wrong, distance
        else:
            break
    return best, least


def face_step(block: Block, F: Numbers, beta: Floats) -> Floats:
    """δ.

    Where Aδ is given, adding a multiple of AᵀA to K changes nothing but the right-hand side; but
    then K_FF is singular only if a variable can be replaced by others without changing a sum.
    """
    if not len(F):
        return np.zeros(0)
    rows, A = block.rows[F], block.members()
    K, slope, missing = block.K[np.ix_(rows, rows)], block.gradient(beta)[F], None
    if not len(A):
        direct: Floats = -dpotrs(cholesky(K), slope, lower=1)[0]
        return direct
    missing, A = block.problem.sums - A @ beta, A[:, F]
    shift = float(np.diagonal(K).mean())
    K += shift * (A.T @ A)
    right = np.column_stack([shift * (A.T @ missing) - slope, A.T])
    solved = dpotrs(cholesky(K), right, lower=1)[0]
    step, columns = solved[:, 0], solved[:, 1:]
    lacking = np.linalg.lstsq(A @ columns, A @ step - missing, rcond=None)[0]
    repaired: Floats = step - columns @ lacking
    return repaired


def cholesky(K: Floats) -> Floats:
    """L of K + εI in the lower triangle of K's transpose, ε as small as lets it succeed."""
    diagonal, factor, failed = np.diagonal(K).copy(), K, 1
    jitter = ROUNDING * len(K) * (float(diagonal.max()) or 1.0)
    while failed and jitter < np.inf:
        A = K.copy()
        np.einsum("ii->i", A)[:] = diagonal + jitter
        factor, failed = dpotrf(A.T, lower=1, clean=0, overwrite_a=1)
        jitter *= 10
    return factor
