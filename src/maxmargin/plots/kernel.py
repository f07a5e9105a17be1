"""Kernels: the Gram matrix, and the error of features that approximate it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import column_or_1d

from maxmargin.kernels import Kernel
from maxmargin.plots.display import Display
from maxmargin.plots.palette import axes_or_new, ink
from maxmargin.resources.arrays import Floats, Labels, RandomState

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D


@dataclass(kw_only=True, eq=False, repr=False)
class KernelMatrixDisplay(Display):
    """The kernel matrix as a heat map, its rows ordered by class.

    A kernel that suits the labels shows bright blocks on the diagonal: rows are similar to those
    of their own class.

    Use `from_kernel` to create one.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Kernel values, ordered by class.
    classes : ndarray
        The classes, in their order.
    counts : ndarray of int
        Rows of each class.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    image_ : AxesImage
    lines_ : list of Line2D
        Between the classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin.kernels import RBF
    >>> from maxmargin.plots import KernelMatrixDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = KernelMatrixDisplay.from_kernel(RBF(gamma=0.5), X[::5], y[::5])
    >>> display.counts
    array([10, 10, 10])
    """

    matrix: Floats
    classes: Labels
    counts: NDArray[np.integer]

    @classmethod
    def from_kernel(
        cls, kernel: Kernel, X: ArrayLike, y: ArrayLike, *, ax: Axes | None = None
    ) -> Self:
        """Evaluate a kernel on all pairs of rows and draw it.

        Parameters
        ----------
        kernel : Kernel
            Of `maxmargin.kernels`.
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        """
        rows, labels = check_array(X), column_or_1d(y)
        return cls.from_matrix(kernel.bind(rows)(rows, rows), labels, ax=ax)

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, y: ArrayLike, *, ax: Axes | None = None) -> Self:
        """Draw a given matrix of kernel values.

        Parameters
        ----------
        matrix : array-like of shape (n_samples, n_samples)
        y : array-like of shape (n_samples,)
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        """
        values, labels = np.asarray(matrix, float), column_or_1d(y)
        if values.shape != (len(labels), len(labels)):
            raise ValueError(f"{len(labels)} labels, but a kernel matrix of shape {values.shape}")
        classes, numbers, counts = np.unique(labels, return_inverse=True, return_counts=True)
        order = np.argsort(numbers, kind="stable")
        display = cls(matrix=values[np.ix_(order, order)], classes=classes, counts=counts)
        return display.plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        signed = bool(self.matrix.min() < 0)
        reach = np.abs(self.matrix).max()
        self.image_: AxesImage = ax.imshow(
            self.matrix,
            cmap="PuOr" if signed else "cividis",
            vmin=-reach if signed else 0,
            vmax=reach,
            interpolation="nearest",
        )
        ends = np.cumsum(self.counts)
        self.lines_: list[Line2D] = [
            line(end - 0.5, color="white", linewidth=1.2)
            for end in ends[:-1]
            for line in (ax.axhline, ax.axvline)
        ]
        names, middles = [str(name) for name in self.classes], ends - self.counts / 2 - 0.5
        # Side by side if each fits above its block, at some forty letters to the side of a square.
        fits = all(40 * self.counts / ends[-1] > [len(name) + 1 for name in names])
        slanted: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
        ax.set_xticks(middles, names, **({} if fits else slanted))
        ax.set_yticks(middles, names)
        ax.set(xlabel="class", ylabel="class")
        ax.tick_params(length=0)
        ax.figure.colorbar(self.image_, ax=ax, shrink=0.8, label="kernel value")


@dataclass(kw_only=True, eq=False, repr=False)
class KernelErrorDisplay:
    r"""How far features are from the kernel, against their number D.

    The error is the root mean square of :math:`z(x)^T z(x') - k(x, x')` over pairs of rows. Of D
    independent features it falls like :math:`1/\sqrt{D}`, the dashed line through the first.

    Use `from_features` to create one.

    Parameters
    ----------
    sizes : ndarray of int
        Values of D.
    errors : ndarray of shape (n_sizes, n_repeats)
        The errors there.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    line_ : Line2D
        The mean error.
    law_ : Line2D
        1/√D, through the first point of the first features drawn on these axes.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.features import RandomFourierFeatures
    >>> from maxmargin.plots import KernelErrorDisplay
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> features = RandomFourierFeatures(gamma=0.5)
    >>> display = KernelErrorDisplay.from_features(features, X, sizes=[10, 1000])
    >>> first, last = display.errors.mean(axis=1)
    >>> bool(5 < first / last < 20)
    True
    """

    sizes: NDArray[np.integer]
    errors: Floats

    @classmethod
    def from_features(
        cls,
        features: Any,
        X: ArrayLike,
        *,
        sizes: Sequence[int] = (10, 30, 100, 300, 1000),
        repeats: int = 10,
        random_state: RandomState = 0,
        name: str = "features",
        ax: Axes | None = None,
    ) -> Self:
        """Make features of several sizes several times, and measure them.

        Parameters
        ----------
        features : transformer
            With parameters `n_components` and `random_state` and a method
            `approximation_error`: those of `maxmargin.features`.
        X : array-like of shape (n_samples, n_features)
            Rows to fit and to measure on.
        sizes : sequence of int
            Values of D.
        repeats : int, default=10
            Draws of features per size.
        random_state : int or RandomState, default=0
            Seed of their seeds.
        name : str, default="features"
            What to call the line in the legend.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        """
        rows = check_array(X)
        random = check_random_state(random_state)
        errors = np.empty((len(sizes), repeats))
        for place in np.ndindex(errors.shape):
            drawn = clone(features).set_params(
                n_components=sizes[place[0]], random_state=random.randint(2**31 - 1)
            )
            errors[place] = drawn.fit(rows).approximation_error(rows)
        return cls(sizes=np.asarray(sizes), errors=errors).plot(ax=ax, name=name)

    def plot(self, *, ax: Axes | None = None, name: str = "features") -> Self:
        """Draw it, and return the display.

        Parameters
        ----------
        ax, name : as in `from_features`
        """
        self.ax_ = ax = axes_or_new(ax, self)
        self.figure_: Figure | Any = ax.figure
        mean = self.errors.mean(axis=1)
        (self.line_,) = ax.plot(self.sizes, mean, "-o", markersize=5, label=name)
        ax.fill_between(
            self.sizes,
            self.errors.min(axis=1),
            self.errors.max(axis=1),
            color=self.line_.get_color(),
            alpha=0.2,
            linewidth=0,
        )
        law = "1/√D"
        if law not in [line.get_label() for line in ax.get_lines()]:
            falling = mean[0] * np.sqrt(self.sizes[0] / self.sizes)
            ax.plot(self.sizes, falling, "--", color=ink(), linewidth=1.2, label=law, zorder=5)
        self.law_: Line2D = next(line for line in ax.get_lines() if line.get_label() == law)
        ax.set(xscale="log", yscale="log", xlabel="number of features D", ylabel="RMS kernel error")
        ax.set_xticks(self.sizes, [f"{size:,}" for size in self.sizes])
        ax.set_xticks([], minor=True)
        ax.grid(alpha=0.5)
        ax.legend()
        return self
