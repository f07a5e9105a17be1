"""scikit-learn's own tests of `sklearn.svm`, with our classes in place of its own."""

import os
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sklearn_svm.declined import DECLINED, UNDECIDED

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"


def test_all_pass_but_those_declined(outcomes):
    passed, failed = outcomes
    declined = {test for test in passed | failed if any(fnmatchcase(test, p) for p in DECLINED)}
    assert failed == declined, "these differ from tests/sklearn_svm/declined.py"
    assert len(passed) > 250


@pytest.mark.newest
def test_every_reason_is_that_of_a_test(outcomes):
    _, failed = outcomes
    assert not [p for p in DECLINED if not any(fnmatchcase(test, p) for test in failed)]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """The names of the tests that passed and of those that failed."""
    folder = tmp_path_factory.mktemp("sklearn")
    command = [sys.executable, "-m", "pytest", "--pyargs", "sklearn.svm.tests", "-p", "in_place"]
    options = ["-c", os.devnull, "-p", "no:cacheprovider", "-q", "--junitxml", "outcomes.xml"]
    path = os.pathsep.join([str(SOURCE), str(HERE), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [*command, *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert run.returncode == 1, run.stdout[-2000:] + run.stderr[-2000:]  # 1: some tests failed
    passed, failed = set(), set()
    for case in ElementTree.parse(folder / "outcomes.xml").iter("testcase"):
        name = f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"
        results = {child.tag for child in case}
        if "skipped" not in results and not any(
            fnmatchcase(name, pattern) for pattern in UNDECIDED
        ):
            (failed if results & {"failure", "error"} else passed).add(name)
    return passed, failed
