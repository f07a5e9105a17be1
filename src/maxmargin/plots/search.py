"""Pictures of a search over C and γ, and of the errors along C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from maxmargin.kernels.gamma import gamma_of
from maxmargin.plots.display import Display
from maxmargin.plots.palette import DASHES
from maxmargin.resources.arrays import Floats, Mask
from maxmargin.selection.path import CPath
from maxmargin.selection.search import Search, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(kw_only=True, eq=False, repr=False)
class SearchDisplay(Display):
    """The mean score of every cell of a search, over C and γ.

    Every place has the colour of the nearest cell that was tried: the grids that `refine` tries one
    after the other are finer here and coarser there. The best cell is marked by a ring, the
    simplest one within a standard error of it by a square; a line leads through the best cells of
    these grids. Cells that were not finished (stopped, dropped or failed) are crossed out.

    Use `from_search` to create one.

    Parameters
    ----------
    Cs, gammas : ndarrays, the values of the two axes; `gammas` may be one value only
    scores : ndarray of shape (n_gammas, n_Cs), NaN where there is none
    unfinished : mask of the same shape: cells that were tried and not finished
    best, simple : (C, γ) of the two marked cells
    path : ndarray of shape (n_stages, 2), the best cell after each grid

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure, where it was drawn last
    image_ : the cells

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import SVC, tune
    >>> from maxmargin.plots import SearchDisplay
    >>> search = tune(SVC(), *load_iris(return_X_y=True), Cs=3, gammas=4)
    >>> SearchDisplay.from_search(search).scores.shape
    (4, 3)
    """

    Cs: Floats
    gammas: Floats
    scores: Floats
    unfinished: Mask
    best: tuple[float, float]
    simple: tuple[float, float]
    path: Floats
    title: str

    @classmethod
    def from_search(cls, search: Search | Any, *, ax: Axes | None = None) -> Self:
        """Draw a search.

        Parameters
        ----------
        search : Search, or a fitted SVCCV or SVRCV. Of several ε each cell shows the best.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        """
        search = getattr(search, "search_", search)
        cells = search.cells
        Cs = np.unique([cell.machine.C for cell in cells])
        each_gamma = [number_of(search, cell.gamma) for cell in cells]
        gammas = np.unique(each_gamma)
        scores = np.full((len(gammas), len(Cs)), np.nan)
        tried = np.zeros(scores.shape, bool)
        for cell, gamma in zip(cells, each_gamma, strict=True):
            row = 0 if np.isnan(gamma) else int(np.searchsorted(gammas, gamma))
            at = row, int(np.searchsorted(Cs, cell.machine.C))
            tried[at] = True
            if cell.complete:
                scores[at] = np.fmax(scores[at], cell.mean(search.metric))

        def place(number: int) -> tuple[float, float]:
            return cells[number].machine.C, each_gamma[number]

        stages = range(max(cell.stage for cell in cells) + 1)
        path = [best_until(search, stage) for stage in stages]
        return cls(
            Cs=Cs,
            gammas=gammas,
            scores=scores,
            unfinished=tried & np.isnan(scores),
            best=place(search.best_index_),
            simple=place(search.one_standard_error_index_),
            path=np.array([place(number) for number in path if number is not None]),
            title=f"{search.best_score_:.4g} at {shown(search.best_params_)}",
        ).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        one = len(self.gammas) == 1
        gammas = np.array([1.0]) if one else self.gammas
        edges = edges_of(self.Cs), edges_of(gammas)
        self.image_ = ax.pcolormesh(*edges, self._nearest(gammas), cmap="viridis")
        ax.figure.colorbar(self.image_, ax=ax, label="mean score of the folds")
        rows, columns = np.nonzero(self.unfinished)
        if len(rows):
            ax.plot(self.Cs[columns], gammas[rows], "x", color="gray", label="not finished")

        def level(gamma: float | Floats) -> Any:
            return np.ones_like(gamma) if one else gamma

        places = np.unique(self.path[:, 0] if one else self.path, axis=0)
        if len(places) > 1:  # a best cell that stayed the best has no path
            C, gamma = self.path[:, 0], level(self.path[:, 1])
            line: dict[str, Any] = {"color": "red", "markeredgecolor": "white", "zorder": 3}
            ax.plot(C, gamma, "o-", label="path of the search", markersize=5, **line)
        marks = (
            (self.simple, "s", "orange", 16, "within one standard error"),
            (self.best, "o", "red", 12, "best"),
        )
        ring: dict[str, Any] = {"markerfacecolor": "none", "markeredgewidth": 2}
        for cell, shape, color, size, label in marks:
            at = cell[:1], [level(cell[1])]
            ax.plot(*at, shape, color=color, markersize=size, label=label, **ring)
        ax.set(xscale="log", yscale="log", xlabel="C", ylabel="γ", title=self.title)
        if one:
            ax.yaxis.set_visible(False)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, fontsize="small")

    def _nearest(self, gammas: Floats) -> Floats:
        """The score of the nearest cell that was tried, by ratio of C and γ."""
        tried = self.unfinished | ~np.isnan(self.scores)
        where = np.array(np.meshgrid(np.log(gammas), np.log(self.Cs), indexing="ij"))
        known = where[:, tried]
        apart = ((where[..., None] - known[:, None, None]) ** 2).sum(axis=0)
        nearest: Floats = self.scores[tried][apart.argmin(axis=-1)]
        return nearest


def number_of(search: Search, gamma: float | str | None) -> float:
    """γ of a cell; by a rule, its value on all rows; NaN if it is not searched."""
    if isinstance(gamma, str):
        return gamma_of(gamma, search.X, search.weights)
    return gamma or np.nan


def best_until(search: Search, stage: int) -> int | None:
    """The number of the best cell of the grids up to a stage."""
    known = [
        (cell.mean(search.metric), -number)
        for number, cell in enumerate(search.cells)
        if cell.complete and cell.stage <= stage
    ]
    return -max(known)[1] if known else None


def edges_of(values: Floats) -> Floats:
    """Borders of cells whose middles these values are, by ratio."""
    if len(values) == 1:
        return np.array([values[0] / 2, values[0] * 2])
    middle = np.sqrt(values[1:] * values[:-1])
    return np.concatenate([[values[0] ** 2 / middle[0]], middle, [values[-1] ** 2 / middle[-1]]])


@dataclass(kw_only=True, eq=False, repr=False)
class CPathDisplay(Display):
    """Errors and support vectors along C.

    Use `from_path` to create one.

    Parameters
    ----------
    path : CPath

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure, where it was drawn last
    lines_ : dict of str to Line2D

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC, c_path
    >>> from maxmargin.plots import CPathDisplay
    >>> X, y = make_moons(60, noise=0.3, random_state=0)
    >>> display = CPathDisplay.from_path(c_path(SVC(gamma=1.0), X, y, 4))
    >>> "leave-one-out" in display.lines_
    True
    """

    path: CPath

    @classmethod
    def from_path(cls, path: CPath, *, ax: Axes | None = None) -> Self:
        """Draw a path; see `plot`."""
        return cls(path=path).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        path = self.path
        errors = {
            "leave-one-out": path.loo_error,
            "cross-validated": path.cv_error,
            "training": path.training_error,
            "span estimate": path.span,
            **{f"bound: {name}": values for name, values in path.bounds.items()},
        }
        known = {name: values for name, values in errors.items() if not np.isnan(values).all()}
        self.lines_ = {
            name: ax.plot(
                path.Cs,
                values,
                linestyle=DASHES[k % len(DASHES)],
                linewidth=3 if name == "leave-one-out" else 1.5,
                label=name,
            )[0]
            for k, (name, values) in enumerate(known.items())
        }
        ax.set(xscale="log", xlabel="C", ylabel="error")
        ax.grid(alpha=0.5)
        ax.legend()
