"""An independent judge of certificates: everything from its definition, in float64.

It shares no code with the library. It reads what a user can read of a fitted machine (support
vectors, coefficients, intercept, the numbers of its kernel) and the data, evaluates the kernel by
its formula, and computes the primal value P, the dual value D and the worst KKT violation anew. A
certificate may claim no more than that: a smaller P, a larger D or a smaller violation than the
true one, beyond rounding, is a `FalseCertificate`.

Rounding: next to every kernel value the judge keeps the size of the numbers that it was computed
from, so that it knows how far two honest float64 computations may differ. Entries of a kernel with
a distance may be off by DISTANCE, as long as their sums are exact to a twentieth of `tol`.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import scipy.sparse as sp

from formulas import (
    UNIT,
    FalseCertificate,
    Verdict,
    block,
    check_gamma,
    density,
    has_distance,
    hinge,
    is_precomputed,
    nu_hinge,
    nu_tube,
    of_matrix,
    pinball,
    rounded_sum,
    takes_objects,
    tube,
)

ROUNDINGS = 64  # units in the last place by which two honest sums may differ
ENTRIES = 1 << 20  # kernel values at a time: no more than the library asks a kernel of the user for
DISTANCE = 1e-10  # of k(x, x): what a value of a kernel with a distance may be off by
SHARE = 1 / 20  # of tol: what a G_i in a certificate may be off by for that reason


# --- the model on its own rows --------------------------------------------------------------


def as_rows(X, kernel=None):
    """The data as float64: dense, or CSR without duplicates; objects stay what they are."""
    if sp.issparse(X):
        X = sp.coo_array(X).astype(np.float64).tocsr()
        X.sum_duplicates()
        return X
    X = np.asarray(X)
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError):
        if kernel is None or not takes_objects(kernel):
            raise
        return X.astype(object)


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def values_on_rows(machine, X, coef, most=np.inf):
    """H = Σ_j coef_j k(z_j, x_i) for each line of coef and each row i; how far off they may be.

    By rounding, and by DISTANCE, but for that by no more than `most`.
    """
    kernel, support = machine.kernel_, machine.support_
    if is_precomputed(kernel):
        K = X
        asymmetry = np.abs(K - K.T).max(initial=0)
        if asymmetry > 1e-6 * np.abs(K.diagonal()).max(initial=0):
            K = (K + K.T) / 2
        K = of_matrix(kernel, K[:, support])
        return coef @ K.T, np.abs(coef) @ np.abs(K.T) * ROUNDINGS * UNIT
    Z = as_rows(machine.support_vectors_, kernel)
    if (X[support] != Z).sum():
        raise FalseCertificate("support_vectors_ are not the rows X[support_]")
    n, step = X.shape[0], max(1, ENTRIES // max(len(support), 1))
    H, error, Z = np.empty((len(coef), n)), np.empty((len(coef), n)), dense(Z)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        K, size = block(kernel, dense(X[rows]), Z)
        H[:, rows], error[:, rows] = coef @ K.T, np.abs(coef) @ size.T
    size = has_distance(kernel) * np.abs(block(kernel, dense(X[:1]), dense(X[:1]))[0][0, 0])
    by_distance = np.minimum(DISTANCE * size * np.abs(coef).sum(axis=1, keepdims=True), most)
    return H, ROUNDINGS * UNIT * error + by_distance


def values_of_features(machine, X, coef):
    """φ(x)ᵀw on each row, ‖w‖², ‖φᵀβ‖² and the rounding errors of a machine on features."""
    Z = np.asarray(dense(machine.features_.transform(X)), float)
    w, image = machine.feature_coef_, coef @ Z[machine.support_]
    size = np.linalg.norm(Z, axis=1) * np.linalg.norm(w, axis=1)[:, None]
    return w @ Z.T, np.sum(w * w, axis=1), np.sum(image * image, axis=1), 1e-5 * size


# --- from a fitted machine to its problems --------------------------------------------------


def labels_of(machine, y):
    return np.searchsorted(machine.classes_, np.ravel(np.asarray(y)))


def weights_of(machine, labels, sample_weight):
    """Sample weight times class weight, by scikit-learn's rules for "balanced".

    LinearSVC counts weights; the others count rows, but here none without a weight.
    """
    counted = sample_weight if type(machine).__name__ == "LinearSVC" else sample_weight > 0
    counts, asked = np.bincount(labels, counted), getattr(machine, "class_weight", None)
    if isinstance(asked, str):
        there = counts > 0
        of_class = np.ones(len(counts))
        of_class[there] = counts.sum() / (there.sum() * counts[there])
    else:
        asked = asked or {}
        of_class = np.array([asked.get(name, 1.0) for name in machine.classes_.tolist()], float)
    return of_class[labels] * sample_weight


def binary_problems(machine, labels, coef):
    """(rows, signs, β over these rows, line of values) of every binary problem of a classifier.

    `coef` holds dual_coef_ over all rows. One-versus-one keeps the coefficients of class a
    against b in line b − 1, those of b against a in line a; a value h of the pair is the sum of
    the lines' values over the rows of a and of b, so the caller asks for lines restricted to them.
    """
    classes = len(machine.classes_)
    if classes == 2:
        yield slice(None), np.where(labels == 1, 1.0, -1.0), coef[0], coef[0]
    elif machine.multiclass == "ovr":
        for k in range(classes):
            yield slice(None), np.where(labels == k, 1.0, -1.0), coef[k], coef[k]
    else:
        for a, b in combinations(range(classes), 2):
            line = np.where(labels == a, coef[b - 1], np.where(labels == b, coef[a], 0.0))
            rows = np.flatnonzero((labels == a) | (labels == b))
            yield rows, np.where(labels[rows] == a, 1.0, -1.0), line[rows], line


def dual_verdicts(machine, X, y, sample_weight) -> list[Verdict]:
    """Of a kernel machine."""
    n, kind = X.shape[0], type_of(machine)
    coef = np.zeros((machine.dual_coef_.shape[0], n))
    coef[:, machine.support_] = dense(machine.dual_coef_)
    weight = np.ones(n) if sample_weight is None else sample_weight
    squares = None
    if kind in ("SVC", "NuSVC"):
        labels = labels_of(machine, y)
        problems = list(binary_problems(machine, labels, coef))
        bounds = weights_of(machine, labels, weight)
    else:
        problems = [(slice(None), None, line, line) for line in coef]
    lines = np.array([line for *_, line in problems])[:, machine.support_]
    if hasattr(machine, "support_vectors_"):
        H, error = values_on_rows(machine, X, lines, SHARE * machine.tol)
    else:
        H, of_w, of_beta, error = values_of_features(machine, X, lines)
        squares = list(zip(of_w, of_beta, strict=True))
    verdicts = []
    for k, (rows, signs, beta, _) in enumerate(problems):
        h, e, b = H[k][rows], error[k][rows], float(machine.intercept_[k])
        both = None if squares is None else squares[k]
        if kind == "SVC":
            C = machine.C * bounds[rows] if np.isfinite(machine.C) else np.full(len(h), np.inf)
            C = np.where(bounds[rows] > 0, C, 0.0)
            verdicts.append(hinge(signs, C, beta, h, b, machine.fit_intercept, both, e))
        elif kind == "NuSVC" and machine.class_weight is not None:
            # C = 1/ρ of the unweighted machine is not public; it shows in what is at its bound.
            at_most = np.abs(beta) / np.where(bounds[rows] > 0, bounds[rows], np.inf)
            C = at_most.max(initial=0) * bounds[rows]
            C = np.where(np.isclose(np.abs(beta), C, rtol=1e-12), np.abs(beta), C)
            verdicts.append(hinge(signs, C, beta, h, b, machine.fit_intercept, None, e))
        elif kind == "NuSVC":
            total = machine.nu * weight[rows].sum()
            rho = total / np.abs(beta).sum()
            known = abs(rho - 1) > 1e-9  # a machine without margin is not divided by ρ
            parts = rho * beta, rho * h, rho * b, rho, machine.nu, known
            verdicts.append(nu_hinge(signs, weight[rows], *parts, machine.fit_intercept, rho * e))
        elif kind == "OneClassSVM":
            verdicts.append(density(weight, beta, h, -b, machine.nu, e))
        else:
            levels = np.ravel(getattr(machine, "quantiles", 0.0))
            target = columns_of(y)[k // len(levels)]
            C = np.where(weight > 0, machine.C, 0.0) if np.isinf(machine.C) else machine.C * weight
            if kind == "SVR":
                parts = machine.epsilon, machine.fit_intercept, both, e
                verdicts.append(tube(target, C, beta, h, b, *parts))
            elif kind == "QuantileSVR":
                level = float(levels[k % len(levels)])
                verdicts.append(pinball(target, C, beta, h, b, level, machine.fit_intercept, e))
            else:
                epsilon = np.ravel(machine.epsilon_)[k]
                parts = epsilon, machine.nu, machine.fit_intercept, e
                verdicts.append(nu_tube(target, C, beta, h, b, *parts))
    return verdicts


def columns_of(y):
    """The lines to predict: of one column or line, one."""
    return np.atleast_2d(np.asarray(y, float).T)


def linear_primals(machine, X, y, sample_weight) -> list[tuple[float, float]]:
    """P of every line of a linear machine's coefficients, and its rounding; β is not public."""
    weight = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    coef = np.atleast_2d(dense(machine.coef_))
    if type_of(machine) == "LinearSVC":
        labels = labels_of(machine, y)
        C = machine.C * weights_of(machine, labels, weight)
        if machine.multi_class == "crammer_singer":
            return [crammer_singer_primal(machine, X, labels, C, coef)]
        classes = [1] if len(machine.classes_) == 2 else range(len(machine.classes_))
        targets = [np.where(labels == k, 1.0, -1.0) for k in classes]
    else:
        C, targets = machine.C * weight, columns_of(y)
    values = []
    for target, w, b in zip(targets, coef, np.ravel(machine.intercept_), strict=True):
        f = X @ w + b
        if type_of(machine) == "LinearSVC":
            loss = np.maximum(0.0, 1 - target * f)
        else:
            loss = np.maximum(0.0, np.abs(target - f) - machine.epsilon)
        off = ROUNDINGS * UNIT * (abs(X) @ np.abs(w) + abs(b) + np.abs(target))
        squared = machine.loss.startswith("squared")
        room = rounded_sum(C * off * (2 * loss + off if squared else 1.0))
        norm = 0.5 * rounded_sum(w * w)
        if getattr(machine, "penalty", "l2") == "l1":
            norm = rounded_sum(np.abs(w))
        primal = norm + rounded_sum(C * (loss**2 if squared else loss))
        values.append((primal, room + 1e-12 * primal))
    return values


