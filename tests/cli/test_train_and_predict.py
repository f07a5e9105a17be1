"""From a file of rows to a model file, and from there to predictions."""

import csv
import io

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_iris
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import maxmargin
from maxmargin import SVC

X, y = load_iris(return_X_y=True)
NAMES = load_iris().target_names


def test_a_model_predicts_what_the_library_predicts(run, folder):
    result = run("train", "iris.csv", "--C", "10", "--gamma", "0.3", "--json")
    assert result.code == 0, result.err
    reference = make_pipeline(StandardScaler(), SVC(C=10, gamma=0.3)).fit(X, NAMES[y])
    assert result.json["training"]["accuracy"] == reference.score(X, NAMES[y])
    assert result.json["certificate"]["status"] == "converged"
    assert result.json["bytes"] == (folder / "iris.maxmargin").stat().st_size
    predicted = run("predict", "iris.maxmargin", "iris.csv").out.split()
    assert_array_equal(predicted, reference.predict(X))
    lines = list(
        csv.reader(io.StringIO(run("predict", "iris.maxmargin", "iris.csv", "--decision").out))
    )
    assert lines[0] == ["prediction", *(f"decision {name}" for name in NAMES)]
    found = np.array([line[1:] for line in lines[1:]], float)
    assert_allclose(found, reference.decision_function(X), rtol=1e-12)


def test_what_is_shown_is_one_table(run):
    result = run("train", "iris.csv", "--holdout", "0.2")
    assert "numbers standardised (--no-scale" in result.err
    for word in ("accuracy, test", "certificate", "converged", "support vectors", "time", "KB"):
        assert word in result.out
    assert "\x1b[" not in result.out  # colours are for terminals


def test_without_scaling_the_machine_sees_the_columns_as_they_are(run):
    result = run("train", "iris.csv", "--no-scale", "--model", "plain.maxmargin")
    assert "standardised" not in result.err
    assert_array_equal(
        run("predict", "plain.maxmargin", "iris.csv").out.split(),
        SVC().fit(X, NAMES[y]).predict(X),
    )
    assert isinstance(maxmargin.load("plain.maxmargin"), SVC)


@pytest.mark.parametrize("scale", ["--scale", "--no-scale"])
def test_text_columns_travel_with_the_model(run, folder, scale):
    table = "size,colour,fruit\n" + "10,red,apple\n30,green,melon\n12,red,apple\n28,green,melon\n"
    (folder / "fruit.csv").write_text(table)
    trained = run("train", "fruit.csv", scale)
    assert "one column for each value of colour" in trained.err
    assert ("numbers standardised" in trained.err) == (scale == "--scale")
    (folder / "new.csv").write_text("colour,size\ngreen,29\nred,11\n")
    assert run("predict", "fruit.maxmargin", "new.csv").out.split() == ["melon", "apple"]
    unknown = run("predict", "fruit.maxmargin", "-", stdin="colour,size\nblue,29\n")
    assert unknown.code == 1
    assert "row 1, column 'colour': 'blue' was not there at training" in unknown.err


@pytest.mark.parametrize(
    ("machine", "score"),
    [
        ("svc", "accuracy"),
        ("nusvc", "accuracy"),
        ("linear", "accuracy"),
        ("svr", "rmse"),
        ("nusvr", "rmse"),
        ("linear-svr", "rmse"),
        ("oneclass", "inside"),
    ],
)
def test_every_machine_is_trained_evaluated_and_proved(run, folder, machine, score):
    columns = {f"c{i}": X[:, i] for i in range(3)} | {
        "target": y if score == "accuracy" else X[:, 3]
    }
    pyarrow.parquet.write_table(pa.table(columns), folder / "data.parquet")
    more = ["--nu", "0.3"] if machine in ("nusvc", "oneclass") else []
    arguments = ["data.parquet", "--machine", machine, *more]
    if machine == "oneclass":
        arguments += ["--drop", "target"]
    trained = run("train", *arguments, "--json")
    assert trained.code == 0, trained.err
    rest = ["--drop", "target"] if machine == "oneclass" else []
    evaluated = run("evaluate", "data.maxmargin", "data.parquet", *rest, "--json")
    assert evaluated.json[score] == trained.json["training"][score]
    proved = run("certify", "data.maxmargin", "data.parquet", *rest, "--json")
    assert proved.code == 0, proved.err
    assert proved.json["holds"]
    assert_allclose(proved.json["primal"], trained.json["certificate"]["primal"], rtol=1e-9)


