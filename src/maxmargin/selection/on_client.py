"""A search on a cluster: the cells of one γ are a task of Dask.

A task has all it needs in its arguments (the rows are in the graph once): it can be computed
anywhere, and again if its worker is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

from maxmargin.machines.dual_machine import DualMachine
from maxmargin.resources.arrays import Data, Floats
from maxmargin.scale.on_dask import LARGE
from maxmargin.selection.cells import Cell, Fitted
from maxmargin.selection.evaluation import Clock, Evaluation, Fold
from maxmargin.selection.progress import SearchBar
from maxmargin.selection.scoring import Scores
from maxmargin.selection.target import Target

Client: TypeAlias = Any  # distributed.Client, which has no types


class Shared(NamedTuple):
    """What all tasks are told: see `Evaluation`."""

    machine: DualMachine
    X: Data
    target: Target
    weights: Floats | None
    scores: Scores


class ClientEvaluation:
    """An evaluation whose cells are fitted by the workers of a cluster.

    Parameters
    ----------
    here : the evaluation
    client : distributed.Client
    """

    def __init__(self, here: Evaluation, client: Client) -> None:
        self.here, self.client = here, client
        self.machine, self.gamma, self.target = here.machine, here.gamma, here.target
        self.clock = here.clock

    def run(self, cells: Sequence[Cell], folds: Sequence[Fold], best: Callable[[], str]) -> None:
        """Fit these cells without each of these folds, and score them."""
        from dask import config, delayed
        from distributed import as_completed

        here, clock = self.here, self.clock
        shared = Shared(here.machine, here.X, here.target, here.weights, here.scores)
        told, fit = delayed(shared, traverse=False), delayed(evaluated, traverse=False)
        order = attrgetter("order")
        by_gamma = [list(some) for _, some in groupby(sorted(cells, key=order), order)]
        # Folds of one γ share its matrix, if that leaves a task for every thread.
        few = len(by_gamma) < sum(self.client.nthreads().values())
        parts = [[fold] for fold in folds] if few else [list(folds)]
        jobs = [(some, part) for some in by_gamma for part in parts]
        here.bar.expect(len(cells) * len(folds))
        left = clock.left(None)
        tasks = [fit(told, [cell.fresh() for cell in some], part, left) for some, part in jobs]
        with config.set({LARGE: "1 TiB"}):
            futures = self.client.compute(tasks)
        job_of = {future.key: job for future, job in zip(futures, jobs, strict=True)}
        try:
            for future, found in as_completed(futures, with_results=True, timeout=left):
                some, part = job_of[future.key]
                for cell, folds_of in zip(some, found, strict=True):
                    cell.folds.update(folds_of)
                here.bar.done(len(some) * len(part), best())
        except KeyboardInterrupt:
            clock.stop.set()
        except TimeoutError:
            pass  # the time of the search is over: what was found counts
        finally:
            self.client.cancel(futures)

    def part(self, folds: Sequence[Fold], share: float) -> tuple[ClientEvaluation, list[Fold]]:
        """As that of `Evaluation`."""
        part, some = self.here.part(folds, share)
        return ClientEvaluation(part, self.client), some


def evaluated(
    shared: Shared, cells: list[Cell], folds: list[Fold], seconds: float | None
) -> list[dict[int, Fitted]]:
    """What a worker finds of some cells without some folds, in one thread."""
    with SearchBar("", shown=False) as bar:
        evaluation = Evaluation(*shared, Clock(seconds), bar, n_jobs=1)
        evaluation.run(cells, folds, str)
    return [cell.folds for cell in cells]
