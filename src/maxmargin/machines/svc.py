"""The support vector classifier."""

from __future__ import annotations

from math import isinf
from numbers import Real
from os import PathLike
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.conventions import Interval, exists_if, fitting
from maxmargin.formulations import c_svc
from maxmargin.kernels import Gamma, Kernel, KernelFunction
from maxmargin.machines.classifier import KernelClassifier
from maxmargin.machines.feature_map import APPROXIMATION
from maxmargin.machines.hard_margin import bounds_of, is_infeasible
from maxmargin.machines.multiclass import scheme_of
from maxmargin.machines.streaming import is_first, learn, streams
from maxmargin.machines.validation import checked_weights, declared_classes, known_labels
from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Data, Floats, RandomState
from maxmargin.solvers import Progress, Solver


class SVC(KernelClassifier):
    """Soft-margin support vector classifier, exact and certified.

    Minimises ½‖w‖² + Σ C_i max(0, 1 − y_i(wᵀφ(x_i) + b)) through its dual. Every parameter,
    attribute, shape and sign of `sklearn.svm.SVC` is here; what is new is marked.

    Parameters
    ----------
    C : float, default=1.0
        Price of a margin violation. New: `np.inf` is the hard margin, with `margin_`, or an
        error if the classes cannot be separated.
    kernel : {"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"}, Kernel or callable
        A callable is a function of two blocks of rows, or, if compiled with numba, of two rows.
        It is evaluated block by block: the whole matrix is never formed.
        By name: "linear" xᵀz, "poly" (γ xᵀz + coef0)^degree, "rbf" exp(−γ‖x − z‖²), "laplacian"
        exp(−γ‖x − z‖₁), "sigmoid" tanh(γ xᵀz + coef0), "precomputed" X itself. Default "rbf".
    degree : int ≥ 0, default=3
    gamma : float ≥ 0, "scale" or "auto", default="scale"
        γ; "scale" is 1 / (columns · variance of all entries of X), "auto" 1 / columns.
    coef0 : float, default=0.0
    shrinking : bool, default=True
        Accepted and without effect: blocks have few variables at their bounds anyway.
    probability : bool, default=False
        Whether to calibrate `predict_proba` on held-out decisions (five more fits);
        "deprecated", the default of scikit-learn 1.9, is False.
    tol : float, default=1e-3
        Largest KKT violation and relative duality gap allowed, both computed from the final
        coefficients alone.
    cache_size : float, default=None
        Budget for kernel rows in MB. New: None takes a quarter of the memory that is free.
    class_weight : dict, "balanced" or None, default=None
        Factors of C by class; "balanced" is rows / (classes · rows of the class).
    verbose : int or bool, default=False
        1 shows a bar of the violation or the gap, the larger one, falling toward `tol`.
    max_iter : int, default=-1
        Most steps; −1 for max(10⁷, 100 · rows).
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Of three or more classes: a column for each class, or for each pair.
    break_ties : bool, default=False
        Accepted; ties in votes are always broken by the summed decision values.
    random_state : int, RandomState or None, default=None
        Seeds the folds of `probability=True`, and random features.
    solver : str or Solver, default="block"
        New. A name in `maxmargin.solvers.SOLVERS`, or a solver object; `tol`, `max_iter`,
        `criterion` and `max_time` given here apply to it.
    criterion : {"both", "kkt"}, default="both"
        New. What `tol` bounds. "kkt" is LIBSVM's rule, the KKT violation alone: where C is large,
        the objective of such a model can be far from the optimum.
    fit_intercept : bool, default=True
        New. Without an offset the dual has no sum constraint.
    max_time : float or None, default=None
        New. Seconds after which the fit ends with the model so far.
    warm_start : bool, default=False
        New. Continue from the last coefficients, with a new C, new weights or appended rows.
    n_jobs : int or None, default=None
        New. Threads; None is all cores. The fit of the exact machine does not depend on it.
    multiclass : {"ovo", "ovr"}, default="ovo"
        New. One machine per pair of classes, or per class.
    approximation : {"rff", "nystroem"}, transformer or None
        New. Put features φ with φ(x)ᵀφ(z) ≈ k(x, z) in the kernel's place, for data too large for
        the exact machine: random Fourier features, Nyström's, or a transformer of yours. `tol` is
        then the relative duality gap, `max_iter` counts steps of Newton's method, `cache_size`
        bounds the memory of the features (what does not fit is computed again in every step), and
        `solver` is not used. The rows are streamed: X may be a `numpy.memmap`.
    n_components : int or None, default=None
        New. Columns of φ; None is 1,000, or all rows if there are fewer.
    refine : bool, default=False
        New. Continue from the approximate solution to that of the kernel itself.
    checkpoint : path or None
        New. For rows in partitions: where the model so far is saved after each round; a fit that
        was killed continues from there.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, classes_,
    class_weight_, fit_status_, n_iter_, shape_fit_ : as in `sklearn.svm.SVC`
    certificate_ : Certificate
        Primal, dual, gap, worst KKT violation, cost. Summed over the binary problems.
    certificates_ : list of Certificate, one per binary problem
    history_ : structured array
        Dual objective, gap and violation per outer iteration of each problem.
    features_, feature_coef_ : φ and w, if `approximation` is given
        Then the decision is φ(x)ᵀw + b, and there are no `support_vectors_`.
    kernel_error_ : float
        √mean (K − K̂)² on a sample, if `approximation` is given; also in the certificate.
    approximate_certificate_ : of the solution that `refine=True` started from
    margin_ : float or ndarray
        Only for C = ∞: the geometric margin, half the width between the classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = SVC().fit(X, y)
    >>> clf.score(X, y)
    0.973...
    >>> clf.certificate_.status.value, clf.certificate_.kkt_violation <= 1e-3
    ('converged', True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelClassifier._parameter_constraints,
        **APPROXIMATION,
        "C": [Interval(Real, 0.0, None, closed="right")],
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str | Kernel | KernelFunction = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | Literal["deprecated"] = False,
        tol: float = 1e-3,
        cache_size: float | None = None,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        verbose: int | bool = False,
        max_iter: int = -1,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        break_ties: bool = False,
        random_state: RandomState = None,
        solver: str | Solver = "block",
        criterion: Literal["both", "kkt"] = "both",
        fit_intercept: bool = True,
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        multiclass: Literal["ovo", "ovr"] = "ovo",
        approximation: Any = None,
        n_components: int | None = None,
        refine: bool = False,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.solver = solver
        self.criterion = criterion
        self.fit_intercept = fit_intercept
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.multiclass = multiclass
        self.approximation = approximation
        self.n_components = n_components
        self.refine = refine
        self.checkpoint = checkpoint

    def _bounds(self, weights: Floats) -> Floats:
        return bounds_of(self.C, weights)

    def _is_c_svc(self) -> bool:
        return self.fit_intercept and not isinf(self.C)

    def _problem(self, number: int, signs: Floats, bounds: Floats, counts: Floats) -> DualProblem:
        return c_svc(signs, bounds, fit_intercept=self.fit_intercept)

    @exists_if(streams)
    @fitting
    def partial_fit(
        self,
        X: Data,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from a block of rows; only with `approximation`.

        Parameters
        ----------
        X, y, sample_weight : as for `fit`
        classes : array of all labels there will be; needed in the first call

        Returns
        -------
        self
        """
        X, y = self._validate(X, y, reset=is_first(self))
        own = checked_weights(sample_weight, X)
        self.classes_, self.class_weight_ = declared_classes(self, classes)
        labels = known_labels(self.classes_, y)
        counts = np.ones(len(labels)) if own is None else own
        scheme = scheme_of(self.multiclass, self.classes_)
        plan = self._plan_of(scheme, labels, self.class_weight_, counts)
        rows = [split.rows for split in plan.splits]
        learn(self, X, list(zip(rows, plan.problems, strict=True)))
        return self

    @property
    def margin_(self) -> float | Floats:
        """Geometric margin min y_i f(x_i) / ‖w‖ of a hard-margin machine, of each if several.

        With w scaled so that the closest row has y f(x) = 1, the primal value is ½‖w‖², and
        the margin is 1/‖w‖.
        """
        if np.isfinite(self.C):
            raise AttributeError("margin_ is defined for the hard margin, C=np.inf, only")
        margins = np.array([1 / np.sqrt(2 * proof.primal) for proof in self.certificates_])
        return float(margins[0]) if len(margins) == 1 else margins

    def _watch(self, progress: Progress) -> None:
        """Raise if the classes are not separable, for C = ∞."""
        if isinf(self.C) and is_infeasible(progress, fit_intercept=self.fit_intercept):
            raise ValueError(
                "C=inf asks for a hard margin, but the data are not separable: the classes' "
                "convex hulls in the kernel's space meet. Use a finite C, or a kernel that "
                "separates them (an RBF with a larger gamma separates any distinct points)"
            )
