"""Machines of scikit-learn as ours, ours as scikit-learn's, and skops."""

import numpy as np
import pytest
import scipy.sparse as sp
import skops.io
from sklearn import svm
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import maxmargin as mm
from fitted import CSR, ESTIMATORS, FRAME, NEW, THREE, TWO, WORDS, T, X, fitted, own_block
from maxmargin.io import from_sklearn, to_sklearn, trusted_types
from maxmargin.kernels import RBF

THEIRS = {
    "svc": (svm.SVC(), X, TWO),
    "svc three": (svm.SVC(kernel="poly", degree=2, coef0=1, gamma="auto"), X, WORDS),
    "svc csr": (svm.SVC(kernel="linear"), sp.csr_matrix(CSR), THREE),
    "svc precomputed": (svm.SVC(kernel="precomputed"), X @ X.T, TWO),
    "svc own": (svm.SVC(kernel=own_block), X, THREE),
    "svc ovo": (svm.SVC(decision_function_shape="ovo", kernel="sigmoid", gamma=0.05), X, THREE),
    "svc frame": (svm.SVC(), FRAME.iloc[:, :4], TWO),
    "nusvc": (svm.NuSVC(nu=0.3), X, THREE),
    "svr": (svm.SVR(), X, T),
    "nusvr": (svm.NuSVR(), X, T),
    "one-class": (svm.OneClassSVM(nu=0.2), X, None),
    "linear": (svm.LinearSVC(random_state=0, max_iter=100_000), X, THREE),
    "linear without offset": (svm.LinearSVC(fit_intercept=False), X, TWO),
    "linear svr": (svm.LinearSVR(C=0.1, max_iter=100_000, random_state=0), X, T),
    "pipeline": (make_pipeline(StandardScaler(), svm.SVC()), X, THREE),
}


def rows_for(name, data):
    if "precomputed" in name:
        return NEW @ X.T
    return data if hasattr(data, "columns") else sp.csr_matrix(NEW) if sp.issparse(data) else NEW


def assert_alike(one, other, rows, tolerance=1e-12):
    for method in ("decision_function", "predict_proba", "score_samples", "predict"):
        if hasattr(one, method) and hasattr(other, method):
            a, b = getattr(one, method)(rows), getattr(other, method)(rows)
            if a.dtype.kind == "f" and method != "predict_proba":
                np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
            elif method == "predict":
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", THEIRS)
def test_theirs_as_ours_and_back(name, tmp_path):
    estimator, data, target = THEIRS[name]
    theirs, rows = estimator.fit(data, target), rows_for(name, data)
    ours = from_sklearn(theirs)
    last = ours[-1] if hasattr(ours, "steps") else ours
    assert type(last).__module__.startswith("maxmargin.")
    assert_alike(ours, theirs, rows)
    assert_alike(to_sklearn(ours), theirs, rows)
    mm.save(ours, tmp_path / "m")
    assert_alike(mm.load(tmp_path / "m", kernel=own_block), theirs, rows)


EXACT = [
    name
    for name, (model, *_) in ESTIMATORS.items()
    if type(model[-1] if hasattr(model, "steps") else model).__name__
    in ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVC", "LinearSVR")
    and not {"rff", "nystroem", "ovr", "targets"} & {*name.split()}
]


@pytest.mark.filterwarnings("ignore:the kernel is indefinite")  # the sigmoid
@pytest.mark.parametrize("name", EXACT)
def test_ours_as_theirs(name):
    case = fitted(name)
    tolerance = 1e-5 if "float32" in name else 1e-10
    assert_alike(to_sklearn(case.model), case.model, case.rows, tolerance)


@pytest.mark.parametrize("rows", [X.astype(np.float32), CSR, FRAME.iloc[:, :4]])
def test_a_kernel_that_scikit_learn_has_not_takes_any_rows(rows):
    ours = mm.SVC(kernel=2 * RBF(0.5)).fit(rows, TWO)
    theirs = to_sklearn(ours)
    assert_alike(theirs, ours, rows, tolerance=1e-5)
    assert_alike(from_sklearn(theirs), ours, rows, tolerance=1e-5)


@pytest.mark.parametrize("name", ["svc calibrated", "svc calibrated, three"])
def test_probabilities_travel(name):
    case = fitted(name)
    theirs, ours = to_sklearn(case.model).predict_proba(case.rows), case.outputs(case.model)
    np.testing.assert_allclose(theirs, ours["predict_proba"], atol=5e-3)


@pytest.mark.parametrize("name", ["svc ovr", "svc rff", "perceptron"])
def test_what_scikit_learn_has_not_is_refused(name):
    with pytest.raises(TypeError, match=r"sklearn\.svm"):
        to_sklearn(fitted(name).model)
    with pytest.raises(TypeError, match=r"sklearn\.svm"):
        from_sklearn(fitted(name).model)


@pytest.mark.filterwarnings("ignore:the kernel is indefinite")  # the sigmoid
@pytest.mark.parametrize("name", [name for name in ESTIMATORS if "own" not in name])
def test_skops_loads_our_types(name):
    case = fitted(name)
    stored = skops.io.dumps(case.model)
    assert {*skops.io.get_untrusted_types(data=stored)} <= {*trusted_types()}
    loaded = skops.io.loads(stored, trusted=trusted_types())
    for method, wanted in case.outputs(case.model).items():
        found = case.outputs(loaded)[method]
        if sp.issparse(wanted):
            wanted, found = wanted.toarray(), found.toarray()
        np.testing.assert_array_equal(found, wanted)
