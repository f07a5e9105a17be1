"""Models in other formats predict the same."""

import numpy as np
import onnxruntime
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

import maxmargin

X, y = load_iris(return_X_y=True)


@pytest.fixture
def numbers(run, folder):
    """A model of numbers as they are, with numbers as classes."""
    np.savez(folder / "numbers.npz", X=X, y=y)
    assert run("train", "numbers.npz", "--no-scale").code == 0
    return "numbers.maxmargin"


def test_there_and_back_by_libsvm(run, folder, numbers):
    assert run("convert", numbers, "there.model").code == 0
    found = run("convert", "there.model", "back.maxmargin", "--json").json
    assert found["bytes"] == (folder / "back.maxmargin").stat().st_size
    first, last = maxmargin.load(numbers), maxmargin.load("back.maxmargin")
    told = run("predict", "back.maxmargin", "numbers.npz").out.split()
    assert_array_equal(first.predict(X).astype(str), told)
    assert_array_equal(first.predict(X), last.predict(X))


def test_a_pipeline_as_onnx(run, folder):
    run("train", "iris.csv")
    assert run("convert", "iris.maxmargin", "iris.onnx").code == 0
    session = onnxruntime.InferenceSession((folder / "iris.onnx").read_bytes())
    (labels,) = session.run(["label"], {"X": X})
    assert_array_equal(labels, run("predict", "iris.maxmargin", "iris.csv").out.split())


def test_what_cannot_be_converted(run, folder, numbers):
    run("train", "iris.csv")
    result = run("convert", "iris.maxmargin", "iris.model")
    assert (result.code, len(result.lines)) == (1, 1)
    assert "have no place for its preprocessing" in result.err
    assert run("convert", numbers, "model.pickle").code == 2
    assert run("convert", numbers, "a.model", "--precision", "float32").code == 2
    assert "no such model file" in run("convert", "nowhere", "a.onnx").err


@pytest.mark.parametrize("options", [[], ["--indicator"], ["--no-scale"]])
@pytest.mark.parametrize("machine", ["svc", "nusvc", "linear"])
def test_models_with_text_and_missing_values_are_onnx_too(run, folder, machine, options):
    """Text is a string of the graph, missing text "", a missing number NaN."""
    lines = [
        f"{'' if i % 5 == 0 else i % 11},{['red', 'blue', ''][i % 3]},{'pear' if i % 4 else 'fig'}"
        for i in range(60)
    ]
    (folder / "fruit.csv").write_text("\n".join(["size,colour,fruit", *lines]) + "\n")
    assert run("train", "fruit.csv", "--impute", "--machine", machine, *options).code == 0
    assert run("convert", "fruit.maxmargin", "fruit.onnx").code == 0
    cells = [line.split(",") for line in lines]
    rows = {
        "size": np.array([[float(size) if size else np.nan] for size, *_ in cells]),
        "colour": np.array([[colour] for _, colour, _ in cells], object),
    }
    session = onnxruntime.InferenceSession(folder / "fruit.onnx")
    label, scores = session.run(["label", "scores"], rows)
    found = run("predict", "fruit.maxmargin", "fruit.csv", "--decision", "--json").json
    np.testing.assert_allclose(scores, found["decision"], rtol=1e-9, atol=1e-9)
    assert label.tolist() == found["predictions"]
