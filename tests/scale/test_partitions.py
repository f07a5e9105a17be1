"""Training on partitions, in memory and in files: the same machine as on all rows at once."""

import re

import numpy as np
import pandas
import pytest
from pyarrow.parquet import ParquetFile
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file, load_iris

from maxmargin import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.certificate import IndefiniteCertificate
from maxmargin.datasets import moons
from maxmargin.kernels import RBF, Linear, Pairwise, Polynomial
from maxmargin.problem import Status
from maxmargin.scale import ArrayPartitions, DatasetPartitions, LibsvmPartitions
from maxmargin.scale.partitions import checked_block
from maxmargin.scale.state import VARIABLES, PartitionedState
from maxmargin.scale.survey import survey
from maxmargin.solvers import BlockSMO, Chunking

X, Y = moons(240, seed=3)
T = np.sin(2 * X[:, 0]) + 0.1 * X[:, 1]
FEW = Chunking(inner=BlockSMO(), violators=20)  # several rounds even on few rows
TIGHT = {"tol": 1e-8, "solver": FEW}


def same(part, whole):
    """The two have the same optimum, and the same function: both are certified to a tiny tol."""
    assert part.certificate_.status.value == "converged"
    assert part.certificate_.dual == pytest.approx(whole.certificate_.dual, rel=1e-7)
    np.testing.assert_allclose(
        part.decision_function(X) if hasattr(part, "decision_function") else part.predict(X),
        whole.decision_function(X) if hasattr(whole, "decision_function") else whole.predict(X),
        atol=1e-5,
    )
    assert part.shape_fit_ == whole.shape_fit_


def laplace(x, z):
    return np.exp(-np.abs(x - z).sum())


KERNELS = {
    "rbf": {},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "coef0": 1.0},
    "laplacian": {"kernel": "laplacian"},
    "sum": {"kernel": RBF("scale") + 0.5 * Linear()},
    "product": {"kernel": RBF("scale") * Polynomial(degree=2, coef0=1.0)},
    "pairwise": {"kernel": Pairwise(laplace)},
    "own": {"kernel": lambda A, B: np.minimum(A[:, None], B).sum(axis=2) + 10.0},
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_gives_the_machine_of_all_rows(kernel):
    options = KERNELS[kernel] | TIGHT
    same(SVC(**options).fit(ArrayPartitions(X, Y, rows=50)), SVC(**options).fit(X, Y))


def test_rows_all_around_the_origin_converge_on_partitions_too():
    """Their one-class machine has w = 0, and any ‖w‖² is large beside that."""
    rows = np.random.default_rng(0).standard_normal((60, 2))
    one = OneClassSVM(kernel="linear", nu=0.6, solver=FEW).fit(ArrayPartitions(rows, rows=10))
    assert one.certificate_.status is Status.CONVERGED


def test_an_indefinite_kernel_has_no_bound_on_partitions_either():
    clf = SVC(kernel="sigmoid", gamma=2.0, coef0=-3.0, solver=FEW, max_iter=2000)
    whole = clone(clf)
    with pytest.warns(UserWarning, match="the kernel is indefinite"):
        clf.fit(ArrayPartitions(X, Y, rows=50))
    with pytest.warns(UserWarning, match="the kernel is indefinite"):
        whole.fit(X, Y)
    assert type(clf.certificate_) is type(whole.certificate_) is IndefiniteCertificate


MACHINES = [
    SVC(C=10, **TIGHT),
    SVC(fit_intercept=False, **TIGHT),
    SVC(class_weight="balanced", **TIGHT),
    SVC(class_weight={0: 2.0, 1: 0.5}, **TIGHT),
    SVR(epsilon=0.2, **TIGHT),
    SVR(fit_intercept=False, **TIGHT),
    NuSVR(nu=0.3, **TIGHT),
    OneClassSVM(nu=0.3, **TIGHT),
]


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_every_machine_gives_the_machine_of_all_rows(machine, weighted):
    target = Y if isinstance(machine, SVC) else T
    weights = np.random.default_rng(0).integers(0, 3, len(X)).astype(float) if weighted else None
    part = type(machine)(**machine.get_params()).fit(ArrayPartitions(X, target, weights, rows=70))
    same(part, machine.fit(X, target, weights))


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_several_classes(multiclass):
    rows, names = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[names]
    order = np.random.default_rng(0).permutation(len(rows))
    rows, names = rows[order], names[order]
    options = TIGHT | {"multiclass": multiclass}
    part = SVC(**options).fit(ArrayPartitions(rows, names, rows=40))
    whole = SVC(**options).fit(rows, names)
    np.testing.assert_allclose(
        part.decision_function(rows), whole.decision_function(rows), atol=1e-6
    )
    assert (part.predict(rows) == whole.predict(rows)).all()
    np.testing.assert_array_equal(part.support_, whole.support_)
    np.testing.assert_allclose(part.dual_coef_, whole.dual_coef_, atol=1e-6)


