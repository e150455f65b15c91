"""The state of a run, with all that it needs to go on: to the same bits as if it had not stopped."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poinsot._memo import memo
from poinsot._types import Array
from poinsot.run.compiled import INPUT, CompiledSystem
from poinsot.run.fingerprints import hash_of
from poinsot.world import Description, World, paths

START = ("position", "orientation", "velocity", "angular_velocity", "q", "v")  # numbers of bodies at the start alone
FEW = 3  # differences that are named


@dataclass(frozen=True, eq=False)
class Layout:
    """The meaning of a state's numbers: the world that they belong to, the method, and the names of all of them."""

    hash: str
    method: str
    states: tuple[str, ...]
    parameters: Mapping[str, tuple[int, ...]]
    description: Description | None = field(default=None, repr=False)
    outputs: tuple[str, ...] = ()
    memory: int = 0  # numbers of x, the last ones, that outputs remember

    def __getstate__(self) -> dict[str, Any]:
        """Without the description, which may hold functions: the hash tells one world from another."""
        return {**self.__dict__, "description": None}


@memo
def layout_of(compiled: CompiledSystem) -> Layout:
    """The layout of the states of a compiled system."""
    description, labels = compiled.system.description, tuple(compiled.labels())
    world_hash = hash_of(World.of(description))
    kept = tuple(f"{output.name} = {output.text}" for output in compiled.outputs)
    shapes = dict(compiled.parameter_shapes)
    return Layout(world_hash, compiled.method, labels, shapes, description, kept, compiled.n_memory)


