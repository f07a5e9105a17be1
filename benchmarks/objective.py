"""`python -m benchmarks.objective`: LinearSVC against LIBLINEAR at its tightest, same objective.

Both get a column of ones instead of an offset, which is what LIBLINEAR means by an offset.
"""

import warnings

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC as Liblinear

from benchmarks.datasets import load
from maxmargin import LinearSVC

TIGHTEST, PASSES = 1e-12, 100_000


def main() -> None:
    print("data      loss           maxmargin          LIBLINEAR          relative    our gap")
    for name in "a9a", "reuters":
        data = load(name)
        X = csr_matrix(hstack([data.X, np.ones((data.X.shape[0], 1))]))
        y = np.where(data.y == data.y.max(), 1.0, -1.0)
        for loss in "hinge", "squared_hinge":
            options = {"loss": loss, "fit_intercept": False}
            ours = LinearSVC(tol=1e-9, max_iter=-1, **options).fit(X, y)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # its dual rule is too strict
                theirs = Liblinear(tol=TIGHTEST, max_iter=PASSES, **options).fit(X, y)
            values = [primal(X, y, loss, machine.coef_[0]) for machine in (ours, theirs)]
            print(
                f"{name:9} {loss:14} {values[0]:<18.12g} {values[1]:<18.12g} "
                f"{values[0] / values[1] - 1:<11.1e} {ours.certificate_.relative_gap:.1e}"
            )


def primal(X: csr_matrix, y: np.ndarray, loss: str, w: np.ndarray) -> float:
    """½‖w‖² + Σ max(0, 1 − y Xw), or the sum of the squares."""
    losses = np.maximum(0, 1 - y * (X @ w))
    return 0.5 * w @ w + (losses if loss == "hinge" else losses**2).sum()


if __name__ == "__main__":
    main()
