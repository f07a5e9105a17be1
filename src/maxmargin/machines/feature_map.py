"""The machine on features: k(x, z) ≈ φ(x)ᵀφ(z) with a φ of few columns.

The dual problem, classes and votes are the same; the certificate holds for K̂ = φφᵀ and says so.
The model is w, which is Σ β_i φ(x_i) up to the tolerance: predictions need φ(x) and no support
vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_random_state

from maxmargin.certificate import ApproximateCertificate, Certificate
from maxmargin.conventions import HasMethods, Interval, StrOptions
from maxmargin.features import Nystroem, RandomFourierFeatures
from maxmargin.features.feature_gram import FeatureGram
from maxmargin.features.kernel_features import (
    ERROR_SAMPLE,
    ERROR_SEED,
    KernelFeatures,
    kernel_error,
    sampled,
)
from maxmargin.kernels import Kernel
from maxmargin.machines.plan import Machine, Plan
from maxmargin.problem import DualProblem, Solution
from maxmargin.resources.arrays import Data, Floats, Mask, Numbers
from maxmargin.resources.threads import thread_count
from maxmargin.solvers import FeatureNewton

ROWS = 16384  # predicted at a time with a user's transformer: bounds the memory of φ(X)
# Constraints of the parameters of a machine that may have this form.
APPROXIMATION = {
    "approximation": [StrOptions({"rff", "nystroem"}), HasMethods(["fit", "transform"]), None],
    "n_components": [Interval(Integral, 1, None, closed="left"), None],
    "refine": ["boolean"],
}
KINDS = {"rff": RandomFourierFeatures, "nystroem": Nystroem}


@dataclass(frozen=True)
class FeatureMap:
    """f(x) = wᵀφ(x) + b.

    Parameters
    ----------
    kernel : Kernel, bound to the data, that φ approximates
    features : φ, a fitted transformer
    columns : of φ
    error : √mean (K − K̂)² over all pairs of a sample of the rows
    tol : relative duality gap to reach
    """

    kernel: Kernel
    features: Any
    columns: int
    error: float
    tol: float

    @classmethod
    def fitted(
        cls, machine: Machine, kernel: Kernel, X: Data, sample_weight: Floats | None, tol: float
    ) -> FeatureMap:
        """φ of the bound kernel, and the error of K̂ on a sample of the rows."""
        present = X
        if sample_weight is not None and not sample_weight.all():
            present = X[np.flatnonzero(sample_weight)]
        features = transformer(machine, kernel).fit(present)
        rows = sampled(X.shape[0], ERROR_SAMPLE, check_random_state(ERROR_SEED))
        Z = features.transform(X[rows])
        Z = Z.toarray() if sp.issparse(Z) else np.asarray(Z)
        return cls(kernel, features, Z.shape[1], kernel_error(kernel, X[rows], Z), tol)

    def gram(self, machine: Machine, X: Data, *, shared: bool) -> FeatureGram:
        """K̂ of the rows of X; `shared` by several problems or not."""
        return FeatureGram(
            X,
            self.features,
            cache_size=machine.cache_size,
            threads=thread_count(machine.n_jobs),
            shared=shared,
        )

    def matrix(self, machine: Machine, X: Data, plan: Plan) -> FeatureGram:
        """K̂ = φφᵀ."""
        return self.gram(machine, X, shared=len(plan.problems) > 1)

    def solver(self, machine: Machine) -> FeatureNewton:
        """Newton's method in the space of the features."""
        return FeatureNewton(tol=self.tol, max_iter=machine.max_iter)

    def in_parallel(self, plan: Plan) -> bool:
        """Whether problems are solved in parallel."""
        return len(plan.problems) > 1

    def attributes(
        self,
        machine: Machine,
        X: Data,
        support: Numbers,
        coef: Floats,
        states: Any,
    ) -> dict[str, Any]:
        """w, φ and the coefficients; support vectors are not stored."""
        weights = [np.zeros(self.columns) if each is None else each.coef for each in states]
        return {
            "support_": support.astype(np.int32),
            "dual_coef_": np.ascontiguousarray(coef[:, support]),
            "shape_fit_": X.shape,
            "feature_coef_": np.array(weights),
            **self.fitted_attributes,
        }

    @property
    def fitted_attributes(self) -> dict[str, Any]:
        """φ, the kernel it approximates, and its error."""
        return {
            "kernel_": self.kernel,
            "features_": self.features,
            "kernel_error_": self.error,
            "_form_": self,
        }

    def indefinite(
        self,
        X: Data,
        problems: Sequence[DualProblem],
        solutions: Sequence[Solution],
        stopped: Callable[[], object],
    ) -> str:
        """Nothing: φφᵀ is positive semidefinite."""
        return ""

    def certificate(self, proof: Certificate) -> ApproximateCertificate:
        """The certificate, marked as that of K̂."""
        kind = type(self.features).__name__
        return ApproximateCertificate(
            **vars(proof),
            holds_for=f"the kernel of {self.columns:,} {kind} columns, not the kernel itself",
            kernel_error=self.error,
        )

    def decisions(self, machine: Machine, X: Data) -> Iterator[Floats]:
        """φ(x)ᵀw + b, one column per problem, of some rows at a time."""
        X = machine._validate(X, reset=False)
        coef = machine.feature_coef_
        if isinstance(self.features, KernelFeatures):
            yield self.features.dot(X, coef, thread_count(machine.n_jobs)) + machine.intercept_
            return
        for start in range(0, X.shape[0], ROWS):
            features = self.features.transform(X[start : start + ROWS])
            yield features @ coef.T + machine.intercept_

    def all_pairs(self, machine: Machine, plan: Plan) -> bool:
        """Whether the problems are solved together: on features they are not."""
        return False

    def positive(self, machine: Machine, X: Data) -> Mask:
        """Which rows have a positive decision value, of a machine with one problem."""
        return np.concatenate([part[:, 0] > 0 for part in self.decisions(machine, X)])


def transformer(machine: Machine, kernel: Kernel) -> Any:
    """φ as the machine's parameters name it, not yet fitted; seed 0 for random_state=None."""
    if kernel.precomputed:
        raise ValueError("approximation= needs a kernel it can evaluate, not 'precomputed'")
    if not np.isfinite(machine.C):
        raise ValueError("C=inf, the hard margin, needs the exact machine: approximation=None")
    if not isinstance(machine.approximation, str):
        if machine.n_components is not None:
            raise ValueError(
                f"n_components={machine.n_components} is for the features that are made here; "
                f"set it in the transformer {type(machine.approximation).__name__} that is given"
            )
        return clone(machine.approximation)
    seed = getattr(machine, "random_state", None)
    return KINDS[machine.approximation](
        machine.n_components, kernel=kernel, random_state=0 if seed is None else seed
    )
