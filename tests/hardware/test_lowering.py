"""Compiled functions compute what Python does, by instructions of our own."""

import numba
import numpy as np
import pytest

from maxmargin.hardware import jit

A = np.arange(24.0).reshape(2, 3, 4)


def entries(A, x):
    x[0] = A[1, 2, 3] + A[-1, -2, -3]
    x[-1] = A[np.uint8(1), np.int32(0), 2]
    i = len(A) - 3  # negative, but not known before
    x[1] = A[i, i, i]
    x[2] += A[0, 0, 1]


def rows(A, x):
    plane = A[1]
    for i in range(len(plane)):
        row = plane[i]
        x[i] = row[i] + row[-1] + len(row) + row.size + plane.size + A[0, i][2]
    x[3] = A.shape[2] + plane.shape[1] + A.itemsize + plane[:, 1][2]


def turned(A, x):
    B = A.T  # in Fortran's order
    C = A[:, ::2, 1:]  # in neither
    x[0], x[1] = B[3, 2, 1], B[-1, -2, -1]
    x[2], x[3] = C[1, 1, 2], C[-1, 0, -1]
    B[0, 0, 0] = C[1, 1, 0] = 5.0
    x[4] = A[0, 0, 0] + A[1, 2, 1]


def ranges(A, x):
    for i in range(3):
        x[0] += i
    for i in range(2, 4):
        x[1] += i
    for i in range(4, 2):
        x[2] += 1 + i
    for i in range(5, -5, -3):
        x[3] += i
    for i in range(-3):
        x[2] += 1 + i
    for i in range(np.int32(3)):
        x[4] += i
    for i in range(*(1, 3)):
        x[2] += i
    some = range(len(A), 5)
    for i in some:
        for j in range(some.start, some.stop + i):
            x[0] += i * j
    for i, value in enumerate(x):
        x[i] = value + 1


def broken_loops(A, x):
    for i in range(10):
        if i == 2:
            continue
        if i == 5:
            break
        x[0] += i
    else:
        x[1] = 1
    for _ in range(3):
        i += 1  # the variable outlives its loop
    x[2] = i


def variables(A, x):
    total, last = 0.0, -1
    for i in range(4):
        before = last  # of the round before
        last = i
        if i > 1:
            kept = 10 * i  # assigned in some rounds only
            total += kept + before
        else:
            kept = 1
        total += kept
        a, b = total, i
        a, b = b, a
        x[i] = a + 2 * b
    first = last
    while first > 0:
        first -= 1
        x[first] += first
    x[4] = total if last else kept


def parts(A, x):
    for i in range(-5, 6):
        for j in range(-5, 6):
            row, plane = A[1, 2, i:j], A[0, i:j]
            x[0] += len(row) * (7 + i) * (11 + j)
            for k in range(len(row)):
                x[1] += (k + 1) * row[k]
            for k in range(plane.shape[0]):
                x[2] += (k + 1) * plane[k, 1] + plane.size
            x[3] += len(A[1, :j, 1]) * (11 + j) + A[:, i:, 2:].size * (7 + i)
            A[1, 0, 1:][0] = i * j
            x[4] += A[1, :, 1:3][1, 1] + A[1, 0, 1] + A[np.int32(j % 2), np.uint8(1), i:].size


def extremes(A, x):
    nan = A[0, 0, 0] / A[0, 0, 0]
    x[0] = max(1.0, nan) + min(1.0, nan) + max(len(A), 3) + min(A[1, 1, 1], 2)
    x[1] = max(np.float32(0.1), np.float64(0.1)) + min(np.int32(3), np.int64(1 << 40))
    x[2], x[3] = max(nan, 1.0), min(nan, 1.0)
    x[4] = max(1, 2, 3) + min(-0.0, 0.0)


@pytest.mark.parametrize(
    "function", [parts, extremes, entries, rows, turned, ranges, broken_loops, variables]
)
def test_a_compiled_function_does_what_python_does(function):
    expected, found = np.zeros(5), np.zeros(5)
    with np.errstate(invalid="ignore"):
        function(A.copy(), expected)
    numba.njit(**jit.OURS)(function)(A.copy(), found)
    np.testing.assert_array_equal(found, expected)
    assert expected.any()


def test_an_inner_function_is_compiled_as_a_part():
    inner = numba.njit(**jit.INNER)(rows)

    def outer(A, x):
        inner(A, x)

    expected, found = np.zeros(5), np.zeros(5)
    rows(A, expected)
    numba.njit(**jit.OURS)(outer)(A, found)
    np.testing.assert_array_equal(found, expected)
