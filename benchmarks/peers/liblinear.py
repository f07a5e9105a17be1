"""LIBLINEAR as its authors publish it: dual coordinate descent for the hinge loss."""

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.case import Answer
from benchmarks.peers.peer import Peer


class Liblinear(Peer):
    """`liblinear.liblinearutil`, given its own node arrays outside the clock."""

    module = "liblinear.liblinearutil"
    distribution = "liblinear-official"

    def supports(self, case):
        return case.machine == "LinearSVC"

    def prepare(self, X, y):
        from liblinear.liblinear import problem

        return problem(y, csr_matrix(X)), y

    def fit(self, case, X, y):
        from liblinear.liblinear import parameter
        from liblinear.liblinearutil import train

        return train(X, parameter(f"-q -s 3 -B -1 -c {case.C} -e {case.tol}"))

    def predict(self, model, X):
        from liblinear.liblinear import liblinear

        return np.array([liblinear.predict(model, X.x[i]) for i in range(X.l)])

    def answer(self, case, model, y):
        weights, _ = model.get_decfun()
        return Answer(weights=np.array(weights) * (1 if model.get_labels()[0] == y.max() else -1))
