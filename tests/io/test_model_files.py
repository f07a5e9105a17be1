"""Models stored and loaded: the same bits, whatever the machine."""

from dataclasses import fields

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.impute import SimpleImputer
from sklearn.model_selection import BaseCrossValidator, GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import maxmargin as mm
from fitted import ESTIMATORS, FRAME, NEW, OWN, THREE, TWO, Square, T, X, fitted, own_block
from maxmargin import ModelFileError
from maxmargin.io import read_document
from maxmargin.io.searches import SearchRecord
from maxmargin.kernels import Linear
from maxmargin.machines.multiclass import Made
from maxmargin.problem import Status

# Attributes that are compared in another way.
ELSEWHERE = ("kernel_", "features_", "history_", "search_", "best_estimator_")


def again(model, folder, kernel=OWN):
    mm.save(model, folder / "model.maxmargin")
    return mm.load(folder / "model.maxmargin", kernel)


def assert_same(ours, theirs, name):
    """The same value, its type included."""
    if isinstance(ours, Made):  # of pairs of classes, made when they are asked for
        ours, theirs = list(ours), list(theirs)
    assert type(ours) is type(theirs), name
    if sp.issparse(ours):
        assert ours.dtype == theirs.dtype
        ours, theirs = ours.toarray(), theirs.toarray()
    if isinstance(ours, np.ndarray):
        assert ours.dtype == theirs.dtype, name
        np.testing.assert_array_equal(ours, theirs, name)
    elif isinstance(ours, list | tuple):
        assert len(ours) == len(theirs), name
        for mine, other in zip(ours, theirs, strict=True):
            assert_same(mine, other, name)
    elif isinstance(ours, BaseEstimator | BaseCrossValidator):
        assert_same(vars(ours), vars(theirs), name)
    elif isinstance(ours, dict):
        assert ours.keys() == theirs.keys(), name
        for key in ours:
            assert_same(ours[key], theirs[key], f"{name}.{key}")
    elif not hasattr(ours, "pack"):  # packed landmarks: what they give is compared above
        assert ours == theirs, name


@pytest.mark.filterwarnings("ignore:the kernel is indefinite")  # the sigmoid
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_loaded_model_says_the_same_bits(name, tmp_path):
    case = fitted(name)
    loaded = again(case.model, tmp_path)
    for method, wanted in case.outputs(case.model).items():
        found = case.outputs(loaded)[method]
        if sp.issparse(wanted):
            wanted, found = wanted.toarray(), found.toarray()
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.filterwarnings("ignore:the kernel is indefinite")  # the sigmoid
@pytest.mark.parametrize("name", [n for n in ESTIMATORS if not hasattr(ESTIMATORS[n][0], "steps")])
def test_a_loaded_machine_has_every_attribute(name, tmp_path):
    model = fitted(name).model
    assert_same_machine(model, again(model, tmp_path))


def assert_same_machine(model, loaded):
    assert_same(model.get_params(deep=False), loaded.get_params(deep=False), "parameters")
    public = [each for each in dir(model) if each.endswith("_") and not each.startswith("_")]
    for attribute in public:
        if hasattr(model, attribute) and attribute not in ELSEWHERE:
            assert_same(getattr(model, attribute), getattr(loaded, attribute), attribute)
    if hasattr(model, "search_"):
        assert_same_machine(model.best_estimator_, loaded.best_estimator_)
        for name in (field.name for field in fields(SearchRecord)):
            assert_same(getattr(model.search_, name), getattr(loaded.search_, name), name)
    if hasattr(model, "history_"):
        np.testing.assert_array_equal(model.history_, loaded.history_)
    if hasattr(model, "kernel_"):
        assert loaded.kernel_ == model.kernel_


