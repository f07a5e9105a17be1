"""What was there before the rest of the command: the demo, and what is in a clone."""

import json
import re
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread
from typer.testing import CliRunner

from maxmargin import __version__
from maxmargin.cli import app, repository
from maxmargin.cli.application import MODULES


def run(*arguments):
    return CliRunner().invoke(app, arguments)


def test_version():
    result = run("--version")
    assert result.exit_code == 0
    assert result.output == f"maxmargin {__version__}\n"


def test_help_names_the_commands():
    text = run("--help").output
    assert all(command in text for command in ("demo", "reproduce", "bench", "playground"))


def test_bench_measures_judges_and_reports(tmp_path):
    result = run("bench", "--only", "SVR", "--output", str(tmp_path / "quick"), "--json")
    assert result.exit_code == 0, result.output
    assert "SVR" in {each["kind"] for each in json.loads(result.stdout)["records"]}
    report = (tmp_path / "quick.md").read_text()
    assert "## SVR" in report
    assert re.search(r"\| SVR \| friedman 5,000, C=1 \| maxmargin-32 .*e-04 \|", report)
    assert (tmp_path / "quick.png").exists()


@pytest.mark.parametrize("command", [name for name in MODULES if not name.startswith("svm-")])
def test_every_command_has_examples_and_json(command):
    """(LIBSVM's programs have its options.)"""
    text = run(command, "--help").output
    assert "Examples" in text
    assert f"maxmargin {command}" in text
    assert "--json" in text


def test_an_experiment_that_there_is_not():
    result = run("reproduce", "steps", "stepps")
    assert result.exit_code == 2
    assert "no experiment stepps; there are " in result.output


def test_bench_names_the_kinds_there_are():
    result = run("bench", "--only", "training")
    assert result.exit_code == 2
    assert "no kind of work training; there are train, " in result.output


@pytest.mark.parametrize("command", ["reproduce", "bench"])
def test_outside_a_clone_it_says_where_to_go(monkeypatch, tmp_path, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(repository, "__file__", str(tmp_path / "repository.py"))
    result = run(command)
    assert result.exit_code == 1
    assert "inside a clone of the repository" in " ".join(result.output.split())


def test_demo_trains_proves_times_and_draws(tmp_path):
    picture = tmp_path / "picture.png"
    result = run("demo", "--folder", str(tmp_path), "--output", str(picture))
    assert result.exit_code == 0, result.output
    assert re.search(r"optimal\W+yes", result.output)
    assert len((tmp_path / "predictions.txt").read_text().split()) == 450
    assert "converged" in result.output
    assert max(map(len, result.output.splitlines()[:-1])) <= 80
    *_, result_line, times, places = result.output.splitlines()
    assert re.match(r"9\d\.\d+% of 450 test digits are right; the model is optimal", result_line)
    assert re.match(r"Fit [\d.]+ ms, predict [\d.]+ ms; scikit-learn [\d.]+ ms", times)
    assert "predictions" in places
    height, width, _ = imread(picture).shape
    assert min(height, width) > 500


@pytest.mark.parametrize("name", ["nowhere/picture.png", "picture.words"])
def test_a_picture_that_cannot_be_written_says_why(tmp_path, name):
    result = run("demo", "--folder", str(tmp_path), "--output", str(tmp_path / name))
    assert result.exit_code == 1
    assert re.search(r"No picture: .*(nowhere|words)", result.output)


@pytest.mark.parametrize(("command", "extra"), [("demo", "plot"), ("bench", "bench")])
def test_without_matplotlib_it_names_the_extra(monkeypatch, tmp_path, command, extra):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.chdir(tmp_path if command == "demo" else Path.cwd())
    result = run(command, "--output", str(tmp_path / "picture.png"))
    assert result.exit_code == 1
    assert f"pip install 'maxmargin[{extra}]'" in result.output
