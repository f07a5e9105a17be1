"""The core knows nothing of Python: its headers alone train a machine and prove how good it is."""

import os
import subprocess
from pathlib import Path

import maxmargin

CORE = Path(maxmargin.__file__).parent / "core"
EXAMPLE = Path(__file__).with_name("example.cpp")


def test_the_headers_alone_train_and_certify(tmp_path):
    program, compiler = tmp_path / "example", os.environ.get("CXX", "c++")
    options = ["-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"]
    command = [compiler, *options, "-Wno-psabi", "-I", CORE, EXAMPLE, "-o", program]
    subprocess.run(command, check=True, timeout=240)
    done = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60)
    assert "violation" in done.stdout
    assert "gap" in done.stdout
