"""Damaged and hostile model files: one well-worded error, nothing run, no memory taken."""

import json
import os
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import maxmargin as mm
from fitted import TWO, X, fitted
from fuzz.model_files import joined, models, mutated, parts, tried
from maxmargin import ModelFileError
from maxmargin.io.container import opened, read_arrays


@pytest.fixture
def path(tmp_path):
    mm.save(fitted("svc words").model, tmp_path / "model")
    return tmp_path / "model"


def refused(path, words):
    with pytest.raises(ModelFileError, match=words) as error:
        mm.load(path)
    assert str(path) in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        (b"", "empty"),
        (b"abc", "no model file"),
        (b"svm_type c_svc\nkernel_type rbf\n", "a model of LIBSVM.*maxmargin convert"),
        (b"\x80\x04\x95" + b"x" * 100, "no model file"),
        ((4 * 2**30).to_bytes(8, "little") + b"{}", "4,294,967,296"),
        ((2**63).to_bytes(8, "little") + b"{}", "no model file"),
        ((2).to_bytes(8, "little") + b"{}", "not one of maxmargin"),
        ((2).to_bytes(8, "little") + b"[]", "safetensors"),
        ((9 * 2**20).to_bytes(8, "little") + b" " * (9 * 2**20), "at most"),
    ],
)
def test_what_is_no_model_file(contents, words, tmp_path):
    (tmp_path / "m").write_bytes(contents)
    refused(tmp_path / "m", words)


def test_a_file_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        mm.load(tmp_path / "none")


def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "pipe, no model file")


def test_a_file_replaced_while_it_is_read_is_one_or_the_other(path, tmp_path):
    other = fitted("svc").model
    before = mm.load(path)
    with opened(path) as (file, header):
        mm.save(other, path)
        arrays = read_arrays(file, header)
    assert np.array_equal(arrays["intercept"], before.intercept_)
    assert np.array_equal(mm.load(path).intercept_, other.intercept_)


def test_no_read_beside_a_save_is_refused(path):
    one, two = mm.load(path), fitted("svc").model

    def saves():
        for number in range(100):
            mm.save((one, two)[number % 2], path)

    with ThreadPoolExecutor(3) as threads:
        savers = [threads.submit(saves) for _ in range(2)]
        while not all(each.done() for each in savers):
            mm.load(path)
    for each in savers:
        each.result()


def test_every_truncation_is_refused(path):
    whole = path.read_bytes()
    for length in [*range(0, 200, 7), *range(200, len(whole), 301), len(whole) - 1]:
        path.write_bytes(whole[:length])
        refused(path, "empty|truncated|damaged|no model file")


def test_every_changed_byte_of_the_arrays_is_noticed(path):
    whole = path.read_bytes()
    start = 8 + int.from_bytes(whole[:8], "little")
    for place in range(start, len(whole), 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        refused(path, "checksum")


def changed(path, change):
    """The file with another header, document and arrays, and the right checksum."""
    header, document, arrays = parts(path.read_bytes())
    path.write_bytes(joined(*(change(header, document, arrays) or (header, document, arrays))))


def in_array(name, number, value, dtype):
    def change(header, document, arrays):
        begin, _ = header[name]["data_offsets"]
        place = begin + number * np.dtype(dtype).itemsize
        new = np.array(value, dtype).tobytes()
        return header, document, arrays[:place] + new + arrays[place + len(new) :]

    return change


def in_document(*keys, value):
    def change(header, document, arrays):
        place = document
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return change


def in_header(name, **values):
    def change(header, document, arrays):
        header[name].update(values)

    return change


def without(name):
    def change(header, document, arrays):
        document["model"].pop(name)

    return change


DEEP = {"type": "Linear"}
for _ in range(300):
    DEEP = {"type": "Scaled", "factor": 2.0, "kernel": DEEP}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (in_document("model", "type", value="os.system"), "no machine 'os.system'"),
        (in_document("model", "type", value=["SVC"]), "does not describe"),
        (in_document("model", value=None), "does not describe"),
        (in_document("readable_by", value=7), "reads up to format 1: upgrade"),
        (in_document("readable_by", value="1"), "which format"),
        (in_document("model", "parameters", "C", value=-1.0), "'C' parameter"),
        (in_document("model", "parameters", "C", value={"number": "nan"}), "'C' parameter"),
        (
            in_document("model", "parameters", "kernel", value={"function": "eval"}),
            "your own, 'eval'",
        ),
        (in_document("model", "parameters", "solver", value={"solver": "x", "options": {}}), "'x'"),
        (in_document("model", "kernel", value=DEEP), "levels"),
        (in_document("model", "kernel", value={"type": "RBF", "gamma": "1"}), "gamma"),
        (in_document("model", "kernel", value={"type": "RBF", "gamma": -1.0}), "gamma"),
        (in_document("model", "kernel", value={"type": "RBF"}), "parameters"),
        (in_document("model", "kernel", value={"type": "__import__"}), "no kernel"),
        (in_document("model", "n_features_in", value=10**12), "n_features_in"),
        (in_document("model", "n_features_in", value=5), "shape"),
        (in_document("model", "form", value="magic"), "form"),
        (in_document("model", "rows", value=3), "out of range"),
        (in_document("model", "classes", "dtype", value="O8"), "label"),
        (in_document("model", "certificate", "status", value="fine"), "fine"),
        (without("kernel"), "kernel"),
        (in_array("support_vectors", 3, np.nan, "f8"), "NaN"),
        (in_array("dual_coef", 0, np.inf, "f8"), "infinite"),
        (in_array("support", 0, -1, "i4"), "-1"),
        (in_array("n_support", 0, 10**6, "i4"), "n_support"),
        (in_array("classes.ends", 0, 10**6, "i8"), "classes.ends"),
        (in_array("statuses", 0, 99, "u1"), "status"),
        (in_header("support", dtype="F32"), "dtype"),
        (in_header("dual_coef", shape=[1, 1]), "safetensors"),
        (in_header("dual_coef", data_offsets=[0, 2**60]), "safetensors|truncated"),
        (in_header("intercept", data_offsets=[0, 24]), "safetensors"),
    ],
)
def test_values_are_checked_not_only_types(path, change, words):
    changed(path, change)
    refused(path, words)


