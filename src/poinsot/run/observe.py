"""The quantities that can be recorded: a table, each with its dimensions, unit and frame."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from poinsot._hints import hint
from poinsot._memo import memo
from poinsot._types import Array
from poinsot.environment import AirMass, TouchList
from poinsot.environment.airspeed import AIR_QUANTITIES
from poinsot.environment.orbit_quantities import ORBIT_QUANTITIES, known_around, orbit_quantity
from poinsot.mechanism import kinematics
from poinsot.mechanism.model import coordinates
from poinsot.parts.element import units_of_outputs
from poinsot.parts.load_factor import load_factor, specific_force
from poinsot.parts.whereabouts import ATTITUDE, PLACE, WHEREABOUTS
from poinsot.run import ledger
from poinsot.run.compiled import CompiledSystem
from poinsot.run.crowd_records import crowd_records
from poinsot.run.crowds import crowd_of
from poinsot.run.measuring import OF_BODY, Measuring, measuring
from poinsot.run.net_records import recorded
from poinsot.world import Motion, System

AXES = ("x", "y", "z")
LABELS: dict[str, Callable[[System], Sequence[str]]] = {
    "body": lambda s: [link.name for link in s.bodies.links],
    "axis": lambda s: AXES,
    "wxyz": lambda s: ("w", "x", "y", "z"),
    "spatial": lambda s: ("mx", "my", "mz", "fx", "fy", "fz"),
    "coordinate": lambda s: [name + k for name, k in coordinates(s.bodies, "q")],
    "freedom": lambda s: [name + k for name, k in coordinates(s.bodies, "v")],
}


@dataclass(frozen=True)
class Observable:
    """A quantity: how it follows from a motion, its dimensions beside time and batch, unit, and meaning."""

    of: Callable[[Motion], Array]
    dims: tuple[str, ...]
    unit: str
    meaning: str


def _each(name: str) -> Callable[[Motion], Array]:
    return lambda m: np.stack([OF_BODY[name](m.scene[body]) for body in m.scene.bodies])


def _joints(of: Callable[[Motion], Array]) -> Callable[[Motion], Array]:
    """The part of a vector (nq,) or (nv,) that belongs to the joints of bodies."""

    def joints(m: Motion) -> Array:
        mech, x = m.scene.mechanism, of(m)
        slices = mech.q_slices if x.shape == m.scene.q.shape else mech.v_slices
        return np.concatenate([np.zeros(0), *(x[slices[mech.index(name)]] for name in m.scene.bodies)])

    return joints


def _conserved(m: Motion) -> Array:
    return ledger.conserved_quantities(m.scene, m.effects)


def _kinetic(m: Motion) -> Array:
    return kinematics.kinetic_energy(m.scene.mechanism, m.scene.q, m.scene.v)


def _met(name: str) -> Callable[[Motion], Array]:
    return lambda m: np.stack([getattr(m.scene.air(body), name) for body in m.scene.bodies])


def _lying(name: str) -> Callable[[Motion], Array]:
    return lambda m: np.stack([WHEREABOUTS[name](m.scene, body) for body in m.scene.bodies])


def _around(name: str) -> Callable[[Motion], Array]:
    return lambda m: np.stack([orbit_quantity(name, m.scene, body) for body in m.scene.bodies])


def _accelerations(of: Callable[[Motion, str], Array]) -> Callable[[Motion], Array]:
    return lambda m: np.stack([of(m, name) for name in m.scene.bodies])


ORIGIN = "of the body frame's origin, world axes"
OBSERVABLES: dict[str, Observable] = {
    "position": Observable(_each("position"), ("body", "axis"), "m", ORIGIN),
    "orientation": Observable(_each("orientation"), ("body", "wxyz"), "1", "quaternion, body to world axes"),
    "velocity": Observable(_each("velocity"), ("body", "axis"), "m/s", ORIGIN),
    "angular_velocity": Observable(_each("angular_velocity"), ("body", "axis"), "rad/s", "body axes"),
    "q": Observable(_joints(lambda m: m.scene.q), ("coordinate",), "rad, m, 1", "joint coordinates"),
    "v": Observable(_joints(lambda m: m.scene.v), ("freedom",), "rad/s, m/s", "joint velocities"),
    "energy": Observable(lambda m: _conserved(m)[7], (), "J", "kinetic and stored, gravity and springs included"),
    "kinetic_energy": Observable(_kinetic, (), "J", "of all bodies"),
    "momentum": Observable(
        lambda m: _conserved(m)[1:4], ("axis",), "kg m/s", "of all bodies, world axes"
    ),
    "angular_momentum": Observable(
        lambda m: _conserved(m)[4:7], ("axis",), "kg m^2/s", "about the world's origin, world axes"
    ),
    "body_momentum": Observable(_each("body_momentum"), ("body", "axis"), "kg m/s", "of each body, world axes"),
    "body_angular_momentum": Observable(
        _each("body_angular_momentum"), ("body", "axis"), "kg m^2/s",
        "of each body, about the world's origin, world axes",
    ),
    "body_kinetic_energy": Observable(_each("body_kinetic_energy"), ("body",), "J", "of each body"),
    "acceleration": Observable(_joints(lambda m: m.vdot), ("freedom",), "rad/s^2, m/s^2", "joint accelerations"),
    "joint_force": Observable(_joints(lambda m: m.tau), ("freedom",), "N m, N", "motors, springs and losses in joints"),
    "reaction": Observable(
        lambda m: np.stack([m.reaction(name) for name in m.scene.bodies]), ("body", "spatial"), "N m, N",
        "wrench on the body through its joint, about its origin, body axes",
    ),
    "specific_force": Observable(
        _accelerations(specific_force), ("body", "axis"), "m/s^2", "acceleration of the origin less gravity, body axes"
    ),
    "load_factor": Observable(
        _accelerations(load_factor), ("body",), "1", "specific force along -z of the body, by 9.80665 m/s^2"
    ),
}  # fmt: skip
OBSERVABLES |= {  # in a world with air
    name: Observable(_met(name), ("body",), unit, "of the air at the body frame's origin")
    for name, unit in AIR_QUANTITIES.items()
}
OBSERVABLES |= {
    name: Observable(_lying(name), ("body",), "rad", "against north-east-down, aircraft axes") for name in ATTITUDE
} | {name: Observable(_lying(name), ("body",), "rad", "of the body frame's origin, geodetic") for name in PLACE}
OBSERVABLES |= {  # around the Earth
    name: Observable(_around(name), ("body", "axis") if q.is_vector else ("body",), q.unit, q.meaning)
    for name, q in ORBIT_QUANTITIES.items()
}
DEFAULT = (
    "position", "orientation", "velocity", "angular_velocity", "q", "v", "energy", "kinetic_energy", "momentum",
    "angular_momentum",
)  # fmt: skip


def of_world(system: System) -> dict[str, Observable]:
    """The quantities of `OBSERVABLES` that a world has."""
    has_air = isinstance(system.description.elements.get("air"), AirMass)
    earth = system.description.earth
    lacking = {*ORBIT_QUANTITIES} - {*known_around(earth)}
    lacking |= {*(() if has_air else AIR_QUANTITIES), *(() if earth is not None else PLACE)}
    return {name: o for name, o in OBSERVABLES.items() if name not in lacking}


def observables(system: System, names: Sequence[str] | None) -> dict[str, Observable]:
    """The quantities with these names; by default the usual ones, and all states and outputs of the elements, but not
    those of the many springs of a net."""
    own = _own(system) if system.net is None else _of_springs(system)
    usual = (*DEFAULT, *own) if system.net is None else DEFAULT
    known = of_world(system) | own
    for name in names or ():
        if name not in known:
            raise ValueError(f"{name!r} cannot be recorded{hint(name, known)}; there are {', '.join(known)}.")
    return {name: known[name] for name in (names or usual)}


def _own(system: System) -> dict[str, Observable]:
    """States and outputs of the elements, as "element.quantity"."""
    elements = dict(system.description.acting())
    shown = _shown_first(system)
    own = {}
    for name, element in elements.items():
        units = units_of_outputs(element)
        for key, value in element.states().items():
            own[f"{name}.{key}"] = Observable(
                _state(f"{name}.{key}"), _dims(name, key, value), units.get(key, ""), "state"
            )
        for key, value in shown.get(name, {}).items():
            of = _shown(name, key)
            own[f"{name}.{key}"] = Observable(of, _dims(name, key, value), units.get(key, ""), "")
    return own


def _shown_first(system: System) -> Mapping[str, Mapping[str, Array]]:
    """What elements show at the start; of lists in heaps, zeros, as nobody looks for all of their pairs here."""
    if (crowd := crowd_of(system)) is None:
        return {name: effect.shown for name, effect in system.first_motion().effects.items()}
    elements = system.description.elements.items()
    lists = {name: dict.fromkeys(e.shows, np.zeros(())) for name, e in elements if isinstance(e, TouchList)}
    rest = {} if crowd.rest is None else crowd.rest.first_motion().effects
    return {name: effect.shown for name, effect in rest.items()} | lists


@memo
def _of_springs(system: System) -> dict[str, Observable]:
    """The lengths and tensions of the springs of a net."""
    units = {"length": "m", "tension": "N"}
    names = system.description.elements
    return {
        f"{name}.{key}": Observable(_shown(name, key), (), unit, "") for name in names for key, unit in units.items()
    }


def _state(name: str) -> Callable[[Motion], Array]:
    return lambda m: m.scene.states[name]


def _shown(name: str, key: str) -> Callable[[Motion], Array]:
    return lambda m: m.effects[name].shown[key]


def _dims(name: str, key: str, value: Array) -> tuple[str, ...]:
    shape = np.shape(value)
    return () if shape == () else ("axis",) if shape == (3,) else tuple(f"{name}.{key}.{k}" for k in range(len(shape)))


def observe(
    compiled: CompiledSystem, names: Sequence[str] | None, time: Array, y: Array, p: Array
) -> dict[str, tuple[Observable, Array]]:
    """The quantities for every record: time (r,), y (r, ..., ny), p (..., np) or (r, ..., np)."""
    if compiled.net and (found := _of_net(compiled, names, y, p)) is not None:
        return found
    chosen = observables(compiled.system, names)
    records = crowd_records(compiled.original)
    with np.errstate(all="ignore"):
        arrays = {} if records is None else records.found(tuple(chosen), time, y, p)
    left = tuple(name for name in chosen if name not in arrays)
    if left:
        written_out, measured = _observer(compiled.original, left if arrays or names is not None else None)
        arrays |= zip(written_out, measured(time, y, p), strict=True)
    if "orientation" in arrays:
        arrays["orientation"] = continuous(arrays["orientation"])
    return {name: (observable, arrays[name]) for name, observable in chosen.items()}


def _of_net(
    compiled: CompiledSystem, names: Sequence[str] | None, y: Array, p: Array
) -> dict[str, tuple[Observable, Array]] | None:
    """The same for a net; None if a quantity has to be found body by body."""
    chosen = observables(compiled.system, names)
    assert compiled.net is not None
    arrays = recorded(compiled.net, tuple(chosen), y, p, compiled.free_numbers(p))
    return None if arrays is None else dict(zip(chosen, zip(chosen.values(), arrays, strict=True), strict=True))


def prepare(compiled: CompiledSystem, names: str | Sequence[str] | None) -> None:
    """Trace what measures these quantities body by body, while other threads compile."""
    if crowd_of(compiled.system) is not None:
        return
    _observer(compiled.original, (names,) if isinstance(names, str) else None if names is None else tuple(names))


@memo
def _observer(compiled: CompiledSystem, names: tuple[str, ...] | None) -> tuple[dict[str, Observable], Measuring]:
    """The quantities with these names, and the compiled function that measures them."""
    chosen = observables(compiled.system, names)
    return chosen, measuring(compiled, [observable.of for observable in chosen.values()], f"observed {names}")


def continuous(q: Array) -> Array:
    """Quaternions over time, each with the sign that is nearer to the record before."""
    cosine = np.sum(q[1:] * q[:-1], axis=-1, keepdims=True)
    signs = np.cumprod(np.where(cosine < 0, -1.0, 1.0), axis=0)
    return np.concatenate([q[:1], q[1:] * signs])
