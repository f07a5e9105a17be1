"""The model so far, saved after each round: a fit that was killed continues from there.

The file is NumPy's npz: for each problem the rows with a coefficient, as they are, and β of their
variables; and a fingerprint of the data and the kernel, so that it is not taken for another fit's.
"""

from __future__ import annotations

import os
import warnings
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias
from zipfile import BadZipFile

import numpy as np
import scipy.sparse as sp

from maxmargin.hardware.arrays import Floats
from maxmargin.scale.rows import Rows

Part = tuple[Rows, Floats]
Arrays: TypeAlias = dict[str, Any]


@dataclass
class Checkpoint:
    """Where the model so far is saved.

    Attributes
    ----------
    path : of the file
    fingerprint : of the data and the kernel
    parts : the rows and β of each problem, by its number
    """

    path: Path
    fingerprint: str
    parts: dict[int, Part] = field(default_factory=dict)
    _lock: AbstractContextManager[bool] = field(default_factory=Lock, repr=False)

    def load(self) -> None:
        """Read the file if there is one; raise if it is not of this fit, or not whole."""
        if not self.path.exists():
            return
        try:
            with self.path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                stored = dict(file)
        except (OSError, ValueError, EOFError, BadZipFile) as error:
            raise ValueError(
                f"checkpoint {self.path} cannot be read ({error}): delete it to begin anew"
            ) from error
        if str(stored.get("fingerprint")) != self.fingerprint:
            raise ValueError(
                f"checkpoint {self.path} is of another fit: of {stored.get('fingerprint')}, not of "
                f"{self.fingerprint}. Give another path, or delete it to begin anew"
            )
        numbers = {int(name.split(".")[0]) for name in stored if "." in name}
        self.parts = {number: _unpacked(stored, f"{number}.") for number in numbers}

    def save(self, number: int, rows: Rows, beta: Floats) -> None:
        """Save the model so far of a problem, with those of the others; warn if it cannot be."""
        with self._lock:
            self.parts[number] = rows, beta
            arrays: Arrays = {"fingerprint": np.array(self.fingerprint)}
            for each, part in self.parts.items():
                arrays |= _packed(*part, f"{each}.")
            unfinished = self.path.with_name(f"{self.path.name}.{os.getpid()}")
            try:
                with unfinished.open("wb") as file:
                    np.savez(file, **arrays)
                unfinished.replace(self.path)
            except OSError as error:
                unfinished.unlink(missing_ok=True)
                warnings.warn(
                    f"checkpoint {self.path} was not saved: {error.strerror or error}. The fit "
                    "goes on; the file, if there is one, is that of an earlier round",
                    RuntimeWarning,
                    stacklevel=2,
                )


def _packed(rows: Rows, beta: Floats, name: str) -> Arrays:
    stored = {"numbers": rows.numbers, "beta": beta}
    if rows.y is not None:
        stored["y"] = np.asarray(rows.y.tolist()) if rows.y.dtype == object else rows.y
    if rows.weights is not None:
        stored["weights"] = rows.weights
    if sp.issparse(rows.X):
        X = rows.X
        stored |= {"data": X.data, "indices": X.indices, "indptr": X.indptr}
        stored["shape"] = np.array(X.shape)
    else:
        stored["X"] = rows.X
    return {name + key: value for key, value in stored.items()}


def _unpacked(stored: Arrays, name: str) -> Part:
    given = {key.removeprefix(name): value for key, value in stored.items() if key.startswith(name)}
    X = given.get("X")
    if X is None:
        parts = given["data"], given["indices"], given["indptr"]
        X = sp.csr_array(parts, shape=tuple(given["shape"].tolist()))
    return Rows(given["numbers"], X, given.get("y"), given.get("weights")), given["beta"]
