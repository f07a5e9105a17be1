"""LIBLINEAR as its authors publish it.

Dual coordinate descent for the hinge loss (-s 3) and for the squared hinge with more columns than
rows (-s 1); for fewer, Newton's method in the primal (-s 2), as its authors advise and
scikit-learn does. For the ℓ₁ penalty coordinate descent in the primal (-s 5), for Crammer and
Singer's loss in the dual (-s 4).
"""

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

        kind = 3 if case.loss == "hinge" else 2 if X.l > X.n else 1
        kind = 5 if case.penalty == "l1" else 4 if case.loss == "crammer_singer" else kind
        return train(X, parameter(f"-q -s {kind} -B -1 -c {case.C} -e {case.tol}"))

    def predict(self, model, X):
        from liblinear.liblinear import liblinear

        return np.array([liblinear.predict(model, X.x[i]) for i in range(X.l)])

    def answer(self, case, model, y):
        if case.loss == "crammer_singer":
            lines = [model.get_decfun(k)[0] for k in np.argsort(model.get_labels())]
            return Answer(weights=np.array(lines))
        weights, _ = model.get_decfun()
        return Answer(weights=np.array(weights) * (1 if model.get_labels()[0] == y.max() else -1))
