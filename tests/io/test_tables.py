"""What is in a file is what is learned from; what cannot be is refused by its name."""

import bz2
import gzip
import io
import lzma
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import dump_svmlight_file

from fuzz.data_files import SEEDS, mutated, tried
from maxmargin import SVC
from maxmargin.io import csv_text, libsvm_text
from maxmargin.io.columns import prepared, schema_of
from maxmargin.io.rows import Reading, Schema
from maxmargin.io.sources import DataFileError
from maxmargin.io.tables import read_rows

pytestmark = pytest.mark.small

BLOCK = f"1.{600 * '0'},2\n" * 2000  # more than the block by which types are told
FRUIT = "weight,colour,fruit\n120.5,green,pear\n150,red,apple\n121,green,pear\n"


@pytest.fixture
def read(tmp_path):
    """Reads text or bytes as the file of that name."""

    def reading(content, name="data.csv", **how):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_rows(path, Reading(**how))

    return reading


def test_a_table_is_its_columns_and_the_last_is_the_target(read):
    rows = read(FRUIT)
    assert rows.names == ["weight", "colour"]
    assert rows.text == ("colour",)
    assert (rows.target, rows.y.tolist()) == ("fruit", ["pear", "apple", "pear"])
    assert rows.X["weight"].to_pylist() == [120.5, 150.0, 121.0]


def test_streams_of_arrow_and_zstd(read):
    table = pa.table({"a": [1.0, 2.0], "y": ["p", "q"]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as stream:
        stream.write(b"a,y\n1,p\n2,q\n")
    for content in (sink.getvalue().to_pybytes(), packed.getvalue().to_pybytes()):
        rows = read(content, "data")
        assert rows.X["a"].to_pylist() == [1.0, 2.0]
        assert rows.y.tolist() == ["p", "q"]
    with pytest.raises(DataFileError, match="the compressed file is damaged"):
        read(packed.getvalue().to_pybytes()[:-4], "data.zst")


def test_a_delimiter_may_be_given(read):
    rows = read("a:b:c,d\n1:2:0\n3:4:1\n", delimiter=":")
    assert rows.names == ["a", "b"]
    with pytest.raises(DataFileError, match="a delimiter is one character, not '::'"):
        read("a::b\n1::2\n", delimiter="::")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("1,2,0\n3,4.5,1\n", "data.csv"),
        ("1\t2\t0\n3\t4.5\t1\n", "data.tsv"),
        ("1;2;0\r\n3;4.5;1\r\n", "data"),
        ('"1","2","0"\n"3","4.5","1"\n', "data.csv"),
        ("\ufeff1,2,0\n3,4.5,1\n", "data.csv"),
        ("0 1:1 2:2\n1 1:3 2:4.5\n", "data"),
        ("# comment\n0 1:1 2:2 # another\n1 1:3 2:4.5\n", "data.svm"),
    ],
)
def test_numbers_without_names_are_an_array(read, content, name):
    rows = read(content, name)
    X = rows.X.toarray() if sp.issparse(rows.X) else rows.X
    assert_array_equal(X, [[1, 2], [3, 4.5]])
    assert_array_equal(rows.y, [0, 1])
    assert rows.y.dtype.kind == "i"


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("content", [FRUIT, "1 1:2 7:3\n-1 2:4\n"])
def test_compressed_files_are_read_as_they_are(read, compress, content):
    plain, packed = read(content, "data"), read(compress(content.encode()), "data")
    assert packed.shape == plain.shape
    assert_array_equal(packed.y, plain.y)


@pytest.mark.parametrize("word", [b"a cell", b"a name"])
@pytest.mark.parametrize("dictionary", [False, True])
def test_text_of_parquet_that_is_not_utf_8(read, word, dictionary):
    table, file = pa.table({"a name": ["a cell", "b"], "y": [0, 1]}), io.BytesIO()
    pyarrow.parquet.write_table(table, file, compression="none", use_dictionary=dictionary)
    bad = file.getvalue().replace(word, b"\x8b" + word[1:])
    with pytest.raises(DataFileError, match=r"cannot be read as parquet: .*(UTF8|utf-8)"):
        read(bad, "a.parquet")


