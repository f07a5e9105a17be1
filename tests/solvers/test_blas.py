"""Solvers whose products are small hold BLAS to one thread, and give it back."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from threadpoolctl import threadpool_info

from maxmargin import SVC, LinearSVC, LinearSVR

MACHINES = [
    LinearSVC(),
    LinearSVC(loss="hinge"),
    LinearSVC(penalty="l1", dual=False),
    LinearSVC(multi_class="crammer_singer"),
    LinearSVR(epsilon=0.1),
    SVC(approximation="rff", n_components=20),
]


class Seen:
    """The threads of BLAS whenever it is told of progress."""

    def __init__(self):
        self.threads = []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.threads.append(most_threads())


def most_threads():
    return max(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_blas_has_one_thread_while_it_solves(machine):
    X, y = make_moons(200, noise=0.3, random_state=0)
    LinearSVC().fit(X, y)  # loads the libraries
    before, seen = most_threads(), Seen()
    machine.set_callbacks(seen).fit(X, y.astype(np.float64))
    assert 1 in seen.threads
    assert most_threads() == before
