"""The rooms of the house: an import only ever points to a room above its own."""

import ast
from pathlib import Path

import poinsot

ROOMS = (
    "_optional _types _version fuse spatial particles body mechanism parts environment integrate world run study files "
    "show cli __main__"
).split()
SOURCE = Path(poinsot.__file__).parent


# What a user holds in hand leads on to the rooms below, with an import inside of a method: world.simulate, run.view.
FACES = {"world/world.py", "run/run.py"}


def imports_of(path: Path, everywhere: bool) -> list[str]:
    """The rooms that a module imports from; also inside of functions, if `everywhere`."""
    rooms = []
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree) if everywhere else tree.body:
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module == "poinsot":
            names = [f"poinsot.{a.name}" for a in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        rooms += [name.split(".")[1] for name in names if name.startswith("poinsot.")]
    return rooms


def test_imports_point_upwards() -> None:
    wrong = []
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        for other in imports_of(path, everywhere=str(path.relative_to(SOURCE)) not in FACES):
            if ROOMS.index(other) > ROOMS.index(room):
                wrong.append(f"{path.relative_to(SOURCE)} imports from the lower room {other!r}")
    assert wrong == []


def test_modules_stay_small() -> None:
    long = {p.name: n for p in SOURCE.rglob("*.py") if (n := p.read_text().count("\n")) > 600}
    assert long == {}
