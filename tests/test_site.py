"""The sources of the site are complete; `make docs` builds it, and executes every example."""

import ast
import re
import sys
from pathlib import Path

import pytest

from documents import ROOT

DOCS = ROOT / "docs"
EXAMPLES = sorted(ROOT.glob("examples/*/*.py"))
pytestmark = pytest.mark.small


@pytest.fixture(autouse=True)
def extensions(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_extensions"))
    yield
    for path in DOCS.glob("_extensions/*.py"):
        sys.modules.pop(path.stem, None)


def entries(page: Path) -> set[Path]:
    """The pages that the tables of contents of a page name, without their suffix."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(), re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines()]
    return {(page.parent / line).resolve() for line in lines if line and not line.startswith(":")}


def test_every_page_can_be_reached_from_the_first():
    found, waiting = set(), {DOCS / "index"}
    while waiting:
        page = waiting.pop()
        found.add(page)
        if page.with_suffix(".md").exists():
            waiting |= entries(page.with_suffix(".md")) - found
    written = {page.with_suffix("") for page in DOCS.glob("**/*.md")}
    assert written <= found, sorted(written - found)
    made = {"learn/steps/index", "do/recipes/index", "reference/all"}  # when the site is built
    assert found - written == {DOCS / page for page in made}


def test_every_public_name_has_a_page():
    import public_names

    import maxmargin

    names = public_names.names()
    assert len(names) == len({*names})
    assert {f"maxmargin.{name}" for name in maxmargin.__all__} <= {*names}


def test_documents_beside_the_folder_have_their_pages():
    from outside_pages import PAGES

    for file, page in PAGES.items():
        assert (ROOT / file).exists()
        assert file in (DOCS / f"{page}.md").read_text()


def test_links_are_those_of_the_site():
    from outside_pages import in_site

    text = "[a](../do/sizing.md#so) [b](../../benchmarks/HARD.md) ![c](../images/rounds.png)"
    assert in_site(text, "docs/learn") == (
        "[a](/do/sizing.md#so) [b](/benchmarks/hard.md) ![c](/../docs/images/rounds.png)"
    )


def test_a_picture_for_light_and_dark_pages_is_two_in_the_site():
    from outside_pages import in_site

    text = """<picture>
    <source media="(prefers-color-scheme: dark)" srcset="a-dark.png">
    <img alt="a curve" src="a.png" width="300">
    </picture>"""
    images = in_site(text, "experiments")
    assert "{image} /../experiments/a.png\n:alt: a curve\n:width: 300\n:class: only-light" in images
    assert "{image} /../experiments/a-dark.png\n" in images


def test_pages_of_the_gallery_that_others_name_exist():
    stems = {path.stem for path in EXAMPLES} | {"index"}
    for page in [*DOCS.glob("**/*.md"), *EXAMPLES]:
        named = {*re.findall(r"\b(?:steps|recipes)/(\w+)[`>]", page.read_text())}
        assert named <= stems, f"{page.name}: {named - stems}"


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) < 150


def test_the_gallery_is_large_enough():
    assert len(EXAMPLES) >= 15


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_a_picture_and_few_lines(path):
    text = path.read_text()
    title, rule, *_ = ast.get_docstring(ast.parse(text)).splitlines()
    assert set(rule) == {"="}
    assert len(rule) >= len(title)
    code = [line for line in text.split('"""', 2)[2].splitlines() if line and line[0] != "#"]
    assert len(code) <= 45
    assert re.search("subplots|Display", text)
