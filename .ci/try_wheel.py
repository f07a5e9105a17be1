"""What `make wheel-test` runs with an installed wheel: each of its builds, where no compiler is."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import maxmargin
from maxmargin.core import native

README = Path(__file__).parents[1] / "README.md"
BUILDS = ["baseline", "avx2", "avx512"]
PROGRAM = "import maxmargin; maxmargin.show_versions()\n"

assert not any(shutil.which(name) for name in ("c++", "g++", "cc", "gcc", "clang", "cmake"))
home = Path(maxmargin.__file__).parent
built = [name for name in BUILDS if list((home / "core").glob(f"{name}.*"))]
assert native.best() in built, f"{native.best()} is not among the builds of this wheel: {built}"
assert not list((home / "core").glob("native.*.so")), "the wheel holds a build for one machine"
example = README.read_text().split("```python\n")[1].split("```")[0]
for name in built[: built.index(native.best()) + 1]:
    print(f"-- {name}", flush=True)
    subprocess.run(
        [sys.executable, "-c", PROGRAM + example],
        env={**os.environ, "MAXMARGIN_CORE": name},
        check=True,
    )
print(f"each of {', '.join(built)} that this processor runs does what the README shows")
