"""The support vector classifier."""

from __future__ import annotations

from collections.abc import Callable
from math import isinf
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval

from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import Gamma, Kernel
from maxmargin.machines.streamed import StreamedClassifier
from maxmargin.problem import DualProblem
from maxmargin.solvers import Progress, Solver


class SVC(StreamedClassifier):
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
    degree, gamma, coef0 : parameters of the named kernels
    shrinking : bool
        Accepted and without effect: the block solver leaves settled variables alone by itself.
    probability : bool, default=False
        Whether to calibrate `predict_proba` on held-out decisions (five more fits).
    tol : float, default=1e-3
        Largest KKT violation allowed, computed from the final coefficients alone.
    cache_size : float, default=None
        Budget for kernel rows in MB. New: None takes a quarter of the memory that is free.
    class_weight : dict or "balanced"
    verbose : int
        1 shows a bar of the violation falling toward `tol`.
    max_iter : int, default=-1
        Most steps; −1 for max(10⁷, 100 · rows).
    decision_function_shape : {"ovr", "ovo"}
    break_ties : bool
        Accepted; ties in votes are always broken by the summed decision values.
    random_state : seeds the folds of `probability=True`
    solver : str or Solver, default="block"
        New. A name in `maxmargin.solvers.SOLVERS`, or a solver object; `tol`, `max_iter` and
        `max_time` given here apply to it.
    fit_intercept : bool, default=True
        New. Without an offset the dual has no sum constraint.
    max_time : float or None
        New. Seconds after which the fit ends with the model so far.
    warm_start : bool, default=False
        New. Continue from the last coefficients, with a new C, new weights or appended rows.
    n_jobs : int or None
        New. Threads; None is all cores. The result does not depend on it.
    multiclass : {"ovo", "ovr"}, default="ovo"
        New. One machine per pair of classes, or per class.
    approximation : {"rff", "nystroem"}, transformer or None
        New. Put features φ with φ(x)ᵀφ(z) ≈ k(x, z) in the kernel's place, for data too large for
        the exact machine: random Fourier features, Nyström's, or a transformer of yours. `tol` is
        then the relative duality gap, `max_iter` counts steps of Newton's method, `cache_size`
        bounds the memory of the features (what does not fit is computed again in every step), and
        `solver` is not used. The rows are streamed: X may be a `numpy.memmap`.
    n_components : int or None
        New. Columns of φ; None is 1,000, or all rows if there are fewer.
    refine : bool, default=False
        New. Go on from the approximate solution to that of the kernel itself.

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

    _parameter_constraints: ClassVar[dict] = {
        **StreamedClassifier._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="right")],
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str | Kernel | Callable = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool = False,
        tol: float = 1e-3,
        cache_size: float | None = None,
        class_weight: dict | Literal["balanced"] | None = None,
        verbose: int | bool = False,
        max_iter: int = -1,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        solver: str | Solver = "block",
        fit_intercept: bool = True,
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        multiclass: Literal["ovo", "ovr"] = "ovo",
        approximation: Any = None,
        n_components: int | None = None,
        refine: bool = False,
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
        self.fit_intercept = fit_intercept
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.multiclass = multiclass
        self.approximation = approximation
        self.n_components = n_components
        self.refine = refine

    def _bounds(self, weights: np.ndarray) -> np.ndarray:
        # A row without weight is absent, even where C is infinite.
        return np.where(weights > 0, self.C, 0.0) if isinf(self.C) else self.C * weights

    def _formulate(
        self, number: int, signs: np.ndarray, bounds: np.ndarray, counts: np.ndarray
    ) -> DualProblem:
        return c_svc(signs, bounds, fit_intercept=self.fit_intercept)

    @property
    def margin_(self) -> float | np.ndarray:
        """Geometric margin min y_i f(x_i) / ‖w‖ of a hard-margin machine, of each if several.

        With w scaled so that the closest row has y f(x) = 1, the primal value is ½‖w‖², and
        the margin is 1/‖w‖.
        """
        if np.isfinite(self.C):
            raise AttributeError("margin_ is defined for the hard margin, C=np.inf, only")
        margins = np.array([1 / np.sqrt(2 * proof.primal) for proof in self.certificates_])
        return float(margins[0]) if len(margins) == 1 else margins

    def _watch(self, progress: Progress) -> None:
        """End the fit of a hard margin that does not exist.

        α scaled to sum to one in each class names a point of each class's convex hull, and
        ‖w‖ / (½Σα) is their distance: an upper bound on twice the margin, whatever α is.
        """
        if not isinf(self.C):
            return
        state = progress.state
        total = np.abs(state.beta).sum()
        squared = float(np.sum(state.beta * (state.gradient - state.problem.linear)))
        if total > 0 and 4 * squared / total**2 <= negligible(state.gram, self.fit_intercept):
            raise ValueError(
                "C=inf asks for a hard margin, but the data are not separable: the classes' "
                "convex hulls in the kernel's space meet. Use a finite C, or a kernel that "
                "separates them (an RBF with a larger gamma separates any distinct points)"
            )


def negligible(gram: Gram, fit_intercept: bool) -> float:
    """A squared distance that is none: beside the spread of the data, and beside rounding errors.

    With an offset only distances between rows matter, not where the origin is.
    """
    largest = float(gram.diagonal.max())
    spread = largest
    if fit_intercept:
        spread = float(np.max(gram.diagonal + gram.diagonal[0] - 2 * gram.row(0)))
    return 1e-10 * spread + 1e-14 * largest
