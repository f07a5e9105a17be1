"""Base of every model f(x) = Σ β_i k(x_i, x) + b: its kernel, its input, its support vectors."""

from __future__ import annotations

from functools import cache
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_array, check_consistent_length

from maxmargin.conventions import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    validate_parameters,
)
from maxmargin.gram import Gram
from maxmargin.gram.held import HeldGram
from maxmargin.kernels import Gamma, Kernel, as_kernel
from maxmargin.machines.precomputed import checked_matrix
from maxmargin.machines.validation import (
    check_diagonal,
    check_finite,
    checked_data,
    is_numeric,
)
from maxmargin.resources.arrays import Data, Floats, Numbers
from maxmargin.resources.threads import thread_count

KERNEL_NAMES = {"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"}


class KernelMachine(CallbackSupportMixin, BaseEstimator):
    """Base of everything that predicts by kernel values with some of its training rows.

    Attributes
    ----------
    kernel_ : Kernel, with the number that γ is on the training data
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(KERNEL_NAMES), callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "cache_size": [Interval(Real, 0, None, closed="neither"), None],
        "n_jobs": [Integral, None],
    }

    # Of a machine that does not offer these as parameters.
    degree: int = 3
    gamma: Gamma = "scale"
    coef0: float = 0.0
    cache_size: float | None = None
    n_jobs: int | None = None

    kernel_: Kernel
    support_: Numbers
    support_vectors_: Data
    shape_fit_: tuple[int, ...]
    _validate_params = validate_parameters

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """As in scikit-learn, cached: reading the signature takes a tenth of a small fit."""
        names: list[str] = super()._get_param_names()
        return names

    def set_params(self, **params: Any) -> KernelMachine:
        """As in scikit-learn; a parameter of a kernel object is set in a copy of that kernel."""
        of_kernel = {
            key.removeprefix("kernel__"): params.pop(key)
            for key in list(params)
            if key.startswith("kernel__")
        }
        super().set_params(**params)
        if of_kernel:
            kernel = self.kernel
            if not hasattr(kernel, "with_params"):
                raise ValueError(
                    f"kernel__{next(iter(of_kernel))} is a parameter of a kernel object, but "
                    f"kernel={kernel!r}; set gamma, degree and coef0 of the machine instead"
                )
            super().set_params(kernel=kernel.with_params(**of_kernel))
        return self

    def _kernel(self) -> Kernel:
        return as_kernel(self.kernel, degree=self.degree, gamma=self.gamma, coef0=self.coef0)

    def _validate(
        self, X: Data, y: ArrayLike | None = "no_validation", *, reset: bool = True, **options: Any
    ) -> Any:
        """X (and y) as finite arrays, kept in float32 or float64, or a precise error."""
        kernel = self._kernel()
        if kernel.takes_objects and not is_numeric(X):
            # A user's kernel may take any objects: strings, graphs, sets.
            X = np.asarray(X, dtype=object)
            if isinstance(y, str):
                return X
            check_consistent_length(X, y)
            return X, np.asarray(y)
        if kernel.precomputed and sp.issparse(X):
            raise TypeError("Sparse precomputed kernels are not supported.")
        checked = checked_data(self, X, y, reset=reset, **options)
        if not (reset and kernel.precomputed):
            return checked
        data = checked if isinstance(y, str) else checked[0]
        if data.shape[0] != data.shape[1]:
            raise ValueError(
                "Precomputed matrix must be a square matrix. "
                f"Input is a {data.shape[0]}x{data.shape[1]} matrix."
            )
        data = checked_matrix(data)
        return data if isinstance(y, str) else (data, checked[1])

    def _gram(self, kernel: Kernel, X: Data) -> Gram:
        """K of a kernel that is bound to the data."""
        threads, given = thread_count(self.n_jobs), kernel.given(X)
        gram: Gram | None = None
        if given is not None:
            gram = HeldGram.in_place(given, self.cache_size, threads)
        if gram is None:
            with np.errstate(over="ignore"):
                gram = Gram(kernel, X, cache_size=self.cache_size, threads=threads)
        check_diagonal(gram.diagonal)
        return gram

    def _validate_for_prediction(self, X: Data) -> Any:
        """X validated against the fit; of a precomputed kernel the columns of support vectors."""
        if self.kernel_.precomputed:
            return self._support_columns(X)
        X = self._validate(X, reset=False)
        if sp.issparse(X) and not sp.issparse(self.support_vectors_):
            raise ValueError(
                f"cannot use sparse input in {type(self).__name__!r} trained on dense data"
            )
        return sp.csr_array(X) if sp.issparse(self.support_vectors_) else X

    def _support_columns(self, X: Data) -> Data:
        """The columns of kernel values with the support vectors."""
        X = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite=False, estimator=self)
        check_finite(X, type(self).__name__)
        n_train, n_support = self.shape_fit_[0], len(self.support_)
        if X.shape[1] == n_train:
            return X[:, self.support_]
        if X.shape[1] == n_support:
            return X
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {n_train} "
            "features as input: a precomputed kernel needs a column for each training row "
            f"({n_train}), or for each support vector ({n_support})"
        )

    def _kept(self, X: Data, support: Numbers, coef: Floats) -> dict[str, Any]:
        """The fitted attributes that say which rows are kept, and their coefficients."""
        dual_coef = coef.take(support, axis=1)
        return {
            "support_": support.astype(np.int32),
            "support_vectors_": self._kernel().vectors(X, support),
            "dual_coef_": type(X)(dual_coef) if sp.issparse(X) else dual_coef,
            "shape_fit_": X.shape,
        }

    def _dense_dual_coef(self) -> Floats:
        coef = self.dual_coef_
        dense: Floats = coef.toarray() if sp.issparse(coef) else coef
        return dense

    @property
    def coef_(self) -> Data:
        """Weights of the features, for a linear kernel: wᵀx + b is the decision value.

        Returns
        -------
        ndarray of shape (n_problems, n_features); CSR if the machine was fitted on CSR
        """
        kernel = self._kernel()
        if not kernel.is_linear or kernel.forms is None:
            raise AttributeError("coef_ is only available when using a linear kernel")
        coef: Data = kernel.forms[0].scale * self._linear_coef()
        if sp.issparse(self.support_vectors_):
            coef = type(self.support_vectors_)(coef)
        (coef.data if sp.issparse(coef) else coef).flags.writeable = False
        return coef

    def _linear_coef(self) -> Floats:
        """w of every problem: Σ β_i x_i."""
        return np.asarray(self._dense_dual_coef() @ self.support_vectors_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        precomputed = self._kernel().precomputed if callable(self.kernel) else False
        precomputed = precomputed or self.kernel == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.sparse = not precomputed
        return tags
