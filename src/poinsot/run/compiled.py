"""A system of equations, compiled: a world's state as one flat array, and kernels that start, advance and measure it.

The flat state y holds q, v, the states of the parts and, if a ledger is kept, the inflow so far. The parameters p are
the free numbers and the inputs. Every function here is for one instance; compiled, it takes any number of them.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import once, program_cache
from poinsot.fuse.kernels import Program, restored
from poinsot.fuse.trace.purity import steady
from poinsot.fuse.trace.pytree import flatten
from poinsot.integrate.embedded import flat
from poinsot.mechanism import kinematics
from poinsot.mechanism.model import coordinates
from poinsot.run import advancing, heap_ledger, heaps, ledger, net_runs, output_kinds, shared_scene
from poinsot.run.adaptive_steps import Paced
from poinsot.run.few_looks import FEW_LOOKS, few_looks
from poinsot.run.kept_kernels import Compiled, compiled_kernel, first_output
from poinsot.run.output_kinds import Output
from poinsot.run.shared_values import Shared
from poinsot.run.step_context import LedgerState, Method, StepContext
from poinsot.run.stepping import METHODS
from poinsot.world import Motion, State, System
from poinsot.world.flat_values import Values, pack, unpack
from poinsot.world.paths import entries

Condition: TypeAlias = Callable[[Any, Any], Any]  # (t, scene) -> true or false
INPUT = "input "  # in front of an input's name among the parameters


@dataclass(frozen=True, eq=False)
class CompiledSystem:
    """The equations of a system with a method of stepping, functions of time for inputs, and a ledger or none."""

    system: System
    method: str
    functions: Mapping[str, Callable[..., Any]]
    keeps_ledger: bool
    until: Condition | None = None
    device: str = "cpu"
    outputs: tuple[Output, ...] = ()
    tolerance: float = 1e-10
    compiled_before: "CompiledSystem | None" = field(default=None, repr=False)

    def __post_init__(self) -> None:
        heaps.is_heap(self.system)  # found before anything is traced

    def for_system(self, system: System) -> "CompiledSystem":
        """The same code for a system that differs from this one in the values of free numbers alone."""
        return self if system is self.system else replace(self, system=system, compiled_before=self.original)

    @property
    def original(self) -> "CompiledSystem":
        """The one whose code this one shares; by default itself."""
        return self.compiled_before or self

    # The layout of flat states and parameters.

    @Shared
    def parameter_shapes(self) -> dict[str, tuple[int, ...]]:
        """The names and shapes of the parameters p."""
        s = self.system
        shapes = {path: np.shape(value) for path, value in s.numbers.items()}
        return shapes | {f"{INPUT}{k}": np.shape(v) for k, v in s.inputs.items() if k not in self.functions}

    @property
    def np(self) -> int:
        return max(1, sum(int(np.prod(shape)) for shape in self.parameter_shapes.values()))

    @Shared
    def ny(self) -> int:
        return self.n_state + len(self.inflow_indices)

    @property
    def n_state(self) -> int:
        """How many numbers of y are the state itself, without the ledger."""
        return self.system.nq + self.system.nv + self.system.ns

    @Shared
    def net(self) -> net_runs.NetRun | None:
        """The run of a net, of which masses and springs are not written out; None of any other world."""
        if self.until is not None or self.outputs:
            return None
        return net_runs.NetRun.of(self.system, self.method, self.keeps_ledger)

    @Shared
    def nx(self) -> int:
        return self.ny if self.net else sum(int(np.prod(shape)) for shape in self._stepped_form[0])

    @Shared
    def inflow_indices(self) -> Array:
        """Where, in the flattened table of sources and conserved quantities, inflow is possible; empty without ledger.

        A spring between two bodies, say, brings in no momentum: inflow that is zero for any state is not kept.
        """
        if self.net:
            return self.net.inflow.indices
        own = np.full(ledger.WIDTH if self._scheme.books_errors else 0, True)
        keeps = self.keeps_ledger
        return np.flatnonzero(np.concatenate([self.inflow_possible, own])) if keeps else np.zeros(0, int)

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources of the ledger: those of the system and, if the method knows what it adds, the step itself."""
        return (*ledger.sources(self.system), *((ledger.STEP,) if self._scheme.books_errors else ()))

    @Shared
    def inflow_possible(self) -> Array:
        """Which rates of `ledger.inflow_rates`, flattened, can differ from zero."""
        s = self.system
        if self.net:
            return self.net.possible(len(ledger.sources(s)))
        if self._ledger_trace is None:
            return np.ones(ledger.WIDTH * len(ledger.sources(s)), dtype=bool)
        possible = self._ledger_trace[1].copy()
        possible[ledger.joint_losses(s)] |= len(s.bodies) < len(s.mechanism)  # a motor's rotor stops where it parts
        possible[[ledger.energy_of(s, name) for name in s.loops]] = True  # what closing them again takes
        return possible

    @Shared
    def is_conserved(self) -> Array:
        """(8,): which of the conserved quantities nothing in the world adds to or takes from."""
        return ~np.any(self.inflow_possible.reshape(-1, ledger.WIDTH), axis=0)

    @Shared
    def _ledger_trace(self) -> tuple[Program, Array] | None:
        """One trace for the ledger: the program of the conserved quantities (8,) and gross amounts (4,), and which
        inflow rates can differ from zero. None if a user's function cannot be traced."""
        s, width = self.system, ledger.WIDTH + len(ledger.CONSERVED_QUANTITIES)

        def quantities(t: Scalar, y: Array, p: Array) -> tuple[Array, Array]:
            if heaps.is_heap(s):
                return heap_ledger.quantities(self.context(p, np.zeros(0, int)), t, y)
            motion = cast(Motion, shared_scene.scene(self, t, y, p).dynamics)
            return ledger.conserved_and_gross(motion), np.ravel(ledger.inflow_rates(s, motion))

        size = ledger.WIDTH * len(ledger.sources(s))
        text = f"(),({self.n_state}),({self.np})->({width}),({size})"
        together = shared_scene.traced_together(self.original)
        return first_output(quantities, text, "conserved", self._place("ledger"), together)

    def labels(self) -> list[str]:
        """The meaning of each number of y, in words."""
        s = self.system
        joints = [f"{x}{k} of body {name!r}" for x in "qv" for name, k in coordinates(s.mechanism, x)]
        inflow = [f"{column} through {source!r}" for source in self.sources for column in ledger.COLUMNS]
        return [*joints, *entries(s.states), *(inflow[k] for k in self.inflow_indices)]

    def parameters(self, numbers: Values, inputs: Values, batch: tuple[int, ...] = ()) -> Array:
        """p (np,) from numbers by path and inputs by name; the others keep the values of the description.

        For a batch (..., np): each value is shared by all instances, or has the batch's shape in front.
        """
        values = {**self.system.numbers, **numbers}
        values |= {f"{INPUT}{k}": v for k, v in {**self.system.inputs, **inputs}.items()}
        if not self.parameter_shapes:
            return np.zeros((*batch, 1))
        if not batch:
            return pack({name: values[name] for name in self.parameter_shapes})
        full = [np.broadcast_to(values[name], (*batch, *core)) for name, core in self.parameter_shapes.items()]
        return np.concatenate([np.reshape(value, (*batch, math.prod(value.shape[len(batch) :]))) for value in full], -1)

    def free_numbers(self, p: Array) -> dict[str, Array]:
        """The free numbers by their paths, (..., *shape), that parameters p (..., np) hold."""
        numbers, start = {}, 0
        for path, shape in self.parameter_shapes.items():
            size = int(np.prod(shape))
            if not path.startswith(INPUT):
                numbers[path] = p[..., start : start + size].reshape((*p.shape[:-1], *shape))
            start += size
        return numbers

    def context(self, p: Array, inflow_indices: Array | None = None) -> StepContext:
        """The step context for these parameters."""
        values = unpack(p, self.parameter_shapes)
        inputs = {k.removeprefix(INPUT): v for k, v in values.items() if k.startswith(INPUT)}
        numbers = {k: v for k, v in values.items() if not k.startswith(INPUT)}
        indices = self.inflow_indices if inflow_indices is None else inflow_indices
        functions = {k: partial(steady, f, role=f"input {k!r}") for k, f in self.functions.items()}
        return StepContext(self.system, numbers, inputs, indices, functions, self.tolerance)

    def pack(self, y: LedgerState) -> Array:
        """The flat state (ny,)."""
        return np.concatenate([y.state.q, y.state.v, y.state.parts, y.inflow])

    def unpack(self, y: Array) -> LedgerState:
        """State and ledger of a flat state."""
        s = self.system
        q, v, parts, inflow = np.split(y, np.cumsum([s.nq, s.nv, s.ns]))
        return LedgerState(State(q, v, parts), inflow)

    # Functions of one instance.

    @property
    def _scheme(self) -> Method:
        return METHODS[self.method]

    def _start(self, p: Array) -> Array:
        context = self.context(p)
        start = LedgerState(self.system.start(context.parameters), np.zeros(len(self.inflow_indices)))
        return self.pack(context.latched(0.0, start))

    def _to_stepped(self, y: Array, p: Array) -> Array:
        """The flat state in the form x (nx,) that the method steps."""
        if self.net:
            return y
        return flat(self._with_memory(self._scheme.to_stepped(self.context(p), self.unpack(y))))

    def _from_stepped(self, x: Array, p: Array) -> Array:
        if self.net:
            return x
        form = self._unflatten(x)
        return self.pack(self._scheme.from_stepped(self.context(p), form[0] if self.outputs else form))

    def _with_memory(self, form: Any) -> Any:
        """The form that is stepped: that of the method, and the memory of outputs, if there are any."""
        return (form, np.zeros(self.n_memory)) if self.outputs else form

    @property
    def n_memory(self) -> int:
        """How many numbers, the last ones of x, are the memory of outputs."""
        return output_kinds.memory_size(self.outputs)

    def _output_values(self, t: Scalar, y: Array, p: Array) -> Array:
        """The quantities of the outputs, (k,), at one instant."""
        motion = cast(Motion, shared_scene.scene(self, t, y, p).dynamics)
        return np.stack([output.value(t, motion) for output in self.outputs])

    def _make_step(self, p: Array) -> Any:
        """The step of the method, with the memory of outputs brought up to date after it."""
        context, scheme = self.context(p), self._scheme
        step = scheme.step(context)
        if not self.outputs:
            return step
        return output_kinds.remembering(
            self.outputs, once(step), lambda t, form: context.motion(t, scheme.from_stepped(context, form).state)
        )

    @Shared
    def _stepped_form(self) -> tuple[list[tuple[int, ...]], Callable[[Sequence[Any]], Any]]:
        """The shapes of the arrays that the method steps, and the function that assembles its form from them."""
        p = self.parameters({}, {})
        form = self._scheme.to_stepped(self.context(p), self.unpack(self._start(p)))
        leaves, assemble = flatten(self._with_memory(form))
        return [np.shape(leaf) for leaf in leaves], assemble

    def _unflatten(self, x: Array) -> Any:
        shapes, assemble = self._stepped_form
        parts = np.split(x, np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1])
        return assemble([np.reshape(part, shape) for part, shape in zip(parts, shapes, strict=True)])

    @property
    def is_adaptive(self) -> bool:
        """Whether the method chooses its steps."""
        return self._scheme.march is not None

    @Shared
    def tries(self) -> int | None:
        """The place in x of the number of steps that may be tried in a call; None if the method has none."""
        form = self._scheme.to_stepped(self.context(p := self.parameters({}, {})), self.unpack(self._start(p)))
        if not isinstance(form, Paced):
            return None
        marked = flat(self._with_memory(replace(form, tries=np.full((), np.nan))))
        return int(np.flatnonzero(np.isnan(marked))[0])

    def _advance(self, x: Array, p: Array, t: Scalar, first: Scalar, h: Scalar, n: Scalar) -> Array:
        if self.net:
            return self.net.advanced(x, p, self.parameter_shapes, h, n)
        return advancing.advanced(self, x, p, t, first, h, n)

    def _advance_until(self, *numbers: Any) -> tuple[Array, Array, Array]:
        return advancing.advanced_until(self, *numbers)

    def _advance_state(self, y: Array, p: Array, t: Scalar, h: Scalar, n: Scalar) -> Array:
        return self._from_stepped(self._advance(self._to_stepped(y, p), p, t, 0, h, n), p)

    def _derivative(self, t: Scalar, y: Array, p: Array) -> Array:
        return self.pack(self.context(p).rate(t, self.unpack(y)))

    def _normalize(self, t: Scalar, y: Array, p: Array) -> Array:
        at = self.unpack(y)
        q = kinematics.normalize(self.system.mechanism, at.state.q)
        return self.pack(self.context(p).closed(t, LedgerState(State(q, at.state.v, at.state.parts), at.inflow)))

    def _condition(self, t: Scalar, y: Array, p: Array) -> Array:
        return np.where(advancing.is_met(self, t, y, p), 1.0, 0.0)

    def _conserved(self, t: Scalar, y: Array, p: Array) -> Array:
        context = self.context(p, np.zeros(0, int))
        motion = self.system.motion(t, self.unpack(y).state, context.parameters, context.inputs_at(t))
        return ledger.conserved_and_gross(motion)

    # The same, compiled.

    def scan_records(self, x: Array, p: Array, t: float, first: int, h: float, stride: int, count: int) -> Array:
        """x of a single world after each of `count` times `stride` steps, (count, nx)."""
        return advancing.scanned(self.advance, x, p, t, first, h, stride, count)

    @Shared
    def start(self) -> Compiled:
        """p -> y at the start."""
        if net := self.net:
            return lambda p: net.start(p, self.free_numbers(p))
        return self.compile(self._start, f"({self.np})->({self.ny})", observers=self._inflows(self.ny))

    @Shared
    def advance_state(self) -> Compiled:
        """(y, p, t, h, n) -> y after n steps from the time t."""
        return self._compile_steps(self._advance_state, f"({self.ny}),({self.np}),(),(),()->({self.ny})", self.ny)

    @Shared
    def to_stepped(self) -> Compiled:
        """(y, p) -> x, whose numbers stay the same to the bit from step to step, wherever records are taken."""
        converts = not self.net and (self._scheme.converts(self.system) or self.outputs)
        return self.compile(self._to_stepped, f"({self.ny}),({self.np})->({self.nx})") if converts else _same

    @Shared
    def from_stepped(self) -> Compiled:
        """(x, p) -> y."""
        converts = not self.net and (self._scheme.converts(self.system) or self.outputs)
        return self.compile(self._from_stepped, f"({self.nx}),({self.np})->({self.ny})") if converts else _same

    @Shared
    def advance(self) -> Compiled:
        """(x, p, t, first, h, n) -> x after n steps."""
        return self._compile_steps(self._advance, f"({self.nx}),({self.np}),(),(),(),()->({self.nx})", self.nx)

    def _compile_steps(self, function: Callable[..., Any], text: str, size: int) -> Compiled:
        """A function that makes steps of arrays of this size."""
        if self.net:
            return self.net.advancing(function, text, self.device)
        return self.compile(function, text, self.device, self._inflows(size))

    @Shared
    def advance_until(self) -> Compiled:
        """(x, p, t, first, h, n, through) -> x after at most n steps, or before the one in which the condition becomes
        true, or after it if `through` is 1; the time before that step, and its length, or 0."""
        text = f"({self.nx}),({self.np}),(),(),(),(),()->({self.nx}),(),()"
        return self.compile(self._advance_until, text, self.device, self._inflows(self.nx))

    def step_through(self, x: Array, p: Array, t: Any, h: Any) -> Array:
        """x after one step h [s] from the time t [s], whether the condition becomes true in it or not."""
        if self.until is None:
            return np.asarray(self.advance(x, p, t, 0, h, 1))
        return np.asarray(self.advance_until(x, p, t, 0, h, 1, 1)[0])

    def first_memory(self, t: Any, y: Array, p: Array) -> Array:
        """The memory (..., n_memory) of outputs at the start, of states y (..., ny)."""
        return output_kinds.remembered(self.outputs, t, np.asarray(self.output_values(t, y, p)))

    @Shared
    def output_values(self) -> Compiled:
        """(t, y, p) -> what the outputs are of."""
        text = f"(),({self.ny}),({self.np})->({len(self.outputs)})"
        return few_looks(self.compile(self._output_values, text, plain=True, at_an_instant=True), self._looks)

    @property
    def _looks(self) -> int:
        """How many calls about few states are left to NumPy; none of heaps, whose loops would take long."""
        return 0 if heaps.is_heap(self.system) else FEW_LOOKS

    @Shared
    def derivative(self) -> Compiled:
        """(t, y, p) -> dy/dt."""
        return self.compile(self._derivative, f"(),({self.ny}),({self.np})->({self.ny})")

    @Shared
    def normalize(self) -> Compiled:
        """(t, y, p) -> y with all quaternions of length 1 and all loops closed."""
        return self.compile(self._normalize, f"(),({self.ny}),({self.np})->({self.ny})")

    @Shared
    def condition(self) -> Compiled:
        """(t, y, p) -> 1 if the condition is met, else 0."""
        return self.compile(self._condition, f"(),({self.ny}),({self.np})->()")

    def _inflows(self, n: int) -> Sequence[int]:
        """The numbers of the inflows, and of the memory of outputs, among n numbers of x or y."""
        if n == self.ny != self.nx:
            return range(n - len(self.inflow_indices), n)
        return self._observing

    @Shared
    def _observing(self) -> Sequence[int]:
        """The same in x, wherever the form that is stepped has them."""
        state = self.unpack(self._start(p := self.parameters({}, {})))
        marked = LedgerState(state.state, np.full(len(self.inflow_indices), np.nan))
        form = flat(self._with_memory(self._scheme.to_stepped(self.context(p), marked)))
        return [*np.flatnonzero(np.isnan(form)).tolist(), *range(self.nx - self.n_memory, self.nx)]

    def conserved(self, t: Scalar, y: Array, p: Array) -> tuple[Array, Array]:
        """The conserved quantities (..., 8) and the gross amounts (..., 4) of states y (..., ny) at the time t."""
        if self.net:
            return self.net.conserved(y[..., : self.n_state], p, self.free_numbers(p))
        amounts: Array = self._amounts(t, y[..., : self.n_state], p)
        return amounts[..., : ledger.WIDTH], amounts[..., ledger.WIDTH :]

    @Shared
    def _amounts(self) -> Compiled:
        if self._ledger_trace is None:
            return self.compile(self._conserved, f"(),({self.n_state}),({self.np})->({ledger.WIDTH + 4})")
        return few_looks(restored(self._ledger_trace[0]), self._looks, self.device)

    @Shared
    def _content(self) -> str | None:
        """The key of all that the functions of this system are traced from; None if it cannot be told."""
        s = self.system
        outputs = [(o.name, o.kind, o.text, o.of if o.formula is None else o.formula) for o in self.outputs]
        options = (self.method, dict(self.functions), self.keeps_ledger, self.until, self.device, self.tolerance)
        return program_cache.place_of(s.description, s.free, options, outputs)

    def _place(self, name: str, *more: Any) -> str | None:
        """The key of what follows from this system and a name."""
        return program_cache.place_of(self._content, name, *more) if name and self._content else None

    def compile(
        self,
        function: Callable[..., Any],
        signature: str,
        device: str = "cpu",
        observers: Sequence[int] = (),
        name: str = "",
        plain: bool = False,
        found: list[Any] | None = None,
        at_an_instant: bool = False,
    ) -> Compiled:
        """A kernel; or, if the function cannot be traced, a warning and the function itself, instance by instance.

        `observers`: the numbers of outputs that change no bit of the others: a run is the same with and without ledger.
        `name`: of a function that follows from this system and its name alone, as this system's own methods do. Its
        program may be read from disk. `plain`: to have the same bits by `Kernel.to("numpy")`, without compiling.
        `found`: plain data that the function puts there when it is called, as it is traced; kept with its program.
        `at_an_instant`: it is one of t, y and p, and takes its numbers from `shared_scene.scene`.
        """
        name = name or (function.__name__ if getattr(function, "__self__", None) is self.original else "")
        place = self._place(name, signature, tuple(observers))
        shared = shared_scene.traced_together(self.original) if at_an_instant else None
        return compiled_kernel(function, signature, device, observers, plain, place, found, shared)


def _same(y: Array, p: Array) -> Array:
    return y
