"""Every problem and every solver, once: tests run over both lists.

There are three families: solvers of the dual problem, given its Gram matrix; the same on explicit
features; and solvers of the linear machines, given the rows. Each solver meets every problem of
its family.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.datasets import make_blobs, make_circles, make_moons, make_regression

from linear_problems import LINEAR_PROBLEMS, LinearCase
from maxmargin.features.feature_gram import FeatureGram
from maxmargin.formulations import c_svc, epsilon_svr, nu_svc, nu_svr, one_class, quantile
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Kernel, Laplacian, Linear, Polynomial, Precomputed
from maxmargin.problem import DualProblem, LinearProblem
from maxmargin.solvers import (
    SGD,
    Automatic,
    BlockInteriorPoint,
    BlockSMO,
    Chunking,
    CoordinateDescent,
    Decomposition,
    DualCoordinateDescent,
    FeatureNewton,
    InteriorPoint,
    LinearInteriorPoint,
    MaximalViolatingPairSMO,
    Newton,
    PlattSMO,
    RandomPairSMO,
    SecondOrderSMO,
    SimplifiedSMO,
    Solver,
)

TOL = 1e-7

# Solvers that reach the optimum of every problem they take.
EXACT: dict[str, Solver] = {
    "block": BlockSMO(tol=TOL),
    "block-interior-point": BlockInteriorPoint(tol=TOL),
    "second-order": SecondOrderSMO(tol=TOL),
    "maximal-violating-pair": MaximalViolatingPairSMO(tol=TOL),
    "platt": PlattSMO(tol=TOL),
    "coordinate-descent": CoordinateDescent(tol=TOL),
    "chunking": Chunking(tol=TOL, violators=10),
    "chunking, interior point inside": Chunking(tol=TOL, violators=10, inner=InteriorPoint()),
    "decomposition": Decomposition(tol=TOL, size=20),
    "decomposition, interior point inside": Decomposition(tol=TOL, size=20, inner=InteriorPoint()),
    "interior-point": InteriorPoint(tol=TOL),
}
# Solvers that may stop before it, and say so; they are given patience enough for easy problems.
SIMPLE: dict[str, Solver] = {
    "simplified": SimplifiedSMO(tol=1e-5, max_passes=30),
    "random-pair": RandomPairSMO(tol=1e-5),
}
FEATURE_EXACT: dict[str, Solver] = {"features: newton": FeatureNewton(tol=TOL)}
LINEAR_EXACT: dict[str, Solver] = {
    "linear: auto": Automatic(tol=TOL),
    "linear: dual": DualCoordinateDescent(tol=TOL, max_iter=-1),
    "linear: interior-point": LinearInteriorPoint(tol=TOL),
    "linear: newton": Newton(tol=TOL),
}
LINEAR_SIMPLE: dict[str, Solver] = {"linear: sgd": SGD(tol=0.02)}


@dataclass(frozen=True)
class Case:
    """A dual problem and the data behind it."""

    make: Callable[[], tuple[DualProblem, Kernel, np.ndarray]]
    easy: bool = False

    @property
    def problem(self) -> DualProblem:
        return self.make()[0]

    def matrix(self) -> Gram | FeatureGram:
        """A fresh one: nothing cached, nothing counted."""
        _, kernel, X = self.make()
        return Gram(kernel, X)

    def as_dual(self) -> tuple[DualProblem, Gram]:
        """The same as a dual problem that a general solver takes."""
        return self.problem, self.matrix()

    def variables(self, beta: np.ndarray) -> np.ndarray:
        """β of the problem as β of that dual problem."""
        return beta


class Squares:
    """φ(x) = (x, x², 1)."""

    def transform(self, X) -> np.ndarray:
        X = X.toarray() if sparse.issparse(X) else X
        return np.hstack([X, X**2, np.ones((len(X), 1))])


class FeatureCase(Case):
    """The same problem with φ(x)ᵀφ(z) in the kernel's place, given by φ."""

    def matrix(self) -> FeatureGram:
        return FeatureGram(self.make()[2], Squares())

    def as_dual(self) -> tuple[DualProblem, Gram]:
        return self.problem, Gram(Linear(), Squares().transform(self.make()[2]))


def blobs(n=60, spread=1.0):
    X, y = make_blobs(n, centers=[[-2, 0], [2, 1]], cluster_std=spread, random_state=0)
    return X, np.where(y == 1, 1, -1)


def moons(n=80):
    X, y = make_moons(n, noise=0.3, random_state=1)
    return X, np.where(y == 1, 1, -1)


def regression(n=50):
    X, y = make_regression(n, 3, noise=10.0, random_state=2)
    return X, y / np.std(y)


def worked_example():
    """The four points of docs/learn/worked-example.md."""
    X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [3.0, 2.0]])
    return c_svc(np.array([-1, -1, 1, 1]), 1.0), Linear(), X


def separable():
    X, y = blobs(spread=0.5)
    return c_svc(y, 1.0), Linear(), X


def overlapping():
    X, y = moons()
    return c_svc(y, 1.0), RBF(1.0), X


def one_label_rare():
    X, y = moons()
    y = np.where(np.arange(len(y)) < 3, 1, -1)
    return c_svc(y, 10.0), RBF(1.0), X


def large_C():
    X, y = moons()
    return c_svc(y, 1000.0), RBF(1.0), X


def singular():
    X, y = blobs(spread=2.0)
    return c_svc(y, 1.0), Linear(), X


