"""The default solver beside the two methods that take turns in it, each of them alone.

    python -m benchmarks.switch                          # everything: half an hour on one core
    python -m benchmarks.switch --data ijcnn1 --C 1 100  # these alone
    python -m benchmarks.switch --report                 # only SWITCH.md and switch.png
    python -m benchmarks.switch --units                  # the constants of solvers/qp/work.py

CPU seconds of one core, after a fit that warms up; the least of several for short fits. A method
that needs LONGER times the seconds of the default is stopped: it is not the better one.
γ is in units of 1/(columns · variance). What is in switch.csv already is not measured again.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from datetime import date
from functools import lru_cache
from pathlib import Path
from statistics import geometric_mean
from time import process_time

import numpy as np

from benchmarks.datasets.real import archive, sparse
from benchmarks.report import machine, table
from maxmargin import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.formulations import c_svc, epsilon_svr, nu_svc, nu_svr, one_class
from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.problem import DualProblem
from maxmargin.resources.lapack import factorise
from maxmargin.resources.threads import one_blas_thread
from maxmargin.solvers import BlockInteriorPoint, BlockSMO
from maxmargin.solvers.qp import work

METHODS = {
    "default": BlockSMO(),
    "SMO": BlockSMO(finish=None),
    "second order": BlockInteriorPoint(),
}
COSTS = (0.1, 1.0, 10.0, 100.0, 1e4, 1e6)
ORDINARY = 100.0  # the largest C that the aims call ordinary
GAMMAS = (0.1, 1.0)
ROWS = {ORDINARY: 30_000, np.inf: 3_000}  # at most, up to this C
LONGER, LEAST, MOST = 3.0, 0.5, 60.0  # times the default, and seconds at least and at most: when
# another method is stopped
SHORT, REPEATS = 0.5, 7  # seconds that a fit is repeated for, and how often at most
CACHE = 1_000  # MB
WARM = 1_000  # rows of a fit before the clock starts
UNITS = 3_000  # rows of the matrices that units are measured by

# Data, machine: the class 1, or the one that is named here, against the others.
SETS = {
    "ijcnn1": ("ijcnn1", SVC),
    "cod-rna": ("cod-rna", SVC),
    "skin": ("skin_nonskin", SVC),
    "covtype": ("covtype_93k", SVC),
    "cover": ("cover_adbench", SVC),
    "a9a": ("a9a", SVC),
    "letter": ("letter", SVC),
    "mnist": ("mnist", SVC),
    "german": ("tabular/german", SVC),
    "kin40k": ("kin40k", SVR),
    "california": ("california_housing", SVR),
    "mv": ("tabular/mv", SVR),
    "ailerons": ("tabular/ailerons", SVR),
    "ijcnn1, one class": ("ijcnn1", OneClassSVM),
    "covtype, one class": ("covtype_93k", OneClassSVM),
    "ijcnn1, ν": ("ijcnn1", NuSVC),
    "covtype, ν": ("covtype_93k", NuSVC),
    "kin40k, ν": ("kin40k", NuSVR),
}
POSITIVE = {"covtype_93k": 2}  # class of a set that has no class 1 or few rows of it
NUS = (0.05, 0.15)  # of machines without C; a regressor has one ν and every C


@dataclass(frozen=True)
class Fit:
    """One fit of one method: CPU seconds, and how it ended."""

    data: str
    C: float
    nu: float
    gamma: float
    method: str
    seconds: float
    status: str

    @property
    def cell(self) -> tuple[str, float, float, float]:
        return self.data, self.C, self.nu, self.gamma


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.switch", description=__doc__)
    parser.add_argument("--data", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--C", nargs="+", type=float, default=COSTS)
    parser.add_argument("--gamma", nargs="+", type=float, default=GAMMAS)
    parser.add_argument("--rows", type=int, default=None, help="of every set, at most")
    parser.add_argument("--again", nargs="*", choices=METHODS, default=[], help="methods")
    parser.add_argument("--report", action="store_true", help="only write the report")
    parser.add_argument("--units", action="store_true", help="only measure the units of work")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    options = parser.parse_args(arguments)
    if options.units:
        print(table(("unit", "in work.py", "measured"), units()))
        return
    fits = read(options.out / "switch.csv")
    if not options.report:
        measure(options, fits)
    report(list(fits.values()), options.out)


def measure(options: argparse.Namespace, fits: dict) -> None:
    """Every fit of the options that is not there yet."""
    for name in options.data:
        for C, nu in parameters(name, options.C):
            most = options.rows or max(rows for limit, rows in ROWS.items() if limit >= C)
            for gamma in options.gamma:
                default = None
                for method in METHODS:
                    key = (name, C, nu, gamma, method)
                    if key not in fits or method in options.again:
                        fits[key] = fitted(key, most, default)
                        print(*asdict(fits[key]).values(), flush=True)
                        write(fits, options.out / "switch.csv")
                    if method == "default":
                        default = fits[key]


def parameters(name: str, costs: list[float]) -> list[tuple[float, float]]:
    """The pairs (C, ν) of a set's machine; 1 and 0 for what the machine does not have."""
    kind = SETS[name][1]
    if kind in (OneClassSVM, NuSVC):
        return [(1.0, nu) for nu in NUS]
    return [(C, NUS[1] if kind is NuSVR else 0.0) for C in costs]


