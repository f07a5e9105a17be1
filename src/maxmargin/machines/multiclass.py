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

import numpy as np

Products = Callable[[np.ndarray, np.ndarray], Sequence[np.ndarray]]


@dataclass(frozen=True)
class Split:
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
        members, splits = self._members(labels), []
        for a, b in self.pairs:
            rows = np.concatenate([members[a], members[b]])
            signs = np.ones(len(rows))
            signs[len(members[a]) :] = -1.0
            splits.append(Split(self._name(a, b), rows, signs))
        return splits

    def _name(self, a: int, b: int) -> str:
        return f"{self.classes[a]} v {self.classes[b]}"

    def _members(self, labels: np.ndarray) -> list[np.ndarray]:
        """The rows of each class."""
        order = np.argsort(labels, kind="stable")
        ends = np.cumsum(np.bincount(labels, minlength=len(self.classes))).tolist()
        return [order[start:stop] for start, stop in pairwise([0, *ends])]

    def scatter(self, labels: np.ndarray, betas: Sequence[np.ndarray]) -> np.ndarray:
        """LIBSVM's layout: (classes − 1, rows), a row's coefficients against each other class."""
        coef = np.zeros((len(self.classes) - 1, len(labels)))
        if len(self.classes) == 2:
            coef[0] = betas[0]
            return coef
        members = self._members(labels)
        for (a, b), beta in zip(self.pairs, betas, strict=True):  # class a, against b: line b − 1
            coef[b - 1, members[a]] = beta[: len(members[a])]
            coef[a, members[b]] = beta[len(members[a]) :]
        return coef

    def gather(self, labels: np.ndarray, coef: np.ndarray) -> list[np.ndarray]:
        """The coefficients of each binary problem; undoes `scatter`."""
        if len(self.classes) == 2:
            return [coef[0]]
        members = self._members(labels)
        return [
            np.concatenate([coef[b - 1, members[a]], coef[a, members[b]]]) for a, b in self.pairs
        ]

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

    def scatter(self, labels: np.ndarray, betas: Sequence[np.ndarray]) -> np.ndarray:
        """(classes, rows): line c belongs to the machine of class c."""
        return np.array(betas)

    def gather(self, labels: np.ndarray, coef: np.ndarray) -> list[np.ndarray]:
        """The coefficients of each binary problem; undoes `scatter`."""
        return list(coef)

    def decide(self, coef: np.ndarray, ends: np.ndarray, products: Products) -> np.ndarray:
        """Decision value of each class, without offsets."""
        return products(coef, ends[[0, -1]])[0]

    def confidence(self, decisions: np.ndarray) -> np.ndarray:
        """The decision values themselves."""
        return decisions
