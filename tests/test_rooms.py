"""The rooms of the house: which room may import from which, and one name for one thing."""

import ast
import importlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import poinsot

SOURCE = Path(poinsot.__file__).parent

# From top to bottom: an import only ever points to a room above its own, or to its own.
ROOMS = {
    "": (
        "_alone _atomic _errors _hints _listed _locks _memo _fields _optional _owned _signatures _types _version _zarr "
        "fuse spatial particles body mechanism contact parts environment control integrate world run study files "
        "show learn cli __main__"
    ).split(),
    "fuse": (
        "graph trace math plan signature llvm cuda buffers parallel reference kernels symbolic derive "
        "scan assembly program_cache"
    ).split(),
}

# What a user holds in hand leads on to the rooms below, with an import inside of a method: world.simulate, run.view.
FACES = {"world/builder.py", "world/studying.py", "world/watching.py", "run/result.py", "study/linear.py"}

# Functions of more than 40 lines, with the reason.
LONG_FUNCTIONS: dict[str, str] = {}


def modules() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if path.stem not in ("__init__", "__main__")]


def imported(path: Path, everywhere: bool) -> Iterator[str]:
    """The dotted names that a module imports from Poinsot; also inside of functions, if `everywhere`."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree) if everywhere else tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("poinsot."))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            if (node.module or "").split(".")[0] == "poinsot":
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("house", ROOMS)
def test_imports_point_upwards(house):
    prefix, rooms, wrong = [part for part in ("poinsot", *house.split("/")) if part], ROOMS[house], []
    for path in (SOURCE / house).rglob("*.py"):
        room = path.relative_to(SOURCE / house).parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        for name in imported(path, everywhere=str(path.relative_to(SOURCE)) not in FACES):
            parts = name.split(".")
            there = parts[len(prefix)] if parts[: len(prefix)] == prefix else room
            if there in rooms and rooms.index(there) > rooms.index(room):
                wrong.append(f"{path.relative_to(SOURCE)} imports {name} from a lower room")
    assert wrong == []


def test_every_room_is_listed():
    for house, rooms in ROOMS.items():
        there = {path.stem for path in (SOURCE / house).glob("*.py")} - {"__init__"}
        there |= {path.parent.name for path in (SOURCE / house).glob("*/__init__.py")}
        assert there <= set(rooms)


def test_no_two_modules_share_a_name():
    places = defaultdict(list)
    for path in modules():
        places[path.stem].append(str(path.relative_to(SOURCE)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_no_two_classes_share_a_name():
    places = defaultdict(list)
    for path in modules():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_no_module_is_hidden_by_a_name_of_its_package():
    hidden = []
    for init in SOURCE.rglob("__init__.py"):
        package = importlib.import_module(".".join(("poinsot", *init.parent.relative_to(SOURCE).parts)))
        for path in init.parent.glob("*.py"):
            if path.stem not in ("__init__", "__main__"):
                module = importlib.import_module(f"{package.__name__}.{path.stem}")
                if getattr(package, path.stem) is not module:
                    hidden.append(module.__name__)
    assert hidden == []


def test_modules_stay_small():
    long = {p.name: n for p in SOURCE.rglob("*.py") if (n := p.read_text().count("\n")) > 450}
    assert long == {}


def test_functions_stay_short():
    long = {}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and (n := node.end_lineno - node.lineno + 1) > 40:
                long[f"{path.relative_to(SOURCE)}:{node.name}"] = n
    assert {name: n for name, n in long.items() if n > 60 or name not in LONG_FUNCTIONS} == {}
    assert set(LONG_FUNCTIONS) <= set(long)


def test_what_is_known_of_a_kind_of_joint_lives_with_the_joints():
    """Other modules may print a joint's kind; none may decide by it."""
    deciding = []
    for path in modules():
        if path.relative_to(SOURCE).as_posix() == "mechanism/joints.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            tests = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            tests += [node.slice] if isinstance(node, ast.Subscript) else []
            for test in tests:
                owner = getattr(test, "value", None)
                name = getattr(owner, "attr", getattr(owner, "id", ""))
                if isinstance(test, ast.Attribute) and test.attr == "kind" and name in ("joint", "hinge"):
                    deciding.append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert deciding == []


def test_signatures_of_tests_are_not_typed():
    """Fixtures and parameters are told by their names; types would stand twice."""
    typed = []
    for path in Path(__file__).parent.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                arguments = [*node.args.args, *node.args.kwonlyargs]
                if node.returns is not None or any(argument.annotation is not None for argument in arguments):
                    typed.append(f"{path.name}:{node.name}")
    assert typed == []
