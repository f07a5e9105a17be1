"""The slow obvious truth: everything by its definition, with loops."""

import numpy as np


def gram(kernel, X):
    """K, one entry at a time."""
    n = X.shape[0]
    return np.array(
        [[kernel(X[i : i + 1], X[j : j + 1])[0, 0] for j in range(n)] for i in range(n)]
    )


def on_variables(problem, K):
    """K over the variables, some of which may share a row."""
    rows = range(problem.size) if problem.rows is None else problem.rows
    return np.array([[K[i, j] for j in rows] for i in rows])


def objective(problem, K, beta):
    """½ βᵀKβ + pᵀβ; K over the variables, as below."""
    total = 0.0
    for i in range(problem.size):
        total += problem.linear[i] * beta[i]
        for j in range(problem.size):
            total += 0.5 * beta[i] * K[i, j] * beta[j]
    return total


def gradient(problem, K, beta):
    return np.array(
        [
            problem.linear[i] + sum(K[i, j] * beta[j] for j in range(problem.size))
            for i in range(problem.size)
        ]
    )


def violation(problem, K, beta):
    """The worst KKT violation: over all pairs of a group, or all single variables without one."""
    G = gradient(problem, K, beta)
    up = [i for i in range(problem.size) if beta[i] < problem.upper[i]]
    down = [i for i in range(problem.size) if beta[i] > problem.lower[i]]
    if problem.n_groups == 0:
        return max([0.0, *(-G[i] for i in up), *(G[i] for i in down)])
    pairs = [(i, j) for i in up for j in down if problem.group[i] == problem.group[j]]
    return max([0.0, *(G[j] - G[i] for i, j in pairs)])


def hinge_primal(K, y, beta, b, C):
    """½‖w‖² + Σ C_i max(0, 1 − y_i f(x_i)) of a classifier."""
    f = [sum(K[i, j] * beta[j] for j in range(len(y))) + b for i in range(len(y))]
    hinge = [max(0.0, 1.0 - y[i] * f[i]) for i in range(len(y))]
    return 0.5 * beta @ K @ beta + sum(C[i] * hinge[i] for i in range(len(y)))


def primal(problem, square, G, offsets):
    """½‖w‖² + Σ max_{l ≤ t ≤ u} −(G_i + b) t + Σ b_g d_g, of any w with G = φ(X)w + p.

    Of a hard margin: ½‖w‖² where w and b are long enough for y_i f(x_i) ≥ 1.
    """
    b = [offsets[g] if problem.n_groups else 0.0 for g in problem.group]
    if np.isinf([problem.lower, problem.upper]).any():
        y = -problem.linear
        margin = min(y[i] * (G[i] + y[i] + b[i]) for i in range(problem.size))
        return 0.5 * square / margin**2
    total = 0.5 * square
    for i in range(problem.size):
        total += max(-(G[i] + b[i]) * end for end in (problem.lower[i], problem.upper[i]))
    return total + sum(offsets[g] * problem.sums[g] for g in range(problem.n_groups))


def proximal(problem, Z, w, b, delta, anchor, anchor_b, kappa):
    """ψ(w, b) of a proximal step from β⁰ and b⁰; the best t of each variable by trial."""
    total = 0.5 * sum(component**2 for component in w)
    for i in range(problem.size):
        z = Z[i if problem.rows is None else problem.rows[i]]
        r = -(problem.linear[i] + sum(z[k] * w[k] for k in range(len(w))) + b)
        lower, upper = problem.lower[i], problem.upper[i]
        top = anchor[i] + r / delta
        ends = [lower, upper, top] if lower < top < upper else [lower, upper]
        total += max(r * t - 0.5 * delta * (t - anchor[i]) ** 2 for t in ends)
    if problem.n_groups:
        total += b * problem.sums[0] + (b - anchor_b) ** 2 / (2 * kappa**2)
    return total


