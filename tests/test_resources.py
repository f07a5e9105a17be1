"""Memory is kept from fit to fit, and lent to one array at a time; tasks run once each."""

import numpy as np
import pytest

from maxmargin.resources import MOST_KEPT, PIECE, large_array, run_all


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


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_every_task_is_done_once(threads):
    done = np.zeros(50, int)

    def count(i: int) -> None:
        done[i] += 1

    run_all(count, [(i,) for i in range(50)], threads)
    np.testing.assert_array_equal(done, 1)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_after_an_error_in_any_thread_no_task_is_begun(threads):
    begun = []

    def fail(i: int) -> None:
        begun.append(i)
        raise ValueError(f"task {i}")

    with pytest.raises(ValueError, match="task"):
        run_all(fail, [(i,) for i in range(50)], threads)
    assert len(begun) <= threads
