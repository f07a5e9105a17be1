"""Documents that lie beside the folder docs are pages of the site too: their text is read here.

A link to a file is one that works in the repository. In the site a link to a document leads to its
page, whatever folder both are in; a link to any other file offers it for download.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the tests ask for the pages without Sphinx
    from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
# file -> page, an empty file that this extension fills
PAGES = {
    "CHANGELOG.md": "changes",
    "CONTRIBUTING.md": "how-it-works/contributing",
    "experiments/REPORT.md": "learn/experiments",
    **{
        str(path.relative_to(ROOT)): f"benchmarks/{path.stem.lower()}"
        for path in sorted(ROOT.glob("benchmarks/*.md"))
        if path.name != "README.md"
    },
}
PICTURE = re.compile(
    r'(?:<picture>\s*<source[^>]*srcset="(?P<dark>[^"]+)"[^>]*>\s*)?'
    r"<img(?P<attributes>[^>]+)>(?:\s*</picture>)?"
)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def in_site(text: str, folder: str) -> str:
    """The text of a document of `folder`, with its links as they are in the site."""

    def link(found: re.Match[str]) -> str:
        picture, label, target, anchor = found.groups(default="")
        if "://" in target:
            return found[0]
        file = os.path.normpath(os.path.join(folder, target))  # noqa: PTH118
        if picture:
            return f"![{label}](/../{file})"
        if file == "README.md":
            return f"[{label}](/index.md)"
        if file in PAGES:
            return f"[{label}](/{PAGES[file]}.md{anchor})"
        if file.startswith("docs/") and file.endswith(".md"):
            return f"[{label}](/{file.removeprefix('docs/')}{anchor})"
        if (ROOT / file).is_file():
            return f"{{download}}`{label.strip('`')} </../{file}>`"
        return f"{label} (`{file}`)"

    def picture(found: re.Match[str]) -> str:
        attributes = dict(re.findall(r'(alt|src|width)="([^"]*)"', found["attributes"]))
        files = {attributes.pop("src"): {"class": "only-light"} if found["dark"] else {}}
        if found["dark"]:
            files[found["dark"]] = {"class": "only-dark"}
        return "\n".join(
            f"```{{image}} /../{os.path.normpath(os.path.join(folder, file))}\n"  # noqa: PTH118
            + "".join(f":{name}: {value}\n" for name, value in (attributes | kind).items())
            + "```\n"
            for file, kind in files.items()
        )

    return PICTURE.sub(picture, LINK.sub(link, text))


def _read(app: Sphinx, docname: str, source: list[str]) -> None:
    file = {page: file for file, page in PAGES.items()}.get(docname)
    if file is not None:
        source[0] = in_site((ROOT / file).read_text(), os.path.dirname(file))  # noqa: PTH120
    elif (DOCS / f"{docname}.md").exists():
        source[0] = in_site(source[0], os.path.dirname(f"docs/{docname}"))  # noqa: PTH120


def setup(app: Sphinx) -> dict[str, bool]:
    """Fill the pages when Sphinx reads them."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
