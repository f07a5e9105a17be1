"""Every kind of fitted model once, with rows to predict: for the tests of files and exchange."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numba import njit
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler

import maxmargin as mm
from maxmargin.kernels import RBF, DotKernel, Form, Linear, Pairwise, Polynomial
from maxmargin.solvers import SGD, SecondOrderSMO


def own_block(X, Z):
    return X @ Z.T + 1.0


@njit
def own_pair(x, z):
    return x @ z + 2.0


class Square(DotKernel):
    """(x·z)², a class of the user's own."""

    @property
    def forms(self):
        return (Form(2),)


OWN = {"own_block": own_block, "own_pair": own_pair, "Square": Square}


@dataclass(frozen=True)
class Fitted:
    """A fitted model, and rows that it takes."""

    model: Any
    rows: Any

    def outputs(self, model: Any) -> dict[str, np.ndarray]:
        """Everything that a model says of the rows."""
        methods = ("predict", "decision_function", "score_samples", "predict_proba", "transform")
        methods += ("predict_interval",)
        return {name: getattr(model, name)(self.rows) for name in methods if hasattr(model, name)}


random = np.random.default_rng(0)
X = random.normal(size=(60, 4))
TWO = (X[:, 0] + X[:, 1] > 0).astype(int)
THREE = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
WORDS = np.array(["ja", "nein", "vielleicht ☂"])[THREE]
T = np.sin(X[:, 0]) + 0.1 * X[:, 1]
CSR = sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
FRAME = pd.DataFrame(X, columns=["länge", "breite", "höhe", "tiefe"]).assign(
    farbe=np.array(["rot", "grün", "blau"])[random.integers(0, 3, 60)]
)
NEW = random.normal(size=(40, 4))

