"""`maxmargin reproduce` runs what it is asked to, and says what it cannot."""

import sys

import pytest
from typer.testing import CliRunner

from experiments import losses, womens_clothing
from maxmargin.cli import app


def reproduce(*arguments):
    return CliRunner().invoke(app, ["reproduce", *arguments])


def test_one_experiment_by_name(tmp_path):
    result = reproduce("losses", "--output", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "reported in the" in result.output
    assert "reproduced" in result.output
    assert (tmp_path / "output" / "losses.png").exists()
    assert losses.__doc__.splitlines()[0].rstrip(".") in (tmp_path / "REPORT.md").read_text()


def test_it_writes_to_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = reproduce("losses")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "REPORT.md").exists()
    assert (tmp_path / "output" / "losses.csv").exists()


def test_a_missing_set_is_said_and_the_rest_runs(tmp_path, monkeypatch):
    monkeypatch.delenv("MAXMARGIN_DATA", raising=False)
    result = reproduce("womens_clothing", "losses", "--output", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "womens_clothing: left out" in result.output
    assert "kaggle" in result.output
    report = (tmp_path / "REPORT.md").read_text()
    assert losses.__doc__.splitlines()[0].rstrip(".") in report
    assert womens_clothing.__doc__.splitlines()[0].rstrip(".") not in report


def test_without_any_of_its_data_it_ends_cleanly(tmp_path, monkeypatch):
    monkeypatch.delenv("MAXMARGIN_DATA", raising=False)
    result = reproduce("womens_clothing", "--output", str(tmp_path / "new"))
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert "womens_clothing: left out" in result.output
    assert "Nothing was run, and nothing written." in result.output
    assert not (tmp_path / "new").exists()


def test_an_unknown_name_is_refused_with_the_known_ones(tmp_path):
    result = reproduce("loses", "--output", str(tmp_path))
    assert result.exit_code == 2
    assert "no experiment loses; there are exact_kernel, " in result.output


@pytest.mark.small
@pytest.mark.parametrize("package", ["matplotlib", "pandas"])
def test_without_its_packages_it_names_the_extra(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    result = reproduce("losses")
    assert result.exit_code == 1
    assert "pip install 'maxmargin[experiments]'" in result.output
