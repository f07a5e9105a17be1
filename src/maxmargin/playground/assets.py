"""The page's files: as they are for the server, and as one module for a notebook.

They are plain ES modules that a browser reads without a build. A notebook takes a single module,
so there the files are joined: each becomes a function that returns what it exports, after those
that it imports from.
"""

from __future__ import annotations

import re
from importlib.resources import files
from string import Template

from maxmargin.plots.palette import DARK, LIGHT

IMPORT = re.compile(r'^import (?P<what>\{[^}]*\}) from "\./(?P<name>[\w-]+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?P<how>const|(?:async )?function|class) (?P<name>\w+)", re.MULTILINE)
TYPES = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}


def text(name: str) -> str:
    """A file of the page."""
    return (files("maxmargin.playground") / "static" / name).read_text("utf-8")


def names() -> list[str]:
    """All files that the page may ask for."""
    folder = files("maxmargin.playground") / "static"
    return sorted(f.name for f in folder.iterdir() if f.name.rpartition(".")[2] in TYPES)


def page() -> str:
    """The HTML page, with the colours of `maxmargin.plots` and all modules named beforehand."""
    modules = "\n".join(
        f'<link rel="modulepreload" href="static/{name}">' for name in imported("page.js")
    )
    return Template(text("page.html")).substitute(palette=palette(), modules=modules)


def palette() -> str:
    """The colours of the classes as CSS variables, on light and on dark."""
    light, dark = (
        " ".join(f"--class-{k}: {color};" for k, color in enumerate(colors))
        for colors in (LIGHT, DARK)
    )
    return f".playground {{ {light} }}\n.playground[data-theme=dark] {{ {dark} }}"


def imported(entry: str) -> list[str]:
    """A module and all that it imports, each after those it needs.

    Examples
    --------
    >>> imported("page.js")[-1]
    'page.js'
    """
    order: list[str] = []

    def visit(name: str) -> None:
        if name not in order:
            for found in IMPORT.finditer(text(name)):
                visit(f"{found['name']}.js")
            order.append(name)

    visit(entry)
    return order


def bundle(entry: str) -> str:
    """The modules as one, with the exports of the entry.

    Examples
    --------
    >>> bundle("widget.js").rstrip().endswith("export default { render };")
    True
    """
    *parts, last = imported(entry)
    return "\n".join([*map(_enclosed, parts), _linked(text(last))])


def _linked(module: str) -> str:
    """Its imports taken from the modules before it."""
    return IMPORT.sub(lambda found: f"const {found['what']} = {found['name']}_js;", module)


def _enclosed(name: str) -> str:
    """A module as a constant that holds its exports; its own names stay its own."""
    module = text(name)
    exports = ", ".join(found["name"] for found in EXPORT.finditer(module))
    body = EXPORT.sub(r"\g<how> \g<name>", _linked(module))
    stem = name.removesuffix(".js")
    return f"const {stem}_js = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();"


def styles() -> str:
    """The style sheet, colours included, for a notebook."""
    return f"{palette()}\n{text('style.css')}"
