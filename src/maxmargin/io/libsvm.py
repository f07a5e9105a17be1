"""LIBSVM's model files: text that its own programs, and many others, read and write.

    svm_type c_svc
    kernel_type rbf
    gamma 0.5
    nr_class 2
    total_sv 3
    rho 0.25                              minus the offset, of each pair of classes
    label 1 -1
    probA -2.5                            only with probabilities; of a regressor σ of its errors,
    probB 0.1                             of a one-class machine prob_density_marks instead
    nr_sv 2 1
    SV
    1 1:0.5 3:2                           coefficients, then the row; 0:7 is row 7 of a
    0.5 2:1                               precomputed matrix
    -1.5 1:1

A decision value of the pair (a, b) is positive for a, the earlier one in `label`; ties in votes go
to the earliest. Our machines have the classes in increasing order, and for two classes the second
is the positive one. A machine that came from a file keeps the file's order as `label_order_`; other
machines are written in increasing order, two classes with the second first.
"""

from __future__ import annotations

from io import BytesIO
from itertools import combinations, pairwise
from os import PathLike
from pathlib import Path
from typing import TextIO, cast

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from maxmargin.io.assembly import Kind, MachineParts, assembled
from maxmargin.io.container import Model, ModelFileError, named, whole_or_not_at_all
from maxmargin.kernels import Kernel, as_kernel
from maxmargin.kernels.formula import tree_of
from maxmargin.machines import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.machines.probability import MARKS
from maxmargin.machines.validation import is_whole
from maxmargin.resources.arrays import Data, Floats, Labels, Numbers

TYPES: dict[str, Kind] = {
    "c_svc": SVC,
    "nu_svc": NuSVC,
    "one_class": OneClassSVM,
    "epsilon_svr": SVR,
    "nu_svr": NuSVR,
}
KERNELS = {  # LIBSVM's name, ours, and the parameters it has
    "linear": ("Linear", ()),
    "polynomial": ("Polynomial", ("degree", "gamma", "coef0")),
    "rbf": ("RBF", ("gamma",)),
    "sigmoid": ("Sigmoid", ("gamma", "coef0")),
    "precomputed": ("Precomputed", ()),
}


def save_libsvm(model: Model, path: str | PathLike[str]) -> None:
    """Store a machine as a model file of LIBSVM, with 17 digits: it decides the same there.

    Parameters
    ----------
    model : SVC (one-versus-one), NuSVC, SVR, NuSVR or OneClassSVM, fitted, with one of LIBSVM's
        kernels and, if it is a classifier, whole numbers as labels
    path : where to; a file that is there is replaced once the new one is whole

    Examples
    --------
    >>> import tempfile
    >>> clf = SVC(kernel="linear").fit([[0.0, 1.0], [2.0, 0.0]], [-1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_libsvm(clf, f"{folder}/small.model")
    ...     print(Path(f"{folder}/small.model").read_text().splitlines()[:2])
    ...     load_libsvm(f"{folder}/small.model").predict([[2.0, 0.0]])
    ['svm_type c_svc', 'kernel_type linear']
    array([1])
    """
    check_is_fitted(model)
    names = {kind: name for name, kind in TYPES.items()}
    if type(model) not in names or not hasattr(model, "support_vectors_"):
        raise ModelFileError(
            f"LIBSVM has no {type(model).__name__} like this one; it has SVC, NuSVC, SVR, NuSVR "
            "and OneClassSVM, without approximation="
        )
    if len(model.intercept_) > 1 and not hasattr(model, "classes_"):
        raise ModelFileError("LIBSVM has no machine of several targets: fit one for each")
    tree = tree_of(model.kernel_)
    kernel = next((name for name, (ours, _) in KERNELS.items() if ours == tree["type"]), None)
    if kernel is None:
        raise ModelFileError(f"LIBSVM has no kernel {model.kernel_!r}, only {[*KERNELS]}")
    header = {"svm_type": names[type(model)], "kernel_type": kernel}
    header |= {name: f"{tree[name]:.17g}" for name in KERNELS[kernel][1]}
    with whole_or_not_at_all(Path(path)) as part, part.open("w") as file:
        _write(model, header, file)


