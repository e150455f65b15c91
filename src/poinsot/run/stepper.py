"""A world that is stepped from outside: an action in, one control period, observations out."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy as shallow_copy
from functools import partial
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot._types import Array, ArrayLike
from poinsot.control.sensor import noise_paths
from poinsot.fuse import Kernel, parallel
from poinsot.fuse.cuda import launch
from poinsot.fuse.llvm import jit
from poinsot.run import limits
from poinsot.run.compiled import INPUT, CompiledSystem
from poinsot.run.continuing import RunState, layout_of, require_own, resumed
from poinsot.run.control_period import BROKEN, GOES_ON, MET, NO_ACTION, TIME_OVER, control_period
from poinsot.run.driver import compiled_system
from poinsot.run.episodes import Episodes
from poinsot.run.stepper_options import StepperOptions, StepperState
from poinsot.run.stepping import choose_method
from poinsot.run.time_grid import whole_steps
from poinsot.world import World
from poinsot.world.sampling import require_whole_steps

NEVER = 1e300  # steps


class WorldStepper:
    """Many instances of a world, or a single one, stepped from outside; see `StepperOptions`. Made by `world.stepper`.

    `reset` starts them, and `step(action)` holds an action (..., na) for a control period; both give what is observed,
    (..., no). `action_labels` and `observation_labels` name the columns. After a step, `done` (...) tells which
    episodes ended: by their condition, by their time (`truncated`), or by a number that is not finite (`broken`).
    `last_observation` is what was observed before a reset.
    """

    def __init__(self, world: World, options: StepperOptions) -> None:
        self.options, self._world = options, World.of(world.description)
        self._noisy = noise_paths(world.description.elements, tuple(options.vary))
        system = self._world.system((*options.vary, *self._noisy))
        self._episodes = Episodes(system, options.vary, options.batch, options.seed, self._noisy)
        period = options.step if options.control_period is None else options.control_period
        self.substeps = whole_steps("control_period", period, options.step)
        self.batch, self.step_length = self._episodes.n, float(options.step)
        require_whole_steps(system, self.step_length)
        limit = NEVER if options.duration is None else whole_steps("duration", options.duration, options.step)
        until, method = limits.until(system, options.until), choose_method(options.method, system)
        self.compiled = compiled_system(system, method, (), False, until, "cpu")
        self.inputs = tuple(system.inputs if options.inputs is None else options.inputs)
        self.action_labels, places = _places(self.compiled, self.inputs)
        self.period = control_period(self.compiled, places, options.observed)
        self.observation_labels = self.period.observed.labels
        if not self.observation_labels:
            raise ValueError("nothing is observed; name at least one quantity, observe=['energy'].")
        self._xp, self._call = _callable(self.period.kernel(options.autoreset), options, self.batch or 1)
        self._numbers = tuple(map(self._xp.asarray, (self.step_length, float(self.substeps), float(limit))))
        self._places = self._xp.asarray(np.array(places, dtype=int))
        self._make_room()
        self._begun = self._closed = False

    def _make_room(self) -> None:
        """Arrays for all that changes, twice: a call of the kernel reads one set and writes the other."""
        c, many = self.compiled, () if self.batch is None else (self.batch,)
        sizes = ((c.nx,), (c.np,), (), (max(1, len(self._places)),), ())  # a kernel has no empty arguments
        self._many = many
        self._now, self._spare = (tuple(self._zeros(*core) for core in sizes) for _ in range(2))
        self._last = self._zeros(len(self.observation_labels))
        self._origin, self._episode = self._zeros(), np.zeros(many, dtype=int)
        self._next: tuple[Any, ...] = ()  # x, p and what is observed at the start of the next episodes

    def _zeros(self, *core: int) -> Any:
        """An array (..., core); on the GPU with the instances last in memory, where neighbours read neighbours."""
        if self._xp is np or not core or not self._many:
            return self._xp.zeros((*self._many, *core))
        return self._xp.moveaxis(self._xp.zeros((*core, *self._many)), 0, -1)

    def _own(self, x: Any) -> Any:
        """An array of any library as one of NumPy or CuPy, which shares its memory if it is on the same device."""
        if isinstance(x, (self._xp.ndarray, np.ndarray)) or not hasattr(x, "__dlpack__"):
            return x
        return self._xp.from_dlpack(x)

    # Starting.

    def reset(self, seed: int | None = None, where: ArrayLike | None = None, out: Any = None) -> Any:
        """Start all instances, or those where a mask (n,) is true, with numbers drawn anew; what is observed.

        seed: begin with the first episode of this seed; it is for all instances. Without it, the next episode begins.
        """
        self._require_open()
        if where is not None and not self._begun:
            raise ValueError("nothing was started yet: call reset() for all instances first.")
        if seed is not None and where is not None:
            raise ValueError("a seed is for all instances: reset(seed=...), or reset(where=...).")
        mask = self._mask(where)
        if seed is not None:
            self._episodes = Episodes(self.compiled.system, self.options.vary, self.batch, seed, self._noisy)
            self._episode[...] = 0
        else:
            self._episode[mask] += int(self._begun)
        self._start(mask)
        self._begun = True
        return self._observe(out)

    def _mask(self, where: ArrayLike | None) -> Array:
        mask = np.ones(self._many, dtype=bool) if where is None else self._host(self._own(where))
        if mask.shape != self._many or mask.dtype != bool:
            raise ValueError(f"where must be a mask of {self._many} booleans, not {mask.dtype} of shape {mask.shape}.")
        return mask

    def _start(self, mask: Array) -> None:
        """Put the instances of a mask at the start of their episodes."""
        x, p, first, action, status = self._now
        here: Any = self._xp.asarray(mask) if self._many else ...
        x[here], p[here] = map(self._xp.asarray, self._starts(self._episode, mask)[:2])
        for array in (first, self._origin, status):
            array[here] = 0.0
        action[..., : len(self._places)] = p[..., self._places]
        if self.options.autoreset:
            everyone = np.ones(self._many, dtype=bool)
            self._next = tuple(map(self._xp.asarray, self._starts(self._episode + 1, everyone)))

    def _starts(self, episodes: Array, mask: Array) -> tuple[Array, Array, Array]:
        """x, p and what is observed at the start of these episodes, for the instances of a mask."""
        c = self.compiled
        p = c.parameters(self._episodes.values(episodes), {}, self._many)[mask]
        with np.errstate(all="ignore"):
            y = np.asarray(c.start(p))
            x = np.asarray(c.to_stepped(y, p))
            observed = np.asarray(self.period.observation()(0.0, x, p))
        if not np.all(np.isfinite(y)):
            k = np.argwhere(~np.isfinite(y))[0][-1]
            raise ValueError(f"an episode cannot start: {c.labels()[k]} is not finite.")
        return (x, p, observed) if self._many else (x[0], p[0], observed[0])

    def start_with(self, numbers: Mapping[str, Any], inputs: Mapping[str, Any]) -> StepperState:
        """The state of a single world at the start, with these numbers by path, and inputs by name."""
        c, zero = self.compiled, np.zeros(())
        p = c.parameters(numbers, inputs)
        with np.errstate(all="ignore"):
            x = np.asarray(c.to_stepped(np.asarray(c.start(p)), p))
        return StepperState(
            layout_of(c), self.step_length, x, p, zero, zero, zero.astype(int), zero, self._episodes.seed
        )

    # Stepping.

    def step(self, action: Any = None, out: Any = None) -> Any:
        """Hold an action for one control period; what is observed after it, (..., no), in `out` if that is given.

        action: (..., na) in the order of `action_labels`; a dict by the names of inputs; or None: as before.
        """
        if not self._begun or self._closed:
            self._require_open()
            raise ValueError("nothing was started yet: call reset() before step(action).")
        self._take(action)
        (x, p, first, _, _), (new_x, new_p, new_first, acted, status) = self._now, self._spare
        observed = self._zeros(len(self.observation_labels)) if out is None else self._target(out)
        given = (x, p, self._origin, first, acted, *self._numbers, *self._next)
        changed = (new_x, new_p, new_first, observed, status)
        with np.errstate(all="ignore"):
            self._call(*given, out=(*changed, self._last) if self._next else changed)
        worst = status.item() if self.batch is None else float(status.max()) if self.batch else 0.0
        if worst >= NO_ACTION:
            raise ValueError(self._complaint(acted))
        self._now, self._spare = self._spare, self._now
        if worst > GOES_ON and self._next:
            self._begin_next(self._host(status) > GOES_ON)
        return observed if out is None else out

    def _target(self, out: Any) -> Any:
        """An array of the user's own as one that the kernel can write to."""
        own = self._own(out)
        if getattr(own, "shape", None) != self._last.shape:
            raise ValueError(f"out must be an array of shape {self._last.shape}, not {np.shape(own)}.")
        return own

    def _take(self, action: Any) -> None:
        """Put an action where the kernel reads it."""
        held, acted = self._now[3], self._spare[3]
        if not self.action_labels:
            if action is not None and np.shape(action) != (*self._many, 0):
                raise ValueError("this stepper has no inputs to set; call step() without an action.")
            return
        if type(action) is self._xp.ndarray and action.shape == acted.shape and action.dtype == acted.dtype:
            acted[...] = action
            return
        if action is None or isinstance(action, Mapping):
            acted[...] = held
            for name, value in (action or {}).items():
                columns = self._columns(name)
                acted[..., columns] = self._column_values(name, value)
            return
        given = self._numbers_in(action, "an action")
        if given.shape != acted.shape:
            raise ValueError(
                f"an action has the shape {acted.shape}, for {', '.join(self.action_labels) or 'no inputs'}; not "
                f"{given.shape}. Nothing was stepped."
            )
        acted[...] = given

    def _numbers_in(self, value: Any, what: str) -> Any:
        """An array of floats, from an array of any library, or from lists."""
        try:
            given = self._xp.asarray(self._own(value))
        except (TypeError, ValueError):
            given = None
        if given is None or given.dtype.kind not in "fiub":
            shown = repr(value) if len(repr(value)) < 80 else f"a {type(value).__name__}"
            raise ValueError(f"{what} must be real numbers, not {shown}. Nothing was stepped.")
        return self._xp.asarray(given, dtype=float)

    def _columns(self, name: str) -> list[int]:
        if name not in self.inputs:
            raise ValueError(f"{name!r} is not an input of this stepper{hint(name, self.inputs)}. Nothing was stepped.")
        before = self.inputs[: self.inputs.index(name)]
        start = sum(int(np.prod(self._core(other))) for other in before)
        return list(range(start, start + int(np.prod(self._core(name)))))

    def _core(self, name: str) -> tuple[int, ...]:
        """The shape of an input, or of a number that is varied."""
        shapes = self.compiled.parameter_shapes
        return shapes.get(f"{INPUT}{name}", shapes.get(name, ()))

    def _column_values(self, name: str, value: Any) -> Any:
        core = self._core(name)
        value = self._numbers_in(value, f"input {name!r}")
        if value.shape not in (core, (*self._many, *core)):
            raise ValueError(
                f"input {name!r} takes values of shape {(*self._many, *core)}, or {core} for all instances; not "
                f"{value.shape}. Nothing was stepped."
            )
        return self._xp.broadcast_to(value, (*self._many, *core)).reshape((*self._many, -1))

    def _complaint(self, action: Any) -> str:
        where = np.argwhere(~np.isfinite(self._host(action)))[0]
        which = "" if self.batch is None else f" of instance {where[0]}"
        value = self._host(action)[tuple(where)]
        return f"the action {self.action_labels[where[-1]]}{which} is {value}. Nothing was stepped."

    def _begin_next(self, over: Array) -> None:
        """After episodes ended: their numbers, and prepared starts for those that follow."""
        self._episode[over] += 1
        if self._episodes.are_new:
            here: Any = self._xp.asarray(over) if self._many else ...
            for array, value in zip(self._next, self._starts(self._episode + 1, over), strict=True):
                array[here] = self._xp.asarray(value)

    # Looking.

    @property
    def time(self) -> Any:
        """The time (...) [s] of each instance, since the start of its episode."""
        return self._origin + self._now[2] * self.step_length

    @property
    def done(self) -> Any:
        """Which episodes (...) ended with the last step."""
        return self._now[4] > GOES_ON

    @property
    def terminated(self) -> Any:
        """Which of them met their condition."""
        return self._now[4] == MET

    @property
    def truncated(self) -> Any:
        """Which of them ended because their time was over."""
        return self._now[4] == TIME_OVER

    @property
    def broken(self) -> Any:
        """Which of them broke down: a number was not finite. They stay where they were before the step."""
        return self._now[4] == BROKEN

    @property
    def action(self) -> Any:
        """The action (..., na) that is held."""
        return self._now[3][..., : len(self.action_labels)].copy()

    @property
    def observation(self) -> Any:
        """The observation (..., no) now."""
        if not self._begun:
            raise ValueError("nothing was started yet: call reset() first.")
        return self._observe(None)

    @property
    def last_observation(self) -> Any:
        """The observation (..., no) at the end of the last step, before any reset."""
        return self._last.copy() if self._next else self._observe(None)

    def _observe(self, out: Any) -> Any:
        x, p = self._host(self._now[0]), self._host(self._now[1])
        with np.errstate(all="ignore"):
            observed = self._xp.asarray(self.period.observation()(self._host(self.time), x, p))
        if out is None:
            return observed
        self._target(out)[...] = observed
        return out

    def _host(self, array: Any) -> Array:
        return np.asarray(array.get() if hasattr(array, "get") else array)

    # Saving, restoring, branching.

    @property
    def state(self) -> StepperState:
        """A frozen copy of where it is."""
        if not self._begun:
            raise ValueError("nothing was started yet: call reset() first.")
        x, p, first, _, status = (np.array(self._host(array)) for array in self._now)
        origin, episode = np.array(self._host(self._origin)), self._episode.copy()
        for array in (x, p, origin, first, episode, status):
            array.flags.writeable = False
        layout, seed = layout_of(self.compiled), self._episodes.seed
        return StepperState(layout, self.step_length, x, p, origin, first, episode, status, seed)

    @state.setter
    def state(self, state: StepperState | RunState) -> None:
        self._require_open()
        if getattr(state, "layout", None) is not layout_of(self.compiled):
            require_own(state, self._world)
        if isinstance(state, RunState):
            state = self._of_run(state)
        if state.x.shape[:-1] not in ((), self._many):
            raise ValueError(f"the state is one of {len(state.x)} instances, but the stepper has {self.batch}.")
        if state.layout.method != self.compiled.method or state.step != self.step_length:
            raise ValueError(
                f"the state was stepped by {state.layout.method!r} in steps of {state.step:g} s; this stepper uses "
                f"{self.compiled.method!r} and {self.step_length:g} s."
            )
        x, p, first, action, status = self._now
        for array, value in ((x, state.x), (p, state.p), (first, state.steps), (status, state.status)):
            array[...] = self._xp.asarray(value)
        self._origin[...], self._episode[...] = self._xp.asarray(state.origin), state.episodes
        action[..., : len(self._places)] = p[..., self._places]
        if state.seed != self._episodes.seed:
            numbers = self.options.vary, self.batch, state.seed, self._noisy
            self._episodes = Episodes(self.compiled.system, *numbers)
        if self.options.autoreset:
            everyone = np.ones(self._many, dtype=bool)
            self._next = tuple(map(self._xp.asarray, self._starts(self._episode + 1, everyone)))
        self._begun = True

    @property
    def end(self) -> RunState:
        """The same for `world.simulate(start=sim.end)`, which goes on with the actions held; all at the same time."""
        state = self.state
        if np.any(state.time != state.time.flat[0]):
            raise ValueError("the instances are at different times; a batch of runs starts at one time.")
        origin, steps = float(state.origin.flat[0]), int(state.steps.flat[0])
        y = np.asarray(self.compiled.from_stepped(state.x, state.p))
        return RunState(state.layout, state.step, origin, steps, y, state.x, state.p, state.time)

    def _of_run(self, state: RunState) -> StepperState:
        """The state of a run as one of this stepper."""
        c = self.compiled
        p = c.parameters(state.numbers(), state.held_inputs(), () if state.batch is None else (state.batch,))
        x = resumed(state, c, state.batch, p)[1]
        goes_on = state.step == self.step_length
        many = x.shape[:-1]
        origin = np.full(many, state.origin) if goes_on else np.array(state.times)
        steps, zeros = np.full(many, float(state.steps if goes_on else 0)), np.zeros(many)
        layout, seed = layout_of(c), self._episodes.seed
        return StepperState(layout, self.step_length, x, p, origin, steps, zeros.astype(int), zeros, seed)

    def copy(self) -> "WorldStepper":
        """Another stepper, at the same state; what happens to one does not change the other. Nothing compiles again."""
        twin = shallow_copy(self)  # kernels and draws are shared
        twin._make_room()
        if self._begun:
            twin.state = self.state
        return twin

    @property
    def kernel(self) -> Kernel:
        """One period as a kernel: (x, p, origin, first, action, h) -> x, what is observed, status.

        It can be differentiated, as in pt.vjp(sim.kernel, wrt=(0, 4)).
        """
        return self.period.map(self.substeps)

    def close(self) -> None:
        """Release it; any further step is an error."""
        self._closed, self._next = True, ()

    def __enter__(self) -> "WorldStepper":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _require_open(self) -> None:
        if self._closed:
            raise ValueError("this stepper was closed; make another one with world.stepper(...).")

    def __repr__(self) -> str:
        many = "one world" if self.batch is None else f"{self.batch} worlds"
        sizes = f"{len(self.action_labels)} actions, {len(self.observation_labels)} observations"
        return f"<WorldStepper of {many}: {sizes}>"


