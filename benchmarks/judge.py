"""The judge: how good an answer is, computed in float64 from its coefficients alone.

Every dual machine is `minimise ½βᵀKβ + pᵀβ, l ≤ β ≤ u, Σβ = d` in signed variables, with

    machine      p               bounds                            sum
    SVC          −y              [0, C] if y = +1, else [−C, 0]    0
    SVR          ε − y, −ε − y   [0, C], and [−C, 0]               0      two copies of each row
    OneClassSVM  0               [0, 1]                            νn

and G = Kβ + p its gradient. β is optimal when no pair can move: the KKT gap

    max {−G_i : β_i < u_i} − min {−G_i : β_i > l_i}

is zero or less. All libraries here stop by it, or say they do. With f = Kβ + b,

    SVC          primal = ½βᵀKβ + C Σ max(0, 1 − y f)
    SVR          primal = ½βᵀKβ + C Σ max(0, |y − f| − ε)
    OneClassSVM  primal = ½βᵀKβ + Σ max(0, −f) + νn b

and dual = −(½βᵀKβ + pᵀβ) ≤ primal. A linear machine without offset is known by its weights w
alone: its primal is ½wᵀw + C Σ max(0, 1 − y Xw), or the sum of the squares; with the ℓ₁ penalty
‖w‖₁ + C Σ max(0, 1 − y Xw)², with the dual Σα − Σα²/4C for ‖Xᵀyα‖_∞ ≤ 1. Crammer and Singer's has
½‖W‖² + C Σ_i max_m (e_im + x_iᵀ(w_m − w_y)), e_im = 1 for m ≠ y, with the dual −½‖αᵀX‖² − Σeα for
α_im ≤ 0, α_iy ≤ C and rows that sum to 0. Its gap, relative to
the primal, is what is left to the dual value at one β for all, far closer to the optimum than any
tolerance asked for. Such a value bounds the optimum whoever found β, so it may be maxmargin.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.extmath import safe_sparse_dot

from benchmarks.case import Answer, Case, Part
from benchmarks.datasets import Data, load
from maxmargin.gram import DataMatrix
from maxmargin.losses import Hinge, SquaredHinge
from maxmargin.problem import CrammerSingerProblem, L1Problem, LinearProblem
from maxmargin.solvers import AUTOMATIC

BLOCK = 4_000_000  # kernel entries held at once by each thread: 32 MB
ROUNDING = 1e-6  # a coefficient this close to its bound, relative to C, is at it: float32 answers


@dataclass(frozen=True)
class Verdict:
    """Dual and primal values, the true gap, and how far the constraints are broken, over C."""

    dual: float
    primal: float
    gap: float
    infeasibility: float
    support_vectors: int

    def passes(self, tol: float) -> bool:
        """Whether the gap is at most `tol`, to two digits, and the answer feasible."""
        return self.gap <= 1.05 * tol and self.infeasibility <= tol


def judge(case: Case, answer: Answer) -> Verdict:
    data = load(case.data, case.n)
    if answer.weights is not None:
        return _judge_weights(case, data, answer.weights)
    verdicts = [_judge_part(case, data, part) for part in answer.parts]
    return Verdict(
        dual=sum(v.dual for v in verdicts),
        primal=sum(v.primal for v in verdicts),
        gap=max(v.gap for v in verdicts),
        infeasibility=max(v.infeasibility for v in verdicts),
        support_vectors=len(np.unique(np.concatenate([p.support for p in answer.parts]))),
    )


def _judge_part(case: Case, data: Data, part: Part) -> Verdict:
    if part.pair is None:
        rows, y = np.arange(len(data.y)), data.y
    else:
        every = part.pair[1] is None
        rows = np.flatnonzero(every | np.isin(data.y, [c for c in part.pair if c is not None]))
        y = np.where(data.y[rows] == part.pair[0], 1.0, -1.0)
    beta = np.zeros(len(data.y))
    beta[part.support] = part.beta
    beta = beta[rows]
    K_beta = kernel_times(case, data.X[rows], data.X[part.support], part.beta)
    f = K_beta + part.intercept
    half_norm = 0.5 * beta @ K_beta

    C, zero = case.C, np.zeros(len(y))
    copies, total = [beta], 0.0
    if case.machine == "SVC":
        p, l, u = -y, np.where(y > 0, 0, -C), np.where(y > 0, C, 0)
        primal = half_norm + C * np.maximum(0, 1 - y * f).sum()
    elif case.machine == "SVR":
        copies = [np.maximum(beta, 0), np.minimum(beta, 0)]
        p = np.concatenate([case.epsilon - y, -case.epsilon - y])
        l, u = np.concatenate([zero, zero - C]), np.concatenate([zero + C, zero])
        primal = half_norm + C * np.maximum(0, np.abs(y - f) - case.epsilon).sum()
    else:
        C, total = 1.0, case.nu * len(y)
        p, l, u = zero, zero, zero + 1
        primal = half_norm + np.maximum(0, -f).sum() + total * part.intercept

    beta = np.concatenate(copies)
    downhill = -(np.tile(K_beta, len(copies)) + p)
    up, down = beta < u - ROUNDING * C, beta > l + ROUNDING * C
    broken = max((l - beta).max(), (beta - u).max(), abs(beta.sum() - total))
    return Verdict(
        dual=-(half_norm + p @ beta),
        primal=primal,
        gap=max(0.0, downhill[up].max(initial=-np.inf) - downhill[down].min(initial=np.inf)),
        infeasibility=max(0.0, broken) / C,
        support_vectors=len(part.support),
    )


def kernel_times(case: Case, X, Z, beta):
    """K(X, Z) β for the kernel of the case, a block of rows at a time, on all cores."""
    step = max(1, BLOCK // max(1, len(beta)))
    blocks = [slice(start, start + step) for start in range(0, X.shape[0], step)]
    with ThreadPoolExecutor() as pool:
        return np.concatenate(
            list(pool.map(lambda block: kernel_block(case, X[block], Z) @ beta, blocks))
        )


def kernel_block(case: Case, X, Z) -> np.ndarray:
    """rbf · exp(−γ‖x − z‖²) + linear · γxᵀz."""
    K = case.rbf * rbf_kernel(X, Z, gamma=case.gamma)
    if case.linear:
        K += case.linear * case.gamma * safe_sparse_dot(X, Z.T, dense_output=True)
    return K


def _judge_weights(case: Case, data: Data, w: np.ndarray) -> Verdict:
    several = case.loss == "crammer_singer"
    slack = _slack_of_classes(data, w) if several else 1 - _signed(data) * (data.X @ w)
    loss = np.maximum(0, slack)
    penalty = np.abs(w).sum() if case.penalty == "l1" else 0.5 * (w**2).sum()
    primal = penalty + case.C * (loss**2 if case.loss == "squared_hinge" else loss).sum()
    dual = _dual_of_classes(case) if several else _linear_dual(case)
    return Verdict(
        dual=dual,
        primal=primal,
        gap=max(0.0, primal - dual) / primal,
        infeasibility=0.0,
        support_vectors=int((slack >= 0).sum()),
    )


def _signed(data: Data) -> np.ndarray:
    return np.where(data.y == data.y.max(), 1.0, -1.0)


def _other_classes(data: Data) -> np.ndarray:
    """e_im: 0 for a row's own class, 1 for the others."""
    return (data.y[:, None] != np.unique(data.y)).astype(float)


