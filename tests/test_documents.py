"""What the documents say is what happens."""

import re
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path

import pytest

import maxmargin

ROOT = Path(__file__).parents[1]
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
EXAMPLE = re.compile(r"```python\n(?P<program>.*?)```(\n+```text\n(?P<output>.*?)```)?", re.DOTALL)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)?")


def assert_same_output(actual: str, documented: str) -> None:
    """The same words, and the same values of what does not depend on the machine and its speed."""
    assert NUMBER.sub("#", actual) == NUMBER.sub("#", documented)
    for ours, theirs in zip(actual.splitlines(), documented.splitlines(), strict=True):
        if theirs.startswith(("primal", "dual", "test accuracy")):
            assert float(NUMBER.search(ours)[0]) == pytest.approx(
                float(NUMBER.search(theirs)[0]), rel=0.01
            )


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_examples_print_what_the_document_says(path):
    """The examples of a document are one program, run in order."""
    namespace: dict[str, object] = {}
    for example in EXAMPLE.finditer(path.read_text()):
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile(example["program"], str(path), "exec"), namespace)
        assert_same_output(printed.getvalue(), example["output"] or "")


@pytest.mark.small
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)", path.read_text()):
        assert target.startswith("https://") or (path.parent / target).exists(), target


@pytest.mark.small
@pytest.mark.parametrize("name", maxmargin.__all__)
def test_every_public_name_is_in_the_table(name):
    assert f"| `{name}` |" in (ROOT / "docs" / "api.md").read_text()


@pytest.mark.small
def test_every_name_in_the_table_exists():
    for name in re.findall(r"^\| `([\w.]+)` \|", (ROOT / "docs" / "api.md").read_text(), re.M):
        module, _, attribute = f"maxmargin.{name.removeprefix('maxmargin.')}".rpartition(".")
        assert hasattr(import_module(module), attribute), name


@pytest.mark.small
@pytest.mark.parametrize("document", ["CITATION.cff", "CHANGELOG.md"])
def test_version_is_the_same_everywhere(document):
    assert maxmargin.__version__ in (ROOT / document).read_text()
