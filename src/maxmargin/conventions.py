"""scikit-learn's conventions: its private helpers, and what its versions do not share.

No other file imports a private name of scikit-learn, or asks for its version. `make compat` runs
the tests with the oldest and the newest version that pyproject.toml allows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from importlib.util import find_spec
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing as take_rows
from sklearn.utils._available_if import _AvailableIfDescriptor
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import _check_sample_weight

if find_spec("sklearn.callback") or TYPE_CHECKING:
    from sklearn.callback import CallbackSupportMixin
else:  # before scikit-learn 1.9

    class CallbackSupportMixin:
        """An estimator without callbacks: its fit has a context that calls nobody."""

        def set_callbacks(self, *callbacks: object) -> Any:
            """Refuse callbacks; none at all is what there is."""
            if callbacks:
                raise NotImplementedError("callbacks need scikit-learn 1.9 or newer")
            return self

        def _init_callback_context(self, **_: object) -> Any:
            return _SilentContext()

    class _SilentContext:
        def call_on_fit_task_begin(self, **_: object) -> None:
            pass

        call_on_fit_task_end = call_on_fit_task_begin


__all__ = [
    "CallbackSupportMixin",
    "HasMethods",
    "Interval",
    "LibsvmState",
    "StrOptions",
    "densify",
    "exists_if",
    "fitting",
    "libsvm_state",
    "restore_column_transformer",
    "restore_encoder",
    "restore_isotonic",
    "sample_weights",
    "set_libsvm_state",
    "sparsify",
    "take_rows",
    "validate_parameters",
]

# Weights that are all zero need leave since scikit-learn 1.9, which has a parameter for it.
ALL_ZERO_WEIGHTS = {
    name: True
    for name in signature(_check_sample_weight).parameters
    if name == "allow_all_zero_weights"
}
PLAIN = (bool, int, float, str, type(None))
Machine = TypeVar("Machine")
Result = TypeVar("Result")
Method = TypeVar("Method", bound=Callable[..., object])
Arguments = ParamSpec("Arguments")


def fitting(
    method: Callable[Concatenate[Machine, Arguments], Result],
) -> Callable[Concatenate[Machine, Arguments], Result]:
    """A method that fits: parameters are validated first; an error leaves the estimator as it was.

    After Ctrl-C a method that has set the model so far says so by the attribute `_interrupted`;
    then KeyboardInterrupt goes on from here, and the estimator keeps its model.
    Likewise an error that the method leaves in the attribute `_ended_by` is raised from here.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> clf = SVC().fit([[0.0], [1.0]], [0, 1])
    >>> try:
    ...     clf.fit([[0.0, 1.0]], [7])
    ... except ValueError:
    ...     print(clf.classes_, clf.n_features_in_)
    [0 1] 1
    """
    validated = _fit_context(prefer_skip_nested_validation=True)(method)

    @wraps(method)
    def fit(machine: Machine, /, *args: Arguments.args, **options: Arguments.kwargs) -> Result:
        with _all_or_nothing(machine):
            result: Result = validated(machine, *args, **options)
        if vars(machine).pop("_interrupted", False):
            raise KeyboardInterrupt(f"{type(machine).__name__} has the model so far")
        if (error := vars(machine).pop("_ended_by", None)) is not None:
            raise error
        return result

    return fit


def exists_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """A method that an estimator has only if `check` of it is true and raises no AttributeError.

    As `sklearn.utils.metaestimators.available_if`, but the message gives the reason too.
    """

    def decorator(method: Method) -> Method:
        found: Any = _Explained(method, check, attribute_name=getattr(method, "__name__", ""))
        return cast(Method, found)

    return decorator


class _Explained(_AvailableIfDescriptor):
    def _check(self, obj: object, owner: type) -> None:
        try:
            super()._check(obj, owner)
        except AttributeError as missing:
            reason = missing.__cause__
            raise AttributeError(f"{missing}: {reason}" if reason else str(missing)) from reason


@contextmanager
def _all_or_nothing(estimator: object) -> Iterator[None]:
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:  # Ctrl-C too
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def validate_parameters(estimator: Any) -> None:
    """As scikit-learn does in `fit`; numbers and words that were valid are not checked again.

    Its check takes a tenth of a millisecond, which is as long as a small fit.
    """
    kind: Any = type(estimator)
    for name, value in estimator.get_params(deep=False).items():
        if isinstance(value, PLAIN):
            _validate_plain_parameter(kind, name, value)
        else:
            _validate_parameter(kind, name, value)


def _validate_parameter(kind: Any, name: str, value: Any) -> None:
    validate_parameter_constraints(kind._parameter_constraints, {name: value}, kind.__name__)


@lru_cache(maxsize=4096, typed=True)
def _validate_plain_parameter(kind: Hashable, name: str, value: Hashable) -> None:
    _validate_parameter(kind, name, value)


def sample_weights(weights: ArrayLike, X: Any) -> NDArray[np.float64]:
    """One number for each row of X."""
    checked: NDArray[np.float64] = _check_sample_weight(
        weights, X, dtype=np.float64, **ALL_ZERO_WEIGHTS
    )
    return checked


def sparsify(estimator: Any) -> None:
    """`coef_` as a sparse matrix, as scikit-learn's linear models do it (slow to import)."""
    from sklearn.linear_model._base import SparseCoefMixin

    SparseCoefMixin.sparsify(estimator)


