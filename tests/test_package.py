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


def test_what_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'maxmargin' has no attribute 'SVM'"):
        _ = maxmargin.SVM
