"""One fit: its time limit, threads, callbacks, progress bar, Ctrl-C, and certificate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from math import inf
from threading import Event
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from maxmargin.certificate import Certificate
from maxmargin.machines.answers import Answers, PairAnswers
from maxmargin.machines.tasks import Task, run_threads
from maxmargin.machines.validation import can_draw, warn
from maxmargin.problem import Ending, Interrupted, Solution, Status
from maxmargin.resources.arrays import Data
from maxmargin.resources.threads import thread_count
from maxmargin.solvers import STOPPED, Progress

if TYPE_CHECKING:
    from maxmargin.machines.progress import GapBar

# Fitted attributes, made from the state of every task: also for callbacks in mid-fit.
Model = Callable[[Any], dict[str, Any]]


class Fit:
    """One call of `fit`, of one or several stages, each of one or several tasks.

    As a context it ends with the status of the whole fit, and one warning if a stage did not
    converge. Some stages fit other machines: each is a `part`, which shares the time limit and
    stops when the whole does.

    Parameters
    ----------
    machine : the estimator, with `max_time`, `n_jobs`, `verbose` and callbacks; `_milder` says how
        its problem is made easier
    X, y : what it is fitted on, for callbacks
    whole : the fit that this one is a part of; None for itself
    seconds : the most that it may take; None for the machine's `max_time`

    Attributes
    ----------
    stop : Event, set by Ctrl-C or a callback
    pressed : whether it was Ctrl-C
    endings : how each task of each stage ended
    """

    def __init__(
        self,
        machine: Any,
        X: Data,
        y: ArrayLike | None,
        whole: Fit | None = None,
        seconds: float | None = None,
    ) -> None:
        self.machine, self.X, self.y, self._outer = machine, X, y, whole
        limit = machine.max_time if seconds is None else seconds
        self.began = perf_counter()
        self.deadline = inf if limit is None else self.began + limit
        self.stop, self.pressed, self.endings = Event(), False, list[Ending]()
        self.context = machine._init_callback_context(max_subtasks=None)
        self.context.call_on_fit_task_begin(estimator=machine, X=X, y=y)
        self.listening = bool(getattr(machine, "_skl_callbacks", ()))

    @property
    def whole(self) -> Fit:
        """The fit that this one is a part of, or itself.

        It is not stored: a reference to itself would keep the memory of a fit after its end.
        """
        return self._outer or self

    @property
    def seconds(self) -> float:
        """Seconds since the fit began."""
        return perf_counter() - self.began

    @property
    def left(self) -> float:
        """Seconds left; negative when they are over."""
        return self.deadline - perf_counter()

    def part(self, machine: Any, X: Data, y: ArrayLike | None, share: float) -> Fit:
        """The fit of another machine as a stage of this one, in this share of the time left."""
        return Fit(machine, X, y, self.whole, share * max(self.left, 0.0))

    @contextmanager
    def within(self, share: float) -> Iterator[None]:
        """A stage that leaves time to those that follow: this share of the time left."""
        deadline, now = self.deadline, perf_counter()
        self.deadline = now + share * (deadline - now)
        try:
            yield
        finally:
            self.deadline = deadline

    def interrupt(self) -> None:
        """Ctrl-C: every task that is still to come ends where it begins."""
        self.whole.pressed = True
        self.whole.stop.set()

    def halted(self) -> Ending | None:
        """Why nothing more is to be solved, or None."""
        if self.whole.stop.is_set():
            return STOPPED
        over = Ending(Status.OUT_OF_TIME, f"{self.seconds:.3g} s passed")
        return over if self.left <= 0 else None

    def bar_of(self, problems: int) -> GapBar | None:
        """The progress bar, if the machine is verbose."""
        if not (self.machine.verbose and can_draw()):
            return None
        from maxmargin.machines.progress import GapBar  # rich is an optional dependency

        return GapBar(type(self.machine).__name__, problems)

    def solve(self, tasks: Sequence[Task], model: Model, *, in_parallel: bool) -> Answers:
        """Solve every task within the time that is left."""
        self.tasks, self.model, self.bar = tasks, model, self.bar_of(len(tasks))
        self.states = Answers([None] * len(tasks))
        threads = thread_count(self.machine.n_jobs) if in_parallel and not self.listening else 1
        with self.bar or nullcontext():
            if threads == 1:
                return Answers(self._run(number) for number in range(len(tasks)))
            return Answers(run_threads(self._run, len(tasks), threads, self.interrupt))

    def _run(self, number: int) -> Solution:
        try:
            solution = self._solution(number)
        except Interrupted as stopped:
            self.interrupt()
            solution = stopped.solution
        except KeyboardInterrupt:  # before the solver had begun
            self.interrupt()
            solution = self._solution(number)
        if solution.status is Status.INTERRUPTED:
            self.whole.stop.set()
        self.states[number] = solution
        return solution

    def _solution(self, number: int) -> Solution:
        task, left = self.tasks[number], self.left
        solver = replace(task.solver, max_time=None if left == inf else left)
        return solver.solve(
            task.problem,
            task.matrix(),
            start=task.start() if callable(task.start) else task.start,
            observe=lambda progress: self._observe(number, progress),
        )

    def _observe(self, number: int, progress: Progress) -> bool:
        """Call the task's watch, the bar and callbacks; True if the fit is to stop."""
        task = self.tasks[number]
        if task.watch is not None:
            task.watch(progress)
        if self.bar is not None:
            self.bar.update(number, progress)
        if self.listening:
            self.states[number] = progress
            self._call_back(task.name)
        return self.whole.stop.is_set()

    def _call_back(self, name: str) -> None:
        """Call scikit-learn's callbacks with the model so far."""
        sub = self.context.subcontext(task_name=f"{name}, iteration")
        sub.call_on_fit_task_begin(estimator=self.machine)
        asked_to_stop = sub.call_on_fit_task_end(
            estimator=self.machine,
            X=self.X,
            y=self.y,
            reconstruction_attributes=lambda: self.model(self.states),
        )
        if asked_to_stop:
            self.whole.stop.set()

    def end(
        self,
        answers: Answers | PairAnswers,
        certificate: Callable[[Certificate], Certificate] = lambda proof: proof,
    ) -> None:
        """Set the fitted attributes and the certificate, which is that of the machine's form."""
        machine = self.machine
        self.context.call_on_fit_task_end(
            estimator=machine,
            X=self.X,
            y=self.y,
            reconstruction_attributes=lambda: self.model(answers),
        )
        vars(machine).update(self.model(answers))
        proofs = answers.proofs(certificate, self.seconds)
        proofs.set_on(machine)
        self.whole.endings += proofs.endings

    def warn_of_indefinite_kernel(self, why: str) -> None:
        """Say, once for all stages, that there is no bound."""
        if self.whole is self:
            warn(
                f"the kernel is indefinite on these rows ({why}): the fit ends at a stationary "
                "point, which need not be the optimum, and its certificate has no bound"
            )

    def missed(self, stage: str) -> None:
        """Record that the fit was stopped, or its time over, before a stage of it began."""
        status = Status.INTERRUPTED if self.whole.stop.is_set() else Status.OUT_OF_TIME
        self.whole.endings.append(Ending(status, f"before {stage}"))

    def __enter__(self) -> Fit:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Set the status of the whole fit, and warn if it is not `converged`."""
        if error is not None:
            return
        machine = self.machine
        if self.pressed:
            machine._interrupted = True  # for `conventions.fitting`
        worse = [each for each in self.endings if each.status is not Status.CONVERGED]
        machine.fit_status_ = int(bool(worse))
        if not worse:
            return
        stops = [each for each in worse if each.status is Status.INTERRUPTED]
        ending = (stops or worse)[0]
        machine.certificate_ = replace(machine.certificate_, status=ending.status)
        self._warn(ending)

    def _warn(self, ending: Ending) -> None:
        machine, proof, solver = self.machine, self.machine.certificate_, self.tasks[0].solver
        timed_out = ending.status is Status.OUT_OF_TIME  # where a stage's own time tells little
        why = f"{self.seconds:.3g} s passed" if timed_out else ending.why
        if self.pressed and ending == STOPPED:  # only the task that was running knows of the key
            why = "Ctrl-C"
        warn(
            f"{type(machine).__name__} stopped: {proof.status.value} ({why}). {proof.shortfall}; "
            f"tol={machine.tol:g} was asked of the {solver.criterion.words}. {proof.worth} "
            f"{solver.advice(ending, machine._milder)}.",
            ConvergenceWarning,
        )
