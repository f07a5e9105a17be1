"""What the documents say is what happens."""

import inspect
import pydoc
import re
import sys
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from types import ModuleType

import pytest

import maxmargin
from documents import EXAMPLE, ROOT, assert_same_output
from maxmargin.solvers import LINEAR_SOLVERS, SOLVERS

FOLDERS = [ROOT, ROOT / "src" / "maxmargin"]
# `conventions` is for this package alone, and `cli` is a command.
ROOMS = sorted(
    {path.stem for path in ROOT.glob("src/maxmargin/[a-z]*") if path.suffix in ("", ".py")}
    - {"conventions", "cli"}
)
TABLE = ROOT / "docs" / "reference" / "api.md"
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_examples_print_what_the_document_says(path, monkeypatch):
    """The examples of a document are one program, run in order in a module of its own."""
    module = ModuleType(path.stem.replace("-", "_"))
    monkeypatch.setitem(sys.modules, module.__name__, module)  # what it defines can be pickled
    for example in EXAMPLE.finditer(path.read_text()):
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile(example["program"], str(path), "exec"), vars(module))
        assert_same_output(printed.getvalue(), example["output"] or "")


@pytest.mark.small
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"""(?:\]\(|src(?:set)?=")([^)#"]+)""", path.read_text()):
        assert target.startswith("https://") or (path.parent / target).exists(), target


@pytest.mark.small
@pytest.mark.parametrize("name", maxmargin.__all__)
def test_every_public_name_is_in_the_table(name):
    assert f"| `{name}` |" in TABLE.read_text()


@pytest.mark.small
@pytest.mark.parametrize("room", ROOMS)
def test_every_name_that_a_room_exports_is_in_the_table(room):
    table = TABLE.read_text()
    exported = getattr(import_module(f"maxmargin.{room}"), "__all__", ())
    names = {*exported} - {*maxmargin.__all__}
    missing = [name for name in sorted(names) if f"| `maxmargin.{room}.{name}` |" not in table]
    assert not missing, f"docs/reference/api.md does not have {missing} of maxmargin.{room}"


@pytest.mark.small
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_files_that_a_document_names_exist(path):
    for name in re.findall(r"`(?:python )?([\w/]+\.py)`", path.read_text()):
        assert any((folder / name).exists() for folder in FOLDERS), name


@pytest.mark.small
def test_calls_that_the_architecture_lists_exist():
    """Each `file: function` of the lists under "After:" is in the package."""
    text = (ROOT / "docs" / "how-it-works" / "architecture.md").read_text()
    lists = re.findall(r"^After:\n\n((?: +.*\n)+)", text, re.M)
    calls = re.findall(r"^ +([\w/]+\.py): (\S+)$", "".join(lists), re.M)
    assert calls
    for file, call in calls:
        names = re.findall(r"(?:def|class) (\w+)", (FOLDERS[1] / file).read_text())
        assert {*call.replace("<locals>.", "").split(".")} <= {*names}, f"{file}: {call}"


@pytest.mark.small
def test_every_name_in_the_table_exists():
    for name in re.findall(r"^\| `([\w.]+)` \|", TABLE.read_text(), re.M):
        module, _, attribute = f"maxmargin.{name.removeprefix('maxmargin.')}".rpartition(".")
        assert hasattr(import_module(module), attribute), name


# Parts of what functions return, and bases of classes of one's own: nobody makes one.
PARTS = {"Block", "Bound", "Ending", "Estimate", "Point"}
BASES = {"DualRegressor", "PiecewiseLoss"}


def public_classes():
    """Those that a user makes: no abstract ones or exceptions, and not what functions return."""
    table = re.findall(r"^\| `([\w.]+)` \|", TABLE.read_text(), re.M)
    public = {}
    for name in table:
        module, _, attribute = f"maxmargin.{name.removeprefix('maxmargin.')}".rpartition(".")
        public[attribute] = getattr(import_module(module), attribute)
    functions = filter(inspect.isfunction, public.values())
    returned = {str(inspect.signature(each).return_annotation) for each in functions}
    classes = {name: each for name, each in public.items() if inspect.isclass(each)}
    left_out = PARTS | BASES | returned
    return [
        each
        for name, each in classes.items()
        if name not in left_out
        and not inspect.isabstract(each)
        and not issubclass(each, BaseException)
    ]


@pytest.mark.small
@pytest.mark.parametrize("public", public_classes(), ids=lambda public: public.__name__)
def test_every_public_class_has_an_example(public):
    assert ">>>" in vars(public).get("__doc__", "")


@pytest.mark.small
@pytest.mark.parametrize("name", [*SOLVERS, *LINEAR_SOLVERS])
def test_help_of_a_solver_shows_its_algorithm(name):
    solver = {**SOLVERS, **LINEAR_SOLVERS}[name]
    shown = pydoc.plain(pydoc.render_doc(solver))
    algorithm = (sys.modules[solver.__module__].__doc__ or "").splitlines()
    assert len(algorithm) > 3
    for line in algorithm:
        assert line.strip() in shown


@pytest.mark.small
@pytest.mark.parametrize("document", ["CITATION.cff", "CHANGELOG.md"])
def test_version_is_the_same_everywhere(document):
    assert maxmargin.__version__ in (ROOT / document).read_text()
