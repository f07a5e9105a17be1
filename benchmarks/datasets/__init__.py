"""Data sets by name: generated ones anyone can run, real ones from the folder MAXMARGIN_DATA.

A data set is a function of the number of rows to train on. All values are float32 numbers, so
that a library given float32 and one given float64 see exactly the same problem.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.datasets import generated, real

__all__ = ["Data", "load"]


@dataclass(frozen=True)
class Data:
    """Rows to train on (X, y) and rows to predict (Xt, yt), in float64."""

    X: np.ndarray | csr_matrix
    y: np.ndarray
    Xt: np.ndarray | csr_matrix
    yt: np.ndarray


@lru_cache(maxsize=2)
def load(name: str, n: int | None = None) -> Data:
    """The data set `name`; a FileNotFoundError says that it is not on this machine."""
    source = getattr(generated, name, None) or getattr(real, name)
    X, y, Xt, yt = source(n) if n else source()
    X, y, Xt, yt = (part.astype(np.float32).astype(np.float64) for part in (X, y, Xt, yt))
    return Data(X, y, Xt, yt)
