"""Compiling is announced, and leaves numba as it was."""

import gc
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import numba
import pytest
from numba.core import ir
from numba.core.base import BaseContext
from numba.core.postproc import PostProcessor
from numba.core.types.functions import BaseFunction

from maxmargin.hardware import announcement, jit, pipeline


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
