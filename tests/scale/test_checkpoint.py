"""A fit that was killed continues from its checkpoint; one that cannot be saved goes on."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from maxmargin import SVC
from maxmargin.datasets import moons
from maxmargin.scale import ArrayPartitions
from maxmargin.solvers import BlockSMO, Chunking

X, Y = moons(300, seed=5)
FEW = Chunking(inner=BlockSMO(), violators=10)

KILLED = """
import os, signal, sys
from maxmargin import SVC
from maxmargin.datasets import moons
from maxmargin.scale import ArrayPartitions
from maxmargin.solvers import BlockSMO, Chunking

class Deadly(ArrayPartitions):
    calls = 0
    def block(self, number):
        self.calls += 1
        if self.calls > 25:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().block(number)

X, Y = moons(300, seed=5)
few = Chunking(inner=BlockSMO(), violators=10)
SVC(solver=few, checkpoint=sys.argv[1]).fit(Deadly(X, Y, rows=60))
"""


def test_a_fit_that_was_killed_continues(tmp_path):
    path = tmp_path / "fit.npz"
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(path)],
        timeout=300,
        check=False,
        env=os.environ | {"PYTHONPATH": source},
    )
    assert done.returncode == -signal.SIGKILL
    assert path.exists()
    anew = SVC(solver=FEW).fit(ArrayPartitions(X, Y, rows=60))
    continued = SVC(solver=FEW, checkpoint=path).fit(ArrayPartitions(X, Y, rows=60))
    assert continued.history_["violators"][0] < anew.history_["violators"][0] == len(X)
    assert continued.certificate_.dual == pytest.approx(anew.certificate_.dual, rel=1e-5)
    again = SVC(solver=FEW, checkpoint=path).fit(ArrayPartitions(X, Y, rows=60))
    assert len(again.history_) < len(continued.history_)


def test_classes_are_kept_apart(tmp_path):
    names = np.array(["a", "b", "c"], dtype=object)[np.arange(len(X)) % 3]
    path = tmp_path / "fit.npz"
    first = SVC(solver=FEW, checkpoint=path).fit(ArrayPartitions(X, names, rows=90))
    again = SVC(solver=FEW, checkpoint=path).fit(ArrayPartitions(X, names, rows=90))
    assert len(again.history_) < len(first.history_)
    for one, other in zip(again.certificates_, first.certificates_, strict=True):
        assert one.dual == pytest.approx(other.dual, rel=1e-3)


def test_a_checkpoint_of_another_fit_is_refused(tmp_path):
    path = tmp_path / "fit.npz"
    SVC(solver=FEW, checkpoint=path).fit(ArrayPartitions(X, Y, rows=60))
    with pytest.raises(ValueError, match="is of another fit"):
        SVC(solver=FEW, checkpoint=path).fit(ArrayPartitions(X[:200], Y[:200], rows=60))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match="cannot be read"):
        SVC(solver=FEW, checkpoint=path).fit(ArrayPartitions(X, Y, rows=60))


def test_a_full_disk_is_a_warning(tmp_path):
    path = tmp_path / "fit.npz"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, limits[1]))
    try:
        with pytest.warns(RuntimeWarning, match="was not saved: File too large"):
            clf = SVC(solver=FEW, checkpoint=path).fit(ArrayPartitions(X, Y, rows=60))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert clf.certificate_.status.value == "converged"
    assert not list(tmp_path.iterdir())


def test_arrays_continue_by_warm_start():
    with pytest.raises(ValueError, match="warm_start"):
        SVC(checkpoint="fit.npz").fit(X, Y)
    with pytest.raises(ValueError, match="checkpoint"):
        SVC(warm_start=True).fit(ArrayPartitions(X, Y))