def test_a_target_with_fractions_is_for_a_regressor(run, folder):
    rows, target = load_diabetes(return_X_y=True)
    np.savez(folder / "diabetes.npz", X=rows, y=target + 0.5)
    assert run("train", "diabetes.npz", "--json").json["machine"] == "SVR"


def test_probabilities(run):
    assert run("train", "iris.csv", "--probability", "--json").code == 0
    result = run("predict", "iris.maxmargin", "iris.csv", "--probability", "--json")
    shares = np.array([result.json[f"probability {name}"] for name in NAMES])
    assert_allclose(shares.sum(axis=0), 1)
    assert_array_equal(NAMES[shares.argmax(axis=0)], result.json["predictions"])


def test_held_out_rows_are_not_trained_on_and_can_be_proved(run, folder):
    trained = run("train", "iris.csv", "--holdout", "0.2", "--json").json
    assert trained["rows"] == 120
    assert sum(each["rows"] for each in trained["test"]["classes"]) == 30
    assert run("certify", "iris.maxmargin", "iris.csv").code == 0  # it splits the file again


def test_a_test_file_is_read_by_the_models_names(run, folder):
    text = (folder / "iris.csv").read_text().splitlines()
    cells = [line.split(",") for line in text]
    (folder / "test.csv").write_text("\n".join(",".join(line[::-1]) for line in cells))
    result = run("train", "iris.csv", "--test", "test.csv", "--json")
    assert result.json["test"]["accuracy"] == pytest.approx(
        make_pipeline(StandardScaler(), SVC()).fit(X, y).score(X, y)
    )


def test_evaluate_shows_the_confusion_matrix_and_each_class(run):
    run("train", "iris.csv")
    result = run("evaluate", "iris.maxmargin", "iris.csv")
    for word in ("accuracy", "AUC", "precision", "recall", "true \\ predicted", "virginica"):
        assert word in result.out
    found = run("evaluate", "iris.maxmargin", "iris.csv", "--json").json
    assert np.trace(found["confusion"]) / 150 == found["accuracy"]
    assert 0.9 < found["auc"] <= 1


def test_a_proof_that_does_not_hold_is_exit_code_3(run):
    stopped = run("train", "iris.csv", "--max-iter", "3", "--json")
    assert stopped.code == 3
    assert "out of iterations" in stopped.err
    proved = run("certify", "iris.maxmargin", "iris.csv", "--json")
    assert proved.code == 3
    assert not proved.json["holds"]


def test_other_rows_prove_nothing(run, folder):
    run("train", "iris.csv")
    lines = (folder / "iris.csv").read_text().splitlines()
    (folder / "turned.csv").write_text("\n".join([lines[0], *lines[:0:-1]]))
    result = run("certify", "iris.maxmargin", "turned.csv")
    assert result.code == 1
    assert "not the rows it was trained on, or they are in another order" in result.err


def test_a_race(run, folder):
    result = run("race", "iris.csv", "--solver", "block", "--solver", "second-order", "--json")
    assert [each["solver"] for each in result.json["solvers"]] == ["block", "second-order"]
    assert all(each["status"] == "converged" for each in result.json["solvers"])
    shown = run("race", "iris.csv", "--solver", "block", "--picture", "race.png")
    assert "setosa against the rest" in shown.err
    assert (folder / "race.png").stat().st_size > 10_000