def _write(model: Model, header: dict[str, str], file: TextIO) -> None:
    coef, order = model._dense_dual_coef(), cast(Numbers, np.arange(len(model.support_)))
    header |= {"nr_class": "2", "total_sv": str(len(order)), "rho": words(-model.intercept_)}
    if hasattr(model, "classes_"):
        labels, places = np.array(whole_labels(model)), label_order(model)
        order, coef, pairs, sign = rearranged(places.argsort(), model.n_support_, coef)
        header |= {"nr_class": str(len(labels)), "rho": words(-sign * model.intercept_[pairs])}
        header["label"] = " ".join(map(str, labels[places]))
        if model.probability:
            header["probA"] = words(model.probA_[pairs])
            header["probB"] = words(sign * model.probB_[pairs])
        header["nr_sv"] = " ".join(map(str, model.n_support_[places]))
    if hasattr(model, "error_scale_"):
        header["probA"] = f"{model.error_scale_:.17g}"
    if hasattr(model, "density_marks_"):
        header["prob_density_marks"] = words(model.density_marks_)
    file.writelines(f"{name} {value}\n" for name, value in header.items())
    file.write("SV\n")
    rows = None if model.kernel_.precomputed else sp.csr_array(model.support_vectors_)
    for line, i in zip(coef.T, order, strict=True):
        if rows is None:
            row = f"0:{model.support_[i] + 1}"
        else:
            place = slice(rows.indptr[i], rows.indptr[i + 1])
            stored = zip((rows.indices[place] + 1).tolist(), rows.data[place].tolist(), strict=True)
            row = " ".join(f"{column}:{value:.17g}" for column, value in stored)
        file.write(f"{words(line)} {row} \n")


def label_order(model: Model) -> Numbers:
    """The places of the classes in the order of the file: its own if the model came from one.

    By default they increase; but of two classes the second, our positive one, comes first.
    """
    count = len(model.classes_)
    usual = np.arange(count) if count > 2 else np.array([1, 0])
    order: Numbers = getattr(model, "label_order_", usual)
    return order


def words(values: Floats) -> str:
    """Numbers with 17 digits, which is all that they have."""
    return " ".join(f"{value:.17g}" for value in values.tolist())


def whole_labels(model: Model) -> list[int]:
    """The classes as LIBSVM has them, whole numbers; and only one-versus-one."""
    classes = model.classes_
    if model.multiclass == "ovr" and len(classes) > 2:
        raise ModelFileError("LIBSVM is one-versus-one: fit with multiclass='ovo'")
    if not is_whole(classes):
        raise ModelFileError(
            f"LIBSVM's labels are whole numbers, and the classes are {classes[:3].tolist()}: fit "
            "on numbers, for example those of sklearn.preprocessing.LabelEncoder"
        )
    return [int(each) for each in classes.tolist()]


def load_libsvm(
    path: str | PathLike[str], *, n_features: int | None = None, dense: bool = False
) -> Model:
    """The machine of a LIBSVM model file.

    Parameters
    ----------
    path : of the file
    n_features : columns of the data, which the file does not say: by default the largest column
        that a support vector has. For a precomputed kernel: training rows
    dense : whether support vectors are kept as a dense array; then sparse rows cannot be predicted

    Returns
    -------
    SVC, NuSVC, SVR, NuSVR or OneClassSVM, without a certificate. It answers as LIBSVM does, ties
    and probabilities included. `C` is the largest coefficient: that of the training unless every
    support vector was free.

    Raises
    ------
    ModelFileError
        If the file is not a model of LIBSVM; it names the line.
    """
    path = Path(path)
    with named(path):
        head, found, body = path.read_bytes().partition(b"\nSV\n")
        if not found:
            raise ModelFileError("it is no model file of LIBSVM: it has no line 'SV'")
        if body and not body.endswith(b"\n"):
            raise ModelFileError("its last line has no end: the file is truncated")
        header = read_header(head.decode())
        lines = [line for line in body.splitlines() if line.strip()]
        return _model(header, lines, n_features, dense)


