"""Prediction intervals from out-of-fold residuals: jackknife+ and CV+.

With R_i = |y_i − f₋ᵢ(x_i)|, f₋ᵢ fitted without row i (jackknife+) or without its fold (CV+), the
interval of x is

    from the ⌊α(n + 1)⌋-th smallest of f₋ᵢ(x) − R_i
    to the ⌈(1 − α)(n + 1)⌉-th smallest of f₋ᵢ(x) + R_i

and covers the answer with a probability of at least 1 − 2α (for K folds, up to a term that is small
if folds have many rows or few), and of about 1 − α in practice, whatever the distribution is, as
long as rows are exchangeable.

Reference: R. F. Barber, E. J. Candès, A. Ramdas, R. J. Tibshirani, Predictive inference with the
jackknife+, Annals of Statistics 49 (2021), 486–507.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, floor

import numpy as np

from maxmargin.gram import cross_dot
from maxmargin.kernels import Kernel
from maxmargin.kernels.gamma import gamma_of
from maxmargin.machines.dual_machine import DualMachine
from maxmargin.resources.arrays import Data, Floats, Mask, Numbers
from maxmargin.resources.threads import thread_count
from maxmargin.selection.leave_one_out import LeaveOneOut
from maxmargin.selection.search import Search


def interval(values: Floats, residuals: Floats, fold: Numbers, coverage: float) -> Floats:
    """Lower and upper end for each new row.

    Parameters
    ----------
    values : ndarray of shape (n_new, n_models), f₋ₖ of the new rows
    residuals : ndarray of shape (n,), |y_i − f₋ₖ(x_i)| with the model k that row i was held out of
    fold : ndarray of shape (n,), that k
    coverage : 1 − α, between 0 and 1

    Returns
    -------
    ndarray of shape (n_new, 2); infinite where there are too few rows for the coverage

    Examples
    --------
    >>> interval(np.zeros((1, 1)), np.arange(1.0, 20.0), np.zeros(19, int), 0.9)
    array([[-18.,  18.]])
    """
    if not 0 < coverage < 1:
        raise ValueError(f"coverage={coverage!r} must be between 0 and 1")
    n, alpha = len(residuals), 1 - coverage
    slack = 1e-9 * n  # α(n + 1) that is whole but for rounding
    low, high = floor(alpha * (n + 1) + slack), ceil((1 - alpha) * (n + 1) - slack)
    ends = np.empty((len(values), 2))
    for row, each in enumerate(values):
        centre = each[fold]
        lower, upper = np.sort(centre - residuals), np.sort(centre + residuals)
        ends[row] = (
            lower[low - 1] if low >= 1 else -np.inf,
            upper[high - 1] if high <= n else np.inf,
        )
    return ends


@dataclass(frozen=True)
class FoldModels:
    """The machines that were fitted without each fold, or without each row.

    Attributes
    ----------
    vectors : the training rows that any of them uses
    coef, offsets : of each machine, the former over these rows
    residuals : |y_i − f₋ₖ(x_i)| of the rows that were held out
    model : the machine k that each of them was held out of
    columns : the numbers of the rows that are used, for a precomputed kernel
    scales : γ by the rule "scale" on the rows of each machine; None if all have one kernel
    """

    vectors: Data
    coef: Floats
    offsets: Floats
    residuals: Floats
    model: Numbers
    columns: Numbers
    scales: Floats | None = None

    @classmethod
    def of(cls, search: Search) -> FoldModels:
        """Those of the best cell of a search."""
        found = [search.best_cell.folds[fold.number] for fold in search.folds]
        coef = np.vstack([each.coef for each in found])
        residuals = [
            np.abs(search.target.y[fold.test] - each.decisions[:, 0])
            for fold, each in zip(search.folds, found, strict=True)
        ]
        model = np.repeat(np.arange(len(found)), [len(each) for each in residuals])
        offsets = np.concatenate([each.offsets for each in found])
        machine, residual = search.best_cell.machine, np.concatenate(residuals)
        there = counted(search)[np.concatenate([fold.test for fold in search.folds])]
        models = cls.made(machine, search.X, coef, offsets, residual[there], model[there])
        return replace(models, scales=scales_of(search, machine._kernel()))

    @classmethod
    def left_out(cls, machine: DualMachine, left: LeaveOneOut, search: Search) -> FoldModels:
        """Those of leave-one-out: one for each row."""
        coef = np.vstack([each for each, _ in left.models])
        offsets = np.array([b for _, b in left.models])
        residuals, rows = (
            np.abs(search.target.y - left.predictions),
            np.flatnonzero(counted(search)),
        )
        return cls.made(machine, search.X, coef, offsets, residuals[rows], rows)

    @classmethod
    def made(
        cls,
        machine: DualMachine,
        X: Data,
        coef: Floats,
        offsets: Floats,
        residuals: Floats,
        model: Numbers,
    ) -> FoldModels:
        """Of coefficients over all rows."""
        used = np.flatnonzero(coef.any(axis=0))
        rows = machine._kernel().vectors(X, used)
        return cls(rows, coef[:, used], offsets, residuals, model, used)

    def interval(self, machine: DualMachine, X: Data, coverage: float) -> Floats:
        """The interval of each new row."""
        if machine.kernel_.precomputed:
            X = machine._validate(X, reset=False)[:, self.columns]
        else:
            X = machine._validate_for_prediction(X)
        kernels, parts = [machine.kernel_], [self.coef]
        if self.scales is not None:
            kernels = [with_scale(machine, scale) for scale in self.scales.tolist()]
            parts = [coef.copy() for coef in np.split(self.coef, len(self.coef))]
        threads = thread_count(machine.n_jobs)
        values = [
            cross_dot(kernel, X, self.vectors, coef, threads)
            for kernel, coef in zip(kernels, parts, strict=True)
        ]
        return interval(np.hstack(values) + self.offsets, self.residuals, self.model, coverage)


def counted(search: Search) -> Mask:
    """The rows whose residuals count: those that have a weight."""
    return np.ones(search.target.n, bool) if search.weights is None else search.weights > 0


def scales_of(search: Search, kernel: Kernel) -> Floats | None:
    """γ by the rule "scale" on the training rows of each fold; None if the kernel has no rule."""
    if kernel.precomputed or kernel.bind(search.X) is kernel:
        return None
    rows = [fold.train for fold in search.folds]
    weights = [None if search.weights is None else search.weights[some] for some in rows]
    return np.array([gamma_of("scale", search.X[a], w) for a, w in zip(rows, weights, strict=True)])


def with_scale(machine: DualMachine, scale: float) -> Kernel:
    """The machine's kernel with this γ for the rule "scale"."""
    return machine._kernel().with_gamma(
        lambda rule: scale if rule == "scale" else 1.0 / machine.n_features_in_
    )
