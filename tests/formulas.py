"""Kernels and machines by their definitions, in float64: what `judge` judges by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.sparse as sp
from numba import njit
from scipy.spatial.distance import cdist

UNIT = np.finfo(float).eps
MANY = 10_000  # values of a function of two rows: compiling it takes less than so many calls


@lru_cache
def compiled(function):
    """By numba as it is, without anything of the library's."""
    return njit(function)


class FalseCertificate(AssertionError):
    """A certificate claims what is not true."""


@dataclass(frozen=True)
class Verdict:
    """What is true of one binary problem, and how far an honest float64 proof may be off."""

    primal: float
    dual: float
    violation: float
    slack: float  # of each G_i
    slack_of_values: float  # of P and of D
    unit: float = 1.0  # what decision values are divided by: ρ of a ν-SVC

    @property
    def gap(self) -> float:
        return self.primal - self.dual


# --- kernels by their formulas --------------------------------------------------------------


def block(kernel, X, Z):
    """k(x, z) of two dense blocks, and the size of what each value was computed from."""
    kind = type(kernel).__name__
    if kind == "Constant":
        K = np.full((len(X), len(Z)), float(kernel.value))
        return K, K
    if kind == "Scaled":
        K, size = block(kernel.kernel, X, Z)
        return kernel.factor * K, kernel.factor * size
    if kind in ("Sum", "Product"):
        (A, a), (B, b) = block(kernel.left, X, Z), block(kernel.right, X, Z)
        if kind == "Sum":
            return A + B, a + b
        return A * B, np.abs(A) * b + a * np.abs(B)
    if kind == "RBF":
        distance = kernel.gamma * cdist(X, Z, "sqeuclidean")
        K = np.exp(-distance)
        centre = X.mean(axis=0)
        norms = [kernel.gamma * ((A - centre) ** 2).sum(axis=1) for A in (X, Z)]
        return K, K * (1 + norms[0][:, None] + norms[1])
    if kind == "Laplacian":
        distance = kernel.gamma * cdist(X, Z, "cityblock")
        return np.exp(-distance), np.exp(-distance) * (1 + distance)
    if kind in ("Linear", "Polynomial", "Sigmoid"):
        lengths = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Z, axis=1))
        if kind == "Linear":
            return X @ Z.T, lengths
        t = kernel.gamma * (X @ Z.T) + kernel.coef0
        size = kernel.gamma * lengths + abs(kernel.coef0)
        if kind == "Sigmoid":
            return np.tanh(t), 1 + size
        return t**kernel.degree, (1 + kernel.degree) * size**kernel.degree
    if kind == "Pairwise":
        function = getattr(kernel.function, "py_func", kernel.function)
        function = compiled(function) if len(X) * len(Z) > MANY else function
        K = np.array([[function(x, z) for z in Z] for x in X], float)
    else:  # a user's own: that function is the definition
        K = getattr(kernel, "function", kernel)(X, Z)
        K = np.asarray(K.toarray() if sp.issparse(K) else K, float)
    return K, np.abs(K)


def takes_objects(kernel) -> bool:
    return type(kernel).__name__ not in (
        ["RBF", "Laplacian", "Linear", "Polynomial", "Sigmoid", "Precomputed"]
    )


def has_distance(kernel) -> bool:
    """Whether a part of the kernel is an RBF."""
    parts = (getattr(kernel, name, None) for name in ("kernel", "left", "right"))
    return type(kernel).__name__ == "RBF" or any(
        has_distance(part) for part in parts if part is not None
    )


def is_precomputed(kernel) -> bool:
    parts = (getattr(kernel, name, None) for name in ("kernel", "left", "right"))
    return type(kernel).__name__ == "Precomputed" or any(
        is_precomputed(part) for part in parts if part is not None
    )


def of_matrix(kernel, K):
    """The values of a kernel of a precomputed matrix."""
    kind = type(kernel).__name__
    if kind == "Precomputed":
        return K
    if kind == "Constant":
        return np.full_like(K, kernel.value)
    if kind == "Scaled":
        return kernel.factor * of_matrix(kernel.kernel, K)
    left, right = of_matrix(kernel.left, K), of_matrix(kernel.right, K)
    return left + right if kind == "Sum" else left * right


def scale_gamma(X, weights) -> float:
    """1 / (columns · variance of all entries), a row counted by its weight; in two passes."""
    weights = np.ones(X.shape[0]) if weights is None else weights
    weights = weights.astype(np.longdouble)
    entries, total = sp.coo_array(X), weights.sum() * X.shape[1]
    values, own = entries.data.astype(np.longdouble), weights[entries.row]
    mean = (own * values).sum() / total
    absent = weights @ (X.shape[1] - np.bincount(entries.row, minlength=X.shape[0]))
    variance = ((own * (values - mean) ** 2).sum() + absent * mean**2) / total
    if variance <= (16 * UNIT * mean) ** 2:  # all entries are equal, up to rounding
        return 1.0
    return float(1 / (X.shape[1] * variance))


