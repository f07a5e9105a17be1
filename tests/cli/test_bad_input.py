"""What is wrong is said in a line or two, with an exit code, and no traceback."""

import re
import resource
from functools import partial

import pytest


@pytest.fixture
def model(run):
    assert run("train", "iris.csv").code == 0
    return "iris.maxmargin"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere.csv"], 1, "nowhere.csv: there is no such file"),
        (["."], 1, "is a folder"),
        (["iris.csv", "--target", "kind"], 1, "no column 'kind'; there are 'sepal length'"),
        (["iris.csv", "--machine", "svr"], 1, "'species' is text, but svr learns numbers"),
        (["iris.csv", "--machine", "svc", "--target", "1"], 1, "has fractions, but svc learns"),
        (["iris.csv", "--nu", "0.5"], 2, "--nu is not an option of svc; it is of nusvc, nusvr"),
        (["iris.csv", "--gamma", "wide"], 2, "--gamma is a number, scale or auto, not 'wide'"),
        (["iris.csv", "--kernel", "linear", "--gamma", "1"], 2, "--gamma has no effect with"),
        (["iris.csv", "--degree", "2"], 2, "--degree has no effect with the kernel rbf"),
        (["iris.csv", "--components", "9"], 2, "--components counts the features"),
        (["iris.csv", "--test", "a", "--holdout", "0.1"], 2, "--test and --holdout both"),
        (["iris.csv", "--holdout", "2"], 2, "--holdout is a share of the rows"),
        (["-"], 2, "say where to save with --model"),
        (["iris.csv", "--machine", "tree"], 2, "Invalid value for '--machine'"),
        (["iris.csv", "--C", "-1"], 2, "Invalid value for '--C'"),
        (["iris.csv", "--machine", "nusvc", "--nu", "2"], 2, "The 'nu' parameter of NuSVC must"),
        (["iris.csv", "--C", "0"], 2, "The 'C' parameter of SVC must"),
        (["iris.csv", "--tol", "-1"], 2, "The 'tol' parameter of SVC must"),
        (["iris.csv", "--solver", "magic"], 2, "The 'solver' parameter of SVC must"),
        (
            ["iris.csv", "--model", "no/where.maxmargin"],
            1,
            "no/where.maxmargin: there is no folder",
        ),
        (["iris.csv", "--test", "nowhere.csv"], 1, "nowhere.csv: there is no such file"),
        (["iris.csv", "--model", "."], 1, "is not a file: a model cannot be written there"),
    ],
)
def test_training(run, folder, arguments, code, message):
    result = run("train", *arguments)
    assert result.code == code
    assert message in result.err
    assert "Traceback" not in result.err
    assert not (folder / "iris.maxmargin").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "iris.csv", "--toll", "1"], "train: No such option: --toll"),
        (["train"], "train: Missing argument 'DATA'"),
        (["trian", "iris.csv"], "No such command 'trian'. Did you mean 'train'?"),
        (["--bar"], "No such option: --bar"),
        (["sample"], "sample: Missing argument 'name'. Choose from: iris, wine, breast-cancer"),
    ],
)
def test_wrong_use_is_said_in_two_lines(run, arguments, message):
    result = run(*arguments)
    first, second = result.lines
    assert result.code == 2
    assert message in first
    assert second.endswith("--help")


def test_without_a_command_there_is_the_help(run):
    result = run()
    assert result.code == 2
    assert "Kernel machines: exact, certified" in result.out


def test_what_can_be_seen_before_training_is_said_before_it(run):
    for wrong in (["--test", "nowhere.csv"], ["--model", "no/where"], ["--tol", "-1"]):
        assert len(run("train", "iris.csv", *wrong).lines) == 1  # not what will be trained


@pytest.mark.parametrize(("target", "column"), [("b", "a"), ("c", "c")])
def test_decimal_commas_are_not_text(run, folder, target, column):
    (folder / "comma.csv").write_text("a;b;c\n1,5;2;0,5\n2;1;1,25\n")
    result = run("train", "comma.csv", "--target", target)
    assert result.code == 1
    assert f"column '{column}' holds numbers with a comma" in result.err
    assert run("train", "comma.csv", "--text", "a", "--text", "c").code == 0


