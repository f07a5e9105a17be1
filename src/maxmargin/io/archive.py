"""Visitors of the fitted attributes of a model: one stores them in a file, one sets them from it.

A machine has one description in `records`: which attributes make it up, their dtypes and shapes.
Given a `Writer` the description stores them, given a `Reader` it checks and sets them, so that the
two cannot come apart. A shape names its sizes, ("support", "columns"): a name that comes again must
be the same number, in a model as in a file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, TypeAlias

import numpy as np

from maxmargin.io.container import Json, Model, ModelFileError, Node, Table

Shape: TypeAlias = tuple[int | str, ...]
REALS = (np.float32, np.float64)
CHUNK = 1 << 20  # entries looked at together: the check of a large array takes no second one


class Archive(ABC):
    """Visits the attributes of a model; `node` is its part of the document."""

    writes: ClassVar[bool]

    def __init__(self, node: Node, prefix: str) -> None:
        self.node, self.prefix = node, prefix
        self.sizes: dict[str, int] = {}

    @abstractmethod
    def array(
        self,
        owner: Model,
        attribute: str,
        shape: Shape,
        dtypes: Sequence[type[np.generic]] = (np.float64,),
        *,
        below: int | None = None,
        finite: bool = True,
    ) -> None:
        """A dense array; integers are at least 0, and less than `below` if it is given."""

    @abstractmethod
    def rows(
        self, owner: Model, attribute: str, shape: Shape, dtypes: Sequence[type[np.generic]] = REALS
    ) -> None:
        """A dense array, or a CSR matrix as three arrays."""

    @abstractmethod
    def labels(self, owner: Model, attribute: str, shape: Shape, *, ordered: bool = True) -> None:
        """Numbers or words, each once; in increasing order if they are `ordered`."""

    @abstractmethod
    def names(self, owner: Model, attribute: str, shape: Shape) -> None:
        """Words, if the attribute is there."""

    @abstractmethod
    def value(self, owner: Model, attribute: str, *kinds: type) -> None:
        """A number, a word, or a list of them, of one of these types."""

    @abstractmethod
    def kernel(self, owner: Model, attribute: str) -> None:
        """A kernel."""

    @abstractmethod
    def model(self, owner: Model, attribute: str) -> None:
        """Another model."""

    @abstractmethod
    def records(self, owner: Model, attribute: str) -> None:
        """A structured array of numbers."""

    @abstractmethod
    def has(self, owner: Model, attribute: str) -> bool:
        """Whether an attribute that not every model has is there."""

    def check_shape(self, what: str, found: tuple[int, ...], wanted: Shape) -> None:
        """Compare a shape with the sizes known so far, and learn those it names first."""
        sizes = [self.sizes.get(size) if isinstance(size, str) else size for size in wanted]
        same = len(found) == len(wanted) and all(
            size in (None, length) for size, length in zip(sizes, found, strict=True)
        )
        if not same:
            words = ", ".join(
                str(size) if known is None or known == size else f"{size} = {known}"
                for size, known in zip(wanted, sizes, strict=True)
            )
            raise ModelFileError(f"{what} has the shape {found}, which should be ({words})")
        self.sizes.update(
            {
                size: length
                for size, length in zip(wanted, found, strict=True)
                if isinstance(size, str)
            }
        )


def stored(attribute: str) -> str:
    """The name of an attribute in a file: without the underscores that are Python's."""
    return attribute.strip("_")


def whole(value: Json) -> int:
    """A whole number ≥ 0 of the document."""
    if type(value) is not int or not 0 <= value < 2**62:
        raise ModelFileError(f"{value!r} should be a whole number")
    return value


def check_finite(name: str, array: Table) -> None:
    """Raise if a number is NaN or infinite; a part of the array at a time."""
    flat = array.reshape(-1)
    for start in range(0, len(flat), CHUNK):
        if not np.isfinite(flat[start : start + CHUNK]).all():
            raise ModelFileError(f"{name} has a number that is NaN or infinite")