def weighted():
    X, y = moons()
    weights = np.random.default_rng(3).choice([0.0, 0.1, 1.0, 5.0], len(y))
    return c_svc(y, weights), Laplacian(1.0), X


def duplicates():
    X, y = moons(40)
    return c_svc(np.concatenate([y, y, -y]), 1.0), RBF(1.0), np.concatenate([X, X, X])


def polynomial():
    X, y = make_circles(60, noise=0.1, factor=0.5, random_state=4)
    return c_svc(2 * y - 1, 1.0), Polynomial(degree=2, gamma=1.0, coef0=1.0), X


def precomputed():
    problem, kernel, X = overlapping()
    return problem, Precomputed(), kernel(X, X)


def sparse_rows():
    problem, kernel, X = singular()
    return problem, kernel, sparse.csr_array(np.where(np.abs(X) > 1.0, X, 0.0))


def rows_of_zeros():
    """K = 0: every β has the same quadratic term."""
    return c_svc(np.array([1, 1, -1]), 1.0), Linear(), np.zeros((3, 2))


def rows_of_zeros_without_offset():
    """All at their bounds after a step each: then nothing is left to move."""
    return c_svc(np.array([1, 1, -1]), 1.0, fit_intercept=False), Linear(), np.zeros((3, 2))


def hard_margin():
    X, y = blobs(spread=0.5)
    return c_svc(y, np.inf), Linear(), X


def no_offset():
    X, y = moons()
    return c_svc(y, 1.0, fit_intercept=False), RBF(1.0), X


def regressor():
    X, y = regression()
    return epsilon_svr(y, np.ones(len(y)), 0.1), RBF(0.5), X


def regressor_without_offset():
    X, y = regression()
    return epsilon_svr(y, np.ones(len(y)), 0.1, fit_intercept=False), RBF(0.5), X


def quantile_regressor():
    X, y = regression()
    return quantile(y, np.ones(len(y)), 0.8), RBF(0.5), X


def nu_classifier():
    X, y = moons()
    return nu_svc(y, np.ones(len(y)), 0.4, len(y)), RBF(1.0), X


def nu_regressor():
    X, y = regression()
    return nu_svr(y, np.ones(len(y)), 0.4), RBF(0.5), X


def novelty():
    X, _ = moons()
    return one_class(np.ones(len(X)), 0.3), RBF(1.0), X


PROBLEMS: dict[str, Case] = {
    "worked example": Case(worked_example, easy=True),
    "separable": Case(separable, easy=True),
    "overlapping": Case(overlapping, easy=True),
    "one label rare": Case(one_label_rare),
    "large C": Case(large_C),
    "singular": Case(singular),
    "weighted": Case(weighted),
    "duplicates": Case(duplicates),
    "polynomial": Case(polynomial),
    "precomputed": Case(precomputed),
    "sparse": Case(sparse_rows),
    "rows of zeros": Case(rows_of_zeros),
    "rows of zeros without offset": Case(rows_of_zeros_without_offset),
    "hard margin": Case(hard_margin),
    "no offset": Case(no_offset),
    "regressor": Case(regressor),
    "regressor without offset": Case(regressor_without_offset),
    "quantile": Case(quantile_regressor),
    "nu classifier": Case(nu_classifier),
    "nu regressor": Case(nu_regressor),
    "novelty": Case(novelty),
}

FEATURE_PROBLEMS: dict[str, Case] = {
    f"{name}, on features": FeatureCase(case.make, case.easy) for name, case in PROBLEMS.items()
}

AnyCase = Case | LinearCase
CASES: dict[str, AnyCase] = {**PROBLEMS, **FEATURE_PROBLEMS, **LINEAR_PROBLEMS}
FAMILIES: list[tuple[dict[str, Solver], dict[str, AnyCase]]] = [
    ({**EXACT, **SIMPLE}, PROBLEMS),
    (FEATURE_EXACT, FEATURE_PROBLEMS),
    ({**LINEAR_EXACT, **LINEAR_SIMPLE}, LINEAR_PROBLEMS),
]
ALL_EXACT = {**EXACT, **FEATURE_EXACT, **LINEAR_EXACT}
ALL_SIMPLE = {**SIMPLE, **LINEAR_SIMPLE}
ALL = {**ALL_EXACT, **ALL_SIMPLE}


def pairs(solvers: dict[str, Solver]) -> list[tuple[str, str]]:
    """The names of each of these solvers and of each problem of its family."""
    return [
        (key, name)
        for family, problems in FAMILIES
        for key in family
        if key in solvers
        for name in problems
    ]


def ordinary(key: str) -> AnyCase:
    """A problem that the solver takes and that nothing is special about."""
    names = "overlapping", "no offset", "overlapping, on features", "squared hinge"
    known = {name for solver, name in pairs(ALL) if solver == key}
    return next(CASES[name] for name in names if name in known and takes(ALL[key], CASES[name]))


def takes(solver: Solver, case: AnyCase) -> bool:
    """Whether the solver declares that it can take a problem of its family."""
    problem = case.problem
    if isinstance(problem, LinearProblem):
        return case.smooth or not isinstance(solver, Newton)
    inner = getattr(solver, "inner", solver)
    bounded = np.isfinite(problem.lower).all() and np.isfinite(problem.upper).all()
    return problem.n_groups in inner.takes_groups and (bounded or inner.takes_infinite_bounds)
