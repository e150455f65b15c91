"""In which units the numbers of scenarios and worlds are."""

import re

from poinsot.world import Description

TURNING = ("N m/rad", "N m")
SLIDING = ("N/m",)

# Units by "kind.key", or by the key alone. Several: of a joint that turns, and of one that slides.
UNITS: dict[str, tuple[str, ...]] = {
    "position": ("m",), "point": ("m",), "point_a": ("m",), "point_b": ("m",), "points": ("m",), "at": ("m",),
    "size": ("m",), "radius": ("m",), "height": ("m",), "length": ("m",), "rest_length": ("m",), "centre": ("m",),
    "velocity": ("m/s",), "angular_velocity": ("rad/s",), "mass": ("kg",), "capacity": ("kg",), "contents": ("kg",),
    "axis": ("1",), "normal": ("1",), "direction": ("1",), "lag": ("s",), "factor": ("1",),
    "stiffness": ("N/m",), "damping": ("N s/m",),
    "force.value": ("N",), "torque.value": ("N m",),
    "motor.value": ("N m", "N"), "motor.limit": ("N m", "N"),
    "pd.kp": (*TURNING, *SLIDING), "pd.kd": ("N m s/rad", "N m s", "N s/m"), "pd.limit": ("N m", "N"),
    "pd.target": ("rad", "m", "1"), "pd.target_rate": ("rad/s", "m/s"),
    "joint_stop.stiffness": (*TURNING, *SLIDING), "joint_stop.damping": ("s/rad", "s/m", "s"),
    "joint_stop.lower": ("rad", "m"), "joint_stop.upper": ("rad", "m"),
    "flexure.stiffness": (*TURNING, *SLIDING), "flexure.damping": ("N m s/rad", "N m s", "N s/m"),
    "contact.damping": ("s/m",), "contact.friction": ("1",), "contact.slip": ("m/s",),
    "rotor.inertia": ("kg m^2",), "rotor.speed": ("rad/s",), "rotor.torque": ("N m",), "rotor.load": ("N m",),
    "rotor.friction": ("N m s/rad", "N m s"), "rotor.dry_friction": ("N m",), "rotor.max_torque": ("N m",),
    "rotor.max_speed": ("rad/s",), "rotor.angle": ("rad",),
    "flow.rate": ("kg/s",), "flow.proportion": ("1/s",), "flowing": ("kg/s",),
    "thruster.thrust": ("N",), "thruster.exhaust_speed": ("m/s",),
    "limit.axial": ("N",), "limit.shear": ("N",), "limit.bending": ("N m",), "limit.torsion": ("N m",),
    "beam.EI": ("N m^2",), "beam.EI_side": ("N m^2",), "beam.GJ": ("N m^2",), "beam.mass_per_length": ("kg/m",),
    "beam.polar": ("kg m",), "beam.damping": ("s",),
    "gravity.mu": ("m^3/s^2",),
}  # fmt: skip

# The numbers of a joint, where it turns and where it slides.
OF_JOINTS = {
    "lower": ("rad", "m"), "upper": ("rad", "m"), "velocity_limit": ("rad/s", "m/s"), "effort_limit": ("N m", "N"),
    "stiffness": ("N m/rad", "N/m"), "rest": ("rad", "m"), "damping": ("N m s/rad", "N s/m"), "friction": ("N m", "N"),
    "armature": ("kg m^2", "kg"),
}  # fmt: skip

# Of bodies; what else a body has are lengths of its shapes.
OF_BODIES: dict[str, tuple[str, ...]] = {
    "mass": ("kg",), "com": ("m",), "moment": ("kg m^2",), "position": ("m",), "orientation": ("1",),
    "velocity": ("m/s",), "angular_velocity": ("rad/s",), "q": ("rad", "m", "1"), "v": ("rad/s", "m/s"), "axes": ("1",),
    **OF_JOINTS, "stiffness": (*TURNING, *SLIDING), "damping": ("N m s/rad", "N m s", "N s/m"),
}  # fmt: skip


def units_of(kind: str, key: str) -> tuple[str, ...]:
    """The SI units of a number of an element; none, if nothing is known of it."""
    return UNITS.get(f"{kind}.{key}", UNITS.get(key, ()))


def units_at(path: str, description: Description) -> tuple[str, ...]:
    """The SI units of the number of a world at a path; none, if they are not known."""
    plain = re.sub(r"\[\d+\]", "", path)
    for name in sorted(description.elements, key=len, reverse=True):
        if plain.startswith(f"{name}."):
            return units_of(table_name(type(description.elements[name])), plain[len(name) + 1 :].partition(".")[0])
    head, _, key = plain.partition(".")
    if head == "gravity":
        return units_of("gravity", key) if key else ("m/s^2",)
    if head not in description.bodies:
        return ()
    name, parameters = key.rpartition(".")[2], description.bodies[head].hinge.type.parameters
    return (parameters[name],) if name in parameters else OF_BODIES.get(name, ("m",))


def table_name(cls: type) -> str:
    """JointStop is written as joint_stop, PD as pd."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()