GAPS = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)
COLOURS = FRAME[["farbe"]].astype(object).where(FRAME[["länge"]].to_numpy() > -1, None)
OF_SCIKIT_LEARN = {
    "imputed": (
        make_pipeline(SimpleImputer(strategy="median", add_indicator=True), mm.SVC()),
        GAPS,
    ),
    "imputed words": (
        make_pipeline(
            SimpleImputer(missing_values=None, strategy="most_frequent"), OneHotEncoder(), mm.SVC()
        ),
        COLOURS,
    ),
    "pca": (make_pipeline(PCA(2, whiten=True), mm.SVC()), X),
    "robust": (make_pipeline(RobustScaler(), mm.SVC()), X),
    "quantiles": (make_pipeline(QuantileTransformer(n_quantiles=20), mm.SVC()), X),
    "best": (make_pipeline(SelectKBest(k=2), mm.SVC()), FRAME.iloc[:, :4]),
    "mutual information": (make_pipeline(SelectKBest(mutual_info_classif, k=3), mm.SVC()), X),
    "polynomial": (make_pipeline(PolynomialFeatures((1, 3)), mm.SVC(kernel="linear")), X),
    "function": (make_pipeline(FunctionTransformer(np.square), mm.SVC()), X),
    "in columns": (
        make_pipeline(
            ColumnTransformer(
                [
                    ("a", make_pipeline(SimpleImputer(), PCA(1)), [0, 1]),
                    ("b", make_pipeline(RobustScaler(), PolynomialFeatures(2)), [2, 3]),
                ]
            ),
            mm.SVC(),
        ),
        X,
    ),
    "sigmoid": (CalibratedClassifierCV(mm.SVC(C=2.0), cv=3), X),
    "isotonic": (CalibratedClassifierCV(mm.SVC(), method="isotonic", cv=2, ensemble=False), X),
    "calibrated pipeline": (
        CalibratedClassifierCV(make_pipeline(RobustScaler(), mm.LinearSVC()), cv=KFold(3)),
        X,
    ),
    "target function": (
        TransformedTargetRegressor(mm.SVR(), func=np.log1p, inverse_func=np.expm1),
        X,
    ),
    "target scaled": (TransformedTargetRegressor(mm.SVR(), transformer=StandardScaler()), X),
}


@pytest.mark.parametrize("name", OF_SCIKIT_LEARN)
def test_models_of_scikit_learn_are_stored_with_a_machine_inside(name, tmp_path):
    model, rows = OF_SCIKIT_LEARN[name]
    model = clone(model).fit(rows, THREE)
    loaded = again(model, tmp_path)
    assert repr(loaded) == repr(model)
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, method):
            wanted = getattr(model, method)(rows)
            np.testing.assert_array_equal(getattr(loaded, method)(rows), wanted)
    np.testing.assert_array_equal(clone(loaded).fit(rows, THREE).predict(rows), model.predict(rows))


def test_a_transformer_that_cannot_transform_is_refused_when_it_is_read(tmp_path):
    model = make_pipeline(PCA(2), mm.SVC()).fit(X, TWO)
    model[0].mean_ = model[0].mean_[:-1]
    mm.save(model, tmp_path / "m")
    with pytest.raises(ModelFileError):
        mm.load(tmp_path / "m")


def test_a_loaded_machine_goes_on_learning(tmp_path):
    model = mm.SVC(warm_start=True).fit(X, TWO)
    loaded = again(model, tmp_path)
    loaded.set_params(C=1.1).fit(X, TWO)
    model.set_params(C=1.1).fit(X, TWO)
    np.testing.assert_array_equal(loaded.dual_coef_, model.dual_coef_)
    assert loaded.certificate_.status is Status.CONVERGED
    stream = mm.SVC(approximation="rff", n_components=20).partial_fit(X, TWO, classes=[0, 1])
    again(stream, tmp_path).partial_fit(X, TWO)
    online = mm.KernelPerceptron().partial_fit(X, THREE, classes=[0, 1, 2])
    other = again(online, tmp_path).partial_fit(NEW, THREE[:40])
    np.testing.assert_array_equal(other.predict(X), online.partial_fit(NEW, THREE[:40]).predict(X))


def test_intervals_of_folds_with_a_kernel_of_their_own_are_stored(tmp_path):
    model = mm.SVRCV(Cs=2, gammas=None, gamma="scale", cv=3).fit(X, T)
    found = again(model, tmp_path).predict_interval(NEW)
    np.testing.assert_array_equal(found, model.predict_interval(NEW))