def crammer_singer_primal(machine, X, labels, C, coef) -> tuple[float, float]:
    """½ Σ‖w_m‖² + Σ C_i (max_m (f_m + [m ≠ y_i]) − f_{y_i}); of two classes w_0 = −w_1."""
    b = np.ravel(machine.intercept_)
    if len(coef) == 1:
        coef, b = np.concatenate([-coef, coef]) / 2, np.array([-b[0], b[0]]) / 2
    f = X @ coef.T + b
    own = np.arange(len(labels)), labels
    rivals = f + 1.0
    rivals[own] -= 1.0
    loss = rivals.max(axis=1) - f[own]
    off = ROUNDINGS * UNIT * (abs(X) @ np.abs(coef).T + np.abs(b) + 1).max(axis=1)
    primal = 0.5 * rounded_sum(np.ravel(coef) ** 2) + rounded_sum(C * loss)
    return primal, rounded_sum(C * 2 * off) + 1e-12 * primal


MACHINES = ("SVC", "NuSVC", "SVR", "NuSVR", "QuantileSVR", "OneClassSVM", "LinearSVC", "LinearSVR")


def known(machine) -> bool:
    """Whether it is one of ours, or a subclass."""
    return any(base.__name__ in MACHINES for base in type(machine).__mro__)


