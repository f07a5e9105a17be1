"""The border between Python and the core: what does not fit is an error, no crash and no copy."""

import numpy as np
import pytest

from maxmargin.core import native

pytestmark = pytest.mark.small

READ_ONLY = np.zeros((2, 2))
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    "other", [np.zeros((2, 2), int), np.zeros(4), READ_ONLY, [[0.0]], "a", None]
)
def test_another_type_is_refused(other):
    with pytest.raises(TypeError, match=r"(?s)mirror.*float32.*float64"):
        native.mirror(other)


@pytest.mark.parametrize(
    "other", [np.zeros((2, 3)), np.zeros((4, 8))[:, ::2], np.zeros((8, 4))[::2, ::2]]
)
def test_another_shape_is_refused(other):
    with pytest.raises(ValueError, match=r"mirror: .*(square|one piece)"):
        native.mirror(other)


def test_a_sparse_matrix_that_is_none_is_refused():
    starts, columns, values = np.array([0, 1]), np.array([5], np.int32), np.ones(1)
    panels, numbers = np.zeros((1, 4, native.SPARSE_PANEL[8])), np.zeros(1, int)
    with pytest.raises(ValueError, match="in a column that does not exist"):
        native.scatter(starts, columns, values, numbers, 0, 1, panels)
    with pytest.raises(ValueError, match="a row begins or ends where it has no numbers"):
        native.scatter(10 * starts, columns, values, numbers, 0, 1, panels)


@pytest.mark.parametrize("number", [-1, 3])
def test_a_row_that_does_not_exist_is_refused(number):
    K, out = np.zeros((3, 3)), np.zeros(3)
    with pytest.raises(ValueError, match="no row of this number"):
        native.add_rows(K, np.full(4, number), np.ones(4), out, 0, 3)
