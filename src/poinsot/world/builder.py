"""The world as a user builds it: bodies, joints, springs, forces, and then `simulate`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._hints import hint
from poinsot._types import Array, ArrayLike, Scalar
from poinsot.contact.law import Material
from poinsot.control.gusts import apart
from poinsot.environment import AirMass, Atmosphere, CentralGravity, Contact, Earth, Ground, Terrain
from poinsot.environment.air_mass import winds_of
from poinsot.environment.gravity import gravity_of
from poinsot.mechanism import Joint, Mechanism, translation
from poinsot.mechanism.closures import Relation
from poinsot.mechanism.constrained import Mobility
from poinsot.mechanism.coordinate_relations import Driven
from poinsot.mechanism.equipment import Equipment
from poinsot.particles import Particles, Springs
from poinsot.parts import PD, WORLD, Beam, ClosedLoop, Element, Force, JointStop, Motor, Scene, Spring, Tank, Torque
from poinsot.parts.element import Value, read_only
from poinsot.parts.loads import Axes
from poinsot.parts.slosh import slosh_parts
from poinsot.spatial import Inertia, Pose
from poinsot.spatial.arrays import as_numbers, finite
from poinsot.world import paths, studying, watching
from poinsot.world.description import AS_PARENT, Body, Description, check_name, check_new_names
from poinsot.world.equipped import add_robot, equipped
from poinsot.world.flat_values import Values
from poinsot.world.handles import BodyHandle
from poinsot.world.instants import Motion, State
from poinsot.world.networks import network
from poinsot.world.start_checks import checked_limits
from poinsot.world.system import System, system_of
from poinsot.world.touching import collided, grounds, ignoring, listed, material_of, new_touches, without_terrain

if TYPE_CHECKING:
    from poinsot.run import Run, WorldStepper
    from poinsot.run.output_kinds import Output


class World:
    """Bodies, joints, springs, forces, gravity: a system to be simulated.

    gravity: (3,) [m/s^2], (0, 0, -9.81) by default: flat ground, z up; or a `CentralGravity`.
    earth: a `pt.Earth`, instead of gravity. The axes of the world are then inertial (ECI): origin at the Earth's
    centre, z to the north pole, equal to Earth-fixed ones (ECEF) at t = 0.
    air: an atmosphere, such as `pt.US76()`, for `scene.air(body)`. wind: a wind or several, or the velocity (3,) [m/s]
    of a steady one: north, east, down; `pt.Dryden(...)` is turbulence. On flat ground north is x, east is -y, and the
    altitude is z.
    ground: its height [m], a number, a `Table` or a function of x and y [m], around the Earth of latitude and longitude
    [rad]; by default z = 0, or the Earth's figure.
    """

    def __init__(
        self,
        gravity: ArrayLike | CentralGravity | None = None,
        earth: Earth | None = None,
        air: Atmosphere | None = None,
        wind: Any = None,
        ground: Any = None,
    ) -> None:
        self.robots: list[tuple[str, str]] = []  # files of robots, with the prefix of their bodies: they have the looks
        self.description = Description(gravity=gravity_of(gravity, earth))
        self._surfaces: dict[str, Material] = {}
        self._apart: set[frozenset[str]] = set()
        self.input_limits: dict[str, tuple[float, float]] = {}
        self._equipped: list[tuple[Equipment, str]] = []  # robots whose shapes have not been read
        if ground is not None:
            self.add(ground if isinstance(ground, Terrain) else Terrain(heights=ground))
        if air is not None:
            blowing, turbulent = apart(wind)
            self.add(AirMass(atmosphere=air, winds=winds_of(blowing)))
            for element in turbulent:
                self.add(element)
        elif wind is not None:
            raise FieldError(f"wind={wind!r} blows in no air; give air=pt.US76() as well.", "wind")

    @property
    def description(self) -> Description:
        """All that the world is made of, frozen."""
        return self._description

    @description.setter
    def description(self, description: Description) -> None:
        self._description = self._built = description
        self._set: dict[str, None] = {}  # the paths of numbers that were set since it was built and run
        self._has_run = False

    @classmethod
    def of(cls, description: Description) -> "World":
        """The world with this description."""
        world = cls()
        world.description = description
        return world

    def add_body(
        self,
        name: str,
        inertia: Inertia | None = None,
        parent: "str | BodyHandle | None" = None,
        joint: Joint | None = None,
        placement: Pose | ArrayLike | None = None,
        **start: Any,
    ) -> BodyHandle:
        """Add a body: free, or on a joint of its parent, or fixed to its parent.

        inertia: in the body's own frame. placement: X_PJ, the pose of the joint's frame in the parent's, or its
        position. Its initial state: position (3,) [m], orientation (4,) wxyz, velocity (3,) [m/s] in world axes,
        angular_velocity (3,) [rad/s] in body axes; or q and v of its joint; or start, a `pt.Start`,
        as a pilot says it, or a `pt.Orbit`.
        shapes: what it touches others by, each a `pt.Collider` or a shape; by default those of its inertia.
        """
        if inertia is not None and not isinstance(inertia, Inertia):
            raise TypeError(f"the inertia of body {name!r} must be a pt.Inertia, not {inertia!r}.")
        parent = None if parent is None or str(parent) == WORLD else str(parent)
        if parent is not None and parent not in self.description.bodies:
            raise FieldError(
                f"parent {parent!r} of body {name!r} does not exist{hint(parent, self.description.bodies)}.",
                "parent",
                name,
            )
        if placement is None:
            placement = AS_PARENT
        elif not isinstance(placement, Pose):
            placement = Pose(p=placement)
        body = Body(name, inertia, parent, joint, placement, **start)
        body.started(self.description.earth, self.description.elements.get("air"))  # an error now, not when it runs
        with self._all_or_nothing():
            self._take("bodies", {name: body})
            self._add_touches()
        return BodyHandle(self, name)

    def add_particle(
        self, name: str, mass: float, position: ArrayLike = (0.0, 0.0, 0.0), velocity: ArrayLike = (0.0, 0.0, 0.0)
    ) -> BodyHandle:
        """Add a point mass [kg]."""
        point = Inertia(mass, np.zeros(3), np.zeros((3, 3)))
        return self.add_body(name, point, joint=translation(), position=position, velocity=velocity)

    def add_particles(self, name: str, particles: Particles, springs: Springs | None = None) -> list[BodyHandle]:
        """Add point masses, called name0, name1, ..., and springs between them, called name_spring0, ...

        A world of many point masses and springs alone is stepped in loops over them: see `poinsot.world.nets`.
        """
        bodies, elements = network(name, particles, springs)
        with self._all_or_nothing():
            self._take("bodies", bodies)
            self._add_touches()
            self._take("elements", elements)
        return [BodyHandle(self, body) for body in bodies]

    def add_mechanism(
        self,
        mechanism: Mechanism,
        q: ArrayLike | str | None = None,
        v: ArrayLike | None = None,
        prefix: str = "",
        parent: "str | BodyHandle | None" = None,
        placement: Pose | None = None,
        limits: bool = True,
        motors: bool = True,
        scenery: bool = False,
    ) -> list[BodyHandle]:
        """Add the links of a mechanism as bodies, with their joints at q (nq,) and v (nv,), or as in the keyframe q.

        Its roots hang on `parent`, the world by default, at `placement`; the world's gravity counts, not its own. With
        `limits`, joints get stops, "link.stop"; without q, they then start within their limits. With `motors`, those of
        its file, "name.motor", with inputs of their names; with `scenery`, planes and solids in it that stand still.
        """
        with self._all_or_nothing():
            return add_robot(self, mechanism, q, v, prefix, parent, placement or Pose(), limits, motors, scenery)

    def add_beam(
        self, beam: Beam, parent: "str | BodyHandle | None" = None, placement: Pose | ArrayLike | None = None
    ) -> list[BodyHandle]:
        """Add a flexible beam, its root at `placement` in the parent, or in the world: its segments, root first."""
        X = placement if isinstance(placement, Pose) else Pose() if placement is None else Pose(p=placement)
        links = beam.links(None if parent is None else str(parent), X)
        added = [self.add_body(k.name, k.inertia, k.parent, k.joint, k.placement) for k in links]
        for flexure in beam.flexures():
            self.add(flexure)
        return added

    def add_slosh(self, body: str | BodyHandle, tank: Tank, damping: float = 0.005, bottom: str = "-z") -> BodyHandle:
        """Add a tank whose contents slosh, as the rest of them and a pendulum: the body "body_tank_slosh".

        The level is that of the start: what flows out comes from the rest. See `poinsot.parts.slosh.slosh_parts`.
        """
        parts = slosh_parts(tank, damping, bottom)
        with self._all_or_nothing():
            BodyHandle(self, str(body)).add(parts.rest)
            name = f"{body}_{tank.name}_slosh"
            return self.add_body(name, parts.pendulum, str(body), parts.joint, parts.placement)

    def add(self, element: Element) -> Element:
        """Add a force, spring, motor, contact or part."""
        if not isinstance(element, Element):
            raise TypeError(f"{element!r} cannot be added to a world; it needs a pt.Element such as pt.Spring(...).")
        for piece in element.name.split(".") if isinstance(element.name, str) else [element.name]:
            check_name("an element", piece)
        self._take("elements", {element.name: element})
        return element

    def add_force(
        self, name: str, body: str | BodyHandle, value: Value, point: ArrayLike = (0.0, 0.0, 0.0), axes: Axes = "world"
    ) -> Element:
        """A force (3,) [N] at a point [m] of a body: constant, a `Tabulated`, an `Input` or a function (t, scene)."""
        return self.add(Force(name, str(body), value, point, axes))

    def add_torque(self, name: str, body: str | BodyHandle, value: Value, axes: Axes = "world") -> Element:
        """A couple (3,) [N m] on a body."""
        return self.add(Torque(name, str(body), value, axes))

    def add_spring(
        self,
        name: str,
        a: str | BodyHandle,
        b: str | BodyHandle,
        stiffness: float,
        rest_length: float = 0.0,
        damping: float = 0.0,
        point_a: ArrayLike = (0.0, 0.0, 0.0),
        point_b: ArrayLike = (0.0, 0.0, 0.0),
        **law: Any,
    ) -> Element:
        """A spring [N/m] and damper [N s/m] between points of two bodies, or of a body and the "world"."""
        return self.add(Spring(name, str(a), str(b), stiffness, rest_length, damping, point_a, point_b, **law))

    def add_contact(self, name: str, body: str | BodyHandle, points: ArrayLike, **data: Any) -> Element:
        """Points of a body that may touch the ground; see `Contact`."""
        return self.add(Contact(name, str(body), points, **data))

    def add_surface(self, name: str, **numbers: float) -> Material:
        """A material for contacts by name: stiffness [N/m], damping [s/m], friction, torsion, rolling [m]; or, instead
        of the damping, restitution at a speed [m/s]; see `Material`."""
        made = Material.bouncing if "restitution" in numbers else Material
        self._surfaces[name] = material = made(**numbers)
        return material

    def add_ground(self, name: str = "ground", surface: Material | str | None = None, **data: Any) -> Element:
        """The ground that the shapes of all bodies may touch, added before or after it: a plane, z = 0 by default, or
        that which the world was made with; see `Ground`. Many bodies share a list of touches if it has a `capacity`."""
        with self._all_or_nothing():
            self.description, terrain = without_terrain(self.description, name)
            data = {"surface": material_of(surface, self._surfaces), "terrain": terrain} | data
            ground = self.add(Ground(name, **data))
            self._add_touches()
        return ground

    def collide(
        self, a: Any = None, b: Any = None, surface: Material | str | None = None, capacity: int | None = None
    ) -> None:
        """Let two bodies touch each other, or a body and a ground, with a material of their own; see `PairTouch`.

        Lists of names: all of the one and all of the other; one list: all of it; nothing: all bodies there are now.
        Of lists, bodies that one joint connects do not touch, nor do those that are ignored. Many pairs share a list
        of those that touch (`TouchList`), with room for `capacity` patches; the geometry tells how many by default.
        """
        law = None if surface is None else material_of(surface, self._surfaces)
        self._equip()
        self.description = collided(self.description, a, b, law, self._apart, capacity)

    def ignore(self, a: str | BodyHandle, b: str | BodyHandle) -> None:
        """Let two bodies, or a body and a ground, pass through each other."""
        self.description = ignoring(self.description, str(a), str(b))
        self._apart.add(frozenset((str(a), str(b))))

    def equip(self, equipment: Equipment, prefix: str = "") -> None:
        """Keep what a robot's file says for when it is needed, or take it now."""
        self._equipped.append((equipment, prefix))
        self._add_touches()

    def _equip(self) -> None:
        """Read the shapes of robots, now that there is something to touch."""
        while self._equipped:
            equipment, prefix = self._equipped.pop()
            self.description = equipped(self.description, equipment, prefix, self._apart)

    def _add_touches(self) -> None:
        if grounds(self.description):
            self._equip()
        for touch in new_touches(self.description):
            self.add(touch)
        self.description = listed(self.description)

    def add_motor(self, name: str, joint: str | BodyHandle, value: Value, **data: Any) -> Element:
        """A motor in the joint of a body; see `Motor`."""
        return self.add(Motor(name, str(joint), value, **data))

    def add_feedback(self, name: str, joint: str | BodyHandle, kp: ArrayLike, kd: ArrayLike, **data: Any) -> Element:
        """A motor with proportional and derivative feedback in the joint of a body; see `PD`."""
        return self.add(PD(name, str(joint), kp, kd, **data))

    def add_joint_stop(self, name: str, joint: str | BodyHandle, stiffness: ArrayLike = 1e4, **data: Any) -> Element:
        """Bumpers at the limits of the joint of a body; see `JointStop`."""
        return self.add(JointStop(name, str(joint), stiffness, **data))

    def close(
        self,
        name: str,
        a: str | BodyHandle,
        b: str | BodyHandle,
        relation: Relation,
        placement_a: Pose | ArrayLike | None = None,
        placement_b: Pose | ArrayLike | None = None,
    ) -> Element:
        """Close a loop: hold frame B on body b to frame A on body a, or on the "world", by a joint, `on_line`,
        `on_plane`, `distance` or `coupling`; see `ClosedLoop`.

        placement_a, placement_b: the poses of A and B on their bodies, or their positions (3,) [m]. The start may be a
        rough guess: the nearest position is taken in which all loops are closed.
        """
        A, B = (X if isinstance(X, Pose) else Pose() if X is None else Pose(p=X) for X in (placement_a, placement_b))
        return self.add(ClosedLoop(name, str(a), str(b), relation, A, B))

    def drive(self, joint: str | BodyHandle, motion: Callable[[Any], Any], name: str | None = None) -> Element:
        """Prescribe the motion of a joint of one degree of freedom: its q [rad, m] is motion(t), from the start on.

        motion: a function of time [s] that is twice differentiable, in plain NumPy. The force that it takes is
        "name.force" [N m, N], called "joint.drive" by default; its work is entered in the ledger.
        """
        name = f"{joint}.drive" if name is None else name
        return self.add(ClosedLoop(name, WORLD, str(joint), Driven(motion)))

    def mobility(self, state: State | None = None) -> Mobility:
        """Degrees of freedom, rows of the loops, which of them are redundant, and how near a singular position is."""
        return self.system().mobility(state)

    def add_input(self, name: str, value: ArrayLike = 0.0, limits: tuple[float, float] | None = None) -> None:
        """A number or array that is supplied when the world is simulated; `value` by default.

        limits: between which `world.trim` looks for it.
        """
        with self._all_or_nothing():
            self._take("inputs", {name: read_only(finite(f"input {name!r}", as_numbers(f"input {name!r}", value)))})
            if limits is not None:
                self.input_limits[name] = checked_limits(name, limits)

    # Reading it.

    def paths(self) -> list[str]:
        """The paths of all numbers that can be varied."""
        return paths.known(self.description)

    def __getitem__(self, path: str) -> Array:
        """The number at a path, as in world["wing.mass"]."""
        return paths.read(self.description, path)

    def __setitem__(self, path: str, value: ArrayLike) -> None:
        description = paths.write(self.description, {path: read_only(as_numbers(path, value))})
        if self._has_run and paths.same_form(self._built, description, path):
            is_input = path.split("[")[0] in description.inputs  # free in any case
            self._description, self._set = description, self._set if is_input else {**self._set, path: None}
        else:
            self.description = description

    def system(self, free: Sequence[str] = ()) -> System:
        """The equations of motion, with these numbers left free; made once for each description."""
        return system_of(self.description, tuple(free))

    def systems_to_run(self, free: Sequence[str]) -> tuple[System, System]:
        """The equations with these numbers left free, and the same for the world as it was when it first ran.

        Numbers that were set since then are free as well, so that one code serves both: it need not be compiled again.
        """
        self._has_run = True
        paths = tuple(dict.fromkeys((*self._set, *free)))
        return system_of(self._description, paths), system_of(self._built, paths)

    @property
    def mechanism(self) -> Mechanism:
        """The tree of all bodies, and of the mounts of joints that may part."""
        return self.system().mechanism

    def start(self) -> State:
        """The state at the start."""
        return self.system().start()

    def derivative(
        self, t: Scalar, state: State, parameters: Values | None = None, inputs: Values | None = None
    ) -> State:
        """The rate of change of the state at the time t [s]: qdot (nq,), vdot (nv,) and the rates of parts (ns,).

        parameters: other numbers of the world, by their paths. inputs: values of its inputs, by name; by default those
        of the world. Plain NumPy for one instance; this is what gets compiled, and it can be traced in a kernel.
        """
        return self.system().derivative(t, state, parameters, inputs)

    def scene(self, state: State | None = None, t: float = 0.0, inputs: Values | None = None) -> Scene:
        """Where everything is, at the start or in some state: world.scene()["wing"].position."""
        return self.system().scene(t, state or self.start(), None, inputs)[0]

    def motion(self, state: State | None = None, t: float = 0.0, inputs: Values | None = None) -> Motion:
        """The scene with all forces and accelerations."""
        return self.system().motion(t, state or self.start(), None, inputs)

    def __repr__(self) -> str:
        d = self.description
        return f"<World of {len(d.bodies)} bodies and {len(d.elements)} elements>"

    # Running and studying it, by the rooms below.

    live, fly = watching.live, watching.fly

    def simulate(self, duration: float, step: float | None = None, **options: Any) -> "Run":
        """Let it move for a duration [s]; see `poinsot.run.driver` for all options."""
        from poinsot.run import simulate

        return simulate(self, duration, step, **options)

    @staticmethod
    def read_outputs(system: System, outputs: Mapping[str, Any]) -> "tuple[Output, ...]":
        """Outputs of a run, such as {"apogee": "max(altitude)"}, as functions; see `poinsot.files.outcome_formulas`."""
        from poinsot.files.outcome_formulas import read_outputs

        return read_outputs(system, outputs) if outputs else ()

    def stepper(self, **options: Any) -> "WorldStepper":
        """Many instances of it, or one, to be stepped from outside: see `poinsot.run.stepper` for all options."""
        from poinsot.run import StepperOptions, WorldStepper

        return WorldStepper(self, StepperOptions(**options))

    check_step = studying.check_step
    trim = studying.trim
    linearise = studying.linearise
    fit = studying.fit
    sensitivity = studying.sensitivity
    equations = studying.equations

    def _take(self, kind: str, items: Mapping[str, Any]) -> None:
        """Add bodies, elements or inputs by name."""
        d = self.description
        check_new_names(d, items, paths.is_known)
        self.description = replace(d, **{kind: {**getattr(d, kind), **items}})  # type: ignore[arg-type]

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """If one of the things added within it is refused, none is added."""
        before = self.description
        try:
            yield
        except BaseException:
            self.description = before
            raise
