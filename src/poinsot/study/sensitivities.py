"""How the outcome of a run depends on the numbers of the description: exact derivatives, through the compiler."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.fuse import Kernel, jacobian
from poinsot.run.compiled import Rows
from poinsot.run.observe import observables
from poinsot.run.plan import choose, inputs_of, plan
from poinsot.run.result import free_numbers
from poinsot.world import World


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
    given = inputs_of(system, inputs or {})
    if given.jump:
        raise ValueError("an input that jumps cannot be differentiated through: give a function of time.")
    rows = Rows(system, choose(method, system), given.functions, False)
    schedule = plan(duration, step, None, True)
    pick = {name: _picked(rows, name) for name in outputs}

    def outcome(p: Array) -> tuple[Array, ...]:
        y = rows._advance(rows._start(p), p, 0.0, schedule.step, schedule.steps)
        setting = rows.setting(p)
        end = system.motion(schedule.duration, rows.unpack(y).state, setting.parameters, setting.given_inputs(duration))
        return tuple(of(end) for of in pick.values())

    p = rows.row({}, {name: values[0] for name, (_, values) in given.held.items()})
    start = system.motion(0.0, system.start())
    cores = ",".join("(" + ",".join(map(str, np.shape(of(start)))) + ")" for of in pick.values())
    kernel = Kernel(outcome, f"({rows.np})->{cores}")
    values, slopes = (x if isinstance(x, tuple) else (x,) for x in (kernel(p), jacobian(kernel)(p)))
    derivatives = {name: free_numbers(rows, slope) for name, slope in zip(pick, slopes, strict=True)}
    return Sensitivity(dict(zip(pick, values, strict=True)), derivatives)


def _picked(rows: Rows, name: str) -> Any:
    """The function of a motion that gives this quantity, of all bodies or of one."""
    names = [link.name for link in rows.system.bodies.links]
    body, _, quantity = name.partition(".")
    if body in names:
        observable = observables(rows, [quantity])[quantity]
        if observable.dims[:1] == ("body",):
            k = names.index(body)
            return lambda m: observable.of(m)[k]
    return observables(rows, [name])[name].of