def test_a_zip_archive_is_to_be_unzipped(read):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("fruit.csv", FRUIT)
    with pytest.raises(DataFileError, match=r"is a zip archive of 'fruit\.csv': unzip it first"):
        read(file.getvalue(), "fruit.csv.zip")


def test_parquet_arrow_and_csv_are_the_same_table(read):
    table = pa.table({"a": [1, 2], "b": [True, False], "t": ["x", "y"]}).append_column(
        "kind", pa.array(["u", "v"]).dictionary_encode()
    )
    for write in (pyarrow.parquet.write_table, pyarrow.feather.write_feather):
        file = io.BytesIO()
        write(table, file)
        rows = read(file.getvalue(), "table")
        assert rows.names == ["a", "b", "t"]
        assert rows.text == ("t",)
        assert rows.X["b"].to_pylist() == [1.0, 0.0]
        assert rows.y.tolist() == ["u", "v"]


def test_digits_that_a_table_calls_text_are_text(read):
    file = io.BytesIO()
    pyarrow.parquet.write_table(pa.table({"zip": ["123", "456"], "y": [0, 1]}), file)
    assert read(file.getvalue(), "table").text == ("zip",)


def test_arrays(read):
    X, y = np.arange(6.0).reshape(3, 2), np.array([0.0, 1.0, 0.0])
    file = io.BytesIO()
    np.save(file, np.column_stack([X, y]))
    rows = read(file.getvalue(), "data")
    assert_array_equal(rows.X, X)
    assert_array_equal(rows.y, y)
    assert_array_equal(read(file.getvalue(), "data", target="1").y, X[:, 0])
    file = io.BytesIO()
    np.savez(file, X=X, y=y)
    assert_array_equal(read(file.getvalue(), "data").X, X)


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FRUIT.encode())))
    assert read_rows("-").y.tolist() == ["pear", "apple", "pear"]


def test_a_target_by_name_by_number_and_by_custom(read):
    content = "label,a,b\n1,2,3\n0,5,6\n"
    assert read(content).target == "label"
    assert read(content, target="a").target == "a"
    assert read(content, target="-1").target == "b"
    assert read(content, supervised=False).y is None


def test_whole_numbers_may_go_on_with_fractions(read):
    """pyarrow tells the type of a column by its first block only."""
    rows = read("a,b\n" + BLOCK + "1.5,2.5\n")
    assert rows.X["a"].to_pylist()[-1] == 1.5
    assert rows.y[-1] == 2.5


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,2\n3,4\n",
        "1,2\n-.5,+4e-3\n",
        "a;b\r\n1;2\r\n\r\n3;4",
        '\ufeff"a,x",b\n"1", 2\n3 ,4.\n',
        "a,b\n0.1,4.9e-324\n2.2250738585072011e-308,1.7976931348623157e308\n",
        "a,b\n1,2\n3\n",
        "a,b\n1,2\n3,4,5\n",
        "a,b\n1,2\n3,\n",
        "a,b\n1,2\n3,nan\n",
        "a,b\n1,2\n3,1e400\n",
        "a,b\n" + BLOCK + "x,2\n",
    ],
)
def test_a_large_file_of_numbers_is_read_as_a_small_one_is(read, content, monkeypatch):
    def found(bytes_from):
        monkeypatch.setattr(csv_text, "LARGE", bytes_from)
        try:
            rows = read(content)
        except DataFileError as error:
            return str(error)
        X = (
            rows.X
            if rows.names is None
            else np.column_stack([c.to_numpy() for c in rows.X.columns])
        )
        return X.tolist(), rows.y.tolist(), rows.names

    assert found(1) == found(len(content) + 100)


