"""Partitions whose blocks pass through a function, where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import TypeAlias

from maxmargin.resources.arrays import Data
from maxmargin.scale.partitions import Block, Function, Given, Kept, Partitions, Result

Change: TypeAlias = Callable[[Block], Block]


class MappedPartitions(Partitions):
    """The blocks of other partitions, changed each time they are computed with.

    Parameters
    ----------
    data : Partitions
    change : makes a block of a block, row by row or with fewer rows; on a cluster it is sent there

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.scale import ArrayPartitions
    >>> data = ArrayPartitions(np.eye(2), np.array([0, 1]))
    >>> MappedPartitions(data, lambda block: block._replace(X=2 * block.X)).block(0).X
    array([[2., 0.],
           [0., 2.]])
    """

    def __init__(self, data: Partitions, change: Change) -> None:
        self.data, self.change = data, change
        self.count, self.labelled, self.columns = data.count, data.labelled, data.columns
        self.latency = data.latency

    @property
    def workers(self) -> int:
        return self.data.workers

    @property
    def threads(self) -> int | None:
        return self.data.threads

    def name(self, number: int) -> str:
        return self.data.name(number)

    def block(self, number: int) -> Block:
        return self.change(self.data.block(number))

    def held(self, size: float) -> Partitions:
        same = copy(self)
        same.data = self.data.held(size)
        return same

    def step(
        self, function: Function, shared: Given, own: Sequence[Given], states: Sequence[Kept]
    ) -> tuple[Sequence[Kept], list[Result]]:
        return self.data.step(_changed, (self.change, function, shared), own, states)

    def map(self, function: Function, shared: Given, own: Sequence[Given]) -> list[Result]:
        return self.data.map(_changed, (self.change, function, shared), own)

    def answers(self, function: Callable[[Data], Result], like: Data) -> Result:
        return self.data.answers(partial(_answered, self.change, function), like)

    def combined(
        self, function: Callable[[Block], Result], finish: Callable[[list[Result]], Result]
    ) -> Result:
        return self.data.combined(partial(_combined, self.change, function), finish)


def _changed(
    block: Block, shared: tuple[Change, Function, Given], own: Given, *state: Kept
) -> Result:
    change, function, given = shared
    return function(change(block), given, own, *state)


def _answered(change: Change, function: Callable[[Data], Result], X: Data) -> Result:
    return function(change(Block(X)).X)


def _combined(change: Change, function: Callable[[Block], Result], block: Block) -> Result:
    return function(change(block))
