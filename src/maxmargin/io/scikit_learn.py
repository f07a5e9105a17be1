"""Fitted machines of `sklearn.svm` as ours, and ours as theirs: predictions are equal.

Both have the same parameters and fitted attributes; what differs is what lies behind them. A tie in
the votes of several classes is broken here by the summed decision values and there by the order of
the classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import svm
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from maxmargin import certificate, kernels, solvers
from maxmargin.conventions import libsvm_state, set_libsvm_state
from maxmargin.gram.layouts import DenseLayout
from maxmargin.io import searches
from maxmargin.io.assembly import Kind, MachineParts, assembled
from maxmargin.io.container import Model
from maxmargin.io.records import RECORDS
from maxmargin.io.values import SPLITTERS, splitter
from maxmargin.kernels import Kernel, as_kernel
from maxmargin.kernels.formula import tree_of
from maxmargin.machines import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM, multiclass
from maxmargin.machines.answers import PairCertificates, PairHistories
from maxmargin.machines.feature_map import FeatureMap
from maxmargin.machines.probability import Calibration
from maxmargin.machines.support_vectors import SupportVectors
from maxmargin.selection import (
    calibration,
    cells,
    evaluation,
    grid,
    intervals,
    learned_metric,
    scoring,
    search,
    table_columns,
    tabular,
    target,
)
from maxmargin.solvers.qp.all_pairs import PairTable

KERNEL_MACHINES: dict[type, Kind] = {
    svm.SVC: SVC,
    svm.NuSVC: NuSVC,
    svm.SVR: SVR,
    svm.NuSVR: NuSVR,
    svm.OneClassSVM: OneClassSVM,
}
LINEAR_MACHINES: dict[type, type] = {svm.LinearSVC: LinearSVC, svm.LinearSVR: LinearSVR}
SEARCHING = (
    *(calibration, cells, evaluation, grid, intervals, scoring, search, target),
    *(learned_metric, table_columns, tabular),
)
PACKAGES = ("maxmargin.", "scipy.sparse.", "sklearn.model_selection.", "numpy.dtype")
NAMES = {
    "Linear": "linear",
    "Polynomial": "poly",
    "RBF": "rbf",
    "Sigmoid": "sigmoid",
    "Precomputed": "precomputed",
}


def from_sklearn(estimator: Model) -> Model:
    """Our machine that predicts what a fitted one of `sklearn.svm` does.

    Parameters
    ----------
    estimator : SVC, NuSVC, SVR, NuSVR, OneClassSVM, LinearSVC or LinearSVR of scikit-learn, fitted;
        or a pipeline that ends in one

    Returns
    -------
    The machine of the same name, without a certificate: how well it was trained is not known.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC as Theirs
    >>> X, y = load_iris(return_X_y=True)
    >>> theirs = Theirs().fit(X, y)
    >>> ours = from_sklearn(theirs)
    >>> type(ours).__module__, bool((ours.predict(X) == theirs.predict(X)).all())
    ('maxmargin.machines.svc', True)
    """
    check_is_fitted(estimator)
    kind = type(estimator)
    if kind is Pipeline:
        *first, (name, last) = estimator.steps
        return Pipeline([*first, (name, from_sklearn(last))])
    if kind in LINEAR_MACHINES:
        model = LINEAR_MACHINES[kind](**shared(estimator, LINEAR_MACHINES[kind]))
        model.coef_ = np.array(estimator.coef_)
        model.intercept_ = np.zeros(len(np.atleast_2d(model.coef_))) + estimator.intercept_
        if kind is svm.LinearSVC:
            model.classes_ = estimator.classes_
            model.class_weight_ = np.ones(len(model.classes_))
    elif kind in KERNEL_MACHINES:
        parameters = shared(estimator, KERNEL_MACHINES[kind])
        model = assembled(KERNEL_MACHINES[kind], parameters, parts_of(estimator, parameters))
    else:
        raise TypeError(f"{kind.__module__}.{kind.__name__} is not a machine of sklearn.svm")
    # With a function as kernel, scikit-learn does not count the columns.
    model.n_features_in_ = getattr(estimator, "n_features_in_", None) or estimator.shape_fit_[1]
    model.fit_status_ = 0
    if hasattr(estimator, "feature_names_in_"):
        model.feature_names_in_ = estimator.feature_names_in_
    return model


def shared(estimator: Model, kind: type) -> dict[str, Any]:
    """The parameters that both have."""
    ours = kind().get_params(deep=False)
    given = estimator.get_params(deep=False)
    return {name: value for name, value in given.items() if name in ours and value != "deprecated"}


def parts_of(estimator: Model, parameters: dict[str, Any]) -> MachineParts:
    """The numbers of one of scikit-learn's kernel machines."""
    state = libsvm_state(estimator)
    kernel: Kernel = as_kernel(
        estimator.kernel, degree=estimator.degree, gamma=state.gamma, coef0=estimator.coef0
    )
    rows, vectors = estimator.shape_fit_[0], estimator.support_vectors_
    if kernel.precomputed:
        vectors = np.empty((len(estimator.support_), 0))
    elif callable(estimator.kernel):
        vectors = state.rows[estimator.support_]
    classes = getattr(estimator, "classes_", None)
    parameters.pop("probability", None)
    if classes is not None:
        parameters["probability"] = len(state.slopes) > 0
    flip = -1.0 if classes is not None and len(classes) == 2 else 1.0
    return MachineParts(
        kernel,
        rows,
        estimator.shape_fit_[1],
        estimator.support_,
        vectors,
        estimator.dual_coef_,
        estimator.intercept_,
        estimator.n_support_,
        classes,
        state.slopes,
        flip * state.shifts,  # there of the first class, here of the second
    )


