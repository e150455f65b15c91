"""The records of a run for pictures: poses, angular velocities and wrenches of bodies, all in world axes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from poinsot._memo import memo
from poinsot._types import Array
from poinsot.environment import PairTouch, Touch
from poinsot.mechanism import Mechanism
from poinsot.parts import WORLD, Element
from poinsot.parts.element import value_of
from poinsot.parts.scene import BodyState, Scene
from poinsot.run.compiled import CompiledSystem
from poinsot.run.crowd_records import OfBody, crowd_records
from poinsot.run.measuring import Measuring, measuring, measuring_scene
from poinsot.run.net_records import places_of_masses, velocities_of_masses
from poinsot.run.result import Run
from poinsot.spatial import motion, quaternion
from poinsot.world import Description, Motion


class Measures:
    """Compiled functions that compute the quantities of a picture from flat states; each is made on first use."""

    def __init__(self, compiled: CompiledSystem) -> None:
        self.compiled = compiled
        self.crowd = crowd_records(compiled.original)
        self.wrenches = self._wrenches()

    def _wrenches(self) -> tuple[tuple[str, str], ...]:
        """The elements and bodies of all wrenches."""
        system = self.compiled.system
        if system.net is not None:
            return tuple((name, body) for name, e in system.description.elements.items() for body in e.bodies())
        if self.crowd is not None:
            return self.crowd.wrenches()
        start = system.first_motion()
        return tuple((name, body) for name, effect in start.effects.items() for body in effect.wrenches)

    @cached_property
    def places(self) -> Measuring:
        """Positions, orientations, angular velocities, centres of mass, spins: angular momenta about these."""
        if (net := self.compiled.net) is not None:
            return lambda time, y, p: places_of_masses(net, y)
        of = (_position, _orientation, _angular_velocity, _centre, _spin)
        return self._of_bodies(of, "places")

    @cached_property
    def velocities(self) -> Measuring:
        """The velocities (b, 3) [m/s] of the origins of the body frames, in world axes."""
        if (net := self.compiled.net) is not None:
            return lambda time, y, p: (velocities_of_masses(net, y),)
        return self._of_bodies((_velocity,), "velocities")

    def _of_bodies(self, of: tuple[OfBody, ...], name: str) -> Measuring:
        if self.crowd is not None:
            return self.crowd.of_bodies(of, name)
        return measuring_scene(self.compiled, [_each(quantity) for quantity in of], name)

    @cached_property
    def forces(self) -> Measuring:
        """The wrench (m, 6) of each element on each body, in world axes about the body's centre of mass."""
        of = lambda m: np.stack([_about_centre(m, *pair) for pair in self.wrenches])  # noqa: E731
        return measuring(self.compiled, [of], "forces")

    @cached_property
    def reactions(self) -> Measuring:
        """The wrench (b, 6) on each body through its joint, in world axes about the body's origin."""
        return measuring(self.compiled, [_reactions], "reactions")

    @memo
    def shown(self, element: str, key: str) -> Measuring:
        """A shown quantity of an element."""
        if self.crowd is not None and element in self.crowd.lists:
            shown = self.crowd.shown
            return lambda time, y, p: (shown(time, y, p)[f"{element}.{key}"],)
        return measuring_scene(self.compiled, [self._shown(element, key)], f"shown {(element, key)}")

    def _shown(self, element: str, key: str) -> Callable[[Scene], Array]:
        system = self.compiled.system
        follows = element in system.loops or system.description.elements[element].follows

        def value(scene: Scene) -> Array:
            own = None if follows else scene.effect(element).shown[key]
            return scene.dynamics.effects[element].shown[key] if own is None or callable(own) else own

        return value

    @memo
    def asked(self, element: str, key: str, entry: str = "") -> Measuring:
        """A value that an element is told: a number, input, signal or function among its fields, or an entry of one."""

        def told(scene: Scene) -> Array:
            own = getattr(scene.elements[element], key)
            value = own[entry] if entry else own
            if isinstance(value, str):
                return scene.signal(value)
            return value_of(value, scene, (), key, repr(element))

        return measuring_scene(self.compiled, [told], f"asked {(element, key, entry)}")

    @memo
    def input(self, name: str) -> Measuring:
        """An input of the world."""
        if self.crowd is not None:
            return self.crowd.input(name)
        return measuring_scene(self.compiled, [lambda scene: scene.input(name)], f"input {name}")

    @cached_property
    def touching(self) -> tuple[str, ...]:
        """The elements by which a body may touch a surface or another body."""
        elements = self.compiled.system.description.elements.values()
        return tuple(element.name for element in elements if isinstance(element, (Touch, PairTouch)))

    @cached_property
    def touches(self) -> Measuring:
        """Points, normals, depths and the force of each contact in `touching`: they share most of their work."""

        def place(element: str, k: int) -> Callable[[Scene], Array]:
            return lambda scene: scene.elements[element].meeting(scene).places(scene)[k]  # type: ignore[attr-defined]

        each = ([*(place(name, k) for k in range(3)), self._shown(name, "force")] for name in self.touching)
        return measuring_scene(self.compiled, [of for four in each for of in four], "touches")

    @memo
    def listed(self, element: str) -> Measuring:
        """The contacts of a list."""
        if self.crowd is not None:
            return self.crowd.places(element)

        def place(k: int) -> Callable[[Scene], Array]:
            return lambda scene: scene.elements[element].places(scene)[k]  # type: ignore[attr-defined]

        return measuring_scene(self.compiled, [place(k) for k in range(5)], f"listed {element}")

    @memo
    def flow(self, body: str, point: tuple[float, ...]) -> Measuring:
        """The velocity (3,) [m/s] of a point of a body through the air, in world axes."""
        at = np.array(point)
        of = lambda scene: scene[body].pose.R @ scene.air(body, at).velocity  # noqa: E731
        return measuring_scene(self.compiled, [of], f"flow {(body, point)}")