def _slack_of_classes(data: Data, W: np.ndarray) -> np.ndarray:
    """How far the score of a row's own class is from 1 above all others; negative if further."""
    scores, others = data.X @ W.T, _other_classes(data)
    own = scores[others == 0]
    return 1 + np.where(others == 1, scores, -np.inf).max(axis=1) - own


@lru_cache
def _dual_of_classes(case: Case) -> float:
    """−½‖αᵀX‖² − Σeα at an α that is all but optimal, and made feasible here."""
    data = load(case.data, case.n)
    others, C = _other_classes(data), case.C
    problem = CrammerSingerProblem(
        others.argmin(axis=1), np.full(len(others), C), others.shape[1], fit_intercept=False
    )
    solver = AUTOMATIC[CrammerSingerProblem](tol=1e-3 * case.tol, max_iter=-1)
    alpha = np.minimum(solver.solve(problem, DataMatrix(data.X)).beta, 0) * others
    alpha *= np.minimum(1, C / np.maximum(-alpha.sum(axis=1, keepdims=True), 1e-300))
    alpha[others == 0] = -alpha.sum(axis=1)
    W = data.X.T @ alpha
    return -0.5 * (W**2).sum() - (others * alpha).sum()


@lru_cache
def _linear_dual(case: Case) -> float:
    """Σα − ½‖Xᵀyα‖², minus Σα²/4C for the squared hinge, at an α that is all but optimal.

    With the ℓ₁ penalty there is no ‖Xᵀyα‖², but α is scaled until no entry of Xᵀyα exceeds 1.
    """
    data = load(case.data, case.n)
    y, loss = _signed(data), Hinge() if case.loss == "hinge" else SquaredHinge()
    kind = L1Problem if case.penalty == "l1" else LinearProblem
    problem = kind(y, np.full(len(y), case.C), loss, fit_intercept=False)
    solver = AUTOMATIC[kind](tol=1e-3 * case.tol, max_iter=-1)
    alpha = y * solver.solve(problem, DataMatrix(data.X)).beta
    if case.loss == "hinge":
        alpha, square = np.clip(alpha, 0, case.C), 0.0
    else:
        alpha = np.maximum(alpha, 0)
        square = alpha @ alpha / (4 * case.C)
    w = data.X.T @ (y * alpha)
    if case.penalty == "l1":
        scale = 1 / max(1.0, np.abs(w).max())
        return scale * alpha.sum() - scale**2 * square
    return alpha.sum() - square - 0.5 * w @ w
