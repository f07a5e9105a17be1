"""The problems of one fit, and how several run at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from maxmargin.problem import Solution
from maxmargin.resources.arrays import Floats, Records
from maxmargin.resources.threads import pool
from maxmargin.solvers import Progress, Solver

# The state of a task: done, running, or not yet begun.
TaskState = Solution | Progress | None
Result = TypeVar("Result")
PULSE = 0.1  # seconds between looks at Ctrl-C


@dataclass(frozen=True)
class Task:
    """One problem of a fit.

    Attributes
    ----------
    name : for callbacks
    problem : DualProblem or LinearProblem
    matrix : makes the matrix that the solver takes, when the task's turn comes
    solver : Solver, whose limits the fit sets
    start : the dual point to begin at, as the solver takes it, or a function that gives it when the
        task's turn comes; None for 0
    watch : called after each outer iteration; may raise
    """

    name: str
    problem: Any
    matrix: Callable[[], Any]
    solver: Solver
    start: Any = None
    watch: Callable[[Progress], None] | None = None


def history_of(machine: Any) -> Floats:
    """One record per outer iteration of each problem, the number of the problem in front."""
    histories: list[Records] = machine._histories
    history = np.concatenate(histories)
    record = np.empty(len(history), [("problem", int), *history.dtype.descr])
    record["problem"] = np.repeat(np.arange(len(histories)), [len(part) for part in histories])
    for name in history.dtype.names or ():
        record[name] = history[name]
    return record


def run_threads(
    run: Callable[[int], Result], count: int, threads: int, interrupt: Callable[[], None]
) -> list[Result]:
    """run(0) … run(count − 1) on several threads; `interrupt` is called on Ctrl-C or an error.

    The futures are there before a thread is: Ctrl-C between the start of a thread and the line that
    keeps its future would leave it running after the end.
    """
    futures: list[Future[Result]] = [Future() for _ in range(count)]
    left = iter(range(count))  # shared: each thread takes the next number from it

    def work() -> None:
        for number in left:
            if not futures[number].set_running_or_notify_cancel():
                continue
            try:
                futures[number].set_result(run(number))
            except BaseException as error:
                futures[number].set_exception(error)
                raise

    while True:
        try:
            for _ in range(min(threads, count)):  # after Ctrl-C again: one too many ends at once
                pool(threads, os.getpid(), "machines").submit(work)
            return [awaited(future) for future in futures]
        except KeyboardInterrupt:
            interrupt()
        except BaseException:
            interrupt()
            wait([future for future in futures if not future.cancel()])  # those that have begun
            raise


def awaited(future: Future[Result]) -> Result:
    """What the task returns, waited for in pulses.

    Ctrl-C in the instant before a thread falls asleep on a lock does not wake it.
    """
    while not future.done():
        wait([future], PULSE)
    return future.result()
