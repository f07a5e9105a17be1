"""Base of the dual kernel machines: from problems to a fitted model and its certificate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from numbers import Integral, Real
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.certificate import Certificate, IndefiniteCertificate
from maxmargin.conventions import HasMethods, Interval, StrOptions
from maxmargin.machines.answers import Answers, PairAnswers
from maxmargin.machines.feature_map import FeatureMap
from maxmargin.machines.fit import Fit
from maxmargin.machines.kernel_machine import KernelMachine
from maxmargin.machines.multiclass import AllRows, Scheme
from maxmargin.machines.pairs import solve_together
from maxmargin.machines.plan import Plan
from maxmargin.machines.support_vectors import SupportVectors
from maxmargin.machines.tasks import Task, history_of
from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Data, Floats, Labels, Numbers
from maxmargin.scale.survey import Survey
from maxmargin.solvers import SOLVERS, Progress, Solver

Form = SupportVectors | FeatureMap
# Fitted attributes that not every fit sets: those of one form alone, and what LIBSVM's files add.
NOT_OF_EVERY_FIT = (
    "support_vectors_",
    "features_",
    "feature_coef_",
    "kernel_error_",
    "approximate_certificate_",
    "n_samples_seen_",
    "_bounds_",
    "density_marks_",
    "error_scale_",
    "label_order_",
)
ROUNDING = 1e-12  # of a bound: a coefficient this close is at it
ROUGH = 0.01  # relative gap on features before `refine`: K̂ ≠ K makes more exactness useless


class DualMachine(KernelMachine):
    """Base of the machines that are formulations of the one dual problem.

    A machine says which problems it solves (a `Plan`) and what their variables mean (`_decode`,
    and `_encode` for a warm start).
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "verbose": ["verbose"],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "max_time": [Interval(Real, 0, None, closed="neither"), None],
        "shrinking": ["boolean"],
        "solver": [StrOptions(set(SOLVERS)), HasMethods("solve")],
        "criterion": [StrOptions({"both", "kkt"})],
        "warm_start": ["boolean"],
        "checkpoint": [str, PathLike, None],
    }

    # Of a machine that does not offer these as parameters.
    tol: float = 1e-3
    verbose: int | bool = False
    max_iter: int = -1
    max_time: float | None = None
    solver: str | Solver = "block"
    criterion: str = "both"
    warm_start: bool = False
    _takes_partitions: ClassVar[bool] = True
    _milder: ClassVar[str] = "lower C"

    certificate_: Certificate
    certificates_: Sequence[Certificate]
    intercept_: Floats
    n_support_: Numbers
    _form_: Form

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_form_")

    def _decode(self, beta: Floats, offsets: Floats) -> tuple[Floats, float]:
        """Coefficients and offset of the decision function, from β of the rows and b."""
        return beta, float(offsets[0]) if len(offsets) else 0.0

    def _encode(self, number: int, coef: Floats) -> Floats:
        """Undo `_decode` for problem `number` of the last fit: where a warm start begins."""
        return coef

    def _from_offsets(self, offsets: Sequence[Floats]) -> dict[str, Any]:
        """Fitted attributes that the offsets of all problems determine."""
        return {}

    def _start_after(self, plan: Plan, number: int, states: Sequence[Any]) -> Floats | None:
        """Where problem `number` begins in a cold fit, from the solutions of those before it."""
        return None

    def _watch(self, progress: Progress) -> None:
        """Called after each outer iteration; raise to end the fit."""

    def _known_of(self, found: Survey) -> dict[str, Any]:
        """Fitted attributes that a survey of partitions determines."""
        return {}

    @abstractmethod
    def _plan_of_rows(self, y: Labels | None, weights: Floats) -> Plan:
        """The problems of some rows; a row of weight two counts twice. Classes are known."""

    def _scheme(self) -> Scheme:
        """How coefficients and decisions of the fitted machine are laid out."""
        return AllRows(len(self.intercept_))

    def _of_all_rows(self, problems: Sequence[DualProblem], bounds: Floats) -> Plan:
        """The plan of a machine whose functions are all trained on all rows."""
        labels, scheme = np.zeros(len(bounds), int), AllRows(len(problems))
        return Plan(scheme, scheme.splits(labels), problems, bounds, labels, {})

    # --- fit ------------------------------------------------------------------------------

    def _forms(self, X: Data, sample_weight: Floats | None) -> list[Form]:
        """The form of the machine; or two, the second started from the solution of the first."""
        kernel = self._kernel().bind(X, sample_weight)
        if getattr(self, "approximation", None) is None:
            return [SupportVectors(kernel)]
        tol = max(self.tol, ROUGH) if self.refine else self.tol
        features = FeatureMap.fitted(self, kernel, X, sample_weight, tol)
        return [features, SupportVectors(kernel)] if self.refine else [features]

    def _train(self, run: Fit, X: Data, plan: Plan, sample_weight: Floats | None) -> None:
        """Solve the problems of a plan, in one form or in two, and set the fitted attributes."""
        if getattr(self, "checkpoint", None) is not None:
            raise ValueError(
                "checkpoint= is for rows in partitions (maxmargin.scale, or Dask); a fit of arrays "
                "continues with warm_start=True"
            )
        starts = self._starts(plan)
        form, *finer = self._forms(X, sample_weight)
        if finer or not form.all_pairs(self, plan):
            plan = plan.listed()
        self._forget_last_fit()
        solutions = self._solve(run, X, plan, form, starts)
        for exact in finer:
            if run.whole.stop.is_set():
                run.missed("the refinement")
                break
            self.__dict__.update(self._attributes(X, plan, form, solutions))
            self.approximate_certificate_ = form.certificate(
                Certificate.total([Certificate.of(each) for each in solutions], run.seconds)
            )
            solutions = self._solve(run, X, plan, exact, [each.beta for each in solutions])
            form = exact
        certificate = form.certificate
        why = ""
        try:
            why = form.indefinite(X, plan.problems, solutions, run.halted)
        except KeyboardInterrupt:  # the model is there
            run.interrupt()
            run.missed("the test of the kernel")
        if why:
            certificate = partial(IndefiniteCertificate.of_values, why)
            run.warn_of_indefinite_kernel(why)
        run.end(solutions, certificate)

    def _forget_last_fit(self) -> None:
        for name in NOT_OF_EVERY_FIT:
            self.__dict__.pop(name, None)

    def _solve(
        self,
        run: Fit,
        X: Data,
        plan: Plan,
        form: Form,
        starts: Sequence[Floats | None],
        tols: Sequence[float] | None = None,
    ) -> Any:
        """Solve every problem of the plan from its start, to tolerances of their own if given."""
        matrix, solver = form.matrix(self, X, plan), form.solver(self)
        solvers = [solver] * len(starts)
        if tols is not None:
            solvers = [replace(solver, tol=tol) for tol in tols]
        model = partial(self._attributes, X, plan, form)

        def task(number: int) -> Task:
            split, problem = plan.splits[number], plan.problems[number]
            rows = partial(matrix.take, split.rows)
            return Task(split.name, problem, rows, solvers[number], start(number), self._watch)

        def start(number: int) -> Callable[[], Floats | None]:
            given = starts[number]
            return lambda: self._start_after(plan, number, run.states) if given is None else given

        cold = tols is None and not any(start is not None for start in starts)
        together = cold and form.all_pairs(self, plan)
        if not together or run.listening:
            tasks = [task(number) for number in range(len(starts))]
            answers = run.solve(tasks, model, in_parallel=form.in_parallel(plan))
            if not together or run.halted():
                return answers
        # Callbacks have seen the pairs one by one; a fit has the same bits with them or without.
        return solve_together(run, plan, matrix, task, model)

    def _attributes(
        self, X: Data, plan: Plan, form: Form, states: Answers | PairAnswers
    ) -> dict[str, Any]:
        """Fitted attributes from what was found so far."""
        coef, intercept, offsets = states.decoded(plan, self._decode)
        support = np.flatnonzero(coef.any(axis=0))
        support = support[plan.labels[support].argsort(kind="stable")]
        n_support = np.bincount(plan.labels[support], minlength=plan.scheme.n_classes)
        return {
            **plan.attributes,
            **form.attributes(self, X, support, coef, states),
            **self._from_offsets(offsets),
            "n_support_": n_support.astype(np.int32),
            "intercept_": intercept,
            "_bounds_": plan.bounds,
        }

    def _starts(self, plan: Plan) -> list[Floats | None]:
        """The start of a warm fit: what was at its bound is at the new one, all else as it was.

        A free variable has y f(x) = 1 whatever C is: scaled with C it would have to come back.
        """
        if not self.warm_start or not hasattr(self, "_bounds_"):
            return [None] * len(plan.problems)
        before, now = self._bounds_, plan.bounds
        if len(now) < len(before):
            raise ValueError(
                "warm_start=True continues on the same rows, with new ones appended: had "
                f"{len(before)} rows, got {len(now)}"
            )
        coef = np.zeros((self.dual_coef_.shape[0], len(now)))
        coef[:, self.support_] = self._dense_dual_coef()
        now = now[: len(before)]
        scaled = np.flatnonzero((before > 0) & np.isfinite(before) & np.isfinite(now))
        share = coef[:, scaled] / before[scaled]
        at_bound = np.abs(share) > 1 - ROUNDING
        coef[:, scaled] = np.where(at_bound, share * now[scaled], coef[:, scaled])
        gathered = plan.scheme.gather(plan.splits, coef)
        return [
            problem.on_variables(self._encode(number, part))
            for number, (problem, part) in enumerate(zip(plan.problems, gathered, strict=True))
        ]

    history_ = property(history_of)

    @property
    def n_iter_(self) -> Any:
        """Steps taken; for a classifier, of each binary problem."""
        return self.certificate_.n_iter

    # --- predict --------------------------------------------------------------------------

    def _decisions(self, X: Data, of: Callable[[Floats], Floats] = np.asarray) -> Floats:
        """One column of decision values per problem; or what follows `of` them, row by row."""
        if not hasattr(self, "_form_"):
            check_is_fitted(self)  # which says so, and takes a fifth of the time of one row
        parts = [of(part) for part in self._form_.decisions(self, X)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _linear_coef(self) -> Floats:
        """w of every problem."""
        ends = np.concatenate([[0], np.cumsum(self.n_support_)])

        def products(coef: Floats, ends: Numbers) -> Floats:
            vectors = self.support_vectors_
            return np.array([coef[:, a:b] @ vectors[a:b] for a, b in pairwise(ends)])

        return self._scheme().decide(self._dense_dual_coef(), ends, products).T
