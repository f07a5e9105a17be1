"""A page for every public name, from its docstring: the names are those of reference/api.md.

The tests hold that table to what the rooms export. Here it becomes the list for autosummary, and
each name in it a link to its page.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the tests ask for the names without Sphinx
    from sphinx.application import Sphinx
    from sphinx.config import Config

TABLE = Path(__file__).parents[1] / "reference" / "api.md"
NAME = re.compile(r"^\| `([\w.]+)` \|", re.MULTILINE)

REQUEST = re.compile(r"set_\w+_request|get_metadata_routing|set_output")


def full(name: str) -> str:
    """The name with its package: the table leaves it out of names at the root."""
    return f"maxmargin.{name.removeprefix('maxmargin.')}"


def names() -> list[str]:
    """All public names, in the order of the table."""
    return [full(name) for name in NAME.findall(TABLE.read_text())]


def _write_list(app: Sphinx, config: Config) -> None:
    lines = [
        "Pages of all names",
        "==================",
        "",
        ".. autosummary::",
        "   :toctree: names",
    ]
    (TABLE.parent / "all.rst").write_text(
        "\n".join([*lines, "", *(f"   {n}" for n in names()), ""])
    )


def _link(app: Sphinx, docname: str, source: list[str]) -> None:
    if docname == "reference/api":
        source[0] = NAME.sub(lambda n: f"| {{py:obj}}`{n[1]} <{full(n[1])}>` |", source[0])


def _skip(app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out the methods that scikit-learn gives to every estimator."""
    module = getattr(member, "__module__", None) or ""
    return True if module.startswith("sklearn.") or REQUEST.fullmatch(name) else None


def _readable(
    app: Sphinx, what: str, name: str, member: Any, options: Any, lines: list[str]
) -> None:
    """Make reStructuredText of two habits of our docstrings, which are written for a terminal.

    A bar is an absolute value, not the name of a substitution; and what is indented in the page of
    a solver is its algorithm, a block of code.
    """
    code, above = False, "::"
    result = []
    for line in lines:
        if line and not line.startswith(" "):
            code = False
        elif ".solvers." in name and line and not (code or result[-1]) and above[-2:] != "::":
            if above != ".. rubric" and not above.startswith((":", "..", "-", ">>>")):
                result += ["::", ""]
            code = True
        result.append(line if "``" in line or code else line.replace("|", r"\|"))
        above = line or above
    lines[:] = result


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the list before autosummary looks for it, and link the table."""
    app.connect("config-inited", _write_list)
    app.connect("source-read", _link)
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-docstring", _readable, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
