"""The SI units of the numbers of a world, by their paths."""

import re

from poinsot._fields import units_of
from poinsot.environment import Earth
from poinsot.world.description import Description
from poinsot.world.flight_start import Start
from poinsot.world.orbit import Orbit

TORSIONAL = ("N m/rad", "N m")
LINEAR = ("N/m",)
ANGULAR = ("rad", "rad/s", "kg m^2", "N m s/rad", "N m s", *TORSIONAL)  # of numbers that may also be of translation

# The numbers of a joint: for rotation, and for translation.
OF_JOINTS = {
    "lower": ("rad", "m"), "upper": ("rad", "m"), "velocity_limit": ("rad/s", "m/s"), "effort_limit": ("N m", "N"),
    "stiffness": ("N m/rad", "N/m"), "rest": ("rad", "m"), "damping": ("N m s/rad", "N s/m"), "friction": ("N m", "N"),
    "armature": ("kg m^2", "kg"),
}  # fmt: skip

# The numbers of a body; all others are lengths of its shapes.
OF_BODIES: dict[str, tuple[str, ...]] = {
    "mass": ("kg",), "com": ("m",), "moment": ("kg m^2",), "position": ("m",), "orientation": ("1",),
    "velocity": ("m/s",), "angular_velocity": ("rad/s",), "q": ("rad", "m", "1"), "v": ("rad/s", "m/s"), "axes": ("1",),
    **OF_JOINTS, "stiffness": (*TORSIONAL, *LINEAR), "damping": ("N m s/rad", "N m s", "N s/m"),
}  # fmt: skip


def units_at(path: str, description: Description) -> tuple[str, ...]:
    """The SI units of the number of a world at a path; none if they are not known."""
    plain = re.sub(r"\[[\d, ]+\]", "", path)
    for name in sorted(description.elements, key=len, reverse=True):
        if plain.startswith(f"{name}."):
            return units_of(type(description.elements[name])).get(plain[len(name) + 1 :].partition(".")[0], ())
    head, _, key = plain.partition(".")
    if head == "gravity":
        return units_of(type(description.gravity)).get(key, ()) if key else ("m/s^2",)
    if head not in description.bodies:
        return units_of(Earth).get(key, ()) if head == "earth" and description.earth is not None else ()
    if key.startswith("start."):
        start = type(description.bodies[head].start)
        return units_of(start).get(key.removeprefix("start."), ()) if start in (Start, Orbit) else ()
    name, parameters = key.rpartition(".")[2], description.bodies[head].hinge.type.parameters
    return (parameters[name],) if name in parameters else OF_BODIES.get(name, ("m",))


def unit_at(path: str, description: Description) -> str:
    """The SI unit of the number of a world at a path; of a joint, the one for how it moves. Empty if there is none, it
    is not known, or entries differ."""
    units, body = units_at(path, description), description.bodies.get(path.partition(".")[0])
    if len(units) > 1 and body is not None:
        joint = body.hinge.type
        kinds = set(joint.q_units if re.search(r"\.q(\[|$)", path) else joint.units)
        kind = kinds.pop() if len(kinds) == 1 else "1"
        units = tuple(unit for unit in units if (unit in ANGULAR) == (kind == "rad"))[:1] if kind != "1" else ()
    return units[0] if len(units) == 1 and units[0] != "1" else ""
