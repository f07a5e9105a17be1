"""From several classes to binary problems and back.

A scheme defines the binary problems, the layout of their coefficients over the rows, their decision
values, and the class that follows.

One-versus-one trains a machine for each pair a < b, positive for a; each has a vote. A tie in
votes is broken by the summed decision values. One-versus-rest trains one machine per class; the
largest decision value wins. Two classes need one machine, positive for the second.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, ClassVar, NamedTuple, TypeVar, overload

import numpy as np

from maxmargin.core import native
from maxmargin.resources.arrays import Floats, Labels, Mask, Numbers
from maxmargin.resources.memory import large_array

Products = Callable[[Floats, Numbers], Floats]


class Split(NamedTuple):
    """One binary problem: its rows and their signs, +1 or −1."""

    name: str
    rows: Numbers | slice
    signs: Floats


Item = TypeVar("Item")


class Made(Sequence[Item], ABC):
    """A sequence whose items are made when they are asked for: there may be half a million."""

    @abstractmethod
    def make(self, number: int) -> Item:
        """One item."""

    @overload
    def __getitem__(self, number: int) -> Item: ...
    @overload
    def __getitem__(self, number: slice) -> list[Item]: ...
    def __getitem__(self, number: int | slice) -> Item | list[Item]:
        if isinstance(number, slice):
            return [self.make(k) for k in range(*number.indices(len(self)))]
        return self.make(range(len(self))[number])


class Scheme(ABC):
    """How several functions f_k(x) make up one machine; here each has a line of coefficients."""

    in_pairs: ClassVar[bool] = False  # whether each is trained on the rows of two classes alone

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """Groups of support vectors."""

    @abstractmethod
    def splits(self, labels: Numbers) -> Sequence[Split]:
        """The binary problems."""

    def place(self, splits: Sequence[Split], number: int) -> tuple[Any, Any]:
        """Where the coefficients of a problem are."""
        return number, slice(None)

    def scatter(self, splits: Sequence[Split], betas: Sequence[Floats], n: int) -> Floats:
        """The coefficients of all problems over the n rows."""
        return np.array(betas)

    def gather(self, splits: Sequence[Split], coef: Floats) -> list[Floats]:
        """The coefficients of each problem; undoes `scatter`."""
        return [coef[self.place(splits, number)] for number in range(len(splits))]

    def decide(self, coef: Floats, ends: Numbers, products: Products) -> Floats:
        """Decision values of every problem, without offsets.

        `products(coef, ends)` are coef @ K(support vectors, X) for the support vectors between
        any two ends, (parts, lines of coef, rows). Those of class c are from ends[c] to
        ends[c + 1].
        """
        columns: Floats = products(coef, ends[[0, -1]])[0].T
        return columns

    def confidence(self, decisions: Floats) -> Floats:
        """A score per class whose argmax is the class: here the decision values themselves."""
        return decisions


@dataclass(frozen=True)
class PairSplits(Made[Split]):
    """The problems of all pairs a < b, from the rows of each class."""

    classes: Labels
    members: Sequence[Numbers]
    first: Numbers
    second: Numbers

    def __len__(self) -> int:
        return len(self.first)

    def make(self, number: int) -> Split:
        """The rows of a are positive, those of b negative."""
        a, b = self.first[number], self.second[number]
        rows = np.concatenate([self.members[a], self.members[b]])
        signs = np.ones(len(rows))
        signs[len(self.members[a]) :] = -1.0
        return Split(f"{self.classes[a]} v {self.classes[b]}", rows, signs)


@dataclass(frozen=True)
class OneVersusOne(Scheme):
    """A machine for every pair of classes; `labels` number the class of each row."""

    classes: Labels
    in_pairs: ClassVar[bool] = True

    @property
    def n_classes(self) -> int:
        """Each class has its own support vectors."""
        return len(self.classes)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(positive class, negative class) of each machine."""
        if len(self.classes) == 2:
            return [(1, 0)]
        return list(combinations(range(len(self.classes)), 2))

    def splits(self, labels: Numbers) -> Sequence[Split]:
        """The binary problems, in the order of `pairs`."""
        if len(self.classes) == 2:
            signs = np.where(labels == 1, 1.0, -1.0)
            return [Split(f"{self.classes[1]} v {self.classes[0]}", slice(None), signs)]
        order = labels.argsort(kind="stable")
        ends = np.bincount(labels, minlength=len(self.classes)).cumsum().tolist()
        members = [order[start:stop] for start, stop in pairwise([0, *ends])]
        return PairSplits(self.classes, members, *np.triu_indices(len(members), 1))

    def place(self, splits: Sequence[Split], number: int) -> tuple[Any, Any]:
        """Where the coefficients of a pair a < b are: those of class a against b in line b − 1."""
        if len(self.classes) == 2:
            return 0, slice(None)
        split, (a, b) = splits[number], self.pair(number)
        return np.where(split.signs > 0, b - 1, a), split.rows

    def pair(self, number: int) -> tuple[int, int]:
        """(a, b) of the pair with this number: class a comes first in k − 1 − a of them."""
        k, a = len(self.classes), 0
        while number >= k - 1 - a:
            number, a = number - (k - 1 - a), a + 1
        return a, a + 1 + number

    def scatter(self, splits: Sequence[Split], betas: Sequence[Floats], n: int) -> Floats:
        """LIBSVM's layout: (classes − 1, n), a row's coefficients against each other class."""
        coef = np.zeros((len(self.classes) - 1, n))
        for number, beta in enumerate(betas):
            coef[self.place(splits, number)] = beta
        return coef

    def decide(self, coef: Floats, ends: Numbers, products: Products) -> Floats:
        """Decision values of every pair, from what the support vectors of each class add."""
        if len(self.classes) == 2:
            return super().decide(coef, ends, products)
        parts = products(coef, ends)
        pairs = len(self.classes) * (len(self.classes) - 1) // 2
        decisions = large_array((pairs, parts.shape[2]), np.float64)
        native.add_sides(parts, decisions)
        return decisions.T

    def confidence(self, decisions: Floats) -> Floats:
        """A score per class whose argmax is the vote: votes, plus less than ½ for their values."""
        votes, values = self.votes(decisions)
        shares: Floats = values / (3 * (np.abs(values) + 1))
        return (votes + shares).T

    def votes(self, decisions: Floats) -> tuple[Floats, Floats]:
        """Votes for each class from each row, (classes, rows), and the sums of their values."""
        votes = np.zeros((len(self.classes), len(decisions)))
        values: Floats = np.zeros_like(votes)
        native.count_votes(np.ascontiguousarray(decisions.T), votes, values)
        return votes, values

    def ambiguous(self, decisions: Floats) -> Mask:
        """Whether several classes share the most votes of a row; of two classes, never."""
        if len(self.classes) == 2:
            return np.zeros(len(decisions), bool)
        votes, _ = self.votes(decisions)
        shared: Mask = np.sum(votes == votes.max(axis=0), axis=0) > 1
        return shared