@dataclass(frozen=True, eq=False)
class Records:
    """Records of some instances: time (r,) [s], flat states y (r, n, ny) and p (n, np) or (r, n, np).

    Arrays here have the shape (r, n, b, ...) over records, instances and bodies. Most pictures are of the first
    instance alone.
    """

    measures: Measures
    time: Array
    y: Array
    p: Array
    numbers: tuple[int, ...] = (0,)

    @property
    def description(self) -> Description:
        return self.measures.compiled.system.description

    @property
    def mechanism(self) -> Mechanism:
        return self.measures.compiled.system.bodies

    @cached_property
    def names(self) -> list[str]:
        """The names of the bodies, in order."""
        return [link.name for link in self.mechanism.links]

    @cached_property
    def _places(self) -> tuple[Array, ...]:
        return self.measures.places(self.time, self.y, self.p)

    @property
    def positions(self) -> Array:
        """Positions of the body frames' origins [m], (r, n, b, 3)."""
        return self._places[0]

    @property
    def wxyz(self) -> Array:
        """Orientations (r, n, b, 4)."""
        return self._places[1]

    @property
    def angular_velocities(self) -> Array:
        """Angular velocities [rad/s] in world axes, (r, n, b, 3)."""
        return self._places[2]

    @cached_property
    def velocities(self) -> Array:
        """Velocities of the body frames' origins [m/s], (r, n, b, 3)."""
        return self.measures.velocities(self.time, self.y, self.p)[0]

    @property
    def centres(self) -> Array:
        """Centres of mass [m], (r, n, b, 3); the origin of a frame without mass."""
        return self._places[3]

    @property
    def spins(self) -> Array:
        """Angular momenta about the centres of mass [kg m^2/s], (r, n, b, 3)."""
        return self._places[4]

    @cached_property
    def forces(self) -> Array:
        """The wrench of each element on each body, (r, n, m, 6), as listed in `measures.wrenches`."""
        if not self.measures.wrenches:
            return np.zeros((*self.y.shape[:-1], 0, 6))
        return self.measures.forces(self.time, self.y, self.p)[0]

    @cached_property
    def reactions(self) -> Array:
        """The wrench on each body through its joint, (r, n, b, 6)."""
        return self.measures.reactions(self.time, self.y, self.p)[0]

    def of(self, element: str, key: str) -> Array:
        """A state or shown quantity of an element, (r, n, ...): records.of("plane.left", "contents")."""
        name, system = f"{element}.{key}", self.measures.compiled.system
        start = system.nq + system.nv
        for state, value in system.states.items():
            if state == name:
                return self.y[..., start : start + np.size(value)].reshape(*self.y.shape[:-1], *np.shape(value))
            start += np.size(value)
        return self.measures.shown(element, key)(self.time, self.y, self.p)[0]

    def state(self, element: Element, key: str, otherwise: Any) -> Array:
        """A state of an element of the first instance, (r,), or the constant `otherwise`."""
        if key in element.states():
            return self.of(element.name, key)[:, 0]
        return np.full(len(self.time), float(otherwise))

    def point(self, body: str, point: Any) -> Array:
        """The position (r, 3) [m] of a point of a body of the first instance, or of the world."""
        p = np.asarray(point, dtype=float)
        if body == WORLD:
            return np.broadcast_to(p, (len(self.time), 3))
        k = self.index(body)
        if not np.any(p):
            return self.positions[:, 0, k]
        return self.positions[:, 0, k] + quaternion.rotate(self.wxyz[:, 0, k], p)

    def input(self, name: str) -> Array:
        """An input of the world of the first instance, (r, ...)."""
        return self.measures.input(name)(self.time, self.y, self.p)[0][:, 0]

    def touches(self, element: str) -> tuple[Array, Array, Array, Array]:
        """Where a contact of the first instance may touch: points (r, m, 3) [m], normals (r, m, 3), depths (r, m); and
        its force (r, 3) [N]."""
        k = 4 * self.measures.touching.index(element)
        points, normals, depths, force = (x[:, 0] for x in self._touches[k : k + 4])
        return points, normals, depths, force

    @cached_property
    def _touches(self) -> tuple[Array, ...]:
        return self.measures.touches(self.time, self.y, self.p)

    def listed(self, element: str) -> list[Array]:
        """The contacts of a list in the first instance, by record and place: as `TouchList.places`."""
        return [x[:, 0] for x in self.measures.listed(element)(self.time, self.y, self.p)]

    def told(self, element: str, key: str, entry: str = "") -> Array:
        """The values that an element of the first instance is told, (r,): records.told("wing", "deflection")."""
        return self.measures.asked(element, key, entry)(self.time, self.y, self.p)[0][:, 0]

    def flow(self, body: str, point: Any) -> Array:
        """The velocity (r, 3) [m/s] of a point of a body of the first instance through the air, in world axes."""
        measure = self.measures.flow(body, tuple(float(x) for x in point))
        return measure(self.time, self.y, self.p)[0][:, 0]

    def index(self, body: str) -> int:
        """The index of a body."""
        return self.mechanism.index(body)


