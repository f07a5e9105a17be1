"""`tune`: choose C, γ and ε by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import indexable

from maxmargin.machines.dual_machine import DualMachine
from maxmargin.machines.validation import checked_weights, warn
from maxmargin.resources.arrays import Data, Floats, Numbers
from maxmargin.selection.cells import Cell, cells_of
from maxmargin.selection.early import EARLY, Early
from maxmargin.selection.evaluation import Clock, Evaluation, Fold
from maxmargin.selection.grid import Grid, Range, grid_of
from maxmargin.selection.on_client import ClientEvaluation
from maxmargin.selection.pipelines import AnyEvaluation, FoldwiseEvaluation, Learner
from maxmargin.selection.progress import SearchBar
from maxmargin.selection.scoring import OWN, Scores, Scoring
from maxmargin.selection.search import Search, best_of, shown
from maxmargin.selection.target import Target, check_sums, target_of, validated

Refit: TypeAlias = "bool | str | Callable[[dict[str, Any]], int]"

TAKES = "tune takes an SVC, SVR or NuSVR, or a pipeline that ends in one"
WIDENED = 4  # times at most that a grid goes on beyond its edge


def tune(
    machine: DualMachine | Pipeline,
    X: Data,
    y: ArrayLike,
    *,
    Cs: Range = 10,
    gammas: Range = 10,
    epsilons: Range = None,
    cv: Any = 5,
    scoring: Scoring = None,
    n_jobs: int | None = None,
    refit: Refit = True,
    refine: bool = False,
    early: str | None = None,
    max_time: float | None = None,
    verbose: int | bool = 0,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    client: Any = None,
) -> Search:
    """Choose C, γ and ε by cross-validation: the result of a plain loop, without its waste.

    Every cell of the grid is fitted without each fold, to the machine's own `tol`, and scored on
    that fold. Kernel matrices are shared by folds and values of C, and each C begins at the
    solution of the one before.

    Parameters
    ----------
    machine : SVC, SVR or NuSVR, or a pipeline that ends in one; it is cloned
        The transformers of a pipeline are fitted to the training rows of each fold, and parameters
        are named as in `GridSearchCV`: `svc__C`.
    X, y : rows and targets
    Cs : int or array, default=10
        How many values from 10⁻² to 10⁴, or the values.
    gammas : int or array, default=10
        How many values, two decades on either side of the inverse median squared distance, or the
        values, among them the rules "scale" and "auto": γ of each fold's training rows. None keeps
        the machine's own; a kernel without γ has no such axis.
    epsilons : int or array, default=None
        Half widths of the tube of an SVR, as many from 10⁻³ to 1. None keeps the machine's own.
    cv : int, splitter or iterable of (train, test), default=5
    scoring : str, callable, list, dict or None
        As in `GridSearchCV`; None for the machine's own `score`.
    n_jobs : int, default=None
        Threads; None uses every core.
    refit : bool, str or callable, default=True
        Fit the best machine to all rows. Of several scores, the name of the one that counts; it is
        the first if refit=False. As in `GridSearchCV`, a function of `cv_results_` may choose: it
        returns the number of the cell.
    refine : bool, default=False
        Go on beyond an edge of the grid if the best cell is there, then try a finer grid around it.
    early : None, "racing" or "halving", default=None
        Give up cells early that hardly can win: after each fold by a test against the best
        (racing), or on a part of the rows (halving). None is exact.
    max_time : float, default=None
        Seconds after which the best so far is returned, as Ctrl-C does.
    verbose : int, default=0
        1 shows a progress bar.
    sample_weight : array, default=None
        Multiplies C row by row, and weights the machine's own score and scorers that take
        weights; if scikit-learn routes metadata, those that request them. Transformers of a
        pipeline are fitted without weights.
    groups : array, default=None
        For splitters that need them.
    client : distributed.Client, default=None
        A cluster of Dask whose workers fit the cells, those of one γ together; None fits them here.

    Returns
    -------
    Search

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> search = tune(SVC(), X, y, Cs=[0.1, 1, 10], gammas=[0.01, 0.1, 1])
    >>> search.best_params_
    {'C': 1.0, 'gamma': 0.1}
    >>> round(search.best_score_, 2), search.best_estimator_.certificate_.status.value
    (0.98, 'converged')

    Columns are standardised by the means and spreads of the rows that a fold trains on:

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> pipeline = make_pipeline(StandardScaler(), SVC())
    >>> search = tune(pipeline, X, y, Cs=[0.1, 1, 10], gammas=["scale", 0.1])
    >>> search.best_params_
    {'svc__C': 1.0, 'svc__gamma': 0.1}
    >>> search.best_estimator_
    Pipeline(steps=[('standardscaler', StandardScaler()), ('svc', SVC(gamma=0.1))])
    """
    clock, learner = Clock(max_time), Learner.of(machine)
    check_machine(learner.machine, max_time, TAKES)
    if learner.before is not None and learner.machine._kernel().precomputed:
        raise ValueError(
            "the transformers of a pipeline cannot be given a kernel matrix here: tune the machine "
            "alone, or use GridSearchCV"
        )
    machine, given = clone(learner.machine), (X, y)
    X, y = validated(machine, learner.transformed(X, y), y)
    weights = checked_weights(sample_weight, X)
    target, scores = target_of(machine, y), Scores(machine, scoring)
    metric = metric_of(scores, refit)
    folds = folds_of(cv, X, y, groups, target, weights)
    there = X if weights is None or machine._kernel().precomputed else X[weights > 0]
    grid = grid_of(machine, there, Cs, gammas, epsilons)
    method = EARLY[early]() if early in EARLY else unknown(early)
    ranking = Ranking(metric)
    with SearchBar(f"tune {type(machine).__name__}", shown=bool(verbose)) as bar:

        def evaluation(clock: Clock, client: Any) -> AnyEvaluation:
            here = Evaluation(machine, X, target, weights, scores, clock, bar, n_jobs)
            if learner.before is not None:
                return FoldwiseEvaluation(here, learner.before, indexable(given[0])[0], client)
            return here if client is None else ClientEvaluation(here, client)

        notes = explore(evaluation(clock, client), grid, folds, method, ranking, refine=refine)
        for note in notes:
            bar.say(note)
    status = "interrupted" if clock.stop.is_set() else "out of time" if clock.over else "finished"
    check_found(ranking.cells, metric, status)
    search = Search(
        *(machine, X, weights, ranking.cells, grid, folds, target, metric, scores, status, notes),
        search_time_=clock.seconds,
        prefix=learner.prefix,
    )
    warn_of_failures(search)
    if callable(refit):
        search.best_index_ = chosen(refit, search)
        if search.best_cell.forgotten:  # its decisions were not the best: once more, in any time
            recall(search.best_cell, evaluation(Clock(None), None), folds)
    if refit:
        began = perf_counter()
        search.best_estimator_ = learner.fitted(search.best_params_, *given, sample_weight)
        search.refit_time_ = perf_counter() - began
    return search


class Ranking:
    """All cells so far and the best of them, whose decisions alone are kept."""

    def __init__(self, metric: str) -> None:
        self.metric, self.cells = metric, list[Cell]()

    def best(self) -> Cell | None:
        """The best complete cell that has a score."""
        kept = [cell for cell in self.cells if not cell.forgotten and cell.complete]
        kept = [cell for cell in kept if not np.isnan(cell.mean(self.metric))]
        if not kept:
            return None
        best = kept[best_of(kept, self.metric)]
        for cell in kept:
            if cell is not best:
                cell.forget()
        return best

    def line(self) -> str:
        """The best for the progress bar."""
        best = self.best()
        return "–" if best is None else f"{best.mean(self.metric):.4f} at {shown(best.params)}"


def explore(
    evaluation: AnyEvaluation,
    grid: Grid,
    folds: Sequence[Fold],
    early: Early,
    ranking: Ranking,
    *,
    refine: bool,
) -> list[str]:
    """Try every cell of the grid; beyond its edges and more finely if asked. Returns the notes."""
    notes: list[str] = []
    now = grid
    for stage in range(WIDENED + 2 if refine else 1):
        known = {tuple(cell.params.items()) for cell in ranking.cells}
        points = [point for point in now.cells if tuple(point.items()) not in known]
        cells = cells_of(evaluation.machine, points, evaluation.gamma, len(folds), stage)
        ranking.cells.extend(cells)
        early.run(evaluation, cells, folds, ranking)
        best = ranking.best()
        if best is None or evaluation.clock.over:
            break
        whole = Grid({name: values_of(ranking.cells, name) for name in grid.axes})
        edges = [name for name in whole.axes if whole.edge(name, best.params[name])]
        if not refine:
            notes += [
                f"the best {name}={best.params[name]:.4g} is at the edge of its range: a better "
                "one may lie beyond; refine=True goes on there"
                for name in edges
            ]
            break
        if stage and not edges and not notes[-1].startswith("the best"):
            break  # the finer grid has been tried
        now, said = whole.around(best.params)
        if not said:
            break  # one value of everything is as fine as it gets
        notes += said
    return notes


def values_of(cells: Sequence[Cell], name: str) -> Floats:
    """Every number that was tried for a parameter."""
    values = [cell.params[name] for cell in cells]
    return np.unique([value for value in values if not isinstance(value, str)])


def check_machine(machine: Any, max_time: float | None, takes: str) -> None:
    """Raise if a search cannot take this machine; `takes` says which it can."""
    if not isinstance(machine, DualMachine) or "C" not in machine.get_params():
        raise TypeError(f"{takes}, not {machine!r}; GridSearchCV takes any estimator")
    machine._validate_params()
    if machine.get_params().get("approximation") is not None:
        raise ValueError(
            "tune works on the kernel itself: use approximation=None, or GridSearchCV for a "
            "machine on features"
        )
    check_sums(machine, "a search", "GridSearchCV")
    if max_time is not None and not max_time > 0:
        raise ValueError(f"max_time={max_time!r} must be positive, or None")


def metric_of(scores: Scores, refit: Refit) -> str:
    """The name of the score that decides."""
    if scores.names == [OWN] or refit is False or callable(refit):
        return scores.names[0]
    if isinstance(refit, str) and refit in scores.names:
        return refit
    raise ValueError(
        f"with several scores refit must name the one that counts, one of {scores.names}; got "
        f"refit={refit!r}"
    )


def chosen(refit: Callable[[dict[str, Any]], int], search: Search) -> int:
    """The number of the cell that a function chooses, which must be finished."""
    number, states = refit(search.cv_results_), search.cv_results_["status"]
    finished = np.flatnonzero(states == "finished")
    if not np.any(finished == number):
        raise ValueError(
            f"refit chose {number!r}, which is not the number of a finished cell: these are "
            f"{finished.tolist()}"
        )
    return int(number)


def recall(cell: Cell, evaluation: AnyEvaluation, folds: Sequence[Fold]) -> None:
    """Find decisions and coefficients again that a cell has forgotten; its scores stay."""
    again = cell.fresh()
    evaluation.run([again], folds, str)
    for number, found in again.folds.items():
        cell.folds[number] = replace(found, scores=cell.folds[number].scores)


def folds_of(
    cv: Any, X: Data, y: ArrayLike, groups: ArrayLike | None, target: Target, weights: Floats | None
) -> list[Fold]:
    """The folds, each checked to leave enough to train on."""
    splitter = check_cv(cv, y, classifier=hasattr(target, "classes"))
    folds = []
    for number, (train, test) in enumerate(splitter.split(X, y, groups)):
        train, test = (rows_of(part, target.n, number) for part in (train, test))
        inside = train if weights is None else train[weights[train] > 0]
        target.check(inside, f"fold {number}")
        if not len(test) or (weights is not None and not weights[test].any()):
            raise ValueError(f"fold {number} holds out no row that has a weight: use other folds")
        folds.append(Fold(number, train, test))
    if not folds:
        raise ValueError(f"cv={cv!r} gives no folds")
    return folds


def rows_of(part: Any, n: int, number: int) -> Numbers:
    """The numbers of a fold's rows, which may be given as a mask."""
    try:
        rows: Numbers = np.arange(n)[part]
    except IndexError as error:
        raise ValueError(f"fold {number} has rows that are not among the {n}: {error}") from error
    return rows


