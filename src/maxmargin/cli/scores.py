"""How good a model is on rows whose targets are known."""

from __future__ import annotations

import numpy as np
from sklearn import metrics
from sklearn.base import BaseEstimator, is_classifier, is_outlier_detector

from maxmargin.cli.report import Fact
from maxmargin.io.columns import features_for
from maxmargin.io.rows import Rows, listed
from maxmargin.resources.arrays import Labels


def scores(model: BaseEstimator, rows: Rows) -> dict[str, Fact]:
    """Accuracy and more of a classifier, errors of a regressor, the share inside of one-class."""
    X = features_for(model, rows)
    predicted: Labels = model.predict(X)
    if is_outlier_detector(model):
        return _one_class(predicted, rows)
    if is_classifier(model):
        return _classification(model, X, known(model.classes_, rows), predicted)
    if rows.targets.dtype.kind not in "fiu":
        raise rows.error(f"the target {rows.target!r} is text, but the model predicts numbers")
    error = predicted - rows.targets
    return {
        "rmse": float(np.sqrt(np.mean(error**2))),
        "mae": float(np.abs(error).mean()),
        "largest_error": float(np.abs(error).max()),
        "r2": float(metrics.r2_score(rows.targets, predicted)) if len(error) > 1 else None,
    }


def known(classes: Labels, rows: Rows) -> Labels:
    """The targets, as the model's classes write them; a label it never saw is an error."""
    y = rows.targets
    if classes.dtype.kind in "OU" and y.dtype.kind not in "OU":
        y = y.astype(str)
    fits = np.isin(y, classes) if (classes.dtype.kind in "OU") == (y.dtype.kind in "OU") else None
    if fits is None or not fits.all():
        row = 0 if fits is None else int(fits.argmin())
        raise rows.error(
            f"row {row + 1}: the model has no class {y[row]!s}; it has "
            f"{listed([str(each) for each in classes])}"
        )
    return y


def _classification(
    model: BaseEstimator, X: Labels, y: Labels, predicted: Labels
) -> dict[str, Fact]:
    classes = model.classes_
    precision, recall, f1, count = metrics.precision_recall_fscore_support(
        y, predicted, labels=classes, zero_division=0.0
    )
    each: list[Fact] = [
        {"class": str(name), "precision": p, "recall": r, "f1": f, "rows": int(n)}
        for name, p, r, f, n in zip(classes, precision, recall, f1, count, strict=True)
    ]
    return {
        "accuracy": float(np.mean(predicted == y)),
        "auc": _auc(model, X, y),
        "classes": each,
        "confusion": metrics.confusion_matrix(y, predicted, labels=classes),
    }


def _auc(model: BaseEstimator, X: Labels, y: Labels) -> float | None:
    """Area under the ROC curve of the decision values; each class against the rest if several."""
    if len(np.unique(y)) < 2:
        return None
    decisions = model.decision_function(X)
    if decisions.ndim == 1:
        return float(metrics.roc_auc_score(y == model.classes_[1], decisions))
    columns = [i for i, name in enumerate(model.classes_) if 0 < np.sum(y == name) < len(y)]
    if decisions.shape[1] != len(model.classes_):
        return None
    each = [metrics.roc_auc_score(y == model.classes_[i], decisions[:, i]) for i in columns]
    return float(np.mean(each))


def _one_class(predicted: Labels, rows: Rows) -> dict[str, Fact]:
    facts: dict[str, Fact] = {"inside": float(np.mean(predicted == 1))}
    if rows.y is not None and {*np.unique(rows.y).tolist()} <= {-1, 1}:
        facts["accuracy"] = float(np.mean(predicted == rows.y))
    return facts


WORDS = {"auc": "AUC", "rmse": "RMSE", "mae": "MAE", "r2": "R²", "inside": "inside the region"}
SHARES = {"accuracy", "inside"}


def headline(found: dict[str, Fact]) -> dict[str, str]:
    """The scores that are single numbers, in words."""
    lines = {}
    for name, value in found.items():
        if isinstance(value, float):
            words = WORDS.get(name, name.replace("_", " "))
            lines[words] = f"{value:.2%}" if name in SHARES else f"{value:.4g}"
    return lines
