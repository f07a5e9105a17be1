"""Losses L(y, f) of a decision value f where the target is y.

Each loss is convex in f and has

    value       L(y, f)
    derivative  ∂L/∂f, at a kink the subgradient nearest to zero
    conjugate   L*(y, s) = sup_f  s f − L(y, f), infinite outside its domain

so that L(y, f) + L*(y, s) ≥ s f for all f and s (Fenchel), with equality exactly where s is a
(sub)derivative at f. A primal solver follows the derivative; a dual value is a sum of conjugates.

>>> import numpy as np
>>> margins = np.array([-1.0, 0.0, 1.0, 2.0])
>>> Hinge().value(1.0, margins)
array([2., 1., 0., 0.])
>>> Logistic().value(1.0, margins).round(3)
array([1.313, 0.693, 0.313, 0.127])
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logsumexp, softmax, xlogy

from maxmargin.resources.arrays import Floats, Numbers

__all__ = [
    "EpsilonInsensitive",
    "Hinge",
    "Logistic",
    "Loss",
    "PiecewiseLoss",
    "Pinball",
    "Softmax",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
]


@dataclass(frozen=True)
class Loss(ABC):
    """A convex function of f for each target y; see the module's docstring."""

    @abstractmethod
    def value(self, y: ArrayLike, f: ArrayLike) -> Floats:
        """L(y, f) for each row."""

    @abstractmethod
    def derivative(self, y: ArrayLike, f: ArrayLike) -> Floats:
        """∂L/∂f for each row, the subgradient nearest to zero at a kink."""

    @abstractmethod
    def conjugate(self, y: ArrayLike, s: ArrayLike) -> Floats:
        """sup_f s f − L(y, f) for each row; infinite outside the domain."""


@dataclass(frozen=True)
class Logistic(Loss):
    """L = log(1 + exp(−y f)) = −log σ(y f), y = ±1.

    Examples
    --------
    >>> import numpy as np
    >>> Logistic().value(np.array([1.0]), np.array([0.0])).round(4)
    array([0.6931])
    """

    def value(self, y: ArrayLike, f: ArrayLike) -> Floats:
        return np.logaddexp(0.0, -np.multiply(y, f))

    def derivative(self, y: ArrayLike, f: ArrayLike) -> Floats:
        slope: Floats = -np.asarray(y) * expit(-np.multiply(y, f))
        return slope

    def conjugate(self, y: ArrayLike, s: ArrayLike) -> Floats:
        """L* = p log p + (1 − p) log(1 − p) with p = −y s in [0, 1]."""
        p = -np.multiply(y, s)
        inside = np.clip(p, 0.0, 1.0)
        entropy = xlogy(inside, inside) + xlogy(1 - inside, 1 - inside)
        return np.where(p == inside, entropy, np.inf)


@dataclass(frozen=True)
class Softmax(Loss):
    """L = −log softmax(f)_y = log Σ_k exp(f_k) − f_y, y the number of a class, f a row of scores.

    With two classes and f = (0, g) it is the logistic loss of g.

    Examples
    --------
    >>> import numpy as np
    >>> Softmax().value(np.array([0]), np.array([[1.0, 1.0]])).round(4)
    array([0.6931])
    """

    def value(self, y: ArrayLike, f: ArrayLike) -> Floats:
        f = np.asarray(f, float)
        total: Floats = logsumexp(f, axis=-1)
        right: Floats = np.take_along_axis(f, _column(y), -1)[..., 0]
        return total - right

    def derivative(self, y: ArrayLike, f: ArrayLike) -> Floats:
        shares: Floats = softmax(np.asarray(f, float), axis=-1)
        return shares - _one_hot(y, np.shape(f)[-1])

    def conjugate(self, y: ArrayLike, s: ArrayLike) -> Floats:
        """L* = Σ_k p_k log p_k with p = s + e_y, a probability vector."""
        p = np.asarray(s, float) + _one_hot(y, np.shape(s)[-1])
        inside = (p >= 0).all(axis=-1) & np.isclose(p.sum(axis=-1), 1.0, rtol=0, atol=1e-9)
        p = np.clip(p, 0.0, None)
        return np.where(inside, xlogy(p, p).sum(axis=-1), np.inf)


def _column(y: ArrayLike) -> Numbers:
    return np.asarray(y, np.intp)[..., None]


def _one_hot(y: ArrayLike, classes: int) -> Floats:
    return np.equal(np.arange(classes), _column(y)).astype(float)


