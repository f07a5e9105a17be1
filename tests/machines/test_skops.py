"""A fitted estimator comes back from skops, a file format without code, as it was."""

import numpy as np
import pytest
import skops.io as skops
from sklearn.datasets import make_moons

import maxmargin
from maxmargin.kernels import RBF, Linear
from maxmargin.solvers import PlattSMO

X, y = make_moons(60, noise=0.3, random_state=0)
ESTIMATORS = [
    maxmargin.SVC(probability=True),
    maxmargin.SVC(kernel=RBF(gamma=1.0) + 0.5 * Linear(), solver=PlattSMO()),
    maxmargin.SVC(approximation="rff", n_components=20, random_state=0),
    maxmargin.SVC(approximation="nystroem", n_components=20, random_state=0),
    maxmargin.NuSVC(nu=0.3),
    maxmargin.SVR(),
    maxmargin.NuSVR(),
    maxmargin.OneClassSVM(),
    maxmargin.LinearSVC(),
    maxmargin.LinearSVR(),
    maxmargin.KernelRegressor(),
    maxmargin.KernelPerceptron(),
    maxmargin.Perceptron(),
    maxmargin.RandomFourierFeatures(20, random_state=0),
    maxmargin.Nystroem(20, random_state=0),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_an_estimator_comes_back_as_it_was(estimator):
    fitted = estimator.fit(X, y)
    data = skops.dumps(fitted)
    types = skops.get_untrusted_types(data=data)
    assert all(name.startswith("maxmargin.") for name in types)
    again = skops.loads(data, trusted=types)
    answer = "predict" if hasattr(fitted, "predict") else "transform"
    assert np.array_equal(getattr(again, answer)(X), getattr(fitted, answer)(X))
    if hasattr(fitted, "certificate_"):
        assert again.certificate_ == fitted.certificate_
