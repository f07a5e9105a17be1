"""Models of LIBSVM, read and written: LIBSVM itself gives the same labels and values."""

from ctypes import POINTER, c_double

import numpy as np
import pytest
import scipy.sparse as sp
from libsvm import svmutil

import maxmargin as mm
from fitted import CSR, NEW, THREE, TWO, WORDS, T, X, fitted
from maxmargin import ModelFileError
from maxmargin.io import load_libsvm, save_libsvm
from maxmargin.kernels import Linear
from maxmargin.machines.probability import density_marks

SIGNS = np.where(TWO, 1, -1)
KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 2, "gamma": 0.3, "coef0": 0.7},
    "rbf": {"kernel": "rbf", "gamma": 0.4},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.05, "coef0": 0.1},
    "precomputed": {"kernel": "precomputed"},
}
MACHINES = {
    "c_svc": (mm.SVC(C=0.7), TWO),
    "c_svc, three classes": (mm.SVC(C=0.7), THREE * 2 - 3),
    "nu_svc": (mm.NuSVC(nu=0.3), THREE),
    "one_class": (mm.OneClassSVM(nu=0.2), None),
    "epsilon_svr": (mm.SVR(), T),
    "nu_svr": (mm.NuSVR(), T),
}


def theirs(path, rows, *, probabilities=False):
    """Labels and decision values (or probabilities) by LIBSVM, and its model.

    By its library itself: the function of its Python package has too little room for the decision
    values of a nu_svc with several classes.
    """
    model = svmutil.svm_load_model(str(path))
    call = svmutil.libsvm.svm_predict_values
    count = max(model.get_nr_class() * (model.get_nr_class() - 1) // 2, 1)
    if probabilities:
        call, count = svmutil.libsvm.svm_predict_probability, model.get_nr_class()
    precomputed = model.param.kernel_type == svmutil.kernel_names.PRECOMPUTED
    dense = rows.toarray() if sp.issparse(rows) else rows
    labels, values = [], np.empty((len(dense), count))
    for i, row in enumerate(dense):
        first = {0: i + 1} if precomputed else {}
        nodes, _ = svmutil.gen_svm_nodearray(
            {**first, **dict(enumerate(row.tolist(), start=1))}, isKernel=precomputed
        )
        labels.append(call(model, nodes, values[i].ctypes.data_as(POINTER(c_double))))
    return np.array(labels), values, model


def ours(model, rows):
    return model._decisions(rows)


def assert_decides_alike(model, path, rows):
    labels, values, _ = theirs(path, rows)
    np.testing.assert_allclose(values, ours(model, rows), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(labels, model.predict(rows), rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore:the kernel is indefinite")  # the sigmoid
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", MACHINES)
def test_libsvm_reads_what_we_write(name, kernel, tmp_path):
    machine, target = MACHINES[name]
    machine = machine.__class__(**{**machine.get_params(), **KERNELS[kernel]})
    rows, new = X, NEW
    if name == "one_class":  # around the origin a plane through it would be as good as any
        rows, new = X + 2, NEW + 2
    if kernel == "precomputed":
        rows, new = rows @ rows.T, new @ rows.T
    machine.fit(rows, target)
    save_libsvm(machine, tmp_path / "m")
    assert_decides_alike(machine, tmp_path / "m", new)
    again = load_libsvm(tmp_path / "m", n_features=rows.shape[1], dense=True)
    assert type(again) is type(machine)
    np.testing.assert_array_equal(again.predict(new), machine.predict(new))
    np.testing.assert_allclose(ours(again, new), ours(machine, new), rtol=1e-13, atol=1e-13)
    save_libsvm(again, tmp_path / "n")
    assert (tmp_path / "n").read_text() == (tmp_path / "m").read_text()


def untied(values, options):
    """The rows in which one class has the most votes."""
    if options == "-s 2" or values.shape[1] == 1:
        return np.ones(len(values), bool)
    votes = np.zeros((len(values), 3), int)
    for k, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        votes[:, a] += values[:, k] > 0
        votes[:, b] += values[:, k] <= 0
    return votes.max(axis=1) == 2


@pytest.mark.parametrize("options", ["-s 0", "-s 1 -n 0.3", "-s 2 -n 0.2", "-s 3", "-s 4"])
@pytest.mark.parametrize(
    "kernel", ["-t 0", "-t 1 -d 2 -g 0.3 -r 0.7", "-t 2 -g 0.4", "-t 3 -g 0.05"]
)
@pytest.mark.parametrize("labels", [SIGNS, -SIGNS, THREE[::-1] * 5])
def test_we_read_what_libsvm_writes(options, kernel, labels, tmp_path):
    """Whatever the order of the labels, which is that of their first rows."""
    target = T if options in ("-s 3", "-s 4") else labels
    model = svmutil.svm_train(
        svmutil.svm_problem(target, sp.csr_matrix(CSR)), f"{options} {kernel} -q"
    )
    svmutil.svm_save_model(str(tmp_path / "m"), model)
    rows = sp.csr_array(np.where(np.abs(NEW) > 0.5, NEW, 0.0))
    read = load_libsvm(tmp_path / "m", n_features=4)
    theirs_said, values, _ = theirs(tmp_path / "m", rows)
    said = read.predict(rows)
    if target is T:
        np.testing.assert_allclose(said, theirs_said, rtol=1e-9, atol=1e-9)
        return
    np.testing.assert_array_equal(read.predict(rows.toarray()), said)
    voted = untied(values, options)  # a tie in votes goes to the larger sum here, the first there
    np.testing.assert_array_equal(said[voted], theirs_said[voted])
    found = read._decisions(rows)
    if options == "-s 2":
        np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-9)
    else:  # the sign of a pair is a matter of the order of its classes
        one = np.sort(np.abs(found), axis=1)
        np.testing.assert_allclose(one, np.sort(np.abs(values), axis=1), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("labels", [SIGNS, -SIGNS, THREE, 2 - THREE])
def test_probabilities_travel_both_ways(labels, tmp_path):
    model = svmutil.svm_train(svmutil.svm_problem(labels, X), "-s 0 -b 1 -q")
    svmutil.svm_save_model(str(tmp_path / "m"), model)
    _, wanted, loaded = theirs(tmp_path / "m", NEW, probabilities=True)
    order = np.argsort(loaded.get_labels())
    read = load_libsvm(tmp_path / "m", n_features=4)
    save_libsvm(read, tmp_path / "n")
    _, back, written = theirs(tmp_path / "n", NEW, probabilities=True)
    # LIBSVM ends its coupling of several classes at 0.005 / classes; we solve it.
    back = back[:, np.argsort(written.get_labels())]
    np.testing.assert_allclose(back, wanted[:, order], atol=5e-3 if len(order) > 2 else 1e-12)
    np.testing.assert_allclose(read.predict_proba(NEW), wanted[:, order], atol=5e-3)


@pytest.mark.parametrize("kernel", ["-t 2 -g 0.4", "-t 0"])
def test_one_class_probabilities_travel_both_ways(kernel, tmp_path):
    model = svmutil.svm_train(svmutil.svm_problem([1] * len(X), X + 2), f"-s 2 {kernel} -b 1 -q")
    svmutil.svm_save_model(str(tmp_path / "m"), model)
    _, wanted, _ = theirs(tmp_path / "m", NEW + 2, probabilities=True)
    assert len(np.unique(wanted[:, 0])) > 4
    read = load_libsvm(tmp_path / "m", dense=True)
    marks = density_marks(read.decision_function(X + 2))
    # LIBSVM writes support vectors with 8 digits.
    np.testing.assert_allclose(marks, read.density_marks_, atol=1e-7 * np.ptp(marks))
    np.testing.assert_allclose(read.predict_proba(NEW + 2), wanted[:, ::-1], atol=1e-12)
    mm.save(read, tmp_path / "own")
    save_libsvm(mm.load(tmp_path / "own"), tmp_path / "n")
    _, back, _ = theirs(tmp_path / "n", NEW + 2, probabilities=True)
    np.testing.assert_array_equal(back, wanted)
    read.density_marks_ = read.density_marks_[::-1]
    with pytest.raises(ModelFileError, match="density_marks do not increase"):
        mm.save(read, tmp_path / "own")
    assert not hasattr(read.fit(X), "predict_proba")  # the marks were those of another model


def test_the_scale_of_a_regressors_errors_travels_both_ways(tmp_path):
    model = svmutil.svm_train(svmutil.svm_problem(T, X), "-s 3 -b 1 -q")
    svmutil.svm_save_model(str(tmp_path / "m"), model)
    read = load_libsvm(tmp_path / "m", dense=True)
    assert read.error_scale_ == model.get_svr_probability()
    mm.save(read, tmp_path / "own")
    save_libsvm(mm.load(tmp_path / "own"), tmp_path / "n")
    again = svmutil.svm_load_model(str(tmp_path / "n"))
    assert again.get_svr_probability() == model.get_svr_probability()
    assert not hasattr(read.fit(X, T), "error_scale_")


def test_a_machine_from_libsvm_is_stored_as_ours(tmp_path):
    model = svmutil.svm_train(svmutil.svm_problem(THREE, sp.csr_matrix(CSR)), "-q")
    svmutil.svm_save_model(str(tmp_path / "m"), model)
    read = load_libsvm(tmp_path / "m", n_features=4)
    mm.save(read, tmp_path / "own")
    np.testing.assert_array_equal(mm.load(tmp_path / "own").predict(CSR), read.predict(CSR))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("svc ovr", "one-versus-one"),
        ("svc words", "whole numbers"),
        ("svc composed", "no kernel"),
        ("linear", "no LinearSVC"),
        ("svc rff", "approximation"),
    ],
)
def test_what_libsvm_has_not_is_refused(name, words, tmp_path):
    with pytest.raises(ModelFileError, match=words):
        save_libsvm(fitted(name).model, tmp_path / "m")
    assert not list(tmp_path.iterdir())


GOOD = """svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 2
total_sv 2
rho 0.25
label 1 -1
nr_sv 1 1
SV
1 1:0.5 3:2
-1 2:1
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("SV\n1", "1", "no line 'SV'"),
        ("c_svc", "d_svc", "d_svc"),
        ("rbf", "bessel", "bessel"),
        ("gamma 0.5", "gamma nan", "finite"),
        ("gamma 0.5\n", "", "gamma"),
        ("rho 0.25", "rho 0.25 1", "rho"),
        ("label 1 -1", "label 1 1", "label"),
        ("nr_sv 1 1", "nr_sv 1 2", "nr_sv"),
        ("total_sv 2", "total_sv 3", "promises 3"),
        ("3:2", "3:nan", "NaN"),
        ("3:2", "3:x", "x"),
        ("3:2", "0:2", "index"),
        ("-1 2:1", "", "promises 2"),
        ("-1 2:1", "inf 2:1", "infinite"),
    ],
)
def test_a_damaged_file_is_refused(old, new, words, tmp_path):
    (tmp_path / "m").write_text(GOOD)
    assert load_libsvm(tmp_path / "m").classes_.tolist() == [-1, 1]
    (tmp_path / "m").write_text(GOOD.replace(old, new, 1))
    with pytest.raises(ModelFileError, match=words):
        load_libsvm(tmp_path / "m")


def test_a_file_cut_inside_its_last_line_is_refused(tmp_path):
    whole = GOOD.replace("-1 2:1", "-1 2:1.25")
    for length in range(whole.index("-1 2:1.25") + 1, len(whole)):
        (tmp_path / "m").write_text(whole[:length])
        with pytest.raises(ModelFileError, match="truncated"):
            load_libsvm(tmp_path / "m")


MARKED = GOOD.replace("c_svc", "one_class").replace("label 1 -1\nnr_sv 1 1\n", "")


@pytest.mark.parametrize("marks", ["1 2 3", "0 1 2 3 4 5 6 7 8 nan", "0 1 2 3 4 5 6 7 9 8"])
def test_damaged_marks_are_refused(marks, tmp_path):
    (tmp_path / "m").write_text(MARKED.replace("rho", f"prob_density_marks {marks}\nrho"))
    with pytest.raises(ModelFileError, match="prob_density_marks"):
        load_libsvm(tmp_path / "m")


def test_linear_kernel_objects_are_linear_kernels(tmp_path):
    save_libsvm(mm.SVC(kernel=Linear()).fit(X, SIGNS), tmp_path / "m")
    assert WORDS.dtype.kind == "U"
    assert "kernel_type linear" in (tmp_path / "m").read_text()
