"""LIBSVM as its authors publish it: sparse nodes in float64, a single core."""

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.case import Answer, Part
from benchmarks.peers.peer import Peer, one_versus_one

TYPES = {"SVC": 0, "OneClassSVM": 2, "SVR": 3}


class Libsvm(Peer):
    """`libsvm.svmutil`, given its own node arrays outside the clock."""

    module = "libsvm.svmutil"
    distribution = "libsvm-official"

    def supports(self, case):
        return case.machine in TYPES

    def prepare(self, X, y):
        from libsvm.svm import svm_problem

        return svm_problem(y, csr_matrix(X)), y

    def fit(self, case, X, y):
        from libsvm.svm import svm_parameter
        from libsvm.svmutil import svm_train

        cache = f"-m {self.megabytes(X.l)}" if case.cache == "matrix" else ""
        return svm_train(
            X,
            svm_parameter(
                f"-q -s {TYPES[case.machine]} -t 2 -c {case.C} -g {case.gamma!r} -n {case.nu}"
                f" -p {case.epsilon} -e {case.tol} {cache}"
            ),
        )

    def predict(self, model, X):
        from libsvm.svm import libsvm

        return np.array([libsvm.svm_predict(model, X.x[i]) for i in range(X.l)])

    def answer(self, case, model, y):
        support = np.array(model.get_sv_indices()) - 1
        coef = np.array(model.get_sv_coef()).T
        if case.machine != "SVC":
            return Answer([Part(support, coef[0], -model.rho[0])])
        classes = model.get_labels()
        intercept = [-model.rho[k] for k in range(len(classes) * (len(classes) - 1) // 2)]
        return Answer(list(one_versus_one(classes, support, coef, intercept, y)))
