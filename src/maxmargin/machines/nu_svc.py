"""The ν-classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from maxmargin.conventions import Interval
from maxmargin.formulations import c_svc, nu_svc
from maxmargin.kernels import Gamma, Kernel, KernelFunction
from maxmargin.machines.answers import Answers
from maxmargin.machines.classifier import KernelClassifier
from maxmargin.machines.dual_machine import Form
from maxmargin.machines.fit import Fit
from maxmargin.machines.plan import Plan
from maxmargin.machines.validation import warn
from maxmargin.problem import DualProblem, Solution, Status
from maxmargin.resources.arrays import Data, Floats, RandomState
from maxmargin.solvers import Solver
from maxmargin.solvers.driver import convergence
from maxmargin.solvers.progress import Criterion

TIGHTENINGS = 3  # ρ moves a little with each; one is nearly always enough


class NuSVC(KernelClassifier):
    """Support vector classifier whose parameter is a share of the rows.

    ν is an upper bound on the share of margin errors and a lower bound on the share of support
    vectors. Every parameter, attribute and sign of `sklearn.svm.NuSVC` is here; the rest is that
    of `maxmargin.SVC`. An infeasible ν is an error that names the largest feasible one.

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
    class_weight : dict or "balanced"
        ν finds C = 1/ρ on the unweighted classes; the weights then multiply C as in `SVC`. (In
        the ν problem itself both classes have the same total, so weights could not act.)
    fit_intercept : bool, default=True
        Whether there is an offset b. Without one the margin errors of both classes are counted
        together, so that any ν is feasible, however few rows a class has.
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, verbose, max_iter,
    decision_function_shape, break_ties, random_state, solver, criterion, max_time, warm_start,
    n_jobs, multiclass : see `SVC`

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, classes_,
    class_weight_, fit_status_, n_iter_, shape_fit_, certificate_, certificates_, history_ : see
        `SVC`. The certificate is that of the ν problem, before its rescaling to margin one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = NuSVC(nu=0.1).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelClassifier._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
        "fit_intercept": ["boolean"],
    }
    _milder: ClassVar[str] = "raise nu"

    def __init__(
        self,
        *,
        nu: float = 0.5,
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
    ) -> None:
        self.nu = nu
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

    _takes_partitions = False  # what ν allows depends on the counts of all rows
    _penalties: Floats | None = None  # of each pair of classes, once class weights made it a C-SVC

    def _fit_model(self, run: Fit, X: Data, y: ArrayLike, sample_weight: Floats | None) -> None:
        self._penalties = None
        if self.class_weight is not None:
            unweighted = clone(self).set_params(class_weight=None).set_callbacks()
            unweighted._fit_model(run.part(unweighted, X, y, 0.5), X, y, sample_weight)
            self._penalties = np.array([1 / unit(rho) for rho in unweighted._rho_])
            self._unweighted = unweighted
        super()._fit_model(run, X, y, sample_weight)
        self.__dict__.pop("_unweighted", None)
        if run.whole is run:
            self._check_margins(X)

    def _starts(self, plan: Plan) -> list[np.ndarray | None]:
        """With class weights: where the unweighted machine ended, unless a warm start is asked."""
        before = self.__dict__.get("_unweighted")
        if before is None or (self.warm_start and hasattr(self, "_form_")):
            return super()._starts(plan)
        coef = np.zeros((before.dual_coef_.shape[0], len(plan.bounds)))
        coef[:, before.support_] = before._dense_dual_coef()
        return list(plan.scheme.gather(plan.splits, coef))

    def _solve(
        self,
        run: Fit,
        X: Data,
        plan: Plan,
        form: Form,
        starts: Sequence[Floats | None],
        tols: Sequence[float] | None = None,
    ) -> Answers:
        """Until the violation is ≤ tol · ρ, since the decision values are divided by ρ.

        ρ is known only in the end: where it is small, the solve goes on with that tolerance.
        """
        solutions: Answers = super()._solve(run, X, plan, form, starts, tols)
        none = self._no_margin(float(form.kernel.diagonal(X).max(initial=0)), plan.bounds)
        for _ in range(TIGHTENINGS):
            found = [self._margin_of(each.offsets) for each in solutions]
            aims = [self.tol * (min(rho, 1.0) if rho > none else 1.0) for rho in found]
            done = all(
                each.status is not Status.CONVERGED or each.values.violation <= aim
                for each, aim in zip(solutions, aims, strict=True)
            )
            if done:
                break
            begin: list[np.ndarray | None] = [each.beta for each in solutions]
            solutions = super()._solve(run, X, plan, form, begin, aims)
        return Answers(self._settled(each, none) for each in solutions)

    def _settled(self, solution: Solution, none: float) -> Solution:
        """Converged, where ρ vanished on the way to a tolerance that was a share of it."""
        ending = convergence(solution.values, Criterion.BOTH, self.tol)
        ended = solution.status in (Status.OUT_OF_ITERATIONS, Status.STAGNATED)
        if ending and ended and self._margin_of(solution.offsets) <= none:
            return replace(solution, status=ending.status, why="no margin")
        return solution

    def _check_margins(self, X: Data) -> None:
        """Warn if the classes' reduced hulls meet: then w = 0, and no direction parts them."""
        largest = float(self.kernel_.diagonal(X).max(initial=0))
        rounding = self._no_margin(largest, self._bounds_)
        pairs = list(zip(self._rho_, self.certificates_, strict=True))
        none = [
            (rho, proof)
            for rho, proof in pairs
            if proof.status is Status.CONVERGED and rho <= max(proof.kkt_violation, rounding)
        ]
        if none:
            rho, proof = none[0]
            among = f" in {len(none)} of {len(pairs)} problems" if len(pairs) > 1 else ""
            warn(
                f"there is no margin at nu={self.nu}{among}: ρ = {rho:.3g}, with a KKT violation "
                f"of {proof.kkt_violation:.3g}. The predictions mean nothing: raise nu if the "
                "classes overlap; scale the data or lower tol if they are merely small"
            )

    def _no_margin(self, largest: float, bounds: Floats) -> float:
        """A ρ that may be nothing but rounding errors, where k(x, x) is at most `largest`."""
        return 1e-12 * self.nu * float(bounds.sum()) * largest

    def _bounds(self, weights: Floats) -> Floats:
        return weights

    def _problem(self, number: int, signs: Floats, bounds: Floats, counts: Floats) -> DualProblem:
        if self._penalties is None:
            return nu_svc(signs, bounds, self.nu, counts.sum(), fit_intercept=self.fit_intercept)
        penalties = self._penalties[number] * bounds
        return c_svc(signs, penalties, fit_intercept=self.fit_intercept)

    def _encode(self, number: int, coef: Floats) -> Floats:
        return unit(self._rho_[number]) * coef

    def _decode(self, beta: Floats, offsets: Floats) -> tuple[Floats, float]:
        """Rescaled by ρ, so that the margin is where |f| = 1."""
        rho = unit(self._margin_of(offsets))
        return beta / rho, float(offsets.mean() / rho) if self.fit_intercept else 0.0

    def _from_offsets(self, offsets: Sequence[Floats]) -> dict[str, Any]:
        return {"_rho_": np.array([self._margin_of(each) for each in offsets])}

    def _margin_of(self, offsets: Floats) -> float:
        """ρ from the offsets b − ρ and b + ρ, or −ρ without b; 1 for a C-SVC of class weights."""
        if self._penalties is not None:
            return 1.0
        return float(offsets[1] - offsets[0]) / 2 if self.fit_intercept else -float(offsets[0])


def unit(rho: float) -> float:
    """What the decision values are measured in: ρ, or 1 as long as a fit has found no margin."""
    return rho if rho > 0 else 1.0
