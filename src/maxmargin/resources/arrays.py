"""Names for the types that functions take and return, mostly of arrays."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]  # what is claimed: sums, gradients, objectives
Reals: TypeAlias = NDArray[np.floating[Any]]  # float32 or float64, as the caller asks
Entries: TypeAlias = NDArray[
    Any
]  # kernel values: float32, float64, or uint16 in units of 1/native.UNIT
Numbers: TypeAlias = NDArray[np.integer[Any]]  # of rows or columns, counted from 0
Mask: TypeAlias = NDArray[np.bool_]
Labels: TypeAlias = NDArray[Any]  # classes, as users name them: numbers or strings
Records: TypeAlias = NDArray[np.void]  # a structured array
Data: TypeAlias = Any  # rows of X: a dense array, a CSR matrix, or objects of a user's kernel
Real: TypeAlias = float | np.floating[Any]
Index: TypeAlias = int | np.integer[Any]
RealType: TypeAlias = type[np.floating[Any]]  # np.float32 or np.float64
RandomState: TypeAlias = int | np.random.RandomState | None  # what `random_state` may be
Random: TypeAlias = np.random.RandomState  # what scikit-learn's `random_state` stands for
