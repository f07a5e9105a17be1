"""ThunderSVM on the CPU: block SMO in float32."""

import numpy as np
from scipy.sparse import issparse

from benchmarks.case import Answer, Part
from benchmarks.peers.peer import Peer, one_versus_one


class ThunderSVM(Peer):
    """`thundersvm`, whose `intercept_` is ρ = −b and whose classes come as they first appear."""

    module = "thundersvm"
    distribution = "thundersvm-cpu"

    def prepare(self, X, y):
        X, y = super().prepare(X, y)
        if issparse(X):  # its wrapper hands int32 labels to code that reads the bits as float32
            y = y.astype(np.float32).view(np.int32).astype(float)
        return X, y

    def answer(self, case, model, y):
        support, coef, intercept = model.support_, model.dual_coef_, -model.intercept_
        if case.machine != "SVC":
            return Answer([Part(support, coef[0], float(intercept[0]))])
        _, first = np.unique(y, return_index=True)
        return Answer(list(one_versus_one(y[np.sort(first)], support, coef, intercept, y)))
