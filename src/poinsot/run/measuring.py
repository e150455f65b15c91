"""Functions of records: what follows from each instant of a run, for all records at once."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.parts.element import Effect
from poinsot.parts.scene import BodyState, Scene
from poinsot.run import shared_scene
from poinsot.run.compiled import CompiledSystem
from poinsot.run.few_looks import FEW_LOOKS, few_looks
from poinsot.world import Motion, State

T = TypeVar("T")
Measuring: TypeAlias = Callable[[Array, Array, Array], tuple[Array, ...]]  # of (time, y, p), for all records
CONSERVED: dict[str, Any] = {
    "energy": 7,
    "momentum": slice(1, 4),
    "angular_momentum": slice(4, 7),
}  # among conserved quantities
OF_BODY: dict[str, Callable[[BodyState], Array]] = {
    "position": lambda b: b.position,
    "orientation": lambda b: b.orientation,
    "velocity": lambda b: b.velocity,
    "angular_velocity": lambda b: b.angular_velocity,
    "body_momentum": lambda b: b.momentum,
    "body_angular_momentum": lambda b: b.angular_momentum,
    "body_kinetic_energy": lambda b: b.kinetic_energy,
}


class Glance:
    """The motion of a scene, of which is computed what is asked for: accelerations if something follows from them."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.effects = scene, _Effects(scene)

    def __getitem__(self, name: str) -> BodyState:
        return self.scene[name]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.scene.dynamics, name)


class _Effects(Mapping[str, Effect]):
    """The effects of all elements of a scene, each found when it is asked for."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    def __getitem__(self, name: str) -> Effect:
        effect = None if self.scene.elements[name].follows else self.scene.effect(name)
        return self.scene.dynamics.effects[name] if effect is None or effect.is_deferred else effect

    def __iter__(self) -> Iterator[str]:
        return iter(self.scene.elements)

    def __len__(self) -> int:
        return len(self.scene.elements)


def measuring(
    compiled: CompiledSystem, of: Sequence[Callable[[Motion], Array]], name: str = "", looks: int = FEW_LOOKS
) -> Measuring:
    """A function of records, time (r,), y (r, ..., ny) and p, that gives these quantities for each of them.

    In so many first `looks`, few records are evaluated by NumPy, else by compiled code, with the same bits. `name`: of
    quantities that follow from the system and this name alone (`CompiledSystem.compile`).
    """

    return _of_scene(compiled, lambda scene: cast(Motion, Glance(scene)), of, name, looks)


def measuring_scene(
    compiled: CompiledSystem, of: Sequence[Callable[[Scene], Array]], name: str = "", looks: int = FEW_LOOKS
) -> Measuring:
    """The same for what follows from poses, velocities and single elements: no equation of motion is traced."""
    return _of_scene(compiled, lambda scene: scene, of, name, looks)


def measuring_in(
    compiled: CompiledSystem,
    at: Callable[[Array, Scalar, State], T],
    of: Sequence[Callable[[T], Array]],
    name: str,
    looks: int = FEW_LOOKS,
) -> Measuring:
    """The same for what follows from an instant that `at` makes of (p, t, state)."""
    return _measuring(compiled, lambda t, y, p: at(p, t, compiled.unpack(y).state), of, name, looks, False)


def _of_scene(
    compiled: CompiledSystem, at: Callable[[Scene], T], of: Sequence[Callable[[T], Array]], name: str, looks: int
) -> Measuring:
    """The same for what follows from an instant that `at` makes of a scene, which other functions may share."""
    made = lambda t, y, p: at(shared_scene.scene(compiled, t, y, p))  # noqa: E731
    return _measuring(compiled, made, of, name, looks, True)


def _measuring(
    compiled: CompiledSystem,
    at: Callable[[Scalar, Array, Array], T],
    of: Sequence[Callable[[T], Array]],
    name: str,
    looks: int,
    shared: bool,
) -> Measuring:
    shapes: list[tuple[int, ...]] = []

    def function(t: Scalar, y: Array, p: Array) -> Array:
        instant = at(t, y, p)
        return joined([quantity(instant) for quantity in of], shapes)

    text = f"(),({compiled.ny}),({compiled.np})->(n)"
    kernel = compiled.compile(function, text, name=name, plain=True, found=shapes, at_an_instant=shared)
    evaluated = few_looks(kernel, looks)

    def measured(time: Array, y: Array, p: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            values = evaluated(np.reshape(time, (-1,) + (1,) * (y.ndim - 2)), y, p)
        return tuple(parted(values, shapes))

    return measured


def joined(quantities: Sequence[Array], shapes: list[tuple[int, ...]]) -> Array:
    """All in one array, for a ufunc has no more than 64 outputs; their shapes are noted."""
    arrays = [1.0 * quantity for quantity in quantities]
    shapes[:] = map(np.shape, arrays)
    return np.concatenate([np.zeros(0), *map(np.ravel, arrays)])


def parted(values: Array, shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    """The arrays (..., *shape) that were joined to these values (..., n)."""
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    pieces = zip(np.split(values, ends[:-1], axis=-1), shapes, strict=True)
    return [np.reshape(piece, (*values.shape[:-1], *shape)) for piece, shape in pieces]
