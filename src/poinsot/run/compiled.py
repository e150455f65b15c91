"""A world's states as rows of numbers, and its equations as kernels over them.

A row y holds q, v, the states of the parts and, if a ledger is kept, what came in so far. A row p holds the free
numbers and the inputs. Every function here is for one instance; compiled, it takes any number of them.
"""

import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.fuse import Kernel, fori_loop
from poinsot.fuse.scan import scan
from poinsot.fuse.trace.pytree import flatten
from poinsot.mechanism import kinematics
from poinsot.mechanism.model import coordinates
from poinsot.run import ledger
from poinsot.run.stepping import METHODS, Booked, Setting
from poinsot.world import State, System
from poinsot.world.paths import entries
from poinsot.world.system import pack, unpack

Condition = Callable[[Any, Any], Any]  # (t, scene) -> true or false


class UncompiledWarning(UserWarning):
    """A force could not be traced; the run goes on in plain Python, which is slow."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The equations of a system over rows: a method of stepping, functions of time for inputs, a ledger or none."""

    system: System
    method: str
    functions: Mapping[str, Callable[..., Any]]
    booked: bool
    until: Condition | None = None
    device: str = "cpu"

    # What the numbers in a row mean.

    @cached_property
    def given(self) -> dict[str, tuple[int, ...]]:
        """The names and shapes of what a row p holds."""
        s = self.system
        shapes = {path: np.shape(value) for path, value in s.numbers.items()}
        return shapes | {f"input {k}": np.shape(v) for k, v in s.inputs.items() if k not in self.functions}

    @property
    def np(self) -> int:
        return max(1, sum(int(np.prod(shape)) for shape in self.given.values()))

    @cached_property
    def ny(self) -> int:
        s = self.system
        return s.nq + s.nv + s.ns + len(self.places)

    @cached_property
    def places(self) -> Array:
        """Where, in the table of sources and accounts taken row by row, something can come in; empty without ledger.

        Through a spring between two bodies, say, comes no momentum: what is zero for any state is not kept.
        """
        s = self.system
        if not self.booked:
            return np.zeros(0, int)

        def flows(t: Any, y: Array, p: Array) -> Array:
            setting = self.setting(p, np.zeros(0, int))
            state = State(*np.split(y, np.cumsum([s.nq, s.nv])))
            return np.ravel(ledger.flows(s, s.motion(t, state, setting.parameters, setting.given_inputs(t))))

        size = ledger.WIDTH * len(ledger.sources(s))
        try:
            outputs = Kernel(flows, f"(),({s.nq + s.nv + s.ns}),({self.np})->({size})").program().graph.outputs
        except Exception:  # a function that cannot be traced: any of them
            return np.arange(size)
        kept = [node.op != "const" or node.data != 0 for node in outputs]
        kept[ledger.losses(s)] |= len(s.bodies) < len(s.mechanism)  # the rotor of a motor stops where a joint parts
        return np.flatnonzero(kept)

    @cached_property
    def nx(self) -> int:
        return sum(int(np.prod(shape)) for shape in self._form[0])

    @property
    def _converts(self) -> bool:
        return METHODS[self.method].free_bodies_only

    def labels(self) -> list[str]:
        """What each number of a row y is, in words."""
        s = self.system
        joints = [f"{x}{k} of body {name!r}" for x in "qv" for name, k in coordinates(s.mechanism, x)]
        booked = [f"{column} through {source!r}" for source in ledger.sources(s) for column in ledger.COLUMNS]
        return [*joints, *entries(s.states), *(booked[k] for k in self.places)]

    def row(self, numbers: Mapping[str, Any], inputs: Mapping[str, Any], batch: tuple[int, ...] = ()) -> Array:
        """p (np,) from numbers by path and inputs by name, with what is not given as it is in the description.

        Of a batch, (..., np): each value is one for all, or has the batch's shape in front.
        """
        values = {**self.system.numbers, **numbers}
        values |= {f"input {k}": v for k, v in {**self.system.inputs, **inputs}.items()}
        if not self.given:
            return np.zeros((*batch, 1))
        if not batch:
            return pack({name: values[name] for name in self.given})
        full = [np.broadcast_to(values[name], (*batch, *core)) for name, core in self.given.items()]
        return np.concatenate([np.reshape(value, (*batch, -1)) for value in full], axis=-1)

    def setting(self, p: Array, places: Array | None = None) -> Setting:
        values = unpack(p, self.given)
        inputs = {k.removeprefix("input "): v for k, v in values.items() if k.startswith("input ")}
        parameters = {k: v for k, v in values.items() if not k.startswith("input ")}
        return Setting(self.system, parameters, inputs, self.places if places is None else places, self.functions)

    def pack(self, y: Booked) -> Array:
        return np.concatenate([y.state.q, y.state.v, y.state.parts, y.inflow])

    def unpack(self, row: Array) -> Booked:
        s = self.system
        q, v, parts, inflow = np.split(row, np.cumsum([s.nq, s.nv, s.ns]))
        return Booked(State(q, v, parts), inflow)

    # Functions of one instance.

    def _start(self, p: Array) -> Array:
        setting = self.setting(p)
        return self.pack(
            setting.settled(0.0, Booked(self.system.start(setting.parameters), np.zeros(len(self.places))))
        )

    def _enter(self, y: Array, p: Array) -> Array:
        """A row y as a row x (nx,) of the form in which the method steps a state."""
        return _flat(METHODS[self.method].enter(self.setting(p), self.unpack(y)))

    def _leave(self, x: Array, p: Array) -> Array:
        """The way back."""
        return self.pack(METHODS[self.method].leave(self.setting(p), self._formed(x)))

    @cached_property
    def _form(self) -> tuple[list[tuple[int, ...]], Callable[[Sequence[Any]], Any]]:
        """The shapes of the arrays that a method steps, and the function that puts such arrays in their places."""
        p = self.row({}, {})
        leaves, put = flatten(METHODS[self.method].enter(self.setting(p), self.unpack(self._start(p))))
        return [np.shape(leaf) for leaf in leaves], put

    def _formed(self, x: Array) -> Any:
        shapes, put = self._form
        parts = np.split(x, np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1])
        return put([np.reshape(part, shape) for part, shape in zip(parts, shapes, strict=True)])

    def _onward(self, x: Array, p: Array, t: Any, first: Any, h: Any, n: Any) -> Array:
        """n steps from number `first` on, counted from the time t: so the times do not depend on the calls."""
        step = METHODS[self.method].step(self.setting(p))
        return _flat(fori_loop(n, lambda i, form: step(t + (first + i) * h, form, h), self._formed(x)))

    def _onward_until(self, x: Array, p: Array, first: Any, h: Any, n: Any) -> tuple[Array, Array]:
        """The row before the condition comes true, and how many steps were made to there."""
        step = METHODS[self.method].step(self.setting(p))

        def body(i: Any, carry: tuple[Array, Array]) -> tuple[Array, Array]:
            x, made = carry
            new = _flat(step((first + i) * h, self._formed(x), h))
            goes_on = (made == i) & ~self._holds((first + i + 1) * h, self._leave(new, p), p)
            return np.where(goes_on, new, x), np.where(goes_on, made + 1.0, made)

        return fori_loop(n, body, (x, np.zeros(())))

    def _advance(self, y: Array, p: Array, t: Any, h: Any, n: Any) -> Array:
        return self._leave(self._onward(self._enter(y, p), p, t, 0, h, n), p)

    def _holds(self, t: Any, y: Array, p: Array) -> Any:
        """Whether the condition is true; a number counts as true if it is positive."""
        assert self.until is not None
        setting = self.setting(p)
        scene, _ = self.system.scene(t, self.unpack(y).state, setting.parameters, setting.given_inputs(t))
        value = self.until(t, scene)
        is_bool = np.dtype(getattr(value, "dtype", type(value))).kind == "b"
        return value if is_bool else value > 0

    def _derivative(self, t: Any, y: Array, p: Array) -> Array:
        return self.pack(self.setting(p).rate(t, self.unpack(y)))

    def _unit(self, y: Array) -> Array:
        x = self.unpack(y)
        q = kinematics.normalize(self.system.mechanism, x.state.q)
        return self.pack(Booked(State(q, x.state.v, x.state.parts), x.inflow))

    def _condition(self, t: Any, y: Array, p: Array) -> Array:
        return np.where(self._holds(t, y, p), 1.0, 0.0)

    def _held(self, t: Any, y: Array, p: Array) -> Array:
        return ledger.held(*self.moved(t, y, p))

    def moved(self, t: Any, y: Array, p: Array) -> tuple[Any, Any]:
        """Scene and effects at one instant."""
        setting = self.setting(p)
        motion = self.system.motion(t, self.unpack(y).state, setting.parameters, setting.given_inputs(t))
        return motion.scene, motion.effects

    # The same, compiled.

    def film(self, x: Array, p: Array, first: int, h: float, stride: int, count: int) -> Array:
        """The rows x of a single world after each of `count` times `stride` steps, (count, nx)."""
        firsts = first + stride * np.arange(count)
        if isinstance(self.onward, Kernel):
            return scan(self.onward, x, p, 0.0, firsts, h, stride, count=count)
        rows = [x]
        for k in firsts:
            rows.append(self.onward(rows[-1], p, 0.0, k, h, stride))
        return np.stack(rows[1:])

    @cached_property
    def start(self) -> Callable[..., Any]:
        return self.compiled(self._start, f"({self.np})->({self.ny})")

    @cached_property
    def advance(self) -> Callable[..., Any]:
        return self.compiled(self._advance, f"({self.ny}),({self.np}),(),(),()->({self.ny})", self.device)

    @cached_property
    def enter(self) -> Callable[..., Any]:
        """Rows y as rows x, in which numbers stay to the bit from step to step, wherever one stops to look."""
        return self.compiled(self._enter, f"({self.ny}),({self.np})->({self.nx})") if self._converts else _same

    @cached_property
    def leave(self) -> Callable[..., Any]:
        """Rows x as rows y."""
        return self.compiled(self._leave, f"({self.nx}),({self.np})->({self.ny})") if self._converts else _same

    @cached_property
    def onward(self) -> Callable[..., Any]:
        return self.compiled(self._onward, f"({self.nx}),({self.np}),(),(),(),()->({self.nx})", self.device)

    @cached_property
    def onward_until(self) -> Callable[..., Any]:
        return self.compiled(self._onward_until, f"({self.nx}),({self.np}),(),(),()->({self.nx}),()", self.device)

    @cached_property
    def derivative(self) -> Callable[..., Any]:
        return self.compiled(self._derivative, f"(),({self.ny}),({self.np})->({self.ny})")

    @cached_property
    def unit(self) -> Callable[..., Any]:
        """The row with all quaternions made of length 1 again."""
        return self.compiled(self._unit, f"({self.ny})->({self.ny})")

    @cached_property
    def condition(self) -> Callable[..., Any]:
        return self.compiled(self._condition, f"(),({self.ny}),({self.np})->()")

    @cached_property
    def held(self) -> Callable[..., Any]:
        return self.compiled(self._held, f"(),({self.ny}),({self.np})->(8)")

    def compiled(self, function: Callable[..., Any], signature: str, device: str = "cpu") -> Callable[..., Any]:
        """A kernel; or, if the function cannot be traced, a warning and the function itself, instance by instance."""
        kernel = Kernel(function, signature)
        try:
            kernel.program()
        except Exception as error:  # whatever a user's function raises on numbers that are not known yet
            where = _users_line(error)
            if where is None:
                raise
            warnings.warn(
                f"{where} cannot be compiled, and runs in plain Python, a thousand times slower: {error}",
                UncompiledWarning,
                stacklevel=2,
            )
            return np.vectorize(function, signature=signature)
        return _on_device(kernel.to("cuda")) if device == "cuda" else kernel


def _same(row: Array, p: Array) -> Array:
    return row


def _flat(form: Any) -> Array:
    return np.concatenate([np.ravel(leaf) for leaf in flatten(form)[0]])


def _on_device(kernel: Kernel) -> Callable[..., Any]:
    """A kernel on the GPU as one of NumPy arrays: they go there and come back."""
    import cupy

    def call(*args: Any) -> Any:
        results = kernel(*map(cupy.asarray, args))
        return tuple(map(cupy.asnumpy, results)) if isinstance(results, tuple) else cupy.asnumpy(results)

    return call


def _users_line(error: BaseException) -> str | None:
    """The last line outside of Poinsot and installed packages that the error passed through, as 'file:line (name)'."""
    ours, installed = str(Path(__file__).parents[1]), ("site-packages", "dist-packages")
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(ours) and not any(part in frame.filename for part in installed):
            return f"{frame.filename}:{frame.lineno} ({frame.name})"
    return None
