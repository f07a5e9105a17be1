"""Scores of held-out rows, by scikit-learn's scorers, from decision values alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, TypeAlias

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.metrics import check_scoring, get_scorer
from sklearn.utils.metadata_routing import get_routing_for_object

from maxmargin.machines.dual_machine import DualMachine
from maxmargin.resources.arrays import Data, Floats, Labels, Numbers
from maxmargin.selection.target import Target

Scoring: TypeAlias = (
    "str | Callable[..., float] | list[str] | tuple[str, ...] | dict[str, Any] | None"
)
OWN = "score"  # the name of the only score, if there is one


class Decided(BaseEstimator):
    """A machine whose answers for the rows it is asked about are known already.

    It has the parameters of that machine, but nothing of its fit.
    """

    def __init__(self, machine: DualMachine, predictions: Labels, values: Floats) -> None:
        self.machine, self.predictions, self.values = machine, predictions, values

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Those of the machine."""
        params: dict[str, Any] = self.machine.get_params(deep)
        return params

    def __getattr__(self, name: str) -> Any:
        machine = vars(self).get("machine")
        if machine is not None and name in machine.get_params():
            return getattr(machine, name)
        raise AttributeError(
            f"a scorer of a search cannot ask for {name!r}: it is given the predictions, decision "
            "values and parameters of a machine, not what its fit found; GridSearchCV gives it all"
        )

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Data) -> Labels:
        """The predictions."""
        return self.predictions


class DecidedClassifier(ClassifierMixin, Decided):
    """The same of a classifier."""

    def __init__(
        self, machine: DualMachine, predictions: Labels, values: Floats, classes: Labels
    ) -> None:
        super().__init__(machine, predictions, values)
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
        self.scorers = scorers_of(machine, scoring)
        # Asked here, for threads do not see scikit-learn's configuration.
        self._weighted = {name for name, scorer in self.scorers.items() if wants_weights(scorer)}

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
        machine: DualMachine,
        target: Target,
        X: Data,
        rows: Numbers,
        decisions: Floats,
        weights: Floats | None,
    ) -> dict[str, float]:
        """A machine's scores of held-out rows; weighted by scorers that take weights."""
        predictions = target.predictions(decisions)
        scores = {}
        for name, scorer in self.scorers.items():
            if scorer is None:
                own = None if weights is None else weights[rows]
                scores[name] = target.score(rows, predictions, own)
                continue
            known = decided(machine, target, predictions, target.values(machine, decisions))
            options = {}
            if weights is not None and name in self._weighted:
                options["sample_weight"] = weights[rows]
            value = scorer(known, X[rows], target.y[rows], **options)
            if isinstance(value, Mapping):
                raise TypeError(
                    "a scorer must return a number; for several give a dict of scorers, as in "
                    "scoring={'first': ..., 'second': ...}"
                )
            scores[name] = float(value)
        return scores


def decided(machine: DualMachine, target: Target, predictions: Labels, values: Floats) -> Decided:
    """A stand-in for the machine, with these answers."""
    classes = getattr(target, "classes", None)
    if classes is None:
        return DecidedRegressor(machine, predictions, values)
    return DecidedClassifier(machine, predictions, values, classes)


def wants_weights(scorer: Any) -> bool:
    """Whether a scorer takes sample weights; by its request, if scikit-learn routes metadata."""
    if scorer is None:
        return True
    if get_config()["enable_metadata_routing"]:
        asked = get_routing_for_object(scorer).consumes("score", {"sample_weight"})
        return "sample_weight" in asked
    return "sample_weight" in signature(getattr(scorer, "_score_func", scorer)).parameters


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
