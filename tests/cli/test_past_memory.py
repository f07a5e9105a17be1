"""`train --memory`: rows of a file or a folder that memory does not hold; `predict` in parts."""

import gzip
import os

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file

import maxmargin
from maxmargin.datasets import moons

X, Y = moons(3000, seed=1)
COLOURS = np.array(["red", "green", "blue"])[np.random.default_rng(0).integers(3, size=3000)]
NUMBERS = pa.table({"a": 100 * X[:, 0], "b": X[:, 1] + 7, "label": Y})
MIXED = NUMBERS.add_column(1, "colour", [pa.array(COLOURS)])
LEAST = ("--memory", 2)  # MB: parts of a few hundred rows


def write_csv(path, table):
    pa.csv.write_csv(table, path)


def write_gzip(path, table):
    pa.csv.write_csv(table, path)
    path.write_bytes(gzip.compress(path.read_bytes()))


def write_parquet(path, table):
    pa.parquet.write_table(table, path, row_group_size=700)


def write_npz(path, table):
    np.savez_compressed(path, X=np.column_stack([table["a"], table["b"]]), y=table["label"])


def write_npy(path, table):
    np.save(path, np.column_stack([table["a"], table["b"], table["label"]]))


def write_libsvm(path, table):
    rows = np.column_stack([table["a"], table["b"]])
    dump_svmlight_file(rows, table["label"], str(path), zero_based=False)


FORMATS = {
    "csv": write_csv,
    "csv.gz": write_gzip,
    "parquet": write_parquet,
    "arrow": lambda path, table: pa.feather.write_feather(table, path),
    "npz": write_npz,
    "npy": write_npy,
    "svm": write_libsvm,
}


@pytest.mark.parametrize("suffix", FORMATS)
def test_parts_give_the_machine_of_all_rows(run, folder, suffix):
    FORMATS[suffix](folder / f"rows.{suffix}", NUMBERS)
    options = (f"rows.{suffix}", "--tol", "1e-6", "--json")
    whole = run("train", *options, "--model", "whole.maxmargin")
    parts = run("train", *options, *LEAST, "--model", "parts.maxmargin")
    assert parts.code == whole.code == 0, parts.err
    assert parts.json["rows"] == whole.json["rows"] == 3000
    assert parts.json["certificate"]["dual"] == pytest.approx(whole.json["certificate"]["dual"])
    assert parts.json["training"]["accuracy"] == pytest.approx(whole.json["training"]["accuracy"])
    assert_array_equal(
        run("predict", "parts.maxmargin", f"rows.{suffix}").out.split(),
        run("predict", "whole.maxmargin", f"rows.{suffix}").out.split(),
    )


def test_columns_of_text_and_standardised_numbers_travel_with_the_model(run, folder):
    write_csv(folder / "rows.csv", MIXED)
    whole = run("train", "rows.csv", "--tol", "1e-6", "--model", "whole.maxmargin", "--json")
    parts = run(
        "train", "rows.csv", *LEAST, "--tol", "1e-6", "--model", "parts.maxmargin", "--json"
    )
    assert parts.json["certificate"]["dual"] == pytest.approx(whole.json["certificate"]["dual"])
    ours, theirs = (maxmargin.load(f"{name}.maxmargin") for name in ("parts", "whole"))
    assert_allclose(ours.decision_function(MIXED), theirs.decision_function(MIXED), atol=1e-4)


def test_a_folder_is_its_files_and_folders_of_hive_are_columns(run, folder):
    for colour in ("red", "green", "blue"):
        inside = folder / "many" / f"colour={colour}"
        inside.mkdir(parents=True)
        some = NUMBERS.filter(pa.array(colour == COLOURS))
        write_parquet(inside / "part-0.parquet", some.slice(0, 300))
        write_parquet(inside / "part-1.parquet", some.slice(300))
        (inside / "_SUCCESS").write_text("")
    options = ("--target", "label", "--tol", "1e-6", "--json")
    result = run("train", "many", *LEAST, *options, "--model", "many.maxmargin")
    assert result.code == 0, result.err
    write_csv(folder / "rows.csv", MIXED)
    whole = run("train", "rows.csv", *options)
    assert result.json["rows"] == 3000
    assert result.json["features"] == 3
    assert result.json["certificate"]["dual"] == pytest.approx(whole.json["certificate"]["dual"])
    assert "is a folder" in run("train", "many").err


