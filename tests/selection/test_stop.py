"""A search that is stopped returns the best so far, refitted."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification

import maxmargin
from maxmargin import SVC, SVCCV, SVRCV, tune
from maxmargin.gram import Gram
from maxmargin.selection import evaluation, matrices, tuned_machine
from maxmargin.selection.tune import check_found

X, Y = make_classification(200, 6, random_state=0, flip_y=0.2)
LONG = {"Cs": np.logspace(-2, 2, 4), "gammas": np.logspace(-3, 1, 20)}


def test_time_is_kept_and_the_best_so_far_is_refitted(monkeypatch):
    """The clock jumps by an hour after some fits: so the test does not depend on speed."""
    scored = []

    def score(machine, X, y):
        scored.append(1)
        return float(np.mean(machine.predict(X) == y))

    clock = evaluation.perf_counter
    monkeypatch.setattr(evaluation, "perf_counter", lambda: clock() + 3600 * (len(scored) >= 100))
    search = tune(SVC(), X, Y, **LONG, max_time=1800, scoring=score)
    assert search.status == "out of time"
    states = search.cv_results_["status"]
    assert (states == "finished").any()
    assert (states == "not finished").any()
    assert search.best_score_ == np.nanmax(search.cv_results_["mean_test_score"])
    assert search.best_estimator_.score(X, Y) > 0.5


def test_no_time_at_all_is_an_error_that_says_so():
    with pytest.raises(TimeoutError, match="out of time before all folds of any cell"):
        tune(SVC(), X, Y, **LONG, max_time=1e-6)


def test_no_matrix_is_computed_to_its_end_when_the_time_is_over(monkeypatch):
    """The clock jumps by an hour with the first block of rows: no other is computed."""
    blocks, block, clock = [], Gram.block, evaluation.perf_counter

    def counted(gram, *args, **options):
        blocks.append(1)
        return block(gram, *args, **options)

    monkeypatch.setattr(matrices, "CHUNK", 2000)
    monkeypatch.setattr(Gram, "block", counted)
    monkeypatch.setattr(evaluation, "perf_counter", lambda: clock() + 3600 * bool(blocks))
    with pytest.raises(TimeoutError, match="out of time before all folds of any cell"):
        tune(SVC(), X, Y, **LONG, max_time=1800, n_jobs=2)
    assert len(blocks) == 1


def test_ctrl_c_before_any_cell_is_finished_is_no_lack_of_time():
    with pytest.raises(KeyboardInterrupt, match="before all folds"):
        check_found([], "score", "interrupted")


@pytest.mark.parametrize("machine", [SVCCV(**LONG), SVRCV(**LONG)], ids=str)
def test_ctrl_c_goes_on_from_an_estimator_that_keeps_the_best_so_far(machine, monkeypatch):
    """So a cross-validation of it ends."""
    found = []

    def interrupted(*args, **options):
        search = tune(*args, **{**options, "Cs": [1.0], "gammas": [0.1]})
        search.status = "interrupted"
        found.append(search)
        return search

    monkeypatch.setattr(tuned_machine, "tune", interrupted)
    with pytest.raises(KeyboardInterrupt, match="has the model so far"):
        machine.fit(X, Y)
    assert machine.best_estimator_ is found[0].best_estimator_
    assert machine.predict(X).shape == Y.shape


PROGRAM = """
import os, signal, sys
import numpy as np
from sklearn.datasets import make_classification
from maxmargin import SVC, tune
X, y = make_classification(300, 6, random_state=0, flip_y=0.2)
done = []
def score(machine, X, y):
    done.append(1)
    if len(done) == 60:
        os.kill(os.getpid(), signal.SIGINT)  # as Ctrl-C does
    return float(np.mean(machine.predict(X) == y))
search = tune(SVC(), X, y, Cs=np.logspace(-2, 2, 4), gammas=np.logspace(-3, 1, 400),
              n_jobs=int(sys.argv[1]), scoring=score, verbose=1)
print(search.status, search.best_score_ > 0.5, hasattr(search, "best_estimator_"))
print(sum(cell.complete for cell in search.cells) < len(search.cells))
"""


LEAVE_ONE_OUT = """
import signal
from importlib import import_module
from threading import Event, main_thread
from sklearn.datasets import make_classification
from maxmargin import SVC, leave_one_out
from maxmargin.selection.removal import Removal
X, y = make_classification(200, 6, random_state=0, flip_y=0.2)
module, begun, stop, remove = (
    import_module("maxmargin.selection.leave_one_out"), [], Event(), Removal.remove
)
def interrupted(*args):
    begun.append(1)
    if len(begun) == 1:
        signal.pthread_kill(main_thread().ident, signal.SIGINT)
    stop.wait(60)
    return remove(*args)
module.Event, module.MOST, Removal.remove = lambda: stop, 1, interrupted
try:
    leave_one_out(SVC(), X, y, n_jobs=2)
except KeyboardInterrupt as reason:
    print("leave-one-out was interrupted" in str(reason))
print(len(begun) < 10)  # of 200 rows: what the threads were at
"""


def run_program(*arguments):
    """In a process of its own: Ctrl-C that comes late would end the tests."""
    command = [sys.executable, "-c", *arguments]
    environment = os.environ | {"PYTHONPATH": str(Path(maxmargin.__file__).parents[1])}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=100, env=environment, check=False
    )


def test_ctrl_c_in_leave_one_out_begins_no_other_row():
    run = run_program(LEAVE_ONE_OUT)
    assert run.stdout.split() == ["True", "True"], run.stderr


@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c_returns_the_best_so_far(threads):
    run = run_program(PROGRAM, threads)
    assert run.stdout.split() == ["interrupted", "True", "True", "True"], run.stderr
    assert "fits, best" in run.stderr
