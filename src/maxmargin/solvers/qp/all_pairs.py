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
from typing import Any

import numpy as np

from maxmargin.gram import Gram
from maxmargin.gram.matrix import HELD_ROWS
from maxmargin.hardware.arrays import Floats, Mask, Numbers
from maxmargin.hardware.jit import SMALL, compiled, linked, small
from maxmargin.hardware.threads import run_all
from maxmargin.problem.dual import SIDES, values_of
from maxmargin.solvers.qp.active_set import MOST_FREE, active_set, bring_gradient
from maxmargin.solvers.qp.smo_block import smo_pairs

LONGEST = 1024  # rows of a pair: with more, Python's part of a solve is small
FEW = 32  # pairs that are not worth another thread
STRIP = 1 << 20  # entries of K that are computed at a time, 8 MB
STAGES, STEPS = 3, 50  # records of a pair: at 0, after SMO, at the end; steps of SMO for each row
_smo_pairs = linked(smo_pairs)
_active_set, _values_of = linked(active_set, SMALL), linked(values_of, SMALL)
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
    k, n, q = len(sizes), gram.n, int(np.sort(sizes)[-2:].sum())
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
        layout = starts, blocks, first, last, a, end
        most, space = 0 if over else STEPS, workspace(q)
        strip = np.empty((1, 1)) if K is None else K
        solve_strip(strip, own, layout, pair, bounds, tol, most, answers, space)
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


def workspace(q: int) -> tuple[Any, ...]:
    """Arrays for problems of up to q rows."""
    room, numbers = min(MOST_FREE, q), np.arange(q)
    return (
        np.empty((q, q)),
        np.empty((10, q)),
        np.empty((3, 1, q)),
        np.empty((room + 3, room)),
        np.empty((SIDES, 1)),
        np.zeros(1),
        numbers,
        numbers.astype(np.int32),
        np.zeros(q, np.int8),
        np.empty(room, np.int64),
        np.empty((1, 2), np.int64),
        np.empty(q, bool),
    )


@compiled()
def solve_strip(
    strip: Floats,
    own: Floats,
    layout: tuple[Numbers, Numbers, int, int, int, int],
    pair: int,
    bounds: Floats,
    tol: float,
    most: int,
    answers: tuple[Floats, Floats, Floats, Numbers, Numbers],
    space: tuple[Any, ...],
) -> None:
    """The pairs (a, b) of some classes a with all b > a, by at most `most` steps for each row.

    `layout` says where classes start, where their blocks in `own` do, the classes of the strip,
    and those that a runs over; `pair` is the number of the first pair.
    """
    starts, _, _, _, begin, end = layout
    coef, records, offsets, steps, evaluations = answers
    K, vectors, scores, room, sides, sums, numbers, places, groups, F, worst, flags = space
    classes = len(starts) - 1
    for a in range(begin, end):
        for b in range(a + 1, classes):
            m, width = starts[a + 1] - starts[a], starts[b + 1] - starts[b]
            q, record = m + width, records[pair]
            beta, G, linear, lower = vectors[0, :q], vectors[1, :q], vectors[2, :q], vectors[3, :q]
            upper, diagonal, product = vectors[4, :q], vectors[5, :q], vectors[6, :q]
            before, best = vectors[7], vectors[8:]
            group, number = groups[:q], numbers[:q]
            if most:
                gather_pair(strip, own, layout, a, b, K)
                evaluations[pair] = m * width + (m * m if b == a + 1 else 0)
                evaluations[pair] += width * width if a == classes - 2 else 0
            for i in range(q):
                row = starts[a] + i if i < m else starts[b] + i - m
                linear[i], beta[i] = -1.0 if i < m else 1.0, 0.0
                lower[i] = 0.0 if i < m else -bounds[row]
                upper[i] = bounds[row] if i < m else 0.0
                G[i], before[i], diagonal[i] = linear[i], 0.0, K[i, i]
            for stage in range(STAGES):
                if stage == 1 and most:
                    box, place = (lower, upper, group), places[:q]
                    aim, limit = 0.4 * tol, most * q
                    steps[pair] = _smo_pairs(
                        K, None, 1.0, diagonal, G, beta, *box, scores, place, aim, limit
                    )
                    bring_gradient(K, number, linear, beta, product, G)
                if stage == 2 and most and q <= HELD_ROWS and record[1, VIOLATION] <= tol:
                    given, free = (K, number, linear, lower, upper, group, 1), flags[:q]
                    _active_set(*given, beta, G, best, product, free, F, room, sides, worst)
                    for i in range(q):
                        beta[i], G[i] = best[0, i], best[1, i]
                for i in range(q):
                    record[stage, MOVEMENT] += abs(beta[i] - before[i])
                    before[i] = beta[i]
                weigh(beta, G, linear, lower, upper, group, sums, sides, record[stage])
            offsets[pair] = sides[2, 0]
            for i in range(q):
                if i < m:
                    coef[b - 1, starts[a] + i] = beta[i]
                else:
                    coef[a, starts[b] + i - m] = beta[i]
            pair += 1


@small()
def gather_pair(
    strip: Floats,
    own: Floats,
    layout: tuple[Numbers, Numbers, int, int, int, int],
    a: int,
    b: int,
    K: Floats,
) -> None:
    """K of the rows of a and b > a, one b after the other; K[b, b] is in the strip or in `own`."""
    starts, blocks, first, last, _, _ = layout
    m, width = starts[a + 1] - starts[a], starts[b + 1] - starts[b]
    at_a, at_b = starts[a] - starts[first], starts[b] - starts[first]
    for i in range(m):
        for j in range(m if b == a + 1 else 0):  # there from the b before
            K[i, j] = strip[at_a + i, at_a + j]
        for j in range(width):
            K[i, m + j] = K[m + j, i] = strip[at_a + i, at_b + j]
    for i in range(width):
        row = strip[at_b + i, at_b:] if b < last else own[blocks[b] + i * width :]
        for j in range(width):
            K[m + i, m + j] = row[j]


@small()
def weigh(
    beta: Floats,
    G: Floats,
    linear: Floats,
    lower: Floats,
    upper: Floats,
    group: Numbers,
    sums: Floats,
    sides: Floats,
    record: Floats,
) -> None:
    """Dual, primal and violation into a record."""
    slope, quadratic, loss, _, violation = _values_of(
        beta, G, linear, lower, upper, group, sums, sides, sides[2]
    )
    record[DUAL], record[PRIMAL] = -(quadratic + slope), quadratic + loss
    record[VIOLATION] = violation
