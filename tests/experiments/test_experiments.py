"""Every experiment runs on little data and hands in what it owes."""

from importlib import import_module

import numpy as np
import pytest
from matplotlib import pyplot, rc_context
from matplotlib.figure import Figure

from experiments import exact_kernel
from experiments.experiment import Finding, Outcome
from experiments.report import write_report
from experiments.reproduce import NAMES, title
from maxmargin.datasets import Reviews
from maxmargin.plots import theme


def reviews(n=120):
    """Customers who say what they think in a few words."""
    random = np.random.default_rng(0)
    recommended = (np.arange(n) % 5 > 0).astype(int)
    likes, hates = ["love it", "perfect fit", "so soft"], ["too small", "poor fabric", "ugly cut"]
    filler = ["dress", "blue", "summer", "size", "the", "colour", "skirt", "wore", "store"]

    def says(content):
        words = [*random.choice(filler, 12), random.choice(likes if content else hates)]
        return " ".join(random.permutation(words))

    return Reviews(
        title=np.array([random.choice(likes if content else hates) for content in recommended]),
        text=np.array([says(content) for content in recommended]),
        recommended=recommended,
        rating=np.where(recommended == 1, 5, 2),
    )


SMALL = {
    "exact_kernel": {"n": 40, "sweeps": 5},
    "fourier_features": {"n": 40, "draws": 2, "sizes": (20, 40)},
    "womens_clothing": {
        "reviews": reviews(),
        "curve_rows": 60,
        "sweeps": 8,
        "svd_columns": 10,
        "tuning_rows": 60,
    },
    "primal_dual": {"Ns": (40, 60, 80), "Ds": (2, 3), "rounds": 1},
    "nearest_neighbours": {"n": 40, "neighbours": (1, 3), "repeats": 2},
    "losses": {"points": 11},
    "multiclass": {"n": 40, "repeats": 1},
    "smo_race": {"n": 60, "seconds": 1.0},
    "kernel_regression": {"n": 20, "epochs": 10, "batch": 5, "tried": 4},
    "kernel_perceptron": {"n": 40, "epochs": (1, 3)},
    "noisy_sine": {"n": 30},
    "leave_one_out": {"n": 30, "points": 3},
    "margins": {"n": 20, "path_points": 3},
    "steps": {"n": 20, "sweeps": 10},
}


def test_every_experiment_is_tried_small():
    assert set(SMALL) == set(NAMES)


@pytest.fixture(scope="module", params=NAMES)
def experiment(request):
    module = import_module(f"experiments.{request.param}")
    return module, module.run(**SMALL[request.param])


def test_it_says_what_it_shows_and_what_it_found(experiment):
    module, outcome = experiment
    assert title(module)
    assert len(outcome.text.split()) > 30
    assert outcome.rows
    assert set(outcome.table) <= {key for row in outcome.rows for key in row}
    assert outcome.findings
    for finding in outcome.findings:
        assert all([finding.source, finding.reported, finding.found, finding.verdict])


@pytest.mark.parametrize("name", ["light", "dark"])
def test_its_figures_have_labelled_axes(experiment, name):
    _, outcome = experiment
    assert outcome.figures
    for shown, draw in outcome.figures.items():
        with rc_context(theme(name)):
            figure = draw()
        assert shown
        panels = [ax for ax in figure.axes if ax.has_data()]
        assert panels
        assert any(ax.get_xlabel() or ax.get_xticklabels() for ax in panels)
        assert any(ax.get_ylabel() or ax.get_yticklabels() for ax in panels)
        assert figure.get_figwidth() <= 8
        pyplot.close(figure)


@pytest.mark.small
def test_an_outcome_is_written_down(tmp_path):
    def draw():
        figure = Figure()
        figure.subplots().plot([1, 2])
        return figure

    outcome = Outcome(
        text="Two\n  words.",
        rows=[{"a": 1.23456789, "b": "x"}, {"a": None, "b": "y"}],
        figures={"A line": draw},
        findings=[Finding("lecture", "|x| = 1", "1", "reproduced")],
        table=["b"],
    )
    outcome.write("line", "A title", tmp_path / "output")
    for file in ("line.png", "line-dark.png", "line.svg"):
        assert (tmp_path / "output" / file).stat().st_size > 1000
    assert (tmp_path / "output" / "line.csv").read_text() == "a,b\n1.2346,x\n,y\n"
    write_report(tmp_path / "REPORT.md", tmp_path / "output", ["not yet run", "line"])
    report = (tmp_path / "REPORT.md").read_text()
    assert "## 1. A title\n\nTwo words.\n" in report
    assert 'srcset="output/line-dark.png"' in report
    assert "| b |\n| --- |\n| x |\n| y |\n" in report
    assert r"| lecture | \|x\| = 1 | 1 | reproduced |" in report


@pytest.mark.small
def test_the_same_picture_is_the_same_file(tmp_path):
    outcome = import_module("experiments.losses").run()
    for folder in ("one", "two"):
        outcome.write("losses", "Losses", tmp_path / folder)
    for suffix in ("png", "svg"):
        one, two = ((tmp_path / f / f"losses.{suffix}").read_bytes() for f in ("one", "two"))
        assert one == two


def test_the_sweeps_of_the_review_are_counted():
    outcome = exact_kernel.run(n=40, sweeps=1000)
    made = [row["sweeps"] for row in outcome.rows if row["trained by"] != "exact"]
    assert all(0 < sweeps < 1000 for sweeps in made)
    assert all(f"{sweeps} on " in outcome.text for sweeps in made)
    assert all(row["duality gap"] >= 0 for row in outcome.rows)
