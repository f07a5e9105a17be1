"""The slow truth about machines: kernels row by row, objectives by their definitions, a QP solver.

Everything here is written from the textbook formulas, in the textbook's variables, and shares no
code with the library.
"""

import clarabel
import numpy as np
import scipy.sparse as sp

import naive

KERNELS = {
    "linear": lambda x, z, gamma, coef0, degree: x @ z,
    "poly": lambda x, z, gamma, coef0, degree: (gamma * (x @ z) + coef0) ** degree,
    "rbf": lambda x, z, gamma, coef0, degree: np.exp(-gamma * np.sum((x - z) ** 2)),
    "laplacian": lambda x, z, gamma, coef0, degree: np.exp(-gamma * np.sum(np.abs(x - z))),
    "sigmoid": lambda x, z, gamma, coef0, degree: np.tanh(gamma * (x @ z) + coef0),
}


def kernel_matrix(name, X, Z=None, *, gamma=1.0, coef0=0.0, degree=3):
    """k(x, z) for every pair of rows, one at a time."""
    Z = X if Z is None else Z
    return np.array([[KERNELS[name](x, z, gamma, coef0, degree) for z in Z] for x in X])


def pairs_of(machine):
    """(first class, second class) of each binary machine of a one-versus-one classifier."""
    k = len(machine.classes_)
    return [(1, 0)] if k == 2 else [(a, b) for a in range(k) for b in range(a + 1, k)]


def binary_coefficients(machine, y):
    """β over all rows for each binary machine, read from `dual_coef_` as LIBSVM lays it out."""
    dual_coef = getattr(machine.dual_coef_, "toarray", lambda: machine.dual_coef_)()
    for a, b in pairs_of(machine):
        beta = np.zeros(len(y))
        for column, row in enumerate(machine.support_):
            label = machine.classes_.tolist().index(y[row])
            if len(machine.classes_) == 2:
                beta[row] = dual_coef[0, column]
            elif label == a:
                beta[row] = dual_coef[b - 1, column]
            elif label == b:
                beta[row] = dual_coef[a, column]
        yield beta


def svc_dual(K, alpha, sign):
    """Σα − ½ ΣΣ α_i α_j y_i y_j K_ij."""
    return alpha.sum() - 0.5 * (alpha * sign) @ K @ (alpha * sign)


def svc_primal(K, alpha, sign, b, C):
    """½‖w‖² + Σ C_i max(0, 1 − y_i(wᵀφ(x_i) + b))."""
    w_phi = K @ (alpha * sign)
    return 0.5 * (alpha * sign) @ w_phi + np.sum(C * np.maximum(0, 1 - sign * (w_phi + b)))


def svr_dual(K, beta, y, epsilon):
    """yᵀβ − ε Σ|β| − ½ βᵀKβ."""
    return y @ beta - epsilon * np.abs(beta).sum() - 0.5 * beta @ K @ beta


def svr_primal(K, beta, y, b, epsilon, C):
    """½‖w‖² + Σ C_i max(0, |y_i − f(x_i)| − ε)."""
    f = K @ beta + b
    return 0.5 * beta @ K @ beta + np.sum(C * np.maximum(0, np.abs(y - f) - epsilon))


def quadratic_program(P, q, lower, upper, A=None, total=()):
    """x minimising ½xᵀPx + qᵀx over lower ≤ x ≤ upper and Ax = total, by interior points."""
    n = len(q)
    A = np.zeros((0, n)) if A is None else np.atleast_2d(A)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    constraints = sp.csc_matrix(np.vstack([A, np.eye(n), -np.eye(n)]))
    right = np.concatenate([np.atleast_1d(total), upper, -lower])
    cones = [clarabel.ZeroConeT(len(A)), clarabel.NonnegativeConeT(2 * n)]
    upper_triangle = sp.csc_matrix(np.triu(P))
    solver = clarabel.DefaultSolver(upper_triangle, q, constraints, right, cones, settings)
    return np.clip(np.array(solver.solve().x), lower, upper)


