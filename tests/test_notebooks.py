"""The notebooks run from beginning to end."""

import nbformat
import pytest
from nbclient import NotebookClient

from documents import ROOT

NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["first-svm", "text", "watching-smo"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=200, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
