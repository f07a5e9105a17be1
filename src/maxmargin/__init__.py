"""Kernel machines for Python: exact, certified, fast, and readable."""

from maxmargin.machines.svc import SVC

__version__ = "0.1.0"

__all__ = ["SVC"]
