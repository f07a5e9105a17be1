"""A pytest plugin: `sklearn.svm` has our classes in place of its own."""

import sklearn.svm
from sklearn.svm import _bounds

import maxmargin

MACHINES = "SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVC", "LinearSVR"


def pytest_configure():
    """In the process that loads the plugin only: our own collection imports this file too."""
    for name in MACHINES:
        setattr(sklearn.svm, name, getattr(maxmargin, name))
    # Where its test takes it from; ours asks scikit-learn's own for the logistic loss.
    _bounds.l1_min_c = maxmargin.l1_min_c
