"""The problems of the linear machines, each also written as the one dual problem."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.formulations import c_svc, epsilon_svr, one_sum
from maxmargin.gram import DataMatrix, Gram
from maxmargin.kernels import Precomputed
from maxmargin.losses import (
    EpsilonInsensitive,
    Hinge,
    PiecewiseLoss,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from maxmargin.problem import DualProblem, LinearProblem

EPSILON = 0.2


@dataclass(frozen=True)
class Kind:
    """A loss of the library, and what the textbook says of its dual.

    κ/c is what a loss of t²/2κ, where t is the error that counts, adds to the diagonal of K.
    """

    loss: PiecewiseLoss
    kappa: float = 0.0
    epsilon: float = 0.0
    labels: bool = False


# By the names of `naive.LOSSES`.
KINDS = {
    "hinge": Kind(Hinge(), labels=True),
    "squared hinge": Kind(SquaredHinge(), kappa=0.5, labels=True),
    "squared": Kind(Squared(), kappa=1.0),
    "absolute": Kind(EpsilonInsensitive()),
    "epsilon-insensitive": Kind(EpsilonInsensitive(EPSILON), epsilon=EPSILON),
    "squared epsilon-insensitive": Kind(
        SquaredEpsilonInsensitive(EPSILON), kappa=0.5, epsilon=EPSILON
    ),
}


def as_dual(
    kind: Kind, X: np.ndarray, y: np.ndarray, cost: np.ndarray, fit_intercept: bool
) -> tuple[DualProblem, np.ndarray]:
    """The dual of ½‖w‖² + Σ c_i L(y_i, x_iᵀw + b), and its K = XXᵀ + diag(κ/c).

    A loss with a tube has two variables for each row; the others have one.
    """
    K = X @ X.T + np.diag(kind.kappa / cost)
    most = np.full(len(y), np.inf) if kind.kappa else cost
    if kind.labels:
        problem = c_svc(y, most, fit_intercept=fit_intercept)
    elif kind.epsilon:
        problem = epsilon_svr(y, most, kind.epsilon, fit_intercept=fit_intercept)
    else:
        problem = DualProblem(-y, -most, most, one_sum(fit_intercept))
    return problem, K


@dataclass(frozen=True)
class LinearCase:
    """A linear machine's problem: the name of its loss, and what is special about its data."""

    loss: str
    fit_intercept: bool = True
    cost: float = 0.1
    decades: float = 0.0
    shift: float = 0.0
    repeated: bool = False
    csr: bool = False
    easy: bool = False
    rows: int = 40
    columns: int = 4
    seed: int = 5

    def data(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """X, y and c: overlapping classes, or targets with noise."""
        random = np.random.default_rng(self.seed)
        X = random.normal(size=(self.rows, self.columns))
        X = np.where(np.abs(X) > 0.5, X, 0.0) if self.csr else X + self.shift
        y = (X - self.shift) @ np.resize([1.0, -1.0, 0.5, 0.0], self.columns) + random.normal(
            size=self.rows
        )
        y += 0.5
        cost = self.cost * 10 ** (self.decades * random.uniform(-0.5, 0.5, self.rows))
        if KINDS[self.loss].labels:
            y = np.where(y > 0, 1.0, -1.0)
        if self.repeated:  # the third time with another answer
            X, y, cost = np.tile(X, (3, 1)), np.concatenate([y, y, -y]), np.tile(cost, 3)
        return X, y, cost

    @property
    def smooth(self) -> bool:
        """Whether the loss has no kinks."""
        return KINDS[self.loss].kappa > 0

    @property
    def problem(self) -> LinearProblem:
        _, y, cost = self.data()
        return LinearProblem(y, cost, KINDS[self.loss].loss, self.fit_intercept)

    def matrix(self) -> DataMatrix:
        X: Any = self.data()[0]
        return DataMatrix(sparse.csr_array(X) if self.csr else X)

    def as_dual(self) -> tuple[DualProblem, Gram]:
        """The same as a dual problem that a general solver takes."""
        problem, K = as_dual(KINDS[self.loss], *self.data(), self.fit_intercept)
        return problem, Gram(Precomputed(), K)

    def variables(self, beta: np.ndarray) -> np.ndarray:
        """β of the problem as β of that dual problem."""
        if not KINDS[self.loss].epsilon:
            return beta
        return np.concatenate([np.maximum(beta, 0.0), np.minimum(beta, 0.0)])


SPECIAL = {
    "CSR": {"csr": True},
    "far from the origin": {"shift": 30.0},
    "duplicates": {"repeated": True},
    "weights over decades": {"decades": 5.0},
    "large C": {"cost": 1e3},
}
LINEAR_PROBLEMS = {
    **{loss: LinearCase(loss, easy=True) for loss in KINDS},
    **{f"{loss} without offset": LinearCase(loss, fit_intercept=False) for loss in KINDS},
    **{
        f"{loss}, {name}": LinearCase(loss, **what)
        for loss in KINDS
        for name, what in SPECIAL.items()
    },
}
