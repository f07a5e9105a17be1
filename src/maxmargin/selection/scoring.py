"""Scores of held-out rows, by scikit-learn's scorers, from decision values alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.metrics import check_scoring, get_scorer
from sklearn.utils.metadata_routing import get_routing_for_object

from maxmargin.hardware.arrays import Data, Floats, Labels, Numbers
from maxmargin.machines.dual_machine import DualMachine
from maxmargin.selection.target import Target

Scoring: TypeAlias = (
    "str | Callable[..., float] | list[str] | tuple[str, ...] | dict[str, Any] | None"
)
OWN = "score"  # the name of the only score, if there is one


class Decided(BaseEstimator):
    """A machine whose answers for the rows it is asked about are known already."""

    def __init__(self, predictions: Labels, values: Floats) -> None:
        self.predictions, self.values = predictions, values

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Data) -> Labels:
        """The predictions."""
        return self.predictions


class DecidedClassifier(ClassifierMixin, Decided):
    """The same of a classifier."""

    def __init__(self, predictions: Labels, values: Floats, classes: Labels) -> None:
        super().__init__(predictions, values)
        self.classes_ = classes

    def decision_function(self, X: Data) -> Floats:
        """The decision values."""
        return self.values


class DecidedRegressor(RegressorMixin, Decided):
    """The same of a regressor."""


class Scores:
    """One score or several.

    Parameters
    ----------
    machine : whose own score is meant if `scoring` is None
    scoring : a name or a function as in scikit-learn, or several as a list or a dict
    """

    def __init__(self, machine: DualMachine, scoring: Scoring) -> None:
        self.machine, self.scorers = machine, scorers_of(machine, scoring)

    @property
    def names(self) -> list[str]:
        """The names of the scores; `score` if there is one."""
        return list(self.scorers)

    @property
    def multiple(self) -> bool:
        """Whether there are several."""
        return self.names != [OWN]

    def of(
        self,
        target: Target,
        X: Data,
        rows: Numbers,
        decisions: Floats,
        weights: Floats | None,
    ) -> dict[str, float]:
        """The scores of held-out rows; weighted by scorers that request weights."""
        predictions = target.predictions(decisions)
        scores = {}
        for name, scorer in self.scorers.items():
            if scorer is None:
                own = None if weights is None else weights[rows]
                scores[name] = target.score(rows, predictions, own)
                continue
            values = target.values(self.machine, decisions)
            known = decided(target, predictions, values)
            weighted = weights is not None and wants_weights(scorer)
            options = {"sample_weight": weights[rows]} if weighted and weights is not None else {}
            scores[name] = float(scorer(known, X[rows], target.y[rows], **options))
        return scores


def decided(target: Target, predictions: Labels, values: Floats) -> Decided:
    """A stand-in for the machine, with these answers."""
    classes = getattr(target, "classes", None)
    if classes is None:
        return DecidedRegressor(predictions, values)
    return DecidedClassifier(predictions, values, classes)


def wants_weights(scorer: Any) -> bool:
    """Whether a scorer requests sample weights, by scikit-learn's metadata routing."""
    asked = get_routing_for_object(scorer).consumes("score", {"sample_weight"})
    return "sample_weight" in asked


def scorers_of(machine: DualMachine, scoring: Scoring) -> dict[str, Any]:
    """The scorers by name; None stands for the machine's own score."""
    if scoring is None:
        return {OWN: None}
    if isinstance(scoring, str):
        named = {OWN: get_scorer(scoring)}
    elif isinstance(scoring, Mapping):
        named = {name: check_scoring(machine, scoring=each) for name, each in scoring.items()}
    elif callable(scoring):
        named = {OWN: check_scoring(machine, scoring=scoring)}
    else:
        named = {name: get_scorer(name) for name in scoring}
    if not named:
        raise ValueError("scoring must name at least one score")
    for name, scorer in named.items():
        check_scorer(machine, scoring if name == OWN else name, scorer)
    return named


def check_scorer(machine: DualMachine, name: Any, scorer: Any) -> None:
    """Raise if a scorer cannot do with decision values and predictions."""
    needs = np.atleast_1d(getattr(scorer, "_response_method", "predict")).tolist()
    given = {"predict", "default", *(["decision_function"] if is_classifier(machine) else [])}
    if not given & {*needs}:
        raise ValueError(
            f"scoring={name!r} needs {' or '.join(needs)}, which the machines of a search do not "
            "have before they are calibrated: use a score of decision values or predictions, for "
            "example 'roc_auc', 'accuracy' or 'balanced_accuracy'"
        )
