"""The race: the same start, the same judge, and what each says of itself."""

import sys

import matplotlib as mpl
import pytest

from maxmargin.certificate import Certificate
from maxmargin.plots import plot_race, theme
from maxmargin.solvers import (
    SOLVERS,
    CoordinateDescent,
    RandomPairSMO,
    SecondOrderSMO,
    SimplifiedSMO,
)
from maxmargin.watch import finish, race
from problems import PROBLEMS

CASE = PROBLEMS["overlapping"]


@pytest.fixture(scope="module")
def ways():
    solvers = {name: make(tol=1e-6) for name, make in SOLVERS.items()}
    return race(solvers, CASE.problem, CASE.matrix())


def test_all_take_part_and_say_how_they_ended(ways):
    ends = finish(ways).set_index("solver")
    assert list(ends.index) == list(SOLVERS)
    assert ends.loc["coordinate-descent", "status"] == "refused"
    assert "use BlockSMO" in ends.loc["coordinate-descent", "why"]
    assert ends.loc["random-pair", "status"] == "out of iterations"
    exact = ends.drop(["coordinate-descent", "random-pair", "simplified"])
    assert (exact["status"] == "converged").all()
    assert (exact["relative_gap"] < 1e-6).all()


def test_the_end_of_each_is_its_certificate(ways):
    solution = SecondOrderSMO(tol=1e-6).solve(CASE.problem, CASE.matrix())
    proof = Certificate.of(solution)
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
    labels = [text.get_text() for text in right.get_legend().get_texts()]
    assert len(labels) == len(SOLVERS) - 1
    assert "random-pair: out of iterations,\n1000 sweeps made" in labels
    assert "second-order: converged" in labels
    assert (left.get_xscale(), left.get_yscale()) == ("log", "log")
    mpl.pyplot.close(left.figure)


def test_lines_are_named_in_the_order_of_their_ends():
    mpl.use("agg")
    solvers = {f"{k}": SecondOrderSMO(tol=10.0**-k) for k in range(1, 13)}
    with mpl.rc_context(theme("dark")):
        left, axis = plot_race(race(solvers, CASE.problem, CASE.matrix()), CASE.problem.size)
    drawn = [line for line in axis.get_lines() if not line.get_label().startswith("_")]
    assert len({line.get_color() for line in drawn}) == 8
    assert len(drawn) == 12
    ends = {line.get_label(): line.get_ydata()[-1] for line in drawn}
    named = [text.get_text() for text in axis.get_legend().get_texts()]
    assert named == sorted(named, key=lambda label: -ends[label])
    lowest = left.get_yticklabels()[0].get_text()  # where those that end below are drawn
    assert (min(ends.values()), lowest) == (pytest.approx(1e-9), "≤ $10^{-9}$")
    mpl.pyplot.close(axis.figure)


def test_solvers_of_one_kind_may_race_with_different_options():
    solvers = {f"{k} passes": SimplifiedSMO(max_passes=k, tol=1e-6) for k in (1, 50)}
    ends = finish(race(solvers, CASE.problem, CASE.matrix()))
    assert ends["solver"].tolist() == ["1 passes", "50 passes"]
    assert ends["relative_gap"].is_monotonic_decreasing


def test_solvers_may_be_given_by_their_names():
    ends = finish(race({"a": "platt", "b": "block"}, CASE.problem, CASE.matrix()))
    assert ends["solver"].tolist() == ["a", "b"]
    assert (ends["status"] == "converged").all()


def test_nobody_can_take_it():
    solvers = {"a": CoordinateDescent()}
    assert finish(race(solvers, CASE.problem, CASE.matrix()))["status"].tolist() == ["refused"]
    solvers = {"b": RandomPairSMO()}
    hard = PROBLEMS["hard margin"]
    assert finish(race(solvers, hard.problem, hard.matrix()))["status"].tolist() == ["refused"]


def test_without_matplotlib_it_says_what_to_do(ways, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"maxmargin\[plot\]"):
        plot_race(ways, CASE.problem.size)
