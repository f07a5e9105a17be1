"""Rows in partitions: what training past memory and past the machine needs of data.

A partition is a block of rows with their labels and weights. Only one thing is ever done with it: a
function is mapped over all of them, where they are (`map`), or mapped with a state per partition
that stays where its rows are (`step`). Nothing else depends on whether the rows lie in memory, in
files or on a cluster.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from maxmargin.resources.arrays import Data, Floats, Labels


class Block(NamedTuple):
    """The rows of one partition.

    Attributes
    ----------
    X : array or CSR of shape (rows, columns)
    y : labels or targets, or None
    weights : sample weights, or None
    columns : their names, of a partition that is a table of its own
    """

    X: Data
    y: Labels | None = None
    weights: Floats | None = None
    columns: tuple[str, ...] | None = None

    @property
    def weights_or_ones(self) -> Floats:
        """The weight of each row."""
        return np.ones(self.X.shape[0]) if self.weights is None else self.weights


Given: TypeAlias = Any  # an argument of a function: shared by all partitions, or one's own
Kept: TypeAlias = Any  # a state that stays where its rows are, or what stands for it
Result: TypeAlias = Any  # what a function gives for a partition
# function(block, shared, own) -> result, and function(block, shared, own, state) -> (state, result)
Function = Callable[..., Result]


class Partitions(ABC):
    """Rows in partitions.

    Attributes
    ----------
    count : number of partitions
    columns : names of the columns, if they have some
    labelled : whether rows come with labels
    latency : seconds that a step takes at least, because the rows are in other processes
    """

    count: int
    latency: float = 0.0
    labelled: bool = True
    columns: Sequence[str] | None = None

    @property
    def workers(self) -> int:
        """How many processes compute at once."""
        return 1

    @property
    def threads(self) -> int | None:
        """Threads that a function may use; None for all cores."""
        return None

    @abstractmethod
    def name(self, number: int) -> str:
        """What to call a partition in a message."""

    @abstractmethod
    def block(self, number: int) -> Block:
        """The rows of a partition, brought here."""

    @abstractmethod
    def step(
        self, function: Function, shared: Given, own: Sequence[Given], states: Sequence[Kept]
    ) -> tuple[Sequence[Kept], list[Result]]:
        """function(block, shared, own_k, state_k) → (state_k, result_k), over all partitions.

        States stay where the rows are: what is returned here, and given again in the next step,
        stands for them. The first states are None.
        """

    def map(self, function: Function, shared: Given, own: Sequence[Given]) -> list[Result]:
        """function(block, shared, own_k) over all partitions."""
        states = [None] * self.count
        return self.step(without_state, (function, shared), own, states)[1]

    @abstractmethod
    def answers(self, function: Callable[[Data], Result], like: Data) -> Result:
        """function(X) of every block, one after the other; `like` is what it gives for a row."""

    @abstractmethod
    def combined(
        self, function: Callable[[Block], Result], finish: Callable[[list[Result]], Result]
    ) -> Result:
        """finish([function(block), …]): one number from all partitions."""

    def held(self, size: float) -> Partitions:
        """The same rows for the many rounds of a fit; `size` is how many bytes they take."""
        return self

    def __len__(self) -> int:
        return self.count


def without_state(block: Block, shared: Given, own: Given, state: None) -> tuple[None, Result]:
    """The function of a map as that of a step: no state is kept."""
    function, given = shared
    return None, function(block, given, own)


class LocalPartitions(Partitions):
    """Partitions that this process computes one after the other, the next being read meanwhile."""

    def step(
        self, function: Function, shared: Given, own: Sequence[Given], states: Sequence[Kept]
    ) -> tuple[Sequence[Kept], list[Result]]:
        parts = zip(self.blocks(), own, states, strict=True)
        done = [function(block, shared, mine, state) for block, mine, state in parts]
        return [state for state, _ in done], [result for _, result in done]

    def answers(self, function: Callable[[Data], Result], like: Data) -> Result:
        return np.concatenate([function(block.X) for block in self.blocks() if block.X.shape[0]])

    def combined(
        self, function: Callable[[Block], Result], finish: Callable[[list[Result]], Result]
    ) -> Result:
        return finish([function(block) for block in self.blocks()])

    def blocks(self) -> Iterator[Block]:
        """The blocks in turn."""
        with ThreadPoolExecutor(1, thread_name_prefix="maxmargin-reader") as reader:
            coming = reader.submit(self.block, 0)
            for number in range(self.count):
                block = coming.result()
                if number + 1 < self.count:
                    coming = reader.submit(self.block, number + 1)
                yield block


def checked_block(X: Data, y: Labels | None, weights: Floats | None, name: str) -> Block:
    """A block of numbers, or an error that names the partition."""
    columns = tuple(map(str, X.columns)) if hasattr(X, "columns") else None
    if hasattr(X, "to_numpy"):  # a table of pandas or polars
        X = X.to_numpy()
    if not sp.issparse(X):
        X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"{name}: rows need a table of two dimensions, got {X.ndim}")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"{name}: X has the dtype {X.dtype}, which is not one of numbers")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    X = sp.csr_array(X) if sp.issparse(X) else np.ascontiguousarray(X)
    for what, values in (("y", y), ("sample_weight", weights)):
        if values is not None and len(values) != X.shape[0]:
            raise ValueError(f"{name}: {X.shape[0]} rows of X but {len(values)} of {what}")
    y = None if y is None else np.asarray(y)
    if y is not None and y.size != X.shape[0]:
        raise ValueError(f"{name}: y has the shape {y.shape}, but a row has one label")
    y = None if y is None else y.ravel()
    weights = None if weights is None else np.maximum(np.asarray(weights, float).ravel(), 0.0)
    return Block(X, y, weights, columns)
