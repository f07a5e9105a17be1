"""Machines on features over partitions: the optimum of the same features in memory, certified."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from maxmargin import SVC, SVR, Nystroem
from maxmargin.datasets import moons
from maxmargin.kernels import RBF
from maxmargin.scale import ArrayPartitions

X, Y = moons(900, seed=2)
T = np.sin(2 * X[:, 0]) + 0.1 * X[:, 1]
PHI = Nystroem(40, kernel=RBF(0.5), random_state=0).fit(X)


class Fixed(BaseEstimator):
    """φ that was fitted before: the same whatever rows it is given."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return PHI.transform(X).astype(float)


@pytest.mark.parametrize("machine", [SVC, SVR])
@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_optimum_is_that_of_all_rows_in_memory(machine, offset, weighted):
    target = Y if machine is SVC else T
    weights = 0.5 + np.arange(len(X)) % 3 if weighted else None
    options = {"approximation": Fixed(), "fit_intercept": offset, "tol": 1e-5}
    part = machine(**options).fit(ArrayPartitions(X, target, weights, rows=250))
    whole = machine(**options).fit(X, target, weights)
    proof, other = part.certificate_, whole.certificate_
    assert proof.status.value == "converged"
    assert 0 <= proof.relative_gap <= 1e-5
    assert proof.primal == pytest.approx(other.primal, rel=1e-4)
    # Weak duality holds across both: each dual value is below each primal value.
    assert proof.dual <= other.primal * (1 + 1e-9)
    assert other.dual <= proof.primal * (1 + 1e-9)
    f, g = part.predict(X), whole.predict(X)
    assert np.mean(f == g) > 0.99 if machine is SVC else np.abs(f - g).max() < 0.05


def test_several_classes_and_named_features():
    names = np.array(["a", "b", "c"])[np.arange(len(X)) % 3 * (X[:, 0] > 0)]
    clf = SVC(approximation="nystroem", n_components=50).fit(ArrayPartitions(X, names, rows=300))
    assert clf.certificate_.status.value == "converged"
    assert "Nystroem" in clf.certificate_.holds_for
    assert clf.score(ArrayPartitions(X, names, rows=300)) == pytest.approx(clf.score(X, names))
    whole = SVC(approximation="nystroem", n_components=50).fit(X, names)
    assert clf.score(X, names) == pytest.approx(whole.score(X, names), abs=0.03)


def test_what_is_for_exact_machines_is_refused():
    data = ArrayPartitions(X, Y)
    with pytest.raises(ValueError, match="refine"):
        SVC(approximation="rff", refine=True).fit(data)
    with pytest.raises(ValueError, match="checkpoint"):
        SVC(approximation="rff", checkpoint="fit.maxmargin").fit(data)