def test_a_partition_may_have_one_class_or_no_rows():
    order = Y.argsort(kind="stable")
    part = SVC(**TIGHT).fit(ArrayPartitions(X[order], Y[order], rows=60))
    same(part, SVC(**TIGHT).fit(X, Y))


def test_the_hard_margin_is_found_or_refused():
    apart = X + 3.0 * Y[:, None]
    hard = SVC(kernel="linear", C=np.inf, solver=FEW)
    assert hard.fit(ArrayPartitions(apart, Y, rows=50)).margin_ == pytest.approx(
        SVC(kernel="linear", C=np.inf).fit(apart, Y).margin_, rel=1e-3
    )
    with pytest.raises(ValueError, match="not separable"):
        hard.fit(ArrayPartitions(X, Y, rows=50))


def test_the_driver_holds_support_vectors_and_violators_only():
    history = SVC(solver=FEW).fit(ArrayPartitions(X, Y, rows=40)).history_
    assert {"rounds", "violators", "held", "bytes"} <= {*history.dtype.names}
    assert history["violators"][0] == len(X)
    assert history["violators"][-1] == 0
    assert (np.diff(history["bytes"]) > 0).all()
    assert history["held"].max() < len(X)


def test_the_bar_shows_rounds_violators_and_bytes(capfd):
    SVC(solver=FEW, verbose=1).fit(ArrayPartitions(X, Y, rows=40))
    assert re.search(
        r"round \d+, \d+ rows held, 0 violators, \d\.\d MB moved", capfd.readouterr().err
    )


@pytest.mark.parametrize("violators", [1, 6, 50])
@pytest.mark.parametrize("machine", [SVC(C=10), SVR(), OneClassSVM(nu=0.3)], ids=repr)
def test_what_the_driver_holds_beside_support_vectors_is_within_its_budget(
    monkeypatch, violators, machine
):
    budget = 4 * violators * (X[0].nbytes + VARIABLES)
    taken, make = [], PartitionedState.gram

    def gram(state):
        made, rows = make(state), state.held.rows
        idle = len(rows) - np.count_nonzero(state.held.coef)
        taken.append(idle * (rows.nbytes / len(rows) + VARIABLES - 8) + made.budget)
        return made

    monkeypatch.setattr(PartitionedState, "gram", gram)
    machine = clone(machine).set_params(cache_size=budget / 2**20)
    target = Y if isinstance(machine, SVC) else T
    machine.fit(ArrayPartitions(X, target, rows=40))
    assert machine.certificate_.status.value == "converged"
    assert len(taken) > 2
    # Beside it is only the least that there can be progress with: a pair that rises and falls.
    assert max(taken) <= max(budget, 8 * (X[0].nbytes + VARIABLES))


def test_predictions_and_scores_are_streamed():
    data, plain = ArrayPartitions(X, Y, rows=50), SVC().fit(X, Y)
    np.testing.assert_array_equal(plain.predict(data), plain.predict(X))
    whole = plain.decision_function(X)
    np.testing.assert_allclose(plain.decision_function(data), whole, rtol=0, atol=1e-12)
    assert plain.score(data) == pytest.approx(plain.score(X, Y))
    regressor, weights = SVR().fit(X, T), np.arange(len(X), dtype=float)
    assert regressor.score(ArrayPartitions(X, T, weights, rows=50)) == pytest.approx(
        regressor.score(X, T, weights)
    )
    one = OneClassSVM(nu=0.2).fit(X)
    np.testing.assert_array_equal(one.predict(ArrayPartitions(X, rows=50)), one.predict(X))


def test_a_survey_joins_moments():
    weights = np.random.default_rng(1).random(len(X))
    found = survey(ArrayPartitions(X + 1e6, Y, weights, rows=37), classes=True)
    each = np.repeat(weights, X.shape[1])
    assert found.mean == pytest.approx(np.average((X + 1e6).ravel(), weights=each))
    centred = (X + 1e6).ravel() - found.mean
    assert found.variance == pytest.approx(np.average(centred**2, weights=each), rel=1e-8)
    assert found.lengths.sum() == len(X)


# --- files --------------------------------------------------------------------------------


def parquet(folder, frame, rows=50):
    path = folder / "rows.parquet"
    frame.to_parquet(path, row_group_size=rows)
    return path


@pytest.fixture
def frame():
    return pandas.DataFrame({"u": X[:, 0], "v": X[:, 1], "label": Y, "weight": 1.0 + Y})


