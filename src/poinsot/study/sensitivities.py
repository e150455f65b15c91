"""Sensitivities of the outcome of a run to the numbers of its description: exact derivatives, through the compiler."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.fuse import Kernel, jacobian
from poinsot.run.compiled import CompiledSystem
from poinsot.run.inputs import read_inputs
from poinsot.run.observe import observables
from poinsot.run.stepping import choose_method
from poinsot.run.time_grid import time_grid
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
    outputs: Sequence[str],
    parameters: Sequence[str],
    duration: float,
    step: float = 1e-3,
    method: str | None = None,
    inputs: Mapping[str, Any] | None = None,
) -> Sensitivity:
    """The derivatives of outputs after a duration [s] by numbers of the description.

    outputs: names of quantities that can be recorded ("energy"), or of one body ("box.position"); parameters: paths.
    The steps themselves are differentiated, so the derivatives are exact for the scheme.
    """
    system = world.system(tuple(parameters))
    signals = read_inputs(system, inputs or {})
    if signals.jump:
        raise ValueError("an input that jumps cannot be differentiated through: give a function of time.")
    compiled = CompiledSystem(system, choose_method(method, system), signals.functions, False)
    grid = time_grid(duration, step, None, True)
    pick = {name: _picked(system, name) for name in outputs}

    def outcome(p: Array) -> tuple[Array, ...]:
        y = compiled._advance_state(compiled._start(p), p, 0.0, grid.step, grid.steps)
        end = compiled.context(p).motion(grid.duration, compiled.unpack(y).state)
        return tuple(of(end) for of in pick.values())

    p = compiled.parameters({}, {name: values[0] for name, (_, values) in signals.held.items()})
    start = system.motion(0.0, system.start())
    cores = ",".join("(" + ",".join(map(str, np.shape(of(start)))) + ")" for of in pick.values())
    kernel = Kernel(outcome, f"({compiled.np})->{cores}")
    values, slopes = (x if isinstance(x, tuple) else (x,) for x in (kernel(p), jacobian(kernel)(p)))
    derivatives = {name: compiled.free_numbers(slope) for name, slope in zip(pick, slopes, strict=True)}
    return Sensitivity(dict(zip(pick, values, strict=True)), derivatives)


def _picked(system: System, name: str) -> Any:
    """The function of a motion that gives this quantity, of all bodies or of one."""
    names = [link.name for link in system.bodies.links]
    body, _, quantity = name.partition(".")
    if body in names:
        observable = observables(system, [quantity])[quantity]
        if observable.dims[:1] == ("body",):
            k = names.index(body)
            return lambda m: observable.of(m)[k]
    return observables(system, [name])[name].of