def test_a_prediction_is_a_line_whatever_the_class_is_called(run, folder):
    text = 'size,kind\n1,"a\nb"\n2,"a\nb"\n8,"c, d"\n9,"c, d"\n'
    (folder / "lines.csv").write_text(text)
    run("train", "lines.csv")
    found = run("predict", "lines.maxmargin", "lines.csv").out
    assert found == '"a\nb"\n"a\nb"\nc, d\nc, d\n'
    table = run("predict", "lines.maxmargin", "lines.csv", "--decision").out
    assert [line[0] for line in csv.reader(io.StringIO(table))][1:] == ["a\nb"] * 2 + ["c, d"] * 2


FRUIT = "weight,colour,fruit\n" + "".join(
    f"{100 + i},{'green' if i % 2 else 'red'},{'pear' if i % 2 else 'apple'}\n" for i in range(20)
)


def test_values_of_text_that_training_has_not_seen(run, folder):
    (folder / "fruit.csv").write_text(FRUIT)
    (folder / "new.csv").write_text("weight,colour\n101,blue\n102,red\n")
    assert run("train", "fruit.csv").code == 0
    refused = run("predict", "fruit.maxmargin", "new.csv")
    assert refused.code == 1
    assert "new.csv: row 1, column 'colour': 'blue' was not there at training" in refused.err
    assert "--unknown ignore" in refused.err
    assert run("train", "fruit.csv", "--unknown", "ignore").code == 0
    assert len(run("predict", "fruit.maxmargin", "new.csv").out.splitlines()) == 2


def test_a_value_that_only_held_out_rows_have_is_named(run, folder):
    (folder / "fruit.csv").write_text(FRUIT.replace("103,green", "103,blue"))
    found = [run("train", "fruit.csv", "--holdout", "0.5", "--seed", seed) for seed in range(8)]
    refused = [each for each in found if each.code]
    assert refused
    assert "fruit.csv: column 'colour': 'blue' is only in rows that --holdout" in refused[0].err
    options = ["--holdout", "0.5", "--unknown", "ignore", "--seed", found.index(refused[0])]
    assert run("train", "fruit.csv", *options).code == 0


def test_another_delimiter(run, folder):
    (folder / "fruit.txt").write_text(FRUIT.replace(",", "^"))
    assert run("train", "fruit.txt", "--delimiter", "^").code == 0


def test_identifiers_are_named_and_left_out(run, folder):
    lines = [f"r{i:03},{i % 7},{'pear' if i % 7 > 3 else 'apple'}" for i in range(200)]
    (folder / "a.csv").write_text("\n".join(["id,weight,fruit", *lines]) + "\n")
    (folder / "b.csv").write_text("id,weight\nnew,6\nr001,0\n")
    (folder / "c.csv").write_text("weight\n6\n0\n")
    trained = run("train", "a.csv", "--holdout", "0.3")
    assert trained.code == 0
    assert "a.csv: left out 'id': nearly every row has a value of its own" in trained.err
    for name in ("b.csv", "c.csv"):
        assert run("predict", "a.maxmargin", name).out.split() == ["pear", "apple"]
    kept = run("train", "a.csv", "--text", "id", "--json")
    assert kept.json["features"] == 2


GAPS = "weight,colour,fruit\n" + "".join(
    f"{'' if i % 5 == 0 else 100 + i},{'' if i % 7 == 0 else 'green' if i % 2 else 'red'},"
    f"{'pear' if i % 2 else 'apple'}\n"
    for i in range(40)
)


@pytest.mark.parametrize("more", [[], ["--indicator"], ["--no-scale"], ["--holdout", "0.3"]])
def test_missing_values_are_filled_in_if_that_is_asked_for(run, folder, more):
    (folder / "gaps.csv").write_text(GAPS)
    refused = run("train", "gaps.csv")
    assert refused.code == 1
    assert "row 1, column 'weight': the value is missing" in refused.err
    assert "--impute" in refused.err
    trained = run("train", "gaps.csv", "--impute", *more)
    assert trained.code == 0, trained.err
    assert "missing values of 'weight', 'colour' filled in" in trained.err
    (folder / "new.csv").write_text("weight,colour\n,green\n130,\n,\n")
    assert len(run("predict", "gaps.maxmargin", "new.csv").out.split()) == 3
    assert run("evaluate", "gaps.maxmargin", "gaps.csv").code == 0
    assert run("certify", "gaps.maxmargin", "gaps.csv").code == 0