def svc_optimum(K, sign, C, *, fit_intercept=True):
    """The largest dual value of a soft-margin machine, by interior points."""
    n = len(sign)
    C = np.broadcast_to(np.asarray(C, float), n)
    A, total = (sign[None], [0.0]) if fit_intercept else (None, ())
    Q = K * np.outer(sign, sign)
    alpha = quadratic_program(Q, -np.ones(n), np.zeros(n), C, A, total)
    return svc_dual(K, alpha, sign)


def svr_optimum(K, y, epsilon, C, *, fit_intercept=True):
    """The largest dual value of an ε-insensitive regressor, by interior points."""
    n = len(y)
    P = np.block([[K, -K], [-K, K]])
    q = np.concatenate([epsilon - y, epsilon + y])
    A = np.concatenate([np.ones(n), -np.ones(n)])[None] if fit_intercept else None
    total = [0.0] if fit_intercept else ()
    x = quadratic_program(P, q, np.zeros(2 * n), np.full(2 * n, float(C)), A, total)
    return svr_dual(K, x[:n] - x[n:], y, epsilon)


def l1_optimum(X, y, C, *, fit_intercept=True):
    """The largest dual value of the ℓ₁ machine: over β and z = Xᵀβ, |z_j| ≤ 1."""
    n, d = X.shape
    far = np.full(n, np.inf)  # β_i is not bounded on its side
    P = np.diag(np.concatenate([1 / (2 * C), np.zeros(d)]))
    A = np.hstack([X.T, -np.eye(d)])
    if fit_intercept:
        A = np.vstack([A, np.concatenate([np.ones(n), np.zeros(d)])])
    lower, upper = np.where(y > 0, 0, -far), np.where(y > 0, far, 0)
    x = quadratic_program(
        P,
        np.concatenate([-y, np.zeros(d)]),
        np.concatenate([lower, -np.ones(d)]),
        np.concatenate([upper, np.ones(d)]),
        A,
        np.zeros(len(A)),
    )
    return naive.l1_dual(y, C, x[:n])


def crammer_singer_optimum(X, labels, C, *, fit_intercept=True):
    """The largest dual value of Crammer and Singer's machine."""
    n, k = len(labels), max(labels) + 1
    own = np.arange(k) == labels[:, None]
    A = np.kron(np.eye(n), np.ones(k))
    if fit_intercept:
        A = np.vstack([A, np.kron(np.ones(n), np.eye(k))[1:]])  # the last follows from the others
    x = quadratic_program(
        np.kron(X @ X.T, np.eye(k)),
        (~own).astype(float).ravel(),
        np.where(own, 0, -C[:, None]).ravel(),
        np.where(own, C[:, None], 0).ravel(),
        A,
        np.zeros(len(A)),
    )
    return naive.crammer_singer_dual(X, labels, x.reshape(n, k))


def nu_svc_primal(K, beta, sign, b, rho, nu, weight):
    """½‖w‖² − νρ Σw_i + Σ w_i max(0, ρ − y_i(wᵀφ(x_i) + b))."""
    f = K @ beta + b
    loss = np.sum(weight * np.maximum(0, rho - sign * f))
    return 0.5 * beta @ K @ beta - nu * rho * weight.sum() + loss


def nu_svr_primal(K, beta, y, b, epsilon, nu, C):
    """½‖w‖² + νε ΣC_i + Σ C_i max(0, |y_i − f(x_i)| − ε)."""
    return svr_primal(K, beta, y, b, epsilon, C) + nu * epsilon * np.sum(C)


def one_class_primal(K, beta, rho, nu, weight):
    """½‖w‖² − νρ Σw_i + Σ w_i max(0, ρ − wᵀφ(x_i))."""
    scores = K @ beta
    loss = np.sum(weight * np.maximum(0, rho - scores))
    return 0.5 * beta @ scores - nu * rho * weight.sum() + loss
