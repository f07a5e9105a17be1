"""SMO and the second-order method take turns, and neither can make a fit much dearer.

Both raise the same dual from the same β, so each goes on where the other stopped. Which of them
would end sooner cannot be told in advance. So work is counted (`work`). After each block of SMO let
S be the work of SMO so far, F that of the second-order method's blocks, T that of its trials, and

    try to solve for the free variables of SMO's β, for they may be the right ones, whenever S has
        doubled since the last trial and the next one leaves T ≤ S/4
    let the second-order method solve blocks while the next one leaves F ≤ S; or F ≤ 3S, as long as
        it brings the violation and the gap down faster for its work than SMO has

A method that gains nothing any more leaves the rest to the other.

Guarantee. Let no block cost more than the price that it was admitted with. At any time F ≤ 3S and
T ≤ S/4, so a fit costs at most 4.25 times what SMO's turns cost, and at most 2.25 times unless the
second-order method was ahead. And if that method ends after the work F* from where it begins, SMO
delays it until S = F* at most: the fit then costs 2.25 F*, or what the first block has to wait for
if that is more. Nothing is forecast; a block that cost more is paid back before the next one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from maxmargin.solvers.qp.block_interior_point import BlockInteriorPoint
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.qp.work import EXACT
from maxmargin.solvers.state import Moves

TRIALS = 0.25  # of SMO's work, for trials: the most that an easy fit loses to them
AHEAD = 3.0  # times SMO's work, for the second-order method while it is ahead: a hard fit loses a
# third to SMO then, and one where the method falls behind again can cost four times SMO
STALLED = 3  # blocks without gain, after which SMO would not come to an end by itself


class Account:
    """The work of one method, and how far it has brought the solve for that.

    Parameters
    ----------
    entry : the work of a kernel entry, as the method computes it
    """

    def __init__(self, state: DualState, entry: float) -> None:
        self.state, self.entry = state, entry
        self.work = self.gain = 0.0

    def clock(self) -> float:
        """What the solve has cost, if this method alone has worked."""
        return self.state.work + self.entry * self.state.kernel_evaluations

    def ahead_of(self, other: Account) -> bool:
        """Whether it gained more for its work."""
        return self.gain * other.work > other.gain * self.work


def distance(state: DualState, tol: float) -> float:
    """Logarithms of violation and relative gap over tol, both of which must come down to 0."""
    values = state.measured
    both = np.array([values.violation, values.relative_gap]) / tol
    return float(np.log(np.clip(both, 1.0, 1 / np.finfo(float).eps)).sum())


def take_turns(
    state: DualState, smo: Callable[[DualState], Moves], finish: BlockInteriorPoint
) -> Moves:
    """Blocks of SMO and of the second-order method, until one of them finds no step any more."""
    exact = EXACT * state.entry
    first, second = Account(state, state.entry), Account(state, exact)
    trials = Account(state, exact)
    doubled = 0.0  # twice S at the last trial
    whole: float | None = None  # the price of a block of all rows, once it is worth knowing
    steps, blocks = smo(state), finish.iterate(state)

    def advance(moves: Moves, account: Account) -> Moves:
        """One block, entered into the account."""
        before, far = account.clock(), distance(state, finish.tol)
        for pause in moves:
            yield pause
            if pause is None:
                account.work += account.clock() - before
                account.gain += far - distance(state, finish.tol)
                return True
        return False

    while (yield from advance(steps, first)):
        precision, stalled = state.dtype, state.idle >= STALLED
        state.method = "second order"
        after = trials.work + finish.price_of_face(state)
        if first.work >= doubled and after <= TRIALS * first.work:
            doubled, before = 2 * first.work, trials.clock()
            while finish.tries_face(state):
                yield
            trials.work += trials.clock() - before
        if whole is None and first.work >= finish.price_of_rank(state):
            before = second.clock()
            whole = finish.price_of_all(state)
            second.work += second.clock() - before
        while True:
            most = (AHEAD if second.ahead_of(first) else 1.0) * first.work
            price = min(finish.price(state), np.inf if whole is None else whole)
            if not stalled and second.work + price > most:
                break
            if not (yield from advance(blocks, second)):
                state.method = ""
                return (yield from smo(state))
        state.method, state.dtype = "", precision
    return (yield from blocks)
