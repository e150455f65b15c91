"""Runs read from disk: the same data, ledger and settings, and a world that can move again."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._hints import file_hint
from poinsot._memo import set_known
from poinsot._types import Array
from poinsot._version import __version__
from poinsot.files.described import missing, restore
from poinsot.files.run_states import read_state
from poinsot.files.stores import store_for
from poinsot.run import Ledger, Run, Stop, limits
from poinsot.run.compiled import CompiledSystem
from poinsot.run.inputs import read_inputs
from poinsot.world import Description, World

if TYPE_CHECKING:
    from xarray import Dataset, Variable

FORMAT = 1  # of the groups "states" and "run" (see `saving`); a file with a higher number is newer than this version

Name = str | PathLike[str]


def load_run(path: Name, allow_code: bool = False, lazy: bool = False) -> Run:
    """A run from its file: the same data, ledger, settings and reason to stop, and its world.

    allow_code: import the user's own functions that the world needs, by the names in the file. Without it, a world with
    such functions cannot move again, but all records are there.
    lazy: read records when they are needed, for files larger than memory.
    """
    return open_run(Path(path), lambda meta, p: _equations(meta, p, allow_code), lazy)


Equations = Callable[[dict[str, Any], Array], tuple[World, Any, Mapping[str, Any]]]


def open_run(path: Path, equations: Equations, lazy: bool, check: bool = True) -> Run:
    """The run in a file; `equations` gives its world, compiled system and settings, from its text in JSON and p.

    It is read again if another process replaced the file in the meantime. check: first, whether it is damaged.
    """
    for _ in range(100):
        seen = _identity(path)
        try:
            if check:
                _check(path)
            run = _read_run(path, equations, lazy)
        except (OSError, ImportError, MemoryError):
            if _identity(path) == seen:
                raise
            continue
        except Exception as error:  # whatever libraries say of bytes that are wrong
            if _identity(path) == seen:
                if str(path) in str(error):
                    raise
                raise ValueError(f"'{path}' is damaged, and cannot be read: {_said(error)}") from error
            continue
        if _identity(path) == seen:
            return run
    raise OSError(f"'{path}' cannot be read: it keeps being replaced.")


def _identity(path: Path) -> tuple[int, ...] | None:
    """Numbers that differ between two files, or folders, of the same name; None if there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns


def _check(path: Path) -> None:
    """An error if there is no such file, or if it is damaged."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file '{path}'{file_hint(path)}")
    if not (path.is_file() or path.is_dir()):
        raise ValueError(f"'{path}' is not a file or folder, but a pipe, socket or device.")
    store_for(path).check(path)


def _read_run(path: Path, equations: Equations, lazy: bool) -> Run:
    whole, meta = _read_whole(path)
    store = store_for(path)
    data, records = store.read(path, None), store.read(path, "states")
    if not lazy:
        data, records = _read(data), _read(records)
    p = records["p"].values if "p" in records else whole["p"].values
    world, compiled, settings = equations(meta, p[0] if "p" in records else p)
    notes = {int(k): text for k, text in meta["stop"]["notes"].items()}
    when = whole["stop_time"].values
    stop = Stop(meta["stop"]["reason"], when if when.ndim else float(when), meta["stop"]["text"], notes)
    y = OnDisk(records["y"].variable) if lazy else records["y"].values
    options, description = settings["options"], world.description
    known = {
        name: read_state(name, whole, text, description, options["inputs"] if name == "end" else {})
        for name, text in meta.get("run_states", {}).items()
    }
    if "start" in known:
        options["start"] = known["start"]
    record: Any = restore(meta["record"])
    run = Run(world, compiled, data["time"].values, y, p, settings, stop, record, known.get("end"))  # type: ignore[arg-type]
    set_known(run, "data", data)
    if meta["sources"] is not None:
        initial, final, inflow = (whole[f"ledger_{name}"].values for name in ("initial", "final", "inflow"))
        gross = whole["ledger_gross"].values if "ledger_gross" in whole else None
        set_known(run, "ledger", Ledger(tuple(meta["sources"]), initial, final, inflow, gross))
    return run


def _read_whole(path: Path) -> tuple["Dataset", dict[str, Any]]:
    """The group "run" of a file and the text in it, or an error if this is not a run, or a newer one."""
    store = store_for(path)
    try:
        whole = _read(store.read(path, "run"))
        meta = json.loads(whole["text"].values.tobytes())
        version = int(meta["format"])
    except (PermissionError, ImportError, MemoryError):
        raise
    except Exception as error:  # whatever libraries say of bytes that are wrong
        raise ValueError(f"'{path}' is not a run saved by Poinsot, or is damaged: {_said(error)}") from error
    if version > FORMAT:
        raise ValueError(
            f"'{path}' was written by Poinsot {meta['settings'].get('poinsot')} in format {version}; this is Poinsot "
            f"{__version__}, which reads formats up to {FORMAT}. Update Poinsot."
        )
    return whole, meta


def _said(error: Exception) -> str:
    """An error in words; one of a look-up says only the name that it did not find."""
    return f"{error} is missing." if isinstance(error, KeyError) else str(error) or type(error).__name__


def _read(dataset: "Dataset") -> "Dataset":
    """All of a dataset in memory, and its file closed."""
    with dataset:
        return dataset.load()


def _equations(meta: dict[str, Any], p: Array, allow_code: bool) -> tuple[World, Any, Mapping[str, Any]]:
    """World, compiled system and settings, from the text in JSON of a run and its p."""
    description = restore(meta["description"], allow_code)
    options = {name: restore(value, allow_code, f"the option {name}") for name, value in meta["options"].items()}
    settings = {**restore(meta["settings"]), "options": options}
    world, free = World.of(description), tuple(meta["free"])
    lacking = [*missing(description), *missing(options)]
    if lacking:
        why = " ".join(dict.fromkeys(item.why for item in lacking))
        return world, ReadOnlyEquations(description, free, meta["method"], meta["keeps_ledger"], why), settings
    system = world.system(free)
    functions = read_inputs(system, options["inputs"]).functions
    until = limits.until(system, options["until"])
    device, outputs = options["device"], world.read_outputs(system, options.get("outputs") or {})
    tolerance = options.get("tolerance", 1e-10)
    compiled = CompiledSystem(
        system, meta["method"], functions, meta["keeps_ledger"], until, device, outputs, tolerance
    )
    options["vary"] = compiled.free_numbers(p)
    return world, compiled, settings


@dataclass(frozen=True, eq=False)
class ReadOnlyEquations:
    """Stands for the compiled system of a run whose world lacks a function: to ask it for more is an error."""

    description: Description
    free: tuple[str, ...]
    method: str
    keeps_ledger: bool
    why: str

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ValueError(f"this run can be read, but its world cannot move again. {self.why}")


class OnDisk:
    """An array in a file. Each use reads what it needs; np.asarray(x) reads it all."""

    def __init__(self, variable: "Variable") -> None:
        self.variable = variable
        self.shape, self.ndim, self.size, self.dtype = variable.shape, variable.ndim, variable.size, variable.dtype

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, key: Any) -> Array:
        return np.asarray(self.variable[key].values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.variable.values, dtype)

    def __repr__(self) -> str:
        return f"<array of shape {self.shape} on disk>"
