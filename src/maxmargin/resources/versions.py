"""What a report of a problem should say: versions, cores, and the build of the compiled core."""

from __future__ import annotations

import platform
from importlib.metadata import version

from maxmargin.core import native
from maxmargin.resources.threads import available_cores


def show_versions() -> None:
    """Print versions, the processor's cores, and which build of the compiled core is in use.

    Examples
    --------
    >>> import maxmargin
    >>> maxmargin.show_versions()
    maxmargin     ...
    core          ...
    cores         ...
    python        ...
    numpy         ...
    scipy         ...
    scikit-learn  ...
    """
    build = native.__name__.rpartition(".")[2]
    lines = {
        "maxmargin": version("maxmargin"),
        "core": f"{build}, {native.CPU}",
        "cores": available_cores(),
        "python": f"{platform.python_version()} on {platform.platform()}",
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
    }
    for name, value in lines.items():
        print(f"{name:13} {value}")
