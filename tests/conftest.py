"""What every test relies on, set before anything imports SciPy or compiles."""

import os
import sys
from importlib.util import find_spec

import hypothesis

# scikit-learn's check of array-API input runs only if SciPy was imported with this set.
os.environ["SCIPY_ARRAY_API"] = "1"

import pytest

from judging import judging_every_fit

# Callbacks came with scikit-learn 1.9.
collect_ignore = [] if find_spec("sklearn.callback") else ["machines/test_callbacks.py"]


@pytest.fixture(scope="session", autouse=True)
def judged():
    """Every fit of a certified machine, in whatever test, is judged as it ends."""
    with judging_every_fit():
        yield


@pytest.fixture(autouse=True)
def no_open_figures():
    """A test begins without figures: pyplot keeps those of others, and warns of too many."""
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


# A deadline would be a timed assertion: it fails on a busy machine.
hypothesis.settings.register_profile("maxmargin", deadline=None)
hypothesis.settings.load_profile("maxmargin")
