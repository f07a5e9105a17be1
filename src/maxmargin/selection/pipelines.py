"""A search over a pipeline: the transformers before its machine are fitted for each fold.

As `GridSearchCV` over the pipeline does, the transformers are fitted to the training rows of a fold
and applied to those that it holds out. Within a fold all is as without transformers: one kernel
matrix per γ, and each C from the solution of the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import indexable

from maxmargin.conventions import take_rows
from maxmargin.machines.dual_machine import DualMachine
from maxmargin.resources.arrays import Data
from maxmargin.selection.cells import Cell, Fitted
from maxmargin.selection.evaluation import FAILURES, Evaluation, Fold
from maxmargin.selection.grid import Point
from maxmargin.selection.on_client import Client, ClientEvaluation
from maxmargin.selection.target import target_of, validated


@dataclass(frozen=True)
class Learner:
    """What is searched: a machine, alone or at the end of a pipeline.

    Attributes
    ----------
    whole : the machine or the pipeline, not fitted
    machine : the machine
    before : the transformers before it; None if there are none
    prefix : of its parameters' names in the whole
    """

    whole: DualMachine | Pipeline
    machine: DualMachine
    before: Pipeline | None
    prefix: str

    @classmethod
    def of(cls, whole: DualMachine | Pipeline) -> Learner:
        """The parts of a machine or of a pipeline."""
        if not isinstance(whole, Pipeline):
            return cls(whole, whole, None, "")
        name, machine = whole.steps[-1]
        return cls(whole, machine, whole[:-1] if len(whole) > 1 else None, f"{name}__")

    def transformed(self, X: Data, y: ArrayLike) -> Data:
        """X as the machine sees it, by transformers that are fitted to all rows."""
        return X if self.before is None else clone(self.before).fit_transform(*indexable(X, y))

    def fitted(self, params: Point, X: Data, y: ArrayLike, sample_weight: ArrayLike | None) -> Any:
        """The whole with these parameters, fitted; weights are the machine's."""
        whole = clone(self.whole).set_params(**params)
        if sample_weight is None:
            return whole.fit(X, y)
        routed = self.before is not None and get_config()["enable_metadata_routing"]
        name = "sample_weight" if routed else f"{self.prefix}sample_weight"
        return whole.fit(X, y, **{name: sample_weight})


class FoldwiseEvaluation:
    """An evaluation whose rows are transformed anew for each fold.

    Parameters
    ----------
    here : the evaluation, on rows that were transformed all together
    before : the transformers
    X : the rows as they were given
    client : distributed.Client, or None
    share : of each fold's rows that are used
    """

    def __init__(
        self, here: Evaluation, before: Pipeline, X: Data, client: Client, share: float = 1.0
    ) -> None:
        self.here, self.before, self.X, self.client, self.share = here, before, X, client, share
        self.machine, self.gamma, self.target = here.machine, here.gamma, here.target
        self.clock = here.clock

    def run(self, cells: Sequence[Cell], folds: Sequence[Fold], best: Callable[[], str]) -> None:
        """Fit these cells without each of these folds, and score them."""
        for fold in folds:
            if self.clock.over:
                return
            try:
                evaluation, own = self._on(fold)
            except KeyboardInterrupt:
                self.clock.stop.set()
            except FAILURES as error:
                for cell in cells:
                    cell.folds[fold.number] = Fitted.failed(self.here.scores.names, error)
            else:
                evaluation.run(cells, [own], best)

    def part(
        self, folds: Sequence[Fold], share: float
    ) -> tuple[FoldwiseEvaluation, Sequence[Fold]]:
        """The same with a share of the rows of each fold, which are drawn once transformed."""
        return FoldwiseEvaluation(self.here, self.before, self.X, self.client, share), folds

    def _on(self, fold: Fold) -> tuple[Evaluation | ClientEvaluation, Fold]:
        """The evaluation on the rows of a fold, those that are trained on first."""
        here, before, machine = self.here, clone(self.before), clone(self.machine)
        rows, count = np.concatenate([fold.train, fold.test]), len(fold.train)
        train = before.fit_transform(take_rows(self.X, fold.train), here.target.y[fold.train])
        test = before.transform(take_rows(self.X, fold.test))
        train, _ = validated(machine, train, here.target.y[fold.train])
        both = train, machine._validate(test, reset=False)
        evaluation = Evaluation(
            here.machine,
            sp.vstack(both, format="csr") if sp.issparse(train) else np.vstack(both),
            target_of(machine, here.target.y[rows]),
            None if here.weights is None else here.weights[rows],
            *(here.scores, here.clock, here.bar, here.threads),
        )
        own = Fold(fold.number, np.arange(count), np.arange(count, len(rows)))
        if self.share < 1:
            evaluation, (own,) = evaluation.part([own], self.share)
        if self.client is not None:
            return ClientEvaluation(evaluation, self.client), own
        return evaluation, own


AnyEvaluation = Evaluation | ClientEvaluation | FoldwiseEvaluation