# What a linear machine pays for the answer f where the truth is y, by the name of the loss.
LOSSES = {
    "hinge": lambda y, f, epsilon: max(0.0, 1.0 - y * f),
    "squared hinge": lambda y, f, epsilon: max(0.0, 1.0 - y * f) ** 2,
    "squared": lambda y, f, epsilon: 0.5 * (y - f) ** 2,
    "absolute": lambda y, f, epsilon: abs(y - f),
    "epsilon-insensitive": lambda y, f, epsilon: max(0.0, abs(y - f) - epsilon),
    "squared epsilon-insensitive": lambda y, f, epsilon: max(0.0, abs(y - f) - epsilon) ** 2,
}


def linear_primal(loss, epsilon, X, y, cost, w, b):
    """½‖w‖² + Σ c_i L(y_i, x_iᵀw + b)."""
    total = 0.5 * sum(component**2 for component in w)
    for i in range(len(y)):
        f = sum(X[i, k] * w[k] for k in range(len(w))) + b
        total += cost[i] * LOSSES[loss](y[i], f, epsilon)
    return total


def l1_primal(X, y, cost, w, b):
    """‖w‖₁ + Σ c_i max(0, 1 − y_i (x_iᵀw + b))²."""
    half_square = 0.5 * sum(component**2 for component in w)
    losses = linear_primal("squared hinge", 0.0, X, y, cost, w, b) - half_square
    return sum(abs(component) for component in w) + losses


def l1_dual(y, cost, beta):
    """Σ y_i β_i − β_i² / 4c_i, for feasible β."""
    return sum(y[i] * beta[i] - beta[i] ** 2 / (4 * cost[i]) for i in range(len(y)))


def crammer_singer_primal(X, labels, cost, W, b):
    """½ Σ ‖w_m‖² + Σ c_i max_m (1 − [m = y_i] + f_m(x_i) − f_{y_i}(x_i))."""
    total = 0.5 * sum(component**2 for w in W for component in w)
    for i, own in enumerate(labels):
        f = [sum(X[i, j] * w[j] for j in range(len(w))) + b_m for w, b_m in zip(W, b, strict=True)]
        total += cost[i] * max((m != own) + f[m] - f[own] for m in range(len(W)))
    return total


def crammer_singer_dual(X, labels, alpha):
    """−½ Σ_m ‖Σ_i α_im x_i‖² − Σ_{m ≠ y_i} α_im, for feasible α."""
    total = 0.0
    for m in range(alpha.shape[1]):
        w = sum(alpha[i, m] * X[i] for i in range(len(X)))
        total -= 0.5 * sum(component**2 for component in w)
        total -= sum(alpha[i, m] for i in range(len(X)) if labels[i] != m)
    return total


def lecture_step(K, y, alpha, b, C, i, j):
    """One step of lecture 7, in its own notation: a and b after it, the new a_j unclipped, L, H."""
    E = [sum(alpha[k] * y[k] * K[i, k] for k in range(len(y))) + b - y[i] for i in range(len(y))]
    second = 2 * K[i, j] - K[i, i] - K[j, j]
    unclipped = alpha[j] - y[j] * (E[i] - E[j]) / second
    if y[i] == y[j]:
        L, H = max(0.0, alpha[i] + alpha[j] - C), min(C, alpha[i] + alpha[j])
    else:
        L, H = max(0.0, alpha[j] - alpha[i]), min(C, C + alpha[j] - alpha[i])
    a_j = min(max(unclipped, L), H)
    a_i = alpha[i] - y[i] * y[j] * (a_j - alpha[j])
    a_i, a_j = (next((end for end in (0.0, C) if np.isclose(a, end)), a) for a in (a_i, a_j))
    moved_i, moved_j = y[i] * (a_i - alpha[i]), y[j] * (a_j - alpha[j])
    b_i = b - E[i] - moved_i * K[i, i] - moved_j * K[j, i]
    b_j = b - E[j] - moved_i * K[i, j] - moved_j * K[j, j]
    if 0 < a_i < C:
        b = b_i
    elif 0 < a_j < C:
        b = b_j
    else:
        b = (b_i + b_j) / 2
    alpha = alpha.copy()
    alpha[i], alpha[j] = a_i, a_j
    return alpha, b, unclipped, L, H
