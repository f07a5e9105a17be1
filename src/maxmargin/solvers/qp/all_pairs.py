"""All pairs of classes of one problem at once: small problems on the same kernel matrix.

With k classes there are k(k − 1)/2 binary problems, half a million for a thousand classes, each of
a few rows. Their matrices are made of the same k² blocks. So the rows are put in the order of their
classes, K is computed strip by strip, a strip being the rows of some classes, and one compiled loop
solves the pairs (a, b) of a strip, a in it and b > a:

    the matrix of the pair   from K[a, a], K[a, b] and K[b, b]
    second-order SMO         as in `smo_block`, from β = 0
    the active-set method    as in `active_set`, to the last digits
    G = Kβ + p, P and D      from β alone

Steps, values and proofs are those that `BlockSMO` gives pair by pair; it is left to solve the
pairs that are not settled here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter

import numpy as np

from maxmargin.core import native
from maxmargin.gram import Gram
from maxmargin.gram.matrix import HELD_ROWS
from maxmargin.resources.arrays import Floats, Mask, Numbers
from maxmargin.resources.threads import run_all
from maxmargin.solvers.qp.active_set import MOST_FREE

LONGEST = 1024  # rows of a pair: with more, Python's part of a solve is small
FEW = 32  # pairs that are not worth another thread
STRIP = 1 << 20  # entries of K that are computed at a time, 8 MB
STAGES, STEPS = 3, 50  # records of a pair: at 0, after SMO, at the end; steps of SMO for each row
DUAL, PRIMAL, VIOLATION, MOVEMENT = range(4)


@dataclass(frozen=True)
class PairTable:
    """What is known of each pair; pairs are in the order (0, 1), (0, 2), …, (1, 2), ….

    Attributes
    ----------
    records : ndarray of shape (pairs, STAGES, 4): dual, primal, violation, movement
    offsets, steps, evaluations, seconds : ndarrays of shape (pairs,)
    """

    records: Floats
    offsets: Floats
    steps: Numbers
    evaluations: Numbers
    seconds: Floats

    @classmethod
    def of(cls, pairs: int) -> PairTable:
        """Of pairs that were not yet solved."""
        counts = np.zeros(pairs, np.int64), np.zeros(pairs, np.int64)
        return cls(np.zeros((pairs, STAGES, 4)), np.zeros(pairs), *counts, np.zeros(pairs))

    def converged(self, tol: float) -> Mask:
        """Whether the violation and the relative gap of each pair are ≤ tol."""
        dual, primal, violation, _ = self.records[:, -1].T
        scale = np.maximum(np.abs(dual), np.abs(primal))
        both: Mask = (violation <= tol) & (primal - dual <= tol * scale)
        return both


def solve_all_pairs(
    gram: Gram,
    sizes: Numbers,
    bounds: Floats,
    tol: float,
    threads: int,
    stopped: Callable[[], bool],
    interrupt: Callable[[], None],
    report: Callable[[int], None] | None = None,
) -> tuple[Floats, PairTable]:
    """Solve every pair: Σβ = 0, and |β| ≤ `bounds`.

    Parameters
    ----------
    gram : of the rows in the order of their classes, on one thread
    sizes : rows of each class
    stopped : whether the pairs that are left stay at β = 0
    interrupt : called on Ctrl-C; from then on `stopped` is true
    report : called with the number of pairs that have just been solved

    Returns
    -------
    ndarray of shape (classes − 1, rows), β in LIBSVM's layout; and PairTable
    """
    k, n = len(sizes), gram.n
    starts = np.concatenate([[0], np.cumsum(sizes)])
    blocks = np.concatenate([[0], np.cumsum(sizes**2)])
    first_pair = np.concatenate([[0], np.cumsum(np.arange(k - 1, 0, -1)), [k * (k - 1) // 2]])
    pairs = int(first_pair[-1])
    coef, table = np.zeros((k - 1, n)), PairTable.of(pairs)
    answers = coef, table.records, table.offsets, table.steps, table.evaluations
    rows, cuts = np.arange(n), strips(starts)
    own = own_blocks(gram, starts) if len(cuts) > 2 else np.empty(0)
    done: set[int] = set()

    def solve(K: Floats | None, first: int, last: int, a: int, end: int) -> None:
        began, pair, over = perf_counter(), int(first_pair[a]), stopped()
        if K is None and not over:
            some = rows[starts[first] :]
            K = gram.block(some[: starts[last] - starts[first]], some)
        strip, classes = np.empty((0, 0)) if K is None else K, (first, last, a, end)
        most = 0 if over else STEPS, HELD_ROWS, MOST_FREE
        native.all_pairs(strip, own, starts, blocks, classes, bounds, tol, most, *answers)
        after = int(first_pair[end])
        table.seconds[pair:after] = (perf_counter() - began) / max(after - pair, 1)
        done.add(a)
        if report is not None:
            report(after - pair)

    tasks: list[tuple[Floats | None, int, int, int, int]]
    tasks = [(None, first, last, first, last) for first, last in pairwise(cuts)]
    if len(cuts) == 2:  # one strip: its classes are shared out, about as many pairs to each part
        K, parts = gram.block(rows, rows), min(4 * threads, 1 + pairs // FEW) if threads > 1 else 1
        ends = np.searchsorted(first_pair[:-1], np.linspace(0, pairs, parts + 1)).tolist()
        tasks = [(K, 0, k, a, end) for a, end in pairwise(ends) if a < end]
    while len(done) < len(tasks):
        try:
            run_all(solve, [task for task in tasks if task[3] not in done], threads)
        except KeyboardInterrupt:
            interrupt()
    return coef, table


def strips(starts: Numbers) -> list[int]:
    """Where strips of whole classes begin and end, each of about STRIP entries of K."""
    n, cuts = int(starts[-1]), [0]
    for a in range(1, len(starts)):
        begin = starts[cuts[-1]]
        if a == len(starts) - 1 or (starts[a + 1] - begin) * (n - begin) > STRIP:
            cuts.append(a)
    return cuts


def own_blocks(gram: Gram, starts: Numbers) -> Floats:
    """K of each class with itself, one after the other."""
    rows = [np.arange(start, stop) for start, stop in pairwise(starts)]
    return np.concatenate([gram.block(own, own).ravel() for own in rows])
