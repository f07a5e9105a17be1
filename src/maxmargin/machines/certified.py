"""The run of a fit: limits, threads, callbacks, the progress bar, Ctrl-C, and the certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache, lru_cache
from numbers import Integral, Real
from threading import Event
from time import perf_counter
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from maxmargin.certificate import Certificate
from maxmargin.machines.progress import GapBar
from maxmargin.machines.tasks import joined, run_threads
from maxmargin.machines.validation import warn
from maxmargin.problem import Status
from maxmargin.resources import thread_count
from maxmargin.solvers import LinearProgress, Progress

PLAIN = (bool, int, float, str, type(None))


class Solvable(Protocol):
    """A problem of a fit: what its solver takes, and the proof of what it gave."""

    @property
    def name(self) -> str: ...
    @property
    def problem(self) -> Any: ...
    @property
    def matrix(self) -> Callable[[], Any]: ...
    @property
    def start(self) -> np.ndarray | None: ...
    @property
    def watch(self) -> Callable[[Any], None] | None: ...

    def certificate(self, solution: Any) -> Certificate: ...


class CertifiedMachine(CallbackSupportMixin, BaseEstimator):
    """Base of the machines that solve problems with solvers and prove how well."""

    _criterion: str = "KKT violation"  # what `tol` bounds
    _solvers: ClassVar[dict]
    _parameter_constraints: ClassVar[dict] = {
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "verbose": ["verbose"],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "max_time": [Interval(Real, 0, None, closed="neither"), None],
        "n_jobs": [Integral, None],
    }

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """As in scikit-learn, which reads the signature anew each time: a tenth of a small fit."""
        return super()._get_param_names()

    @classmethod
    def _validate_param(cls, name: str, value: Any) -> None:
        validate_parameter_constraints(cls._parameter_constraints, {name: value}, cls.__name__)

    @classmethod
    @lru_cache(maxsize=1024, typed=True)
    def _validate_plain_param(cls, name: str, value: Any) -> None:
        """Once: a number or a word that was valid is valid, and scikit-learn takes its time."""
        cls._validate_param(name, value)

    def _validate_params(self) -> None:
        """As in scikit-learn."""
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, PLAIN):
                self._validate_plain_param(name, value)
            else:
                self._validate_param(name, value)

    @property
    def history_(self) -> np.ndarray:
        """One record per outer iteration of each problem."""
        return joined(self._histories)

    def _solver(self, time_left: float | None, matrix: Any) -> Any:
        """The solver named or given; tol, max_iter and max_time are the machine's."""
        limits = {"tol": self.tol, "max_iter": self.max_iter, "max_time": time_left}
        if isinstance(self.solver, str):
            return self._solvers[self.solver](**limits)
        return replace(self.solver, **limits)

    def _finish(self, task: Any, matrix: Any, solution: Any) -> Any:
        """What is still done with a solution that has converged."""
        return solution

    def _solve(
        self,
        tasks: Sequence[Solvable],
        *,
        in_parallel: bool,
        data: tuple[Any, Any],
        model: Callable[[list], dict],
    ) -> list[Any]:
        """Solve all tasks; keep what there is on Ctrl-C; tell callbacks and the progress bar.

        `model` turns the state of every task into fitted attributes: callbacks that score a
        model during the fit get one made of where the tasks stand.
        """
        began, stop = perf_counter(), Event()
        context = self._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=self, X=data[0], y=data[1])
        listening = bool(getattr(self, "_skl_callbacks", ()))
        bar = GapBar(type(self).__name__, len(tasks)) if self.verbose else None
        state: list[Any] = [None] * len(tasks)

        def told(number: int, progress: Progress | LinearProgress) -> bool:
            if watch := tasks[number].watch:
                watch(progress)
            if bar:
                bar.update(number, progress)
            if listening:
                state[number] = progress
                sub = context.subcontext(task_name=f"{tasks[number].name}, iteration")
                sub.call_on_fit_task_begin(estimator=self)
                if sub.call_on_fit_task_end(
                    estimator=self,
                    X=data[0],
                    y=data[1],
                    reconstruction_attributes=lambda: model(state),
                ):
                    stop.set()
            return stop.is_set()

        def run(number: int) -> Any:
            left = None if self.max_time is None else self.max_time - (perf_counter() - began)
            task = tasks[number]
            matrix = task.matrix()
            solution = self._solver(left, matrix).solve(
                task.problem, matrix, start=task.start, observe=lambda now: told(number, now)
            )
            if solution.status is Status.CONVERGED:
                try:
                    solution = self._finish(task, matrix, solution)
                except KeyboardInterrupt:
                    stop.set()
            elif solution.status is Status.INTERRUPTED:
                stop.set()
            state[number] = solution
            return solution

        with bar or nullcontext():
            threads = thread_count(self.n_jobs) if in_parallel and not listening else 1
            if threads == 1:
                solutions = [run(number) for number in range(len(tasks))]
            else:
                solutions = run_threads(run, len(tasks), threads, stop)
        context.call_on_fit_task_end(
            estimator=self,
            X=data[0],
            y=data[1],
            reconstruction_attributes=lambda: model(list(solutions)),
        )
        for name, value in model(list(solutions)).items():
            setattr(self, name, value)
        self._certify(tasks, solutions, perf_counter() - began)
        return solutions

    def _certify(self, tasks: Sequence[Solvable], solutions: list[Any], seconds: float) -> None:
        """Certificates, history, and a warning that says what to do if it did not converge."""
        self.certificates_ = [
            task.certificate(solution) for task, solution in zip(tasks, solutions, strict=True)
        ]
        self.certificate_ = Certificate.total(self.certificates_, seconds)
        self._histories = [solution.history for solution in solutions]
        self.fit_status_ = int(self.certificate_.status is not Status.CONVERGED)
        if self.fit_status_:
            proof = self.certificate_
            why = next(each.why for each in solutions if each.status is proof.status)
            warn(
                f"{type(self).__name__} stopped: {proof.status.value} ({why}). The KKT violation "
                f"is {proof.kkt_violation:.3g} and the duality gap {proof.gap:.3g} "
                f"({proof.relative_gap:.2%} of the objective); tol={self.tol:g} was asked of the "
                f"{self._criterion}. The model so far is usable; to come closer, "
                f"{proof.status.advice}.",
                ConvergenceWarning,
            )
