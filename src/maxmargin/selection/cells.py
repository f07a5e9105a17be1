"""The cells of a search: the machines to try, and what was found of each, fold by fold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.base import clone

from maxmargin.machines.dual_machine import DualMachine
from maxmargin.problem import Solution, Status
from maxmargin.resources.arrays import Floats
from maxmargin.selection.grid import Point
from maxmargin.selection.target import Target


@dataclass(frozen=True)
class Fitted:
    """A machine fitted without a fold, and its scores on that fold.

    Attributes
    ----------
    scores : by name; NaN if it failed
    decisions : of the fold's rows, one column per problem
    coef, offsets : of the decision functions, the former over all rows
    seconds, score_seconds : of the fit, and of its scores
    violation, relative_gap : the worst of its problems
    n_iter : steps of all its problems
    converged : whether all its problems did
    error : what went wrong, if anything
    """

    scores: dict[str, float]
    decisions: Floats
    coef: Floats
    offsets: Floats
    seconds: float
    violation: float
    relative_gap: float
    n_iter: int
    converged: bool
    error: Exception | None = None
    score_seconds: float = np.nan

    @classmethod
    def failed(cls, names: Iterable[str], error: Exception) -> Fitted:
        """One that could not be fitted or scored."""
        none, nan = np.empty((0, 0)), np.nan
        return cls(dict.fromkeys(names, nan), none, none, none, nan, nan, nan, 0, False, error)


@dataclass
class Cell:
    """One machine of a search.

    Attributes
    ----------
    params : its parameters, of those that are searched
    machine : a machine with these parameters
    gamma : γ of its kernel or a rule for it, if that is searched: cells of one γ share their matrix
    n_folds : how many there are
    stage : the grid in which it was first tried: 0, or a later one of `refine`
    dropped : whether it was given up early
    forgotten : whether only its scores are kept
    folds : what was found without each fold, by its number
    """

    params: Point
    machine: DualMachine
    gamma: float | str | None
    n_folds: int
    stage: int = 0
    dropped: bool = False
    forgotten: bool = False
    folds: dict[int, Fitted] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every fold was fitted and scored."""
        return len(self.folds) == self.n_folds and not self.failed

    @property
    def failed(self) -> bool:
        """Whether a fold failed."""
        return any(each.error is not None for each in self.folds.values())

    def scores(self, name: str) -> Floats:
        """The score of each fold; NaN where there is none."""
        found = np.full(self.n_folds, np.nan)
        for k, each in self.folds.items():
            found[k] = each.scores[name]
        return found

    def mean(self, name: str) -> float:
        """The mean score; NaN if a fold is missing."""
        return float(self.scores(name).mean())

    @property
    def order(self) -> tuple[bool, str | float]:
        """Sorts cells by γ, rules after numbers."""
        return isinstance(self.gamma, str), self.gamma or 0.0

    @property
    def status(self) -> str:
        """How far it got: finished, failed, dropped or not finished."""
        if self.failed:
            return "failed"
        if self.complete:
            return "finished"
        return "dropped" if self.dropped else "not finished"

    def fresh(self) -> Cell:
        """The same cell, not yet tried."""
        return replace(self, folds={})

    def forget(self) -> None:
        """Free the memory of decisions and coefficients: only those of the best cell are used."""
        none, self.forgotten = np.empty((0, 0)), True
        for number, each in self.folds.items():
            self.folds[number] = replace(each, decisions=none, coef=none)


def cells_of(
    machine: DualMachine,
    points: Sequence[Point],
    gamma: str | None,
    n_folds: int,
    stage: int,
) -> list[Cell]:
    """A cell for each point of a grid."""
    plain = clone(machine)
    return [
        Cell(point, clone(plain).set_params(**point), point.get(gamma or ""), n_folds, stage)
        for point in points
    ]


def fitted(
    machine: DualMachine, target: Target, solutions: Sequence[Solution], shapes: Sequence[Floats]
) -> Fitted:
    """What the solutions of a machine's problems say, before it is scored.

    `shapes` are their coefficients over the rows of each problem.
    """
    decoded = [
        machine._decode(beta, each.offsets) for beta, each in zip(shapes, solutions, strict=True)
    ]
    return Fitted(
        scores={},
        decisions=np.empty((0, 0)),
        coef=target.scheme.scatter(target.splits, [coef for coef, _ in decoded], target.n),
        offsets=np.array([b for _, b in decoded]),
        seconds=sum(each.seconds for each in solutions),
        violation=max(each.values.violation for each in solutions),
        relative_gap=max(0.0, *(each.values.relative_gap for each in solutions)),
        n_iter=sum(each.n_iter for each in solutions),
        converged=all(each.status is Status.CONVERGED for each in solutions),
    )
