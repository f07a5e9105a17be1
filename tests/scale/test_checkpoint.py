"""A fit that was killed continues from its checkpoint; one that cannot be saved goes on."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from maxmargin import SVC, SVR, OneClassSVM, load, save
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
    path = tmp_path / "fit.maxmargin"
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(path)],
        timeout=300,
        check=False,
        env=os.environ | {"PYTHONPATH": source},
    )
    assert done.returncode == -signal.SIGKILL
    so_far = load(path)
    assert so_far.predict(X).shape == Y.shape
    proof, optimum = so_far.certificate_, SVC().fit(X, Y).certificate_
    assert proof.status.value == "interrupted"
    assert proof.dual <= optimum.primal
    assert proof.primal >= optimum.dual
    assert proof.gap > optimum.gap
    assert len(so_far.history_) > 1
    anew = SVC(solver=FEW).fit(ArrayPartitions(X, Y, rows=60))
    continued = SVC(solver=FEW, checkpoint=path).fit(ArrayPartitions(X, Y, rows=60))
    assert continued.history_["violators"][0] < anew.history_["violators"][0] == len(X)
    assert continued.certificate_.dual == pytest.approx(anew.certificate_.dual, rel=1e-5)
    again = SVC(solver=FEW, checkpoint=path).fit(ArrayPartitions(X, Y, rows=60))
    assert len(again.history_) < len(continued.history_)


NAMES = np.array(["a", "b", "c"], dtype=object)[np.arange(len(X)) % 3]
T = np.sin(2 * X[:, 0])
WEIGHTS = 1.0 + np.arange(len(X)) % 3


def least(A, B):
    return np.minimum(A[:, None], B).sum(axis=2) + 10.0


CASES = {
    "pairs": (SVC(), (X, NAMES)),
    "one class against the others": (SVC(multiclass="ovr"), (X, NAMES, WEIGHTS)),
    "own kernel": (SVC(kernel=least), (X, Y)),
    "sparse": (SVC(), (csr_array(X), Y)),
    "regression": (SVR(), (X, T, WEIGHTS)),
    "one-class": (OneClassSVM(nu=0.3), (X,)),
}


@pytest.mark.parametrize("case", CASES)
def test_a_checkpoint_is_a_model_file(tmp_path, case):
    machine, data = CASES[case]
    path, parts = tmp_path / "fit.maxmargin", ArrayPartitions(*data, rows=90)
    machine.set_params(solver=FEW, checkpoint=str(path))
    first = clone(machine).fit(parts)
    model = load(path, kernel=least if machine.kernel is least else None)
    assert type(model) is type(machine)
    assert model.checkpoint is None
    answer = "predict" if isinstance(machine, SVR) else "decision_function"
    np.testing.assert_allclose(getattr(model, answer)(X), getattr(first, answer)(X), atol=1e-3)
    again = clone(machine).fit(parts)
    assert len(again.history_) < len(first.history_)
    assert model.fit_status_ == 0
    for one, other in zip(model.certificates_, first.certificates_, strict=True):
        assert type(one) is type(other)
        assert (one.dual, one.primal, one.status) == (other.dual, other.primal, other.status)
    for one, other in zip(again.certificates_, first.certificates_, strict=True):
        assert one.dual == pytest.approx(other.dual, rel=1e-3)


def test_a_machine_that_was_fitted_on_partitions_is_stored(tmp_path):
    clf = SVC().fit(ArrayPartitions(X, Y, rows=60))
    save(clf, tmp_path / "fit.maxmargin")
    again = load(tmp_path / "fit.maxmargin")
    np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))
    assert again.certificate_ == clf.certificate_
    assert (again.history_["bytes"] == clf.history_["bytes"]).all()


def test_a_checkpoint_of_another_fit_is_refused(tmp_path):
    path = tmp_path / "fit.maxmargin"
    SVC(solver=FEW, checkpoint=path).fit(ArrayPartitions(X, Y, rows=60))
    with pytest.raises(ValueError, match="is of another fit"):
        SVC(solver=FEW, checkpoint=path).fit(ArrayPartitions(X[:200], Y[:200], rows=60))
    with pytest.raises(ValueError, match="or on other rows"):
        SVC(gamma=SVC().fit(X, Y).kernel_.gamma, checkpoint=path).fit(ArrayPartitions(X[::-1], Y))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match="cannot be read"):
        SVC(solver=FEW, checkpoint=path).fit(ArrayPartitions(X, Y, rows=60))


def test_a_full_disk_is_a_warning(tmp_path):
    path = tmp_path / "fit.maxmargin"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, limits[1]))
    try:
        with pytest.warns(RuntimeWarning, match=r"not saved.*fit\.maxmargin.*File too large"):
            clf = SVC(solver=FEW, checkpoint=path).fit(ArrayPartitions(X, Y, rows=60))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert clf.certificate_.status.value == "converged"
    assert not list(tmp_path.iterdir())


def test_arrays_continue_by_warm_start():
    with pytest.raises(ValueError, match="warm_start"):
        SVC(checkpoint="fit.maxmargin").fit(X, Y)
    with pytest.raises(ValueError, match="checkpoint"):
        SVC(warm_start=True).fit(ArrayPartitions(X, Y))
