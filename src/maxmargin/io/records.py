"""What makes up each fitted machine: its attributes, their dtypes and shapes, in one place each.

A description is a function of a machine and an `Archive`. Where an attribute is there only for some
machines it asks for what is known in both directions: a parameter, or what was visited before.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

from maxmargin.features import Nystroem, RandomFourierFeatures
from maxmargin.io.archive import Archive
from maxmargin.io.container import Model, ModelFileError
from maxmargin.io.proofs import proofs
from maxmargin.machines import (
    SVC,
    SVR,
    KernelPerceptron,
    KernelRegressor,
    LinearSVC,
    LinearSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Perceptron,
    QuantileSVR,
)
from maxmargin.machines.feature_map import FeatureMap
from maxmargin.machines.probability import MARKS, Calibration
from maxmargin.machines.support_vectors import SupportVectors

Description = Callable[[Model, Archive], None]
INT32 = (np.int32,)
INT64 = (np.int64,)


def columns(machine: Model, archive: Archive) -> None:
    """How many columns the machine was fitted on, and their names."""
    if archive.writes and not hasattr(machine, "n_features_in_"):
        raise ModelFileError("its rows are objects, and a model file has tables of numbers only")
    archive.value(machine, "n_features_in_", int)
    if not 1 <= machine.n_features_in_ < 2**31:
        raise ModelFileError(f"n_features_in is {machine.n_features_in_}")
    archive.sizes["columns"] = machine.n_features_in_
    archive.names(machine, "feature_names_in_", ("columns",))


def support(machine: Model, archive: Archive) -> None:
    """The kernel, the rows that are kept, and how many there were."""
    archive.kernel(machine, "kernel_")
    shape = SimpleNamespace(rows=0)
    if archive.writes:
        shape.rows = machine.shape_fit_[0]
    archive.value(shape, "rows", int)
    machine.shape_fit_ = (shape.rows, archive.sizes["columns"])
    archive.array(machine, "support_", ("support",), INT32, below=shape.rows)


def support_vectors(machine: Model, archive: Archive) -> None:
    """The kept rows themselves; of a precomputed kernel none of their columns."""
    columns = 0 if machine.kernel_.precomputed else "columns"
    archive.rows(machine, "support_vectors_", ("support", columns))


def classes(machine: Model, archive: Archive) -> None:
    """The labels."""
    archive.labels(machine, "classes_", ("classes",))
    if len(machine.classes_) < 2:
        raise ModelFileError("there are fewer than two classes")


def dual(
    machine: Model, archive: Archive, lines: int | None, problems: int | None, groups: int
) -> None:
    """A machine of the one dual problem, exact or on features.

    It has as many functions as offsets, each with a line of coefficients, if `lines` is None.
    """
    form = SimpleNamespace(form="")
    if archive.writes:
        form.form = "features" if isinstance(machine._form_, FeatureMap) else "support vectors"
    archive.value(form, "form", str)
    if lines is not None and problems is not None:
        archive.sizes |= {"lines": lines, "problems": problems}
    archive.array(machine, "intercept_", ("problems",))
    archive.sizes.setdefault("lines", len(machine.intercept_))
    if form.form == "features":
        features(machine, archive)
    elif form.form == "support vectors":
        support(machine, archive)
        support_vectors(machine, archive)
        machine._form_ = SupportVectors(machine.kernel_)
        if archive.has(machine, "features_"):  # those that `refine` started from
            feature_map(machine, archive)
            archive.array(machine, "feature_coef_", ("problems", "features"))
            archive.value(machine, "kernel_error_", float)
    else:
        raise ModelFileError(f"there is no form {form.form!r} of a machine")
    if archive.has(machine, "n_samples_seen_"):
        archive.value(machine, "n_samples_seen_", int)
    if archive.has(machine, "n_support_"):
        archive.rows(machine, "dual_coef_", ("lines", "support"), (np.float64,))
        archive.array(machine, "n_support_", (groups,), INT32)
        if machine.n_support_.sum() != len(machine.support_):
            raise ModelFileError("n_support does not count the support vectors")
        if archive.has(machine, "_bounds_"):  # for a warm start: not of rows in partitions
            archive.array(machine, "_bounds_", (machine.shape_fit_[0],), finite=False)
            if np.isnan(machine._bounds_).any():
                raise ModelFileError("bounds has NaN")
    elif form.form != "features":
        raise ModelFileError("n_support is missing")
    proofs(machine, archive)


def feature_map(machine: Model, archive: Archive) -> None:
    """φ itself, which must be one of ours and take the columns that the machine takes."""
    archive.model(machine, "features_")
    features = machine.features_
    if type(features) not in (Nystroem, RandomFourierFeatures):
        raise ModelFileError(f"features of the kind {type(features).__name__} are not stored")
    archive.check_shape("the input of its features", (features.n_features_in_,), ("columns",))
    archive.sizes["features"] = features._n_features_out


def features(machine: Model, archive: Archive) -> None:
    """φ, its kernel, its weights; and which rows had coefficients, unless they came in blocks."""
    form = SimpleNamespace()
    if archive.writes:
        form = SimpleNamespace(**vars(machine._form_))
    if archive.has(machine, "support_"):
        support(machine, archive)
    else:
        archive.kernel(machine, "kernel_")
    feature_map(machine, archive)
    archive.value(form, "columns", int)
    archive.value(form, "error", float)
    archive.value(form, "tol", float)
    archive.array(machine, "feature_coef_", ("problems", "features"))
    if form.columns != archive.sizes["features"]:
        raise ModelFileError(f"there are {archive.sizes['features']} features, not {form.columns}")
    if not archive.writes:
        made = FeatureMap(machine.kernel_, machine.features_, form.columns, form.error, form.tol)
        machine.__dict__.update(made.fitted_attributes)


def classifier(machine: Model, archive: Archive) -> None:
    """SVC and NuSVC."""
    columns(machine, archive)
    classes(machine, archive)
    archive.array(machine, "class_weight_", ("classes",))
    count = len(machine.classes_)
    lines, problems = count - 1, count * (count - 1) // 2
    if machine.multiclass == "ovr" and count > 2:
        lines = problems = count
    dual(machine, archive, lines, problems, count)
    if archive.has(machine, "label_order_"):
        archive.array(machine, "label_order_", ("classes",), INT64, below=count)
        if lines != count - 1 or len(np.unique(machine.label_order_)) != count:
            raise ModelFileError("label_order does not have each class of a one-versus-one once")
    sigmoids(machine, archive, problems if machine.probability else 0)


def sigmoids(machine: Model, archive: Archive, problems: int) -> None:
    """A and B of every binary machine."""
    held = getattr(machine, "_calibration", Calibration.none())
    held = SimpleNamespace(**vars(held))
    archive.array(held, "slopes", (problems,))
    archive.array(held, "shifts", (problems,))
    machine._calibration = Calibration(held.slopes, held.shifts)


def nu_classifier(machine: Model, archive: Archive) -> None:
    """NuSVC: ρ as well, with which a warm start undoes the scaling."""
    classifier(machine, archive)
    archive.array(machine, "_rho_", ("problems",))


def one_class(machine: Model, archive: Archive) -> None:
    """OneClassSVM; its marks, if it has them from LIBSVM."""
    columns(machine, archive)
    dual(machine, archive, 1, 1, 1)
    if archive.has(machine, "density_marks_"):
        archive.array(machine, "density_marks_", (MARKS,))
        if (np.diff(machine.density_marks_) < 0).any():
            raise ModelFileError("density_marks do not increase")


def regressor(machine: Model, archive: Archive) -> None:
    """SVR; the scale of its errors, if it has it from LIBSVM."""
    columns(machine, archive)
    dual(machine, archive, None, None, 1)
    if not len(machine.intercept_):
        raise ModelFileError("there is no offset, so no function")
    if archive.has(machine, "error_scale_"):
        archive.value(machine, "error_scale_", float)


def nu_regressor(machine: Model, archive: Archive) -> None:
    """NuSVR: the ε that it found as well."""
    regressor(machine, archive)
    if archive.has(machine, "epsilon_"):  # a machine of another library does not say it
        if archive.sizes["problems"] == 1:
            archive.value(machine, "epsilon_", float)
        else:
            archive.array(machine, "epsilon_", ("problems",))


def quantile_regressor(machine: Model, archive: Archive) -> None:
    """QuantileSVR: a function for each target and level."""
    regressor(machine, archive)
    if len(machine.intercept_) % len(machine._levels()):
        raise ModelFileError("there is no function for each level of each target")


def linear_classifier(machine: Model, archive: Archive) -> None:
    """LinearSVC."""
    columns(machine, archive)
    classes(machine, archive)
    archive.array(machine, "class_weight_", ("classes",))
    lines = 1 if len(machine.classes_) == 2 else len(machine.classes_)
    archive.rows(machine, "coef_", (lines, "columns"), (np.float64,))
    archive.array(machine, "intercept_", (lines,))
    proofs(machine, archive)


def linear_regressor(machine: Model, archive: Archive) -> None:
    """LinearSVR."""
    columns(machine, archive)
    archive.array(machine, "intercept_", ("problems",))
    sparse = archive.has(machine, "coef_") and sp.issparse(getattr(machine, "coef_", None))
    if sparse or "coef" in archive.node:
        archive.rows(machine, "coef_", ("problems", "columns"), (np.float64,))
    else:
        several = ("problems", "columns") if len(machine.intercept_) > 1 else ("columns",)
        archive.array(machine, "coef_", several)
    proofs(machine, archive)


def kernel_regressor(machine: Model, archive: Archive) -> None:
    """KernelRegressor."""
    columns(machine, archive)
    support(machine, archive)
    support_vectors(machine, archive)
    archive.rows(machine, "dual_coef_", ("targets", "support"), (np.float64,))
    archive.records(machine, "history_")
    if machine.solver == "sgd":
        archive.value(machine, "largest_rate_", float)


def online(machine: Model, archive: Archive) -> None:
    """What both perceptrons have."""
    columns(machine, archive)
    classes(machine, archive)
    archive.array(machine, "mistakes_", ("epochs",), INT64)
    archive.value(machine, "n_iter_", int)
    archive.value(machine, "novikoff_bound_", float)


def perceptron(machine: Model, archive: Archive) -> None:
    """Perceptron."""
    online(machine, archive)
    archive.array(machine, "_W", ("classes", "columns"))
    archive.array(machine, "_b", ("classes",))


def kernel_perceptron(machine: Model, archive: Archive) -> None:
    """KernelPerceptron."""
    online(machine, archive)
    support(machine, archive)
    support_vectors(machine, archive)
    archive.array(machine, "_coef", ("classes", "support"))


def fourier(features: Model, archive: Archive) -> None:
    """RandomFourierFeatures."""
    columns(features, archive)
    archive.kernel(features, "kernel_")
    archive.array(features, "frequencies_", ("frequencies", "columns"), (np.float32,))
    archive.array(features, "phases_", ("frequencies",))
    archive.array(features, "_centre", ("columns",))
    turned = SimpleNamespace(centred_phases=features._phases if archive.writes else None)
    archive.array(turned, "centred_phases", ("frequencies",), (np.float32,))
    features._phases = turned.centred_phases
    features._n_features_out = (1 + features.paired) * len(features.frequencies_)


def nystroem(features: Model, archive: Archive) -> None:
    """Nystroem."""
    columns(features, archive)
    archive.kernel(features, "kernel_")
    archive.rows(features, "landmarks_", ("landmarks", "columns"))
    archive.array(features, "landmark_indices_", ("landmarks",), INT64)
    archive.array(features, "normalization_", ("landmarks", "features"))
    archive.array(features, "eigenvalues_", ("features",))
    if not archive.writes:
        features._prepare()


RECORDS: dict[type, Description] = {
    SVC: classifier,
    NuSVC: nu_classifier,
    SVR: regressor,
    NuSVR: nu_regressor,
    QuantileSVR: quantile_regressor,
    OneClassSVM: one_class,
    LinearSVC: linear_classifier,
    LinearSVR: linear_regressor,
    KernelRegressor: kernel_regressor,
    Perceptron: perceptron,
    KernelPerceptron: kernel_perceptron,
    RandomFourierFeatures: fourier,
    Nystroem: nystroem,
}
