"""scikit-learn's callbacks, and the progress bar of `verbose`."""

import re
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from maxmargin import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.problem import Status

pytestmark = pytest.mark.small

X, y = load_iris(return_X_y=True)
X, y = X[::3], y[::3]
CLASSIFIERS = [SVC(), SVC(multiclass="ovr"), NuSVC(nu=0.2), NuSVC(nu=0.2, class_weight="balanced")]
REGRESSORS = [SVR(), NuSVR()]
MACHINES = [*CLASSIFIERS, *REGRESSORS, OneClassSVM()]


class Recorder:
    """Writes down what it is told, and stops the fit when it is told to."""

    def __init__(self, stop_after=np.inf):
        self.stop_after = stop_after
        self.begun, self.models, self.hooks = [], [], []

    def setup(self, estimator, context):
        self.hooks.append("setup")

    def teardown(self, estimator, context):
        self.hooks.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.models.append(fitted_estimator)
        return len(self.models) >= self.stop_after


@pytest.mark.parametrize("machine", [*CLASSIFIERS, *REGRESSORS], ids=str)
def test_scores_are_watched_as_they_come(machine):
    metric = "accuracy" if machine in CLASSIFIERS else "r2"
    monitor = ScoringMonitor(scoring=metric)
    fitted = clone(machine).set_callbacks(monitor).fit(X, y)
    records = monitor.get_logs().data
    scores = [record[metric] for record in records]
    assert np.all(np.isfinite(scores))
    assert len(scores) == len(fitted.history_) + 1  # each iteration, and the end of the fit
    (whole,) = [record for record in records if record["task_name"] == "fit"]
    assert whole[metric] == fitted.score(X, y)
    assert len(monitor.get_logs(select="all")) == 1  # nothing of its inner fits is told


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_progress_bar_of_scikit_learn(machine, capsys):
    clone(machine).set_callbacks(ProgressBar()).fit(X, y)
    assert f"{type(machine).__name__} - fit" in capsys.readouterr().out


def test_a_model_during_the_fit_is_a_model():
    recorder = Recorder()
    SVC().set_callbacks(recorder).fit(X, y)
    assert recorder.hooks == ["setup", "teardown"]
    assert recorder.begun[0] == "fit"
    assert {"0 v 1, iteration", "0 v 2, iteration", "1 v 2, iteration"} == {*recorder.begun[1:]}
    for model in recorder.models:
        assert model.decision_function(X).shape == (50, 3)
        assert {*model.predict(X)} <= {0, 1, 2}


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_a_callback_can_stop_the_fit(machine):
    machine = clone(machine).set_callbacks(Recorder(stop_after=1))
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        machine.fit(X, y)
    assert machine.certificate_.status is Status.INTERRUPTED
    assert np.all(np.isfinite(machine.predict(X)))


@pytest.mark.parametrize("labels", [y, y > 0], ids=["three classes", "two classes"])
def test_callbacks_do_not_change_the_result(labels):
    silent, told = SVC().fit(X, labels), SVC().set_callbacks(Recorder()).fit(X, labels)
    np.testing.assert_array_equal(silent.dual_coef_, told.dual_coef_)
    np.testing.assert_array_equal(silent.intercept_, told.intercept_)


def test_a_failing_fit_tears_its_callbacks_down():
    recorder = Recorder()
    doubled, opposite = np.vstack([X, X]), np.repeat([0, 1], len(X))
    with pytest.raises(ValueError, match="not separable"):
        SVC(C=np.inf).set_callbacks(recorder).fit(doubled, opposite)
    assert recorder.hooks == ["setup", "teardown"]


def test_callbacks_inside_a_search():
    search = GridSearchCV(SVC(), {"C": [0.1, 1.0]}, cv=2)
    monitor = ScoringMonitor(scoring="accuracy")
    search.estimator.set_callbacks(monitor)
    search.fit(X, y)
    assert len(monitor.get_logs().data) > 4


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_verbose_draws_the_violation_falling_to_tol(machine, capsys):
    clone(machine).set_params(verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert err.endswith("\n")  # what is written next begins a line, in a file too
    assert not out
    assert type(machine).__name__ in err
    assert re.search(r"100% (KKT violation|relative duality gap) [\d.]+e[+-]\d+ → 1e-03", err)


def test_verbose_writes_where_standard_error_is_now(monkeypatch, tmp_path):
    with (tmp_path / "log").open("w") as log:
        monkeypatch.setattr(sys, "stderr", log)
        SVC(verbose=True).fit(X, y)
    assert "KKT violation" in (tmp_path / "log").read_text()


def test_silence_by_default(capfd):
    SVC().fit(X, y)
    assert capfd.readouterr() == ("", "")