@dataclass(frozen=True, eq=False)
class RunState:
    """Where a run is, or many: `world.simulate(duration, start=state)` goes on from here.

    step [s], origin [s], steps: the clock stands at origin + steps * step.
    y (..., ny), the flat state: coordinates, velocities, states of parts, and the inflow of the ledger. x (..., nx):
    the form that the method steps. p (..., np): varied numbers and inputs.
    times (...) [s]: of each instance; before the clock for those that ended there.
    broken: by their indices, the instances that broke down. inputs: as they were given to the run. remembers: whether
    outputs go on as well, of the whole and not of the rest alone.
    """

    layout: Layout
    step: float
    origin: float
    steps: int
    y: Array
    x: Array
    p: Array
    times: Array
    broken: Mapping[tuple[int, ...], Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    remembers: bool = False

    def __post_init__(self) -> None:
        for name in ("y", "x", "p", "times"):
            array = np.array(getattr(self, name))
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def time(self) -> float:
        """The reading of the clock [s]."""
        return self.origin + self.steps * self.step

    @property
    def batch(self) -> int | None:
        """How many instances; None for a single one."""
        return None if self.y.ndim == 1 else len(self.y)

    def numbers(self) -> dict[str, Array]:
        """The varied numbers by their paths, (..., *shape)."""
        return {name: x for name, x in self._parameters() if not name.startswith(INPUT)}

    def held_inputs(self) -> dict[str, Array]:
        """The values of the inputs by their names."""
        return {name.removeprefix(INPUT): x for name, x in self._parameters() if name.startswith(INPUT)}

    def _parameters(self) -> Iterator[tuple[str, Array]]:
        start = 0
        for name, shape in self.layout.parameters.items():
            size = int(np.prod(shape))
            yield name, self.p[..., start : start + size].reshape((*self.p.shape[:-1], *shape))
            start += size

    def __getitem__(self, k: int) -> "RunState":
        """The state of one instance."""
        if self.batch is None:
            raise TypeError("this is the state of a single run; it has no instances to choose from.")
        t = float(self.times[k])
        origin, steps = (self.origin, self.steps) if t == self.time else (t, 0)
        broken: dict[tuple[int, ...], Any] = {(): self.broken[(k,)]} if (k,) in self.broken else {}
        arrays = (self.y[k], self.x[k], self.p[k], self.times[k])
        return RunState(self.layout, self.step, origin, steps, *arrays, broken, self.inputs)

    def __repr__(self) -> str:
        many = "" if self.batch is None else f" of {self.batch} worlds"
        return f"<RunState{many} at t = {self.time:g} s>"


def require_own(start: Any, world: World) -> None:
    """An error if a state does not belong to this world, which says what differs."""
    if not isinstance(getattr(start, "layout", None), Layout):
        raise TypeError(f"a state is needed, such as run.end, not {type(start).__name__}.")
    if start.layout.hash == hash_of(world):
        return
    found = list(differences(start.layout, world))
    shown = "; ".join(found[:FEW]) + (f"; and {len(found) - FEW} more" if len(found) > FEW else "")
    raise ValueError(
        f"the state belongs to another world: {shown or 'its functions differ'}. To go on with "
        "other numbers, leave the world as it was and give them with vary={path: value}."
    )


def differences(layout: Layout, world: World) -> Iterator[str]:
    """The difference between the world of a layout and another one, in words."""
    was, now = layout.description, world.description
    if was is None:
        yield f"its hash was {layout.hash}, and is {hash_of(world)}"
        return
    for kind, many in (("body", "bodies"), ("element", "elements"), ("input", "inputs")):
        before, after = getattr(was, many), getattr(now, many)
        yield from (f"{kind} {name!r} is missing" for name in before if name not in after)
        yield from (f"{kind} {name!r} is new" for name in after if name not in before)
    both = set(paths.known(was)) & set(paths.known(now))
    for path in sorted(both):
        a, b = paths.read(was, path), paths.read(now, path)
        if not np.array_equal(a, b):
            yield f"{path} was {np.asarray(a).tolist()}, and is {np.asarray(b).tolist()}"


def require_no_start_numbers(start: RunState, vary: Mapping[str, Any]) -> None:
    """An error if a number is varied that only says how a body starts."""
    new = [path for path in vary if path not in start.numbers() and path.split("[")[0].rpartition(".")[2] in START]
    if new:
        raise ValueError(f"{new[0]} says how a body starts; a run that goes on from start=... does not use it.")


def require_together(times: Array, clock: float, running: Array) -> None:
    """An error if instances that go on are not at the same time [s]."""
    apart = np.argwhere(running & (times != clock))
    if times.ndim and len(apart):
        k = int(apart[0, 0])
        raise ValueError(
            f"instance {k} ended at t = {times[k]:g} s, before the clock of the others, {clock:g} s: a batch goes on "
            f"together. Give the condition that ended it, until=..., or go on with it alone, start=run.end[{k}]."
        )


def resumed(start: RunState, compiled: CompiledSystem, n: int | None, p: Array) -> tuple[Array, Array]:
    """y (..., ny) and x (..., nx) of a state in the layout of a compiled system, for p (..., np).

    They are those of the state, to the bit, unless the method or the ledger differs. A single state may start a batch.
    """
    own = layout_of(compiled)
    many = () if n is None else (n,)
    y, x = (np.broadcast_to(array, (*many, array.shape[-1])).copy() for array in (start.y, start.x))
    was = start.layout
    if own.states == was.states and own.method == was.method:
        if start.remembers and own.outputs == was.outputs:
            return y, x
        x = x[..., : x.shape[-1] - was.memory]
    else:
        known = {label: y[..., k] for k, label in enumerate(was.states)}
        y = np.stack([known.get(label, np.zeros(many)) for label in own.states], axis=-1)
        x = np.asarray(compiled.to_stepped(y, p))[..., : compiled.nx - own.memory]
    return y, with_memory(compiled, x, start.times, y, p)


def with_memory(compiled: CompiledSystem, x: Array, t: Any, y: Array, p: Array) -> Array:
    """The form x of the method with the memory of outputs at the start, if there are any."""
    return np.concatenate([x, compiled.first_memory(t, y, p)], axis=-1) if compiled.n_memory else x
