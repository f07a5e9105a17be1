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