def test_a_missing_number_is_its_columns_median_and_missing_text_the_most_frequent(run, folder):
    (folder / "gaps.csv").write_text(GAPS)
    assert run("train", "gaps.csv", "--impute").code == 0
    rows = [line.split(",") for line in GAPS.splitlines()[1:]]
    median = np.median([float(weight) for weight, _, _ in rows if weight])
    colours = [colour for _, colour, _ in rows if colour]
    common = max(sorted(set(colours)), key=colours.count)
    (folder / "new.csv").write_text(f"weight,colour\n,{common}\n{median},{common}\n{median},\n")
    found = run("predict", "gaps.maxmargin", "new.csv", "--decision", "--json").json
    assert len(set(found["decision"])) == 1


@pytest.mark.parametrize("kind", ["npz", "parquet"])
def test_missing_numbers_of_arrays_and_tables_are_filled_in(run, folder, kind):
    gaps = np.where(np.arange(X.size).reshape(X.shape) % 11 == 0, np.nan, X)
    if kind == "npz":
        np.savez(folder / "data.npz", X=gaps, y=y)
    else:
        table = pa.table({**{f"c{i}": gaps[:, i] for i in range(4)}, "target": y})
        pyarrow.parquet.write_table(table, folder / "data.parquet")
    assert run("train", f"data.{kind}").code == 1
    trained = run("train", f"data.{kind}", "--impute", "--json")
    wanted = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), SVC()).fit(gaps, y)
    assert trained.json["training"]["accuracy"] == pytest.approx(wanted.score(gaps, y))
    assert run("evaluate", "data.maxmargin", f"data.{kind}").code == 0


def test_a_column_without_any_value_cannot_be_filled_in(run, folder):
    (folder / "empty.csv").write_text("a,b,y\n,1,u\n,2,v\n")
    refused = run("train", "empty.csv", "--impute")
    assert refused.code == 1
    assert "column 'a' has no value at all" in refused.err
    assert run("train", "iris.csv", "--indicator").code == 2


def test_marks_of_thousands_are_read_if_they_are_asked_for(run, folder):
    lines = [f'"{1000 * i + 0.82:,.2f}",{i},{"dear" if i > 9 else "cheap"}' for i in range(20)]
    (folder / "prices.csv").write_text("\n".join(["price,size,kind", *lines]) + "\n")
    refused = run("train", "prices.csv")
    assert refused.code == 1
    assert "--thousands ," in refused.err
    assert run("train", "prices.csv", "--thousands", ",", "--json").json["features"] == 2
    predicted = run("predict", "prices.maxmargin", "prices.csv", "--thousands", ",").out.split()
    assert predicted == ["cheap"] * 10 + ["dear"] * 10
    (folder / "plain.csv").write_text("price,size\n1000.82,1\n19000.82,19\n")
    assert run("predict", "prices.maxmargin", "plain.csv").out.split() == ["cheap", "dear"]


@pytest.mark.parametrize("packed", ["a.csv.gz", "a.csv.zst", "a.arrows", "a.arrows.gz"])
def test_compressed_files_and_streams_of_arrow_are_trained_on(run, folder, packed):
    table = pyarrow.csv.read_csv(folder / "iris.csv")
    data = (folder / "iris.csv").read_bytes()
    if "arrows" in packed:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        data = sink.getvalue().to_pybytes()
    if packed.endswith((".gz", ".zst")):
        codec = "gzip" if packed.endswith(".gz") else "zstd"
        with pa.CompressedOutputStream(str(folder / packed), codec) as file:
            file.write(data)
    else:
        (folder / packed).write_bytes(data)
    trained = run("train", packed, "--json")
    assert trained.json["training"] == run("train", "iris.csv", "--json").json["training"]
