"""The command as a process of its own: exit codes, pipes, Ctrl-C, completion."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import maxmargin
from maxmargin.problem import Status

PATIENCE = 120  # seconds that a process may take on a busy machine


def test_nobody_reads_the_output_any_more(run, start, folder):
    """`maxmargin predict … | head -1` ends quietly, as other programs do."""
    run("train", "iris.csv")
    lines = (folder / "iris.csv").read_text().splitlines()
    (folder / "many.csv").write_text("\n".join([lines[0], *lines[1:] * 400]))
    with start("predict", "iris.maxmargin", "many.csv") as process:
        assert process.stdout.readline() == "setosa\n"
        process.stdout.close()
        error = process.stderr.read()
        assert process.wait(timeout=PATIENCE) == 141
    assert error == ""


def test_rows_come_by_a_pipe_and_errors_go_to_standard_error(run, start):
    run("train", "iris.csv")
    with start("predict", "iris.maxmargin", "-", stdin=subprocess.PIPE) as process:
        out, error = process.communicate("5.1,3.5,1.4,0.2\n6,x,5,2\n", timeout=PATIENCE)
    assert process.returncode == 1
    assert out == ""
    assert len(error.splitlines()) == 1
    assert "'x' in" in error


@pytest.fixture
def endless(folder):
    """Rows on which training takes hours: huge values, classes that overlap, SMO to the end."""
    random = np.random.default_rng(0)
    X, y = 1e4 * random.normal(size=(450, 3)), random.integers(2, size=450)
    np.savez(folder / "endless.npz", X=X, y=y)
    return [
        "endless.npz",
        "--kernel",
        "linear",
        "--no-scale",
        "--solver",
        "second-order",
        "--max-iter",
        str(10**9),
        "--tol",
        "1e-9",
    ]


@pytest.mark.parametrize("keep", [False, True])
def test_ctrl_c(start, folder, endless, keep):
    """Exit code 130; with --keep-partial the model so far is saved without a test of it."""
    screen, terminal = pty.openpty()
    arguments = [*endless, "--keep-partial"] if keep else endless
    with start("train", *arguments, stderr=terminal) as process:
        os.close(terminal)
        seen = b""
        while b"kernel entries" not in seen:  # the live view: the solver has begun
            seen += os.read(screen, 65536)
        process.send_signal(signal.SIGINT)
        while process.poll() is None:
            try:
                seen += os.read(screen, 65536)
            except OSError:  # the other end is closed
                process.wait(timeout=PATIENCE)
        out = process.stdout.read()
    os.close(screen)
    assert process.returncode == 130
    for word in (b"violation", b"support vectors", b"left"):
        assert word in seen
    assert "accuracy" not in out
    assert (folder / "endless.maxmargin").exists() is keep
    assert (b"Ctrl-C: making the model so far" in seen) is keep
    assert (b"Stopped by Ctrl-C." in seen) is not keep
    if keep:
        model = maxmargin.load(folder / "endless.maxmargin")
        assert model.certificate_.status is Status.INTERRUPTED
        assert model.certificate_.gap > 0


COMPILED = """
import hashlib, sys
from maxmargin.cli import app, train

def fit(*arguments):
    try:
        print("begun", flush=True)
    finally:  # though Ctrl-C came so soon
        hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # long, deaf to Python's signals

train.fit = fit
app(["train", "iris.csv", *sys.argv[1:]])
"""


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_does_not_wait_for_compiled_code(folder, presses):
    """Once ends the process, and where the first asks for the model so far, the second does."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    options = ["--keep-partial"] if presses == 2 else []
    with subprocess.Popen(
        [sys.executable, "-c", COMPILED, *options],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout.readline() == "begun\n"
            for press in range(presses):
                if press:
                    assert any("making the model so far" in line for line in process.stderr)
                process.send_signal(signal.SIGINT)
            assert process.wait(timeout=PATIENCE) == 130
            assert process.stderr.read().endswith("Stopped by Ctrl-C.\n")
        finally:
            process.kill()


def test_completion_knows_commands_and_options(folder):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "_MAXMARGIN_COMPLETE": "complete_bash",
        "COMP_WORDS": "maxmargin train --ker",
        "COMP_CWORD": "2",
    }
    program = "from maxmargin.cli import app; app(prog_name='maxmargin')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "--kernel" in done.stdout


IMPORTED = """
import sys
from maxmargin.cli import app
try:
    app(["predict", "iris.maxmargin", sys.argv[1]])
finally:
    slow = ["scipy.stats._stats_py", "scipy.optimize._optimize", "scipy.interpolate._bsplines"]
    slow += ["sklearn.linear_model", "sklearn.metrics", "sklearn.model_selection", "pandas"]
    slow += ["maxmargin.cli.train", "maxmargin.selection", "matplotlib", "onnx"]
    print([name for name in slow if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize("name", ["iris.csv", "iris.parquet", "iris.arrow"])
def test_a_prediction_does_not_wait_for_what_it_does_not_need(run, folder, name):
    assert run("train", "iris.csv").code == 0
    table = pa.csv.read_csv(folder / "iris.csv")
    pa.parquet.write_table(table, folder / "iris.parquet")
    pa.feather.write_feather(table, folder / "iris.arrow")
    environment = {**os.environ, "PYTHONPATH": str(Path(maxmargin.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, name],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.stderr.strip() == "[]"
    assert len(done.stdout.split()) == 150
