"""What every adapter is, and the adapter of every library with scikit-learn's interface."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.multiclass import OneVsRestClassifier

from benchmarks.case import Answer, Case, Part


@dataclass(frozen=True)
class Peer:
    """A library with scikit-learn's estimators; the others override what differs.

    Parameters
    ----------
    name : str
        As shown in the tables.
    dtype : str
        Of the rows it is given.
    options : dict
        Further constructor arguments of its estimators.
    """

    name: str
    dtype: str = "float64"
    options: dict[str, Any] = field(default_factory=dict)

    module: ClassVar[str] = ""
    distribution: ClassVar[str] = ""

    def supports(self, case: Case) -> bool:
        return hasattr(import_module(self.module), case.machine)

    def prepare(self, X, y):
        return X.astype(self.dtype), y

    def parameters(self, case: Case, n: int) -> dict[str, Any]:
        if case.machine == "LinearSVC":
            common = {"C": case.C, "fit_intercept": False, "tol": case.tol}
            name = "multi_class" if case.loss == "crammer_singer" else "loss"
            common |= {name: case.loss}
            penalty = {"penalty": "l1", "dual": False} if case.penalty == "l1" else {}
            return common | penalty | {"max_iter": 100_000} | self.options
        cache = {"cache_size": self.megabytes(n)} if case.cache == "matrix" else {}
        own = {
            "SVC": {"C": case.C},
            "SVR": {"C": case.C, "epsilon": case.epsilon},
            "OneClassSVM": {"nu": case.nu},
        }[case.machine]
        return own | cache | {"kernel": "rbf", "gamma": case.gamma, "tol": case.tol} | self.options

    def megabytes(self, n: int) -> int:
        """A cache for the whole kernel matrix, but at most a third of the machine's memory."""
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        matrix = n * n * np.dtype(self.dtype).itemsize
        return max(200, min(matrix, memory // 3) // 1_000_000)

    def fit(self, case: Case, X, y):
        machine = getattr(import_module(self.module), case.machine)
        model = machine(**self.parameters(case, X.shape[0]))
        if case.multiclass == "ovr":
            model = self.one_versus_rest(model)
        model.fit(X, y)
        return model

    def one_versus_rest(self, machine):
        """The machine with one problem for each class."""
        return OneVsRestClassifier(machine)

    def predict(self, model, X) -> np.ndarray:
        return model.predict(X)

    def answer(self, case: Case, model, y) -> Answer:
        if case.machine == "LinearSVC":
            return Answer(weights=np.squeeze(model.coef_).astype(float))
        if case.multiclass == "ovr":
            return Answer([*self.parts_of_classes(model)])
        coef, intercept = model.dual_coef_, np.ravel(model.intercept_)
        coef = coef.toarray() if issparse(coef) else coef
        if case.machine != "SVC":
            return Answer([Part(model.support_, coef[0], float(intercept[0]))])
        # Of two classes scikit-learn counts the second as positive; of more, the first of a pair.
        classes = model.classes_[::-1] if len(model.classes_) == 2 else model.classes_
        return Answer(list(one_versus_one(classes, model.support_, coef, intercept, y)))

    def parts_of_classes(self, model) -> Iterator[Part]:
        """One part for each class against the others."""
        for name, each in zip(model.classes_, model.estimators_, strict=True):
            coef, b = np.ravel(each.dual_coef_), float(np.ravel(each.intercept_)[0])
            yield Part(each.support_, coef, b, (float(name), None))


def one_versus_one(classes, support, coef, intercept, y) -> Iterator[Part]:
    """The parts of a multiclass machine in LIBSVM's layout.

    Of the pair (i, j) with i before j, row j − 1 of `coef` holds the support vectors of class i
    and row i those of class j; class i is the positive one.
    """
    label = y[support]
    for (i, j), b in zip(combinations(range(len(classes)), 2), intercept, strict=True):
        of_i, of_j = label == classes[i], label == classes[j]
        beta = np.concatenate([coef[j - 1, of_i], coef[i, of_j]])
        rows = np.concatenate([support[of_i], support[of_j]])
        used = beta != 0
        yield Part(rows[used], beta[used], float(b), (float(classes[i]), float(classes[j])))
