"""LIBSVM's programs: its own library reads our files, and we read its."""

import ctypes
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from libsvm.svm import gen_svm_nodearray, libsvm
from libsvm.svmutil import svm_load_model, svm_read_problem, svm_save_model, svm_train
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file, load_breast_cancer, load_diabetes, load_iris
from sklearn.preprocessing import minmax_scale

from maxmargin.io import load_libsvm

SETS = {
    "binary": (load_breast_cancer, lambda y: 2 * y - 1),
    "several": (load_iris, lambda y: y + 1),
    "numbers": (load_diabetes, lambda y: y),
}


@pytest.fixture
def data(folder):
    """Writes a set as LIBSVM text."""

    def written(name, suffix=""):
        load, label = SETS[name]
        X, y = load(return_X_y=True)
        some = np.random.default_rng(0).permutation(len(y))[75 * bool(suffix) :][:75]
        path = folder / (name + suffix)
        with path.open("wb") as file:
            dump_svmlight_file(
                minmax_scale(X, (-1, 1)).round(4)[some], label(y)[some], file, zero_based=False
            )
        return path

    return written


def by_them(model, rows):
    """Their predictions, row by row: `svmutil.svm_predict` overruns a buffer for nu-SVC."""
    return [libsvm.svm_predict(model, gen_svm_nodearray(row)[0]) for row in rows]


CASES = [
    ("binary", "-s 0 -c 10 -g 0.1"),
    ("several", "-s 0 -t 0"),
    ("several", "-s 0 -t 1 -d 2 -r 1 -w1 3"),
    ("several", "-s 1 -n 0.2"),
    ("binary", "-s 2 -n 0.1"),
    ("numbers", "-s 3 -c 100 -p 5"),
    ("numbers", "-s 4 -c 100 -n 0.3"),
]


@pytest.mark.parametrize(("name", "options"), CASES)
def test_our_files_and_theirs_predict_alike(run, data, folder, name, options):
    path = data(name)
    y, rows = svm_read_problem(str(path))
    other = data(name, ".t")  # no row of it is on the border of a one-class machine
    _, others = svm_read_problem(str(other))
    assert run("svm-train", *options.split(), "-e", "1e-6", path, "ours.model").code == 0
    reference = svm_train(y, rows, f"{options} -e 1e-6 -q")
    svm_save_model(str(folder / "theirs.model"), reference)
    expected = by_them(reference, others)
    for model in ("theirs.model", "ours.model"):
        result = run("svm-predict", other, model, "out")
        assert result.code == 0, result.err
        found = np.loadtxt(folder / "out")
        assert_allclose(found, expected, rtol=1e-4, atol=1e-3)
    crossed = by_them(svm_load_model(str(folder / "ours.model")), others)
    assert_allclose(crossed, found, rtol=1e-9)


def test_what_is_printed_has_their_words_and_values(run, data, capfd):
    path = data("binary")
    y, rows = svm_read_problem(str(path))
    svm_train(y, rows, "-c 10 -e 1e-6")
    ctypes.CDLL(None).fflush(None)
    theirs = capfd.readouterr().out
    ours = run("svm-train", "-c", "10", "-e", "1e-6", path).out
    number = re.compile(r"-?[\d.]+")
    iterations = re.compile(r"^\.*\*\.*\**$|#iter = \d+", re.MULTILINE)
    assert number.sub("#", iterations.sub("", ours)).split() == (
        number.sub("#", iterations.sub("", theirs)).split()
    )
    values = re.compile(r"(nu|obj|rho|nSV|nBSV) = (-?[\d.]+)")
    for (name, mine), (_, other) in zip(values.findall(ours), values.findall(theirs), strict=True):
        assert abs(float(mine)) == pytest.approx(abs(float(other)), rel=1e-3, abs=1e-4), name
    assert (path.parent / "binary.model").exists()


def test_accuracy_and_errors_are_printed_as_theirs(run, data):
    path = data("several")
    run("svm-train", path)
    assert re.fullmatch(
        r"Accuracy = [\d.]+% \(\d+/75\) \(classification\)\n",
        run("svm-predict", path, "several.model", "out").out,
    )
    path = data("numbers")
    run("svm-train", "-s", "3", path)
    assert re.fullmatch(
        r"Mean squared error = [\d.]+ \(regression\)\n"
        r"Squared correlation coefficient = [\d.]+ \(regression\)\n",
        run("svm-predict", path, "numbers.model", "out").out,
    )


