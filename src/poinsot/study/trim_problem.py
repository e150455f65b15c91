"""A trim as equations: which numbers of a world, joints and states of parts are found, and what shall vanish."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.environment import AirMass
from poinsot.environment.air_mass import ground_velocity
from poinsot.fuse import Kernel, jvp
from poinsot.mechanism import kinematics
from poinsot.mechanism.model import coordinates
from poinsot.parts.load_factor import load_factor
from poinsot.parts.scene import MOUNT
from poinsot.study.flight_conditions import EXTRA, TURNING, turning_rates
from poinsot.study.newton import Equations
from poinsot.world import Motion, State, System
from poinsot.world.flat_values import unpack
from poinsot.world.flight_start import Start
from poinsot.world.paths import entries

ACCELERATIONS = {"u": "m/s^2", "v": "m/s^2", "w": "m/s^2", "p": "rad/s^2", "q": "rad/s^2", "r": "rad/s^2"}
TARGETS = {"load_factor": load_factor}  # quantities of a body that can be held though they are not numbers of it


@dataclass(frozen=True, eq=False)
class TrimProblem:
    """The unknowns z: `numbers` by their paths, displacements of `joints` (entries of v), `states` of parts (entries).

    The conditions c: the numbers at the paths `given`, which may differ from instance to instance. `body`: what flies;
    without one, everything rests. `targets`: quantities that have the values of conditions of the same name.
    `zero`: the accelerations that shall vanish, by name; all if it is empty.
    """

    system: System
    body: str | None
    numbers: tuple[str, ...]
    joints: tuple[int, ...]
    states: tuple[int, ...]
    given: tuple[str, ...]
    targets: tuple[str, ...] = ()
    zero: tuple[str, ...] = ()

    # Names.

    @cached_property
    def coordinates(self) -> list[str]:
        """The names of the velocities of all joints."""
        return [f"{name}{k}" for name, k in coordinates(self.system.mechanism, "v")]

    @cached_property
    def unknowns(self) -> list[str]:
        """Short names of z."""
        parts = entries(self.system.states)
        joints = [self.coordinates[k].replace("[0]", "") + " displaced" for k in self.joints]
        return [short(path, self.body) for path in self.numbers] + joints + [parts[k] for k in self.states]

    @cached_property
    def rows(self) -> dict[str, str]:
        """The names of everything that could be zero, with units."""
        names = dict(ACCELERATIONS) if self.body else {}
        for k, name in enumerate(self.coordinates):
            if k not in self._root and MOUNT not in name:
                names[f"{name}'"] = "rad/s^2 or m/s^2"
        names |= {f"gap of {name}": "m or rad" for name in self._gaps}
        parts = entries(self.system.states)
        names |= {f"{parts[k]}'": "1/s" for k in self.states}
        return names | {f"{name} held": "1" for name in self.targets}

    @cached_property
    def chosen(self) -> list[int]:
        """The numbers of the rows that shall vanish."""
        choice = self.choice if self.zero else {}
        return [k for k, name in enumerate(self.rows) if name not in choice or choice[name] in self.zero]

    @cached_property
    def choice(self) -> dict[str, str]:
        """The rows that `zero` chooses from, with the names it uses: accelerations of what flies, or of the joints."""
        joints = {f"{name}'": name for name in self.coordinates}
        return (
            {name: name for name in ACCELERATIONS} if self.body else {k: x for k, x in joints.items() if k in self.rows}
        )

    @cached_property
    def row_names(self) -> list[str]:
        names = list(self.rows)
        return [names[k] for k in self.chosen]

    @cached_property
    def _gaps(self) -> list[str]:
        if not self.system.loops:
            return []
        rows = self.system.rows(self.system.start())
        return [str(k) for k in range(len(rows.gap))]

    @cached_property
    def _root(self) -> range:
        """The entries of v of the body that flies."""
        mech = self.system.mechanism
        return range(*mech.v_slices[mech.index(self.body)].indices(mech.nv)) if self.body else range(0)

    # The equations, plain NumPy for one instance.

    def values(self, z: Array, c: Array) -> dict[str, Any]:
        """The numbers of the world by their paths."""
        shapes = {path: np.shape(self.system.numbers[path]) for path in self.given}
        values: dict[str, Any] = unpack(c, shapes)
        values |= {path: z[k] for k, path in enumerate(self.numbers)}
        if self.body is not None:
            start = self.system.described(values).bodies[self.body].start
            assert isinstance(start, Start)
            turning = (values.get(EXTRA + name, 0.0) for name in TURNING)
            values[f"{self.body}.start.rates"] = turning_rates(start, *turning)
        return values

    def state(self, z: Array, values: Mapping[str, Any]) -> State:
        """The state of the world."""
        system, n = self.system, len(self.numbers)
        start = system.start(values)
        moved = np.stack([z[n + self.joints.index(k)] if k in self.joints else np.zeros(()) for k in range(system.nv)])
        q = kinematics.integrate(system.mechanism, start.q, moved) if self.joints else start.q
        first = n + len(self.joints)
        parts = [z[first + self.states.index(k)] if k in self.states else start.parts[k] for k in range(system.ns)]
        v = start.v if self.body else np.zeros(system.nv)
        return State(q, v, np.stack(parts) if parts else start.parts)

    def residual(self, z: Array, c: Array) -> Array:
        """The residual (k,), which shall vanish."""
        values = self.values(z, c)
        state = self.state(z, values)
        motion = self.system.motion(0.0, state, values)
        rate = self.system.rate(motion)
        rows = [self._steady(motion, rate, values)] if self.body else []
        kept = [k for k, name in enumerate(self.coordinates) if k not in self._root and MOUNT not in name]
        rows += [rate.v[np.array(kept, dtype=int)]] if kept else []
        rows += [self.system.rows(state, 0.0, values).gap] if self.system.loops else []
        rows += [rate.parts[np.array(self.states)]] if self.states else []
        rows += [np.stack([TARGETS[name](motion, str(self.body)) - values[EXTRA + name]]) for name in self.targets]
        return np.concatenate(rows)[np.array(self.chosen)]

    def _steady(self, motion: Motion, rate: State, values: Mapping[str, Any]) -> Array:
        """The accelerations (6,) along and about the axes of the body that flies, less those of a steady motion.

        Its velocity relative to the air, which moves with F, or relative to the Earth, is steady in its own axes, and
        so are its rates w_N relative to north-east-down, the rotation of which changes by less than 1e-8 rad/s^2:

            v' + w x R^T F - R^T dF/dt = 0,   w' + w_N x w = 0
        """
        body, system, t = str(self.body), self.system, np.zeros(())
        earth, air = system.description.earth, system.described(values).elements.get("air")
        through_air = isinstance(air, AirMass) and system.description.bodies[body].start.velocity_ned is None  # type: ignore[union-attr]
        if not through_air and earth is None:
            F = change = np.zeros(3)
        else:

            def carried(t: Array, p: Array) -> Array:
                return air.velocity(earth, t, p) if through_air else ground_velocity(earth, p)  # type: ignore[union-attr]

            here = motion.scene[body]
            F, change = jvp(carried, (0, 1))(t, here.position, np.ones(()), here.velocity)
        R, twist = motion.scene[body].pose.R, motion.scene[body].twist
        first = self._root.start
        rates, omega = values[f"{body}.start.rates"], twist[:3]
        linear = rate.v[first + 3 : first + 6] + np.cross(omega, R.T @ F) - R.T @ change
        return np.concatenate([linear, rate.v[first : first + 3] + np.cross(rates, omega)])

    def equations(self, lower: Array, upper: Array, longest: Array) -> Equations:
        """To be solved within these bounds."""
        size = sum(int(np.prod(np.shape(self.system.numbers[path]))) for path in self.given)
        return Equations(self.residual, len(self.chosen), max(size, 1), lower, upper, longest)

    @cached_property
    def solution(self) -> Kernel:
        """(z, c) -> q, v and states of parts."""
        s, n = self.system, len(self.unknowns)
        size = sum(int(np.prod(np.shape(s.numbers[path]))) for path in self.given)

        def solution(z: Array, c: Array) -> Array:
            at = self.state(z, self.values(z, c))
            return np.concatenate([at.q, at.v, at.parts])

        return Kernel(solution, f"({n}),({max(size, 1)})->({s.nq + s.nv + s.ns})").to("numpy")


def short(path: str, body: str | None) -> str:
    """A path as it is shown: "alpha" for that of the start of the body that flies."""
    return path.removeprefix(EXTRA).removeprefix(f"{body}.start.").replace("position[2]", "altitude")


def settling(system: System, starts: Sequence[State]) -> tuple[list[int], list[int]]:
    """The entries of the states of parts that settle: their rates depend on themselves, in one of these states. And
    those that drift: their rates are not zero, but do not depend on them. Samples and latches do neither."""
    ns, nq, nv = system.ns, system.nq, system.nv
    if not ns:
        return [], []

    def rates(parts: Array, q: Array, v: Array) -> Array:
        return system.derivative(0.0, State(q, v, parts)).parts

    kernel: Any = jvp(Kernel(rates, f"({ns}),({nq}),({nv})->({ns})"), 0)
    parts, q, v = (np.stack([getattr(at, name) for at in starts])[:, None] for name in ("parts", "q", "v"))
    with np.errstate(all="ignore"):
        rate, slope = kernel.to("numpy")(parts, q, v, np.eye(ns))
    own = np.any(np.einsum("bkk->bk", slope) != 0, axis=0)
    owners = [name.rpartition(".")[0] for name in entries(system.states)]
    latched = [system.description.elements[owner].latches or owner in system.sampled for owner in owners]
    settles = [k for k in range(ns) if own[k] and not latched[k]]
    return settles, [k for k in range(ns) if rate[0, 0, k] != 0 and k not in settles and not latched[k]]
