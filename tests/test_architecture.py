"""The plan of the house: what each room may import, and what no room may contain."""

import ast
import inspect
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import maxmargin
from maxmargin import kernels

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "maxmargin"

# The house from the ground up. A room imports from floors below its own, never from its own floor
# (a folder is one room: its files may import each other) and never from above.
FLOORS = [
    {"core"},
    {"resources"},
    {"conventions", "results"},
    {"kernels", "losses", "datasets"},
    {"gram"},
    {"problem"},
    {"certificate"},
    {"formulations", "features"},
    {"solvers"},
    {"scale"},
    {"machines"},
    {"watch"},
    {"selection"},
    {"explanations"},
    {"io"},
    {"plots"},
    {"playground"},
    {"cli"},
]
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

# What a module imports by name, while it runs, from a floor that is not below its own, and why.
BY_NAME = {
    # `checkpoint=path` is a parameter of a machine, and what it names is a model file; but model
    # files describe all machines, and so stand above them.
    "machines.checkpoint": {"io"},
}
# Where the name is not written out: `Deferred` stands for modules of other packages.
UNNAMED = {"cli.deferred"}

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


def imports_by_name(name: str) -> set[str]:
    """Our own modules that calls of `import_module` or `__import__` in module `name` import."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.Call) and re.search(
            r"(^|\.)(import_module|__import__)$", ast.unparse(node.func)
        ):
            found.add(_written_out(node.args[0] if node.args else node.keywords[0].value))
    if name not in UNNAMED:
        assert None not in found, f"{name} imports what is not written out"
    ours = [target for target in found if target and target.split(".")[0] == "maxmargin"]
    return {_module_of(target.removeprefix("maxmargin").removeprefix(".")) for target in ours}


def _written_out(argument: ast.expr) -> str | None:
    """The dotted name that an expression begins with: `a.b` of "a.b" and of f"a.b.{c}"."""
    if isinstance(argument, ast.JoinedStr) and argument.values:
        argument = argument.values[0]
    if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
        return None
    return argument.value.rstrip(".")


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


def planned() -> list[str]:
    """The names at the root of the package, as the plan of the house in CONTRIBUTING lists them."""
    document = (ROOT / "CONTRIBUTING.md").read_text()
    plan = document.split("    src/maxmargin/\n")[1].split("    tests/")[0]
    return [line.split()[0].removesuffix("/").removesuffix(".py") for line in plan.splitlines()]


@pytest.mark.small
def test_the_plan_is_the_house():
    assert sorted(planned()) == sorted({room(name) for name in MODULES})


@pytest.mark.small
def test_the_plan_is_in_the_order_of_imports():
    floors = [FLOOR_OF[name] for name in planned()]
    assert floors == sorted(floors)


@pytest.mark.small
@pytest.mark.parametrize("name", MODULES)
def test_imports_run_one_way(name):
    for target in imports(name) | imports_by_name(name) - BY_NAME.get(name, set()):
        assert target, f"{name} imports the package itself: import from the module instead"
        if room(target) != room(name):
            assert FLOOR_OF[room(target)] < FLOOR_OF[room(name)], f"{name} must not import {target}"


@pytest.mark.small
def test_every_exception_is_needed():
    assert all(names <= imports_by_name(name) for name, names in BY_NAME.items())
    for name in UNNAMED:
        assert "import_module(self.__name__)" in MODULES[name].read_text()


@pytest.mark.small
@pytest.mark.parametrize(
    "call",
    [
        'import_module("maxmargin.cli.demo")',
        'importlib.import_module(name="maxmargin.cli.demo")',
        'import_module(f"maxmargin.cli.{name}")',
        '__import__("maxmargin.cli")',
        "import_module(name)",
    ],
)
def test_an_import_by_name_is_seen(call, monkeypatch, tmp_path):
    path = tmp_path / "upstairs.py"
    path.write_text(f"def later(name):\n    return {call}\n")
    monkeypatch.setitem(MODULES, "kernels.upstairs", path)
    with pytest.raises(AssertionError, match=r"must not import cli|not written out"):
        test_imports_run_one_way("kernels.upstairs")


@pytest.mark.small
def test_no_import_goes_in_circles():
    TopologicalSorter({name: imports(name) for name in MODULES}).prepare()


@pytest.mark.small
@pytest.mark.parametrize("name", MODULES)
def test_modules_have_telling_names(name):
    assert not {"utils", "util", "misc", "helpers", "common", "experimental"} & {*name.split(".")}


@pytest.mark.small
def test_no_two_classes_have_the_same_name():
    """Who reads a name in one room must not think of a thing in another."""
    homes: dict[str, list[str]] = {}
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(module)
    twins = {name: found for name, found in homes.items() if len(found) > 1}
    assert not twins, f"one name, one thing: {twins}"


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
        r"#\s*(noqa|type:\s*ignore|pragma|(fmt|yapf):\s*\w|isort:|ruff:)"
        r"|pytest\.(mark\.)?(skip|xfail|importorskip)"
    )
    folders = [ROOT / folder for folder in ("src", "tests", "benchmarks", "experiments", "fuzz")]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if silencer.search(line)
    ]
    assert not found, "\n".join(found)


def is_private(name: str) -> bool:
    return any(re.match("_[^_]", part) for part in name.split("."))


@pytest.mark.small
@pytest.mark.parametrize("name", sorted({*MODULES} - {"conventions"}))
def test_private_names_of_scikit_learn_come_through_conventions(name):
    """What scikit-learn may change without notice is used in one place."""
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            targets = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        found = [t for t in targets if t.split(".")[0] == "sklearn" and is_private(t)]
        assert not found, f"{name} imports {found}: give it a name in maxmargin.conventions"


KERNELS = {
    name
    for name, value in vars(kernels).items()
    if inspect.isclass(value) and issubclass(value, kernels.Kernel)
}


@pytest.mark.small
@pytest.mark.parametrize("name", [name for name in MODULES if room(name) != "kernels"])
def test_nobody_asks_which_kernel_it_is(name):
    """A kernel answers for itself: by a property, not by its class."""
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
            "isinstance",
            "issubclass",
        ):
            asked = ast.unparse(node.args[1])
            found = KERNELS & {*re.findall(r"\w+", asked)}
            assert not found, f"{name}:{node.lineno} asks for {found}: let the kernel answer"


@pytest.mark.small
@pytest.mark.parametrize("name", [n for n in maxmargin.__all__ if n[0].isupper()])
def test_machines_are_at_most_four_of_our_classes_deep(name):
    """A mode is an object, not a class in between."""
    kinds = getattr(maxmargin, name).__mro__
    own = [k for k in kinds if re.match(r"maxmargin\.(?!conventions)", k.__module__)]
    assert len(own) <= 4, [kind.__name__ for kind in own]


def annotations(name: str) -> list[str]:
    """Every annotation of a module: of arguments, results, fields and variables."""
    found: list[ast.expr | None] = []
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.arg | ast.AnnAssign):
            found.append(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            found.append(node.returns)
    return [ast.unparse(each) for each in found if each is not None]


@pytest.mark.small
def test_few_annotations_are_any():
    every = [each for name in MODULES for each in annotations(name)]
    share = sum(bool(re.search(r"\bAny\b", each)) for each in every) / len(every)
    assert share < 1 / 20, f"{share:.1%} of {len(every)} annotations mention Any"


@pytest.mark.small
def test_the_types_are_for_others_too():
    assert (PACKAGE / "py.typed").exists()


def test_only_the_driver_says_converged():
    """Other modules compare a status with `Status.CONVERGED`; none makes one."""
    for name, path in MODULES.items():
        tree = ast.parse(path.read_text())
        compared = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.Compare)
            for part in ast.walk(node)
        }
        made = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and node.attr == "CONVERGED"
            and id(node) not in compared
        ]
        assert not made or name == "solvers.driver", f"{name}, line {made[0].lineno}"