def test_probabilities_are_in_the_order_of_the_models_labels(run, data, folder):
    path = data("several")
    run("svm-train", "-b", "1", path, "m")
    run("svm-predict", "-b", "1", path, "m", "out")
    head, *lines = (folder / "out").read_text().splitlines()
    labels = [int(each) for each in head.split()[1:]]
    table = np.array([[float(each) for each in line.split()] for line in lines])
    assert_allclose(table[:, 1:].sum(axis=1), 1, atol=1e-4)
    assert_array_equal(np.array(labels)[table[:, 1:].argmax(axis=1)], table[:, 0])


def test_a_regressor_has_the_scale_of_its_errors(run, data, folder):
    """By five folds, which LIBSVM draws otherwise: the same up to that."""
    path = data("numbers")
    trained = run("svm-train", "-s", "3", "-c", "100", "-b", "1", path, "m").out
    y, rows = svm_read_problem(str(path))
    theirs = svm_train(y, rows, "-s 3 -c 100 -b 1 -q").get_svr_probability()
    sigma = svm_load_model(str(folder / "m")).get_svr_probability()
    assert sigma == pytest.approx(theirs, rel=0.1)
    words = "target value = predicted value + z,\nz: Laplace distribution e^(-|z|/sigma)/(2sigma)"
    assert f"{words},sigma= {sigma:g}\n" in trained
    predicted = run("svm-predict", "-b", "1", path, "m", "out").out
    assert f"{words},sigma={sigma:g}\n" in predicted
    assert len((folder / "out").read_text().splitlines()) == len(y)
    assert "but disabled in prediction" in run("svm-predict", path, "m", "out").out


def test_probabilities_of_a_one_class_machine(run, data, folder):
    path = data("binary")
    y, rows = svm_read_problem(str(path))
    options = ["-s", "2", "-n", "0.3", "-b", "1", "-e", "1e-6"]
    assert run("svm-train", *options, path, "ours.model").code == 0
    reference = svm_train(y, rows, " ".join([*options, "-q"]))
    svm_save_model(str(folder / "theirs.model"), reference)
    other = data("binary", ".t")
    _, others = svm_read_problem(str(other))
    for name in ("ours.model", "theirs.model"):
        model, shares = svm_load_model(str(folder / name)), (ctypes.c_double * 2)()
        expected = []
        for row in others:
            label = libsvm.svm_predict_probability(model, gen_svm_nodearray(row)[0], shares)
            expected.append([label, *shares])
        said = run("svm-predict", "-b", "1", other, name, "out").out
        assert said.startswith("Accuracy = ")
        head, *lines = (folder / "out").read_text().splitlines()
        assert head == "label normal outlier"
        found = np.array([[float(each) for each in line.split()] for line in lines])
        assert_allclose(found, expected, atol=1e-6)
        assert "but disabled in prediction" in run("svm-predict", other, name, "out").out
    ours, theirs = (
        load_libsvm(folder / name).density_marks_ for name in ("ours.model", "theirs.model")
    )
    assert_allclose(ours, theirs, atol=0.05 * np.ptp(theirs))  # rows at 0 are on either side


def test_one_class_probabilities_survive_a_conversion(run, data):
    path = data("binary")
    run("svm-train", "-s", "2", "-b", "1", path, "m.model")
    run("svm-predict", "-b", "1", path, "m.model", "out")
    assert run("convert", "m.model", "m.maxmargin").code == 0
    head, *lines = run("predict", "m.maxmargin", path, "--probability").out.splitlines()
    assert head == "prediction,probability -1,probability 1"
    expected = (path.parent / "out").read_text().splitlines()[1:]
    for line, other in zip(lines, expected, strict=True):
        label, outlier, normal = map(float, line.split(","))
        assert_allclose([label, normal, outlier], [*map(float, other.split())], atol=1e-6)