def test_whole_numbers_that_are_many_may_be_quantities(run, folder):
    (folder / "many.csv").write_text("a,b\n" + "".join(f"{i},{i}\n" for i in range(20)))
    assert "with 20 classes; if these are quantities: --machine svr" in run("train", "many.csv").err
    assert "quantities" not in run("train", "iris.csv").err


def test_a_constant_target(run, folder):
    (folder / "same.csv").write_text("a,b\n1,7\n2,7\n")
    result = run("train", "same.csv")
    assert result.code == 1
    assert result.lines == ["same.csv: the target 'b' is always 7: there is nothing to learn"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("sepal length,sepal width,petal length\n1,2,3\n", "lacks columns.*'petal width'"),
        ("1,2,3\n", "has 3 features, but the model has 4"),
        ("1 9:2\n", "has 9 features .*but the model has 4"),
        ("", "standard input: is empty"),
    ],
)
def test_rows_that_do_not_fit_the_model(run, model, content, message):
    result = run("predict", model, "-", stdin=content)
    assert result.code == 1
    assert len(result.lines) == 1
    assert re.search(message, result.err)


def test_added_columns_are_named_and_can_be_left_out(run, model, folder):
    lines = (folder / "iris.csv").read_text().splitlines()
    named = [lines[0] + ",id", *(f"{line},{i}" for i, line in enumerate(lines[1:]))]
    (folder / "more.csv").write_text("\n".join(named))
    result = run("predict", model, "more.csv")
    assert result.code == 1
    assert "was not trained on: 'id'; leave them out with --drop" in result.err
    assert run("predict", model, "more.csv", "--drop", "id").code == 0


def test_a_label_that_the_model_never_saw(run, model, folder):
    lines = (folder / "iris.csv").read_text().splitlines()
    lines[3] = lines[3].replace("setosa", "rose")
    (folder / "rose.csv").write_text("\n".join(lines))
    result = run("evaluate", model, "rose.csv")
    assert result.code == 1
    assert "row 3: the model has no class rose; it has 'setosa', 'versicolor'" in result.err
    assert run("certify", model, "rose.csv").err == result.err


@pytest.mark.parametrize("command", ["predict", "evaluate", "certify"])
def test_model_files_that_are_none(run, folder, command):
    assert "there is no such model file" in run(command, "no.maxmargin", "iris.csv").err
    (folder / "bad.maxmargin").write_bytes(b"not a model at all, but long enough for a header")
    result = run(command, "bad.maxmargin", "iris.csv")
    assert result.code == 1
    assert "bad.maxmargin" in result.err


def test_what_the_model_does_not_have(run, model):
    result = run("predict", model, "iris.csv", "--probability")
    assert result.code == 2
    assert "has no probabilities; train with --probability" in result.err
    run("train", "iris.csv", "--machine", "linear", "--model", "linear.maxmargin")
    result = run("predict", "linear.maxmargin", "iris.csv", "--probability")
    assert result.code == 2
    assert "has no probabilities: a LinearSVC gives none" in result.err


def test_a_disk_that_takes_no_more_leaves_the_old_model_whole(start, model, folder):
    """As a process whose files may have a kilobyte: the system refuses to write, as if full."""
    before = (folder / model).read_bytes()
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (1000, 1000))
    with start("train", "iris.csv", "--C", "3", preexec_fn=limit) as process:
        out, error = process.communicate()
    assert process.returncode == 1
    assert out == ""
    assert re.match(
        rf"{model} was not written; what was there is unchanged", error.splitlines()[-1]
    )
    assert (folder / model).read_bytes() == before
    assert {path.name for path in folder.iterdir()} == {"iris.csv", model}


def test_a_disk_that_takes_no_more_leaves_the_old_predictions_whole(start, model, folder):
    (folder / "predictions.csv").write_text("before\n")
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (1000, 1000))
    given = "predict", model, "iris.csv", "--output", "predictions.csv"
    with start(*given, preexec_fn=limit) as process:
        out, error = process.communicate()
    assert process.returncode == 1
    assert (out, error.splitlines()) == ("", ["predictions.csv: File too large"])
    assert (folder / "predictions.csv").read_text() == "before\n"
    assert {path.name for path in folder.iterdir()} == {"iris.csv", model, "predictions.csv"}
