"""Second-order SMO on a small dense problem whose matrix stays in cache: the compiled loop.

A step reads two rows of K in two passes over q numbers (core/smo.hpp):

    1. G += t(K_i − K_j) of the last step; i, the largest −G that can rise, and the smallest −G that
       can fall: their distance is the violation
    2. j, the variable that can fall with the largest gain (G_j − G_i)²/a

Without a sum constraint (no offset) two variables move too, independently: i has the largest gain
alone, j the largest gain together with i. One at a time would take 2 to 22 times the steps
(docs/how-it-works/speed.md).

Bounds and groups need no branch: −∞ is added to the score of a variable that cannot move. All this
runs in the precision of the diagonal, however the entries of K are stored. β and t are float64, and
the caller updates the gradient of all variables from β: rounding in here affects this block's β
only, and the next block corrects it.
"""

from __future__ import annotations

from maxmargin.core import native
from maxmargin.gram.on_demand import Maker
from maxmargin.resources.arrays import Entries, Floats, Numbers, Reals


def smo_block(
    K: Entries,
    diagonal: Reals,
    gradient: Floats,
    beta: Floats,
    lower: Floats,
    upper: Floats,
    group: Numbers,
    n_groups: int,
    tol: float,
    max_steps: int,
    maker: Maker | None = None,
) -> int:
    """Minimise over β in place until the violation is ≤ tol; returns the steps taken.

    K has the precision of the diagonal, or uint16, which holds value · UNIT. With a maker, its rows
    are computed when they are needed.
    """
    variables = gradient, beta, lower, upper, group, n_groups
    with_maker = () if maker is None else (maker,)
    return native.smo(K, diagonal, *variables, tol, max_steps, *with_maker)