def test_memmap(tmp_path):
    rows = np.memmap(tmp_path / "rows.dat", np.float64, "w+", shape=X.shape)
    rows[:] = X
    rows.flush()
    rows = np.memmap(tmp_path / "rows.dat", np.float64, "r", shape=X.shape)
    same(SVC(**TIGHT).fit(ArrayPartitions(rows, Y, rows=50)), SVC(**TIGHT).fit(X, Y))


def test_parquet(tmp_path, frame):
    data = DatasetPartitions(parquet(tmp_path, frame), "label", weight="weight")
    assert data.count == 5
    part = SVC(**TIGHT).fit(data)
    assert part.feature_names_in_.tolist() == ["u", "v"]
    whole = SVC(**TIGHT).fit(frame[["u", "v"]], frame["label"], frame["weight"])
    assert part.certificate_.dual == pytest.approx(whole.certificate_.dual, rel=1e-7)
    assert (part.predict(data) == whole.predict(frame[["u", "v"]])).all()
    assert (part.predict(frame[["u", "v"]]) == part.predict(data)).all()
    with pytest.raises(ValueError, match="the columns are u, but SVC was fitted on u, v"):
        part.predict(DatasetPartitions(parquet(tmp_path, frame), "label", columns=["u"]))


def test_a_folder_of_parquet_files(tmp_path, frame):
    for k in range(3):
        frame[k::3].to_parquet(tmp_path / f"part-{k}.parquet")
    data = DatasetPartitions(tmp_path, "label", columns=["u", "v"])
    assert SVC().fit(data).shape_fit_ == X.shape


def test_folders_of_hive_a_uri_and_csv(tmp_path, frame):
    """Folders named key=value are columns; a URI is not mangled; a file of CSV is a partition."""
    for k in range(3):
        (tmp_path / f"k={k}").mkdir()
        frame[k::3].to_parquet(tmp_path / f"k={k}" / "part.parquet", row_group_size=50)
    data = DatasetPartitions(tmp_path.as_uri(), "label", weight="weight")
    assert data.columns == ["u", "v", "k"]
    assert data.count == 6
    found = np.concatenate([data.block(number).X for number in range(data.count)])
    wanted = np.concatenate(
        [np.column_stack([frame[k::3][["u", "v"]], np.full(len(frame[k::3]), k)]) for k in range(3)]
    )
    np.testing.assert_array_equal(found, wanted)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    text = DatasetPartitions(
        [tmp_path / "rows.csv"] * 2, "label", weight="weight", file_format="csv"
    )
    np.testing.assert_allclose(text.block(1).X, frame[["u", "v"]], rtol=1e-15)
    assert SVC().fit(text).shape_fit_ == (2 * len(frame), 2)


def test_libsvm_text(tmp_path):
    path = tmp_path / "rows.svm"
    sparse = csr_array(np.where(np.abs(X) > 0.3, X, 0.0))
    dump_svmlight_file(sparse, Y, str(path), zero_based=False)
    data = LibsvmPartitions(path, megabytes=path.stat().st_size / 2**20 / 4.5)
    assert data.count == 5
    assert sum(data.block(k).X.shape[0] for k in range(data.count)) == len(X)
    part, whole = SVC(**TIGHT).fit(data), SVC(**TIGHT).fit(sparse, Y)
    assert part.certificate_.dual == pytest.approx(whole.certificate_.dual, rel=1e-7)
    assert (part.predict(data) == whole.predict(sparse)).all()


# --- what is refused, and how -------------------------------------------------------------


def broken(change):
    rows = X.copy()
    change(rows)
    return ArrayPartitions(rows, Y, rows=100)


def test_nan_is_named_by_partition_row_and_column():
    def spoil(rows):
        rows[117, 1] = np.nan

    with pytest.raises(ValueError, match=r"partition 1 .*NaN at row 17, column 1"):
        SVC().fit(broken(spoil))
    target = T.copy()
    target[205] = np.inf
    with pytest.raises(ValueError, match=r"partition 2 .*y contains infinity at row 5"):
        SVR().fit(ArrayPartitions(X, target, rows=100))


class Ragged(ArrayPartitions):
    """Partitions of which the second is changed."""

    def __init__(self, change, y=Y):
        super().__init__(X, y, rows=100)
        self.change = change

    def block(self, number):
        X, y, _, _ = super().block(number)
        X, y = self.change(X, y) if number == 1 else (X, y)
        return checked_block(X, y, None, self.name(number))


