"""A random problem: a few words and numbers from which machine and data are made."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import maxmargin
from maxmargin.kernels import RBF, Constant, Kernel, Laplacian, Linear, Polynomial

CLASSIFIERS = ("SVC", "NuSVC", "LinearSVC")
LINEAR = ("LinearSVC", "LinearSVR")
MACHINES = ("SVC", "SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", *LINEAR)
KERNELS = ("linear", "poly", "rbf", "rbf", "laplacian", "sigmoid", "sum", "product", "precomputed")
FORMATS = (
    *("C", "C", "F", "strided", "read-only", "memmap"),
    *("csr", "csr_matrix", "csc", "coo", "csr int64", "csr duplicates"),
)
WEIGHTS = ("none", "none", "uniform", "six decades", "zeros", "balanced")


@dataclass(frozen=True)
class Problem:
    """All that a problem is made from.

    Attributes
    ----------
    machine, kernel, C, nu, epsilon, fit_intercept, multiclass, loss : of the machine
    n, columns, classes, rank : size of the data; `rank` columns are independent
    scale, offset : of the columns: offset is in standard deviations
    steepness : γ of kernels with a distance, times 2 · scale²
    duplicates, contradictions : share of rows that repeat another, with its or another label
    weights : how rows are weighted
    dtype, layout : of X as it is given
    seed : of all numbers
    """

    machine: str = "SVC"
    kernel: str = "rbf"
    C: float = 1.0
    nu: float = 0.3
    epsilon: float = 0.1
    fit_intercept: bool = True
    multiclass: str = "ovo"
    loss: str = "squared"
    n: int = 20
    columns: int = 2
    classes: int = 2
    rank: int = 100
    scale: float = 1.0
    offset: float = 0.0
    steepness: float = 1.0
    duplicates: float = 0.0
    contradictions: float = 0.0
    weights: str = "none"
    dtype: str = "float64"
    layout: str = "C"
    seed: int = 0

    @classmethod
    def drawn(cls, seed: int, most_rows: int = 3000) -> Problem:
        """The problem with this number."""
        rng = np.random.default_rng(seed)
        size = rng.choice([12, 60, 300, 3000], p=[0.4, 0.45, 0.12, 0.03])
        return cls(
            machine=str(rng.choice(MACHINES)),
            kernel=str(rng.choice(KERNELS)),
            C=float(10.0 ** rng.integers(-4, 7)),
            nu=float(rng.choice([0.05, 0.3, 0.5, 0.9])),
            epsilon=float(rng.choice([0.0, 0.01, 0.1, 1.0])),
            fit_intercept=bool(rng.random() < 0.8),
            multiclass=str(rng.choice(["ovo", "ovr"])),
            loss=str(rng.choice(["linear", "squared"])),
            n=int(rng.integers(1, min(size, most_rows) + 1)),
            columns=int(rng.choice([1, 2, 5, 20])),
            classes=int(rng.choice([2, 2, 3])),
            rank=int(rng.choice([100, 100, 1])),
            scale=float(10.0 ** rng.choice([0, 0, 0, *range(-8, 9), *range(-100, 101, 20)])),
            offset=float(rng.choice([0, 0, *(10.0 ** np.arange(13))])),
            steepness=float(10.0 ** rng.choice([0, 0, 0, *range(-3, 13)])),
            duplicates=float(rng.choice([0.0, 0.0, 0.5])),
            contradictions=float(rng.choice([0.0, 0.0, 0.3])),
            weights=str(rng.choice(WEIGHTS)),
            dtype=str(rng.choice(["float64", "float64", "float32", "int64"])),
            layout=str(rng.choice(FORMATS)),
            seed=seed,
        )

    @property
    def words(self) -> dict[str, Any]:
        """As JSON keeps it: what is not as by default."""
        plain = asdict(Problem())
        return {name: value for name, value in asdict(self).items() if value != plain[name]}

    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """X, dense; labels or targets; weights."""
        rng = np.random.default_rng(self.seed)
        X = rng.standard_normal((self.n, self.columns))
        if self.rank < self.columns:
            X = X[:, : self.rank] @ rng.standard_normal((self.rank, self.columns))
        again = np.flatnonzero(rng.random(self.n) < self.duplicates)
        X[again] = X[rng.integers(0, self.n, len(again))]
        if self.dtype == "int64":
            X = np.round(3 * X)
        signal = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(self.n)
        X = self.scale * (X + self.offset)
        if self.machine in CLASSIFIERS:
            ends = np.quantile(signal, np.arange(1, self.classes) / self.classes)
            y = np.searchsorted(ends, signal)
            y[: self.classes] = np.arange(self.classes)[: self.n]  # of each class there is one
            wrong = rng.random(self.n) < self.contradictions
            wrong[: self.classes] = False
            y = np.where(wrong, (y + 1) % self.classes, y)
        else:
            y = signal
        return X, y, self._weights(rng)

    def _weights(self, rng: np.random.Generator) -> np.ndarray | None:
        if self.weights in ("none", "balanced"):
            return None
        if self.weights == "six decades":
            return 10.0 ** rng.uniform(-3, 3, self.n)
        weights = rng.uniform(0.1, 2.0, self.n)
        if self.weights == "zeros":
            absent = rng.random(self.n) < 0.3
            absent[: max(self.classes, 2)] = False  # of each class there is one
            weights[absent] = 0.0
        return weights

    def data(self) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """X in the layout that is asked for, y, and the weights."""
        X, y, weights = self.rows()
        limits = {"float64": np.inf, "float32": 3e38, "int64": 2**62}
        if np.abs(X).max() < limits[self.dtype]:
            X = X.astype(self.dtype)
        if self.kernel == "precomputed" and self.machine not in LINEAR:
            X = X.astype(float)
            X = X @ X.T
            return laid_out(X, "C" if self.layout in SPARSE else self.layout), y, weights
        return laid_out(X, self.layout), y, weights

    def estimator(self) -> Any:
        """The machine, not fitted."""
        kind = getattr(maxmargin, self.machine)
        options: dict[str, Any] = {"max_time": 5.0}
        if self.machine in LINEAR:
            loss = {"LinearSVC": "hinge", "LinearSVR": "epsilon_insensitive"}[self.machine]
            options["loss"] = f"squared_{loss}" if self.loss == "squared" else loss
        else:
            options["kernel"] = self._kernel()
            if self.kernel == "rbf" and self.steepness != 1:
                options["gamma"] = self._gamma
        if self.machine != "OneClassSVM":
            options["fit_intercept"] = self.fit_intercept
        if self.machine in ("SVC", "SVR", "NuSVR", *LINEAR):
            options["C"] = self.C
        if self.machine in ("NuSVC", "NuSVR", "OneClassSVM"):
            options["nu"] = self.nu
        if self.machine in ("SVR", "LinearSVR"):
            options["epsilon"] = self.epsilon
        if self.machine in ("SVC", "NuSVC"):
            options["multiclass"] = self.multiclass
        if self.machine in CLASSIFIERS and self.weights == "balanced":
            options["class_weight"] = "balanced"
        return kind(**options)

    @property
    def _gamma(self) -> float:
        return 0.5 * self.steepness / self.scale**2

    def _kernel(self) -> str | Kernel:
        gamma = self._gamma
        if self.kernel == "sum":
            return RBF(gamma) + 1e-3 / self.scale**2 * Linear() + Constant(0.5)
        if self.kernel == "product":
            return (
                RBF(gamma) * Polynomial(2, 0.5 / self.scale**2, 1.0)
                if self.seed % 2
                else (RBF(gamma) * Laplacian(0.1 / self.scale))
            )
        return self.kernel


SPARSE = FORMATS[6:]


def laid_out(X: np.ndarray, layout: str) -> Any:
    """The same numbers as an array or a sparse matrix of the given kind."""
    if layout == "F":
        return np.asfortranarray(X)
    if layout == "strided":
        return np.repeat(X, 2, axis=1)[:, ::2]
    if layout == "read-only":
        X.setflags(write=False)
        return X
    if layout == "memmap":
        with tempfile.TemporaryDirectory() as folder:  # the mapping outlives the name
            path = Path(folder) / "X"
            path.write_bytes(np.ascontiguousarray(X).tobytes())
            return np.memmap(path, X.dtype, "r", shape=X.shape)
    if layout in ("csr", "csr_matrix", "csc", "coo"):
        kinds = {"csr": sp.csr_array, "csr_matrix": sp.csr_matrix}
        return kinds.get(layout, getattr(sp, f"{layout}_array", None))(X)
    if layout == "csr int64":
        X = sp.csr_array(X)
        places = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        return sp.csr_array((X.data, *places), X.shape)
    if layout == "csr duplicates":
        X = sp.csr_array(X)
        part = (X.data // 2).astype(X.dtype)
        data = np.ravel(np.column_stack([part, X.data - part]))
        return sp.csr_array((data, np.repeat(X.indices, 2), 2 * X.indptr), X.shape)
    return X
