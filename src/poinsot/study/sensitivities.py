"""Sensitivities of the outcome of a run to the numbers of its description: exact derivatives, through the compiler."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._errors import UnknownNameError
from poinsot._types import Array
from poinsot.fuse import Kernel, jacobian
from poinsot.run.compiled import CompiledSystem
from poinsot.run.inputs import read_inputs
from poinsot.run.observe import observables, of_world
from poinsot.run.output_kinds import Output, remembered, results
from poinsot.run.stepping import choose_method
from poinsot.run.time_grid import TimeGrid, time_grid
from poinsot.world import System, World


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Outputs at the end of a run, and their derivatives: derivatives[output][path] has the shape of both together."""

    values: Mapping[str, Array]
    derivatives: Mapping[str, Mapping[str, Array]]

    def __getitem__(self, key: tuple[str, str]) -> Array:
        """The derivative of an output by a number: sensitivity["box.position", "box.mass"]."""
        output, path = key
        return self.derivatives[output][path]


def sensitivity(
    world: World,
    outputs: Sequence[str] | Mapping[str, Any],
    parameters: Sequence[str],
    duration: float,
    step: float = 1e-3,
    method: str | None = None,
    inputs: Mapping[str, Any] | None = None,
) -> Sensitivity:
    """The derivatives of outputs after a duration [s] by numbers of the description.

    outputs: names of quantities that can be recorded ("energy"), or of one body ("box.position"), at the end; or
    outputs of the run by name, such as {"drift": "rms(box.position.x)"}. parameters: paths.
    The steps themselves are differentiated, so the derivatives are exact for the scheme.
    """
    system = world.system(tuple(parameters))
    signals = read_inputs(system, inputs or {})
    if signals.jump:
        raise ValueError("an input that jumps cannot be differentiated through: give a function of time.")
    kept = _differentiable(world.read_outputs(system, outputs)) if isinstance(outputs, Mapping) else ()
    compiled = CompiledSystem(system, choose_method(method, system), signals.functions, False, outputs=kept)
    grid = time_grid(duration, step, None, True)
    pick: dict[str, Any] = {name: None if kept else picked(system, name) for name in outputs}

    def outcome(p: Array) -> tuple[Array, ...]:
        if kept:
            return _kept(compiled, p, grid)
        y = compiled._advance_state(compiled._start(p), p, 0.0, grid.step, grid.steps)
        end = compiled.context(p).motion(grid.duration, compiled.unpack(y).state)
        return tuple(of(end) for of in pick.values())

    p = compiled.parameters({}, {name: values[0] for name, (_, values) in signals.held.items()})
    start = system.first_motion()
    shapes = [np.shape(of(start)) if of else () for of in pick.values()]
    cores = ",".join("(" + ",".join(map(str, shape)) + ")" for shape in shapes)
    kernel = Kernel(outcome, f"({compiled.np})->{cores}")
    values, slopes = (x if isinstance(x, tuple) else (x,) for x in (kernel(p), jacobian(kernel)(p)))
    derivatives = {name: compiled.free_numbers(slope) for name, slope in zip(pick, slopes, strict=True)}
    return Sensitivity(dict(zip(pick, values, strict=True)), derivatives)


def _kept(compiled: CompiledSystem, p: Array, grid: TimeGrid) -> tuple[Array, ...]:
    """The outputs that a run from the start keeps."""
    y, size = compiled._start(p), compiled.nx - compiled.n_memory
    memory = remembered(compiled.outputs, 0.0, compiled._output_values(0.0, y, p))
    x = np.concatenate([compiled._to_stepped(y, p)[:size], memory])
    x = compiled._advance(x, p, 0.0, 0, grid.step, grid.steps)
    values = compiled._output_values(grid.duration, compiled._from_stepped(x, p), p)
    last = [values[k] for k in range(len(compiled.outputs))]
    return tuple(results(compiled.outputs, x[size:], grid.duration, last))


def _differentiable(outputs: tuple[Output, ...]) -> tuple[Output, ...]:
    """The outputs, unless one is the time of an event."""
    for output in outputs:
        if output.kind == "time":
            raise ValueError(f"output {output.name!r}: the time of an event cannot be differentiated; leave it out.")
    return outputs


def picked(system: System, name: str) -> Any:
    """The function of a motion that gives this quantity, of all bodies or of one, or a signal."""
    names = [link.name for link in system.bodies.links]
    body, _, quantity = name.partition(".")
    known = of_world(system)
    if body in names and quantity in known and known[quantity].dims[:1] == ("body",):
        k = names.index(body)
        return lambda m: known[quantity].of(m)[k]
    try:
        return observables(system, [name])[name].of
    except ValueError:
        try:
            system.first_motion().scene.signal(name)
        except (UnknownNameError, ValueError):
            observables(system, [quantity if body in names else name])  # its error knows the names
            raise
        return lambda m: m.scene.signal(name)
