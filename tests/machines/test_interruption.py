"""Ctrl-C in machines that pass over the rows: the model so far is kept, and the program stops."""

import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import make_classification

from maxmargin import KernelPerceptron, KernelRegressor, Perceptron

pytestmark = pytest.mark.small

X, y = make_classification(
    200, 5, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
)


def pressed_after(calls, method):
    """The method, with Ctrl-C pressed when it is called once more."""
    left = iter(range(calls))

    def wrapped(*args, **options):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return method(*args, **options)

    return wrapped


@pytest.mark.parametrize(
    ("machine", "part", "calls", "epochs"),
    [
        (Perceptron(), "_epoch", 2, {"max_iter": 2}),
        (KernelPerceptron(gamma=0.01), "_epoch", 2, {"max_iter": 2}),
        (KernelRegressor(solver="sgd", random_state=0), "_values_of", 3, {"epochs": 3}),
    ],
)
def test_machines_that_pass_over_the_rows_keep_their_model(
    machine, part, calls, epochs, monkeypatch
):
    expected = clone(machine).set_params(**epochs).fit(X, y).predict(X)
    monkeypatch.setattr(type(machine), part, pressed_after(calls, getattr(type(machine), part)))
    with pytest.raises(KeyboardInterrupt, match="has the model so far"):
        machine.fit(X, y)
    assert_allclose(machine.predict(X), expected)


def test_a_kernel_perceptron_stopped_within_an_epoch_is_whole(monkeypatch):
    machine = KernelPerceptron(gamma=0.01, budget=20)
    monkeypatch.setattr(KernelPerceptron, "_keep", pressed_after(45, KernelPerceptron._keep))
    with pytest.raises(KeyboardInterrupt, match="has the model so far"):
        machine.fit(X, y)
    assert len(machine.support_) == len(machine.support_vectors_) == machine.dual_coef_.shape[1] > 0
    assert machine.predict(X).shape == y.shape