@dataclass(frozen=True)
class OneVersusRest(Scheme):
    """A machine for every class against all others."""

    classes: Labels

    @property
    def n_classes(self) -> int:
        """Each class has its own support vectors."""
        return len(self.classes)

    def splits(self, labels: Numbers) -> list[Split]:
        """The binary problems, one per class."""
        return [
            Split(f"{name} v rest", slice(None), np.where(labels == a, 1.0, -1.0))
            for a, name in enumerate(self.classes)
        ]

    def ambiguous(self, decisions: Floats) -> Mask:
        """Whether no machine claims a row, or more than one does."""
        unclear: Mask = np.sum(decisions > 0, axis=1) != 1
        return unclear


def class_of(classes: Labels, scores: Floats) -> Labels:
    """The class of each row: by the sign of its score, or by the largest of its scores."""
    if scores.ndim == 1:
        return classes.take(scores > 0)
    best: Numbers = scores.argmax(axis=1)
    return classes.take(best)


def scheme_of(multiclass: str, classes: Labels) -> OneVersusOne | OneVersusRest:
    """The scheme that `multiclass=` names; two classes need one machine, whatever it is."""
    if multiclass == "ovr" and len(classes) > 2:
        return OneVersusRest(classes)
    return OneVersusOne(classes)


@dataclass(frozen=True)
class AllRows(Scheme):
    """Functions of all rows: a regressor of one or several targets, or the one-class machine."""

    functions: int = 1
    n_classes: ClassVar[int] = 1

    def splits(self, labels: Numbers) -> list[Split]:
        """A problem of all rows for each function."""
        return [Split("all rows", slice(None), np.ones(len(labels)))] * self.functions
