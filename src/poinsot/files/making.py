"""Bodies from the tables of a scenario."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from poinsot._errors import FieldError, about
from poinsot._types import Array
from poinsot.contact.colliders import as_collider
from poinsot.files import readers
from poinsot.files.flight_tables import start_of
from poinsot.files.readers import ScenarioTable
from poinsot.files.shape_tables import shapes
from poinsot.files.trim_tables import start_entries
from poinsot.mechanism import Distance, Joint, coupling, on_curve, on_line, on_plane, rolling
from poinsot.mechanism.coordinate_relations import Polynomial
from poinsot.mechanism.joints import TYPES
from poinsot.particles import Particles, Springs
from poinsot.parts import Beam, Element, Tank
from poinsot.parts.slosh import slosh_parts
from poinsot.spatial import Inertia, Pose, quaternion, rotation
from poinsot.spatial.arrays import as_array
from poinsot.spatial.mesh import Mesh, as_mesh
from poinsot.world import World


def uniform_gravity(value: object) -> Array:
    """Gravity (3,) [m/s^2] from three numbers, or from one: its strength, downwards."""
    gravity: Array = readers.array_of(value, ("m/s^2",))
    if np.ndim(gravity) == 0:
        gravity = np.array([0.0, 0.0, -gravity])
    if np.shape(gravity) != (3,) or not np.all(np.isfinite(gravity)):
        raise ValueError('expected three numbers [m/s^2], or its downward strength, such as "9.81 m/s^2"')
    return gravity


def orientation_of(table: ScenarioTable | None) -> Array | None:
    """The unit quaternion wxyz of a table `Orientation`."""
    if table is None:
        return None
    entries = table.entries()
    angles = [entries.pop(name, None) for name in ("roll", "pitch", "yaw")]
    ways = [
        bool(entries.get("wxyz") is not None),
        any(x is not None for x in angles),
        "axis" in entries or "angle" in entries,
    ]
    if sum(ways) != 1:
        raise FieldError("give wxyz, or some of roll, pitch and yaw, or axis and angle", "orientation")
    if ways[0]:
        return as_array(entries["wxyz"])
    if ways[1]:
        return Pose.from_euler([x or 0.0 for x in angles]).quaternion()
    if set(entries) != {"axis", "angle"} or not np.any(entries["axis"]):
        raise FieldError("give an angle and an axis that is not zero", "orientation")
    n = entries["axis"] / np.linalg.norm(entries["axis"])
    return quaternion.from_matrix(rotation.exp(entries["angle"] * n))


def pose_of(table: ScenarioTable | None) -> Pose:
    """The pose of a table `Placement`, which stands at the key `placement`."""
    entries = {} if table is None else table.entries()
    with about(field="placement"):
        q, p = orientation_of(entries.get("orientation")), entries.get("position", np.zeros(3))
        return Pose(p=p) if q is None else Pose.from_quaternion(q, p)


def shape_of(table: ScenarioTable) -> Inertia:
    """The mass properties of one shape, in the body's frame."""
    entries = table.entries()
    kind, _ = entries.pop("kind"), entries.pop("collide", None)
    if kind == "points":
        return Inertia.points(**entries)
    mass, density, axis = (entries.pop(key, None) for key in ("mass", "density", "axis"))
    q, position = orientation_of(entries.pop("orientation", None)), entries.pop("position", np.zeros(3))
    if q is not None and axis is not None:
        raise FieldError("give either orientation or axis, the direction of its z axis", "axis")
    if (mass is None) == (density is None):
        raise ValueError("give either mass or density")
    if kind == "mesh":
        shape: Any = as_mesh(entries["file"])
        shape = Mesh(entries["scale"] * shape.vertices, shape.faces) if "scale" in entries else shape
    else:
        shape = shapes()[kind](**entries)
    R = _along(axis) if axis is not None else np.eye(3) if q is None else Pose.from_quaternion(q).R
    return Pose(R, position) @ Inertia.of(shape, mass, density)


def _along(axis: Array) -> Array:
    """The smallest rotation that takes z to this axis."""
    length = np.linalg.norm(axis)
    if not length > 0:
        raise FieldError("axis must not be zero", "axis")
    return rotation.exp(rotation.from_z_to(axis / length))


def mass_of(table: ScenarioTable) -> Inertia:
    """Mass properties from their table."""
    entries = table.entries()
    moment = np.asarray(entries.get("moment", np.zeros((3, 3))))
    if moment.shape not in ((3,), (3, 3)):
        raise FieldError("expected three numbers [kg m^2] along the axes, or a 3 x 3 matrix", "moment")
    moment = np.diag(moment) if moment.ndim == 1 else moment
    return Inertia(entries["mass"], entries.get("com", np.zeros(3)), moment, check=entries.get("check", "error"))


def joint_of(table: ScenarioTable | None) -> Joint | None:
    """A joint from its table."""
    if table is None:
        return None
    entries = table.entries()
    joint: Joint = TYPES[entries.pop("kind")].make(**entries)
    return joint


