"""Which folders are Zarr stores that Poinsot wrote, and hold nothing else: only those are ever replaced."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

NOTES = (".zgroup", ".zattrs", ".zmetadata", ".zarray")
PIECE = re.compile(r"\d+(\.\d+)*|.*\.[0-9a-f]{32}\.partial")  # of an array; also one that a killed process left


def kind_of(path: Path) -> str | None:
    """The kind of store that Poinsot wrote at this place, "run" or "sweep"; None if it is something else."""
    if not (path.is_dir() and (path / ".zgroup").is_file()):
        return None
    if (path / "run" / "text" / ".zarray").is_file():
        return "run"
    try:
        notes = json.loads((path / ".zattrs").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    ours = isinstance(notes, dict) and notes.get("kind") == "sweep" and "sweep_hash" in notes
    return "sweep" if ours else None


def require_owned(path: Path) -> str:
    """The kind of the store at this place; FileExistsError if it is not one of ours, or holds files of others."""
    if path.is_symlink():
        raise FileExistsError(
            f"'{path}' exists and is not a folder but a symbolic link to '{path.resolve()}'; it is not replaced. "
            "Save to that place itself, or choose another name."
        )
    kind = kind_of(path)
    if kind is None:
        raise FileExistsError(
            f"'{path}' exists and is not a saved run or sweep of Poinsot; it is not replaced. Move it, or choose "
            "another name."
        )
    for other in foreign(path):
        raise FileExistsError(
            f"'{path}' is a {kind}, but '{other.relative_to(path)}' in it was not written by Poinsot; it is not "
            "replaced. Move that file, or choose another name."
        )
    return kind


def foreign(folder: Path) -> Iterator[Path]:
    """The files in a Zarr store that do not belong to one."""
    array = (folder / ".zarray").is_file()
    if not array and not (folder / ".zgroup").is_file():
        yield folder
        return
    for entry in folder.iterdir():
        if entry.is_symlink():
            yield entry
        elif entry.is_dir() and not array:
            yield from foreign(entry)
        elif entry.is_dir() or not (entry.name in NOTES or PIECE.fullmatch(entry.name)):
            yield entry
