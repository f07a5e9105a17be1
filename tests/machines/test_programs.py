"""A program that uses scikit-learn's machines runs with only its import changed."""

import subprocess
import sys
from pathlib import Path

PROGRAM = (Path(__file__).parent / "program.py").read_text()
IMPORT = "from sklearn.svm import"


def printed(program):
    """What a program prints; warnings are errors."""
    command = [sys.executable, "-W", "error", "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_the_same_program_prints_the_same():
    assert IMPORT in PROGRAM
    ours, theirs = printed(PROGRAM.replace(IMPORT, "from maxmargin import")), printed(PROGRAM)
    assert ours == theirs