def body_of(world: World, table: ScenarioTable, inertia: Inertia | None, joint: Joint | None) -> None:
    """Add a body with this inertia, on this joint, to a world."""
    entries = table.entries()
    if entries.get("origin") == "com":
        if inertia is None:
            raise FieldError("the body has no mass", "origin")
        inertia = Pose(p=-inertia.com) @ inertia
    start: dict[str, Any] = {
        key: entries[key] for key in ("position", "velocity", "angular_velocity", "q", "v") if key in entries
    }
    if entries.get("start") is not None:
        with about(entries["name"], "start"):
            start["start"] = start_of(start_entries(entries["start"].entries()), world.description.earth)
    if "orientation" in entries:
        start["orientation"] = orientation_of(entries["orientation"])
    apart = [k for k, shape in enumerate(entries.get("shape") or ()) if shape.entries().get("collide") is False]
    if apart and inertia is not None and len(inertia.solids) == len(entries["shape"]):
        start["shapes"] = [as_collider(solid) for k, solid in enumerate(inertia.solids) if k not in apart]
    world.add_body(entries["name"], inertia, entries.get("parent"), joint, pose_of(entries.get("placement")), **start)


def particles_of(world: World, table: ScenarioTable) -> None:
    """Add point masses, and the springs between them, to a world."""
    entries = table.entries()
    positions = entries["positions"]
    masses = np.ones(len(positions)) * entries["masses"]
    net = entries["springs"].entries() if entries.get("springs") is not None else None
    springs = None
    if net is not None:
        pairs = net["pairs"].astype(int)
        if not np.array_equal(pairs, net["pairs"]) or (
            pairs.size and not 0 <= pairs.min() <= pairs.max() < len(positions)
        ):
            raise FieldError(f"expected pairs of whole numbers from 0 to {len(positions) - 1}", "springs.pairs")
        lengths = np.linalg.norm(positions[pairs[:, 1]] - positions[pairs[:, 0]], axis=1)
        numbers = (net["stiffness"], net.get("rest_length", lengths), net.get("damping", 0.0))
        springs = Springs(pairs, *(np.ones(len(pairs)) * x for x in numbers))
    world.add_particles(
        entries["name"], Particles(masses, positions, entries.get("velocities", np.zeros_like(positions))), springs
    )


def model_in(world: World, table: ScenarioTable) -> None:
    """Add a robot from a file to a world."""
    from poinsot.files import load_mjcf, load_sdf, load_urdf

    entries = table.entries()
    loaders = {"urdf": partial(load_urdf, floating=entries.get("floating", False)), "mjcf": load_mjcf, "sdf": load_sdf}
    given = [key for key in loaders if key in entries]
    if len(given) != 1:
        raise ValueError("give one of urdf, mjcf, sdf")
    mech = loaders[given[0]](entries[given[0]])  # type: ignore[operator]
    options = {key: entries[key] for key in ("q", "v", "prefix", "parent", "limits", "scenery") if key in entries}
    for key, n in (("q", mech.nq), ("v", mech.nv)):
        if key in options and n == 1:
            options[key] = np.reshape(options[key], (1,))
    world.add_mechanism(mech, placement=pose_of(entries.get("placement")), **options)


def particle_of(world: World, table: ScenarioTable) -> None:
    """Add a point mass to a world."""
    world.add_particle(**table.entries())


def beam_of(world: World, table: ScenarioTable) -> None:
    """Add a flexible beam to a world."""
    entries = table.entries()
    world.add_beam(beam_in(table), entries.get("parent"), pose_of(entries.get("placement")))


def beam_in(table: ScenarioTable) -> Beam:
    """The beam of a table, without its place."""
    return Beam(**{key: value for key, value in table.entries().items() if key not in ("parent", "placement")})


def element_of(world: World, element: Element, slosh: ScenarioTable | None = None) -> None:
    """Add an element to a world; a tank whose contents slosh, as the rest of them and a pendulum."""
    if slosh is None:
        world.add(element)
        return
    assert isinstance(element, Tank)
    parts = slosh_parts(element, **slosh.entries())
    world.add(parts.rest)
    world.add_body(
        f"{element.name.replace('.', '_')}_slosh", parts.pendulum, element.body, parts.joint, parts.placement
    )


def loop_of(world: World, table: ScenarioTable) -> None:
    """Close a loop in a world."""
    entries = table.entries()
    relations = {
        "joint": joint_of,
        "on_line": on_line,
        "on_plane": on_plane,
        "on_curve": lambda curve: on_curve(**curve.entries()),
        "distance": Distance,
        "coupling": _coupled,
        "rolling": lambda wheel: rolling(**wheel.entries()),
    }
    asked = [key for key in relations if entries.get(key) is not None]
    if len(asked) != 1:
        raise ValueError(f"give one of {', '.join(relations)}")
    relation: Any = relations[asked[0]](entries[asked[0]])  # type: ignore[operator]
    placements = (pose_of(entries.get(key)) for key in ("placement_a", "placement_b"))
    world.close(entries["name"], entries["a"], entries["b"], relation, *placements)


def _coupled(table: ScenarioTable) -> Any:
    entries = table.entries()
    asked = [key for key in ("ratio", "weights", "function") if entries.get(key) is not None]
    if len(asked) != 1:
        raise FieldError("give one of ratio, weights, function", "coupling")
    return coupling(entries[asked[0]], entries.get("offset", 0.0))


def drive_of(world: World, table: ScenarioTable) -> None:
    """Prescribe the motion of a joint in a world."""
    entries = table.entries()
    motion = entries["motion"]
    world.drive(entries["joint"], motion if callable(motion) else Polynomial((motion,)), entries["name"])


# The functions that add bodies to a world, besides `body_of`, by the names of their tables.
OTHERS: dict[str, Callable[[World, ScenarioTable], None]] = {
    "particle": particle_of,
    "particles": particles_of,
    "model": model_in,
    "beam": beam_of,
}
