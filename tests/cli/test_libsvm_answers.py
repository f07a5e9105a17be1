"""Debian's svm-train and svm-predict, of libsvm-tools, judge ours: the answers are LIBSVM's."""

import re
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file, load_digits

from maxmargin.cli.svm_train import TrainOptions
from maxmargin.io import load, load_libsvm, save, save_libsvm
from maxmargin.problem import Status

KERNELS = ["-t 0", "-t 1 -r 1", "-t 2", "-t 3 -g 0.01", "-t 4"]
TRAIN, TEST = 150, 400


def digits(count):
    """Rows of some digits, labels in no order, and noise: many ties in votes."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    some = rng.permutation(np.flatnonzero(y < count))[: TRAIN + TEST]
    noise = rng.normal(0, 0.3, (len(some), X.shape[1]))
    return (X[some] / 16 + noise).round(3), (y[some] * 7 + 3) % 10


def written(folder, X, y, precomputed):
    """A training and a test file; of the linear kernel's values if it is precomputed."""
    for name, part in (("train", slice(TRAIN)), ("test", slice(TRAIN, None))):
        if not precomputed:
            dump_svmlight_file(X[part], y[part], str(folder / name), zero_based=False)
            continue
        K = X[part] @ X[:TRAIN].T
        lines = (
            f"{label} 0:{i} " + " ".join(f"{j}:{value:.17g}" for j, value in enumerate(row, 1))
            for i, (label, row) in enumerate(zip(y[part], K, strict=True), 1)
        )
        (folder / name).write_text("\n".join(lines) + "\n")


def debian(*arguments):
    """Run LIBSVM's own program; what it said."""
    done = subprocess.run([*map(str, arguments)], capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def test_every_machine_and_kernel(run, folder):
    """A model of either program gets the same answers from both."""
    for kind in range(5):
        for kernel in KERNELS:
            for extra in ("", "-b 1", "-w3 5 -w4 0.5"):
                if (kind == 2 and "-b" in extra) or (kind and "-w" in extra):
                    continue  # LIBSVM 3.24 has no probabilities of one-class, weights only of C-SVC
                judge(run, folder, f"-s {kind} {kernel} {extra} -n 0.2".split(), 5)


@pytest.mark.parametrize("count", [2, 3, 10])
def test_several_classes(run, folder, count):
    judge(run, folder, ["-s", "0", "-t", "2", "-b", "1"], count)


def judge(run, folder, options, count):
    X, y = digits(count)
    written(folder, X, y, "4" in options[3])
    debian("svm-train", "-q", *options, "train", "theirs")
    result = run("svm-train", "-q", *options, "train", "ours")
    assert result.code == 0, (options, result.err)
    for model in ("theirs", "ours"):
        for probable in ["0", "1"] if "-b" in options else ["0"]:
            debian("svm-predict", "-b", probable, "test", model, "wanted")
            run("svm-predict", "-b", probable, "test", model, "found")
            wanted, found = ((folder / name).read_text() for name in ("wanted", "found"))
            if options[1] in "34":
                assert_allclose(*(np.array(t.split(), float) for t in (found, wanted)), rtol=1e-6)
            else:
                assert found == wanted, (options, model)


def test_a_model_keeps_them_wherever_it_goes(folder):
    """load_libsvm, save, load and save_libsvm: the same labels and probabilities."""
    X, y = digits(10)
    written(folder, X, y, False)
    debian("svm-train", "-q", "-b", "1", "train", "m")
    debian("svm-predict", "-b", "0", "test", "m", "labels")
    debian("svm-predict", "-b", "1", "test", "m", "shares")
    model = load_libsvm("m", n_features=X.shape[1], dense=True)
    save(model, "m.maxmargin")
    save_libsvm(load("m.maxmargin"), "n")
    order = [int(each) for each in (folder / "shares").read_text().splitlines()[0].split()[1:]]
    shares = np.loadtxt("shares", skiprows=1)[:, 1:][:, np.argsort(order)]
    for each in (model, load("m.maxmargin"), load_libsvm("n", n_features=X.shape[1], dense=True)):
        assert_array_equal(each.predict(X[TRAIN:]), np.loadtxt("labels"))
        assert_array_equal(
            each.decision_function(X[TRAIN:]).argmax(axis=1), each.predict(X[TRAIN:])
        )
        assert_allclose(each.predict_proba(X[TRAIN:]), shares, rtol=1e-5)  # they print 6 digits
    assert not hasattr(model.set_params(probability=False).fit(X, y), "label_order_")


def test_a_decision_of_zero_is_a_vote_for_the_second_label(run, folder):
    (folder / "m").write_text(
        "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0\nlabel 1 2\n"
        "nr_sv 1 1\nSV\n1 1:1\n-1 1:-1\n"
    )
    (folder / "zero").write_text("1 2:1\n")
    debian("svm-predict", "zero", "m", "wanted")
    run("svm-predict", "zero", "m", "found")
    assert (folder / "found").read_text() == (folder / "wanted").read_text() == "2\n"


def test_the_weight_of_an_absent_label_is_a_warning(run, folder):
    X, y = digits(3)
    written(folder, X, y, False)
    said = debian("svm-train", "-q", "-w99", "2", "train", "m")
    result = run("svm-train", "-q", "-w99", "2", "train", "m")
    assert result.code == 0
    assert result.err == said.strip()


@pytest.mark.parametrize("options", ["-s 0", "-s 1 -t 1 -r 1 -n 0.2"])
def test_the_log_has_their_values_in_their_order(run, folder, options):
    X, y = digits(5)
    written(folder, X, y, False)
    arguments = [*options.split(), "-e", "1e-5", "train", "m"]
    logs = run("svm-train", *arguments).out, debian("svm-train", *arguments)
    value = re.compile(r"(?:obj|rho) = (-?[\d.]+)")
    ours, theirs = (np.array([float(each) for each in value.findall(log)]) for log in logs)
    assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3)


def test_the_stopping_rule_is_theirs(folder):
    """`tol` bounds the KKT violation alone, whatever the duality gap is."""
    X, y = digits(10)
    for options in ("-s 0 train", "-s 1 -n 0.2 train", "-s 2 train", "-s 3 train", "-s 4 train"):
        machine = TrainOptions.of(options.split()).machine(y).fit(X, y)
        assert machine.criterion == "kkt"
        assert all(proof.status is Status.CONVERGED for proof in machine.certificates_)
        assert max(proof.kkt_violation for proof in machine.certificates_) <= 1e-3


@pytest.mark.parametrize("program", ["svm-train", "svm-predict", "svm-scale"])
def test_help_lists_the_options(run, program):
    result = run(program, "--help")
    assert result.code == 0
    assert result.out.startswith(f"Usage: {program} [options]")
    assert "\n-" in result.out
