"""Solvers of the linear machines' problem, given the rows themselves."""
