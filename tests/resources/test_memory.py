"""Memory is kept from fit to fit, and used by one array at a time."""

import numpy as np
import pytest

from maxmargin.resources.memory import MOST_KEPT, PIECE, SMALLEST, available_memory, large_array


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


@pytest.mark.small
@pytest.mark.parametrize("size", [0, SMALLEST - 1, SMALLEST, PIECE, PIECE + 1])
def test_arrays_have_the_size_asked_for(size):
    array = large_array((size,), np.int8)
    assert array.shape == (size,)
    assert array.flags.writeable


@pytest.mark.small
def test_some_memory_is_available():
    assert available_memory() > 0
