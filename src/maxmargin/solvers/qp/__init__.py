"""The production solvers of the one dual problem, given its Gram matrix."""
