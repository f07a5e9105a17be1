"""Small files of data, and the command run in this process or as its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from maxmargin.cli import app

SOURCE = Path(__file__).parents[2] / "src"


def text_of_iris() -> str:
    data = load_iris()
    lines = ["sepal length,sepal width,petal length,petal width,species"]
    for row, label in zip(data.data, data.target, strict=True):
        lines.append(",".join([*map(str, row), str(data.target_names[label])]))
    return "\n".join(lines) + "\n"


IRIS = text_of_iris()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with iris.csv, in which commands run."""
    (tmp_path / "iris.csv").write_text(IRIS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder):
    """Runs a command in this process; `json` is what it printed on standard output."""

    def running(*arguments, stdin=None):
        result = CliRunner().invoke(app, [str(each) for each in arguments], input=stdin)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        found = None
        if "--json" in arguments and result.exit_code in (0, 3):
            found = json.loads(result.stdout)
        return SimpleNamespace(
            code=result.exit_code,
            out=result.stdout,
            err=" ".join(result.stderr.split()),
            lines=result.stderr.strip().splitlines(),
            json=found,
        )

    return running


@pytest.fixture
def start(folder):
    """Starts the command as a process of its own."""

    def starting(*arguments, **options):
        environment = {**os.environ, "PYTHONPATH": str(SOURCE), "COLUMNS": "200"}
        return subprocess.Popen(
            [sys.executable, "-m", "maxmargin.cli", *map(str, arguments)],
            env=environment,
            cwd=folder,
            text=True,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        )

    return starting
