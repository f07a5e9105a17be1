"""The names at the root: each is there, and none is imported before it is asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

import maxmargin

SOURCE = Path(maxmargin.__file__).parents[1]
pytestmark = pytest.mark.small


def test_import_alone_takes_nothing_along():
    program = "import sys, maxmargin; print(sorted({*sys.modules} & {'numpy', 'sklearn', 'numba'}))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_all_names_are_there_whichever_module_came_first():
    program = """
import maxmargin.machines.l1_min_c, maxmargin.selection.tune, maxmargin.watch
from maxmargin import *
assert callable(race) and callable(tune) and callable(l1_min_c) and callable(trace)
assert maxmargin.io.load is load and maxmargin.kernels.RBF
"""
    subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(SOURCE)}, check=True, timeout=120
    )


# What `pip install maxmargin` does not bring: importing it fails, as if it were not there.
WITHOUT_EXTRAS = """
import sys
for name in ("rich", "typer", "matplotlib", "onnx", "dask"):
    sys.modules[name] = None
"""


def run_without_extras(program):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT_EXTRAS + program],
        env={"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=240,
    )


@pytest.mark.parametrize("program", ["app", "run_svm_train", "run_svm_predict", "run_svm_scale"])
def test_the_command_without_its_extra_says_in_a_line_what_to_install(program):
    done = run_without_extras(f"from maxmargin.cli import {program}; {program}()")
    assert done.returncode == 1
    assert done.stderr == (
        "maxmargin: the command needs typer and rich: pip install 'maxmargin[cli]'\n"
    )


def test_every_public_name_works_without_extras():
    done = run_without_extras("""
import warnings
from maxmargin import *
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
assert SVC().fit(X, y).score(X, y) > 0.9
assert LinearSVC().fit(X, y).score(X, y) > 0.9
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    SVC(verbose=1).fit(X, y)
    tune(SVC(), X, y, Cs=2, gammas=2, verbose=1)
for each in said[:1] + said[-1:]:
    assert "pip install 'maxmargin[cli]'" in str(each.message)
assert len(said) == 2, [str(each.message) for each in said]
""")
    assert done.returncode == 0, done.stderr


def test_what_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'maxmargin' has no attribute 'SVM'"):
        _ = maxmargin.SVM