@dataclass(frozen=True)
class PiecewiseLoss(Loss):
    """A loss of linear or quadratic pieces.

    Of the residual r = y − f it counts the part outside a tube of half-width ε,

        L = h(max(0, |r| − ε)),   h(t) = t, or t² / 2κ

    on both sides, or only on the side where y f is too small. The conjugate is

        L* = y s + ε|s| + ½κ s²   for s in [lowest, highest]

    and so the dual of a machine with such a loss is a quadratic program in a box.

    Attributes
    ----------
    epsilon : ε ≥ 0
    kappa : κ, 0 for linear pieces
    """

    kappa: ClassVar[float] = 0.0

    @property
    def epsilon(self) -> float:
        """ε, half the width of the tube."""
        return 0.0

    def sides(self, y: ArrayLike) -> tuple[ArrayLike, ArrayLike]:
        """Whether the loss grows as f falls below y, and as it rises above; one value or by row."""
        return True, True

    def domain(self, y: ArrayLike) -> tuple[Floats, Floats]:
        """The smallest and the largest derivative there is, for each row."""
        steepest = np.inf if self.kappa else 1.0
        below, above = (np.broadcast_to(side, np.shape(y)) for side in self.sides(y))
        return np.where(below, -steepest, 0.0), np.where(above, steepest, 0.0)

    def value(self, y: ArrayLike, f: ArrayLike) -> Floats:
        excess = self._excess(y, f)
        return excess**2 / (2 * self.kappa) if self.kappa else excess

    def derivative(self, y: ArrayLike, f: ArrayLike) -> Floats:
        s, excess = self._side(y, f)
        return s * excess / self.kappa if self.kappa else s

    def conjugate(self, y: ArrayLike, s: ArrayLike) -> Floats:
        y, s = np.asarray(y, float), np.asarray(s, float)
        lowest, highest = self.domain(y)
        quadratic = y * s + self.epsilon * np.abs(s) + 0.5 * self.kappa * s * s
        return np.where((s >= lowest) & (s <= highest), quadratic, np.inf)

    def _excess(self, y: ArrayLike, f: ArrayLike) -> Floats:
        """How far f is outside the tube, or 0."""
        return self._side(y, f)[1]

    def _side(self, y: ArrayLike, f: ArrayLike) -> tuple[Floats, Floats]:
        """Which way the loss falls (−1, 0 or +1), and how far f is outside the tube, or 0."""
        y = np.asarray(y, float)
        residual = y - f
        below, above = self.sides(y)
        excess = np.abs(residual) - self.epsilon
        counted = (excess > 0) & np.where(residual > 0, below, above)
        return np.where(counted, -np.sign(residual), 0.0), np.where(counted, excess, 0.0)


@dataclass(frozen=True)
class Squared(PiecewiseLoss):
    """L = ½(y − f)².

    Examples
    --------
    >>> import numpy as np
    >>> Squared().value(np.array([1.0]), np.array([3.0]))
    array([2.])
    """

    kappa: ClassVar[float] = 1.0


@dataclass(frozen=True)
class EpsilonInsensitive(PiecewiseLoss):
    """L = max(0, |y − f| − ε).

    Examples
    --------
    >>> import numpy as np
    >>> EpsilonInsensitive(0.5).value(np.array([1.0, 1.0]), np.array([1.2, 3.0]))
    array([0. , 1.5])
    """

    epsilon: float = 0.0


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(EpsilonInsensitive):
    """L = max(0, |y − f| − ε)².

    Examples
    --------
    >>> import numpy as np
    >>> SquaredEpsilonInsensitive(0.5).value(np.array([1.0, 1.0]), np.array([1.2, 3.0]))
    array([0.  , 2.25])
    """

    kappa: ClassVar[float] = 0.5


@dataclass(frozen=True)
class Pinball(Loss):
    """L = max(q r, (q − 1) r), r = y − f: its mean is least at the quantile q.

    Examples
    --------
    >>> import numpy as np
    >>> Pinball(0.75).value(np.array([1.0, 1.0]), np.array([0.0, 2.0]))
    array([0.75, 0.25])
    """

    q: float = 0.5

    def value(self, y: ArrayLike, f: ArrayLike) -> Floats:
        residual = np.subtract(y, f, dtype=float)
        return np.maximum(self.q * residual, (self.q - 1) * residual)

    def derivative(self, y: ArrayLike, f: ArrayLike) -> Floats:
        residual = np.subtract(y, f, dtype=float)
        return np.where(residual > 0, -self.q, np.where(residual < 0, 1 - self.q, 0.0))

    def conjugate(self, y: ArrayLike, s: ArrayLike) -> Floats:
        """L* = y s for −q ≤ s ≤ 1 − q."""
        inside = np.greater_equal(s, -self.q) & np.less_equal(s, 1 - self.q)
        return np.where(inside, np.multiply(y, s), np.inf)


@dataclass(frozen=True)
class Hinge(PiecewiseLoss):
    """L = max(0, 1 − y f), y = ±1: of the residual y − f, the side where y f < 1.

    Examples
    --------
    >>> import numpy as np
    >>> Hinge().value(np.array([1, 1, -1]), np.array([2.0, 0.5, 1.0]))
    array([0. , 0.5, 2. ])
    """

    def sides(self, y: ArrayLike) -> tuple[ArrayLike, ArrayLike]:
        return np.asarray(y) > 0, np.asarray(y) < 0

    def conjugate(self, y: ArrayLike, s: ArrayLike) -> Floats:
        """L* = −t + ½κ t² with t = −y s in [0, 1], or t ≥ 0 for the square."""
        t = -np.multiply(y, s)
        inside = t >= 0 if self.kappa else (t >= 0) & (t <= 1)
        return np.where(inside, 0.5 * self.kappa * t * t - t if self.kappa else -t, np.inf)

    def _excess(self, y: ArrayLike, f: ArrayLike) -> Floats:
        return np.maximum(1.0 - np.multiply(y, f), 0.0)

    def _side(self, y: ArrayLike, f: ArrayLike) -> tuple[Floats, Floats]:
        excess = self._excess(y, f)
        return -np.multiply(y, excess > 0), excess


@dataclass(frozen=True)
class SquaredHinge(Hinge):
    """L = max(0, 1 − y f)², y = ±1.

    Examples
    --------
    >>> import numpy as np
    >>> SquaredHinge().value(np.array([1, 1, -1]), np.array([2.0, 0.5, 1.0]))
    array([0.  , 0.25, 4.  ])
    """

    kappa: ClassVar[float] = 0.5