def type_of(machine) -> str:
    """Which of the certified machines it is, or is a subclass of."""
    return next(base.__name__ for base in type(machine).__mro__ if base.__name__ in MACHINES)


def own_weights(sample_weight, n):
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, float)
    return np.maximum(np.full(n, float(weights)) if weights.ndim == 0 else weights, 0.0)


def judge(machine, X, y=None, sample_weight=None) -> list[Verdict]:
    """What is true of a fitted machine; raises `FalseCertificate` if its certificate says more."""
    linear = type_of(machine).startswith("Linear")
    X = as_rows(X, None if linear else machine.kernel_)
    sample_weight = own_weights(sample_weight, X.shape[0])
    if linear:
        primals = linear_primals(machine, X, y, sample_weight)
        for k, (found, proof) in enumerate(zip(primals, machine.certificates_, strict=True)):
            primal, room = found
            claim(proof.primal >= primal - room, machine, k, "P", proof, primal)
            claim(proof.dual <= primal + room, machine, k, "D", proof, primal)
            finished(machine, proof, proof.relative_gap, 0.0)
        return []
    if not is_precomputed(machine.kernel_):
        asked = machine if isinstance(machine.kernel, str) else machine.kernel
        check_gamma(asked, machine.kernel_, X, sample_weight)
    verdicts = dual_verdicts(machine, X, y, sample_weight)
    for k, (truth, proof) in enumerate(zip(verdicts, machine.certificates_, strict=True)):
        if "k(z, x)" in getattr(proof, "no_bound", ""):
            continue  # of an asymmetric function there is no problem, and nothing is claimed
        scale = max(abs(truth.primal), abs(truth.dual)) if np.isfinite(truth.primal) else 0.0
        room = 4 * truth.slack_of_values + ROUNDINGS * UNIT * scale
        claim(proof.primal >= truth.primal - room, machine, k, "P", proof, truth)
        claim(proof.dual <= truth.dual + room, machine, k, "D", proof, truth)
        room = 2 * truth.slack + ROUNDINGS * UNIT * (1 + truth.violation)
        claim(proof.kkt_violation >= truth.violation - room, machine, k, "violation", proof, truth)
        unit, by_gap = min(truth.unit, 1.0), not hasattr(machine, "support_vectors_")
        if not by_gap:
            finished(machine, proof, truth.violation / unit, room / unit)
        if by_gap or machine.criterion == "both":
            finished(machine, proof, proof.relative_gap, 0.0)
    return verdicts


def claim(holds, machine, number, what, proof, truth) -> None:
    if not holds:
        raise FalseCertificate(
            f"{what} of problem {number} of {machine!r} is not what it is certified to be:\n"
            f"{proof}\nbut in truth {truth}"
        )


def finished(machine, proof, distance, room) -> None:
    """That a fit said to be converged is."""
    if proof.status.value == "converged" and not distance <= machine.tol + room:
        raise FalseCertificate(
            f"{machine!r} is said to be converged to tol={machine.tol:g}, but is at {distance:.6g}"
        )