def test_a_tree_a_million_deep_is_refused(path):
    header, _, arrays = parts(path.read_bytes())
    text = '{"readable_by": 1, "versions": {}, "model": ' + "[" * 1_000_000 + "]" * 1_000_000 + "}"
    header["__metadata__"]["maxmargin"] = text
    made = json.dumps(header).encode()
    path.write_bytes(len(made).to_bytes(8, "little") + made + arrays)
    refused(path, "nested too deeply")


def test_a_small_file_takes_little_memory(path):
    changed(path, in_document("model", "rows", value=2**40))
    header, _, arrays = parts(path.read_bytes())
    header["huge"] = {"dtype": "F64", "shape": [2**40], "data_offsets": [len(arrays), 2**43]}
    made = json.dumps(header).encode()
    path.write_bytes(len(made).to_bytes(8, "little") + made + arrays)
    tracemalloc.start()
    refused(path, "safetensors")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * path.stat().st_size


def test_a_newer_file_that_is_readable_is_read(path):
    def newer(header, document, arrays):
        document["format"], document["more"] = 9, {"anything": [1, 2]}
        document["model"]["more"] = 1
        document["model"]["parameters"]["flavour"] = "new"

    changed(path, newer)
    with pytest.warns(UserWarning, match="flavour"):
        loaded = mm.load(path)
    np.testing.assert_array_equal(loaded.predict(X), fitted("svc words").model.predict(X))


def test_sparse_rows_are_checked(tmp_path):
    path = tmp_path / "m"
    for name, number, value, dtype, words in [
        ("support_vectors.indices", 0, 99, "i4", "out of range"),
        ("support_vectors.indptr", 1, 10**6, "i4", "out of range"),
        ("support_vectors.indptr", 0, 1, "i4", "indptr"),
        ("support_vectors.indices", 1, 0, "i4", "increase"),
    ]:
        mm.save(fitted("svc csr").model, path)
        changed(path, in_array(name, number, value, dtype))
        refused(path, words)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("tuned", in_document("model", "best_index", value=99), "not among the cells"),
        ("tuned", in_document("model", "result_columns", value=[["x", "O8"]]), "shape|kind"),
        ("tuned", in_document("model", "parameters", "cv", value={"splitter": "os"}), "'os'"),
        ("tuned", in_array("classes", 0, -7, "i8"), "other classes"),
        ("tuned, three", in_document("model", "T", value=-1.0), "temperature"),
        ("tuned isotonic", in_array("points0", 0, 1e9, "f8"), "do not rise"),
        ("tuned numbers", in_array("models.model", 0, 3, "i8"), "out of range"),
        ("tuned precomputed", in_array("models.columns", 0, 60, "i8"), "out of range"),
    ],
)
def test_searches_are_checked(name, change, words, tmp_path):
    mm.save(fitted(name).model, tmp_path / "m")
    changed(tmp_path / "m", change)
    refused(tmp_path / "m", words)


GOOD = models()


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_mutated_files_give_a_model_or_one_error(tmp_path_factory, data):
    file, rows = GOOD[data.draw(st.integers(0, len(GOOD) - 1))]
    bad = mutated(file, lambda n: data.draw(st.integers(0, n - 1)))
    folder = tmp_path_factory.getbasetemp()
    assert tried(bad, folder / "mutated", rows) in ("refused", "read", "read, then refused")


FULL = """
import resource, sys
import numpy as np, maxmargin
model = maxmargin.load(sys.argv[1])
model.support_vectors_ = np.ones((len(model.support_), 4))
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    maxmargin.save(model, sys.argv[1])
except OSError as error:
    print(error)
"""


def test_a_full_disk_leaves_the_old_file(path):
    """A limit on the size of files fails a write as a full disk does."""
    before = path.read_bytes()
    environment = {**os.environ, "PYTHONPATH": str(Path(mm.__file__).parents[1])}
    run = subprocess.run(
        [sys.executable, "-c", FULL, str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        check=True,
    )
    assert "was not written" in run.stdout
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["model"]


def test_ctrl_c_leaves_the_old_file(path, monkeypatch):
    before = path.read_bytes()

    def interrupted(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        mm.save(mm.SVC().fit(X, TWO), path)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["model"]


def test_a_file_can_be_read_by_whom_others_can(path):
    """A new file has the rights that any new file has, an old one keeps its own."""
    other = path.parent / "other"
    other.touch()
    assert path.stat().st_mode == other.stat().st_mode
    path.chmod(0o640)
    mm.save(mm.SVC().fit(X, TWO), path)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_pipe_or_a_device_is_not_replaced(tmp_path):
    """As root, a file renamed to /dev/null would take its place."""
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path):
        with pytest.raises(OSError, match="is not a file"):
            mm.save(fitted("svc").model, place)
    assert (tmp_path / "pipe").is_fifo()
    assert [each.name for each in tmp_path.iterdir()] == ["pipe"]


def test_a_link_stays_a_link(path):
    link = path.parent / "link"
    link.symlink_to(path)
    mm.save(mm.SVC().fit(X, TWO), link)
    assert link.is_symlink()
    assert mm.load(path).classes_.tolist() == [0, 1]
