"""How functions are compiled: kept on disk, and run without Python's lock.

They work on arrays that they are given and make none, so none counts references. Division by zero
gives what NumPy's does. Half of the time to compile goes into the wrappers through which others
call a function: C never calls ours, and some are called by compiled functions only.
"""

from functools import partial

from numba import njit

compiled = partial(
    njit, cache=True, nogil=True, no_cfunc_wrapper=True, error_model="numpy", _nrt=False
)
inner = partial(compiled, no_cpython_wrapper=True)  # not to be called from Python