def read_header(text: str) -> dict[str, list[str]]:
    """The values of each line before the support vectors."""
    header = {}
    for line in text.splitlines():
        name, *values = line.split()
        header[name] = values
    for name in ("svm_type", "kernel_type", "nr_class", "total_sv", "rho"):
        if name not in header:
            raise ModelFileError(f"it is no model file of LIBSVM: it has no line {name!r}")
    for name, known in (("svm_type", TYPES), ("kernel_type", KERNELS)):
        if header[name][0] not in known:
            raise ModelFileError(f"{name} {header[name][0]!r} is not one of {sorted(known)}")
    return header


def _model(
    header: dict[str, list[str]], lines: list[bytes], n_features: int | None, dense: bool
) -> Model:
    kind, total = TYPES[header["svm_type"][0]], int(header["total_sv"][0])
    classify = kind in (SVC, NuSVC)
    count = int(header["nr_class"][0]) if classify else 2
    if len(lines) != total:
        raise ModelFileError(f"it promises {total} support vectors and has {len(lines)}")
    precomputed = header["kernel_type"][0] == "precomputed"
    coef, rows = support_vectors(lines, count - 1, precomputed, n_features)
    rho = finite(header, "rho", count * (count - 1) // 2 if classify else 1)
    groups: Numbers = np.array([total])
    labels: Labels | None = None
    slopes = shifts = np.empty(0)
    sign = np.ones(len(rho))
    if classify:
        labels = np.array([int(each) for each in header["label"]])
        groups = np.array([int(each) for each in header["nr_sv"]])
        if len({*labels.tolist()}) != count or len(groups) != count or groups.sum() != total:
            raise ModelFileError("label and nr_sv do not list nr_class classes, total_sv vectors")
        if "probA" in header:
            slopes, shifts = finite(header, "probA", len(rho)), finite(header, "probB", len(rho))
        order, coef, pairs, sign = rearranged(labels, groups, coef)
        rows, rho = rows[order], rho[pairs]
        file_order = labels.argsort().argsort()
        labels, groups = np.sort(labels), groups[labels.argsort()]
        if len(slopes):
            slopes, shifts = slopes[pairs], sign * shifts[pairs]  # P(a) of a flipped f is 1 − P(b)
    kernel, parameters = kernel_of(header)
    if kind in (SVC, SVR):
        parameters["C"] = max(float(np.abs(coef).max(initial=0)), 1e-300)
    if classify:
        parameters["probability"] = len(slopes) > 0
    support, n_train, columns = np.arange(total), total, rows.shape[1]
    vectors: Data = rows.toarray() if dense else rows
    if precomputed:
        support = rows.toarray()[:, 0].astype(np.int64) - 1
        n_train = columns = n_features or int(support.max(initial=0)) + 1
        if total and not 0 <= support.min() <= support.max() < n_train:
            raise ModelFileError(f"a support vector is not among the {n_train} training rows")
        vectors = np.empty((total, 0))
    if not dense and not precomputed:
        coef = sp.csr_array(coef)
    offsets = -sign * rho
    parts = MachineParts(
        kernel, n_train, columns, support, vectors, coef, offsets, groups, labels, slopes, shifts
    )
    model = assembled(kind, parameters, parts)
    if classify:
        model.label_order_ = file_order
    if kind in (SVR, NuSVR) and "probA" in header:
        model.error_scale_ = float(finite(header, "probA", 1)[0])
    if kind is OneClassSVM and "prob_density_marks" in header:
        model.density_marks_ = finite(header, "prob_density_marks", MARKS)
        if (np.diff(model.density_marks_) < 0).any():
            raise ModelFileError("prob_density_marks do not increase")
    return model


def finite(header: dict[str, list[str]], name: str, count: int) -> Floats:
    """The numbers of a line of the header."""
    values = np.array([float(each) for each in header[name]])
    if len(values) != count or not np.isfinite(values).all():
        raise ModelFileError(f"{name} should have {count} finite numbers")
    return values


def support_vectors(
    lines: list[bytes], count: int, precomputed: bool, n_features: int | None
) -> tuple[Floats, Data]:
    """The coefficients (count, rows) and the rows; of a precomputed kernel the row numbers."""
    coef, text = np.empty((count, len(lines))), []
    for i, line in enumerate(lines):
        fields = line.split(maxsplit=count)
        if len(fields) < count:
            raise ModelFileError(f"support vector {i + 1} has fewer than {count} coefficients")
        coef[:, i] = [float(each) for each in fields[:count]]
        rest = fields[count] if len(fields) > count else b""
        text.append(b"0 1" + rest.strip()[1:] if precomputed else b"0 " + rest)
    if not np.isfinite(coef).all():
        raise ModelFileError("a coefficient is NaN or infinite")
    from sklearn.datasets import load_svmlight_file

    columns = 1 if precomputed else n_features
    rows, _ = load_svmlight_file(BytesIO(b"\n".join(text)), n_features=columns, zero_based=False)
    if not np.isfinite(rows.data).all():
        raise ModelFileError("a support vector is NaN or infinite")
    rows = sp.csr_array(rows)
    rows.sum_duplicates()
    return coef, rows


def rearranged(
    labels: Labels, groups: Numbers, coef: Floats
) -> tuple[Numbers, Floats, Numbers, Floats]:
    """Support vectors, coefficients and pairs with the classes in the order of `labels`.

    It leads from a file's order to that of our classes; and from ours to a file's, if `labels` are
    the places of our classes in the file. Of two classes ours has f positive for the second.

    Returns
    -------
    order : the old places of the support vectors
    coef : in that order, in the same layout
    pairs : which of the old pairs each new one is
    sign : −1 where the old pair is positive for the other class
    """
    parts = [slice(a, b) for a, b in pairwise([0, *np.cumsum(groups).tolist()])]
    ranks = labels.argsort()
    numbers = {pair: k for k, pair in enumerate(combinations(range(len(labels)), 2))}
    order = np.concatenate([np.arange(len(coef[0]))[parts[i]] for i in ranks])
    new, pairs, sign = np.zeros_like(coef), [], []
    for a, b in combinations(range(len(labels)), 2):
        i, j = int(ranks[a]), int(ranks[b])
        flip = 1.0 if i < j else -1.0
        if len(labels) == 2:
            flip = -flip
        new[b - 1, parts[i]] = flip * coef[j - 1 if i < j else j, parts[i]]
        new[a, parts[j]] = flip * coef[i if i < j else i - 1, parts[j]]
        pairs.append(numbers[min(i, j), max(i, j)])
        sign.append(flip)
    return order, new[:, order], np.array(pairs), np.array(sign)


def kernel_of(header: dict[str, list[str]]) -> tuple[Kernel, dict[str, float | int | str | bool]]:
    """The kernel, and the parameters of a machine that has it."""
    name = header["kernel_type"][0]
    numbers = {each: float(header[each][0]) for each in KERNELS[name][1]}
    if not np.isfinite(list(numbers.values())).all():
        raise ModelFileError("a parameter of the kernel is not finite")
    gamma, coef0 = numbers.get("gamma", 0.0), numbers.get("coef0", 0.0)
    degree = int(numbers.get("degree", 3))
    ours = "poly" if name == "polynomial" else name
    kernel = as_kernel(ours, degree=degree, gamma=gamma, coef0=coef0)
    return kernel, {"kernel": ours, **numbers, "degree": degree}
