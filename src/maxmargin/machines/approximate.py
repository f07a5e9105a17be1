"""The same machine with features in the kernel's place: k(x, z) ≈ φ(x)ᵀφ(z).

Everything else stays: the dual problem, the certificate (which then holds for K̂ = φφᵀ and says
so), classes and votes. The model is w, which is Σ β_i φ(x_i) up to the tolerance, so that a
prediction needs φ(x) and no support vectors. With `refine=True` the approximate β is where the
exact machine begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from maxmargin.certificate import ApproximateCertificate, Certificate
from maxmargin.features import Nystroem, RandomFourierFeatures
from maxmargin.features.base import (
    ERROR_SAMPLE,
    ERROR_SEED,
    KernelFeatures,
    kernel_error,
    sampled,
)
from maxmargin.features.gram import FeatureGram
from maxmargin.kernels import Kernel, Precomputed
from maxmargin.machines.base import KernelMachine
from maxmargin.machines.tasks import Task
from maxmargin.resources import thread_count
from maxmargin.solvers import FeatureNewton

ROUGH = 0.01  # relative gap that is enough for where the exact machine begins
ROWS = 16384  # predicted at a time, with features that are not ours


class ApproximableMachine(KernelMachine):
    """What SVC and SVR need to work with features."""

    _parameter_constraints: ClassVar[dict] = {
        **KernelMachine._parameter_constraints,
        "approximation": [StrOptions({"rff", "nystroem"}), HasMethods(["fit", "transform"]), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "refine": ["boolean"],
    }

    # --- fit ------------------------------------------------------------------------------

    def _gram(self, X: Any, sample_weight: np.ndarray | None) -> Any:
        if self.approximation is None:
            return super()._gram(X, sample_weight)
        self._fit_features(X, sample_weight)
        return self._feature_gram(X, shared=len(getattr(self, "classes_", ())) > 2)

    def _fit_features(self, X: Any, sample_weight: np.ndarray | None) -> None:
        """φ of the bound kernel, and how far K̂ is from K on some rows."""
        self._kernel_ = self._kernel().bind(X, sample_weight)
        present = X
        if sample_weight is not None and not sample_weight.all():
            present = X[np.flatnonzero(sample_weight)]
        self.features_ = self._transformer(self._kernel_).fit(present)
        rows = sampled(X.shape[0], ERROR_SAMPLE, check_random_state(ERROR_SEED))
        Z = self.features_.transform(X[rows])
        Z = Z.toarray() if sp.issparse(Z) else np.asarray(Z)
        self.kernel_error_ = kernel_error(self._kernel_, X[rows], Z)

    def _transformer(self, kernel: Kernel) -> Any:
        """φ as the parameters name it, not yet fitted; by default always the same one."""
        if isinstance(kernel, Precomputed):
            raise ValueError("approximation= needs a kernel it can evaluate, not 'precomputed'")
        if not np.isfinite(self.C):
            raise ValueError("C=inf, the hard margin, needs the exact machine: approximation=None")
        if not isinstance(self.approximation, str):
            if self.n_components is not None:
                raise ValueError(
                    f"n_components={self.n_components} is for the features that are made here; "
                    f"set it in the transformer {type(self.approximation).__name__} that is given"
                )
            return clone(self.approximation)
        seed = getattr(self, "random_state", None)
        kinds = {"rff": RandomFourierFeatures, "nystroem": Nystroem}
        return kinds[self.approximation](
            self.n_components, kernel=kernel, random_state=0 if seed is None else seed
        )

    def _feature_gram(self, X: Any, shared: bool = False) -> FeatureGram:
        return FeatureGram(
            self._kernel_,
            X,
            self.features_,
            cache_size=self.cache_size,
            threads=thread_count(self.n_jobs),
            shared=shared,
        )

    def _solver(self, time_left: float | None, matrix: Any) -> Any:
        if not isinstance(matrix, FeatureGram):
            return super()._solver(time_left, matrix)
        tol = max(self.tol, ROUGH) if self.refine else self.tol
        return FeatureNewton(tol=tol, max_iter=self.max_iter, max_time=time_left)

    def _finish(self, task: Task, matrix: Any, solution: Any) -> Any:
        if isinstance(matrix, FeatureGram):
            return solution
        return super()._finish(task, matrix, solution)

    def _solve(
        self,
        tasks: Sequence[Any],
        *,
        in_parallel: bool,
        data: tuple[Any, Any],
        model: Callable[[list], dict],
    ) -> list[Any]:
        """The approximate problems; and then, to refine them, the exact ones from there."""
        self.__dict__.pop("n_samples_seen_", None)
        self._approximate_ = self.approximation is not None
        self._criterion = "relative duality gap" if self._approximate_ else "KKT violation"
        if not self._approximate_:
            return super()._solve(tasks, in_parallel=in_parallel, data=data, model=model)

        def with_weights(standing: list) -> dict:
            """The model's attributes, and w of every problem."""
            none = np.zeros(tasks[0].matrix().columns)
            weights = [getattr(where, "weights", none) for where in standing]
            return {**model(standing), "feature_coef_": np.array(weights)}

        self.__dict__.pop("support_vectors_", None)
        together = len(tasks) > 1
        solutions = super()._solve(tasks, in_parallel=together, data=data, model=with_weights)
        if not self.refine:
            return solutions
        self.approximate_certificate_ = self.certificate_
        self._approximate_, self._criterion = False, "KKT violation"
        exact = [
            replace(task, matrix=task.matrix().exact, start=solution.beta)
            for task, solution in zip(tasks, solutions, strict=True)
        ]
        return super()._solve(exact, in_parallel=in_parallel, data=data, model=model)

    def _kept(self, X: Any, support: np.ndarray, coef: np.ndarray) -> dict[str, Any]:
        """As ever; but w needs no support vectors, and there may be a million."""
        if not self._approximate_:
            return super()._kept(X, support, coef)
        return {
            "support_": support.astype(np.int32),
            "dual_coef_": np.ascontiguousarray(coef[:, support]),
            "shape_fit_": X.shape,
        }

    def _certify(self, tasks: Sequence[Any], solutions: list[Any], seconds: float) -> None:
        super()._certify(tasks, solutions, seconds)
        if self._approximate_:
            self.certificates_ = [self._approximate(proof) for proof in self.certificates_]
            self.certificate_ = self._approximate(self.certificate_)

    def _approximate(self, proof: Certificate) -> ApproximateCertificate:
        """The same proof, saying of what."""
        columns, kind = self.feature_coef_.shape[1], type(self.features_).__name__
        return ApproximateCertificate(
            **vars(proof),
            holds_for=f"the kernel of {columns:,} {kind} columns, not the kernel itself",
            kernel_error=self.kernel_error_,
        )

    # --- predict --------------------------------------------------------------------------

    def _by_features(self, X: Any) -> np.ndarray:
        """φ(x)ᵀw + b, one column per problem."""
        X = self._validate(X, reset=False)
        if isinstance(self.features_, KernelFeatures):
            return (
                self.features_.dot(X, self.feature_coef_, thread_count(self.n_jobs))
                + self.intercept_
            )
        parts = [
            self.features_.transform(X[start : start + ROWS]) @ self.feature_coef_.T
            for start in range(0, X.shape[0], ROWS)
        ]
        return np.vstack(parts) + self.intercept_
