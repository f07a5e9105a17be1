"""The interface of solvers: a frozen dataclass of options, and an algorithm that moves a state.

`iterate` is a generator: it changes the state and yields once per outer iteration (a sweep, a
block). `solve` runs it in the driver.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any, ClassVar

import numpy as np

from maxmargin.gram import Gram
from maxmargin.problem import DualProblem, Ending, Solution, Status
from maxmargin.resources.arrays import Floats
from maxmargin.resources.threads import one_blas_thread
from maxmargin.solvers.driver import Run
from maxmargin.solvers.progress import Criterion, Observer
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.state import Moves, State

STRIDE = 100  # steps per outer iteration without sweeps: measuring P and D costs 1 % of them


def require_positive(solver: Solver, *options: str) -> None:
    """Raise if one of these options is not > 0."""
    for option in options:
        if not (value := getattr(solver, option)) > 0:
            raise ValueError(f"{type(solver).__name__}: {option} must be positive, got {value!r}")


def as_solver(given: Any, names: Mapping[str, type[Solver]]) -> Solver:
    """The solver that a name or an object stands for, or an error that says what to give.

    Examples
    --------
    >>> from maxmargin.solvers import SOLVERS, PlattSMO
    >>> as_solver("platt", SOLVERS) == as_solver(PlattSMO(), SOLVERS)
    True
    """
    if isinstance(given, Solver):
        return given
    if isinstance(given, str):
        if given not in names:
            raise ValueError(f"there is no solver {given!r}; there are {', '.join(names)}")
        return names[given]()
    if isinstance(given, type):
        name = given.__name__
        raise TypeError(f"solver={name} is a class: give an object of it, solver={name}()")
    raise TypeError(
        f"solver={given!r} is no Solver: a machine sets its tol, max_iter and max_time, and the "
        "driver computes what it reports. Derive its class from maxmargin.solvers.Solver and "
        "define `iterate`: docs/how-it-works/add-a-solver.md"
    )


@dataclass(frozen=True)
class Solver(ABC):
    """A solver of the one dual problem; a subclass needs only `iterate`.

    The solvers of the linear machines and of the machines on features are solvers too: they
    replace `begin`, which makes their state.

    Parameters
    ----------
    tol : float, default=1e-3
        Worst KKT violation (max −G_i of what can rise minus min −G_j of what can fall) and
        relative duality gap to reach.
    max_iter : int, default=-1
        Most steps to take; −1 for max(10⁷, 100 · variables), so that nothing hangs.
    max_time : float or None, default=None
        Most seconds to take.
    criterion : Criterion, default=Criterion.BOTH
        Which of the two `tol` bounds; `Criterion.KKT` is LIBSVM's rule.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.formulations import c_svc
    >>> from maxmargin.kernels import Linear
    >>> from maxmargin.solvers import SecondOrderSMO
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([-1, 1])
    >>> solution = SecondOrderSMO(tol=1e-6).solve(c_svc(y, C=5.0), Gram(Linear(), X))
    >>> solution.beta
    array([-0.5,  0.5])
    """

    tol: float = 1e-3
    max_iter: int = -1
    max_time: float | None = None
    criterion: Criterion = Criterion.BOTH

    takes: ClassVar[tuple[type, type]] = (DualProblem, Gram)
    takes_groups: ClassVar[tuple[int, ...]] = (0, 1, 2)
    takes_infinite_bounds: ClassVar[bool] = True
    # Outer iterations without progress after which it continues in float64, or ends: fewer end
    # solves that would still converge, more waste as many iterations.
    patience: ClassVar[float] = 5
    # Whether a solve holds BLAS to one thread. Its own wait for each other busily: where products
    # are small they gain nothing, and beside another process LinearSVC on 3,000 × 300 took 1.9 s
    # with them, 0.05 without. A dual solver calls kernels of the user's, which may want them.
    holds_blas: ClassVar[bool] = False
    # What to do after Ctrl-C, if not what `Status.advice` says.
    resume: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        """`help` of a solver shows its algorithm too, which is the docstring of its file."""
        algorithm = sys.modules[cls.__module__].__doc__
        if cls.__module__.startswith("maxmargin.solvers.") and cls.__doc__ and algorithm:
            cls.__doc__ = f"{cleandoc(cls.__doc__)}\n\nNotes\n-----\n{cleandoc(algorithm)}\n"

    def __getstate__(self) -> dict[str, Any]:
        """Words and numbers only: what a file format such as skops can keep."""
        return {**vars(self), "criterion": self.criterion.value}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, criterion=Criterion(state["criterion"]))

    @abstractmethod
    def iterate(self, state: Any) -> Moves:
        """Improve `state`, yielding once per outer iteration.

        Returns None when it finds no further step, or the `Ending` of a stopping rule of its own.
        """

    def solve(
        self,
        problem: Any,
        matrix: Any,
        *,
        start: Floats | None = None,
        observe: Observer | None = None,
    ) -> Solution:
        """Minimise the dual from `start` (0 by default), calling `observe` on the way.

        An observer that returns True ends the solve with status `interrupted`. So does Ctrl-C, but
        then the solution is raised: as `solution` of `maxmargin.problem.Interrupted`.
        """
        self.check(problem, matrix)
        with one_blas_thread() if self.holds_blas else nullcontext():
            state = self.begin(problem, matrix, start)
            state.most_steps = self.most_steps(problem) if self.max_iter < 0 else self.max_iter
            if self.max_time is not None:
                state.most_seconds = self.max_time
            return Run(self, state, observe).solution()

    def begin(self, problem: Any, matrix: Any, start: Floats | None) -> State[Any, Any]:
        """The state at a dual point, or at 0."""
        state = DualState(problem, matrix, start)
        state.aim = self.tol
        return state

    def most_steps(self, problem: Any) -> float:
        """The limit of `max_iter=-1`."""
        return float(max(10**7, 100 * problem.size))

    def polish(self, state: Any) -> None:
        """Improve a converged state further."""

    def advice(self, ending: Ending, milder: str = "lower C") -> str:
        """What to do about an ending that is not convergence; `milder` as in `Status.advice`."""
        interrupted = ending.status is Status.INTERRUPTED
        return self.resume if interrupted and self.resume else ending.status.advice(milder)

    def check(self, problem: Any, gram: Any) -> None:
        """Raise if this solver cannot take the problem, naming one that can."""
        self.check_family(problem, gram)
        name = type(self).__name__
        if problem.rows is None and problem.size != gram.n:
            raise ValueError(
                f"the problem has {problem.size} variables but the Gram matrix {gram.n} rows; "
                "give DualProblem(rows=...) if variables share rows"
            )
        if problem.n_groups not in self.takes_groups:
            raise ValueError(
                f"{name} cannot take a problem with "
                + (
                    "no sum constraint (no offset): use CoordinateDescent or BlockSMO",
                    "a sum constraint (an offset): use BlockSMO, SecondOrderSMO or PlattSMO",
                    "two sum constraints (a ν machine): use BlockSMO or SecondOrderSMO",
                )[problem.n_groups]
            )
        if self.takes_infinite_bounds:
            return
        if np.isinf(problem.lower).any() or np.isinf(problem.upper).any():
            raise ValueError(
                f"{name} cannot take C = ∞ (the hard margin): use BlockSMO or SecondOrderSMO"
            )

    def check_family(self, problem: Any, matrix: Any) -> None:
        """Raise if the problem or its matrix is for the solvers of another family."""
        if not all(map(isinstance, (problem, matrix), self.takes)):
            given, wanted = (
                " with a ".join(kind.__name__ for kind in kinds)
                for kinds in ((type(problem), type(matrix)), self.takes)
            )
            raise ValueError(
                f"{type(self).__name__} cannot take a {given}, it solves a {wanted}: use BlockSMO "
                "for a Gram, FeatureNewton for a FeatureGram, Automatic for a DataMatrix"
            )