def names(y, *, missing=None):
    """Labels as names, one of them missing or of another kind."""
    found = np.array(["no", "yes"], dtype=object)[y.astype(int)]
    found[7] = missing
    return found


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X[:, :1], y), "partition 1 .* columns is 1, not 2"),
        (lambda X, y: (X.astype(np.float32), y), "partition 1 .* dtype is float32, not float64"),
        (lambda X, y: (csr_array(X), y), "partition 1 .* sparse is True, not False"),
        (lambda X, y: (X, names(y, missing="no")), "partition 1 .* y is of names, not of numbers"),
        (lambda X, y: (X, names(y)), "partition 1 .* y has None at row 7"),
        (lambda X, y: (X, names(y, missing=3)), "partition 1 .* y has 3 at row 7"),
        (lambda X, y: (X, names(y, missing=pandas.NA)), "partition 1 .* y has <NA> at row 7"),
        (lambda X, y: (X, y + 0.5), "partition 1 .* continuous, 1.5 at row 0"),
        (lambda X, y: (X, np.column_stack([y, y])), r"partition 1 .* the shape \(100, 2\)"),
        (lambda X, y: (X, y[:60]), "partition 1 .* 100 rows of X but 60 of y"),
    ],
)
def test_ragged_partitions_are_refused_by_name(change, message):
    with pytest.raises(ValueError, match=message):
        SVC().fit(Ragged(change))


def test_tables_whose_columns_are_in_another_order_are_refused_by_name():
    order = [["u", "v"], ["v", "u"], ["u", "v"]]

    class Tables(ArrayPartitions):
        def block(self, number):
            X, y, _, _ = super().block(number)
            return checked_block(pandas.DataFrame(X, columns=order[number]), y, None, "a table")

    with pytest.raises(ValueError, match=r"names is \('v', 'u'\), not \('u', 'v'\)"):
        SVC().fit(Tables(X, Y, rows=100))
    order[1] = order[0]
    clf = SVC().fit(Tables(X, Y, rows=100))
    assert clf.feature_names_in_.tolist() == ["u", "v"]
    assert clf.score(Tables(X, Y, rows=100)) == clf.score(pandas.DataFrame(X, columns=order[0]), Y)


def test_targets_are_numbers_and_one_class_needs_none():
    words = Ragged(lambda X, y: (X, y), names(Y, missing=None))
    with pytest.raises(ValueError, match=r"partition 0 .* y has the dtype object"):
        SVR().fit(words)
    assert OneClassSVM().fit(words).certificate_.status.value == "converged"


def test_a_parquet_file_cut_short_is_named(tmp_path, frame):
    path = parquet(tmp_path, frame)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"rows\.parquet cannot be read as parquet"):
        DatasetPartitions(path, "label")


@pytest.mark.parametrize("damage", ["cut", "overwritten"])
def test_a_parquet_file_that_is_damaged_later_is_named_by_partition(tmp_path, frame, damage):
    path = parquet(tmp_path, frame)
    data, whole = DatasetPartitions(path, "label"), path.read_bytes()
    third = ParquetFile(path).metadata.row_group(2).column(0).data_page_offset
    spoilt = whole[:third] if damage == "cut" else whole[:third] + bytes(40) + whole[third + 40 :]
    path.write_bytes(spoilt)
    with pytest.raises(ValueError, match=r"partition 2 \(.*rows\.parquet, row group 2"):
        SVC().fit(data)


def test_a_missing_column_is_named(tmp_path, frame):
    path = parquet(tmp_path, frame)
    with pytest.raises(ValueError, match="has no column target; it has u, v, label, weight"):
        DatasetPartitions(path, "target")


def test_a_text_that_is_not_libsvm_is_named(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:2\nyes 1:3\n")
    with pytest.raises(ValueError, match=r"partition 0 \(.*rows\.svm.*not LIBSVM's format"):
        LibsvmPartitions(path)


@pytest.mark.parametrize(
    ("machine", "data", "message"),
    [
        (SVC(kernel="precomputed"), ArrayPartitions(X, Y), "partitions are rows"),
        (SVC(), ArrayPartitions(X), "needs labels"),
        (SVC(), ArrayPartitions(X, np.zeros(len(X))), "1 class"),
        (SVC(), ArrayPartitions(X, Y, np.zeros(len(X))), "zero or negative weights"),
        (SVC(), ArrayPartitions(X[:0], Y[:0]), "no rows"),
        (SVC(), ArrayPartitions(X.astype(str), Y), "not one of numbers"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_cannot_be_trained_on_is_refused(machine, data, message):
    with pytest.raises(ValueError, match=message):
        machine.fit(data)


def test_labels_belong_to_partitions():
    with pytest.raises(ValueError, match="belong to the partitions"):
        SVC().fit(ArrayPartitions(X, Y), Y)
    with pytest.raises(TypeError, match="SVC takes partitions"):
        NuSVC().fit(ArrayPartitions(X, Y))
    with pytest.raises(ValueError, match="X has 240 rows, but y has 3"):
        ArrayPartitions(X, Y[:3])