def check_gamma(asked, bound, X, weights) -> None:
    """That every γ of the fitted kernel is what was asked for (by a kernel, or a machine)."""
    for name, number in vars(bound).items():
        value = getattr(asked, name, None)
        if name == "gamma":
            rules = {"auto": lambda: 1 / X.shape[1], "scale": lambda: scale_gamma(X, weights)}
            truth = rules[value]() if isinstance(value, str) else value
            if not np.isclose(number, truth, rtol=1e-6, atol=0):
                raise FalseCertificate(f"γ is {number:.9g}, but {value!r} is {truth:.9g}")
        elif hasattr(number, "diagonal"):
            check_gamma(value, number, X, weights)


# --- the machines by their definitions ------------------------------------------------------


def spread(slope, rises, falls, offset) -> float:
    """The worst violation: the largest slope of what can rise over the least of what can fall."""
    up, down = slope[rises].max(initial=-np.inf), slope[falls].min(initial=np.inf)
    return float(max(up - down if offset else max(up, -down), 0.0))


def rounded_sum(values) -> float:
    return float(np.sum(values, dtype=np.longdouble))


def feasible(beta, lower, upper, total, what) -> None:
    """That β is in its box and has its sum; without that nothing is proven."""
    widest = np.where(np.isfinite(upper - lower), upper - lower, 0.0).max(initial=0)
    room = 1e-9 * (np.abs(beta).sum() + abs(total or 0.0)) + 1e-12 * widest
    if (beta < lower - room).any() or (beta > upper + room).any():
        raise FalseCertificate(f"{what}: a coefficient is outside its box")
    if total is not None and abs(rounded_sum(beta) - total) > room:
        raise FalseCertificate(f"{what}: Σβ is {rounded_sum(beta):.9g} instead of {total:.9g}")


def hinge(y, C, beta, h, b, offset, squares, error) -> Verdict:
    """½‖w‖² + Σ C_i max(0, 1 − y_i f_i), and Σ|β| − ½βᵀKβ; w is scaled up for a hard margin."""
    present = C > 0
    y, C, beta, h, error = (a[present] for a in (y, C, beta, h, error))
    lower, upper = np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)
    feasible(beta, lower, upper, 0.0 if offset else None, "C-SVC")
    of_model, of_beta = (rounded_sum(beta * h),) * 2 if squares is None else squares
    margin = y * (h + b)
    if np.isinf(C).any():
        least = float(margin.min())
        primal = 0.5 * of_model / least**2 if least > 0 else np.inf
        loss_slope = 0.0
    else:
        primal = 0.5 * of_model + rounded_sum(C * np.maximum(0.0, 1 - margin))
        loss_slope = rounded_sum(C[margin < 1 + 1e-6])
    dual = rounded_sum(np.abs(beta)) - 0.5 * of_beta
    violation = spread(y - h, beta < upper, beta > lower, offset)
    slack = float(error.max(initial=0)) + UNIT * abs(b)
    return Verdict(primal, dual, violation, slack, slack * (loss_slope + np.abs(beta).sum()))


def nu_hinge(y, w, beta, h, b, rho, nu, known, offset, error) -> Verdict:
    """½‖w‖² + Σ w_i max(0, ρ − y_i f_i) − ρνΣw, and −½βᵀKβ."""
    half = nu * w.sum() / 2
    at_bound = np.isclose(np.abs(beta), w, rtol=1e-12, atol=0)  # but for the division by ρ
    beta = np.where(at_bound, np.sign(beta) * w, beta)
    lower, upper = np.where(y > 0, 0.0, -w), np.where(y > 0, w, 0.0)
    worst = 0.0
    if not offset:  # one sum, of y β
        feasible(y * beta, 0 * w, w, 2 * half, "ν-SVC")
        worst = spread(-y * h, y * beta < w, y * beta > 0, True)
    for sign in (1, -1) if offset else ():
        own = y == sign
        feasible(beta[own], lower[own], upper[own], sign * half, "ν-SVC")
        sides = (beta < upper)[own], (beta > lower)[own]
        worst = max(worst, spread(-h[own], *sides, True))
    square = rounded_sum(beta * h)
    loss = rounded_sum(w * np.maximum(0.0, rho - y * (h + b))) - 2 * rho * half
    slack = float(error.max(initial=0)) + UNIT * (abs(b) + abs(rho))
    values = slack * (w.sum() + np.abs(beta).sum())
    primal = 0.5 * square + loss if known else -np.inf
    no_margin = rho <= 200 * slack  # nothing but rounding errors, of which the library warns
    return Verdict(primal, -0.5 * square, worst, slack, values, 1.0 if no_margin else rho)


