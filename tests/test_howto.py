"""The how-to pages hold outside the package: in another process and folder, by public names."""

import ast
import os
import subprocess
import sys
from importlib import import_module

import pytest

from documents import EXAMPLE, ROOT, assert_same_output

PAGES = sorted(ROOT.glob("docs/how-it-works/add-a-*.md"))


def program_of(path):
    """The examples of a page, one after the other, and what they print together."""
    examples = list(EXAMPLE.finditer(path.read_text()))
    programs = "\n".join(example["program"] for example in examples)
    return programs, "".join(example["output"] or "" for example in examples)


@pytest.mark.small
def test_there_is_a_page_for_a_kernel_a_solver_and_a_machine():
    assert [path.stem for path in PAGES] == ["add-a-kernel", "add-a-machine", "add-a-solver"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page_runs_in_a_process_of_its_own(path, tmp_path):
    program, documented = program_of(path)
    script = tmp_path / "page.py"
    script.write_text(program)
    done = subprocess.run(
        [sys.executable, "-W", "error", script.name],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert_same_output(done.stdout, documented)


@pytest.mark.small
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page_uses_public_names_only(path):
    for node in ast.walk(ast.parse(program_of(path)[0])):
        if isinstance(node, ast.ImportFrom):
            names = [*node.module.split("."), *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [part for alias in node.names for part in alias.name.split(".")]
        elif isinstance(node, ast.Attribute):
            names = [node.attr]
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        else:
            continue
        private = [n for n in names if n.startswith("_") and not n.endswith("__")]
        assert not private, f"{path.name} uses {private}: give it a public name"


@pytest.mark.small
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page_imports_from_the_doors_of_the_rooms(path):
    """What a page needs of a room is in the `__all__` of the room, not of a file inside it."""
    for node in ast.walk(ast.parse(program_of(path)[0])):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "maxmargin":
            assert node.module.count(".") <= 1, f"{path.name} imports from inside {node.module}"
            folder = ROOT.joinpath("src", *node.module.split("."))
            if folder.is_dir():
                module = import_module(node.module)
                assert {alias.name for alias in node.names} <= {*module.__all__}
