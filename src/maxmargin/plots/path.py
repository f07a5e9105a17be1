"""The C-path: score and support vectors of one machine as C grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_regressor
from sklearn.pipeline import Pipeline

from maxmargin.plots.display import Display
from maxmargin.plots.palette import DASHES
from maxmargin.resources.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


@dataclass(kw_only=True, eq=False, repr=False)
class PathDisplay(Display):
    """Accuracy of a classifier, or R² of a regressor, and support vectors against C.

    Each machine starts from the one before. A small C leaves every point inside a wide margin; a
    large one lets few points inside, and follows the training data as far as the kernel can.

    Use `from_estimator` to create one.

    Parameters
    ----------
    Cs : ndarray
        Values of C.
    shares : dict of str to ndarray
        What is drawn, each at most 1.
    label : str, default="share of points"
        What the axis says.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    lines_ : dict of str to Line2D

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> from maxmargin.plots import PathDisplay
    >>> X, y = make_moons(80, noise=0.2, random_state=0)
    >>> display = PathDisplay.from_estimator(SVC(), X[:40], y[:40], X[40:], y[40:])
    >>> support = display.shares["support vectors"]
    >>> bool(support[0] > support[-1])
    True
    """

    Cs: Floats
    shares: dict[str, NDArray[np.float64]]
    label: str = "share of points"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        X_test: ArrayLike,
        y_test: ArrayLike,
        *,
        Cs: ArrayLike | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Fit a machine for each C and draw its score and support vectors.

        Parameters
        ----------
        estimator : object
            A machine with `C` and `warm_start`, such as `SVC` or `SVR`, or a pipeline that ends
            in one; it is cloned.
        X, y : array-likes
            What to train on.
        X_test, y_test : array-likes
            What to test on.
        Cs : array-like, default=None
            Values of C in rising order; 10⁻³ … 10⁴ by default.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        """
        values = np.logspace(-3, 4, 22) if Cs is None else np.asarray(Cs, float)
        if np.any(np.diff(values) <= 0):
            raise ValueError("Cs must rise: each machine starts from the one before")
        model = clone(estimator)
        machine = model[-1] if isinstance(model, Pipeline) else model
        if not {"C", "warm_start"} <= {*machine.get_params()}:
            raise TypeError(
                f"{cls.__name__} draws machines with C and warm_start, such as SVC and SVR, or "
                f"pipelines that end in one; {type(machine).__name__} is none"
            )
        machine.set_params(warm_start=True)
        shares = np.empty((3, len(values)))
        for k, C in enumerate(values):
            machine.set_params(C=C)
            model.fit(X, y)
            shares[:, k] = (
                model.score(X, y),
                model.score(X_test, y_test),
                len(machine.support_) / machine.shape_fit_[0],
            )
        score, label = "accuracy", "share of points"
        if is_regressor(model):
            score, label = "R²", "R², and share of points"
        names = (f"training {score}", f"test {score}", "support vectors")
        return cls(Cs=values, shares=dict(zip(names, shares, strict=True)), label=label).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        from matplotlib.ticker import PercentFormatter

        self.lines_: dict[str, Line2D] = {
            name: ax.plot(self.Cs, values, linestyle=DASHES[k % len(DASHES)], label=name)[0]
            for k, (name, values) in enumerate(self.shares.items())
        }
        least = min(0.0, *(values.min() for values in self.shares.values()))  # R² may be below 0
        ax.set(xscale="log", xlabel="C", ylabel=self.label, ylim=(least - 0.02, 1.02))
        ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        ax.grid(alpha=0.5)
        ax.legend()
