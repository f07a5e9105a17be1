"""The C-path: the solutions of one machine as C grows, each begun at the one before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone, is_regressor

from maxmargin.machines.dual_machine import DualMachine
from maxmargin.machines.support_vectors import SupportVectors
from maxmargin.machines.validation import checked_weights
from maxmargin.problem import DualProblem, Solution
from maxmargin.resources.arrays import Data, Floats, Numbers
from maxmargin.results import Result
from maxmargin.selection.cells import fitted
from maxmargin.selection.fold_path import FoldPath
from maxmargin.selection.grid import checked
from maxmargin.selection.leave_one_out import held, leave_one_out
from maxmargin.selection.target import target_of, validated
from maxmargin.selection.tune import check_machine, tune


@dataclass(frozen=True, repr=False)
class CPath(Result):
    """Solutions along C. Sums over the problems of a machine of several classes.

    Attributes
    ----------
    Cs : the values of C, rising
    primal, dual : values of the objective; they differ by the gap
    margin : 1 / ‖w‖, the mean over the problems
    free, bounded : support vectors strictly inside the margin's bounds, and at C
    training_error, cv_error, loo_error : share of wrong predictions, or mean squared error; NaN
        where it was not asked for
    bounds : by name, the bounds of the leave-one-out error
    span : the span estimate of the leave-one-out error
    violation : the worst KKT violation
    """

    Cs: Floats
    primal: Floats
    dual: Floats
    margin: Floats
    free: Numbers
    bounded: Numbers
    training_error: Floats
    cv_error: Floats
    loo_error: Floats
    bounds: dict[str, Floats]
    span: Floats
    violation: Floats


def c_path(
    machine: DualMachine,
    X: Data,
    y: ArrayLike,
    Cs: int | ArrayLike = 10,
    *,
    cv: Any = 5,
    loo: bool = True,
    n_jobs: int | None = None,
    sample_weight: ArrayLike | None = None,
) -> CPath:
    """The solutions of a machine as C grows, with their errors.

    Parameters
    ----------
    machine : SVC, SVR or NuSVR; it is cloned
    X, y : rows and targets
    Cs : int or array, default=10
        How many values from 10⁻² to 10⁴, or the values.
    cv : int, splitter, iterable or None, default=5
        The folds of the cross-validated error; None leaves it out.
    loo : bool, default=True
        Whether the exact leave-one-out error and its bounds are computed.
    n_jobs : int, default=None
        Threads; None uses every core.
    sample_weight : array, default=None
        Multiplies C row by row, and weights the errors.

    Returns
    -------
    CPath

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> X, y = make_moons(60, noise=0.3, random_state=0)
    >>> path = c_path(SVC(gamma=1.0), X, y, [0.1, 1, 10])
    >>> bool((np.diff(path.margin) < 0).all()), bool((path.loo_error <= 1).all())
    (True, True)
    """
    check_machine(machine, None, "c_path takes an SVC, SVR or NuSVR")
    machine = clone(machine)
    X, y = validated(machine, X, y)
    values = checked("Cs", Cs, machine.C, lambda count: np.logspace(-2, 4, count))
    given, target = checked_weights(sample_weight, X), target_of(machine, y)
    weights = np.ones(target.n) if given is None else given
    gram, every = held(machine, X, given), np.arange(target.n)
    paths = [FoldPath(gram.take(split.rows)) for split in target.splits]
    rows = []
    for C in values.tolist():
        own = clone(machine).set_params(C=C)
        problems = target.problems(own, weights)
        solver = SupportVectors(gram.kernel).solver(own)
        solutions = [
            path.solve(problem, C, solver) for path, problem in zip(paths, problems, strict=True)
        ]
        shapes = [p.on_rows(s.beta) for p, s in zip(problems, solutions, strict=True)]
        found = fitted(own, target, solutions, shapes)
        (decisions,) = target.decide(gram, every, [found.coef])
        error = target.error(target.predictions(decisions + found.offsets), weights)
        rows.append((*kinds(problems, solutions), found.violation, error))
    primal, dual, margin, free, bounded, violation, training = np.array(rows, float).T
    left = []
    for C in values.tolist() if loo else ():
        own = clone(machine).set_params(C=C)
        left.append(leave_one_out(own, X, y, n_jobs=n_jobs, sample_weight=given))
    nothing = np.full(len(values), np.nan)
    names = sorted({name for each in left for name in each.bounds})
    return CPath(
        Cs=values,
        primal=primal,
        dual=dual,
        margin=margin,
        free=free.astype(int),
        bounded=bounded.astype(int),
        training_error=training,
        cv_error=nothing if cv is None else cv_error(machine, X, y, values, cv, n_jobs, given),
        loo_error=np.array([each.error for each in left]) if loo else nothing,
        bounds={
            name: np.array(
                [each.bounds[name].value if name in each.bounds else np.nan for each in left]
            )
            for name in names
        },
        span=np.array([each.span.value for each in left]) if loo else nothing,
        violation=violation,
    )


def kinds(problems: list[DualProblem], solutions: list[Solution]) -> tuple[float, ...]:
    """Primal and dual value, margin, and support vectors by kind."""
    primal = sum(each.values.primal for each in solutions)
    dual = sum(each.values.dual for each in solutions)
    margins, free, bounded = [], 0, 0
    for p, solution in zip(problems, solutions, strict=True):
        beta = solution.beta
        squared = float(beta @ (solution.gradient - p.linear))
        margins.append(1 / np.sqrt(squared) if squared > 0 else np.inf)
        inside = (p.lower < beta) & (beta < p.upper)
        free += int(np.count_nonzero(inside))
        bounded += int(np.count_nonzero((beta != 0) & ~inside))
    return primal, dual, float(np.mean(margins)), free, bounded


def cv_error(
    machine: DualMachine,
    X: Data,
    y: ArrayLike,
    Cs: Floats,
    cv: Any,
    n_jobs: int | None,
    weights: Floats | None,
) -> Floats:
    """The cross-validated error at each C."""
    numbers = is_regressor(machine)
    scoring = "neg_mean_squared_error" if numbers else None
    options = {"cv": cv, "scoring": scoring, "n_jobs": n_jobs, "sample_weight": weights}
    search = tune(machine, X, y, Cs=Cs, gammas=None, refit=False, **options)
    scores: Floats = search.cv_results_["mean_test_score"]
    return -scores if numbers else 1 - scores
