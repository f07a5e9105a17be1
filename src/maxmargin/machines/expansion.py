"""A fitted machine as a sum of functions with closed forms: of Shapley values, and of gradients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.kernels import Kernel
from maxmargin.resources.arrays import Data, Floats, Numbers


@dataclass(frozen=True)
class ProductFunction:
    """f_k(x) = Σ_i coef[k, i] Π_j exp(−square (x_j − z_ij)² − absolute |x_j − z_ij|)."""

    coef: Floats
    vectors: Floats
    square: float
    absolute: float

    def take(self, some: slice) -> ProductFunction:
        """The part of some of the vectors z_i."""
        return replace(self, coef=self.coef[:, some], vectors=self.vectors[some])

    def factors(self, X: Floats, player: Numbers, players: int) -> Floats:
        """The factor of each player: of shape (vectors, rows of X, players)."""
        exponents = np.zeros((len(self.vectors), len(X), players))
        for column, j in enumerate(player):
            away = X[:, column] - self.vectors[:, column, None]
            exponents[:, :, j] -= self.square * away**2 + self.absolute * np.abs(away)
        return np.exp(exponents, out=exponents)

    def __call__(self, X: Floats) -> Floats:
        """f_k of each row: of shape (rows, functions)."""
        some = 1 + (1 << 20) // (1 + len(self.vectors))
        one = np.zeros(X.shape[1], int)
        blocks = [
            self.factors(X[start : start + some], one, 1)[:, :, 0].T @ self.coef.T
            for start in range(0, len(X), some)
        ]
        return np.concatenate(blocks)

    def slopes(self, X: Floats) -> Iterator[Floats]:
        """∂f_k/∂x_j of each row, column by column: each of shape (rows, functions)."""
        K = self.factors(X, np.zeros(X.shape[1], int), 1)[:, :, 0].T
        for x, z in zip(X.T, self.vectors.T, strict=True):
            away = z - x[:, None]
            steep = 2 * self.square * away + self.absolute * np.sign(away)
            yield (K * steep) @ self.coef.T


@dataclass(frozen=True)
class KernelExpansion:
    """f = products + coef·x + intercept.

    Attributes
    ----------
    products : the parts that are products over columns
    coef : of shape (functions, columns); None if no part is linear
    intercept : of shape (functions,)
    centre : the row in the middle of the support vectors; 0 of a machine that keeps none
    names : of the functions
    """

    products: tuple[ProductFunction, ...]
    coef: Floats | None
    intercept: Floats
    centre: Floats
    names: tuple[str, ...]

    def __call__(self, X: Floats) -> Floats:
        """f of each row: of shape (rows, functions)."""
        total = np.tile(self.intercept, (len(X), 1))
        if self.coef is not None:
            total = total + X @ self.coef.T
        for part in self.products:
            total = total + part(X)
        return total

    def mean_squared_gradient(self, X: Floats) -> Floats:
        """Σ_k mean of (∂f_k/∂x_j)² over the rows: the diagonal of the average outer product."""
        linear = np.zeros((X.shape[1], len(self.intercept))) if self.coef is None else self.coef.T
        slopes = zip(linear, *(part.slopes(X) for part in self.products), strict=True)
        return np.array([np.mean(sum(parts) ** 2, axis=0).sum() for parts in slopes])


def expansion_of(machine: Any) -> KernelExpansion:
    """The parts of a fitted machine, or an error that says why it has no closed form."""
    if not hasattr(machine, "kernel_"):
        if not hasattr(machine, "coef_"):
            raise ValueError(f"explain takes machines of maxmargin, not {type(machine).__name__}")
        return _linear(
            machine, np.atleast_2d(dense(machine.coef_)), np.zeros(machine.n_features_in_)
        )
    kernel: Kernel = machine.kernel_
    vectors, coef = _vectors_and_coefficients(machine)
    centre = vectors.mean(axis=0) if len(vectors) else np.zeros(machine.n_features_in_)
    if kernel.is_linear and kernel.forms is not None:
        return _linear(machine, kernel.forms[0].scale * coef @ vectors, centre)
    terms = kernel.column_products
    if terms is None:
        raise ValueError(
            f"kernel={kernel!r} is no product over columns, so its Shapley values have no closed "
            "form: use 'rbf', 'laplacian' (or their products, sums and multiples), or 'linear'"
        )
    products = tuple(ProductFunction(c * coef, vectors, s, a) for c, s, a in terms)
    return KernelExpansion(
        products, None, _intercept(machine, len(coef)), centre, _names(machine, len(coef))
    )


def _linear(machine: Any, coef: Floats, centre: Floats) -> KernelExpansion:
    return KernelExpansion(
        (), coef, _intercept(machine, len(coef)), centre, _names(machine, len(coef))
    )


def _intercept(machine: Any, functions: int) -> Floats:
    given = np.ravel(np.asarray(getattr(machine, "intercept_", 0.0), np.float64))
    return np.broadcast_to(given, (functions,))


def _vectors_and_coefficients(machine: Any) -> tuple[Floats, Floats]:
    """The vectors z_i and the coefficients of each function: f = Σ_i coef_i k(z_i, x) + b."""
    if hasattr(machine, "support_vectors_"):
        if machine.kernel_.precomputed:
            raise ValueError("a machine of a precomputed kernel has no columns to explain by")
        return np.asarray(dense(machine.support_vectors_), np.float64), _coefficients(machine)
    features = machine.features_
    if not hasattr(features, "landmarks_"):
        raise ValueError(
            f"{type(features).__name__} has no kernel expansion: use approximation='nystroem', "
            "or without an approximation"
        )
    landmarks = np.asarray(dense(features.landmarks_), np.float64)
    return landmarks, np.asarray(machine.feature_coef_ @ features.normalization_.T)


def _coefficients(machine: Any) -> Floats:
    """The coefficients of each function over all support vectors."""
    coef = np.asarray(dense(machine.dual_coef_), np.float64)
    if not hasattr(machine, "_scheme") or not hasattr(machine, "n_support_"):
        return coef
    ends = np.concatenate([[0], np.cumsum(machine.n_support_)])

    def products(coef: Floats, ends: Numbers) -> Floats:
        """Each vector by itself: a row of the identity takes the place of its kernel values."""
        parts = np.zeros((len(ends) - 1, len(coef), coef.shape[1]))
        for number, (start, stop) in enumerate(pairwise(ends.tolist())):
            parts[number, :, start:stop] = coef[:, start:stop]
        return parts

    spread: Floats = machine._scheme().decide(coef, ends, products)
    return np.ascontiguousarray(spread.T)


def _names(machine: Any, functions: int) -> tuple[str, ...]:
    """A name for each function: the classes that it is for, or its number."""
    classes = [str(each) for each in getattr(machine, "classes_", ())]
    if len(classes) == functions:
        return tuple(classes)
    if len(classes) * (len(classes) - 1) // 2 == functions:
        return tuple(f"{a} v {b}" for i, a in enumerate(classes) for b in classes[i + 1 :])
    return tuple(str(number) for number in range(functions))


def dense(X: Data) -> Floats:
    """X as an array."""
    return X.toarray() if sp.issparse(X) else np.asarray(X)