def test_quoted_cells_may_hold_commas_quotes_and_ends_of_lines(read):
    rows = read('a,t,y\n1,"x,y",0\n2,"say ""z""\nagain",1\n')
    assert rows.X["t"].to_pylist() == ["x,y", 'say "z"\nagain']


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("", "a.csv", "is empty"),
        ("a,b\n", "a.csv", "has no rows"),
        ("\n", "a.csv", "[Ee]mpty"),
        (b"\x00\x01\x02", "a.csv", "is binary"),
        (b"\xff\xfea\x00", "a.csv", "UTF-16.*iconv"),
        (b"a,b\n1,caf\xe9\n", "a.csv", "line 2: byte 0xe9 is not UTF-8"),
        ("a,b\n1,2\n3\n", "a.csv", "line 3 has 1 cells, but there are 2 columns .by the header"),
        ("1,2,3\n4,5\n", "a.csv", "line 2 has 2 cells, but there are 3 columns .by the first"),
        ("a,b,c\n1,2,3\n4,,6\n", "a.csv", "row 2, column 'b': the value is missing"),
        ("a,b,c\n1,x,3\n4,,6\n", "a.csv", "row 2, column 'b': the value is missing"),
        ("a,b,c\n1,2,3\n4,5,\n", "a.csv", "row 2, column 'c': the value is missing"),
        ("a,b\n1,2\n2,3\n3,4\nx,5\n", "a.csv", "'x' in 'a' is not a number.*--text a"),
        ("a,b\n" + BLOCK + "x,2\n", "a.csv", "line 2002: 'x' in 'a' is not a number"),
        ("a,b\n1,2\n3,inf\n", "a.csv", "row 2, column 'b': inf is not a finite number"),
        ("when,b\n2024-01-31,1\n2024-02-01,0\n", "a.csv", "'when' holds dates.*2024-01-31"),
        (
            "when,b\n31.1.2024,1\n01.02.2024,0\n",
            "a.csv",
            "'when' holds dates.*31.1.2024.*--text when",
        ),
        ("when,b\n1/31/24,1\n2/1/24 12:30,0\n", "a.csv", "'when' holds dates.*1/31/24"),
        ("b,when\n1,31 Jan 2024\n2,2 Feb 2024\n", "a.csv", "'when' holds dates.*31 Jan 2024"),
        ('b,at\n1,"Jan 31, 2024"\n2,"May 1, 2024"\n', "a.csv", "'at' holds dates.*Jan 31, 2024"),
        (b"a,b\n" + b"x,0\n" * 20_000 + b"\xe9,1\n", "a.csv", "line 20002: byte 0xe9 is not UTF-8"),
        ("a,a,b\n1,2,3\n", "a.csv", "two columns are named 'a'"),
        ("a\n1\n2\n", "a.csv", "no columns to learn from"),
        ("1 1:2 3:x\n", "a.svm", "line 1: '3:x' is not index:value"),
        ("1 1:2\nx 1:2\n", "a.svm", "line 2: the label 'x' is not a number"),
        ("1 3:2 2:1\n", "a.svm", "line 1: index 2 after 3"),
        ("1 0:2 2:1\n", "a.svm", "line 1: index 0, but indices begin at 1"),
        ("1 1:nan\n", "a.svm", "row 1, feature 1: nan is not a finite number"),
        (b"\x1f\x8bxx", "a.csv.gz", "damaged"),
        (b"PAR1xxxx", "a.parquet", "cannot be read as parquet"),
        (b"\x93NUMPYxx", "a.npy", "cannot be read as .npy"),
        (b"PK\x03\x04xx", "a.npz", "cannot be read as .npz"),
    ],
)
def test_what_cannot_be_learned_from_is_named(read, content, name, message):
    with pytest.raises(DataFileError, match=message) as caught:
        read(content, name)
    assert name in str(caught.value)


def test_objects_in_arrays_are_not_unpickled(read):
    file = io.BytesIO()
    np.save(file, np.array([[{}]], object), allow_pickle=True)
    with pytest.raises(DataFileError, match="pickle"):
        read(file.getvalue(), "a.npy")


