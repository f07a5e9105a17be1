"""Memory is kept from fit to fit, and lent to one array at a time."""

import numpy as np
import pytest

from maxmargin.resources import MOST_KEPT, PIECE, large_array


@pytest.mark.small
def test_memory_is_handed_out_again_when_the_last_view_of_it_is_gone():
    size = PIECE // 8
    first = large_array((size,), np.int8)
    address, view = first.ctypes.data, first[5:]
    del first
    assert large_array((size,), np.int8).ctypes.data != address
    del view
    taken = [large_array((2, size), np.int8) for _ in range(MOST_KEPT)]
    assert address in [array.ctypes.data for array in taken]
