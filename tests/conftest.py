"""What every test relies on, set before anything imports SciPy or compiles."""

import os

# scikit-learn's check of array-API input runs only if SciPy was imported with this set.
os.environ["SCIPY_ARRAY_API"] = "1"
