"""Tasks run once each, on as many threads as there are."""

import numpy as np
import pytest

from maxmargin.hardware.threads import run_all, run_split, thread_count


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


@pytest.mark.parametrize("work", [0.0, 1e9])
def test_parts_cover_the_range_once(work):
    done = np.zeros(50, int)

    def count(start: int, stop: int) -> None:
        done[start:stop] += 1

    run_split(count, 50, work, 2)
    np.testing.assert_array_equal(done, 1)


@pytest.mark.small
def test_n_jobs_is_a_number_of_threads():
    assert thread_count(None) == thread_count(-1) >= 1
    assert thread_count(3) == 3
    assert thread_count(-1000) == 1
    with pytest.raises(ValueError, match="n_jobs=0 has no meaning"):
        thread_count(0)
