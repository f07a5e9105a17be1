"""The linear systems of an interior point, one matrix D after another.

    (EKEᵀ + D) x + Aᵀ δb = r,    A x = s

E maps variables to rows (two variables of a regressor share one), A is the membership in the
groups. With W = EᵀD⁻¹E all comes down to systems of K + W⁻¹, a matrix over rows however many
variables they have. There are three ways to solve them, the first that works:

    low rank   of a smooth kernel K = LLᵀ but for less than matters beside W⁻¹, L by Cholesky's
               method with pivots; then LᵀWL + I is factorised, a matrix over the columns of L:
               few where W⁻¹ is large, and more as it shrinks
    float32    of many rows: Cholesky's factor in half the precision, three times as fast, makes
               conjugate gradients converge in a few steps; until some W⁻¹ are too small for it
    float64    Cholesky's factor

References: S. Fine, K. Scheinberg, Efficient SVM training using low-rank kernel representations,
JMLR 2 (2001), 243–264; N. Higham, T. Mary, Mixed precision algorithms in numerical linear algebra,
Acta Numerica 31 (2022), 347–414.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.blas import dgemv, dsymv, dsyrk, dtrsv, strsv
from scipy.linalg.lapack import dpstrf

from maxmargin.resources.arrays import Entries, Floats, Numbers
from maxmargin.resources.lapack import JITTER, cholesky, factorise
from maxmargin.solvers.qp.work import PASS, factorisation, passes

LOW = 0.5  # of the rows: a rank worth using; most Newton steps need less of it
QUARTER = 0.22  # of all rows: the rank of a quarter of them up to which that of all may be low;
# california has 0.21 (C = 10⁶, γ = .1: 15 s by blocks, 5 by low rank), covtype 0.23 (5 s and 20)
FINER = 0.01  # of the smallest W⁻¹: how exact L is made once it is not exact enough
FEW = 1000  # rows: with fewer a low rank is not worth it
MANY = 1500  # rows: with fewer float32 is not worth it
SHIFT = 1e-5  # of the diagonal: what is added to it in float32
RESIDUAL = 1e-4  # relative, of a system solved by conjugate gradients: Newton's steps need no more
STEPS = 25  # of conjugate gradients, at most
WORTH = 1e-3  # of the rows: steps that a solve may take if the next factor is to be in float32:
# what such a factor saves grows with m³, what a step takes with m²
CHUNK = 256  # rows that are copied at a time


class NewtonSystem:
    """(EKEᵀ + D) x + Aᵀ δb = r, A x = s, factorised for one D after another.

    Parameters
    ----------
    K : the matrix over rows
    rows : the row of each variable
    A : a row for each group
    coarse : how far off K's diagonal may be beside W⁻¹ of this size or more
    threads : that factorise
    spend : called with the work that is done
    """

    def __init__(
        self,
        K: Floats,
        rows: Numbers,
        A: Floats,
        coarse: float,
        threads: int = 1,
        spend: Callable[[float], None] = lambda work: None,
    ) -> None:
        self.spend = spend
        self.K, self.rows, self.A, self.coarse, self.threads = K, rows, A, coarse, threads
        self.shared = not np.array_equal(rows, np.arange(len(K)))
        self.diagonal = np.diagonal(K).copy()
        self.jitter = JITTER * len(K) * float(self.diagonal.max())
        self.whole = self._low_rank(coarse)
        self.L: Floats | None = None
        self.single, self.steps = len(K) >= MANY, 0
        self.space: Entries = np.empty(0)

    def _low_rank(self, coarse: float) -> tuple[Floats, Floats] | None:
        """L and its pivots, if its rank is low; counted as the columns that were tried."""
        factor = low_rank_factor(self.K, coarse)
        n = len(self.K)
        if coarse and n >= FEW:
            rank = n / 8 if factor is None else factor[0].shape[1]
            self.spend(n * rank**2 / 2 + passes(n))
        return factor

    def factorise(self, D: Floats) -> None:
        """The factor, and the Schur complement of the sums."""
        self.give = 1 / D
        self.weight = np.bincount(self.rows, self.give, len(self.K))
        if self.shared:  # the variable of each row that gives way most
            order = np.lexsort((self.give, self.rows))
            self.leader = order[np.r_[np.flatnonzero(np.diff(self.rows[order])), len(order) - 1]]
        self.L = self._columns_that_matter()
        if self.L is not None:
            scaled = np.sqrt(self.weight)[:, None] * self.L
            square = dsyrk(1.0, scaled, trans=1, lower=1)
            self.spend(scaled.size * len(square) / 2 + factorisation(len(square)))
            np.einsum("ii->i", square)[:] += 1.0
            factorise(square, self.threads)
            self.factor = square
        else:
            self.single = self.single and self.steps <= WORTH * len(self.K)
            self.single = self.single and self._factorised_in_single()
            if not self.single:
                self._factorise_in_double()
        self.columns = [self._solve(a) for a in self.A]
        self.schur = np.array([[a @ column for column in self.columns] for a in self.A])

    def _columns_that_matter(self) -> Floats | None:
        """The first columns of L, as many as give K up to the smallest W⁻¹; None if L does not.

        The first steps need a tenth of the columns that the last ones do.
        """
        smallest = 1 / float(self.weight.max())
        if self.whole is not None and smallest <= self.coarse:
            self.coarse = FINER * smallest
            self.whole = self._low_rank(self.coarse)
        if self.whole is None:
            return None
        L, pivots = self.whole
        return L[:, : max(1, int(np.searchsorted(-pivots, -smallest)))]

    def _room(self, kind: type) -> Entries:
        if self.space.dtype != kind or not self.space.size:
            self.space = np.empty(0)
            self.space = np.empty_like(self.K, kind)
        return self.space

    def _factorised_in_single(self) -> bool:
        """Scaled to a diagonal of 1; False if float32 is not exact enough."""
        self.scale = 1 / np.sqrt(self.diagonal + 1 / self.weight)
        A = self._room(np.float32)
        for start in range(0, len(A), CHUNK):  # only the half that is factorised
            part, later = slice(start, start + CHUNK), slice(start, None)
            A[part, later] = self.K[part, later] * (self.scale[part, None] * self.scale[later])
        np.einsum("ii->i", A)[:] = 1 + SHIFT
        self.factor = A.T
        self.spend(factorisation(len(A)) / 2 + passes(len(A)))
        return factorise(self.factor, self.threads)

    def _factorise_in_double(self) -> None:
        self.factor, _ = cholesky(self._made, self.jitter, self.threads)

    def _made(self) -> Floats:
        """K + W⁻¹, the half that is factorised."""
        A = self._room(np.float64)
        for start in range(0, len(A), CHUNK):
            A[start : start + CHUNK, start:] = self.K[start : start + CHUNK, start:]
        np.einsum("ii->i", A)[:] = self.diagonal + 1 / self.weight
        self.spend(factorisation(len(A)) + passes(len(A)))
        return A

    def _solve_rows(self, q: Floats) -> Floats:
        """(K + W⁻¹)⁻¹ q; with K = LLᵀ it is W(q − Lt), (I + LᵀWL) t = LᵀWq."""
        if self.single and self.L is None:
            found = self._conjugate_gradients(self.scale * q)
            if found is not None:
                return self.scale * found
            self.single = False
            self._factorise_in_double()
        self.spend(passes(len(self.factor)))
        if self.L is None:
            return solve_vector(self.factor, q)
        self.spend(PASS * 2 * self.L.size)
        t = solve_vector(self.factor, dgemv(1.0, self.L, self.weight * q, trans=1))
        solved: Floats = self.weight * (q - dgemv(1.0, self.L, t))
        return solved

    def _conjugate_gradients(self, q: Floats) -> Floats | None:
        """Â⁻¹ q with Â = S(K + W⁻¹)S, or None if that takes too many steps."""
        added, x, r = self.scale / self.weight, np.zeros_like(q), q
        z = p = solve_in_single(self.factor, r)
        product_before = float(r @ z)
        for step in range(STEPS):
            self.spend(passes(len(self.K), 2))
            v = self.scale * p
            Ap = self.scale * product(self.K, v) + added * v
            length = product_before / float(p @ Ap)
            x, r = x + length * p, r - length * Ap
            if np.linalg.norm(r) <= RESIDUAL * np.linalg.norm(q):
                self.steps = max(self.steps, step)
                return x
            z = solve_in_single(self.factor, r)
            product_now = float(r @ z)
            p = z + product_now / product_before * p
            product_before = product_now
        return None

    def _solve(self, r: Floats) -> Floats:
        """(EKEᵀ + D)⁻¹ r.

        z = Eᵀx solves (K + W⁻¹) z = W⁻¹ EᵀD⁻¹ r with W = EᵀD⁻¹E. Then x = D⁻¹(r − EKz), which is
        z itself where a row has one variable; where it has two, the one that gives way more is
        what the other leaves of z, for D⁻¹ would magnify the rounding of Kz.
        """
        if not self.shared:
            return self._solve_rows(r)
        given = np.bincount(self.rows, self.give * r, len(self.K))
        z = self._solve_rows(given / self.weight)
        x = self.give * (r - ((given - z) / self.weight)[self.rows])
        x[self.leader] = 0.0
        x[self.leader] = (z - np.bincount(self.rows, x, len(z)))[self.rows[self.leader]]
        return x

    def solve(self, r: Floats, s: Floats) -> tuple[Floats, Floats]:
        """x and δb; not finite where no digits are left."""
        x = self._solve(r)
        if not (np.isfinite(x).all() and np.isfinite(self.schur).all()):
            return np.full_like(x, np.nan), s
        b = np.linalg.lstsq(self.schur, self.A @ x - s, rcond=None)[0] if len(s) else s
        for part, column in zip(b, self.columns, strict=True):
            x = x - part * column
        return x, b


def low_rank_factor(K: Floats, coarse: float) -> tuple[Floats, Floats] | None:
    """L with K ≈ LLᵀ, no diagonal entry off by more than `coarse`; None if its rank is not low.

    And its pivots: by these diagonal entries are off, at most, without this column and those after.
    Cholesky's factorisation with pivots. A quarter of the rows tells at little cost whether it is
    worth while.
    """
    n = len(K)
    if not coarse or n < FEW or rank_of(K[::4, ::4], coarse) > QUARTER * n:
        return None
    factor, pivots, rank, _ = dpstrf(K.copy().T, tol=coarse, lower=1, overwrite_a=1)
    if rank > LOW * n:
        return None
    L = np.empty((n, rank), order="F")
    L[pivots - 1] = np.tril(factor[:, :rank])
    return L, np.diagonal(factor)[:rank] ** 2


def rank_of(K: Floats, coarse: float) -> int:
    """The columns of a factor L with K = LLᵀ up to `coarse` on the diagonal."""
    return int(dpstrf(np.asfortranarray(K), tol=coarse, lower=1)[2])


def product(K: Floats, x: Floats) -> Floats:
    """Kx of a symmetric K, of which one half is read."""
    result: Floats = dsymv(1.0, K.T, x, lower=1)
    return result


def solve_vector(factor: Floats, q: Floats) -> Floats:
    """(LLᵀ)⁻¹ q. `dpotrs` takes twice as long for one column."""
    solved: Floats = dtrsv(factor, dtrsv(factor, q, lower=1), lower=1, trans=1)
    return solved


def solve_in_single(factor: Entries, q: Floats) -> Floats:
    """(LLᵀ)⁻¹ q for a factor in float32."""
    half = strsv(factor, q.astype(np.float32), lower=1, overwrite_x=1)
    solved: Floats = strsv(factor, half, lower=1, trans=1, overwrite_x=1).astype(np.float64)
    return solved
