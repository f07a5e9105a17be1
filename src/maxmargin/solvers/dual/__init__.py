"""Solvers of the one dual problem, given its Gram matrix."""
