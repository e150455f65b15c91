"""What can be recorded of a world: a table of quantities, each with its dimensions, unit and frame."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot._types import Array
from poinsot.mechanism import kinematics
from poinsot.mechanism.model import coordinates
from poinsot.parts.element import units_of_outputs
from poinsot.run import ledger
from poinsot.run.compiled import Rows
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
    """A quantity: how it follows from a motion, its dimensions beside time and batch, unit, and what it is."""

    of: Callable[[Motion], Array]
    dims: tuple[str, ...]
    unit: str
    meaning: str


def _each(of: Callable[[Any], Array]) -> Callable[[Motion], Array]:
    return lambda m: np.stack([of(m.scene[name]) for name in m.scene.bodies])


def _joints(of: Callable[[Motion], Array]) -> Callable[[Motion], Array]:
    """Of a row (nq,) or (nv,), what belongs to the joints of bodies."""

    def joints(m: Motion) -> Array:
        mech, row = m.scene.mechanism, of(m)
        slices = mech.q_slices if row.shape == m.scene.q.shape else mech.v_slices
        return np.concatenate([np.zeros(0), *(row[slices[mech.index(name)]] for name in m.scene.bodies)])

    return joints


def _kinetic(m: Motion) -> Array:
    return kinematics.kinetic_energy(m.scene.mechanism, m.scene.q, m.scene.v)


ORIGIN = "of the body frame's origin, world axes"
OBSERVABLES: dict[str, Observable] = {
    "position": Observable(_each(lambda b: b.position), ("body", "axis"), "m", ORIGIN),
    "orientation": Observable(_each(lambda b: b.orientation), ("body", "wxyz"), "1", "quaternion, body to world axes"),
    "velocity": Observable(_each(lambda b: b.velocity), ("body", "axis"), "m/s", ORIGIN),
    "angular_velocity": Observable(_each(lambda b: b.angular_velocity), ("body", "axis"), "rad/s", "body axes"),
    "q": Observable(_joints(lambda m: m.scene.q), ("coordinate",), "rad, m, 1", "joint coordinates"),
    "v": Observable(_joints(lambda m: m.scene.v), ("freedom",), "rad/s, m/s", "joint velocities"),
    "energy": Observable(
        lambda m: ledger.held(m.scene, m.effects)[7], (), "J", "kinetic and stored, gravity and springs included"
    ),
    "kinetic_energy": Observable(_kinetic, (), "J", "of all bodies"),
    "momentum": Observable(
        lambda m: ledger.held(m.scene, m.effects)[1:4], ("axis",), "kg m/s", "of all bodies, world axes"
    ),
    "angular_momentum": Observable(
        lambda m: ledger.held(m.scene, m.effects)[4:7], ("axis",), "kg m^2/s", "about the world's origin, world axes"
    ),
    "body_momentum": Observable(_each(lambda b: b.momentum), ("body", "axis"), "kg m/s", "of each body, world axes"),
    "body_angular_momentum": Observable(
        _each(lambda b: b.angular_momentum), ("body", "axis"), "kg m^2/s",
        "of each body, about the world's origin, world axes",
    ),
    "body_kinetic_energy": Observable(_each(lambda b: b.kinetic_energy), ("body",), "J", "of each body"),
    "acceleration": Observable(_joints(lambda m: m.vdot), ("freedom",), "rad/s^2, m/s^2", "joint accelerations"),
    "joint_force": Observable(_joints(lambda m: m.tau), ("freedom",), "N m, N", "motors, springs and losses in joints"),
    "reaction": Observable(
        lambda m: np.stack([m.reaction(name) for name in m.scene.bodies]), ("body", "spatial"), "N m, N",
        "wrench on the body through its joint, about its origin, body axes",
    ),
}  # fmt: skip
DEFAULT = (
    "position", "orientation", "velocity", "angular_velocity", "q", "v", "energy", "kinetic_energy", "momentum",
    "angular_momentum",
)  # fmt: skip


def observables(rows: Rows, names: Sequence[str] | None) -> dict[str, Observable]:
    """Those with these names; by default the usual ones, and all that parts and elements show of themselves."""
    own = _own(rows)
    known = OBSERVABLES | own
    for name in names or ():
        if name not in known:
            raise ValueError(f"{name!r} cannot be recorded{hint(name, known)}; there are {', '.join(known)}.")
    return {name: known[name] for name in (names or (*DEFAULT, *own))}


def _own(rows: Rows) -> dict[str, Observable]:
    """States and outputs of the elements, as "element.quantity"."""
    system = rows.system
    elements = dict(system.description.acting())
    motion = system.motion(0.0, system.start())
    found = {}
    for name, element in elements.items():
        units = units_of_outputs(element)
        for key, value in element.states().items():
            found[f"{name}.{key}"] = Observable(
                _state(f"{name}.{key}"), _dims(name, key, value), units.get(key, ""), "state"
            )
        for key, value in motion.effects[name].shown.items():
            of = _shown(name, key)
            found[f"{name}.{key}"] = Observable(of, _dims(name, key, value), units.get(key, ""), "")
    return found


def _state(name: str) -> Callable[[Motion], Array]:
    return lambda m: m.scene.states[name]


def _shown(name: str, key: str) -> Callable[[Motion], Array]:
    return lambda m: m.effects[name].shown[key]


def _dims(name: str, key: str, value: Array) -> tuple[str, ...]:
    shape = np.shape(value)
    return () if shape == () else ("axis",) if shape == (3,) else tuple(f"{name}.{key}.{k}" for k in range(len(shape)))


def observe(
    rows: Rows, names: Sequence[str] | None, time: Array, y: Array, p: Array
) -> dict[str, tuple[Observable, Array]]:
    """The quantities for every record: time (r,), y (r, ..., ny), p (..., np) or (r, ..., np)."""
    chosen, measured = _observer(rows, None if names is None else tuple(names))
    results = measured(time, y, p)
    found = dict(zip(chosen, zip(chosen.values(), results, strict=True), strict=True))
    if "orientation" in found:
        found["orientation"] = (chosen["orientation"], continuous(found["orientation"][1]))
    return found


def _observer(
    rows: Rows, names: tuple[str, ...] | None
) -> tuple[dict[str, Observable], Callable[[Array, Array, Array], tuple[Array, ...]]]:
    """The quantities with these names and what finds them, compiled once for these rows."""
    made: dict[Any, Any] = vars(rows).setdefault("_observers", {})
    if names not in made:
        chosen = observables(rows, names)
        made[names] = chosen, measuring(rows, [observable.of for observable in chosen.values()])
    return made[names]


def measuring(
    rows: Rows, of: Sequence[Callable[[Motion], Array]]
) -> Callable[[Array, Array, Array], tuple[Array, ...]]:
    """A compiled function of records, time (r,), y (r, ..., ny) and p, that finds these quantities for each of them."""

    def quantities(t: Any, y: Array, p: Array) -> list[Array]:
        setting = rows.setting(p)
        motion = rows.system.motion(t, rows.unpack(y).state, setting.parameters, setting.given_inputs(t))
        return [1.0 * quantity(motion) for quantity in of]

    def function(t: Any, y: Array, p: Array) -> Array:
        """All in one row: a ufunc has no more than 64 outputs."""
        return np.concatenate([np.zeros(0), *(np.ravel(a) for a in quantities(t, y, p))])

    p0 = rows.row({}, {})
    shapes = [np.shape(a) for a in quantities(0.0, rows.start(p0), p0)]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    kernel = rows.compiled(function, f"(),({rows.ny}),({rows.np})->({ends[-1]})")

    def measured(time: Array, y: Array, p: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            found = kernel(np.reshape(time, (-1,) + (1,) * (y.ndim - 2)), y, p)
        pieces = zip(np.split(found, ends[:-1], axis=-1), shapes, strict=True)
        return tuple(np.reshape(piece, (*found.shape[:-1], *shape)) for piece, shape in pieces)

    return measured


def continuous(q: Array) -> Array:
    """Quaternions over time, of the two signs the one that follows on from the record before."""
    turn = np.sum(q[1:] * q[:-1], axis=-1, keepdims=True)
    signs = np.cumprod(np.where(turn < 0, -1.0, 1.0), axis=0)
    return np.concatenate([q[:1], q[1:] * signs])