def densify(estimator: Any) -> None:
    """`coef_` as an array again."""
    from sklearn.linear_model._base import SparseCoefMixin

    SparseCoefMixin.densify(estimator)


def restore_encoder(encoder: Any) -> None:
    """What `OneHotEncoder.fit` computes from the categories, for an encoder that has them."""
    encoder._check_infrequent_enabled()
    encoder._set_drop_idx()
    encoder._n_features_outs = encoder._compute_n_features_outs()


def restore_isotonic(step: Any, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    """What `IsotonicRegression.fit` leaves: the points, and the function between them."""
    step.X_thresholds_, step.y_thresholds_, step.increasing_ = x, y, True
    step.X_min_, step.X_max_ = x[0], x[-1]
    step._build_f(x, y)


def restore_column_transformer(
    transformer: Any,
    fitted: list[tuple[str, Any, list[Any]]],
    numbers: list[list[int]],
    places: dict[str, slice],
) -> None:
    """What `ColumnTransformer.fit` leaves: the fitted parts, their columns, those of the output.

    Parameters
    ----------
    fitted : name, transformer and columns (by name or number) of each part
    numbers : the same columns by number
    places : the columns of the output, by the name of the part
    """
    rest = [part for part in fitted if part[0] == "remainder"]
    given = [part for part in fitted if part[0] != "remainder"]
    transformer.transformers = given
    transformer.transformers_ = fitted
    transformer.output_indices_ = places
    transformer._columns = [columns for *_, columns in given]
    transformer._remainder = ("remainder", transformer.remainder, rest[0][2] if rest else [])
    indices = {part[0]: each for part, each in zip(fitted, numbers, strict=True)}
    transformer._transformer_to_input_indices = {"remainder": [], **indices}


class LibsvmState(NamedTuple):
    """What a fitted kernel machine of `sklearn.svm` keeps behind its public attributes."""

    gamma: float
    rows: Any
    slopes: NDArray[np.float64]
    shifts: NDArray[np.float64]


def libsvm_state(estimator: Any) -> LibsvmState:
    """γ, the training rows if the kernel is a function, A and B of its probabilities."""
    rows = getattr(estimator, "_BaseLibSVM__Xfit", None)
    return LibsvmState(estimator._gamma, rows, estimator._probA, estimator._probB)


def set_libsvm_state(
    estimator: Any,
    rows: Any,
    gamma: float,
    n_support: NDArray[np.int32],
    slopes: NDArray[np.float64],
    shifts: NDArray[np.float64],
    *,
    sparse: bool,
    flipped: bool,
) -> None:
    """The same for a machine whose public attributes are set; `flipped` for two classes."""
    estimator._gamma, estimator._sparse, estimator._n_support = gamma, sparse, n_support
    estimator._probA, estimator._probB = slopes, shifts
    estimator._effective_probability = len(slopes) > 0
    if len(slopes):
        estimator.probability = True
    sign = -1 if flipped else 1
    estimator._dual_coef_ = sign * estimator.dual_coef_
    estimator._intercept_ = sign * estimator.intercept_
    if callable(estimator.kernel):
        estimator._BaseLibSVM__Xfit = rows