def unknown(early: str | None) -> NoReturn:
    """Raise for a value of `early` that there is not."""
    raise ValueError(f"early={early!r} is not one of {list(EARLY)}")


def check_found(cells: Sequence[Cell], metric: str, status: str) -> None:
    """Raise if no cell was finished and has a score, with the reason."""
    complete = [cell for cell in cells if cell.complete]
    if not all(np.isnan(cell.mean(metric)) for cell in complete):
        return
    for cell in complete[:1]:
        number = int(np.isnan(cell.scores(metric)).argmax())
        raise ValueError(
            f"no cell has a score: {metric!r} is NaN in fold {number} of {shown(cell.params)}, and "
            "in some fold of every other; use another score, or folds with more rows"
        )
    for cell in cells:
        for number, found in sorted(cell.folds.items()):
            if found.error is not None:
                raise ValueError(
                    f"every cell failed; fold {number} of {shown(cell.params)}: {found.error}"
                ) from found.error
    if status == "interrupted":
        raise KeyboardInterrupt("before all folds of any cell were fitted")
    raise TimeoutError(
        f"the search was {status} before all folds of any cell were fitted: give it more time, "
        "fewer values, fewer folds or fewer rows"
    )


def warn_of_failures(search: Search) -> None:
    """Warn of cells that failed and of fits that did not converge, naming one of each."""
    failed = [(c, k, f.error) for c in search.cells for k, f in c.folds.items() if f.error]
    if failed:
        cell, number, error = failed[0]
        warn(
            f"{len(failed)} fits failed and their cells do not count; the first is fold {number} "
            f"of {shown(cell.params)}: {error!r}",
            FitFailedWarning,
        )
    rough = [
        (cell, number, found)
        for cell in search.cells
        for number, found in cell.folds.items()
        if not found.converged and found.error is None
    ]
    if rough:
        cell, number, found = max(rough, key=lambda each: each[2].violation)
        warn(
            f"{len(rough)} of {sum(len(c.folds) for c in search.cells)} fits did not converge to "
            f"tol={search.machine.tol:g}; the worst is fold {number} of {shown(cell.params)}, with "
            f"a KKT violation of {found.violation:.3g}. Their scores are those of the model so "
            "far: scale the data, or leave out the largest C",
            ConvergenceWarning,
        )
