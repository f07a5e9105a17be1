"""Random searches and leave-one-out runs against plain loops: `python -m fuzz.searches 1000`.

A loop fits the machine to the training rows of each split and scores the rows held out. A search,
or `leave_one_out`, must find the same: scores where they are numbers, predictions but for rows so
close to the boundary that two machines within `TOL` of the optimum may disagree.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, StratifiedKFold

from maxmargin import SVC, SVR, leave_one_out
from maxmargin.selection.tune import tune

TOL = 1e-8  # of every fit: small, so that what differs is a fault and not the tolerance
SAME = 1e-3  # of the largest |f|: decision values, or scores, that count as equal


def drawn(rng: np.random.Generator) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray | None]:
    """A machine, rows, targets and sample weights or None."""
    n, columns = int(rng.integers(12, 90)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, columns))
    if rng.random() < 0.3:  # columns of integers: equal rows, equal gradients
        X = np.round(2 * X)
    C, kernel = float(10 ** rng.uniform(-3, 2)), str(rng.choice(["rbf", "linear"]))
    options: dict[str, Any] = {"C": C, "kernel": kernel, "gamma": float(10 ** rng.uniform(-3, 1))}
    weights = rng.integers(1, 4, n) * rng.uniform(0.3, 1) if rng.random() < 0.4 else None
    if rng.random() < 0.4:
        y = X[:, 0] + 0.3 * rng.normal(size=n)
        y = np.round(y) if rng.random() < 0.5 else y
        return SVR(**options, epsilon=float(rng.uniform(0, 0.5)), tol=TOL), X, y, weights
    classes = int(rng.integers(2, 4))
    labels = np.argsort(np.argsort(X[:, 0] + rng.normal(size=n))) * classes // n
    if rng.random() < 0.5:
        labels = np.where(rng.random(n) < 0.5, 0, labels)
    labels[:classes] = np.arange(classes)
    labels[classes : 2 * classes] = np.arange(classes)
    if rng.random() < 0.15:  # a class of few rows
        labels[2 * classes :] = np.where(
            labels[2 * classes :] == classes - 1, 0, labels[2 * classes :]
        )
    balanced = None if rng.random() < 0.4 else "balanced"
    shape = str(rng.choice(["ovo", "ovr"]))
    return SVC(**options, class_weight=balanced, multiclass=shape, tol=TOL), X, labels, weights


def splits_of(
    rng: np.random.Generator, y: np.ndarray, *, classes: bool
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Stratified folds, folds of groups, or bootstrap samples with the rows they leave out."""
    n = len(y)
    kind = rng.choice(["folds", "groups", "bootstrap"])
    if kind == "folds":
        strata = y if classes else np.zeros(n, int)
        return list(StratifiedKFold(2, shuffle=True, random_state=0).split(y, strata))
    found: list[tuple[np.ndarray, np.ndarray]] = []
    if kind == "groups":
        found = list(GroupKFold(3).split(y, y, rng.integers(0, 6, n)))
    for _ in range(3 if kind == "bootstrap" else 0):
        train = rng.integers(0, n, n)
        found.append((train, np.setdiff1d(np.arange(n), train)))
    many = len(np.unique(y)) if classes else 1
    return [
        (a, b) for a, b in found if len(b) > 1 and (not classes or len(np.unique(y[a])) == many)
    ]


def fitted(machine: Any, X: Any, y: Any, weights: Any, rows: np.ndarray) -> Any:
    """The machine fitted to some rows."""
    return clone(machine).fit(X[rows], y[rows], None if weights is None else weights[rows])


def close_calls(machine: Any, X: Any) -> np.ndarray:
    """Which rows are so close to a decision boundary that TOL may turn their prediction."""
    values = np.abs(machine.set_params(decision_function_shape="ovo").decision_function(X))
    values = values.reshape(len(X), -1)
    if values.shape[1] > 1 and machine.multiclass == "ovr":
        values = np.diff(np.sort(machine.decision_function(X), axis=1))[:, -1:]
    return np.asarray((values <= SAME * max(1.0, float(values.max(initial=0)))).any(axis=1))


def search_differs(seed: int) -> str:
    """What a search and a loop disagree about; empty if nothing."""
    rng = np.random.default_rng(seed)
    machine, X, y, weights = drawn(rng)
    classes = isinstance(machine, SVC)
    splits = splits_of(rng, y, classes=classes)
    Cs = np.sort(10 ** rng.uniform(-3, 2, int(rng.integers(1, 4))))
    if not splits:
        return ""
    search = tune(machine, X, y, Cs=Cs, gammas=None, cv=splits, refit=False, sample_weight=weights)
    for cell, C in enumerate(Cs.tolist()):
        for k, (train, test) in enumerate(splits):
            own = fitted(clone(machine).set_params(C=C), X, y, weights, train)
            there = None if weights is None else weights[test]
            score = own.score(X[test], y[test], there)
            found = search.cv_results_[f"split{k}_test_score"][cell]
            share = there if there is not None else np.ones(len(test))
            may = share[close_calls(own, X[test])].sum() / share.sum() if classes else 0.0
            if abs(found - score) > may + SAME * max(1.0, abs(score)):
                return f"{machine}, C={C:g}, split {k}: {found:.6g}, loop {score:.6g}"
    return ""


def removal_differs(seed: int) -> str:
    """What `leave_one_out` and a loop disagree about; empty if nothing."""
    rng = np.random.default_rng(seed)
    machine, X, y, weights = drawn(rng)
    X, y = X[:40], y[:40]
    weights = None if weights is None else weights[:40]
    left = leave_one_out(machine, X, y, sample_weight=weights)
    scale = max(1.0, float(np.abs(y).max())) if isinstance(machine, SVR) else 1.0
    for row in range(len(y)):
        own = fitted(machine, X, y, weights, np.delete(np.arange(len(y)), row))
        (value,), found = own.predict(X[[row]]), left.predictions[row]
        if isinstance(machine, SVC):
            wrong = value != found and not close_calls(own, X[[row]])[0]
        else:
            wrong = abs(value - found) > SAME * scale
        if wrong:
            return f"{machine}, row {row}: {found:.6g}, loop {value:.6g}"
    return ""


def main() -> int:
    """Compare random searches and random leave-one-out runs with loops; say which differ."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.searches", description=__doc__)
    parser.add_argument("runs", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=0, help="number of the first run")
    options = parser.parse_args()
    wrong = 0
    warnings.simplefilter("error")
    for name, differs in (("searches", search_differs), ("leave-one-out", removal_differs)):
        bad = 0
        for seed in range(options.seed, options.seed + options.runs):
            if why := differs(seed):
                bad += 1
                print(f"{name} {seed}: {why}", flush=True)
        print(f"{options.runs:,} {name}: {bad} differ", flush=True)
        wrong += bad
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