def _places(compiled: CompiledSystem, names: Sequence[str]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The labels of the numbers of these inputs, or of numbers that are varied, and where they are in p."""
    labels: dict[str, list[str]] = {}
    places: dict[str, range] = {}
    start = 0
    for path, shape in compiled.parameter_shapes.items():
        size, name = int(np.prod(shape)), path.removeprefix(INPUT)
        if name not in labels or path.startswith(INPUT):
            labels[name] = [name + (f"[{','.join(map(str, k))}]" if k else "") for k in np.ndindex(*shape)]
            places[name] = range(start, start + size)
        start += size
    for name in names:
        if name not in labels:
            known = compiled.system.inputs
            raise ValueError(f"the world has no input {name!r}{hint(name, known)}; add it with world.add_input.")
    if len(set(names)) < len(names):
        raise ValueError(f"an input is named twice: {', '.join(names)}.")
    return tuple(x for name in names for x in labels[name]), tuple(k for name in names for k in places[name])


def _callable(kernel: Any, options: StepperOptions, n: int) -> tuple[Any, Callable[..., Any]]:
    """NumPy or CuPy, and the function of its arrays that does a period: for few instances the bare ufunc."""
    if options.device not in ("cpu", "cuda"):
        raise ValueError(f"device must be 'cpu' or 'cuda', not {options.device!r}.")
    if options.device == "cuda":
        if not isinstance(kernel, Kernel):
            raise ValueError("device 'cuda': a function of this world cannot be compiled.")
        return launch.cupy(), kernel.to("cuda")
    threads = parallel.threads() if options.threads is None else options.threads
    if not isinstance(kernel, Kernel) or kernel.backend != "llvm" or not jit.available():
        return np, kernel
    if threads == 1 or n * kernel.program().operations <= parallel.SERIAL_WORK:
        return np, kernel.ufunc()
    return np, kernel if options.threads is None else partial(_with_threads, kernel, threads)


def _with_threads(kernel: Kernel, threads: int, *args: Any, out: Any) -> Any:
    """Call a kernel with this many threads."""
    before = parallel.threads()
    parallel.set_threads(threads)
    try:
        return kernel(*args, out=out)
    finally:
        parallel.set_threads(before)
