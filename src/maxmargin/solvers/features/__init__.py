"""Solvers of the dual problem of a kernel that is given by explicit features."""
