"""`LearnedMetric`: columns scaled by how much a kernel machine's function changes along them.

A machine is fitted, and M_j = mean of (∂f/∂x_j)² over the training rows is the diagonal of its
average gradient outer product. Columns are multiplied by M_j^power, and the next machine is fitted
to the result: recursive feature machines (Radhakrishnan et al., Science 2024; xRFM, arXiv
2508.10053). Columns that the function does not depend on vanish from the distance, so that fewer
rows are needed along the others. A first function that sees only noise teaches nothing: where few
of many columns matter and rows are few (pumadyn32nm in benchmarks/TABULAR.md), trees win.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from maxmargin.conventions import Interval, StrOptions, validate_parameters
from maxmargin.kernels import Kernel, as_kernel
from maxmargin.machines.expansion import expansion_of
from maxmargin.resources.arrays import Data, Floats
from maxmargin.selection.grid import gamma_range

# Rows at which gradients are taken: their mean square is off by a few parts in a hundred.
PROBES = 500


class LearnedMetric(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scales the columns by a metric that kernel machines learn, round by round.

    Parameters
    ----------
    machines : list of SVC, SVR, NuSVC, NuSVR or KernelRegressor, default=()
        One for each round, each fitted to the rows as the rounds before have scaled them. Without
        any, all columns are scaled alike.
    power : float, default=0.5
        Columns are multiplied by M_j^power; ½ makes f equally steep along all.
    kernel : "rbf" or "laplacian", default="rbf"
        Of the machine that follows: the scaled rows have a median distance of 1 in its norm (for
        the RBF its square), so that γ = 1 is in the middle of what is worth trying.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,), by which columns are multiplied
    gradients_ : ndarray of shape (n_features,), M of the last round, in units of the given columns

    Examples
    --------
    >>> from maxmargin import SVR
    >>> from sklearn.pipeline import make_pipeline
    >>> X = np.random.default_rng(0).normal(size=(200, 10))
    >>> y = np.sin(2 * X[:, 0])
    >>> plain = SVR(C=10, gamma=1).fit(X[:100], y[:100])
    >>> metric = LearnedMetric([SVR(C=10, gamma=1), SVR(C=10, gamma=1)])
    >>> learned = make_pipeline(metric, SVR(C=10, gamma=1)).fit(X[:100], y[:100])
    >>> int(learned[0].weights_.argmax())
    0
    >>> bool(learned.score(X[100:], y[100:]) > plain.score(X[100:], y[100:]))
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "machines": [list, tuple],
        "power": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions({"rbf", "laplacian"})],
    }
    _validate_params = validate_parameters
    n_features_in_: int

    def __init__(
        self,
        machines: Sequence[BaseEstimator] = (),
        power: float = 0.5,
        kernel: Literal["rbf", "laplacian"] = "rbf",
    ) -> None:
        self.machines = machines
        self.power = power
        self.kernel = kernel

    def fit(self, X: Data, y: ArrayLike | None = None) -> Self:
        """Learn the weights of the columns of X; y is needed if there are machines.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : targets, as the machines take them

        Returns
        -------
        self
        """
        self._validate_params()
        X = self._checked(X, reset=True)
        kernel = as_kernel(self.kernel, degree=3, gamma=1.0, coef0=0.0)
        weights, gradients = normal(np.ones(X.shape[1]), X, kernel), np.ones(X.shape[1])
        probes = X[np.unique(np.linspace(0, len(X) - 1, PROBES).astype(int))]
        for machine in self.machines:
            fitted = clone(machine).fit(X * weights, y)
            scaled = expansion_of(fitted).mean_squared_gradient(probes * weights)
            gradients = scaled * weights**2
            if gradients.any():  # a constant function says nothing of its columns
                weights = normal((gradients / gradients.max()) ** self.power, X, kernel)
        self.weights_, self.gradients_ = weights, gradients
        return self

    def transform(self, X: Data) -> Floats:
        """The columns of X, each multiplied by its weight."""
        check_is_fitted(self)
        scaled: Floats = self._checked(X, reset=False) * self.weights_
        return scaled

    def _checked(self, X: Data, reset: bool) -> Floats:
        checked: Floats = validate_data(self, X, dtype=np.float64, reset=reset)
        return checked

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = bool(self.machines)
        return tags


def normal(weights: Floats, X: Floats, kernel: Kernel) -> Floats:
    """The weights, all times the number that makes the median distance of two rows 1."""
    inverse = float(gamma_range(kernel, X * weights, 1)[0])
    return weights * (np.sqrt(inverse) if kernel.radial else inverse)
