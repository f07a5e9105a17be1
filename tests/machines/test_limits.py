"""Ctrl-C and limits leave a usable model that says how far it is from optimal."""

import re
import signal
import subprocess
import sys
import textwrap
from itertools import count, pairwise
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from maxmargin import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.problem import Ending, Status
from maxmargin.solvers import SGD, BlockSMO

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
    LinearSVC("l1"),
    LinearSVC(multi_class="crammer_singer"),
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
    machine = clone(machine).set_params(max_time=1e-9, tol=1e-3)
    with pytest.warns(ConvergenceWarning, match="out of time.*raise max_time, scale the data"):
        machine.fit(X, y)
    assert_usable(machine, Status.OUT_OF_TIME)


@pytest.mark.small
@pytest.mark.parametrize("limit", [0, 3])
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_out_of_iterations(machine, limit):
    machine = clone(machine).set_params(max_iter=limit)
    with pytest.warns(ConvergenceWarning, match="out of iterations.*raise max_iter, scale"):
        machine.fit(X, y)
    assert_usable(machine, Status.OUT_OF_ITERATIONS)
    last_pass = isinstance(machine, LinearSVC | LinearSVR)  # one that has begun is finished
    assert np.max(machine.n_iter_) <= limit + last_pass


@pytest.mark.small
def test_the_time_is_for_all_stages_together_with_one_warning():
    machine = SVC(probability=True, max_time=1e-9)
    with pytest.warns(ConvergenceWarning, match="out of time") as caught:
        machine.fit(X, y)
    assert len(caught) == 1
    assert machine.certificate_.status is Status.OUT_OF_TIME
    assert np.all(np.isfinite(machine.predict(X)))
    with pytest.raises(NotFittedError, match=r"before its folds \(this one: out of time\)"):
        machine.predict_proba(X)


class Timed(BlockSMO):
    """Writes down how much time each solve is given."""

    given: ClassVar[list[float]] = []  # of all copies of the solver

    def iterate(self, state):
        self.given.append(self.max_time)
        return (yield from super().iterate(state))


@pytest.mark.small
@pytest.mark.parametrize(
    ("machine", "stages", "first"),
    [
        (SVC(probability=True), 6, 1 / 4.2),  # five folds of 4/5 of the rows: 5 · 0.8² = 3.2
        (NuSVC(nu=0.3, class_weight={0: 2.0}), 2, 1 / 2),
        (NuSVC(nu=0.3, class_weight={0: 2.0}, probability=True), 12, 1 / 4.2 / 2),
    ],
    ids=str,
)
def test_stages_share_the_time(machine, stages, first):
    Timed.given.clear()
    rows = y < 2
    clone(machine).set_params(max_time=1000.0, solver=Timed()).fit(X[rows], y[rows])
    assert len(Timed.given) >= stages
    assert Timed.given[0] == pytest.approx(1000 * first, rel=0.1)
    assert max(Timed.given) < 1000


def test_out_of_time_at_the_start_nothing_is_computed_twice():
    rows = np.random.default_rng(0).standard_normal((3000, 2))
    machine = OneClassSVM(nu=0.5, max_time=1e-9)  # which begins with every β at ν
    with pytest.warns(ConvergenceWarning, match="out of time"):
        machine.fit(rows)
    assert machine.certificate_.kernel_evaluations <= 1.1 * len(rows) ** 2


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


def test_more_steps_bring_it_closer():
    proofs = []
    for limit in (0, 1, 300):
        with pytest.warns(ConvergenceWarning):
            machine = SVC(max_iter=limit, tol=1e-14, solver="second-order", C=100.0).fit(X, y)
        proofs.append(machine.certificate_)
    assert all(before.dual < after.dual for before, after in pairwise(proofs))
    assert proofs[-1].gap < proofs[0].gap


# A fit that would take hours: huge values, classes that overlap, and a solver that never goes over
# to a second-order method. The kernel says when the solver has begun: before, there is no model
# yet that could be kept.
LONG_FIT = """
    import numpy as np
    from sklearn.model_selection import cross_val_score
    from maxmargin import SVC, SVR

    rng = np.random.default_rng(0)
    X = 1e4 * rng.normal(size=({rows}, 3))
    y = rng.integers({classes}, size={rows})

    def linear(A, B):
        if max(len(A), len(B)) > 1:
            print("solving\\n", end="", flush=True)
        return A @ B.T

    machine = {machine}.set_params(kernel=linear, solver="second-order", max_iter=10**9)
"""
IN_A_NOTEBOOK = """
    try:
        machine.fit(X, y)
    except KeyboardInterrupt as stopped:
        print(stopped)
    proof = machine.certificate_
    print(proof.status.value, proof.gap > 0, np.isfinite(proof.gap), len(machine.certificates_))
    print(np.isfinite(machine.predict(X)).all(), machine.fit_status_)
"""
IN_A_SCRIPT = """
    cross_val_score(machine, X, y)
    print("the script went on")
"""


def interrupted(program):
    """The process that runs a program, after Ctrl-C as soon as its solver has begun."""
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline().startswith("solving")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    return process.returncode, [line for line in out.splitlines() if line != "solving"], err


@pytest.mark.parametrize(
    ("machine", "classes", "rows"),
    [
        ("SVC(n_jobs=1)", 3, 450),
        ("SVC(n_jobs=2)", 3, 1700),  # pairs of so many rows have a thread each
        ("SVC(probability=True)", 2, 450),
        ("SVR()", 2, 450),
    ],
)
def test_ctrl_c_keeps_the_model_so_far(machine, classes, rows):
    options = {"machine": machine, "classes": classes, "rows": rows}
    code, said, err = interrupted(LONG_FIT.format(**options) + IN_A_NOTEBOOK)
    assert code == 0, err
    problems = 3 if classes == 3 else 1
    kept = f"{machine.partition('(')[0]} has the model so far"
    assert said == [kept, f"interrupted True True {problems}", "True 1"]
    assert err.count("ConvergenceWarning") == 1
    assert "interrupted (Ctrl-C)" in err
    assert "warm_start=True to continue from here" in err


