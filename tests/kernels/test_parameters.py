"""Kernel objects take part in scikit-learn's parameters: grids, clones, set_params."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, KernelRegressor
from maxmargin.kernels import RBF, Linear, Polynomial

X = np.random.default_rng(0).normal(size=(60, 2))
y = (X[:, 0] * X[:, 1] > 0).astype(int)


def test_a_grid_may_name_the_parameters_of_a_kernel_object():
    grid = {"svc__kernel__right__gamma": [0.01, 1.0, 5.0], "svc__C": [1.0, 10.0]}
    kernel = Linear() + RBF(gamma=0.1)
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC(kernel=kernel)), grid).fit(X, y)
    best = search.best_params_["svc__kernel__right__gamma"]
    assert search.best_estimator_["svc"].kernel == Linear() + RBF(gamma=best)
    scores = search.cv_results_["mean_test_score"]
    assert len({*scores.round(6)}) > 1  # the parameter reached the kernel
    assert kernel == Linear() + RBF(gamma=0.1)  # and the one that was given is as it was


@pytest.mark.small
@pytest.mark.parametrize("machine", [SVC, KernelRegressor])
def test_setting_a_parameter_makes_a_new_kernel(machine):
    kernel = 0.5 * Polynomial(degree=2, gamma=1.0)
    estimator = machine(kernel=kernel)
    other = clone(estimator).set_params(kernel__factor=2.0, kernel__kernel__degree=3)
    assert other.kernel == 2.0 * Polynomial(degree=3, gamma=1.0)
    assert estimator.kernel == kernel == 0.5 * Polynomial(degree=2, gamma=1.0)
    assert other.get_params()["kernel__kernel__degree"] == 3


@pytest.mark.small
def test_a_parameter_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"RBF has no parameter 'sigma'; there are \['gamma'\]"):
        SVC(kernel=RBF()).set_params(kernel__sigma=1.0)
    with pytest.raises(ValueError, match="kernel__gamma is a parameter of a kernel object"):
        SVC().set_params(kernel__gamma=1.0)