def to_sklearn(model: Model) -> Model:
    """The machine of `sklearn.svm` that predicts what a fitted one of ours does.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, NuSVR, OneClassSVM, LinearSVC or LinearSVR, exact (no approximation=)
        and one-versus-one, fitted; or a pipeline that ends in one. A kernel that scikit-learn has
        no name for is given to it as a function.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ours = SVC().fit(X, y)
    >>> theirs = to_sklearn(ours)
    >>> type(theirs).__module__, bool((ours.predict(X) == theirs.predict(X)).all())
    ('sklearn.svm._classes', True)
    """
    check_is_fitted(model)
    kind = type(model)
    if kind is Pipeline:
        *first, (name, last) = model.steps
        return Pipeline([*first, (name, to_sklearn(last))])
    theirs = {ours: other for other, ours in (KERNEL_MACHINES | LINEAR_MACHINES).items()}
    if kind not in theirs:
        raise TypeError(f"sklearn.svm has no {kind.__name__}, only {[k.__name__ for k in theirs]}")
    given = shared(model, theirs[kind])
    given.pop("probability", None)
    if given.get("cache_size", 0) is None:
        del given["cache_size"]
    made: Model = theirs[kind](**given)
    if kind in (LinearSVC, LinearSVR):
        made.coef_, made.intercept_, made.n_iter_ = model.coef_, model.intercept_, 0
    else:
        set_kernel_machine(made, model)
    made.n_features_in_ = model.n_features_in_
    for name in ("classes_", "class_weight_", "feature_names_in_"):
        if hasattr(model, name):
            setattr(made, name, getattr(model, name))
    return made


def set_kernel_machine(made: Model, model: Model) -> None:
    """The numbers of one of our kernel machines, set in scikit-learn's."""
    if not hasattr(model, "support_vectors_"):
        raise TypeError("sklearn.svm has no machine on features: fit with approximation=None")
    classes = getattr(model, "classes_", np.zeros(1))
    if len(classes) == 1 and len(model.intercept_) > 1:
        raise TypeError("sklearn.svm has no machine of several targets: fit one for each")
    if len(classes) > 2 and model.multiclass == "ovr":
        raise TypeError("sklearn.svm.SVC is one-versus-one: fit with multiclass='ovo'")
    tree = tree_of(model.kernel_)
    gamma = tree.get("gamma", 0.0)
    support, rows, vectors = model.support_, model.shape_fit_[0], model.support_vectors_
    if tree["type"] in NAMES:
        made.set_params(kernel=NAMES[tree["type"]])
        made.set_params(**{name: tree[name] for name in ("degree", "coef0") if name in tree})
    else:  # called with the rows that it is given here, which are the support vectors alone
        made.set_params(kernel=model.kernel_)
        support, rows = np.arange(len(support), dtype=np.int32), len(support)
    sparse = sp.issparse(vectors) and not callable(made.kernel)
    dtype = vectors.dtype if callable(made.kernel) else np.float64
    vectors = vectors.astype(dtype)
    coef = model._dense_dual_coef()
    if sparse:
        indptr = np.arange(0, coef.size + 1, coef.shape[1], dtype=np.int32)
        indices = np.tile(np.arange(coef.shape[1], dtype=np.int32), len(coef))
        # scikit-learn's compiled code reads every entry, zeros too.
        coef = sp.csr_array((coef.reshape(-1), indices, indptr), shape=coef.shape)
    binary = len(classes) == 2
    n_support = model.n_support_ if len(classes) > 1 else np.array([len(support), 0], np.int32)
    made.support_, made.support_vectors_, made.fit_status_ = support, vectors, 0
    made.dual_coef_, made.intercept_ = coef, model.intercept_.copy()
    made.shape_fit_ = (rows, model.n_features_in_)
    if model.kernel_.precomputed or callable(made.kernel):  # as scikit-learn's own fit leaves it
        made.support_vectors_ = np.empty((0, 0))
    platt = getattr(model, "_calibration", Calibration.none())
    slopes = np.ascontiguousarray(platt.slopes)
    shifts = np.ascontiguousarray(-platt.shifts if binary else platt.shifts)
    set_libsvm_state(made, vectors, gamma, n_support, slopes, shifts, sparse=sparse, flipped=binary)
    if isinstance(model, OneClassSVM):
        made.offset_ = model.offset_


def trusted_types() -> list[str]:
    """The types of maxmargin that a model may have: `skops.io.load(file, trusted=trusted_types())`.

    Examples
    --------
    >>> "maxmargin.machines.svc.SVC" in trusted_types()
    True
    """
    found = [*RECORDS, *searches.DESCRIPTIONS, FeatureMap, SupportVectors, Calibration, DenseLayout]
    found += [PairCertificates, PairHistories, PairTable, np.dtype]
    found += [sp.csr_array, sp.csr_matrix, *filter(None, map(splitter, SPLITTERS))]
    for module in (certificate, kernels, solvers, multiclass, *SEARCHING):
        found += [kind for kind in vars(module).values() if isinstance(kind, type)]
    ours = {f"{kind.__module__}.{kind.__qualname__}" for kind in found}
    return sorted(name for name in ours if name.startswith(PACKAGES))