def test_intervals_of_rows_left_out_are_stored_if_they_were_asked_for(tmp_path):
    model = mm.SVRCV(Cs=2, gammas=2, cv=3).fit(X, T)
    without = again(model, tmp_path)
    with pytest.raises(AttributeError, match="once before saving"):
        without.predict_interval(NEW, method="jackknife+")
    wanted = model.predict_interval(NEW, method="jackknife+")
    found = again(model, tmp_path).predict_interval(NEW, method="jackknife+")
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("kind", [mm.SVCCV, mm.SVRCV])
def test_a_search_without_a_refit_is_stored(kind, tmp_path):
    model = kind(Cs=2, gammas=2, cv=3, refit=False).fit(X, TWO)
    loaded = again(model, tmp_path)
    assert loaded.best_params_ == model.best_params_
    with pytest.raises(AttributeError, match="refit=True"):
        loaded.predict(X)


def test_a_machine_that_learned_from_blocks_is_stored(tmp_path):
    model = mm.SVC(approximation="rff", n_components=20).partial_fit(X, THREE, classes=[0, 1, 2])
    np.testing.assert_array_equal(
        again(model, tmp_path).decision_function(X), model.decision_function(X)
    )


def test_a_clone_of_a_loaded_model_fits_the_same(tmp_path):
    model = fitted("columns").model
    loaded = clone(again(model, tmp_path)).fit(FRAME, THREE)
    np.testing.assert_array_equal(
        loaded.predict(FRAME), clone(model).fit(FRAME, THREE).predict(FRAME)
    )


def test_a_pipeline_takes_columns_by_name(tmp_path):
    case = fitted("columns")
    loaded = again(case.model, tmp_path)
    turned = case.rows[list(case.rows.columns)[::-1]].assign(more=1)
    np.testing.assert_array_equal(loaded.predict(turned), case.model.predict(case.rows))
    with pytest.raises(ValueError, match="länge"):
        loaded.predict(case.rows.drop(columns="länge"))


def test_a_kernel_of_your_own_is_given_again(tmp_path):
    path = tmp_path / "own"
    mm.save(fitted("svc own block").model, path)
    with pytest.raises(ModelFileError, match=r"load\(path, kernel=own_block\)"):
        mm.load(path)
    assert mm.load(path, kernel=own_block).kernel is own_block
    mm.save(fitted("svc own class").model, path)
    for given in (Square, Square(), {"Square": Square}):
        assert mm.load(path, kernel=given).kernel_ == Square() + 1
    with pytest.raises(ModelFileError, match="Square"):
        mm.load(path, kernel={"Square": own_block})


def test_the_document_can_be_read_alone(tmp_path):
    mm.save(fitted("svc composed").model, tmp_path / "m", notes={"target": "art"})
    document = read_document(tmp_path / "m")
    model = fitted("svc composed").model
    assert document["notes"] == {"target": "art"}
    assert document["versions"]["maxmargin"] == mm.__version__
    assert document["model"]["certificate"]["primal"] == model.certificate_.primal
    assert document["model"]["kernel"]["right"]["left"]["factor"] == 0.5


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (StandardScaler(), "not fitted"),
        (mm.SVC(), "not fitted"),
    ],
)
def test_what_is_not_fitted_is_refused(model, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        mm.save(model, tmp_path / "m")


class Mine(mm.SVC):
    pass


def deep():
    kernel = Linear()
    for _ in range(101):
        kernel = kernel + 1
    return kernel


def length(A, B):
    return np.array([[float(len(a[0]) * len(b[0])) for b in B] for a in A])


OBJECTS = np.array(["a", "bb", "ccc", "dddd"], object)[:, None]
UNSTORABLE = {
    "Mine": lambda: Mine().fit(X, TWO),
    "random_state": lambda: mm.SVC(random_state=np.random.RandomState(0)).fit(X, TWO),
    "objects": lambda: mm.SVC(kernel=length).fit(OBJECTS, [0, 0, 1, 1]),
    "function own_block": lambda: FunctionTransformer(own_block).fit(X),
    "min_frequency": lambda: OneHotEncoder(min_frequency=2).fit(FRAME[["farbe"]]),
    "best_estimator_": lambda: GridSearchCV(mm.SVC(), {"C": [1.0]}, cv=2).fit(X, TWO),
    "levels": lambda: mm.SVC(kernel=deep()).fit(X, TWO),
}


@pytest.mark.parametrize("words", UNSTORABLE)
def test_what_a_file_cannot_hold_is_refused_by_name(words, tmp_path):
    with pytest.raises(ValueError, match=words):
        mm.save(UNSTORABLE[words](), tmp_path / "m")
    assert not list(tmp_path.iterdir())