def tube(y, C, beta, h, b, epsilon, offset, squares, error) -> Verdict:
    """½‖w‖² + Σ C_i max(0, |y_i − f_i| − ε), and yᵀβ − εΣ|β| − ½βᵀKβ.

    Where C is infinite: of the machine with twice the largest |β|, which has the same optimum.
    """
    feasible(beta, -C, C, 0.0 if offset else None, "ε-SVR")
    C = np.where(np.isinf(C), 2 * np.abs(beta).max(initial=0), C)
    of_model, of_beta = (rounded_sum(beta * h),) * 2 if squares is None else squares
    off = np.abs(y - h - b) - epsilon
    primal = 0.5 * of_model + rounded_sum(C * np.maximum(0.0, off))
    dual = rounded_sum(y * beta - epsilon * np.abs(beta)) - 0.5 * of_beta
    slope = np.concatenate([y - h - epsilon, y - h + epsilon])
    rises = np.concatenate([(beta >= 0) & (beta < C), beta < 0])
    falls = np.concatenate([beta > 0, (beta <= 0) & (beta > -C)])
    violation = spread(slope, rises, falls, offset)
    slack = float(error.max(initial=0)) + UNIT * (abs(b) + np.abs(y).max(initial=0))
    reach = rounded_sum(C[off > -1e-6 * (1 + epsilon)])
    return Verdict(primal, dual, violation, slack, slack * (reach + np.abs(beta).sum()))


def pinball(y, C, beta, h, b, q, offset, error) -> Verdict:
    """½‖w‖² + Σ C_i max(q r_i, (q − 1) r_i), r = y − f, and yᵀβ − ½βᵀKβ."""
    lower, upper = (q - 1) * C, q * C
    feasible(beta, lower, upper, 0.0 if offset else None, "quantile")
    residual, square = y - h - b, rounded_sum(beta * h)
    primal = 0.5 * square + rounded_sum(C * np.maximum(q * residual, (q - 1) * residual))
    dual = rounded_sum(y * beta) - 0.5 * square
    violation = spread(y - h, beta < upper, beta > lower, offset)
    slack = float(error.max(initial=0)) + UNIT * (abs(b) + np.abs(y).max(initial=0))
    return Verdict(primal, dual, violation, slack, slack * (C.sum() + np.abs(beta).sum()))


def nu_tube(y, C, beta, h, b, epsilon, nu, offset, error) -> Verdict:
    """½‖w‖² + Σ C_i max(0, |y_i − f_i| − ε) + νεΣC, and yᵀβ − ½βᵀKβ.

    Where both variables of a row are above zero their sum does not tell them apart: then the
    violation is left to the gap.
    """
    feasible(beta, -C, C, 0.0 if offset else None, "ν-SVR")
    residual, square = y - h - b, rounded_sum(beta * h)
    loss = np.maximum(0.0, residual - epsilon) + np.maximum(0.0, -residual - epsilon)
    primal = 0.5 * square + rounded_sum(C * loss) + nu * epsilon * rounded_sum(C)
    dual = rounded_sum(y * beta) - 0.5 * square
    violation = 0.0
    if np.isclose(np.abs(beta).sum(), nu * C.sum(), rtol=1e-9, atol=0):
        above, below = np.maximum(beta, 0), np.minimum(beta, 0)
        copies = (y - h, above < C, above > 0), (y - h, below < 0, below > -C)
        if not offset:  # the copies share one sum, of |β|
            falls = h - y, below > -C, below < 0
            copies = ([np.concatenate(each) for each in zip(copies[0], falls, strict=True)],)
        violation = max(spread(*copy, True) for copy in copies)
    slack = float(error.max(initial=0)) + UNIT * (abs(b) + np.abs(y).max(initial=0))
    # β is a difference of two variables that sum to νΣC/2 each, and rounded as these are.
    slack *= 1 + nu * C.sum() / max(np.abs(beta).sum(), 1e-300)
    return Verdict(primal, dual, violation, slack, slack * (C.sum() + np.abs(beta).sum()))


def density(w, beta, h, rho, nu, error) -> Verdict:
    """½‖w‖² + Σ w_i max(0, ρ − h_i) − ρνΣw, and −½βᵀKβ."""
    feasible(beta, 0 * w, w, nu * w.sum(), "one-class")
    square = rounded_sum(beta * h)
    primal = 0.5 * square + rounded_sum(w * np.maximum(0.0, rho - h)) - rho * nu * w.sum()
    violation = spread(-h, beta < w, beta > 0, True)
    slack = float(error.max(initial=0)) + UNIT * abs(rho)
    return Verdict(primal, -0.5 * square, violation, slack, slack * (w.sum() + beta.sum()))
