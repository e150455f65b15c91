"""The places of scenarios and results: files, examples, folders."""

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import poinsot
from poinsot._alone import not_alone
from poinsot._hints import file_hint, hint

if TYPE_CHECKING:
    from poinsot.files.scenario import Scenario

DEFAULT = "t-handle"
RESULTS = Path("results")


def examples() -> dict[str, Path]:
    """The examples that came with Poinsot, by name."""
    here = Path(poinsot.__file__).parent
    folders = (here / "examples", here.parents[1] / "examples")  # installed, or in a checkout
    folder = next((f for f in folders if f.is_dir()), folders[0])
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def scenario_path(file: Path | None) -> Path:
    """The file of a scenario: this one, an example by its name, or by default the T-handle."""
    if file is None:
        return examples()[DEFAULT]
    if file.is_file():
        return file
    known = examples()
    if str(file) in known:
        return known[str(file)]
    near = hint(str(file), known) or file_hint(file)
    raise FileNotFoundError(
        f"there is no file '{file}', nor an example of that name"
        + (near if near != "." else "; poinsot examples lists them.")
    )


def load(file: Path | None, changes: list[str] | None, allow_code: bool, flight: Path | None = None) -> "Scenario":
    """A scenario with these changes, checked; flight: the table of what was flown."""
    from poinsot.files.scenario import load_scenario, parse_changes

    if allow_code:
        not_alone()
    changed = parse_changes(changes or ())
    changed |= {} if flight is None else {"run.flight": str(flight.absolute())}
    return load_scenario(scenario_path(file), changed, allow_code)


def result_path(out: Path | None, name: str, suffix: str) -> Path:
    """The file for a result: `out`, or one in the folder `results`, which is made if need be."""
    if out is not None:
        return out
    RESULTS.mkdir(exist_ok=True)
    return RESULTS / f"{name}{suffix}"


def place_for(out: Path | None, default: Path, overwrite: bool, *beside: str) -> Path:
    """The file to write: `out`, which must not exist, or the default name, which takes a number if it does.

    beside: the suffixes of files of the same name that are written as well.
    """
    path = default if out is None else out
    if overwrite:
        return path
    if out is None:
        return new_path(path, *beside)
    for one in (path, *(path.with_suffix(suffix) for suffix in beside)):
        require_new(one)
    return path


def require_new(path: Path) -> None:
    """FileExistsError if there is such a file: nothing is replaced without leave."""
    if path.exists() or path.is_symlink():
        raise FileExistsError(f"'{path}' already exists; choose another name, or replace it with --overwrite.")


def new_path(path: Path, *beside: str) -> Path:
    """This path, or the first of x-2, x-3, ... that does not exist, nor files of that name with these suffixes."""
    candidates = (path.with_name(f"{path.stem}{f'-{k}' if k > 1 else ''}{path.suffix}") for k in itertools.count(1))
    return next(c for c in candidates if not any(f.exists() for f in (c, *(c.with_suffix(s) for s in beside))))
