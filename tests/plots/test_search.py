"""The picture of a search shows every cell, the marks and what was not finished."""

import matplotlib
import numpy as np
from sklearn.datasets import make_moons

from maxmargin import SVC, SVCCV, c_path, tune
from maxmargin.plots import CPathDisplay, SearchDisplay

matplotlib.use("agg")
X, Y = make_moons(80, noise=0.3, random_state=0)


def test_every_cell_is_drawn_and_the_best_is_marked():
    search = tune(SVC(), X, Y, Cs=4, gammas=3)
    display = SearchDisplay.from_search(search)
    assert display.scores.shape == (3, 4)
    assert np.nanmax(display.scores) == search.best_score_
    assert display.best == (search.best_params_["C"], search.best_params_["gamma"])
    assert not display.unfinished.any()
    marks = {line.get_label() for line in display.ax_.lines}
    assert {"best", "within one standard error"} <= marks


def test_dropped_cells_and_the_path_of_the_search_are_drawn():
    raced = SearchDisplay.from_search(tune(SVC(), X, Y, Cs=5, gammas=4, early="racing"))
    assert raced.unfinished.any()
    assert "not finished" in {line.get_label() for line in raced.ax_.lines}
    values = {"Cs": [1e-3, 1e-2, 1e-1], "gammas": [1e-2, 1e-1, 1.0]}
    fine = SearchDisplay.from_search(SVCCV(**values, cv=3, refine=True).fit(X, Y))
    assert len(fine.path) > 1
    assert np.isnan(fine.scores).any()  # a finer grid around the best has no cells elsewhere
    assert np.isfinite(fine.image_.get_array().filled(np.nan)).all()
    assert "path of the search" in {line.get_label() for line in fine.ax_.lines}
    fine.path = np.repeat(fine.path[-1:], 3, axis=0)  # the best cell stayed the best
    assert "path of the search" not in {line.get_label() for line in fine.plot().ax_.lines}


def test_a_kernel_without_gamma_has_one_line_of_cells():
    display = SearchDisplay.from_search(tune(SVC(kernel="linear"), X, Y, Cs=4))
    assert display.scores.shape == (1, 4)
    assert not display.ax_.yaxis.get_visible()  # it has no meaning, so no ticks of it either


def test_errors_along_C_are_drawn():
    path = c_path(SVC(gamma=1.0), X, Y, [0.1, 1, 10])
    display = CPathDisplay.from_path(path)
    assert np.array_equal(display.lines_["leave-one-out"].get_ydata(), path.loo_error)
    only = c_path(SVC(gamma=1.0), X, Y, [0.1, 1], cv=None, loo=False)
    assert [*CPathDisplay.from_path(only).lines_] == ["training"]
