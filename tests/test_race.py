"""The race: the same start, the same judge, and what each says of itself."""

import sys

import matplotlib as mpl
import numpy as np
import pytest

from maxmargin.certificate import Certificate
from maxmargin.race import finish, plot_race, race
from maxmargin.solvers import (
    SOLVERS,
    CoordinateDescent,
    RandomPairSMO,
    SecondOrderSMO,
    SimplifiedSMO,
)
from problems import PROBLEMS

CASE = PROBLEMS["overlapping"]


@pytest.fixture(scope="module")
def ways():
    solvers = {name: make(tol=1e-6) for name, make in SOLVERS.items()}
    return race(solvers, CASE.problem, CASE.gram())


def test_all_take_part_and_say_how_they_ended(ways):
    ends = finish(ways).set_index("solver")
    assert list(ends.index) == list(SOLVERS)
    assert ends.loc["coordinate-descent", "status"] == "refused"
    assert "use BlockSMO" in ends.loc["coordinate-descent", "why"]
    assert ends.loc["random-pair", "status"] == "stagnated"
    exact = ends.drop(["coordinate-descent", "random-pair", "simplified"])
    assert (exact["status"] == "converged").all()
    assert (exact["relative_gap"] < 1e-6).all()


def test_the_end_of_each_is_its_certificate(ways):
    solution = SecondOrderSMO(tol=1e-6).solve(CASE.problem, CASE.gram())
    proof = Certificate.of(CASE.problem, solution)
    end = finish(ways).set_index("solver").loc["second-order"]
    assert (end["relative_gap"], end["violation"]) == (proof.relative_gap, proof.kkt_violation)
    assert (end["kernel_evaluations"], end["steps"]) == (proof.kernel_evaluations, proof.n_iter)


def test_costs_only_grow(ways):
    for _, points in ways[ways["status"] != "refused"].groupby("solver"):
        for key in ("steps", "kernel_evaluations", "seconds"):
            assert points[key].is_monotonic_increasing


def test_the_picture_shows_who_stalled_and_why(ways):
    mpl.use("agg")
    rows = CASE.problem.size
    left, right = plot_race(ways, rows)
    labels = [text.get_text() for text in right.texts]
    assert len(labels) == len(SOLVERS) - 1
    assert any(label.startswith("random-pair: stagnated,\na sweep moved") for label in labels)
    assert "second-order: converged" in labels
    assert (left.get_xscale(), left.get_yscale()) == ("log", "log")
    mpl.pyplot.close(left.figure)


def test_labels_do_not_overlap():
    mpl.use("agg")
    solvers = {f"{k}": SecondOrderSMO(tol=1e-6) for k in range(12)}
    _, axis = plot_race(race(solvers, CASE.problem, CASE.gram()), CASE.problem.size)
    heights = np.sort([text.xyann[1] for text in axis.texts])
    assert np.diff(heights).min() > 0.05
    assert heights.min() >= 0
    assert heights.max() <= 1
    mpl.pyplot.close(axis.figure)


def test_solvers_of_one_kind_may_race_with_different_options():
    solvers = {f"{k} passes": SimplifiedSMO(max_passes=k, tol=1e-6) for k in (1, 50)}
    ends = finish(race(solvers, CASE.problem, CASE.gram()))
    assert ends["solver"].tolist() == ["1 passes", "50 passes"]
    assert ends["relative_gap"].is_monotonic_decreasing


def test_nobody_can_take_it():
    solvers = {"a": CoordinateDescent()}
    assert finish(race(solvers, CASE.problem, CASE.gram()))["status"].tolist() == ["refused"]
    solvers = {"b": RandomPairSMO()}
    hard = PROBLEMS["hard margin"]
    assert finish(race(solvers, hard.problem, hard.gram()))["status"].tolist() == ["refused"]


def test_without_matplotlib_it_says_what_to_do(ways, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"maxmargin\[plot\]"):
        plot_race(ways, CASE.problem.size)
