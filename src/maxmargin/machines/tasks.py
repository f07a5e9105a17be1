"""The dual problems of one fit: what each needs, where each stands, and how several run at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from threading import Event
from typing import TypeVar

import numpy as np

from maxmargin.certificate import Certificate
from maxmargin.gram import Gram
from maxmargin.problem import DualProblem, Solution
from maxmargin.resources import pool
from maxmargin.solvers import Progress

Standing = Solution | Progress | None
Result = TypeVar("Result")


@dataclass(frozen=True)
class Task:
    """One dual problem of a fit: its Gram matrix (made when its turn comes) and its start."""

    name: str
    problem: DualProblem
    matrix: Callable[[], Gram]
    start: np.ndarray | None = None
    watch: Callable[[Progress], None] | None = None

    def coefficients(self, where: Standing) -> tuple[np.ndarray, np.ndarray]:
        """β and the offsets of a task that is done, under way, or not yet begun."""
        if isinstance(where, Solution):
            return where.beta, where.offsets
        if isinstance(where, Progress):
            state = where.state
            return state.beta, self.problem.offsets(state.beta, state.gradient)
        return np.zeros(self.problem.size), np.zeros(self.problem.n_groups)

    def certificate(self, solution: Solution) -> Certificate:
        """The proof of how good a solution is."""
        return Certificate.of(self.problem, solution)


def joined(histories: list[np.ndarray]) -> np.ndarray:
    """The histories of all problems one after the other, the number of the problem in front."""
    history = np.concatenate(histories)
    record = np.empty(len(history), [("problem", int), *history.dtype.descr])
    record["problem"] = np.repeat(np.arange(len(histories)), [len(part) for part in histories])
    for name in history.dtype.names or ():
        record[name] = history[name]
    return record


def run_threads(
    run: Callable[[int], Result], count: int, threads: int, stop: Event
) -> list[Result]:
    """run(0) … run(count − 1) on several threads; on Ctrl-C all are told to stop where they are."""
    futures: list[Future[Result]] = []
    while True:
        try:
            submit = pool(threads, os.getpid(), "machines").submit
            futures.extend(submit(run, number) for number in range(len(futures), count))
            return [future.result() for future in futures]
        except KeyboardInterrupt:
            stop.set()
        except BaseException:
            stop.set()
            wait(futures)
            raise
