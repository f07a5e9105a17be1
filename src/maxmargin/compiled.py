"""How functions are compiled: kept on disk, and run without Python's lock.

Half of the time goes into the wrappers through which others call a function. C never calls ours,
and some are called by compiled functions only.
"""

from functools import partial

from numba import njit

compiled = partial(njit, cache=True, nogil=True, no_cfunc_wrapper=True)
inner = partial(compiled, no_cpython_wrapper=True)  # not to be called from Python
