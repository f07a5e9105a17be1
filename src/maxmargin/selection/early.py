"""Which folds and rows a cell is tried on before it is given up: all, by default.

`Racing` (Maron and Moore, 1994) tries one fold after the other and drops the cells that are worse
than the best beyond doubt, by a paired t-test over the folds so far. `Halving` (Jamieson and
Talwalkar, 2016) tries all cells on a few rows, the better third of them on three times as many, and
so on. Both may drop a cell that would have won: the default drops none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from maxmargin.resources.arrays import Floats
from maxmargin.selection.cells import Cell
from maxmargin.selection.evaluation import Fold
from maxmargin.selection.pipelines import AnyEvaluation

DOUBT = 0.05  # chance to drop a cell that is as good as the best, at each test
SHARE = 3  # of the cells one in so many goes on, on so many times the rows
FEWEST = 200  # rows that say something


class Leader(Protocol):
    """What is known of all cells so far."""

    metric: str

    def line(self) -> str: ...


class Early(Protocol):
    """A rule that tries cells."""

    def run(
        self, evaluation: AnyEvaluation, cells: Sequence[Cell], folds: Sequence[Fold], lead: Leader
    ) -> None:
        """Fit the cells without each fold, or give them up."""


class Every:
    """Every cell on every fold: exact."""

    def run(
        self, evaluation: AnyEvaluation, cells: Sequence[Cell], folds: Sequence[Fold], lead: Leader
    ) -> None:
        evaluation.run(cells, folds, lead.line)


class Racing:
    """One fold after the other; cells that fall behind are dropped."""

    def run(
        self, evaluation: AnyEvaluation, cells: Sequence[Cell], folds: Sequence[Fold], lead: Leader
    ) -> None:
        left = list(cells)
        for count, fold in enumerate(folds, start=1):
            evaluation.run(left, [fold], lead.line)
            if evaluation.clock.over:
                return
            if 1 < count < len(folds):
                for cell in behind(left, lead.metric):
                    cell.dropped = True
                left = [cell for cell in left if not cell.dropped]


def behind(cells: Sequence[Cell], metric: str) -> list[Cell]:
    """The cells that are worse than the best by a one-sided paired t-test."""
    from scipy.stats import t as student  # slow to import, and seldom used

    scores = np.array([[each.scores[metric] for each in cell.folds.values()] for cell in cells])
    means = scores.mean(axis=1)  # NaN if a fold failed: such a cell cannot win
    if np.isnan(means).all():
        return []
    lost: Floats = scores[np.nanargmax(means)] - scores
    error = lost.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
    limit = student.ppf(1 - DOUBT, scores.shape[1] - 1)
    return [
        cell
        for cell, mean, own in zip(cells, lost.mean(axis=1), error, strict=True)
        if mean > limit * own and mean > 0
    ]


class Halving:
    """All cells on a few rows, the better third on three times as many, and so on."""

    def run(
        self, evaluation: AnyEvaluation, cells: Sequence[Cell], folds: Sequence[Fold], lead: Leader
    ) -> None:
        n, left = evaluation.target.n, list(cells)
        rounds = int(np.log(max(n / FEWEST, 1)) / np.log(SHARE))
        rounds = min(rounds, int(np.log(max(len(left), 1)) / np.log(SHARE)))
        for k in range(rounds, 0, -1):
            trial = [cell.fresh() for cell in left]
            part, some = evaluation.part(folds, 1 / SHARE**k)
            part.run(trial, some, lead.line)
            if evaluation.clock.over:
                return
            means = np.array([cell.mean(lead.metric) for cell in trial])
            order = np.argsort(-np.where(np.isnan(means), -np.inf, means), kind="stable")
            kept = {*order[: max(1, -(-len(left) // SHARE))].tolist()}
            for number, cell in enumerate(left):
                cell.dropped = number not in kept
            left = [cell for cell in left if not cell.dropped]
        evaluation.run(left, folds, lead.line)


EARLY: dict[str | None, type[Every] | type[Racing] | type[Halving]] = {
    None: Every,
    "racing": Racing,
    "halving": Halving,
}
