"""Explanations of fitted machines: exact Shapley values."""

from maxmargin.explanations.shapley import Explanation, explain

__all__ = ["Explanation", "explain"]
