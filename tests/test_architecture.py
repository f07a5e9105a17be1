"""The plan of the house: what each room may import, and what no room may contain."""

import ast
import inspect
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import maxmargin

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "maxmargin"

# The house from the ground up. A room imports from floors below its own, never from its own floor
# (a folder is one room: its files may import each other) and never from above.
FLOORS = [
    {"compiled"},
    {"kernels", "losses", "datasets", "resources", "vectors", "rows"},
    {"tiles", "kept_rows"},
    {"sparse_tiles", "list_tiles", "small_matrix"},
    {"tiling"},
    {"gram", "primal"},
    {"problem", "cross"},
    {"certificate"},
    {"formulations", "solvers", "features"},
    {"machines", "trace"},
    {"selection", "scale", "io", "race"},
    {"plots"},
    {"playground"},
    {"cli"},
]
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path != PACKAGE / "__init__.py"
}


def imports(name: str) -> set[str]:
    """Our own modules that module `name` imports, anywhere in its text."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = ["maxmargin", *filter(None, package.split("."))]
                base = ".".join([*above[: len(above) - node.level + 1], *filter(None, [base])])
            targets = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for target in targets:
            if target.split(".")[0] == "maxmargin" and target != "maxmargin.__version__":
                found.add(_module_of(target.removeprefix("maxmargin").removeprefix(".")))
    return found - {name}


def _module_of(target: str) -> str:
    """The longest prefix of a dotted target that is a module; "" is the package itself."""
    while target and target not in MODULES:
        target = target.rpartition(".")[0]
    return target


def room(name: str) -> str:
    return name.split(".")[0]


@pytest.mark.small
@pytest.mark.parametrize("name", MODULES)
def test_every_module_is_in_a_room_of_the_plan(name):
    assert room(name) in FLOOR_OF, f"say in FLOORS on which floor {room(name)!r} is"


@pytest.mark.small
@pytest.mark.parametrize("name", MODULES)
def test_imports_run_one_way(name):
    for target in imports(name):
        assert target, f"{name} imports the package itself: import from the module instead"
        if room(target) != room(name):
            assert FLOOR_OF[room(target)] < FLOOR_OF[room(name)], f"{name} must not import {target}"


@pytest.mark.small
def test_no_import_goes_in_circles():
    TopologicalSorter({name: imports(name) for name in MODULES}).prepare()


@pytest.mark.small
@pytest.mark.parametrize("name", MODULES)
def test_modules_have_telling_names_and_stay_short(name):
    assert not {"utils", "util", "misc", "helpers", "common", "experimental"} & {*name.split(".")}
    lines = len(MODULES[name].read_text().splitlines())
    assert lines <= 350, f"{name} has {lines} lines: time to split it"


@pytest.mark.small
@pytest.mark.parametrize("name", maxmargin.__all__)
def test_every_public_name_explains_itself(name):
    documented = getattr(maxmargin, name).__doc__
    assert documented, f"{name} has no docstring"
    assert ">>>" in documented, f"the docstring of {name} has no example"
    for method, function in inspect.getmembers(getattr(maxmargin, name), inspect.isroutine):
        if not method.startswith("_"):
            assert inspect.getdoc(function), f"{name}.{method} has no docstring"


@pytest.mark.small
def test_nothing_is_silenced():
    silencer = re.compile(
        r"#\s*(noqa|type:\s*ignore|pragma)|pytest\.(mark\.)?(skip|xfail|importorskip)"
    )
    folders = [ROOT / folder for folder in ("src", "tests", "benchmarks", "experiments")]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if silencer.search(line)
    ]
    assert not found, "\n".join(found)
