"""A run: the world that was simulated, how, and the records."""

import warnings
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._errors import UnknownNameError
from poinsot._hints import hint
from poinsot._memo import is_known
from poinsot._types import Array
from poinsot._version import __version__
from poinsot.run import output_kinds
from poinsot.run.columns import Columns
from poinsot.run.compiled import CompiledSystem
from poinsot.run.continuing import RunState
from poinsot.run.fingerprints import hash_of
from poinsot.run.ledger import WIDTH, Ledger
from poinsot.run.limits import Limits, limits
from poinsot.run.observe import LABELS, observe
from poinsot.run.table_exits import TableExits, table_exits
from poinsot.world import Description, World
from poinsot.world.dimensions import unit_at

if TYPE_CHECKING:
    from poinsot.files.saving import Writer
    from poinsot.show import Viewer

LOOKS = 64  # records among which the largest amounts are looked for that a ledger is judged by


@dataclass(frozen=True, eq=False)
class Stop:
    """Why a run ended: "duration", "condition", "broken" (a number became NaN or infinite), "capacity" (more contacts
    than a list holds) or "interrupted".

    time [s], for a batch (n,); the reason in words; and for a batch notes on single instances, by their number.
    """

    reason: str
    time: Any
    text: str
    notes: Mapping[int, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text

    @property
    def is_early(self) -> bool:
        """Whether it ended before its time, neither by its duration nor by its condition."""
        return self.reason in ("broken", "capacity", "interrupted")


@dataclass(frozen=True, eq=False)
class Run:
    """The records of a simulation.

    time (r,) [s]; y (r, ..., ny), the flat states of each instance; p (..., np), the parameters: varied numbers and
    inputs. `data` holds all that was recorded with names and units, `ledger` the conserved quantities, `stop` why the
    run ended, `end` the state to go on from.
    """

    world: World
    compiled: CompiledSystem
    time: Array
    y: Array
    p: Array
    settings: Mapping[str, Any]
    stop: Stop
    record: str | Sequence[str] | None = None
    end: RunState | None = None

    @property
    def batch(self) -> int | None:
        """How many instances; None for a single run."""
        return None if self.y.ndim == 2 else self.y.shape[1]

    @cached_property
    def data(self) -> Any:
        """An xarray.Dataset with the dimensions time, batch, body, axis and so on, with units and frames."""
        return self._recorded.to_xarray()

    def observed(self, names: Sequence[str] | None = None) -> Any:
        """An xarray.Dataset of these quantities, also of ones that were not recorded: run.observed(["reaction"])."""
        if names and is_known(self, "data") and all(name in self.data for name in names):
            return self.data[list(names)]
        return self._observed(names).to_xarray()

    # The same without xarray, until somebody asks for it.

    @property
    def columns(self) -> Any:
        """The records: `data` itself if it is there already, else `Columns`."""
        return self.data if is_known(self, "data") else self._recorded

    def columns_of(self, *names: str) -> Any:
        """The result of `observed`, or the same as `Columns`."""
        if not all(name in self.columns for name in names):
            return self._observed(names)
        return self.data[list(names)] if is_known(self, "data") else self._recorded.chosen(names)

    @cached_property
    def _recorded(self) -> Columns:
        return self._observed((self.record,) if isinstance(self.record, str) else self.record)

    def _observed(self, names: Sequence[str] | None) -> Columns:
        front = ("time",) if self.batch is None else ("time", "batch")
        quantities = observe(self.compiled, names, self.time, np.asarray(self.y), self.p)
        variables: dict[str, Any] = {}
        used: set[str] = set()
        for name, (observable, array) in quantities.items():
            attributes = {"units": observable.unit, "description": observable.meaning}
            variables[name] = ((*front, *observable.dims), array, attributes)
            used |= set(observable.dims)
        labels = {dim: list(label(self.compiled.system)) for dim, label in LABELS.items() if dim in used}
        coords = {
            "time": ("time", self.time, {"units": "s"}),
            **labels,
            **varied_coords(self.varied, variables, self.world.description),
        }
        return Columns.made(variables, coords, self.attributes())

    @cached_property
    def outputs(self) -> Any:
        """An xarray.Dataset of the outputs that were asked for: a number each, or (n,) for a batch.

        The time of an event that did not happen is NaN, as is all of an instance that broke down.
        """
        import xarray

        kept, end = self.compiled.outputs, self.end
        if not kept or end is None:
            raise ValueError('no outputs were kept: simulate(..., outputs={"highest": "max(altitude)"}).')
        front = () if self.batch is None else ("batch",)
        units = {o.name: {"units": o.unit} for o in kept if o.unit}
        values = {
            name: (front, x, {"description": text, **units.get(name, {})})
            for (name, text), x in output_values(self.compiled, end)
        }
        return xarray.Dataset(
            values, varied_coords(self.varied, values, self.world.description), attrs=self.attributes()
        )

    @property
    def varied(self) -> dict[str, Array]:
        """The values (n, ...) of the numbers that were varied."""
        if self.batch is None:
            return {}
        return self.compiled.free_numbers(self.p[0] if self.p.ndim == 3 else self.p)

    def attributes(self) -> dict[str, Any]:
        """The settings that are numbers or text, and why the run ended."""
        known = {k: v for k, v in self.settings.items() if isinstance(v, (str, int, float, np.number))}
        return {**known, "stop": self.stop.reason, "stop_text": self.stop.text}

    @cached_property
    def ledger(self) -> Ledger:
        """The conserved quantities at the start and the end, and the inflow through each source."""
        compiled = self.compiled
        if not compiled.keeps_ledger:
            raise ValueError("no ledger was kept for this run: simulate with ledger=True.")
        chosen = np.unique(np.linspace(0, len(self.time) - 1, LOOKS).astype(int))
        y = self.y if len(chosen) == len(self.time) else np.stack([np.asarray(self.y[k]) for k in chosen])
        y = np.asarray(y)
        time = self.time[chosen].reshape(-1, *(1,) * (y.ndim - 2))
        p = self.p[chosen] if self.p.ndim == y.ndim else self.p
        with np.errstate(all="ignore"):
            conserved, gross = compiled.conserved(time, y, p)
        names = compiled.sources
        inflow = np.zeros((*self.y.shape[1:-1], len(names) * WIDTH))
        inflow[..., compiled.inflow_indices] = y[-1, ..., compiled.n_state :] - y[0, ..., compiled.n_state :]
        table = inflow.reshape(*self.y.shape[1:-1], len(names), WIDTH)
        return Ledger(names, conserved[0], conserved[-1], table, gross.max(axis=0))

    @property
    def unexplained(self) -> bool:
        """Whether the ledger was kept, and its relative residual is above the tolerance of the run."""
        if not self.compiled.keeps_ledger:
            return False
        return not bool(np.all(self.ledger.relative_residual <= self.settings.get("ledger_tolerance", np.inf)))

    # Saving and repeating it.

    def save(self, path: str | PathLike[str]) -> None:
        """Write the run to x.nc (NetCDF) or x.zarr, from which `load_run` reads it; all of it or nothing."""
        from poinsot.files.saving import save

        save(self, path)

    def export(self, path: str | PathLike[str]) -> None:
        """Write `data` as a flat table, x.csv or x.parquet: a row for each time and instance."""
        from poinsot.files.tables import export

        export(self, path)

    def repeat(self, **changes: Any) -> "Run":
        """Simulate again, with the same options or with some of them changed; unchanged, it gives the same bits."""
        world = self._own_world()
        if hash_of(world) != self.settings["description_hash"]:
            raise ValueError(
                f"the run cannot be repeated: its world had the hash {self.settings['description_hash']}, and now has "
                f"{hash_of(world)}. Simulate run.world instead, if you want the changed world."
            )
        made = {name: self.settings[name] for name in ("poinsot", "numpy")}
        if made != versions():
            warnings.warn(f"the run was made with {made}, this is {versions()}: last digits may differ.", stacklevel=2)
        return world.simulate(**{**self.settings["options"], **changes})

    def continue_(self, duration: float, **changes: Any) -> "Run":
        """The run with a further duration [s] at its end, to the same bits as one long run; nothing compiles again.

        Options may be changed for the rest of it: inputs, until.
        """
        from poinsot.run.joining import continued

        return continued(self, self._own_world(), duration, changes)

    def _own_world(self) -> World:
        """The world as it was when it was simulated."""
        described = self.compiled.system.description
        return self.world if self.world.description is described else World.of(described)

    # Showing it.

    def view(self, **options: Any) -> "Viewer":
        """Show it in the browser; see `poinsot.show.viewer` for all options."""
        from poinsot.show import view

        return view(self, **options)

    def to_html(self, path: str | PathLike[str], **options: Any) -> Path:
        """Write one file that plays it in a browser, offline and from disk; see `poinsot.show.html` for the options."""
        from poinsot.show import to_html

        return to_html(self, path, **options)

    def snapshot(
        self, path: str | PathLike[str], time: float | None = None, camera: Any = None, **options: Any
    ) -> Path:
        """Write a picture, x.png, of a time [s], the end by default; see `poinsot.show.snapshot`."""
        from poinsot.show import snapshot

        return snapshot(self, path, time, camera, **options)

    def animate(self, path: str | PathLike[str], camera: Any = None, **options: Any) -> Path:
        """Write a short animation, x.gif or x.mp4; see `poinsot.show.animate`."""
        from poinsot.show import animate

        return animate(self, path, camera, **options)

    def plot(self, *what: str, **options: Any) -> Any:
        """A matplotlib figure: run.plot(), run.plot("position", body="box"), run.plot("polhode"); see `show.plot`."""
        from poinsot.show import plot

        return plot(self, *what, **options)

    def _repr_html_(self) -> str | None:
        """In a notebook it plays."""
        from poinsot.show.replay import framed

        return framed(self)

    @cached_property
    def limits(self) -> Limits:
        """The limits of the structure: which were passed, by what load, and when."""
        return limits(self.compiled.system, self.y[-1])

    @cached_property
    def table_exits(self) -> TableExits:
        """The axes of tables that look-ups left, for how long, and how far; judged at every step.

        At the records alone if steps were adaptive, or made on a GPU.
        """
        steps = not self.compiled.is_adaptive and self.compiled.device == "cpu"
        step = self.settings["step"] if steps else None
        return table_exits(self.compiled, (self.time, np.asarray(self.y), self.p), step, self.stop.time)

    def __getitem__(self, body: str) -> Any:
        """The records of one body: run["plane"].position."""
        known = self.world.description.bodies
        if isinstance(body, str) and body not in known:
            raise UnknownNameError(f"there is no body {body!r}{hint(body, known) or '.'}", body)
        return self.data.sel(body=body)

    def __repr__(self) -> str:
        many = "" if self.batch is None else f" of {self.batch} worlds"
        return f"<Run{many}: {len(self.time)} records to t = {self.time[-1]:g} s; {self.stop}>"


def output_values(compiled: CompiledSystem, end: RunState) -> Iterator[tuple[tuple[str, str], Array]]:
    """The names and texts of outputs, and their values (...) at the end of a run."""
    kept = compiled.outputs
    with np.errstate(all="ignore"):
        last = np.moveaxis(compiled.output_values(end.times, end.y, end.p), -1, 0)
        values = output_kinds.results(kept, end.x[..., compiled.nx - compiled.n_memory :], end.times, last)
    broken = np.zeros(end.times.shape, dtype=bool)
    for index in end.broken:
        broken[index] = True
    for output, value in zip(kept, values, strict=True):
        yield (output.name, output.text), np.where(broken, np.nan, value)


def outputs_of(run: Run) -> dict[str, Array]:
    """The outputs that were asked for, by name, as plain arrays."""
    assert run.end is not None
    return {name: value for (name, _), value in output_values(run.compiled, run.end)}


def varied_coords(varied: Mapping[str, Array], quantities: Container[str], description: Description) -> dict[str, Any]:
    """Varied numbers (n, ...) as coordinates of xarray: by their paths, "path.varied" where a quantity has the name."""
    coords = {}
    for path, values in varied.items():
        about = {"description": "varied"} | ({"units": unit} if (unit := unit_at(path, description)) else {})
        dims = ("batch", *(f"{path}.{k}" for k in range(values.ndim - 1)))
        coords[f"{path}.varied" if path in quantities else path] = (dims, values, about)
    return coords


def writer(
    path: str | PathLike[str], world: World, compiled: CompiledSystem, settings: Mapping[str, Any], record: Any
) -> "Writer":
    """The writer that puts the records of a run on disk while it goes on."""
    from poinsot.files.saving import Writer

    return Writer(path, world, compiled, settings, record)


def versions() -> dict[str, str]:
    """The versions on which last digits may depend."""
    return {"poinsot": __version__, "numpy": np.__version__}
