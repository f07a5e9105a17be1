"""Kernel matrices computed elsewhere: what they must be, and what is said of those that are not."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.datasets import make_classification

from maxmargin import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.problem import Status

pytestmark = pytest.mark.small

X, y = make_classification(60, 4, n_informative=3, n_redundant=0, random_state=0)
every_machine = pytest.mark.parametrize(
    "machine", [SVC(), NuSVC(nu=0.4), SVR(), NuSVR(), OneClassSVM()], ids=str
)


def test_what_is_not_a_number_in_a_kernel_matrix():
    K = X @ X.T
    K[3, 5] = np.nan
    with pytest.raises(ValueError, match=r"X contains NaN.*row 3, column 5"):
        SVC(kernel="precomputed").fit(K, y)
    machine = SVC(kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match=r"X contains NaN.*row 3, column 5"):
        machine.predict(K)


@every_machine
def test_a_kernel_matrix_that_is_not_square(machine):
    machine = type(machine)(kernel="precomputed")
    with pytest.raises(ValueError, match=r"must be a square matrix. Input is a 60x4 matrix"):
        machine.fit(X, y)
    with pytest.raises(TypeError, match="Sparse precomputed kernels are not supported"):
        machine.fit(sp.csr_array(X @ X.T), y)


def test_a_kernel_matrix_of_other_columns_at_prediction():
    machine = SVC(kernel="precomputed").fit(X @ X.T, y)
    expected = f"each training row \\(60\\), or for each support vector \\({len(machine.support_)}"
    with pytest.raises(ValueError, match=expected):
        machine.predict(X)


def test_a_kernel_matrix_that_is_not_symmetric_is_made_so():
    K = X @ X.T + 5 * np.eye(60)
    broken = K.copy()
    broken[4, 11] += 2.0
    message = re.escape(
        f"not symmetric: K[4, 11] = {broken[4, 11]:.6g} but K[11, 4] = {K[11, 4]:.6g}"
    )
    with pytest.warns(UserWarning, match=message) as caught:
        machine = SVC(kernel="precomputed").fit(broken, y)
    assert caught[0].filename == __file__
    same = SVC(kernel="precomputed").fit((broken + broken.T) / 2, y)
    assert_array_equal(machine.dual_coef_, same.dual_coef_)


@pytest.mark.filterwarnings("ignore:there is no margin")
@pytest.mark.parametrize("rows", [60, 700])  # eigenvalues of all, or by Lanczos
@every_machine
def test_an_indefinite_kernel_ends_at_a_stationary_point_and_says_so(machine, rows):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(rows, 10))
    K = A @ np.diag([1.0] * 8 + [-1.0] * 2) @ A.T
    machine = type(machine)(kernel="precomputed", max_time=5)
    if isinstance(machine, NuSVC):
        machine.set_params(nu=0.4)
    labels = (A[:, 0] > 0).astype(int)
    with pytest.warns(UserWarning, match=r"kernel is indefinite.*no bound"):
        machine.fit(K, labels)
    assert machine.certificate_.status in {Status.CONVERGED, Status.STAGNATED}
    assert np.all(np.isfinite(machine.predict(K)))


@pytest.mark.parametrize("rows", [60, 700])
def test_a_kernel_of_low_rank_is_not_called_indefinite(rows):
    A = np.random.default_rng(0).normal(size=(rows, 3))
    SVC(kernel="precomputed").fit(A @ A.T, A[:, 0] > 0)
    SVC(kernel="precomputed").fit((A @ A.T).astype(np.float32), A[:, 0] > 0)
