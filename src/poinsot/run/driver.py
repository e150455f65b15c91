"""Simulate one world, or many that differ in some numbers, for a while."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from os import PathLike
from typing import Any

import numpy as np

from poinsot._alone import is_alone, makes_one_run
from poinsot._memo import memo
from poinsot._types import Array
from poinsot.control.sensor import noise_paths
from poinsot.fuse import Kernel, program_cache
from poinsot.run import limits, option_checks, runaway
from poinsot.run.compiled import CompiledSystem, Condition
from poinsot.run.continuing import RunState, require_no_start_numbers, require_own
from poinsot.run.device_calls import OnDevice
from poinsot.run.drawing import draw
from poinsot.run.few_looks import FEW_STATES
from poinsot.run.fingerprints import hash_of
from poinsot.run.inputs import Inputs, read_inputs, require_shapes
from poinsot.run.observe import observables, prepare
from poinsot.run.output_kinds import Output
from poinsot.run.progress import Progress
from poinsot.run.result import Run, versions, writer
from poinsot.run.simulation import Simulation
from poinsot.run.stepping import another_method, choose_method
from poinsot.run.time_grid import TimeGrid, time_grid
from poinsot.spatial.arrays import number_in
from poinsot.world import System, World
from poinsot.world.sampling import require_whole_steps

STEP = 1e-3  # s, the default
FEW_STEPS = 100_000  # of one world: better code for them gains less than it takes to make
STATED = ("duration", "step", "seed", "device", "every", "batch", "ledger_tolerance")


@dataclass(frozen=True, eq=False)
class RunOptions:
    """The options by which a run can be repeated.

    duration, step [s]; the step is shortened a little where it does not fit the duration.
    method: a name in `METHODS`; by default one that conserves momentum for free bodies, RK4 otherwise.
    batch, vary: how many instances, and paths of numbers with one value per instance, or distributions (`Normal`,
    `Uniform`) to draw from with the `seed`.
    inputs: by name, a constant, a function of time, or (times, values), each value held until the next; they change at
    the nearest steps.
    every: seconds between records; by default 10 ms, and for a batch the start and the end alone.
    record: the quantities that `run.data` holds; see `OBSERVABLES`.
    until: a condition (t, scene) that stops the run when it becomes true; a number counts as true if it is positive.
    tolerance: of the methods that choose their steps by it ("adaptive", "rosenbrock", "taylor"), relative.
    ledger: whether to keep one; by default for single runs.
    ledger_tolerance: the relative residual of the ledger above which there is a `LedgerWarning`.
    device: "cpu" or "cuda".
    free: paths of numbers that the code leaves free, with the world's values: to set them later does not compile again.
    Those that were set since the world first ran are free as well.
    start: a state to go on from, such as `run.end`, instead of the start of the world; also a single one for a batch.
    Or a trim: with `vary`, each instance is trimmed for its own numbers.
    Steps, varied numbers and inputs are those of the state, unless others are given. Times go on.
    outputs: by name, numbers of the run that are kept while it goes on, such as "max(altitude)"; see `run.outputs`.
    """

    duration: float
    step: float
    method: str | None
    batch: int | None
    vary: Mapping[str, Any]
    seed: int | None
    inputs: Mapping[str, Any] | None
    every: float | None
    record: str | Sequence[str] | None
    until: Condition | None
    tolerance: float
    ledger: bool | None
    device: str
    ledger_tolerance: float = 1e-3
    free: Sequence[str] = ()
    start: RunState | None = None
    outputs: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.device not in ("cpu", "cuda"):
            raise ValueError(f"device must be 'cpu' or 'cuda', not {self.device!r}.")
        if not (isinstance(self.tolerance, (int, float)) and 1e-15 <= self.tolerance < 1):
            raise ValueError(f"tolerance must be a number from 1e-15 to 1, not {self.tolerance!r}.")
        if not number_in(self.ledger_tolerance) >= 0:
            raise ValueError(f"ledger_tolerance must be zero or more, not {self.ledger_tolerance!r}.")
        option_checks.condition(self.until)
        for name, what in (("inputs", "values"), ("vary", "values or distributions"), ("outputs", "formulas")):
            if getattr(self, name) is not None:
                own = {k: _own(x) for k, x in option_checks.by_name(name, getattr(self, name), what).items()}
                object.__setattr__(self, name, own)
        object.__setattr__(self, "free", option_checks.names("free", self.free))
        if self.record is not None:
            option_checks.names("record", self.record)

    def settings(self, world: World) -> dict[str, Any]:
        """The settings that a run states: versions, seed, step and so on, and the hash of the description."""
        options = {f.name: getattr(self, f.name) for f in fields(self)}
        stated = {name: options[name] for name in STATED}
        return {**stated, **versions(), "description_hash": hash_of(world), "options": options}


def _own(value: Any) -> Any:
    """A copy of the arrays and lists in an option, which the caller may change afterwards."""
    if isinstance(value, np.ndarray):
        return value.copy()
    return type(value)(map(_own, value)) if type(value) in (list, tuple) else value


def simulate(
    world: World,
    duration: float,
    step: float | None = None,
    *,
    method: str | None = None,
    batch: int | None = None,
    vary: Mapping[str, Any] | None = None,
    seed: int | None = None,
    inputs: Mapping[str, Any] | None = None,
    every: float | None = None,
    record: str | Sequence[str] | None = None,
    until: Condition | None = None,
    tolerance: float = 1e-10,
    ledger: bool | None = None,
    device: str = "cpu",
    ledger_tolerance: float = 1e-3,
    free: Sequence[str] = (),
    start: Any = None,
    outputs: Mapping[str, Any] | None = None,
    save: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> Run:
    """Let a world move for a duration [s], in steps [s], 1 ms by default, and keep records; see `RunOptions`.

    save: a file, x.nc or x.zarr, to which the records are written during the run, so they may be larger than memory.
    progress: a bar; by default on a terminal, for anything above a second.
    """
    if hasattr(start, "run_start"):  # a trim: each instance has its own
        start, vary, batch = start.run_start(world, vary or {}, inputs or {}, batch, seed)
    options = RunOptions(
        duration, STEP if step is None else step, method, batch, {} if vary is None else vary, seed, inputs, every,
        record, until, tolerance, ledger, device, ledger_tolerance, free, start, outputs,
    )  # fmt: skip
    option_checks.given_once(options.vary, options.inputs)
    return _simulate(world, options if start is None else _going_on(world, options, step, start), save, progress)


def _going_on(world: World, options: RunOptions, step: float | None, start: RunState) -> RunOptions:
    """The options, with those of a state to start from where none are given."""
    options = replace(options, start=start)
    if not isinstance(start, RunState):
        known = "the state of a run, such as run.end or sim.end"
        raise TypeError(f"start must be {known}, not {type(start).__name__}; or a trim.")
    require_own(start, world)
    require_no_start_numbers(start, options.vary)
    method = start.layout.method if options.method is None else options.method
    inputs = {**start.held_inputs(), **start.inputs, **(options.inputs or {})}
    vary = {**start.numbers(), **options.vary}
    batch, step = start.batch if options.batch is None else options.batch, start.step if step is None else step
    if start.batch not in (None, batch):
        raise ValueError(f"the state is one of {start.batch} instances, but the batch has {batch}.")
    return replace(options, step=step, method=method, batch=batch, vary=vary, inputs=inputs)


def _simulate(world: World, options: RunOptions, save: str | PathLike[str] | None, progress: bool | None) -> Run:
    options, noisy = _with_noise(world, options)
    system, original = _systems(world, options)
    options = replace(options, free=tuple(path for path in system.free if path not in options.vary))
    if options.record is not None:
        observables(system, (options.record,) if isinstance(options.record, str) else options.record)
    numbers, n = _drawn(system, options, noisy)
    inputs = read_inputs(system, options.inputs or {})
    require_shapes(system, inputs, n)
    method = choose_method(options.method, system)
    grid = _grid(system, options, n)
    ledger = n is None if options.ledger is None else options.ledger
    compiled = _compiled(original, method, inputs, ledger, options).for_system(system)
    settings = options.settings(world) | {"method": method, "step": grid.step}
    if options.method is None and (reason := another_method(method, system)):
        settings["note"] = reason
        warnings.warn(reason, stacklevel=4)
    record = options.record
    with writer(save, world, compiled, settings, record) if save is not None else nullcontext() as file:
        hasty = n is None and grid.steps <= FEW_STEPS and makes_one_run()
        _begin_early(compiled, n or 1, hasty)
        with program_cache.at_the_end():  # while another thread makes machine code
            simulation = Simulation(compiled, grid, inputs, numbers, n, file, options.start)
            _begin(compiled, n is None, hasty)
        if n is None and not compiled.net and is_alone():  # the command keeps the records of a single run
            prepare(compiled, record)
        with Progress(grid.steps, n or 1, progress) as bar:
            simulation.run(bar)
            (times, y, p), stop = simulation.records(), simulation.stop()
        limits.warn(system, y[-1])
        end = simulation.end(options.inputs or {})
        if file is None:
            run = Run(world, compiled, times, y, p, settings, stop, record, end)
        else:
            file.add(times, y, p)
            run = file.finish(stop, end)
        runaway.warn(run)
        return run


def _hasten(*functions: Callable[..., Any]) -> None:
    """Say of compiled functions that their code is used little."""
    for kernel in functions:
        if isinstance(kernel, Kernel):
            kernel.program().hasty = True


def _begin_early(compiled: CompiledSystem, n: int, hasty: bool) -> None:
    """What is begun before the start of n worlds is made: in haste, the code that converts states, the last one by
    another thread; for the GPU, whose compiler takes longer than all else, that of the steps and their ledger."""
    if hasty:
        _hasten(compiled.to_stepped, compiled.from_stepped)
        last = compiled.from_stepped
        if isinstance(last, Kernel) and last.backend == "llvm":
            last.program().begin(serial=True)
    if compiled.device == "cuda":
        _begin_there(compiled, n)


def _steps(compiled: CompiledSystem) -> Callable[..., Any]:
    """What advances worlds."""
    return compiled.advance if compiled.until is None else compiled.advance_until


def _begin(compiled: CompiledSystem, single: bool, hasty: bool) -> None:
    """Let another thread make the machine code of the steps, of one world or of many."""
    steps = _steps(compiled)
    if hasty:
        _hasten(steps)
    if isinstance(steps, Kernel):
        steps.program().begin(serial=single)


def _begin_there(compiled: CompiledSystem, n: int) -> None:
    """Let other threads make the code of the steps of n worlds for the GPU, and that of their ledger."""
    steps = _steps(compiled)
    if isinstance(steps, OnDevice):
        steps.begin()
    amounts = compiled._ledger_trace if compiled.keeps_ledger and not compiled.net and n > FEW_STATES else None
    if amounts is not None:
        amounts[0].begin(serial=False)


def _grid(system: System, options: RunOptions, n: int | None) -> TimeGrid:
    """The times of the run, on which all samples fall."""
    grid = time_grid(options.duration, options.step, options.every, n is not None)
    require_whole_steps(system, grid.step)
    return grid


def _with_noise(world: World, options: RunOptions) -> tuple[RunOptions, tuple[str, ...]]:
    """The options with the numbers left free by which noise differs, and their paths."""
    noisy = noise_paths(world.description.elements, (*options.vary, *options.free))
    return replace(options, free=(*options.free, *noisy)), noisy


def _drawn(system: System, options: RunOptions, noisy: Sequence[str]) -> tuple[dict[str, Array], int | None]:
    """The varied numbers, and how many instances; the numbers of instances and the seed are added to noise's own."""
    numbers, n = draw(system, options.vary, options.batch, options.seed)
    seed = float(option_checks.seed(options.seed, bool(noisy)))
    more = {"instance": np.zeros(()) if n is None else np.arange(float(n)), "seed": seed}
    return numbers | {path: system.numbers[path] + more[path.rpartition(".")[2]] for path in noisy}, n


def _systems(world: World, options: RunOptions) -> tuple[System, System]:
    """The equations to be run, and those from which their code is made.

    A number that was set is left free, unless the default method needs to know it.
    """
    free = tuple(dict.fromkeys((*options.vary, *options.free)))
    system, original = world.systems_to_run(free)
    if options.method is None and set(system.free) != set(free):
        known = world.system(free)
        if choose_method(None, known) != choose_method(None, system):
            return known, known
    return system, original


def _compiled(system: System, method: str, inputs: Inputs, ledger: bool, options: RunOptions) -> CompiledSystem:
    until, outputs = limits.until(system, options.until), World.read_outputs(system, options.outputs or {})
    functions = tuple(inputs.functions.items())
    return compiled_system(system, method, functions, ledger, until, options.device, outputs, options.tolerance)


@memo
def compiled_system(
    system: System,
    method: str,
    functions: tuple[tuple[str, Callable[..., Any]], ...],
    ledger: bool,
    until: Condition | None,
    device: str,
    outputs: tuple[Output, ...] = (),
    tolerance: float = 1e-10,
) -> CompiledSystem:
    """The compiled equations of a system, made once for each way to use them."""
    return CompiledSystem(system, method, dict(functions), ledger, until, device, outputs, tolerance)
