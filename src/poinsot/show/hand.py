"""A hand in a world: it pulls a point of a body by a spring, or pushes it, as the user of a page does."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.parts import Effect, Element, Scene
from poinsot.parts.scene import BodyState
from poinsot.world import World

HAND = "hand"  # the name of the element and of its input
MOST = 40  # bodies within its reach, at most
EMPTY = np.zeros(12)
PULL, LOSS = 60.0, 8.0  # 1/s^2, 1/s: stiffness and damping of the spring, per mass
SHARE = 0.3  # of the whole mass of a mechanism, the least that one of its bodies is pulled as


@dataclass(frozen=True, eq=False)
class Hand(Element):
    """The input (12,) holds the number of a body, counted from 1, or 0; its point r (3,) [m] in its frame; the target
    (3,) [m] in the world; stiffness k [N/m], damping c [N s/m] and a push f_0 (3,) [N] in world axes. At the point acts

        f = f_0 + k (target - x) - c x'
    """

    names: tuple[str, ...] = ()
    numbers: tuple[int, ...] | None = None  # of the bodies; by default 1, 2, ...

    def bodies(self) -> tuple[str, ...]:
        return self.names

    def effect(self, scene: Scene) -> Effect:
        wrench = self.one_by_one()
        return Effect({name: wrench(scene, scene[name], k) for k, name in enumerate(self.names)})

    def only(self, names: Sequence[str]) -> "Hand":
        numbers = dict(zip(self.names, self._numbers, strict=True))
        return replace(self, names=tuple(names), numbers=tuple(numbers[name] for name in names))

    @property
    def _numbers(self) -> tuple[int, ...]:
        return tuple(range(1, len(self.names) + 1)) if self.numbers is None else self.numbers

    def one_by_one(self) -> Callable[[Scene, BodyState, Any], Array]:
        numbers = np.array(self._numbers, dtype=float)

        def wrench(scene: Scene, body: BodyState, k: Any) -> Array:
            held = scene.input(HAND)
            point = held[1:4]
            f = held[9:12] + held[7] * (held[4:7] - body.point(point)) - held[8] * body.velocity_of(point)
            return body.wrench(np.where(held[0] == np.asarray(numbers)[k], f, 0.0), point)

        return wrench


def within_reach(world: World) -> tuple[World, tuple[str, ...]]:
    """The world with a hand, and the names of the bodies that it can hold."""
    d = world.description
    names = tuple(name for name, body in d.bodies.items() if body.inertia is not None)[:MOST]
    if not names or HAND in d.elements or HAND in d.inputs:
        return world, ()
    elements = {**d.elements, HAND: Hand(HAND, names)}
    return World.of(replace(d, elements=elements, inputs={**d.inputs, HAND: EMPTY})), names


def mass_in_hand(world: World, body: str) -> float:
    """The mass [kg] that the spring is made for: of the body, or a share of the mechanism that it is part of."""
    bodies = world.description.bodies

    def root(name: str) -> str:
        parent = bodies[name].parent
        return name if parent is None else root(parent)

    own = {name: i.mass for name, b in bodies.items() if (i := b.inertia) is not None}
    whole = sum(mass for name, mass in own.items() if root(name) == root(body))
    return float(max(own[body], SHARE * whole))


def pulling(number: int, point: ArrayLike, target: ArrayLike, mass: float) -> Array:
    """The input of a hand that pulls a point of a body towards a target."""
    return np.concatenate([[number], np.asarray(point), np.asarray(target), [PULL * mass, LOSS * mass], np.zeros(3)])


def pushing(number: int, point: ArrayLike, force: ArrayLike) -> Array:
    """The input of a hand that pushes a point of a body with a force (3,) [N]."""
    return np.concatenate([[number], np.asarray(point), np.zeros(5), np.asarray(force)])
