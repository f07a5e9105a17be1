"""Which general QP solver for `InteriorPoint`: accuracy and time of those on the registry.

    pip install qpsolvers clarabel cvxopt daqp highspy osqp piqp proxsuite quadprog
    python experiments/qp_solvers.py

writes experiments/output/qp_solvers.csv: for each problem and solver the error of the objective
(relative to the best), the worst KKT violation after variables within 1e-6 C of a bound are put
on it, and the time.
"""

import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
import qpsolvers
import scipy.sparse as sp
from sklearn.datasets import make_classification

from maxmargin.formulations import c_svc
from maxmargin.kernels import RBF, Linear
from maxmargin.problem import DualProblem

OUTPUT = Path(__file__).parent / "output" / "qp_solvers.csv"
TIGHT = 1e-10
SOLVERS: dict[str, dict] = {
    "clarabel": {"tol_gap_abs": TIGHT, "tol_gap_rel": TIGHT, "tol_feas": TIGHT},
    "cvxopt": {"abstol": TIGHT, "reltol": TIGHT, "feastol": TIGHT},
    "daqp": {},
    "highs": {},
    "osqp": {"eps_abs": 1e-6, "eps_rel": 1e-6, "polish": True, "max_iter": 20_000},
    "piqp": {"eps_abs": TIGHT, "eps_rel": TIGHT, "backend": "dense"},
    "proxqp": {"eps_abs": 1e-9, "eps_rel": 0.0, "backend": "dense"},
    "quadprog": {},
}
SPARSE_INPUT = {"clarabel", "highs", "osqp"}


def problems(rows: int) -> dict[str, tuple[DualProblem, np.ndarray, float]]:
    X, y = make_classification(rows, 10, n_informative=6, flip_y=0.1, random_state=0)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), 2 * y - 1
    return {
        f"{name}, C = {C:g}": (c_svc(y, C), (K + K.T) / 2, C)
        for name, K, C in (
            ("RBF", RBF(0.05)(X, X), 1.0),
            ("RBF", RBF(0.05)(X, X), 1000.0),
            ("linear (singular)", Linear()(X, X), 1.0),
        )
    }


def solve(name: str, problem: DualProblem, K: np.ndarray) -> np.ndarray | None:
    matrix = sp.csc_matrix if name in SPARSE_INPUT else np.asarray
    quadratic = qpsolvers.Problem(
        matrix(K),
        problem.linear,
        A=matrix(np.ones((1, problem.size))),
        b=problem.sums,
        lb=problem.lower,
        ub=problem.upper,
    )
    try:
        return qpsolvers.solve_problem(quadratic, name, **SOLVERS[name]).x
    except qpsolvers.ProblemError as error:
        print(f"{name}: {error}")
        return None


def settled(problem: DualProblem, beta: np.ndarray, near: float) -> np.ndarray:
    at_lower, at_upper = beta - problem.lower < near, problem.upper - beta < near
    beta = np.where(at_lower, problem.lower, np.where(at_upper, problem.upper, beta))
    free = ~at_lower & ~at_upper
    beta[free] -= beta.sum() / max(1, free.sum())
    return beta


def main() -> None:
    warnings.simplefilter("ignore")  # of the solvers, about matrices converted
    lines = []
    for rows in (300, 1000):
        for label, (problem, K, C) in problems(rows).items():
            for name in SOLVERS:
                began = perf_counter()
                beta = solve(name, problem, K)
                line = {"problem": label, "rows": rows, "solver": name}
                line["seconds"] = perf_counter() - began
                if beta is not None:
                    beta = settled(problem, beta, 1e-6 * C)
                    gradient = K @ beta + problem.linear
                    line["objective"] = problem.objective(beta, gradient)
                    line["violation"] = problem.violation(beta, gradient)
                lines.append(line)
    table = pd.DataFrame(lines)
    best = table.groupby(["problem", "rows"])["objective"].transform("min")
    table["error"] = (table["objective"] - best) / best.abs()
    table = table.drop(columns="objective")
    OUTPUT.parent.mkdir(exist_ok=True)
    table.to_csv(OUTPUT, index=False, float_format="%.3g")
    print(table.to_string(index=False, float_format="%.2g"))


if __name__ == "__main__":
    main()