@lru_cache(maxsize=2)
def rows_of(name: str, most: int) -> tuple[np.ndarray, np.ndarray]:
    """X with columns of variance 1 unless they are sparse, and y: ±1, or of variance 1."""
    data, kind = SETS[name]
    if data == "a9a":
        X, y = sparse(data)[:2]
        X = X.toarray()
    else:
        parts = archive(data)
        X, y = parts["X"].astype(float), parts["y"].astype(float)
    some = np.random.default_rng(0).permutation(len(y))[:most]
    X, y = X[some], y[some]
    if data not in ("a9a", "mnist", "letter"):
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    if kind in (SVR, NuSVR):
        return X, (y - y.mean()) / y.std()
    return X, np.where(y == POSITIVE.get(data, 1), 1, -1)


def problem_of(kind: type, y: np.ndarray, C: float, nu: float) -> DualProblem:
    """The dual of a machine."""
    bound = np.full(len(y), C)
    return {
        SVC: lambda: c_svc(y, bound),
        SVR: lambda: epsilon_svr(y, bound, 0.1),
        OneClassSVM: lambda: one_class(bound, nu),
        NuSVC: lambda: nu_svc(y, bound, nu, len(y)),
        NuSVR: lambda: nu_svr(y, bound, nu),
    }[kind]()


def fitted(key: tuple, most: int, default: Fit | None) -> Fit:
    """The fit, measured; stopped if it takes much longer than the default."""
    name, C, nu, gamma, method = key
    X, y = rows_of(name, most)
    kernel, limit = RBF(gamma / (X.shape[1] * X.var())), MOST
    if default is not None:
        limit = max(LEAST, LONGER * default.seconds)

    def fit(rows: int, limit: float) -> tuple[float, str]:
        began, problem = process_time(), problem_of(SETS[name][1], y[:rows], C, nu)
        gram = Gram(kernel, X[:rows], cache_size=CACHE, threads=1)
        late = began + limit
        solution = METHODS[method].solve(problem, gram, observe=lambda _: process_time() > late)
        return process_time() - began, solution.status.value

    with one_blas_thread():
        fit(WARM, LEAST)
        found = [fit(most, limit)]
        while sum(seconds for seconds, _ in found) < SHORT and len(found) < REPEATS:
            found.append(fit(most, limit))
    return Fit(*key, *min(found))


def read(path: Path) -> dict:
    if not path.exists():
        return {}
    kinds = {f.name: str if f.type == "str" else float for f in fields(Fit)}
    with path.open(newline="") as file:
        fits = [Fit(**{k: kinds[k](v) for k, v in row.items()}) for row in csv.DictReader(file)]
    return {(*fit.cell, fit.method): fit for fit in fits}


