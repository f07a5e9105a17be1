"""`maxmargin svm-train`: LIBSVM's program, with its options, output and files.

The answers are those of LIBSVM up to its tolerance: the stopping rule is LIBSVM's, the largest KKT
violation of a pair, and labels have the order in which the file first names them. One thing
differs: folds are drawn by another generator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import typer
from sklearn.base import BaseEstimator, is_classifier, is_regressor

from maxmargin import machines
from maxmargin.cli.application import app
from maxmargin.io import save_libsvm
from maxmargin.io.libsvm_text import read_libsvm
from maxmargin.io.sources import DataFileError, open_source
from maxmargin.machines.probability import MARKS, density_marks
from maxmargin.resources.arrays import Data, Floats, Labels, Numbers

TYPES = ("SVC", "NuSVC", "OneClassSVM", "SVR", "NuSVR")
KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
# `--help` is left to the program, whose usage is the help.
RAW = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
DENSE = 0.3  # share of entries above which dense rows are faster

USAGE = """\
Usage: svm-train [options] training_set_file [model_file]
options:
-s svm_type : 0 C-SVC (default), 1 nu-SVC, 2 one-class SVM, 3 epsilon-SVR, 4 nu-SVR
-t kernel_type : 0 linear, 1 polynomial, 2 radial basis function (default), 3 sigmoid,
    4 precomputed kernel (kernel values in training_set_file)
-d degree : of the polynomial kernel (default 3)
-g gamma : of the kernel (default 1/num_features)
-r coef0 : of the kernel (default 0)
-c cost : C of C-SVC, epsilon-SVR and nu-SVR (default 1)
-n nu : of nu-SVC, one-class SVM and nu-SVR (default 0.5)
-p epsilon : of epsilon-SVR (default 0.1)
-m cachesize : memory for kernel values in MB (default 100)
-e epsilon : tolerance (default 0.001)
-h shrinking : accepted
-b probability_estimates : 0 or 1 (default 0)
-wi weight : C of class i is weight*C, for C-SVC (default 1)
-v n : n-fold cross validation
-q : quiet"""

LAPLACE = (
    "Prob. model for test data: target value = predicted value + z,\n"
    "z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma={}"
)
TOO_FEW = (
    f"WARNING: number of positive or negative decision values <{MARKS // 2}; too few to do a "
    "probability estimation."
)


class LibsvmUsage(Exception):
    """Wrong options of one of LIBSVM's programs: a message and its usage."""


class HelpWanted(LibsvmUsage):
    """`--help` was asked for, which is no mistake."""


@dataclass
class TrainOptions:
    """What the options of svm-train say."""

    kind: int = 0
    kernel: int = 2
    values: dict[str, float] = field(default_factory=dict)
    weights: dict[int, float] = field(default_factory=dict)
    folds: int = 0
    quiet: bool = False
    files: Sequence[str] = ()

    @classmethod
    def of(cls, arguments: Sequence[str]) -> TrainOptions:
        """As LIBSVM reads them: options with a value each, then files."""
        found, rest = cls(), given(arguments)
        while rest and rest[0].startswith("-"):
            option = rest.pop(0)
            if option == "-q":
                found.quiet = True
                continue
            if not rest or option[1:2] not in set("stdgrncmephbvw"):
                raise LibsvmUsage(f"Unknown option: {option}" if rest else "")
            found._set(option[1:2], option[2:], number(option, rest.pop(0)))
        if not 1 <= len(rest) <= 2:
            raise LibsvmUsage("")
        found.files = rest
        return found

    def _set(self, letter: str, label: str, value: float) -> None:
        if letter == "s":
            self.kind = int(value)
        elif letter == "t":
            self.kernel = int(value)
        elif letter == "w":
            self.weights[int(number("the class of -w", label))] = value
        elif letter == "v":
            self.folds = int(value)
            if self.folds < 2:
                raise LibsvmUsage("n-fold cross validation: n must >= 2")
        else:
            self.values[letter] = value
        if not (0 <= self.kind < len(TYPES) and 0 <= self.kernel < len(KERNELS)):
            raise LibsvmUsage("unknown svm type" if letter == "s" else "unknown kernel type")

    def machine(self, y: Labels) -> BaseEstimator:
        """The machine of ours that the options mean for these targets."""
        name, value = TYPES[self.kind], self.values.get
        weights = {label: weight for label, weight in self.weights.items() if label in y}
        options: dict[str, Any] = {
            "kernel": KERNELS[self.kernel],
            "degree": int(value("d", 3)),
            "gamma": value("g", 0.0) or "auto",
            "coef0": value("r", 0.0),
            "tol": value("e", 1e-3),
            "cache_size": value("m", 100.0),
            "criterion": "kkt",
        }
        every: dict[str, dict[str, Any]] = {
            "SVC": {"C": value("c", 1.0), "class_weight": weights or None},
            "NuSVC": {"nu": value("n", 0.5)},
            "OneClassSVM": {"nu": value("n", 0.5)},
            "SVR": {"C": value("c", 1.0), "epsilon": value("p", 0.1)},
            "NuSVR": {"C": value("c", 1.0), "nu": value("n", 0.5)},
        }
        own = every[name]
        if name in ("SVC", "NuSVC"):
            own |= {"probability": bool(value("b", 0)), "random_state": 0}
        machine: BaseEstimator = getattr(machines, name)(**options, **own)
        return machine