def test_ctrl_c_ends_a_script():
    options = {"machine": "SVC()", "classes": 3, "rows": 2000}
    code, said, err = interrupted(LONG_FIT.format(**options) + IN_A_SCRIPT)
    assert code == -signal.SIGINT
    assert not said
    assert err.rstrip().endswith("KeyboardInterrupt: SVC has the model so far")


@pytest.mark.parametrize(
    "machine",
    [
        LinearSVC(),
        LinearSVC("l1"),
        LinearSVC(multi_class="crammer_singer"),
        LinearSVR(),
        SVC(approximation="nystroem", n_components=20),
        SVC(approximation="nystroem", n_components=20, refine=True),
        OneClassSVM(),
        NuSVC(nu=0.1, class_weight="balanced"),
    ],
    ids=str,
)
@pytest.mark.newest
def test_ctrl_c_goes_on_when_the_model_is_set(machine):
    """In every machine: a callback is called inside the solver, as a signal's handler is."""
    machine = clone(machine).set_params(tol=1e-9)
    machine.set_callbacks(Pressing())
    with (
        pytest.raises(KeyboardInterrupt, match="has the model so far"),
        pytest.warns(ConvergenceWarning, match=r"interrupted \(Ctrl-C\)") as caught,
    ):
        machine.fit(X, y)
    assert len(caught) == 1
    assert machine.certificate_.status is Status.INTERRUPTED
    assert np.all(np.isfinite(machine.predict(X)))


class Pressing:
    """A callback that presses Ctrl-C in the second iteration."""

    calls = 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.calls += 1
        if self.calls == 2:
            raise KeyboardInterrupt


@pytest.mark.small
def test_an_interrupted_fit_can_be_continued():
    """From where it was: what is done is not done again."""
    rows = y < 2
    machine = SVC(solver="second-order", tol=1e-6)
    cold = clone(machine).fit(X[rows], y[rows])
    half = int(cold.n_iter_[0]) // 2
    machine.set_params(warm_start=True, max_iter=half)
    with pytest.warns(ConvergenceWarning):
        machine.fit(X[rows], y[rows])
    machine.set_params(max_iter=-1).fit(X[rows], y[rows])
    assert machine.certificate_.status is Status.CONVERGED
    assert 0 < machine.n_iter_[0] < cold.n_iter_[0]
    assert_allclose(machine.certificate_.dual, cold.certificate_.dual, rtol=1e-6)


@pytest.mark.small
def test_the_warning_says_what_the_model_is_worth():
    with pytest.warns(ConvergenceWarning, match="far from trained: its objective may be much too"):
        SVC(C=1e4, max_iter=2).fit(X, y == 0)
    with pytest.warns(ConvergenceWarning, match="The model so far is usable; to come closer"):
        SVC(solver="second-order", tol=1e-12, max_iter=100).fit(X, y == 0)


@pytest.mark.small
@pytest.mark.parametrize(
    ("machine", "milder"),
    [(SVC(), "lower C"), (NuSVC(nu=0.3), "raise nu"), (OneClassSVM(), "lower nu")],
    ids=str,
)
def test_advice_names_a_parameter_that_the_machine_has(machine, milder):
    with pytest.warns(ConvergenceWarning, match=f"ranges, or {milder}."):
        clone(machine).set_params(max_iter=1).fit(X, y)
    assert milder.split()[1] in machine.get_params()


@pytest.mark.small
def test_the_seconds_of_the_warning_are_those_of_the_whole_fit(monkeypatch):
    """A stage of many has only its share of `max_time`. This clock goes on when it is looked at."""
    clock = count(0.0, 0.1)
    monkeypatch.setattr("maxmargin.machines.fit.perf_counter", lambda: next(clock))
    monkeypatch.setattr("maxmargin.solvers.state.perf_counter", lambda: next(clock))
    with pytest.warns(ConvergenceWarning, match=r"out of time \(\d") as caught:
        SVC(probability=True, C=1000, max_time=2).fit(X[y < 2], y[y < 2])
    seconds = float(re.search(r"out of time \((\S+) s passed", str(caught[0].message))[1])
    assert seconds > 1


@pytest.mark.small
@pytest.mark.parametrize("machine", [LinearSVC, LinearSVR])
def test_a_linear_machine_is_not_told_to_start_warm(machine):
    solver = machine()._solver()
    assert all("warm_start" not in solver.advice(Ending(status, "")) for status in Status)
    assert "rounding" not in SGD().advice(Ending(Status.STAGNATED, ""))


def test_what_cannot_learn_online_names_what_can():
    with pytest.raises(AttributeError, match=r"approximation='rff'.* LinearSVC\(solver='sgd'\)"):
        SVC().partial_fit(X, y, [0, 1, 2])
    with pytest.raises(AttributeError, match="partial_fit needs solver='sgd', not 'auto'"):
        LinearSVC().partial_fit(X, y, [0, 1, 2])


@pytest.mark.parametrize(
    "machine", [LinearSVC(), LinearSVC("l1"), SVC(), LinearSVR(), NuSVC(nu=0.2)]
)
def test_the_bar_ends_where_the_certificate_does(machine, capsys):
    fitted = clone(machine).set_params(verbose=1).fit(X, y)
    assert fitted.certificate_.status is Status.CONVERGED
    assert "100%" in capsys.readouterr().err
