"""The archive that stores a model: arrays by name, all else in the document."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp

from maxmargin.io.archive import REALS, Archive, Shape, check_finite, stored
from maxmargin.io.container import Model, ModelFileError, Node, Table
from maxmargin.io.values import plain
from maxmargin.kernels.formula import tree_of
from maxmargin.resources.arrays import Labels, Records


class Writer(Archive):
    """Stores attributes: arrays by name in `arrays`, all else in the node."""

    writes = True

    def __init__(
        self,
        node: Node,
        arrays: dict[str, Table],
        prefix: str,
        describe: Callable[[Model, dict[str, Table], str], Node],
    ) -> None:
        super().__init__(node, prefix)
        self.arrays, self.describe = arrays, describe

    def has(self, owner: Model, attribute: str) -> bool:
        return hasattr(owner, attribute)

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
        value = np.asarray(getattr(owner, attribute))
        if value.dtype not in dtypes:
            value = value.astype(dtypes[-1], casting="safe")
        self.check_shape(attribute, value.shape, shape)
        self._put(attribute, value)

    def _put(self, attribute: str, value: Table) -> None:
        self.arrays[self.prefix + stored(attribute)] = value

    def rows(
        self, owner: Model, attribute: str, shape: Shape, dtypes: Sequence[type[np.generic]] = REALS
    ) -> None:
        value = getattr(owner, attribute)
        if not sp.issparse(value):
            if np.asarray(value).dtype.kind == "O":
                raise ModelFileError(
                    f"{attribute} are objects, and a model file has tables of numbers only"
                )
            self.array(owner, attribute, shape, dtypes)
            return
        self.check_shape(attribute, value.shape, shape)
        csr = sp.csr_array(value)
        kind = "matrix" if isinstance(value, sp.spmatrix) else "array"
        self.node[stored(attribute)] = {"csr": kind, "shape": list(value.shape)}
        for part in ("data", "indices", "indptr"):
            self._put(f"{stored(attribute)}.{part}", getattr(csr, part))

    def labels(self, owner: Model, attribute: str, shape: Shape, *, ordered: bool = True) -> None:
        value = np.asarray(getattr(owner, attribute))
        self.check_shape(attribute, value.shape, shape)
        if value.dtype.kind in "biuf":
            check_finite(attribute, value)
            self.node[stored(attribute)] = {"dtype": value.dtype.str.lstrip("<>=|")}
            self._put(attribute, value.astype(np.float64 if value.dtype.kind == "f" else np.int64))
            return
        if not all(isinstance(each, str) for each in value.tolist()):
            raise ModelFileError(f"{attribute} are neither numbers nor words: {value[:3].tolist()}")
        self.node[stored(attribute)] = {"dtype": "object" if value.dtype.kind == "O" else "str"}
        self._words(attribute, value)

    def names(self, owner: Model, attribute: str, shape: Shape) -> None:
        if hasattr(owner, attribute):
            value = np.asarray(getattr(owner, attribute), object)
            self.check_shape(attribute, value.shape, shape)
            self._words(attribute, value)

    def _words(self, attribute: str, value: Labels) -> None:
        """UTF-8, one after the other, and where each ends."""
        texts = [word.encode() for word in value.tolist()]
        ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
        self._put(attribute, np.frombuffer(b"".join(texts), np.uint8))
        self._put(f"{stored(attribute)}.ends", ends)

    def value(self, owner: Model, attribute: str, *kinds: type) -> None:
        self.node[stored(attribute)] = plain(getattr(owner, attribute), attribute)

    def kernel(self, owner: Model, attribute: str) -> None:
        self.node[stored(attribute)] = tree_of(getattr(owner, attribute))

    def model(self, owner: Model, attribute: str) -> None:
        name = stored(attribute)
        prefix = f"{self.prefix}{name}."
        self.node[name] = self.describe(getattr(owner, attribute), self.arrays, prefix)

    def records(self, owner: Model, attribute: str) -> None:
        value: Records = getattr(owner, attribute)
        names = value.dtype.names or ()
        self.node[stored(attribute)] = [[name, value.dtype[name].str[1:]] for name in names]
        columns = [value[name].astype(np.float64) for name in names]
        self._put(attribute, np.column_stack(columns))
