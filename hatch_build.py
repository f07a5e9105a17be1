"""Builds the compiled core in place: for an install, for a wheel, or by `make core`."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import ninja
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
CORE = "src/maxmargin/core"


def build(kind: str = "native") -> None:
    """Run CMake: for the machine at hand ("native"), for all of its kind ("portable")."""
    directory = f"build/{kind}-{sysconfig.get_config_var('SOABI')}"
    cmake = [sys.executable, "-m", "cmake"]
    definitions = {
        "PORTABLE": f"{kind == 'portable':d}",
        "SANITIZE": f"{kind == 'sanitize':d}",
        "Python_EXECUTABLE": sys.executable,
        "CMAKE_MAKE_PROGRAM": str(Path(ninja.BIN_DIR) / "ninja"),
    }
    given = [f"-D{name}={value}" for name, value in definitions.items()]
    configure = [*cmake, "-G", "Ninja", "-S", ".", "-B", directory, *given]
    for command in configure, [*cmake, "--build", directory]:
        subprocess.run(command, cwd=ROOT, check=True)


class CoreBuild(BuildHookInterface):  # type: ignore[type-arg]
    """What hatchling calls; a wheel for other machines is built where MAXMARGIN_PORTABLE is set."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the core; a wheel then holds it."""
        portable = bool(os.environ.get("MAXMARGIN_PORTABLE"))
        build("portable" if portable else "native")
        build_data["pure_python"], build_data["infer_tag"] = False, True
        names = ("baseline", "avx2", "avx512") if portable else ("native",)
        build_data["artifacts"] += [f"{CORE}/{name}.*" for name in names]


if __name__ == "__main__":
    build(*sys.argv[1:])
