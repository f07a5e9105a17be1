"""Probabilities from decision values.

Each binary machine's decision value f becomes P(positive | f) = 1 / (1 + exp(A f + B)), with A
and B fitted on decisions of rows held out by cross-validation (Platt 1999, with his smoothed
targets). One-versus-one couples the pairs into p with r_ab ≈ p_a / (p_a + p_b) (Wu, Lin and
Weng, JMLR 5, 2004); one-versus-rest normalises. P = ½ need not be at f = 0: class weights move the
decision, not the probabilities, which are those of the data as they are. So the likeliest class is
not always the predicted one. A machine of a LIBSVM file has LIBSVM's probabilities.

The one-class machine has no labels to fit A and B on: its decision values on the training rows are
cut into bins of equally many rows, and the probability of a new value is the number of its bin
(Que and Lin, IEEE Transactions on Neural Networks and Learning Systems 36, 2025).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import expit, softmax
from sklearn.base import clone

from maxmargin.machines.fit import Fit
from maxmargin.machines.libsvm_votes import LibsvmVotes
from maxmargin.machines.multiclass import OneVersusOne, OneVersusRest
from maxmargin.machines.validation import known_labels
from maxmargin.resources.arrays import Data, Floats, Mask

FOLDS = 5  # of the rows that A and B are fitted on: LIBSVM's number, and scikit-learn's
MARKS = 10  # between the bins of a one-class machine: LIBSVM's number, which its files have
# Of the time for all: a copy on 4/5 of the rows costs (4/5)² of the machine on all of them.
SHARE_OF_MODEL = 1 / (1 + FOLDS * (1 - 1 / FOLDS) ** 2)


@dataclass(frozen=True)
class Calibration:
    """A and B of every binary machine."""

    slopes: Floats
    shifts: Floats

    @classmethod
    def none(cls) -> Calibration:
        """Of a machine with probability=False."""
        return cls(np.empty(0), np.empty(0))

    @classmethod
    def cross_validated(
        cls, run: Fit, X: Data, y: ArrayLike, sample_weight: Floats | None
    ) -> Calibration:
        """Fitted on the decisions of five copies of the machine, each on its held-out rows.

        The copies share the time that is left. Once one was interrupted, or the time is over, no
        other is fitted; rows that no copy was asked about do not count.
        """
        from sklearn.model_selection import StratifiedKFold  # slow to import

        machine, given = run.machine, np.asarray(y)
        labels = known_labels(machine.classes_, y)
        weight = np.ones(len(labels)) if sample_weight is None else sample_weight
        (there,) = np.nonzero(weight)  # a row without weight is absent
        sizes = np.bincount(labels[there])
        smallest = sizes.min()
        if smallest < 2:
            rare = machine.classes_.tolist()[sizes.argmin()]
            raise ValueError(
                f"probability=True holds rows out for calibration and needs at least two rows of "
                f"every class; class {rare!r} has one"
            )
        folds = StratifiedKFold(
            min(FOLDS, smallest), shuffle=True, random_state=machine.random_state
        )
        copy = clone(machine).set_params(probability=False, warm_start=False, verbose=0)
        copy.set_callbacks()
        scheme = machine._scheme()
        decisions = np.zeros((len(labels), len(scheme.splits(labels))))
        decided = np.zeros(len(labels), bool)
        pairwise = machine.__sklearn_tags__().input_tags.pairwise
        for number, fold in enumerate(folds.split(there, labels[there])):
            train, test = (there[part] for part in fold)
            if run.stop.is_set() or run.left <= 0:
                run.missed(f"{folds.n_splits - number} of {folds.n_splits} folds of calibration")
                break
            try:
                held_out = X[np.ix_(test, train)] if pairwise else X[test]
                shown = X[np.ix_(train, train)] if pairwise else X[train]
                shown, classes = copy._validate(shown, given[train])
                part = run.part(copy, shown, classes, 1 / (folds.n_splits - number))
                own = None if sample_weight is None else weight[train]
                copy._fit_model(part, shown, classes, own)
                if not run.stop.is_set():
                    decisions[test], decided[test] = copy._decisions(held_out), True
            except KeyboardInterrupt:  # outside of a solver
                run.interrupt()
        if not decided.any():
            return cls.none()
        weight = np.where(decided, weight, 0.0)
        fits = [
            platt(decisions[split.rows, k], split.signs > 0, weight[split.rows])
            for k, split in enumerate(scheme.splits(labels))
        ]
        slopes, shifts = np.array(fits).T
        return cls(slopes, shifts)

    def probabilities(self, decisions: Floats, scheme: OneVersusOne | OneVersusRest) -> Floats:
        """(rows, classes), each row summing to one."""
        z = self.slopes * decisions + self.shifts
        return scheme.probabilities(z) if isinstance(scheme, LibsvmVotes) else joined(z, scheme)


def joined(z: Floats, scheme: OneVersusOne | OneVersusRest) -> Floats:
    """Probabilities of the classes, from P(positive) = 1 / (1 + exp(z)) of every binary machine."""
    n_classes = len(scheme.classes)
    if n_classes == 2:
        return np.asarray(expit(np.column_stack([z, -z])))
    if isinstance(scheme, OneVersusOne):
        return couple(np.clip(expit(-z), 1e-7, 1 - 1e-7), scheme.pairs, n_classes)
    # P(positive) over their sum, also if all are tiny
    return np.asarray(softmax(-np.logaddexp(0, z), axis=1))


def platt(decision: Floats, positive: Mask, weight: Floats) -> tuple[float, float]:
    """A and B that minimise the log loss of 1 / (1 + exp(A f + B)) against smoothed targets."""
    n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    scale = max(float(np.abs(decision).max(initial=0)), 1e-300)
    f = decision / scale

    def loss(parameters: Floats) -> tuple[float, Floats]:
        z = parameters[0] * f + parameters[1]
        error = weight * (target - expit(-z))
        value = weight @ (np.logaddexp(0, z) - (1 - target) * z)
        return float(value), np.array([error @ f, error.sum()])

    start = np.array([0.0, np.log((n_negative + 1) / (n_positive + 1))])
    slope, shift = minimize(loss, start, jac=True, method="BFGS").x
    return slope / scale, shift


def density_marks(decision: Floats) -> Floats | None:
    """Ten marks between bins of decision values; None if there are too few on a side of 0.

    On each side of 0 the sorted values are cut into five parts of equally many rows. A mark is
    halfway between two neighbouring cuts, so that 0 itself is inside the middle bin.

    Examples
    --------
    >>> density_marks(np.arange(-20.0, 21.0))
    array([-18. , -14. , -10. ,  -6. ,  -2. ,   1.5,   5. ,   9. ,  13. ,
        17.5])
    """
    values, half = np.sort(decision), MARKS // 2
    negative = int(np.searchsorted(values, 0.0))
    positive = len(values) - negative
    if min(negative, positive) < half:
        return None
    below = values[np.arange(half) * negative // half]
    above = values[negative - 1 + np.arange(1, half + 1) * positive // half]
    cuts = np.concatenate([below, [0.0], above])
    marks: Floats = (cuts[:-1] + cuts[1:]) / 2
    return marks


def normal_share(decision: Floats, marks: Floats) -> Floats:
    """P(normal) of each decision value: the share of the marks that it reaches, never 0 or 1.

    At the last mark itself LIBSVM says 0, since none of its comparisons is true there; we say what
    it says beyond.

    Examples
    --------
    >>> normal_share(np.array([-3.0, -2.0, 0.0, 9.0]), np.linspace(-2.0, 2.0, 10))
    array([0.001, 0.1  , 0.5  , 0.999])
    """
    share: Floats = np.searchsorted(marks, decision, side="right") / MARKS
    return np.clip(share, 0.001, 0.999)


def couple(r: Floats, pairs: list[tuple[int, int]], n_classes: int) -> Floats:
    """p minimising Σ_{a≠b} (r_ba p_a − r_ab p_b)², Σp = 1: a small linear system for each row."""
    Q = np.zeros((len(r), n_classes, n_classes))
    for k, (a, b) in enumerate(pairs):
        ab, ba = r[:, k], 1 - r[:, k]
        Q[:, a, a] += ba**2
        Q[:, b, b] += ab**2
        Q[:, a, b] = Q[:, b, a] = -ab * ba
    system = np.ones((len(r), n_classes + 1, n_classes + 1))
    system[:, :-1, :-1] = Q
    system[:, -1, -1] = 0
    right = np.zeros((len(r), n_classes + 1, 1))
    right[:, -1] = 1
    p: Floats = np.maximum(np.linalg.solve(system, right)[:, :-1, 0], 0)
    return normalised(p)


def normalised(p: Floats) -> Floats:
    """Each row divided by its sum."""
    shares: Floats = p / p.sum(axis=1, keepdims=True)
    return shares
