"""From several classes to binary problems and back.

Both schemes answer the same four questions, so that every binary machine has both: which
problems to solve, how their coefficients are laid out over the rows, what they decide, and
which class that makes.

One-versus-one trains a machine for each pair a < b, positive for a; each has a vote. A tie in
votes is broken by the summed decision values. One-versus-rest trains one machine per class; the
largest decision value wins. Two classes need one machine, positive for the second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

Products = Callable[[np.ndarray, np.ndarray], Sequence[np.ndarray]]


class Split(NamedTuple):
    """One binary problem: the rows it sees and their signs, +1 or −1."""

    name: str
    rows: np.ndarray | slice
    signs: np.ndarray


@dataclass(frozen=True)
class OneVersusOne:
    """A machine for every pair of classes; `labels` number the class of each row."""

    classes: np.ndarray

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(positive class, negative class) of each machine."""
        if len(self.classes) == 2:
            return [(1, 0)]
        return list(combinations(range(len(self.classes)), 2))

    def splits(self, labels: np.ndarray) -> list[Split]:
        """The binary problems, in the order of `pairs`."""
        if len(self.classes) == 2:
            signs = np.where(labels == 1, 1.0, -1.0)
            return [Split(self._name(1, 0), slice(None), signs)]
        order, splits = labels.argsort(kind="stable"), []
        ends = np.bincount(labels, minlength=len(self.classes)).cumsum().tolist()
        members = [order[start:stop] for start, stop in pairwise([0, *ends])]
        for a, b in self.pairs:
            rows = np.concatenate([members[a], members[b]])
            signs = np.ones(len(rows))
            signs[len(members[a]) :] = -1.0
            splits.append(Split(self._name(a, b), rows, signs))
        return splits

    def _name(self, a: int, b: int) -> str:
        return f"{self.classes[a]} v {self.classes[b]}"

    def _places(self, splits: Sequence[Split]) -> list[tuple]:
        """Where the coefficients of each problem are: those of class a against b in line b − 1."""
        if len(self.classes) == 2:
            return [(0, slice(None))]
        return [
            (np.where(split.signs > 0, b - 1, a), split.rows)
            for split, (a, b) in zip(splits, self.pairs, strict=True)
        ]

    def scatter(self, splits: Sequence[Split], betas: Sequence[np.ndarray], n: int) -> np.ndarray:
        """LIBSVM's layout: (classes − 1, n), a row's coefficients against each other class."""
        coef = np.zeros((len(self.classes) - 1, n))
        for place, beta in zip(self._places(splits), betas, strict=True):
            coef[place] = beta
        return coef

    def gather(self, splits: Sequence[Split], coef: np.ndarray) -> list[np.ndarray]:
        """The coefficients of each binary problem; undoes `scatter`."""
        return [coef[place] for place in self._places(splits)]

    def decide(self, coef: np.ndarray, ends: np.ndarray, products: Products) -> np.ndarray:
        """Decision values of every pair, without offsets.

        `products(coef, ends)` are K(X, support vectors) @ coefᵀ for the support vectors between
        any two ends. Those of class c are from ends[c] to ends[c + 1].
        """
        if len(self.classes) == 2:
            return products(coef, ends[[0, -1]])[0]
        parts = products(coef, ends)
        return np.column_stack([parts[a][:, b - 1] + parts[b][:, a] for a, b in self.pairs])

    def confidence(self, decisions: np.ndarray) -> np.ndarray:
        """A score per class whose argmax is the vote: votes, plus less than ½ for their values."""
        votes = np.zeros((len(decisions), len(self.classes)))
        values = np.zeros_like(votes)
        for k, (a, b) in enumerate(self.pairs):
            decision = decisions[:, k]
            votes[:, a] += decision > 0
            votes[:, b] += decision <= 0
            values[:, a] += decision
            values[:, b] -= decision
        return votes + values / (3 * (np.abs(values) + 1))


@dataclass(frozen=True)
class OneVersusRest:
    """A machine for every class against all others."""

    classes: np.ndarray

    def splits(self, labels: np.ndarray) -> list[Split]:
        """The binary problems, one per class."""
        return [
            Split(f"{name} v rest", slice(None), np.where(labels == a, 1.0, -1.0))
            for a, name in enumerate(self.classes)
        ]

    def scatter(self, splits: Sequence[Split], betas: Sequence[np.ndarray], n: int) -> np.ndarray:
        """(classes, n): line c belongs to the machine of class c."""
        return np.array(betas)

    def gather(self, splits: Sequence[Split], coef: np.ndarray) -> list[np.ndarray]:
        """The coefficients of each binary problem; undoes `scatter`."""
        return list(coef)

    def decide(self, coef: np.ndarray, ends: np.ndarray, products: Products) -> np.ndarray:
        """Decision value of each class, without offsets."""
        return products(coef, ends[[0, -1]])[0]

    def confidence(self, decisions: np.ndarray) -> np.ndarray:
        """The decision values themselves."""
        return decisions
