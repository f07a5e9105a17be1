"""A fitted kernel machine from the numbers of another library, in scikit-learn's layout of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.io.container import Model
from maxmargin.kernels import Kernel
from maxmargin.machines import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.machines.probability import Calibration
from maxmargin.machines.support_vectors import SupportVectors
from maxmargin.resources.arrays import Data, Floats, Labels, Numbers

Kind = type[SVC] | type[NuSVC] | type[SVR] | type[NuSVR] | type[OneClassSVM]


@dataclass(frozen=True)
class MachineParts:
    """What a kernel machine is made of, however it was trained.

    Attributes
    ----------
    kernel : with a number for γ
    rows : how many rows it was trained on, as far as known
    columns : of the rows
    support, support_vectors, dual_coef, intercept, n_support : as in scikit-learn
    classes : of a classifier, else None
    slopes, shifts : A and B of its probabilities; empty if it has none
    """

    kernel: Kernel
    rows: int
    columns: int
    support: Numbers
    support_vectors: Data
    dual_coef: Data
    intercept: Floats
    n_support: Numbers
    classes: Labels | None
    slopes: Floats
    shifts: Floats


def assembled(kind: Kind, parameters: dict[str, Any], parts: MachineParts) -> Model:
    """The machine of these parts. It has no certificate: nothing about its training is known."""
    model: Model = kind(**parameters)
    model.kernel_, model._form_ = parts.kernel, SupportVectors(parts.kernel)
    model.support_ = parts.support.astype(np.int32)
    model.support_vectors_, model.dual_coef_ = parts.support_vectors, parts.dual_coef
    model.intercept_ = np.asarray(parts.intercept, np.float64)
    model.n_support_ = np.asarray(parts.n_support, np.int32)
    model.shape_fit_, model.n_features_in_ = (parts.rows, parts.columns), parts.columns
    model._bounds_ = np.full(parts.rows, float(getattr(model, "C", 1.0)))
    model.fit_status_ = 0
    if parts.classes is not None:
        model.classes_, model.class_weight_ = parts.classes, np.ones(len(parts.classes))
        model._calibration = Calibration(parts.slopes, parts.shifts)
        if kind is NuSVC:
            model._rho_ = np.ones(len(model.intercept_))
    return model
