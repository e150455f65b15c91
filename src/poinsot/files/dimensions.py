"""The SI units of the numbers of scenarios and worlds."""

import re

from poinsot._fields import units_of
from poinsot.environment import Earth
from poinsot.world import Description, Orbit, Start

TORSIONAL = ("N m/rad", "N m")
LINEAR = ("N/m",)

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


def table_name(cls: type) -> str:
    """JointStop is written as joint_stop, PD as pd."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()
