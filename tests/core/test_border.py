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