ESTIMATORS: dict[str, tuple[Any, Any, Any]] = {
    "svc": (mm.SVC(), X, TWO),
    "svc words": (mm.SVC(C=2), X, WORDS),
    "svc object words": (mm.SVC(), X, WORDS.astype(object)),
    "svc booleans": (mm.SVC(), X, TWO == 1),
    "svc floats": (mm.SVC(), X, THREE - 1.0),
    "svc small integers": (mm.SVC(), X, np.where(TWO, 1, -1).astype(np.int8)),
    "svc float32": (mm.SVC(), X.astype(np.float32), THREE),
    "svc ovr": (mm.SVC(multiclass="ovr"), X, THREE),
    "svc ovo shape": (mm.SVC(decision_function_shape="ovo"), X, THREE),
    "svc calibrated": (mm.SVC(probability=True, random_state=0), X, TWO),
    "svc calibrated, three": (mm.SVC(probability=True, random_state=0), X, THREE),
    "svc calibrated steeply": (mm.SVC(C=1e3, probability=True, random_state=0), X, TWO),
    "svc calibrated ovr": (mm.SVC(probability=True, random_state=0, multiclass="ovr"), X, THREE),
    "svc linear": (mm.SVC(kernel="linear"), X, THREE),
    "svc poly": (mm.SVC(kernel="poly", degree=2, coef0=1.0), X, THREE),
    "svc sigmoid": (mm.SVC(kernel="sigmoid", gamma=0.05), X, TWO),
    "svc laplacian": (mm.SVC(kernel="laplacian", gamma=0.2), X, THREE),
    "svc composed": (mm.SVC(kernel=Linear() + 0.5 * RBF(0.3) * Polynomial(2, 0.1, 1)), X, THREE),
    "svc precomputed": (mm.SVC(kernel="precomputed"), (X @ X.T + 1) ** 2, THREE),
    "svc own block": (mm.SVC(kernel=own_block), X, THREE),
    "svc own pair": (mm.SVC(kernel=Pairwise(own_pair)), X, TWO),
    "svc own compiled": (mm.SVC(kernel=own_pair), X, TWO),
    "svc own class": (mm.SVC(kernel=Square() + 1), X, THREE),
    "svc csr": (mm.SVC(), CSR, THREE),
    "svc csr matrix": (mm.SVC(kernel="linear"), sp.csr_matrix(CSR), TWO),
    "svc frame": (mm.SVC(), FRAME.iloc[:, :4], THREE),
    "svc weights": (mm.SVC(class_weight={"ja": 1.0, "nein": 2.5}), X, WORDS),
    "svc hard margin": (mm.SVC(C=np.inf, gamma=5.0), X, TWO),
    "svc solver": (mm.SVC(solver=SecondOrderSMO(), fit_intercept=False), X, TWO),
    "svc rff": (mm.SVC(approximation="rff", n_components=20), X, THREE),
    "svc nystroem": (mm.SVC(approximation=mm.Nystroem(20, random_state=0)), X, THREE),
    "svc refined": (mm.SVC(approximation="nystroem", n_components=20, refine=True), X, THREE),
    "nusvc": (mm.NuSVC(nu=0.3), X, THREE),
    "nusvc weights": (mm.NuSVC(nu=0.3, class_weight="balanced"), X, TWO),
    "svr": (mm.SVR(), X, T),
    "svr csr": (mm.SVR(kernel="poly"), CSR, T),
    "svr rff": (mm.SVR(approximation="rff", n_components=20), X, T),
    "nusvr": (mm.NuSVR(), X, T),
    "svr, two targets": (mm.SVR(), X, np.column_stack([T, X[:, 2]])),
    "nusvr, two targets": (mm.NuSVR(), X, np.column_stack([T, X[:, 2]])),
    "linear svr, two targets": (mm.LinearSVR(), X, np.column_stack([T, X[:, 2]])),
    "kernel regressor, two targets": (mm.KernelRegressor(), X, np.column_stack([T, X[:, 2]])),
    "quantile": (mm.QuantileSVR(quantiles=0.8), X, T),
    "quantiles": (mm.QuantileSVR(quantiles=[0.1, 0.5, 0.9], noncrossing=True), X, T),
    "one-class": (mm.OneClassSVM(nu=0.2), X, None),
    "one-class precomputed": (
        mm.OneClassSVM(nu=0.2, kernel="precomputed"),
        (X @ X.T + 1) ** 2,
        None,
    ),
    "linear": (mm.LinearSVC(), X, TWO),
    "linear three": (mm.LinearSVC(loss="hinge"), X, THREE),
    "linear crammer-singer": (mm.LinearSVC(multi_class="crammer_singer"), X, THREE),
    "linear l1": (mm.LinearSVC(penalty="l1", dual=False), CSR, THREE),
    "linear sgd": (mm.LinearSVC(solver=SGD(), tol=0.1), X, TWO),
    "linear svr": (mm.LinearSVR(), X, T),
    "kernel regressor": (mm.KernelRegressor(), X, T),
    "kernel regressor sgd": (mm.KernelRegressor(solver="sgd", epochs=5, random_state=0), X, T),
    "perceptron": (mm.Perceptron(max_iter=5), X, THREE),
    "perceptron two": (mm.Perceptron(max_iter=5), CSR, TWO),
    "kernel perceptron": (mm.KernelPerceptron(max_iter=5), X, THREE),
    "kernel perceptron csr": (mm.KernelPerceptron(max_iter=5, budget=9), CSR, TWO),
    "fourier features": (mm.RandomFourierFeatures(20, paired=True, random_state=0), X, None),
    "nystroem features": (mm.Nystroem(20, kernel="laplacian", random_state=0), CSR, None),
    "tuned": (mm.SVCCV(Cs=[0.5, 2.0], gammas=2, cv=3), X, TWO),
    "tuned, three": (mm.SVCCV(Cs=2, gammas=None, cv=3, calibration="temperature"), CSR, WORDS),
    "tuned isotonic": (mm.SVCCV(Cs=2, gammas=2, cv=3, calibration="isotonic"), X, THREE),
    "tuned ovr": (mm.SVCCV(Cs=2, gammas=2, cv=3, multiclass="ovr"), FRAME.iloc[:, :4], THREE),
    "tuned uncalibrated": (mm.SVCCV(Cs=2, cv=3, kernel="linear", calibration=None), X, TWO),
    "tuned numbers": (mm.SVRCV(Cs=2, gammas=2, epsilons=[0.1, 0.2], cv=3), X, T),
    "tuned precomputed": (
        mm.SVRCV(
            Cs=2, gammas=None, kernel="precomputed", cv=KFold(3, shuffle=True, random_state=0)
        ),
        (X @ X.T + 1) ** 2,
        T,
    ),
    "table": (
        mm.TabularSVC(powers=[0.5], rounds=1, cv=2, search_rows=40, random_state=0),
        FRAME,
        WORDS,
    ),
    "table, numbers": (
        mm.TabularSVR(powers=[0.5], rounds=1, cv=2, search_rows=40, random_state=0),
        np.where(X > 2, np.nan, X),
        T,
    ),
    "scaled by a metric": (
        make_pipeline(mm.LearnedMetric([mm.SVR()]), mm.SVR()),
        X,
        T,
    ),
    "scaled": (make_pipeline(StandardScaler(), mm.SVC()), X, THREE),
    "scaled and tuned": (
        make_pipeline(StandardScaler(), mm.SVCCV(Cs=[1.0, 1e3], gammas=2, cv=3)),
        X,
        TWO,
    ),
    "scaled only by mean": (make_pipeline(StandardScaler(with_std=False), mm.SVR()), X, T),
    "scaled to a range": (make_pipeline(MinMaxScaler((-1, 1)), mm.LinearSVC()), X, THREE),
    "scaled csr": (make_pipeline(MaxAbsScaler(), mm.SVC()), CSR, THREE),
    "features, then linear": (
        make_pipeline(mm.RandomFourierFeatures(20, random_state=0), mm.LinearSVC()),
        X,
        THREE,
    ),
    "columns": (
        Pipeline(
            [
                (
                    "columns",
                    ColumnTransformer(
                        [
                            ("numbers", StandardScaler(), ["länge", "tiefe"]),
                            ("words", OneHotEncoder(handle_unknown="ignore"), ["farbe"]),
                        ]
                    ),
                ),
                ("machine", mm.SVC()),
            ]
        ),
        FRAME,
        WORDS,
    ),
    "columns passed through": (
        Pipeline(
            [
                (
                    "columns",
                    ColumnTransformer(
                        [
                            ("numbers", StandardScaler(), [0, 3]),
                            ("words", OneHotEncoder(drop="first", sparse_output=False), [4]),
                            ("without", "drop", [1]),
                        ],
                        remainder="passthrough",
                    ),
                ),
                ("machine", mm.LinearSVR()),
            ]
        ),
        FRAME,
        T,
    ),
}


@cache
def fitted(name: str) -> Fitted:
    """The model of a name, fitted on first use."""
    estimator, rows, target = ESTIMATORS[name]
    model = estimator.fit(rows) if target is None else estimator.fit(rows, target)
    new = NEW
    if "precomputed" in name:
        new = (NEW @ X.T + 1) ** 2
    elif hasattr(rows, "columns"):
        new = rows[::-1].reset_index(drop=True)
    elif sp.issparse(rows):
        new = type(rows)(np.where(np.abs(NEW) > 0.5, NEW, 0.0))
    elif rows.dtype == np.float32:
        new = NEW.astype(np.float32)
    return Fitted(model, new)