def records_of(run: Run, instances: Sequence[int] = (0,), every: int = 1) -> Records:
    """Records of these instances of a run: every `every`-th one, and the last."""
    chosen = np.unique(np.append(np.arange(0, len(run.time), every), len(run.time) - 1))
    if run.batch is None:
        y, p = run.y[chosen, None], run.p[..., None, :]
    else:
        for i in instances:
            if not 0 <= i < run.batch:
                raise ValueError(f"instance {i} does not exist: the run has {run.batch}, counted from 0.")
        y, p = run.y[chosen][:, list(instances)], run.p[..., list(instances), :]
    finite: Array = np.asarray(np.isfinite(y).all(axis=-1))
    if not finite[0].all():
        raise ValueError("the run cannot be shown: its first record is not finite.")
    for k in range(y.shape[1]):  # an instance that diverged stays at its last finite state
        last = np.maximum.accumulate(np.where(finite[:, k], np.arange(len(y)), 0))
        y[:, k] = y[last, k]
    return Records(Measures(run.compiled), run.time[chosen], y, p[chosen] if p.ndim == y.ndim else p, tuple(instances))


def _each(of: OfBody) -> Callable[[Scene], Array]:
    """A quantity of one body, of all bodies."""
    return lambda scene: np.stack([of(scene[name]) for name in scene.bodies])


def _position(b: BodyState) -> Array:
    return b.position


def _orientation(b: BodyState) -> Array:
    return b.orientation


def _angular_velocity(b: BodyState) -> Array:
    return b.pose.R @ b.angular_velocity


def _velocity(b: BodyState) -> Array:
    return b.velocity


def _centre(b: BodyState) -> Array:
    return b.position if b.inertia is None else b.point(b.inertia.com)


def _spin(b: BodyState) -> Array:
    return np.zeros(3) if b.inertia is None else b.pose.R @ (b.inertia.moment @ b.angular_velocity)


def _about_centre(m: Motion, element: str, body: str) -> Array:
    inertia, X = m.scene.inertia(body), m.scene[body].pose
    F_B = m.effects[element].wrenches[body]
    F_C = F_B if inertia is None else motion.wrench_at(F_B, inertia.com)
    return np.concatenate([X.R @ F_C[:3], X.R @ F_C[3:]])


def _reactions(m: Motion) -> Array:
    pairs = ((m.scene[name].pose.R, m.reaction(name)) for name in m.scene.bodies)
    return np.stack([np.concatenate([R @ F[:3], R @ F[3:]]) for R, F in pairs])