@pytest.mark.parametrize(
    "options",
    [
        ("--machine", "svr", "--target", "b", "--C", "100"),
        ("--machine", "oneclass", "--nu", "0.1", "--target", "label"),
        ("--approximation", "nystroem", "--components", "50", "--tol", "1e-3"),
        ("--machine", "linear"),
        ("--machine", "linear-svr", "--target", "b"),
    ],
)
def test_other_machines_too(run, folder, options):
    write_csv(folder / "rows.csv", NUMBERS)
    result = run("train", "rows.csv", *LEAST, *options, "--holdout", "0.2", "--json")
    assert result.code == 0, result.err
    assert 2300 < result.json["rows"] < 2500
    (score,) = result.json["test"].values()
    assert score > 0.4


def test_identifiers_are_named_and_left_out(run, folder):
    names = pa.array([f"customer {i}" for i in range(3000)])
    write_csv(folder / "rows.csv", MIXED.add_column(0, "who", [names]))
    result = run("train", "rows.csv", *LEAST)
    assert result.code == 0, result.err
    assert "left out 'who'" in result.err
    assert run("predict", "rows.maxmargin", "rows.csv").code == 0


def test_a_fault_far_below_is_named(run, folder):
    write_csv(folder / "rows.csv", pa.concat_tables([NUMBERS] * 3))
    with (folder / "rows.csv").open("a") as file:
        file.write("1,,1\n")
    result = run("train", "rows.csv", *LEAST)
    assert result.code == 1
    assert "rows.csv, below its row" in result.err
    assert "column 'b': the value is missing" in result.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-", *LEAST, "--model", "m.maxmargin"), "give a file or a folder, not a pipe"),
        (("iris.csv", *LEAST, "--tune"), "--tune needs all rows at once"),
        (("iris.csv", *LEAST, "--impute"), "--impute needs all rows at once"),
    ],
)
def test_what_needs_all_rows_says_so(run, options, words):
    result = run("train", *options)
    assert result.code == 2
    assert words in result.err


def test_too_little_memory_is_refused_before_the_training(run, folder):
    rows = np.zeros((70_000, 2))
    rows[::2] = 1
    np.savez(folder / "rows.npz", X=rows, y=rows[:, 0].astype(int))
    result = run("train", "rows.npz", "--memory", 1)
    assert result.code == 1
    assert "more than half of what --memory gives" in result.err
    write_parquet(folder / "wide.parquet", pa.table({f"x{i}": X[:, 0] for i in range(200)}))
    assert "a page of each of its 200 columns" in run("train", "wide.parquet", "--memory", 1).err


def peak(process):
    """Megabytes that a process had in memory at most."""
    with process:
        process.stdout.read()
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, error
    return usage.ru_maxrss / 1024


@pytest.fixture
def wide(folder):
    """A table of more bytes than the memory given, and its first rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=150_000)
    rows = rng.normal(size=(150_000, 50)) + 1.1 * np.where(y, 1, -1)[:, None] * (np.arange(50) < 8)
    table = pa.table({**{f"x{j}": rows[:, j].round(4) for j in range(50)}, "label": y})
    for name, some in (("wide", table), ("few", table.slice(0, 2000))):
        pa.csv.write_csv(some, folder / f"{name}.csv")
        pa.parquet.write_table(some, folder / f"{name}.parquet", row_group_size=4000)
    return table


@pytest.mark.parametrize(
    "options",
    [
        (".csv",),
        (".parquet", "--approximation", "rff", "--components", "100"),
        (".csv", "--machine", "linear"),
    ],
)
def test_the_memory_given_is_the_limit(start, wide, options):
    """Peak resident memory, less that of the same command on few rows, is within 1.1 × of it."""
    suffix, *others = options
    memory = 40
    assert wide.nbytes > 1.4 * memory * 2**20
    few, all_rows = (
        peak(start("train", name + suffix, "--memory", memory, *others, "--model", "m.maxmargin"))
        for name in ("few", "wide")
    )
    assert all_rows - few <= 1.1 * memory


def test_predictions_are_streamed(start, run, wide):
    run("train", "few.csv")
    few, all_rows = (
        peak(start("predict", "few.maxmargin", f"{name}.csv", "--output", "out.txt"))
        for name in ("few", "wide")
    )
    assert all_rows - few < 0.8 * wide.nbytes / 2**20
