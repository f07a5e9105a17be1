"""The archive that makes a model: what a file has is checked before it is set."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp

from maxmargin.io.archive import CHUNK, REALS, Archive, Shape, check_finite, stored, whole
from maxmargin.io.container import Arrays, Model, ModelFileError, Node, Table
from maxmargin.io.values import made
from maxmargin.kernels.formula import Own, kernel_of
from maxmargin.resources.arrays import Labels, Numbers

RECORD_KINDS = ("f8", "i8")
LABEL_KINDS = {"b1", *(f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)), "f4", "f8"}


class Reader(Archive):
    """Checks what a file has, and sets the attributes."""

    writes = False

    def __init__(
        self,
        node: Node,
        arrays: Arrays,
        prefix: str,
        own: Own,
        build: Callable[[Model, Arrays, str, Own], Model],
    ) -> None:
        super().__init__(node, prefix)
        self.arrays, self.own, self.build = arrays, own, build

    def has(self, owner: Model, attribute: str) -> bool:
        name = stored(attribute)
        return name in self.node or self.prefix + name in self.arrays

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
        setattr(owner, attribute, self._get(attribute, shape, dtypes, below, finite))

    def _get(
        self,
        attribute: str,
        shape: Shape,
        dtypes: Sequence[type[np.generic]],
        below: int | None = None,
        finite: bool = True,
        signed: bool = False,
    ) -> Table:
        name = self.prefix + stored(attribute)
        if name not in self.arrays:
            raise ModelFileError(f"the array {name!r} is missing")
        array = self.arrays[name]
        if array.dtype not in dtypes:
            kinds = " or ".join(np.dtype(each).name for each in dtypes)
            raise ModelFileError(f"{name} has the dtype {array.dtype}, which should be {kinds}")
        self.check_shape(name, array.shape, shape)
        if array.dtype.kind == "f" and finite:
            check_finite(name, array)
        if array.dtype.kind == "i" and array.size and not signed:
            low, high = int(array.min()), int(array.max())
            if low < 0 or (below is not None and high >= below):
                raise ModelFileError(
                    f"{name} has the number {low if low < 0 else high}, out of range"
                )
        return array

    def rows(
        self, owner: Model, attribute: str, shape: Shape, dtypes: Sequence[type[np.generic]] = REALS
    ) -> None:
        name = stored(attribute)
        if name not in self.node:
            self.array(owner, attribute, shape, dtypes)
            return
        kind, found = self.node[name]["csr"], tuple(map(whole, self.node[name]["shape"]))
        self.check_shape(self.prefix + name, found, shape)
        rows, columns = found
        data = self._get(f"{name}.data", (f"{name}.data",), dtypes)
        indices = self._get(f"{name}.indices", data.shape, (np.int32, np.int64), columns)
        indptr = self._get(f"{name}.indptr", (rows + 1,), (np.int32, np.int64), len(data) + 1)
        check_csr(self.prefix + name, indices, indptr)
        make = sp.csr_matrix if kind == "matrix" else sp.csr_array
        setattr(owner, attribute, make((data, indices, indptr), shape=found, copy=False))

    def labels(self, owner: Model, attribute: str, shape: Shape, *, ordered: bool = True) -> None:
        name = stored(attribute)
        kind = self.node[name]["dtype"]
        if kind in ("str", "object"):
            value: Labels = self._words(attribute, shape)
            value = value.astype(str) if kind == "str" else value
        else:
            if not isinstance(kind, str) or kind not in LABEL_KINDS:
                raise ModelFileError(f"{name} has the dtype {kind!r}, which no label has")
            wide = np.float64 if kind[0] == "f" else np.int64
            given = self._get(attribute, shape, (wide,), signed=True)
            value = given.astype(kind)
            if not np.array_equal(value, given):
                raise ModelFileError(f"{name} has numbers that {kind} has not")
        inner = np.unique(value)
        if len(inner) < len(value) or (ordered and (inner != value).any()):
            raise ModelFileError(f"{name} are not in increasing order, each once")
        setattr(owner, attribute, value)

    def names(self, owner: Model, attribute: str, shape: Shape) -> None:
        if self.prefix + stored(attribute) in self.arrays:
            setattr(owner, attribute, self._words(attribute, shape))

    def _words(self, attribute: str, shape: Shape) -> Labels:
        name = stored(attribute)
        text = self._get(attribute, (f"{name}.bytes",), (np.uint8,))
        ends = self._get(f"{name}.ends", shape, (np.int64,), len(text) + 1)
        if len(ends) and (ends[-1] != len(text) or (np.diff(ends) < 0).any()):
            raise ModelFileError(f"{self.prefix}{name}.ends do not go up to the end of the text")
        whole_text, words, start = text.tobytes(), np.empty(len(ends), object), 0
        for i, end in enumerate(ends.tolist()):
            words[i], start = whole_text[start:end].decode(), end
        return words

    def value(self, owner: Model, attribute: str, *kinds: type) -> None:
        name = stored(attribute)
        if name not in self.node:
            raise ModelFileError(f"{name!r} is missing")
        value = made(self.node[name], self.own)
        if kinds == (float,) and type(value) is int:
            value = float(value)
        if type(value) not in kinds:
            raise ModelFileError(f"{name} is {value!r}, which should be a {kinds[0].__name__}")
        setattr(owner, attribute, value)

    def kernel(self, owner: Model, attribute: str) -> None:
        setattr(owner, attribute, kernel_of(self.node.get(stored(attribute)), self.own))

    def model(self, owner: Model, attribute: str) -> None:
        name = stored(attribute)
        prefix = f"{self.prefix}{name}."
        setattr(owner, attribute, self.build(self.node.get(name), self.arrays, prefix, self.own))

    def records(self, owner: Model, attribute: str) -> None:
        name, columns = stored(attribute), self.node[stored(attribute)]
        if any(kind not in RECORD_KINDS for _, kind in columns):
            raise ModelFileError(f"{name} has columns of another kind than {RECORD_KINDS}")
        table = self._get(attribute, (f"{name}.rows", len(columns)), (np.float64,), finite=False)
        record = np.empty(len(table), [(str(each), kind) for each, kind in columns])
        for number, (each, kind) in enumerate(columns):
            if kind == "i8":
                check_finite(name, table[:, number])
            record[each] = table[:, number]
        setattr(owner, attribute, record)


def check_csr(name: str, indices: Numbers, indptr: Numbers) -> None:
    """Raise unless rows follow each other and the columns of each increase."""
    if indptr[0] != 0 or indptr[-1] != len(indices) or (np.diff(indptr) < 0).any():
        raise ModelFileError(f"{name}.indptr does not divide its entries into rows")
    for start in range(0, len(indices), CHUNK):
        part = indices[start : start + CHUNK + 1]
        falls = start + 1 + np.flatnonzero(part[1:] <= part[:-1])
        if not np.isin(falls, indptr).all():
            raise ModelFileError(f"{name}.indices do not increase within each row")
