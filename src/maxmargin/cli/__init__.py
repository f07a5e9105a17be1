"""The ``maxmargin`` command: the library without writing a program."""

from importlib import import_module

from maxmargin.cli.application import app

__all__ = ["app"]

# Each adds its commands to `app`, in the order of the help.
for module in (
    "train",
    "predict",
    "tune",
    "certify",
    "inspect",
    "convert",
    "race",
    "demo",
    "sample",
    "warm_up",
    "playground",
    "repository",
    "svm_train",
    "svm_predict",
    "svm_scale",
):
    import_module(f"maxmargin.cli.{module}")