class TestAgainstAModel:
    @pytest.fixture
    def schema(self, read):
        rows = read(FRUIT)
        return schema_of(prepared(SVC(), rows, scale=True).fit(rows.X, rows.y))

    def test_it_knows_its_columns_and_their_values(self, schema):
        assert schema == Schema(2, ["weight", "colour"], {"colour": ["green", "red"]})

    def test_columns_are_taken_by_name_in_whatever_order(self, read, schema):
        rows = read("colour,fruit,weight\nred,apple,1\n", schema=schema)
        assert rows.names == ["weight", "colour"]
        assert rows.y.tolist() == ["apple"]

    def test_without_names_they_are_taken_in_order(self, read, schema):
        rows = read("1,red\n2,green\n", schema=schema, supervised=False)
        assert rows.names == ["weight", "colour"]

    def test_text_that_looks_like_numbers_stays_text(self, read):
        rows = read("zip,y\n123,0\n456,1\n", text=["zip"])
        model = prepared(SVC(), rows, scale=True).fit(rows.X, rows.y)
        again = read("zip\n456\n", schema=schema_of(model), supervised=False)
        assert model.predict(again.X) == [1]

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("weight,size\n1,2\n", "lacks columns .*'colour'; it has 'size' instead"),
            ("weight,colour,fruit,id\n1,red,pear,7\n", "was not trained on: 'fruit', 'id'"),
            ("weight,colour\n1,blue\n", "row 1, column 'colour': 'blue' was not there at training"),
            ("weight,colour\nheavy,red\n", "row 1: 'heavy' in 'weight' is not a number"),
            ("1,red,2,3\n", "has 4 features, but the model has 2"),
        ],
    )
    def test_what_does_not_fit_is_named(self, read, schema, content, message):
        with pytest.raises(DataFileError, match=message):
            read(content, schema=schema)

    def test_a_sparse_row_may_have_fewer_features_but_not_more(self, read):
        assert read("1 1:2\n", "a.svm", schema=Schema(5)).shape == (1, 5)
        with pytest.raises(DataFileError, match=r"has 7 features .*but the model has 5"):
            read("1 7:2\n", "a.svm", schema=Schema(5))


def test_without_pyarrow_it_names_the_extra(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'maxmargin\[tables\]'"):
        read(FRUIT)


@given(content=st.binary(max_size=200))
def test_any_bytes_are_rows_or_an_error_that_says_why(content, tmp_path_factory):
    path = tmp_path_factory.mktemp("any") / "data"
    path.write_bytes(content)
    try:
        fine = read_rows(path).shape[0] > 0
    except DataFileError as error:
        fine = str(path) in str(error)
    assert fine


@settings(deadline=None)
@given(kind=st.sampled_from([*SEEDS]), data=st.data())
def test_mutated_files_are_rows_or_an_error(kind, data, tmp_path_factory):
    bad = mutated(SEEDS[kind], lambda n: data.draw(st.integers(0, n - 1)))
    assert tried(bad, tmp_path_factory.getbasetemp() / "mutated") in ("read", "refused")


@given(
    content=st.text(alphabet='0123456789.,;:-+eE"\n\r\t #abNn', max_size=120),
    name=st.sampled_from(["data.csv", "data.svm", "data.tsv", "data"]),
)
def test_any_text_is_rows_or_an_error_that_says_why(content, name, tmp_path_factory):
    path = tmp_path_factory.mktemp("any") / name
    path.write_text(content, newline="")
    try:
        rows = read_rows(path)
        fine = rows.shape[0] == len(rows.y) > 0
        if rows.names is None:
            fine = fine and np.isfinite(rows.X.data if sp.issparse(rows.X) else rows.X).all()
    except DataFileError as error:
        fine = name in str(error)
    assert fine


@given(seed=st.integers(0, 2**32 - 1))
def test_libsvm_text_is_read_as_scikit_learn_wrote_it(seed, tmp_path_factory):
    random = np.random.default_rng(seed)
    X = np.where(random.random((8, 6)) < 0.5, random.normal(size=(8, 6)).round(3), 0.0)
    X[0, 5] = 1.0
    path = tmp_path_factory.mktemp("any") / "data.svm"
    dump_svmlight_file(X, np.arange(8), str(path), zero_based=False)
    assert_array_equal(read_rows(path).X.toarray(), X)


@pytest.mark.parametrize("cells", [["1.10.2", "1.9.12"], ["10.11.12", "3.4.5"], ["may", "june"]])
def test_versions_and_names_of_months_are_no_dates(tmp_path, cells):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(cells)))
    assert read_rows(path).text == ("a",)
    dated = tmp_path / "dated.csv"
    dated.write_text("a,b\n31.1.2024,1\n1.2.2024,0\n")
    assert read_rows(dated, Reading(text=("a",))).text == ("a",)


def test_an_index_that_no_memory_has_room_for_is_refused(tmp_path):
    path = tmp_path / "wide.svm"
    path.write_text("1 2000000000:1\n-1 3:1\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(libsvm_text, "available_memory", lambda: 10**10)
        with pytest.raises(DataFileError, match="has 2,000,000,000 features"):
            read_rows(path)
