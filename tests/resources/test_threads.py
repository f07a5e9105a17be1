"""Tasks run once each, on as many threads as there are."""

import os
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.datasets import make_classification
from threadpoolctl import threadpool_info

from maxmargin import SVC
from maxmargin.resources.threads import (
    available_cores,
    one_blas_thread,
    run_all,
    run_split,
    thread_count,
)


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


def threads_of_a_fit(_: int) -> tuple[int, int]:
    """The process, and its threads that compute after a fit: the caller and those of our pools."""
    X, y = make_classification(3_000, 30, random_state=0)
    SVC().fit(X, y).predict(X)
    pooled = [each for each in threading.enumerate() if each.name.startswith("maxmargin")]
    return os.getpid(), 1 + len(pooled)


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading", "pool"])
def test_workers_together_use_no_more_threads_than_there_are_cores(backend, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = available_cores()
    if backend == "pool":
        with ProcessPoolExecutor(cores) as pool:
            used = list(pool.map(threads_of_a_fit, range(2 * cores)))
    elif backend == "threading":
        used = Parallel(cores, backend=backend)(
            delayed(lambda _: (0, thread_count(None)))(i) for i in range(cores)
        )
    else:
        used = Parallel(cores, backend=backend)(
            delayed(threads_of_a_fit)(i) for i in range(2 * cores)
        )
    assert sum(dict(used).values()) <= cores


@pytest.mark.parametrize(("told", "share"), [("1", 1), ("0", 1), ("1,4", 1), ("many", None)])
def test_the_number_of_threads_in_the_environment_is_ours(told, share, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = available_cores()
    monkeypatch.setenv("OMP_NUM_THREADS", told)
    assert thread_count(None) == (share or cores)
    assert thread_count(3) == 3


def blas_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_blas_is_held_to_one_thread_from_any_thread():
    """Whichever thread was first to set it, and whichever is the last to leave."""
    before = blas_threads()
    with one_blas_thread():
        assert blas_threads() == {1}
    entered, leave = threading.Event(), threading.Event()

    def hold():
        with one_blas_thread():
            entered.set()
            leave.wait()
            return blas_threads()

    with ThreadPoolExecutor(1) as threads:
        held = threads.submit(hold)
        entered.wait()
        with one_blas_thread():
            leave.set()
            assert held.result() == {1}
            assert blas_threads() == {1}
    assert blas_threads() == before
