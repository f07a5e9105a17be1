"""The ``maxmargin`` command: the library without writing a program."""

import sys
from typing import Any

try:
    from maxmargin.cli import application
except ModuleNotFoundError as error:
    if error.name not in ("rich", "typer"):
        raise

    def app(*_: Any, **__: Any) -> None:
        """End with a line that says what to install."""
        sys.exit("maxmargin: the command needs typer and rich: pip install 'maxmargin[cli]'")

else:
    app = application.app

__all__ = ["app"]


def run_svm_train() -> None:
    """Run LIBSVM's `svm-train`."""
    app(["svm-train", *sys.argv[1:]], prog_name="maxmargin")


def run_svm_predict() -> None:
    """Run LIBSVM's `svm-predict`."""
    app(["svm-predict", *sys.argv[1:]], prog_name="maxmargin")


def run_svm_scale() -> None:
    """Run LIBSVM's `svm-scale`."""
    app(["svm-scale", *sys.argv[1:]], prog_name="maxmargin")
