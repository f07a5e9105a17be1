"""Ctrl-C and limits leave a usable model that says how far it is from optimal."""

import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from maxmargin import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.problem import Status

X, y = make_classification(
    200, 5, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
)
MACHINES = [
    SVC(),
    SVC(multiclass="ovr"),
    SVC(fit_intercept=False),
    SVC(solver="second-order"),
    NuSVC(nu=0.3),
    SVR(),
    SVR(fit_intercept=False),
    NuSVR(),
    OneClassSVM(),
    LinearSVC(),
    LinearSVC(loss="hinge", solver="dual"),
    LinearSVC(solver="sgd"),
    LinearSVR(),
]


def assert_usable(machine, status):
    proof = machine.certificate_
    assert proof.status is status
    assert machine.fit_status_ == 1
    assert 0 < proof.gap < np.inf
    assert proof.kkt_violation > machine.tol
    assert np.all(np.isfinite(machine.predict(X)))
    assert len(machine.history_)


@pytest.mark.small
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_out_of_time(machine):
    machine.set_params(max_time=1e-9, tol=1e-3)
    with pytest.warns(ConvergenceWarning, match="out of time.*raise max_time, scale the data"):
        machine.fit(X, y)
    assert_usable(machine, Status.OUT_OF_TIME)


@pytest.mark.small
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_out_of_iterations(machine):
    for limit in (0, 3):
        machine.set_params(max_iter=limit, max_time=None)
        with pytest.warns(ConvergenceWarning, match="out of iterations.*raise max_iter, scale"):
            machine.fit(X, y)
        assert_usable(machine, Status.OUT_OF_ITERATIONS)
        last_pass = isinstance(machine, LinearSVC | LinearSVR)  # one that has begun is finished
        assert np.max(machine.n_iter_) <= limit + last_pass


@pytest.mark.small
def test_the_warning_says_how_far_it_got_and_where_it_was_called():
    machine = SVC(max_iter=0)
    with pytest.warns(ConvergenceWarning) as caught:
        machine.fit(X, y)
    proof = machine.certificate_
    message = str(caught[0].message)
    assert f"KKT violation is {proof.kkt_violation:.3g} and" in message
    assert "tol=0.001 was asked of the KKT violation" in message
    assert f"duality gap {proof.gap:.3g} ({proof.relative_gap:.2%}" in message
    assert caught[0].filename == __file__


def test_more_time_brings_it_closer():
    gaps = []
    for limit in (0, 1, 300):
        with pytest.warns(ConvergenceWarning):
            machine = SVC(max_iter=limit, tol=1e-14, solver="second-order", C=100.0).fit(X, y)
        gaps.append(machine.certificate_.gap)
    assert gaps[0] >= gaps[1] >= gaps[2]


# A fit that would take minutes: huge values, classes that overlap. The kernel says when the
# solver has begun, for only then is Ctrl-C the solver's to catch.
LONG_FIT = """
    import numpy as np
    from maxmargin import SVC, SVR

    rng = np.random.default_rng(0)
    X = 1e4 * rng.normal(size=({rows}, 3))
    y = rng.integers({classes}, size={rows})

    def linear(A, B):
        if len(A) > 1:
            print("solving\\n", end="", flush=True)
        return A @ B.T

    machine = {machine}.set_params(kernel=linear, max_iter=10**9).fit(X, y)
    proof = machine.certificate_
    print(proof.status.value, proof.gap > 0, np.isfinite(proof.gap), len(machine.certificates_))
    print(np.isfinite(machine.predict(X)).all(), machine.fit_status_)
"""


@pytest.mark.parametrize(
    ("machine", "classes", "rows"),
    [
        ("SVC(n_jobs=1)", 2, 450),
        ("SVC(n_jobs=1)", 3, 450),
        ("SVC(n_jobs=2)", 3, 1700),  # pairs of so many rows have a thread each
        ("SVR()", 2, 450),
    ],
)
def test_ctrl_c_keeps_the_model_so_far(machine, classes, rows):
    program = textwrap.dedent(LONG_FIT.format(machine=machine, classes=classes, rows=rows))
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline().startswith("solving")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    said = [line for line in out.splitlines() if line != "solving"]
    problems = 3 if classes == 3 else 1
    assert said == [f"interrupted True True {problems}", "True 1"]
    assert "ConvergenceWarning" in err
    assert "warm_start=True to continue from here" in err


@pytest.mark.small
def test_an_interrupted_fit_can_be_continued():
    machine = SVC(max_iter=1, warm_start=True, tol=1e-9)
    with pytest.warns(ConvergenceWarning):
        machine.fit(X, y)
    machine.set_params(max_iter=-1).fit(X, y)
    assert machine.certificate_.status is Status.CONVERGED
    assert_allclose(machine.certificate_.dual, SVC().fit(X, y).certificate_.dual, rtol=1e-6)
