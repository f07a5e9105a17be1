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
    rbf, linear : float
        The kernel is rbf · exp(−γ‖x − z‖²) + linear · γxᵀz; only maxmargin has others than (1, 0).
    loss : str
        hinge, squared_hinge or crammer_singer (more than two classes), of LinearSVC only.
    penalty : str
        l2 or l1, of LinearSVC only.
    multiclass : str
        ovo or ovr, of SVC with more than two classes.
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
    rbf: float = 1.0
    linear: float = 0.0
    loss: str = "hinge"
    penalty: str = "l2"
    epsilon: float = 0.1
    nu: float = 0.1
    multiclass: str = "ovo"
    cache: str = "matrix"
    tol: float = 1e-3
    only: tuple[str, ...] = ()

    @property
    def series(self) -> tuple[object, ...]:
        """Cases that differ only in their number of rows."""
        kernel = (self.gamma, self.rbf, self.linear)
        return (
            self.kind,
            self.data,
            self.machine,
            self.C,
            *kernel,
            self.loss,
            self.penalty,
            self.tol,
        )

    @property
    def label(self) -> str:
        parameter = f"ν={self.nu:g}" if self.machine == "OneClassSVM" else f"C={self.C:g}"
        rows = f" {self.n:,}" if self.n else ""
        cache = ", default cache" if self.cache == "default" else ""
        penalty = ", ℓ₁" if self.penalty == "l1" else ""
        linear = f", {self.loss}{penalty}, gap {self.tol:g}" if self.machine == "LinearSVC" else ""
        return f"{self.data}{rows}, {parameter}{self.kernel}{cache}{linear}"

    @property
    def kernel(self) -> str:
        """The kernel for the label, where a case is about it."""
        if self.kind != "kernels":
            return ""
        terms = {"RBF": self.rbf, "linear": self.linear}
        shown = [
            f"{weight:g} {term}".removeprefix("1 ") for term, weight in terms.items() if weight
        ]
        return ", " + " + ".join(shown)


@dataclass(frozen=True)
class Part:
    """The coefficients of one dual problem: β on `support`, zero elsewhere.

    `pair` names the positive and the negative class of a classifier, else it is None; the negative
    class is None if it is all the others.
    """

    support: np.ndarray
    beta: np.ndarray
    intercept: float
    pair: tuple[float, float | None] | None = None


@dataclass(frozen=True)
class Answer:
    """What a library found: one part for each dual problem, or the weights of a linear machine.

    Of several classes the weights have one line for each, in the order of the labels.
    """

    parts: list[Part] = field(default_factory=list)
    weights: np.ndarray | None = None