def test_too_few_rows_for_the_probabilities_of_a_one_class_machine(run, data):
    path = data("several")
    result = run("svm-train", "-s", "2", "-n", "0.01", "-b", "1", path, "m")
    assert result.code == 0
    assert result.err.startswith("WARNING: number of positive or negative decision values <5; too")
    assert run("svm-predict", "-b", "1", path, "m", "out").code == 1


def test_probabilities_that_a_model_does_not_have(run, data):
    path = data("several")
    run("svm-train", path, "m")
    result = run("svm-predict", "-b", "1", path, "m", "out")
    assert result.code == 1
    assert result.err == "Model does not support probability estimates"


def test_a_precomputed_kernel(run, folder):
    X, y = load_iris(return_X_y=True)
    K = X[::3] @ X[::3].T
    with (folder / "K").open("w") as file:
        for i, row in enumerate(K):
            cells = " ".join(f"{j}:{value:.17g}" for j, value in enumerate(row, start=1))
            file.write(f"{y[::3][i]} 0:{i + 1} {cells}\n")
    run("svm-train", "-t", "4", "K", "m")
    _, rows = svm_read_problem(str(folder / "K"))
    expected = by_them(svm_load_model(str(folder / "m")), rows)
    run("svm-predict", "K", "m", "out")
    assert_array_equal(np.loadtxt(folder / "out"), expected)


def test_scaling_is_saved_and_restored(run, data, folder):
    X, y = load_iris(return_X_y=True)
    dump_svmlight_file(X[:100], y[:100], str(folder / "a"), zero_based=False)
    dump_svmlight_file(X[100:], y[100:], str(folder / "b"), zero_based=False)
    (folder / "a.scaled").write_text(run("svm-scale", "-s", "range", "a").out)
    (folder / "b.scaled").write_text(run("svm-scale", "-r", "range", "b").out)
    low, high = X[:100].min(axis=0), X[:100].max(axis=0)
    for name, part in (("a", X[:100]), ("b", X[100:])):
        _, rows = svm_read_problem(str(folder / f"{name}.scaled"))
        found = np.array([[row.get(j, 0.0) for j in range(1, 5)] for row in rows])
        assert_allclose(found, -1 + 2 * (part - low) / (high - low), atol=1e-5)
    assert (folder / "range").read_text().startswith("x\n-1 1\n1 4.2999999999999998 7\n")
    scaled = run("svm-scale", "-l", "0", "-y", "0", "1", "a").out.splitlines()
    assert scaled[0].startswith("0 ")
    assert scaled[-1].startswith("1 ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["svm-train", "nowhere"], "can't open input file nowhere"),
        (["svm-train", "-x", "1", "iris.csv"], "Unknown option: -x"),
        (["svm-train", "-v", "1", "iris.csv"], "n must >= 2"),
        (["svm-train", "-c", "much", "iris.csv"], "-c needs a number, not 'much'"),
        (["svm-train", "-wx", "1", "iris.csv"], "the class of -w needs a number, not 'x'"),
        (["svm-train", "iris.csv"], "Wrong input format: iris.csv: line 1"),
        (["svm-predict", "iris.csv", "nowhere", "out"], "can't open model file nowhere"),
        (["svm-scale", "-l", "1", "-u", "0", "iris.csv"], "inconsistent lower/upper"),
    ],
)
def test_what_is_wrong_is_said_as_they_say_it(run, arguments, message):
    result = run(*arguments)
    assert result.code == 1
    assert message in result.err


def test_a_model_that_is_not_text(run, data, folder):
    (folder / "m").write_bytes(b"svm_type c_svc\n\xf9\nSV\n1 1:1\n")
    result = run("svm-predict", data("several"), "m", "out")
    assert result.code == 1
    assert result.err.startswith("can't open model file m")


def test_the_program_that_grid_py_runs(data, folder):
    """grid.py needs one file to run, and takes the last word of the line with "Cross"."""
    data("several")
    program = "from maxmargin.cli import run_svm_train; run_svm_train()"
    done = subprocess.run(
        [sys.executable, "-c", program, "-c", "2.0", "-g", "0.5", "-v", "3", "several"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=folder,
        capture_output=True,
        timeout=120,
        check=True,
    )
    (line,) = [line for line in done.stdout.splitlines() if b"Cross" in line]
    assert 80 < float(line.split()[-1][:-1]) <= 100
