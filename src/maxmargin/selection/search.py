"""What a search found: every cell with its scores, and the best of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.machines.dual_machine import DualMachine
from maxmargin.resources.arrays import Data, Floats
from maxmargin.results import Result
from maxmargin.selection.cells import Cell
from maxmargin.selection.evaluation import Fold
from maxmargin.selection.grid import Grid, Point
from maxmargin.selection.scoring import Scores
from maxmargin.selection.target import Target


@dataclass(repr=False)
class Search(Result):
    """What `tune` found.

    Attributes
    ----------
    cv_results_ : dict of arrays, as of `GridSearchCV`, with `violation`, `relative_gap`,
        `n_iter`, `converged`, `stage` and `status` (finished, dropped, failed, not finished)
    best_index_, best_params_, best_score_ : the cell with the best mean score
    one_standard_error_index_ : the smallest C, then γ, within a standard error of the best
    best_estimator_ : the machine, or the pipeline, with the best parameters, fitted to all rows
    n_splits_ : number of folds
    scorer_ : the scores by name
    refit_time_, search_time_ : seconds
    status : "finished", "interrupted" or "out of time"
    notes : what the search has to say, for example that the best cell is at the edge of the grid
    """

    machine: DualMachine
    X: Data
    weights: Floats | None
    cells: list[Cell]
    grid: Grid
    folds: list[Fold]
    target: Target
    metric: str
    scores: Scores
    status: str
    notes: list[str]
    search_time_: float
    prefix: str = ""  # of the parameters' names: the machine's step of a pipeline
    refit_time_: float = 0.0
    best_estimator_: Any = field(init=False)

    def __post_init__(self) -> None:
        self.cv_results_ = results(self.cells, self.scores.names, self.prefix)
        self.best_index_ = best_of(self.cells, self.metric)
        self.one_standard_error_index_ = simplest(self.cells, self.best_index_, self.metric)

    @property
    def best_cell(self) -> Cell:
        """The cell itself, with its out-of-fold decisions."""
        return self.cells[self.best_index_]

    @property
    def best_params_(self) -> Point:
        """The parameters of the best cell."""
        return named(self.best_cell.params, self.prefix)

    @property
    def best_score_(self) -> float:
        """Its mean score over the folds."""
        return self.best_cell.mean(self.metric)

    @property
    def n_splits_(self) -> int:
        """Number of folds."""
        return len(self.folds)

    @property
    def scorer_(self) -> dict[str, Any]:
        """The scorers by name; None stands for the machine's own score."""
        return self.scores.scorers

    def decisions(self) -> Floats:
        """Decision values of every row by the best cell's machine that was fitted without it.

        One column per problem; NaN for rows that no fold holds out. The mean if several do.
        """
        total = np.zeros((self.target.n, len(self.target.splits)))
        count = np.zeros((self.target.n, 1))
        for fold in self.folds:
            total[fold.test] += self.best_cell.folds[fold.number].decisions
            count[fold.test] += 1
        with np.errstate(invalid="ignore"):
            return total / np.where(count, count, np.nan)

    def _shown(self) -> dict[str, str]:
        tried = sum(cell.complete for cell in self.cells)
        return {
            "machine": type(self.machine).__name__,
            "cells": f"{tried} of {len(self.cells)}",
            "folds": str(self.n_splits_),
            "best_score_": f"{self.best_score_:.4f}",
            "best_params_": f"{{{shown(self.best_params_)}}}",
            "status": self.status,
        }


def best_of(cells: list[Cell], metric: str) -> int:
    """The number of the complete cell with the best mean score: the first, if several have it."""
    return int(np.nanargmax([cell.mean(metric) if cell.complete else np.nan for cell in cells]))


def simplest(cells: list[Cell], best: int, metric: str) -> int:
    """The smallest C, then the smallest γ, whose mean is within a standard error of the best."""
    scores = cells[best].scores(metric)
    error = float(scores.std(ddof=1)) / np.sqrt(len(scores)) if len(scores) > 1 else 0.0
    close = [
        number
        for number, cell in enumerate(cells)
        if cell.complete and cell.mean(metric) >= scores.mean() - error
    ]
    return min(close, key=lambda number: (cells[number].machine.C, cells[number].order))


def named(point: Point, prefix: str) -> Point:
    """The same parameters by their names in the pipeline."""
    return {f"{prefix}{name}": value for name, value in point.items()}


def results(cells: list[Cell], names: list[str], prefix: str) -> dict[str, Any]:
    """`cv_results_` as scikit-learn has it, and what the certificates say."""
    table: dict[str, Any] = {}
    for name, of in (("fit", "seconds"), ("score", "score_seconds")):
        seconds = np.array([times(cell, of) for cell in cells])
        with np.errstate(invalid="ignore"):
            mean, spread = seconds.mean(axis=1), seconds.std(axis=1)
        table[f"mean_{name}_time"], table[f"std_{name}_time"] = mean, spread
    for name in cells[0].params:
        given = [cell.params[name] for cell in cells]
        kind = object if any(isinstance(value, str) for value in given) else float
        values = np.ma.MaskedArray(np.array(given, kind), mask=np.zeros(len(cells), bool))
        table[f"param_{prefix}{name}"] = values
    table["params"] = [named(cell.params, prefix) for cell in cells]
    for name in names:
        found = np.array([cell.scores(name) for cell in cells])
        for k in range(found.shape[1]):
            table[f"split{k}_test_{name}"] = found[:, k]
        mean = found.mean(axis=1)
        table[f"mean_test_{name}"], table[f"std_test_{name}"] = mean, found.std(axis=1)
        table[f"rank_test_{name}"] = ranks(mean)
    for name in ("violation", "relative_gap"):
        table[name] = np.array([worst(cell, name) for cell in cells])
    table["n_iter"] = np.array([sum(f.n_iter for f in cell.folds.values()) for cell in cells])
    table["converged"] = np.array(
        [cell.complete and all(f.converged for f in cell.folds.values()) for cell in cells]
    )
    table["stage"] = np.array([cell.stage for cell in cells])
    table["status"] = np.array([cell.status for cell in cells])
    return table


def times(cell: Cell, name: str) -> Floats:
    """Seconds of the fit without each fold, or of its scores."""
    found = np.full(cell.n_folds, np.nan)
    for k, each in cell.folds.items():
        found[k] = getattr(each, name)
    return found


def worst(cell: Cell, name: str) -> float:
    """The largest value over the folds; NaN if there is none."""
    return max((getattr(each, name) for each in cell.folds.values()), default=np.nan)


def ranks(mean: Floats) -> Floats:
    """1 for the best; cells without a score share the last rank."""
    known = np.where(np.isnan(mean), -np.inf, mean)
    return np.array([1 + np.count_nonzero(known > value) for value in known], np.int32)


def shown(params: Point) -> str:
    """Parameters for a line of text."""
    return ", ".join(f"{name}={in_words(value)}" for name, value in params.items())


def in_words(value: float | str) -> str:
    """A number in four digits, or a rule."""
    return repr(value) if isinstance(value, str) else f"{value:.4g}"