def write(fits: dict, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        rows = csv.DictWriter(file, [field.name for field in fields(Fit)])
        rows.writeheader()
        rows.writerows(asdict(fit) for fit in fits.values())


def ratios(fits: list[Fit]) -> list[tuple[Fit, float, float]]:
    """Each fit of the default, over the better method, and over SMO alone."""
    times = {(*fit.cell, fit.method): fit.seconds for fit in fits}
    return [
        (
            fit,
            fit.seconds / min(times[*fit.cell, "SMO"], times[*fit.cell, "second order"]),
            fit.seconds / times[*fit.cell, "SMO"],
        )
        for fit in fits
        if fit.method == "default" and all((*fit.cell, method) in times for method in METHODS)
    ]


def report(fits: list[Fit], folder: Path) -> None:
    """SWITCH.md and switch.png."""
    cells = ratios(fits)
    if not cells:
        return
    (folder / "SWITCH.md").write_text(markdown(fits, cells))
    figure(cells).savefig(folder / "switch.png", dpi=110)


def markdown(fits: list[Fit], cells: list[tuple[Fit, float, float]]) -> str:
    found = {(*fit.cell, fit.method): fit for fit in fits}
    ordinary = [over_smo for fit, _, over_smo in cells if fit.C <= ORDINARY]
    parts = [
        f"# The default beside its two methods alone, run of {date.today().isoformat()}",
        "\n".join(f"- {fact}" for fact in machine()),
        f"CPU seconds of one core, {min(ROWS.values()):,} rows at most, {max(ROWS.values()):,} up "
        f"to C = {ORDINARY:g}; γ in units of 1/(columns · variance). > marks a fit that was "
        f"stopped after {LONGER:g} times the seconds of the default, or {LEAST:g} s. Another mark "
        "names an ending without convergence.",
        "![the default over the better method](switch.png)",
        table(
            ("aim", "reached"),
            [
                ("default over the better method ≤ 2.2", f"{max(r for _, r, _ in cells):.2f}"),
                (f"over SMO alone up to C = {ORDINARY:g} ≤ 1.3", f"{max(ordinary):.2f}"),
                ("its geometric mean ≤ 1.1", f"{geometric_mean(ordinary):.2f}"),
                ("fits of the default that converged", converged(cells)),
            ],
        ),
        table(
            ("data", "C", "ν", "γ", *METHODS, "over the better", "over SMO"),
            [
                (
                    fit.data,
                    f"{fit.C:g}",
                    f"{fit.nu:g}" if fit.nu else "",
                    f"{fit.gamma:g}",
                    *(shown(found[*fit.cell, method]) for method in METHODS),
                    f"{better:.2f}",
                    f"{smo:.2f}",
                )
                for fit, better, smo in cells
            ],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def converged(cells: list[tuple[Fit, float, float]]) -> str:
    return f"{sum(fit.status == 'converged' for fit, *_ in cells)} of {len(cells)}"


def shown(fit: Fit) -> str:
    mark = {"converged": "", "interrupted": "> "}.get(fit.status, f"{fit.status} ")
    return f"{mark}{fit.seconds:.3f}"


def figure(cells: list[tuple[Fit, float, float]]):
    """The default over the better method, by C: a mark for each fit, a colour for each machine."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
    machines = list(dict.fromkeys(SETS[fit.data][1] for fit, *_ in cells))
    for k, kind in enumerate(machines):
        mine = [(fit.C, better) for fit, better, _ in cells if SETS[fit.data][1] is kind]
        aside = 1.12 ** (k - (len(machines) - 1) / 2)  # so that machines do not hide each other
        ax.loglog(
            [C * aside for C, _ in mine], [y for _, y in mine], "o", ms=4, label=kind.__name__
        )
    ax.axhline(1, color="0.5", lw=0.8)
    ax.axhline(2.2, color="0.5", lw=0.8, ls="--")
    ax.set(xlabel="C (1 for machines without it)", ylabel="CPU seconds, default / better method")
    ax.legend(fontsize=8)
    return fig


def units() -> list[tuple[str, str, str]]:
    """Each constant of `work`, and its measure in multiplications of a Cholesky factorisation."""
    rng, n = np.random.default_rng(0), UNITS
    X = rng.normal(size=(n, 20))
    gram, wide = Gram(RBF(0.05), X), Gram(RBF(0.002), rng.normal(size=(n, 500)))
    every = np.arange(n)
    K = gram.square(every)
    unit = least(lambda: factorise((K + np.eye(n)).T, 1)) / work.factorisation(n)
    narrow = least(lambda: gram.square(every, np.float32)) / (n**2 / 2) / unit
    broad = least(lambda: wide.square(every, np.float32)) / (n**2 / 2) / unit
    exact = least(lambda: gram.square(every)) / (n**2 / 2) / unit
    column = (broad - narrow) / 480
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1)
    model = SVC(C=100.0, gamma=0.05, solver=METHODS["SMO"]).fit(X, y)
    step = least(lambda: SVC(C=100.0, gamma=0.05, solver=METHODS["SMO"]).fit(X, y))
    steps = int(np.sum(model.n_iter_))
    return [
        ("STEP", f"{work.STEP}", f"{step / steps / n / unit:.1f} at most"),
        ("ENTRY", f"{work.ENTRY}", f"{narrow - 20 * column:.1f}"),
        ("COLUMN", f"{work.COLUMN}", f"{column:.2f}"),
        ("EXACT", f"{work.EXACT}", f"{exact / narrow:.1f}"),
        ("PASS", f"{work.PASS}", f"{least(lambda: K @ X[:, 0]) / n**2 / unit:.1f}"),
        ("a unit, ns", "0.04", f"{unit * 1e9:.3f}"),
    ]


def least(action: Callable[[], object]) -> float:
    """CPU seconds of the fastest of a few calls."""
    seconds = []
    for _ in range(REPEATS):
        began = process_time()
        action()
        seconds.append(process_time() - began)
    return min(seconds)


if __name__ == "__main__":
    main()
