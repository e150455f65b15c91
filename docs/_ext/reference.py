"""The reference: a page for each room with all of its public names, made from their docstrings."""

import inspect
import re
from pathlib import Path
from typing import Any

import poinsot
from poinsot._listed import modules

ROOMS = {
    "fuse": "The compiler",
    "spatial": "Spatial algebra and mass properties",
    "particles": "Point masses and springs",
    "body": "One rigid body",
    "mechanism": "Mechanisms",
    "contact": "Contact",
    "parts": "Parts of vehicles",
    "environment": "Earth, air and ground",
    "control": "Control",
    "integrate": "Time stepping",
    "world": "Worlds",
    "run": "Runs",
    "study": "Studies",
    "files": "Files",
    "show": "Pictures",
    "learn": "Learning",
}
INTRODUCTION = """\
# Reference: {title}

Public names of `poinsot.{room}`, reached as `poinsot.name` (`import poinsot as pt`).
"""


def names_of_rooms() -> dict[str, list[str]]:
    """Public names by the room that they come from; whole modules under their own."""
    rooms: dict[str, list[str]] = {room: [] for room in ROOMS}
    for name, module in sorted(modules(poinsot.__file__).items()):
        parts = module.split(".")
        room = parts[1] if len(parts) > 1 else name
        rooms.setdefault(room if room in ROOMS else "run", []).append(name)
    return rooms


def entry(name: str) -> str:
    """How one name is documented."""
    thing = getattr(poinsot, name)
    kind = "module" if inspect.ismodule(thing) else "class" if inspect.isclass(thing) else "function"
    if not (inspect.ismodule(thing) or inspect.isclass(thing) or callable(thing)):
        return f"## {name}\n\n```{{eval-rst}}\n.. autodata:: poinsot.{name}\n```\n"
    if kind == "module":  # its classes may have entries of their own
        return f"## {name}\n\n```{{eval-rst}}\n.. automodule:: {thing.__name__}\n   :no-index:\n```\n"
    return f"## {name}\n\n```{{eval-rst}}\n.. auto{kind}:: poinsot.{name}\n```\n"


def write_pages(app: Any) -> None:
    """Write the pages of the reference beside the others; they are not kept in the repository."""
    folder = Path(app.srcdir) / "reference"
    folder.mkdir(exist_ok=True)
    rooms = {room: names for room, names in names_of_rooms().items() if names}
    for room, names in rooms.items():
        text = INTRODUCTION.format(title=ROOMS[room], room=room) + "\n" + "\n".join(map(entry, names))
        _write(folder / f"{room}.md", text)
    listed = "\n".join(f"{ROOMS[room]} <{room}>" for room in rooms)
    listing = {room: ", ".join(_link(name, room) for name in names) for room, names in rooms.items()}
    table = "\n".join(f"- [{ROOMS[room]}]({room}.md): {links}" for room, links in listing.items())
    _write(folder / "index.md", f"# Reference\n\n{table}\n\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n")


def _link(name: str, room: str) -> str:
    """To its heading; `__version__` has none that a link could name."""
    return f"`{name}`" if name.startswith("_") else f"[`{name}`]({room}.md#{name.lower()})"


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


# Docstrings here are plain text: `code` in back quotes, indented equations, and no markup besides.


def as_plain_text(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Turn a docstring into reStructuredText that reads the same."""
    out: list[str] = []
    literal = False
    for line in lines:
        indented = line.startswith("    ")
        if indented and not literal:
            out += ["", "::", ""]
        literal = indented or (literal and not line.strip())
        out.append(line if indented else _escaped(line))
    lines[:] = out


def _escaped(line: str) -> str:
    parts = re.split(r"(`[^`]+`)", line)
    return "".join(
        f"`{part}`" if part.startswith("`") and len(part) > 2 else re.sub(r"([\\*|_`])", r"\\\1", part)
        for part in parts
    )


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-docstring", as_plain_text)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
