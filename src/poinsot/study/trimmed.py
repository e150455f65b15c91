"""The result of a trim: a start for runs, numbers to read, a dataset, a world that starts there."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot._optional import require
from poinsot._types import Array
from poinsot.fuse import Kernel
from poinsot.parts.load_factor import load_factor
from poinsot.run.continuing import RunState, layout_of, require_own
from poinsot.run.driver import STEP, compiled_system
from poinsot.run.outcomes import Breakdown
from poinsot.run.stepping import choose_method
from poinsot.study.flight_conditions import EXTRA
from poinsot.study.newton import Equations
from poinsot.study.trim_problem import short
from poinsot.study.trim_request import Asked
from poinsot.world import State, World, paths
from poinsot.world.description import Body
from poinsot.world.flight_start import Start

IN_FLIGHT = ("airspeed", "mach", "altitude", "alpha", "beta")


class TrimError(ValueError):
    """A trim that was not found."""


@dataclass(frozen=True, eq=False)
class Trim:
    """Where a world moves steadily or rests: `world.simulate(duration, start=trim)` begins there.

    z (b, n): what was found; c (b, m): conditions; residual (b, k): what is left of the rates that shall vanish.
    `batch`: how many, None for one. `tried`: first guesses. A number by its name: trim["alpha"], trim["elevator"].
    `made`: what was asked, a `TrimStart`, with which a run trims every instance for its own numbers.
    """

    world: World
    asked: Asked
    equations: Equations
    z: Array
    c: Array
    residual: Array
    tolerance: float
    tried: int
    batch: int | None
    made: Any = None

    @property
    def kind(self) -> str:
        return self.asked.request.kind

    @property
    def converged(self) -> Array:
        """Whether each was found, (b,); () for one."""
        return self._one(np.abs(self.residual).max(axis=1, initial=0.0) < self.tolerance)

    @cached_property
    def values(self) -> dict[str, Array]:
        """The solution, by name, each (b,); numbers for one."""
        return {name: self._one(self.z[:, k]) for k, name in enumerate(self.asked.problem.unknowns)}

    @cached_property
    def conditions(self) -> dict[str, Array]:
        """The numbers that were held or varied, by name."""
        problem, found, start = self.asked.problem, {}, 0
        for path in problem.given:
            shape = np.shape(problem.system.numbers[path])
            size = int(np.prod(shape))
            x = self.c[:, start : start + size].reshape((len(self.c), *shape))
            found[short(path, problem.body)] = self._one(x)
            start += size
        return found

    def __getitem__(self, name: str) -> Array:
        for known in (self.values, self.conditions, self.quantities):
            if name in known:
                return known[name]
        names = (*self.values, *self.conditions, *self.quantities)
        raise KeyError(f"the trim has no {name!r}{hint(name, names)}; it has {', '.join(names)}.")

    @cached_property
    def at_limit(self) -> dict[str, Array]:
        """By name, the unknowns that have limits: -1 at the lower one, 1 at the upper one, else 0."""
        low, high = self.equations.lower, self.equations.upper
        sides = np.where(self.z <= low, -1, np.where(self.z >= high, 1, 0))
        named = enumerate(self.asked.problem.unknowns)
        return {name: self._one(sides[:, k]) for k, name in named if np.isfinite(low[k]) or np.isfinite(high[k])}

    @cached_property
    def state(self) -> State:
        """The state of the world, each array (b, ...)."""
        system = self.asked.problem.system
        with np.errstate(all="ignore"):
            flat = self._one(self.asked.problem.solution(self.z, self.c))
        return State(*np.split(flat, np.cumsum([system.nq, system.nv]), axis=-1))

    @cached_property
    def inputs(self) -> dict[str, Array]:
        """The inputs of the world, by name, each (b, ...)."""
        found = {}
        for name, own in self.world.description.inputs.items():
            value = np.broadcast_to(own, (len(self.z), *np.shape(own))).copy()
            for path, x in self._numbers():
                if path.split("[")[0] == name:
                    at: tuple[Any, ...] = (slice(None), *(paths.places(path) or [()])[0])
                    value[at] = x
            found[name] = self._one(value)
        return found

    @cached_property
    def numbers(self) -> dict[str, Array]:
        """Numbers of the world beside inputs and its start that were found, held or varied, by path."""
        inputs, body = self.world.description.inputs, self.asked.problem.body
        skip = (EXTRA, f"{body}.start.")
        return {p: self._one(x) for p, x in self._numbers() if p.split("[")[0] not in inputs and not p.startswith(skip)}

    def _numbers(self) -> list[tuple[str, Array]]:
        problem, found, start = self.asked.problem, [], 0
        for path in problem.given:
            shape = np.shape(problem.system.numbers[path])
            size = int(np.prod(shape))
            found.append((path, self.c[:, start : start + size].reshape((len(self.c), *shape))))
            start += size
        return found + [(path, self.z[:, k]) for k, path in enumerate(problem.numbers)]

    @cached_property
    def run_state(self) -> RunState:
        """The state from which `world.simulate(duration, start=trim)` goes on."""
        return self._run_state({})

    def run_state_with(self, numbers: Mapping[str, Array]) -> RunState:
        """The same with further numbers by path; of many, those that were not found have broken down."""
        state = self._run_state(numbers)
        if self.batch is None:
            return state
        broken: dict[tuple[int, ...], Breakdown] = {}
        for k in map(int, np.flatnonzero(~self.converged)):
            broken[k,] = Breakdown(1, 0.0, self.left(k), state.x[k], state.y[k])
        return replace(state, broken=broken)

    def run_start(
        self, world: World, vary: Mapping[str, Any], inputs: Mapping[str, Any], batch: int | None, seed: int | None
    ) -> tuple[RunState, Mapping[str, Any], int | None]:
        """The state from which a run starts, its varied numbers, and how many instances it has: with numbers of their
        own, each is trimmed."""
        if not vary or self.batch is not None:
            return self.run_state, vary, batch
        require_own(self.run_state, world)
        started: tuple[RunState, Mapping[str, Any], int | None] = self.made.run_start(world, vary, inputs, batch, seed)
        return started

    def _run_state(self, more: Mapping[str, Array]) -> RunState:
        numbers = {**self.numbers, **more}
        system = self.world.system(tuple(numbers))
        method, n = choose_method(None, system), self.batch
        compiled = compiled_system(system, method, (), n is None, None, "cpu")
        at, many = self.state, () if n is None else (n,)
        p = compiled.parameters(numbers, self.inputs, many)
        zero = np.zeros((*many, len(compiled.inflow_indices)))
        y = np.concatenate([at.q, at.v, at.parts, zero], axis=-1)
        x = np.asarray(compiled.to_stepped(y, p))
        return RunState(layout_of(compiled), STEP, 0.0, 0, y, x, p, np.zeros(many))

    @cached_property
    def quantities(self) -> dict[str, Array]:
        """Derived quantities: of a body in flight, its airspeed and the like, pitch [rad] and load factor."""
        problem = self.asked.problem
        if problem.body is None or "air" not in problem.system.description.elements:
            return {}
        body = problem.body

        def quantities(z: Array, c: Array) -> Array:
            values = problem.values(z, c)
            motion = problem.system.motion(0.0, problem.state(z, values), values)
            air, start = motion.scene.air(body), problem.system.described(values).bodies[body].start
            assert isinstance(start, Start)
            rest = [start.pitch_angle() + 0.0 * air.airspeed, load_factor(motion, body)]
            return np.stack([*(getattr(air, name) for name in IN_FLIGHT), *rest])

        signature = f"({self.z.shape[1]}),({self.c.shape[1]})->({len(IN_FLIGHT) + 2})"
        with np.errstate(all="ignore"):
            found = Kernel(quantities, signature).to("numpy")(self.z, self.c)
        return {name: self._one(found[:, k]) for k, name in enumerate((*IN_FLIGHT, "pitch", "load_factor"))}

    @cached_property
    def data(self) -> Any:
        """An xarray.Dataset with the dimension "batch", or without for one: values, conditions, what is left."""
        xarray = require("xarray", "", "the dataset of a trim")
        dims = () if self.batch is None else ("batch",)
        found: Mapping[str, Array] = {**self.quantities, **self.conditions, **self.values}
        arrays = {
            name: (dims + tuple(f"{name}.{k}" for k in range(np.ndim(x) - len(dims))), x) for name, x in found.items()
        }
        arrays |= {"converged": (dims, self.converged), "limit": (dims, self.binding)}
        rows = self.asked.problem.row_names
        arrays["residual"] = ((*dims, "rate"), self._one(self.residual))
        return xarray.Dataset(arrays, coords={"rate": rows}, attrs={"kind": self.kind})

    @cached_property
    def binding(self) -> Array:
        """The names of the unknowns at a limit, (b,) of text."""
        sides, low = self.at_limit, {-1: "least", 1: "greatest"}
        each = [
            ", ".join(f"{low[int(s)]} {name}" for name, x in sides.items() if (s := np.atleast_1d(x)[k]))
            for k in range(len(self.z))
        ]
        return self._one(np.array(each, dtype=object))

    def left(self, k: int = 0) -> str:
        """The residuals of an instance that are not zero, in words."""
        problem = self.asked.problem
        at = ", ".join(
            f"{short(p, problem.body)} = {np.round(x[k], 6)}" for p, x in self._numbers()[: len(problem.given)]
        )
        rows = [(name, self.residual[k, i]) for i, name in enumerate(problem.row_names)]
        off = sorted((row for row in rows if not abs(row[1]) < self.tolerance), key=lambda row: -abs(row[1]))
        units = problem.rows
        words = ", ".join(f"{name} = {x:.3g} {units[name]}" for name, x in off[:4])
        stops = np.atleast_1d(self.binding)[k]
        stop = f"; at its stop: {stops}" if stops else ""
        found = ", ".join(f"{name} = {x:.4g}" for name, x in zip(problem.unknowns[:8], self.z[k], strict=False))
        return (
            f"{self.kind!r} is not reached{' at ' + at if at else ''}: not zero are "
            f"{words or 'numbers that are not finite'}{stop}. "
            f"The nearest has {found}; {self.tried} first guesses were tried."
        )

    def trimmed_world(self, k: int = 0) -> World:
        """The world of an instance, whose own start and inputs are the trimmed ones."""
        problem, one = self.asked.problem, lambda x: x if self.batch is None else x[k]
        description = paths.write(self.world.description, {p: one(x) for p, x in self.numbers.items()})
        inputs = {name: np.asarray(one(x)) for name, x in self.inputs.items()}
        q, v = np.asarray(one(self.state.q)), np.asarray(one(self.state.v))
        mech, bodies = problem.system.mechanism, dict(description.bodies)
        for name, body in bodies.items():
            if name == problem.body:
                bodies[name] = self._started(body, k)
                continue
            at = mech.index(name)
            gone: dict[str, Any] = dict.fromkeys(("start", "position", "orientation", "velocity", "angular_velocity"))
            bodies[name] = replace(body, **gone, q=q[mech.q_slices[at]], v=v[mech.v_slices[at]])
        elements = _with_states(description.elements, problem.system.named_states(one(self.state.parts)))
        world = World.of(replace(description, bodies=bodies, inputs=inputs, elements=elements))
        world.input_limits, world.robots = dict(self.world.input_limits), list(self.world.robots)
        return world

    def _started(self, body: Body, k: int) -> Body:
        """The body that flies, with a start in trimmed numbers."""
        problem = self.asked.problem
        start = problem.system.described(problem.values(self.z[k], self.c[k])).bodies[body.name].start
        gone: dict[str, Any] = dict.fromkeys(("position", "orientation", "velocity", "angular_velocity", "q", "v"))
        return replace(body, **gone, start=start)

    def __str__(self) -> str:
        if self.batch is not None:
            return f"{self.kind}: {int(self.converged.sum())} of {self.batch} trims found"
        rows = [f"{name:<24} {x:.8g}" for name, x in {**self.values, **self.quantities}.items()]
        worst = float(np.abs(self.residual).max(initial=0.0))
        stops = f"; at its stop: {self.binding}" if self.binding else ""
        return "\n".join([f"trim {self.kind!r}, all rates below {worst:.1e}{stops}", *rows])

    def __repr__(self) -> str:
        return f"<Trim {self.kind!r}{'' if self.batch is None else f' of {self.batch}'}>"

    def _one(self, x: Array) -> Any:
        return x[0] if self.batch is None else x


def _with_states(elements: Mapping[str, Any], states: Mapping[str, Array]) -> dict[str, Any]:
    """Elements whose states begin with these values, as far as a field of the same name says how they begin."""
    changed = dict(elements)
    for full, value in states.items():
        owner, _, key = full.rpartition(".")
        element = changed[owner]
        if key in element.__dataclass_fields__ and not np.array_equal(element.states()[key], value):
            changed[owner] = replace(element, **{key: float(value) if np.ndim(value) == 0 else np.asarray(value)})
    return changed
