"""The package is imported where nothing can be written; compiling is announced."""

import gc
import os
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest
from numba.core import ir
from numba.core.base import BaseContext
from numba.core.postproc import PostProcessor
from numba.core.types.functions import BaseFunction

import maxmargin
from maxmargin.hardware import announcement, jit, pipeline

PACKAGE = Path(maxmargin.__file__).parent
NOWHERE = "/dev/null"  # a home in which nobody, root included, can make a directory
PROGRAM = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import numpy as np
    import maxmargin
    from maxmargin.formulations import c_svc
y = np.array([-1.0, 1.0])
print(c_svc(y, 1.0).violation(np.zeros(2), -y))  # a compiled function
print(maxmargin.__file__)
for each in caught:
    print(each.category.__name__, each.message)
"""


def run(package, home, before="", **variables):
    """What the program prints with the package from here, in an environment of its own."""
    own = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", before + PROGRAM],
        env={**own, "PYTHONPATH": str(package), **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    violation, file, *warned = done.stdout.splitlines()
    assert float(violation) == 2.0
    assert file.startswith(str(package))
    return warned


@pytest.fixture(scope="module")
def unwritable(tmp_path_factory):
    """A copy of the package whose folders take no cache: a file is where it would be."""
    folder = tmp_path_factory.mktemp("unwritable")
    shutil.copytree(PACKAGE, folder / "maxmargin", ignore=shutil.ignore_patterns("__pycache__"))
    for inside in [p for p in (folder / "maxmargin").rglob("*") if p.is_dir()]:
        (inside / "__pycache__").touch()
    (folder / "maxmargin" / "__pycache__").touch()
    return folder


def test_where_nothing_can_be_written_it_works_and_says_once_how_to_be_faster(unwritable):
    (warned,) = run(unwritable, NOWHERE)
    assert warned.startswith("RuntimeWarning maxmargin has no directory")
    assert "Set NUMBA_CACHE_DIR" in warned


def test_what_the_warning_advises_helps(unwritable, tmp_path):
    assert not run(unwritable, NOWHERE, NUMBA_CACHE_DIR=str(tmp_path))
    assert list(tmp_path.rglob("*.nbc"))


@pytest.mark.parametrize(
    "lacking",
    [
        "import numba.core.compiler_machinery as part; del part.register_pass",
        "import numba.core, sys; del numba.core.event; sys.modules['numba.core.event'] = None",
    ],
)
def test_a_numba_without_the_classes_that_are_changed_compiles_as_it_is(lacking, tmp_path):
    (warned,) = run(PACKAGE.parent, NOWHERE, f"{lacking}\n", NUMBA_CACHE_DIR=str(tmp_path))
    assert warned.startswith("RuntimeWarning numba")
    assert "is not one that maxmargin knows" in warned
    assert list(tmp_path.rglob("*.nbc"))


class Compiling:
    """numba's event that a function is being compiled."""

    def __init__(self, module):
        function = SimpleNamespace(__module__=module)
        self.data = {"dispatcher": SimpleNamespace(py_func=function)}


@pytest.fixture
def clock(monkeypatch):
    """What `announcement` takes for the time: a list whose last entry is now."""
    times = [0.0]
    monkeypatch.setattr(announcement, "perf_counter", lambda: times[-1])
    return times


def compile_for(clock, listener, seconds, module="maxmargin.gram.dense_tile"):
    """A function that takes so long, one half of it as a part of another."""
    outer, inner = Compiling(module), Compiling(module)
    listener.on_start(outer)
    clock.append(clock[-1] + seconds / 2)
    listener.on_start(inner)
    clock.append(clock[-1] + seconds / 2)
    listener.on_end(inner)
    listener.on_end(outer)
    clock.append(clock[-1] + 100.0)  # in which nothing is compiled


def test_compiling_for_long_is_said_once_on_a_terminal(clock, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    listener = announcement.Announcement()
    compile_for(clock, listener, 0.4)
    compile_for(clock, listener, 0.4)
    assert capsys.readouterr().err == ""
    compile_for(clock, listener, 0.4)
    compile_for(clock, listener, 5.0)
    assert capsys.readouterr().err.count("maxmargin is compiling") == 1


def test_where_there_is_no_terminal_it_is_logged(clock, capsys, caplog):
    caplog.set_level("INFO", "maxmargin")
    listener = announcement.Announcement()
    compile_for(clock, listener, 3.0, "my_own_kernels")
    assert not caplog.messages
    compile_for(clock, listener, 3.0)
    (message,) = caplog.messages
    assert message.startswith("maxmargin is compiling")
    assert capsys.readouterr().err == ""


def test_what_is_in_the_cache_is_not_announced(tmp_path):
    program = "import logging\nlogging.basicConfig(level='INFO')\n"
    program += "from maxmargin import SVC\nimport maxmargin.hardware.announcement as said\n"
    program += "said.LONG = 0.0\nSVC().fit([[0.0], [1.0]], [0, 1])"
    own = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=own,
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        ).stderr.count("maxmargin is compiling")
        for _ in range(2)
    ]
    assert said == [1, 0]


@pytest.mark.parametrize("collecting", [True, False])
@pytest.mark.parametrize("returns", ["x + 1.0", "x.missing"])
def test_compiling_leaves_python_and_numba_as_they_were(collecting, returns):
    # Garbage is not collected while a function is compiled, and numba remembers signatures.
    function = compiled_from(f"def plain(x):\n    return {returns}")
    (gc.enable if collecting else gc.disable)()
    try:
        with nullcontext() if returns == "x + 1.0" else pytest.raises(numba.TypingError):
            assert function(2.0) == 3.0
        assert gc.isenabled() is collecting
        assert BaseFunction.get_call_type is pipeline.FIND
        assert BaseContext.refresh is pipeline.REFRESH
        assert ir.Inst._rec_list_vars is pipeline.LIST
        assert PostProcessor.run is pipeline.TIDY
    finally:
        gc.enable()


def compiled_from(source):
    """A compiled function that no other test has called, without a file to cache it beside."""
    names = {}
    exec(source, names)
    return numba.njit(**jit.OURS)(names["plain"])
