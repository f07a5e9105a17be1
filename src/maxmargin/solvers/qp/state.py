"""The state of a solve of the dual problem: β and its gradient."""

from __future__ import annotations

from math import prod

import numpy as np

from maxmargin.gram import Gram
from maxmargin.problem import DualProblem, Values
from maxmargin.resources.arrays import Floats, Numbers
from maxmargin.solvers.qp.work import COLUMN, ENTRY
from maxmargin.solvers.state import Found, LimitReached, State, Step

# Error that kernel entries may bring into a gradient, as a share of tol: less makes more fits use
# differences, which take ten times as long as tiles.
NEGLIGIBLE = 0.05
NOTHING = 1e-9  # of (Σ|β_i|‖φ(x_i)‖)²: a ‖w‖² that counts as 0


class DualState(State[DualProblem, Gram]):
    """β, its gradient G = Kβ + p, and the precision of the kernel entries that update G.

    A problem whose sums have signs is solved in α = s β: `problem`, `gram`, `beta` and `gradient`
    are those of its reflection, and `found` gives β.

    Attributes
    ----------
    gradient : G, in float64
    dtype : of the kernel entries that steps are computed from
    own_offsets : b of each group as the solver's steps set it; None if they set none
    updated : whether G was updated with moves since it was computed from β alone
    sharpened : whether float32 entries stalled once
    work : what the solve has cost beside kernel entries, in the units of `work`
    entry : the work of a kernel entry in float32
    unfinished : blocks in a row that SMO left when their steps were used up
    aim : the violation that steps are to reach: tol, or less where the gap needs less

    Examples
    --------
    >>> from maxmargin.formulations import c_svc
    >>> from maxmargin.kernels import Linear
    >>> gram = Gram(Linear(), np.array([[-1.0], [1.0]]))
    >>> state = DualState(c_svc(np.array([-1, 1]), C=5.0), gram, None)
    >>> state.move_to(np.array([0, 1]), np.array([-0.5, 0.5]))
    >>> state.steps, state.gradient, state.values().gap
    (1, array([0., 0.]), 0.0)
    """

    def __init__(self, problem: DualProblem, gram: Gram, start: Floats | None) -> None:
        self._signs = problem.signs
        if self._signs is not None:
            start = None if start is None else self._signs * start
            problem, gram = problem.reflected, gram.reflected(problem.rows, self._signs)
        super().__init__(problem, gram, problem.feasible(start))
        self.gradient, self.dtype = problem.linear.copy(), gram.precision
        self.updated, self.sharpened, self.aim = False, False, np.inf
        self.unfinished, self.work = 0, 0.0
        columns = 0 if gram.kernel.precomputed else prod(gram.X.shape[1:])
        self.entry = ENTRY + COLUMN * columns
        if start is not None and np.count_nonzero(self.beta):
            self._compute_gradient()
        elif np.count_nonzero(self.beta):  # the sums ask for it: nothing is to be computed twice
            self.refresh()
        self.own_offsets: Floats | None = None
        # Where p = 0 the objective is ½‖w‖² alone, which may vanish: it is compared with what it
        # were if all φ(x_i) had one direction.
        self._norms = None if problem.linear.any() else np.sqrt(np.abs(self.diagonal))

    def spend(self, work: float) -> None:
        """Add to the work of the solve."""
        self.work += work

    @property
    def gram(self) -> Gram:
        """K."""
        return self.matrix

    def values(self) -> Values:
        values = self.problem.values(self.beta, self.gradient)
        bounds = self.problem.lower, self.problem.upper
        if not values.dual < np.inf and np.isinf(bounds).any():
            raise ValueError(
                "the dual has no bound: C is infinite, and either not all constraints can be "
                "satisfied, or the kernel is not positive semidefinite on these rows, so that the "
                "coefficients grow without end; use a finite C or another kernel"
            )
        if self._norms is None:
            return values
        return values._replace(nothing=nothing_of(self.beta, self._norms))

    def found(self) -> Found:
        if self._signs is None:
            return Found(self.beta, None, self.gradient)
        return Found(self._signs * self.beta + 0.0, None, self._signs * self.gradient)

    def check(self, solver: str) -> None:
        self.problem.check_feasible(self.beta, solver)

    @property
    def offsets(self) -> Floats:
        """b of each group: the solver's own, or the b that β implies."""
        if self.own_offsets is not None:
            return self.own_offsets
        return self.problem.offsets(self.beta, self.gradient)

    def row(self, i: int) -> Floats:
        """Row i of K over the variables."""
        row_number = i if self.problem.rows is None else self.problem.rows[i]
        return self.problem.on_variables(self.gram.row(row_number, self.dtype))

    @property
    def diagonal(self) -> Floats:
        """K_ii of every variable."""
        return self.problem.on_variables(self.gram.diagonal)

    def residual(self) -> Floats:
        """G + b: small where β is free, so that float32 has many digits of it."""
        offsets = self.problem.offsets(self.beta, self.gradient)
        return self.problem.residual(self.gradient, offsets)

    @property
    def rounding(self) -> float:
        """What rounding of entries may change a gradient by: half an ulp of the largest β K_ii."""
        largest = float(np.abs(self.beta).max() * np.abs(self.gram.diagonal).max())
        return 0.0 if self.dtype == np.float64 else float(np.finfo(self.dtype).eps) / 2 * largest

    def move_to(
        self,
        variables: Numbers,
        values: Floats,
        why: str = "working set",
        *,
        steps: int = 1,
    ) -> None:
        """Set β on some variables, update the gradient, and count the steps."""
        delta = values - self.beta[variables]
        change = self.gram.dot(self.problem.row_of(variables), delta, self.dtype, again=True)
        self.beta[variables] = values
        self.gradient += self.problem.on_variables(change)
        self.updated, self.exact = True, False
        self._moved(variables, delta, why, steps)

    def begin_at(self, beta: Floats, *, steps: int = 1) -> None:
        """Set all of β, compute the gradient from it, and count the steps."""
        delta, self.beta = beta - self.beta, beta
        self._compute_gradient()
        self._moved(slice(None), delta, "working set", steps)

    def _compute_gradient(self) -> None:
        """G from β alone, with entries of the solve's precision."""
        every = np.arange(self.problem.size)
        self.gradient = gradient_of(self.problem, self.gram, self.beta, every, self.dtype)
        self.updated = False
        self.exact = self.dtype == np.float64 or self.gram.matrix is not None

    def settle(self, beta: Floats, gradient: Floats, why: str) -> None:
        """Set β and its float64 gradient, as one step if β changed."""
        delta, self.beta, self.gradient = beta - self.beta, beta, gradient
        if delta.any():
            self._moved(slice(None), delta, why, 0)

    def _moved(self, variables: Numbers | slice, delta: Floats, why: str, steps: int) -> None:
        """Count steps and movement, and report the step to an observer of steps."""
        self.steps += steps
        self.movement += float(np.abs(delta).sum())
        self.own_offsets = None
        if self.watch is not None:
            nan, moved = np.nan, np.arange(self.problem.size)[variables][delta != 0]
            offset = float(np.mean(self.offsets))
            self.watch(Step(tuple(moved.tolist()), why, nan, nan, nan, nan, offset))

    def took(
        self, indices: tuple[int, ...], why: str, best: float, t: float, low: float, high: float
    ) -> None:
        """Count and report a step; raise `LimitReached` after the last one allowed."""
        self.steps += 1
        if self.watch is not None:
            offset = self.offsets[self.problem.group[indices[0]]] if len(self.offsets) else 0.0
            self.watch(Step(tuple(map(int, indices)), why, best, t, low, high, float(offset)))
        if self.steps >= self.most_steps or self.seconds >= self.most_seconds:
            raise LimitReached

    def refresh(self) -> None:
        """Recompute the gradient from β alone, in float64."""
        self.gradient = exact_gradient(self.problem, self.gram, self.beta)
        self.updated, self.exact = False, True

    def tighten(self, values: Values, tol: float) -> None:
        if values.violation <= self.aim and values.relative_gap > tol:
            self.aim = values.violation * min(0.5, tol / values.relative_gap)

    def conclude(self) -> None:
        beta = self.problem.feasible(self.beta)  # millions of steps let the sums drift
        if not (self.exact and np.array_equal(beta, self.beta)):
            self.beta = beta
            self.refresh()

    def restart(self) -> bool:
        self.refresh()
        self.dtype = np.float64
        return True

    def sharpen(self) -> bool:
        """Stalled by float32: continue once from the exact gradient, then use float64."""
        if self.dtype == np.float64:
            return False
        self.refresh()
        self._raise_precision()
        return True

    def _raise_precision(self) -> None:
        if self.sharpened:
            self.dtype = np.float64
        self.sharpened = True

    def confirm(self, tol: float) -> None:
        """Recompute the gradient from β alone, in float64.

        Where the error of entries by a tile may exceed what `is_certain` allows, distances are
        computed from differences from now on. If the violation is then above tol, or the gap that
        the steps aim at, the precision of the entries is raised.
        """
        if not self.is_certain(tol):
            self.gram.use_differences()
        self.refresh()
        values = self.values()
        if values.violation > tol or (self.aim < tol < values.relative_gap):
            self._raise_precision()

    def is_certain(self, tol: float) -> bool:
        return is_certain(self.gram, self.beta, tol)


