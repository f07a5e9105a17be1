"""The ``maxmargin`` command: the library without writing a program."""

from maxmargin.cli.application import app

__all__ = ["app"]
