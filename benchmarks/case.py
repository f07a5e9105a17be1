"""What the benchmark speaks about: a case goes to every library, an answer comes back."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Case:
    """One machine with its parameters on one data set.

    Parameters
    ----------
    kind : str
        The table it belongs to: train, sparse, multiclass, SVR, …
    data : str
        Name of a function of `benchmarks.datasets`.
    n : int, optional
        Rows to train on; all of a real data set when not given.
    machine : str
        SVC, SVR, OneClassSVM or LinearSVC, by its name in scikit-learn.
    gamma : float
        Of the RBF kernel; unused by LinearSVC.
    loss : str
        hinge or squared_hinge, of LinearSVC only.
    cache : str
        `matrix` gives a library a cache as large as the kernel matrix, `default` leaves its own.
    tol : float
        The KKT gap to be reached. For LinearSVC, whose libraries all mean something else by
        their tolerance, the relative duality gap.
    only : tuple of str
        Names of the libraries that run it; all that have the machine when empty.
    """

    kind: str
    data: str
    n: int | None = None
    machine: str = "SVC"
    C: float = 1.0
    gamma: float = 1.0
    loss: str = "hinge"
    epsilon: float = 0.1
    nu: float = 0.1
    cache: str = "matrix"
    tol: float = 1e-3
    only: tuple[str, ...] = ()

    @property
    def series(self) -> tuple[object, ...]:
        """Cases that differ only in their number of rows."""
        return (self.kind, self.data, self.machine, self.C, self.gamma, self.loss, self.tol)

    @property
    def label(self) -> str:
        parameter = f"ν={self.nu:g}" if self.machine == "OneClassSVM" else f"C={self.C:g}"
        rows = f" {self.n:,}" if self.n else ""
        cache = ", default cache" if self.cache == "default" else ""
        linear = f", {self.loss}, gap {self.tol:g}" if self.machine == "LinearSVC" else ""
        return f"{self.data}{rows}, {parameter}{cache}{linear}"


@dataclass(frozen=True)
class Part:
    """The coefficients of one dual problem: β on `support`, zero elsewhere.

    `pair` names the positive and the negative class of a classifier, else it is None.
    """

    support: np.ndarray
    beta: np.ndarray
    intercept: float
    pair: tuple[float, float] | None = None


@dataclass(frozen=True)
class Answer:
    """What a library found: one part for each dual problem, or the weights of a linear machine."""

    parts: list[Part] = field(default_factory=list)
    weights: np.ndarray | None = None