def is_certain(gram: Gram, beta: Floats, tol: float) -> bool:
    """Whether rounding of distances in float64 changes no gradient by more than NEGLIGIBLE · tol.

    G_i = Σ_j K_ij β_j + p_i is off by the largest error of an entry times Σ|β| at most.
    """
    return gram.entry_error * float(np.abs(beta).sum()) <= NEGLIGIBLE * tol


def gradient_of(
    problem: DualProblem, gram: Gram, beta: Floats, variables: Numbers, dtype: type
) -> Floats:
    """G = Kβ + p of some variables from β alone, with entries of this precision."""
    rows, coef = coefficients(problem, beta)
    again = dtype != np.float64  # rows that the solve may have cached
    product = gram.dot(rows, coef, dtype, rows=problem.row_of(variables), again=again)
    return product + problem.linear[variables]


def exact_gradient(problem: DualProblem, gram: Gram, beta: Floats) -> Floats:
    """G = Kβ + p from β alone, in float64."""
    with np.errstate(over="ignore", invalid="ignore"):  # of a dual without a bound: see `values`
        product = gram.dot(*coefficients(problem, beta))
    return problem.on_variables(product) + problem.linear


def coefficients(problem: DualProblem, beta: Floats) -> tuple[Numbers, Floats]:
    """The rows with a coefficient, and these: rounded as the model has them.

    Where two variables share a row, their sum may have fewer digits than they have.
    """
    of_rows = problem.on_rows(beta)
    (rows,) = of_rows.nonzero()
    return rows, of_rows[rows]


def nothing_of(beta: Floats, norms: Floats) -> float:
    """A ½‖w‖² that counts as 0, from β and ‖φ(x_i)‖."""
    return NOTHING * float(np.abs(beta) @ norms) ** 2