def given(arguments: Sequence[str]) -> list[str]:
    """The arguments of one of LIBSVM's programs, unless they ask for help."""
    if "--help" in arguments:
        raise HelpWanted
    return list(arguments)


def number(option: str, value: str) -> float:
    """The value of an option."""
    try:
        return float(value)
    except ValueError:
        raise LibsvmUsage(f"{option} needs a number, not {value!r}") from None


@app.command("svm-train", context_settings=RAW)
def svm_train(ctx: typer.Context) -> None:
    """LIBSVM's svm-train: its options, output and model files."""
    try:
        settings = TrainOptions.of(ctx.args)
    except LibsvmUsage as wrong:
        raise usage(wrong, USAGE) from wrong
    X, y = problem(settings.files[0], precomputed=settings.kernel == 4)
    if settings.kind <= 1:
        y = y.astype(np.int64)  # LIBSVM's labels are whole numbers: it cuts a fraction off
        for label in [each for each in settings.weights if each not in y]:
            typer.echo(f"WARNING: class label {label} specified in weight is not found", err=True)
    machine = settings.machine(y)
    if settings.folds:
        cross_validate(machine, X, y, settings.folds)
        return
    machine.fit(X, y)
    if settings.kind <= 1:
        machine.label_order_ = file_order(y)
    if settings.values.get("b"):
        add_probabilities(machine, X, y)
    if not settings.quiet:
        for line in training_log(machine, y):
            typer.echo(line)
        if hasattr(machine, "error_scale_"):
            typer.echo(LAPLACE.format(f" {machine.error_scale_:g}"))
    name = Path(settings.files[0]).name + ".model"
    save_libsvm(machine, settings.files[1] if len(settings.files) == 2 else name)


def file_order(y: Numbers) -> Numbers:
    """The places of the labels among the sorted ones, in the order that LIBSVM gives them.

    It is the order of their first rows; but +1 comes before −1 if there are no others.

    >>> file_order(np.array([3, 3, 1, 2])), file_order(np.array([-1, 1, 1]))
    (array([2, 0, 1]), array([1, 0]))
    """
    labels, first = np.unique(y, return_index=True)
    if labels.tolist() == [-1, 1]:
        return np.array([1, 0])
    order: Numbers = first.argsort()
    return order


def usage(wrong: Exception, text: str) -> typer.Exit:
    """Say what is wrong, and how to do it."""
    if str(wrong):
        typer.echo(str(wrong), err=True)
    typer.echo(text)
    return typer.Exit(0 if isinstance(wrong, HelpWanted) else 1)


def problem(name: str, *, precomputed: bool) -> tuple[Data, Labels]:
    """Rows and labels; of a precomputed kernel its values, without the serial numbers."""
    try:
        X, y = read_libsvm(open_source(name), zero_based=precomputed)
    except DataFileError as error:
        missing = "there is no such file" in str(error)
        message = f"can't open input file {name}" if missing else f"Wrong input format: {error}"
        typer.echo(message, err=True)
        raise typer.Exit(1) from error
    if precomputed:
        return X.toarray()[:, 1:], y
    return (X.toarray() if X.nnz > DENSE * X.shape[0] * X.shape[1] else X), y


