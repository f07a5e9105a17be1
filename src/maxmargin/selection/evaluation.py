"""Fit and score the cells of a search: one kernel matrix per γ, warm starts along C, threads.

For each γ the matrix K is computed once. For each fold, each problem of the machine is solved for
every C in rising order, from the solution of the C before (`fold_path`). The decision values of the
held-out rows are products with the same K, which a machine of one problem has already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from threading import Event, Lock
from time import perf_counter

import numpy as np

from maxmargin.kernels import Kernel
from maxmargin.machines.dual_machine import DualMachine
from maxmargin.machines.support_vectors import SupportVectors
from maxmargin.machines.tasks import run_threads
from maxmargin.problem import Solution, Status
from maxmargin.resources.arrays import Data, Floats, Numbers
from maxmargin.resources.threads import one_blas_thread, thread_count
from maxmargin.selection.cells import Cell, Fitted, fitted
from maxmargin.selection.fold_path import FoldPath
from maxmargin.selection.grid import gamma_name, with_gamma
from maxmargin.selection.matrices import Matrices, Parts, Stopped, exponent_of
from maxmargin.selection.progress import SearchBar
from maxmargin.selection.scoring import Scores
from maxmargin.selection.target import Target, target_of
from maxmargin.solvers.qp.held_smo import of_rows

# A user's kernel or scorer may raise anything: the cells it concerns fail, the others go on.
FAILURES = Exception
Key = tuple[float | str | None, int | None]  # of a matrix: γ, and the fold if γ depends on it


class Clock:
    """The time a search may take, and whether it was asked to stop."""

    def __init__(self, max_time: float | None) -> None:
        self.began, self.max_time, self.stop = perf_counter(), max_time, Event()

    @property
    def seconds(self) -> float:
        """Since the search began."""
        return perf_counter() - self.began

    def left(self, own: float | None) -> float | None:
        """Seconds that a fit with a limit of its own may take."""
        if self.max_time is None:
            return own
        left = max(self.max_time - self.seconds, 0.0)
        return left if own is None else min(left, own)

    @property
    def over(self) -> bool:
        """Whether nothing new may begin."""
        late = self.max_time is not None and self.seconds >= self.max_time
        return late or self.stop.is_set()


@dataclass(frozen=True)
class Fold:
    """The numbers of the rows that are trained on, and of those that are held out."""

    number: int
    train: Numbers
    test: Numbers


class Evaluation:
    """Everything that cells share: rows, targets, folds, scores, threads, time.

    Parameters
    ----------
    machine : whose cells are to be fitted
    X, target, weights : the rows, what is predicted, and the sample weights or None
    scores : to be computed
    clock, bar : when to stop, and where to report
    n_jobs : threads, as in scikit-learn; None for all cores
    """

    def __init__(
        self,
        machine: DualMachine,
        X: Data,
        target: Target,
        weights: Floats | None,
        scores: Scores,
        clock: Clock,
        bar: SearchBar,
        n_jobs: int | None,
    ) -> None:
        self.machine, self.X, self.target, self.weights = machine, X, target, weights
        self.scores, self.clock, self.bar = scores, clock, bar
        self.threads = thread_count(n_jobs)
        self.one = isinstance(target.splits[0].rows, slice) and len(target.splits) == 1
        self.gamma = gamma_name(machine)
        self._lock = Lock()

    def run(self, cells: Sequence[Cell], folds: Sequence[Fold], best: Callable[[], str]) -> None:
        """Fit these cells without each of these folds, and score them.

        The middle γ first: a search that is stopped has tried the likeliest.
        """
        rising = sorted(cells, key=lambda cell: (cell.params.get("epsilon", 0), cell.machine.C))
        gammas = list(dict.fromkeys(c.gamma for c in sorted(rising, key=attrgetter("order"))))
        middle = (len(gammas) - 1) / 2
        gammas = [gammas[k] for k in sorted(range(len(gammas)), key=lambda k: abs(k - middle))]
        by_gamma = {gamma: [c for c in rising if c.gamma == gamma] for gamma in gammas}
        matrices = self._matrices(folds)
        jobs = [(gamma, fold, self._key(gamma, fold)) for gamma in gammas for fold in folds]
        left = Counter(key for _, _, key in jobs)
        self.bar.expect(len(cells) * len(folds))

        def work(number: int) -> None:
            gamma, fold, key = jobs[number]
            if not self.clock.over:
                self._work(by_gamma[gamma], fold, matrices, key)
                self.bar.done(len(by_gamma[gamma]), best())
            with self._lock:
                left[key] -= 1
            if not left[key]:
                matrices.drop(key)

        # With one matrix at a time its folds share the threads, and no other may begin.
        groups = [list(range(len(jobs)))]
        if matrices.most == 1:
            groups = [[k for k, job in enumerate(jobs) if job[2] == key] for key in left]
        threads = min(self.threads, (matrices.most - 1) * len(folds) + 1)
        threads = self.threads if matrices.most == 1 else threads
        for group in groups:
            if threads > 1 and matrices.holds:
                with one_blas_thread():  # set once: cells would change it to and fro
                    run_threads(partial(at, work, group), len(group), threads, self.clock.stop.set)
            else:
                self._one_by_one(work, group)

    def part(self, folds: Sequence[Fold], share: float) -> tuple[Evaluation, list[Fold]]:
        """The same with a share of the rows of each fold, drawn by lot, and these folds."""
        rng, chosen = np.random.default_rng(0), np.zeros(self.target.n, bool)
        for group in self.target.groups():
            chosen[rng.choice(group, max(2, round(share * len(group))), replace=False)] = True
        rows = np.flatnonzero(chosen)
        place = np.full(self.target.n, -1)
        place[rows] = np.arange(len(rows))
        X = self.machine._kernel().rows(self.X, rows)
        part = Evaluation(
            self.machine,
            X,
            target_of(self.machine, self.target.y[rows]),
            None if self.weights is None else self.weights[rows],
            *(self.scores, self.clock, self.bar, self.threads),
        )
        some = [
            Fold(f.number, *(place[p][place[p] >= 0] for p in (f.train, f.test))) for f in folds
        ]
        return part, some

    def _one_by_one(self, work: Callable[[int], None], jobs: Sequence[int]) -> None:
        for number in jobs:
            try:
                work(number)
            except KeyboardInterrupt:
                self.clock.stop.set()

    def _kernel(self, gamma: float | str | None) -> Kernel:
        """The kernel with this γ, or the machine's own."""
        if gamma is None:
            return self.machine._kernel()
        return with_gamma(self.machine, self.gamma, gamma)

    def _key(self, gamma: float | str | None, fold: Fold) -> Key:
        """A rule such as gamma="scale" gives a γ of its own for the training rows of a fold."""
        kernel = self._kernel(gamma)
        number = isinstance(gamma, float)
        bound = number or kernel.precomputed or kernel.bind(self.X) is kernel
        return gamma, None if bound else fold.number

    def _matrices(self, folds: Sequence[Fold]) -> Matrices:
        by_number = {fold.number: fold for fold in folds}

        def kernel_of(key: Hashable) -> Kernel:
            assert isinstance(key, tuple)
            gamma, number = key
            kernel = self._kernel(gamma)
            if number is None:
                return kernel
            train = by_number[number].train
            return kernel.bind(self.X[train], None if self.weights is None else self.weights[train])

        exponent = None
        if self.gamma is not None:
            one, two = (with_gamma(self.machine, self.gamma, gamma) for gamma in (1.0, 2.0))
            exponent = exponent_of(one, two)
        return Matrices(
            kernel_of,
            exponent,
            self.X,
            self.target.splits,
            self.machine.cache_size,
            self.threads,
            lambda: self.clock.over,
        )

    def _work(self, cells: Sequence[Cell], fold: Fold, matrices: Matrices, key: Key) -> None:
        """All cells of one γ without one fold."""
        try:
            parts = matrices.of(key)
            done = self._fits(cells, fold, parts)
            self._score(done, fold, parts)
        except Stopped:
            return
        except FAILURES as error:
            for cell in cells:
                cell.folds.setdefault(fold.number, Fitted.failed(self.scores.names, error))

    def _fits(self, cells: Sequence[Cell], fold: Fold, parts: Parts) -> list[tuple[Cell, Fitted]]:
        """The cells that could be fitted before the search had to stop."""
        counts: Floats = np.bincount(fold.train, minlength=self.target.n).astype(float)
        weights = np.ones(self.target.n) if self.weights is None else self.weights
        problems = [self.target.problems(cell.machine, weights, counts) for cell in cells]
        solvers = [SupportVectors(parts.gram.kernel).solver(cell.machine) for cell in cells]
        solutions: list[list[Solution]] = [[] for _ in cells]
        for number in range(len(self.target.splits)):
            gram = parts.of(number)
            path = FoldPath(gram, parts.room, self.clock.stop.is_set)
            fits = zip(cells, problems, solvers, solutions, strict=True)
            for cell, problem, solver, found in fits:
                if (left := self.clock.left(cell.machine.max_time)) is not None:
                    solver = replace(solver, max_time=left)
                solution = path.solve(problem[number], cell.machine.C, solver)
                if solution.status is Status.INTERRUPTED:
                    self.clock.stop.set()
                if self.clock.over and solution.status is not Status.CONVERGED:
                    break
                found.append(solution)
        done = []
        for cell, problem, found in zip(cells, problems, solutions, strict=True):
            if len(found) == len(problem):
                shapes = [p.on_rows(s.beta) for p, s in zip(problem, found, strict=True)]
                each = fitted(cell.machine, self.target, found, shapes)
                if self.one:  # its solver has computed Kβ of the rows held out, too
                    f = of_rows(problem[0], found[0])
                    each = replace(each, decisions=f[fold.test, None])
                done.append((cell, each))
        return done

    def _score(self, done: Sequence[tuple[Cell, Fitted]], fold: Fold, parts: Parts) -> None:
        if not done:
            return
        decided = [found.decisions for _, found in done]
        if not self.one:
            coefs = [found.coef for _, found in done]
            decided = self.target.decide(parts.gram, fold.test, coefs)
        for (cell, found), values in zip(done, decided, strict=True):
            decisions = values + found.offsets
            began = perf_counter()
            try:
                rows = self.target, self.X, fold.test, decisions, self.weights
                scores = self.scores.of(cell.machine, *rows)
                known = replace(found, scores=scores, decisions=decisions)
                seconds = perf_counter() - began
                cell.folds[fold.number] = replace(known, score_seconds=seconds)
            except FAILURES as error:
                cell.folds[fold.number] = Fitted.failed(self.scores.names, error)


def at(work: Callable[[int], None], jobs: Sequence[int], k: int) -> None:
    """Do the k-th of these jobs."""
    work(jobs[k])
