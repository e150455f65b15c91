"""Where scenarios and results are: files, examples, folders."""

from pathlib import Path
from typing import TYPE_CHECKING

import poinsot
from poinsot._hints import hint

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


def scenario_path(given: Path | None) -> Path:
    """The file of a scenario: as given, an example by its name, or the default."""
    if given is None:
        return examples()[DEFAULT]
    if given.is_file():
        return given
    known = examples()
    if str(given) in known:
        return known[str(given)]
    near = hint(str(given), known)
    raise FileNotFoundError(
        f"there is no file '{given}', nor an example of that name{near or '; poinsot examples lists them.'}"
    )


def load(given: Path | None, changes: list[str] | None, allow_code: bool) -> "Scenario":
    """A scenario, checked."""
    from poinsot.files.scenario import changes_of, load_scenario

    return load_scenario(scenario_path(given), changes_of(changes or ()), allow_code)


def result_path(out: Path | None, name: str, suffix: str) -> Path:
    """Where a result goes: as given, or into the folder `results`, which is made if need be."""
    if out is not None:
        return out
    RESULTS.mkdir(exist_ok=True)
    return RESULTS / f"{name}{suffix}"