def cross_validate(machine: BaseEstimator, X: Data, y: Floats, folds: int) -> None:
    """Accuracy, or the errors of a regressor, over held-out folds."""
    from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict

    folds = min(folds, len(y))
    if is_classifier(machine):
        least = int(np.unique(y, return_counts=True)[1].min())
        kind = StratifiedKFold if least >= folds else KFold
        machine = machine.set_params(probability=False)
    else:
        kind = KFold
    cut = kind(folds, shuffle=True, random_state=0)
    predicted = cross_val_predict(machine, X, y, cv=cut)
    if is_regressor(machine):
        typer.echo(f"Cross Validation Mean squared error = {np.mean((predicted - y) ** 2):g}")
        typer.echo(
            f"Cross Validation Squared correlation coefficient = {correlation(predicted, y):g}"
        )
    else:
        typer.echo(f"Cross Validation Accuracy = {100 * np.mean(predicted == y):g}%")


def add_probabilities(machine: Any, X: Data, y: Floats) -> None:
    """What -b 1 adds to a machine that is no classifier, whose `fit` has done it."""
    if is_regressor(machine):
        machine.error_scale_ = laplace_scale(machine, X, y)
    elif not is_classifier(machine):
        marks = density_marks(machine.decision_function(X))
        if marks is None:
            typer.echo(TOO_FEW, err=True)
        else:
            machine.density_marks_ = marks


def laplace_scale(machine: BaseEstimator, X: Data, y: Floats) -> float:
    """Mean |error| over five held-out folds, without those beyond 5√2 times that mean."""
    from sklearn.model_selection import KFold, cross_val_predict

    folds = KFold(min(5, len(y)), shuffle=True, random_state=0)
    error = np.abs(y - cross_val_predict(machine, X, y, cv=folds))
    return float(error[error <= 5 * np.sqrt(2) * error.mean()].mean())


def correlation(predicted: Floats, y: Floats) -> float:
    """Squared coefficient of correlation."""
    with np.errstate(invalid="ignore"):
        return float(np.corrcoef(predicted, y)[0, 1] ** 2)


def training_log(machine: Any, y: Floats) -> Iterator[str]:
    """What LIBSVM prints of each problem, and how many support vectors there are in all."""
    classes = machine.classes_ if is_classifier(machine) else np.zeros(1)
    counts = [int(np.sum(y == each)) for each in classes]
    pairs = [*combinations(range(len(classes)), 2)] or [(0, 0)]
    scales = getattr(machine, "_rho_", np.ones(len(pairs)))  # of NuSVC, whose β was divided by ρ
    for number, sign in _pairs_in_order(machine, pairs):
        pair, proof, scale = pairs[number], machine.certificates_[number], scales[number]
        offset = sign * machine.intercept_[number]
        beta, bounds = _coefficients(machine, pair)
        yield "*"
        yield f"optimization finished, #iter = {proof.n_iter}"
        rows = counts[pair[0]] + counts[pair[1]] if is_classifier(machine) else len(y)
        if type(machine).__name__ in ("SVC", "SVR") and np.ptp(bounds) == 0:
            yield f"nu = {np.abs(beta).sum() / (bounds[0] * rows):f}"
        if hasattr(machine, "_rho_"):
            yield f"C = {1 / scale:f}"
        yield f"obj = {-proof.dual / scale**2:f}, rho = {-offset:f}"
        at_bound = int(np.sum(np.abs(beta) * scale >= (1 - 1e-12) * bounds))
        yield f"nSV = {np.count_nonzero(beta)}, nBSV = {at_bound}"
    if is_classifier(machine):
        yield f"Total nSV = {len(machine.support_)}"


def _pairs_in_order(machine: Any, pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, float]]:
    """The number of each problem in LIBSVM's order; −1 where ours is positive for the other."""
    if len(pairs) == 1:
        yield 0, -1.0 if list(getattr(machine, "label_order_", ())) == [0, 1] else 1.0
        return
    for a, b in combinations(machine.label_order_.tolist(), 2):
        yield pairs.index((min(a, b), max(a, b))), 1.0 if a < b else -1.0


def _coefficients(machine: Any, pair: tuple[int, int]) -> tuple[Floats, Floats]:
    """β of the support vectors of one problem, and their bounds."""
    coef, bounds = machine._dense_dual_coef(), machine._bounds_[machine.support_]
    if not is_classifier(machine):
        return coef[0], bounds
    ends = np.concatenate([[0], np.cumsum(machine.n_support_)])
    first, second = (slice(ends[each], ends[each + 1]) for each in pair)
    beta = np.concatenate([coef[pair[1] - 1, first], coef[pair[0], second]])
    return beta, np.concatenate([bounds[first], bounds[second]])
