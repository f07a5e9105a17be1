"""Blocks of rows that come once and are not kept: `partial_fit` of SVC and SVR with features.

Each call finds the β of its rows and adds them to w = Σ β_i φ(x_i); the β of earlier rows stay
what they were. With w⁰ the weights so far that is, in the primal,

    minimise  ½‖w − w⁰‖² + ½(b − b⁰)² + the loss of the block's rows:

the model stays near the old one, and the offset is regularised toward its last value like a weight.
The first call fixes φ, unless `fit` has; then the blocks add to its model. Blocks should have rows
of all classes: after a block of one class, that class is predicted everywhere. There is no
certificate: the primal value needs rows that are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from maxmargin.features.feature_gram import FeatureGram
from maxmargin.machines.feature_map import FeatureMap
from maxmargin.machines.plan import Machine
from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Data, Floats, Numbers
from maxmargin.solvers.features.proximal_newton import WIDTH, ProximalNewton

PROXIMAL_STEPS = 3  # per block: the next block moves the model again
MOST_STEPS = 100  # Newton steps per block, so that nothing hangs

Part = tuple[Numbers | slice, DualProblem]  # some rows of a block, and a problem of them


def streams(machine: Machine) -> bool:
    """Whether a machine can learn from blocks."""
    if machine.approximation is None or machine.refine:
        raise AttributeError(
            "partial_fit needs approximation='rff', 'nystroem' or a transformer, and refine=False: "
            "the exact machine needs all rows at once. A linear machine learns online with "
            "LinearSVC(solver='sgd') or LinearSVR(solver='sgd')"
        )
    return True


def is_first(machine: Machine) -> bool:
    """Whether nothing has been learned yet, neither by `fit` nor from blocks."""
    return not hasattr(machine, "feature_coef_")


def learn(machine: Machine, X: Data, parts: Sequence[Part]) -> None:
    """Update w and b of every problem by the rows of X; the first block makes φ."""
    if is_first(machine):
        kernel = machine._kernel().bind(X)
        first = FeatureMap.fitted(machine, kernel, X, None, machine.tol)
        vars(machine).update(first.fitted_attributes)
        machine.n_samples_seen_ = 0
        machine.feature_coef_ = np.zeros((len(parts), first.columns))
        machine.intercept_ = np.zeros(len(parts))
    elif not hasattr(machine, "n_samples_seen_"):
        machine.n_samples_seen_ = machine.shape_fit_[0]
    form: FeatureMap = vars(machine)["_form_"]
    gram = form.gram(machine, X, shared=False)
    machine.n_samples_seen_ += X.shape[0]
    for number, (rows, problem) in enumerate(parts):
        if problem.size:
            w, b = machine.feature_coef_[number], machine.intercept_[number]
            change, machine.intercept_[number] = learned(problem, gram.take(rows), w, b)
            machine.feature_coef_[number] += change


def learned(problem: DualProblem, gram: FeatureGram, w: Floats, b: float) -> tuple[Floats, float]:
    """What a block of rows adds to w, and the new b."""
    seen = problem.on_variables(gram.scores(w))
    newton = ProximalNewton(
        replace(problem, linear=problem.linear + seen), gram, np.zeros(gram.columns), b, WIDTH
    )
    steps = islice(newton.rounds(offset=False), MOST_STEPS)
    for _ in islice(filter(None, steps), PROXIMAL_STEPS):
        pass
    return newton.image, newton.b
