"""The state of an aircraft as its books write it: V, alpha, beta or u, v, w, rates, Euler angles and altitude."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.environment import AirMass, Earth
from poinsot.environment.air_mass import ground_velocity, height, turning
from poinsot.environment.airspeed import air_velocity
from poinsot.environment.geodesy import transport_rate
from poinsot.fuse import Kernel, jvp
from poinsot.mechanism import kinematics
from poinsot.mechanism.model import coordinates
from poinsot.parts.whereabouts import attitude_at, level
from poinsot.spatial import euler, quaternion
from poinsot.study.flight_conditions import aircraft_of
from poinsot.study.mode_table import flexible_states
from poinsot.world import State, System
from poinsot.world.paths import entries

RIGID = ("V", "alpha", "beta", "p", "q", "r", "roll", "pitch", "heading", "altitude")
UVW = ("u", "v", "w")


@dataclass(frozen=True, eq=False)
class AircraftStates:
    """x: the ten states of a free body in flight, displacements and velocities of the joints on it, states of parts.

    p, q, r: relative to north-east-down, which moves along. base: where it is (3,) in world axes, q (nq,), v (nv,).
    """

    system: System
    body: str
    uvw: bool

    @cached_property
    def _root(self) -> tuple[slice, slice]:
        mech = self.system.mechanism
        k = mech.index(self.body)
        return mech.q_slices[k], mech.v_slices[k]

    @cached_property
    def _inner(self) -> Array:
        """The entries of v that are not those of the body."""
        root = range(*self._root[1].indices(self.system.nv))
        return np.array([k for k in range(self.system.nv) if k not in root], dtype=int)

    @property
    def size(self) -> int:
        return len(RIGID) + 2 * len(self._inner) + self.system.ns

    @property
    def base_size(self) -> int:
        return 3 + self.system.nq + self.system.nv

    @cached_property
    def names(self) -> tuple[str, ...]:
        rigid = (*UVW, *RIGID[3:]) if self.uvw else RIGID
        labels = coordinates(self.system.mechanism, "v")
        joints = [f"{labels[k][0]}.{letter}{labels[k][1]}" for letter in "qv" for k in self._inner]
        return (*rigid, *joints, *entries(self.system.states))

    @cached_property
    def bending(self) -> dict[str, str]:
        return flexible_states(self.system)

    @property
    def _earth(self) -> Earth | None:
        return self.system.description.earth

    def _air(self, t: Any, p: Array) -> Array:
        """The velocity of the air (3,) [m/s] at p (3,) [m], in world axes; of the ground, where there is none."""
        air = self.system.description.elements.get("air")
        return air.velocity(self._earth, t, p) if isinstance(air, AirMass) else ground_velocity(self._earth, p)

    def _transport(self, p: Array, v_N: Array) -> Array:
        """The rate (3,) [rad/s] of north-east-down at p in its own axes, for a velocity v_N over the Earth."""
        if self._earth is None:
            return np.zeros(3)
        place = self._earth.geodetic(p)
        return transport_rate(place.latitude, place.height, v_N, self._earth.ellipsoid)

    def read(self, t: Any, q: Array, v: Array) -> Array:
        """The ten states (10,) of a free body at q (7,) with the twist v (6,)."""
        R_WB, p = quaternion.to_matrix(quaternion.normalize(q[:4])), q[4:]
        R_WN, V_W = level(self._earth, p), R_WB @ v[3:]
        relative = R_WB.T @ (V_W - self._air(t, p))
        v_N = R_WN.T @ (V_W - ground_velocity(self._earth, p))
        moved = turning(self._earth) + R_WN @ self._transport(p, v_N)
        angles = attitude_at(self._earth, p, R_WB)
        u, side, w = relative[0], relative[1], relative[2]
        V = np.sqrt(relative @ relative)
        flow = (u, side, w) if self.uvw else (V, np.arctan2(w, u), np.arcsin(side / V))
        rates = v[:3] - R_WB.T @ moved
        return np.stack([*flow, *(rates[k] for k in range(3)), *(angles[k] for k in range(3)), height(self._earth, p)])

    def root(self, X: Array, p0: Array) -> tuple[Array, Array]:
        """q (7,) and the twist v (6,) of a free body with the states X (10,), above or below the place p0 (3,)."""
        up = -level(self._earth, p0)[:, 2]
        p = p0 + (X[9] - height(self._earth, p0)) * up
        R_WN = level(self._earth, p)
        R_WB = R_WN @ euler.to_matrix([X[6], X[7], X[8]])
        relative = X[:3] if self.uvw else air_velocity(X[0], X[1], X[2])
        V_W = R_WB @ relative + self._air(np.zeros(()), p)
        v_N = R_WN.T @ (V_W - ground_velocity(self._earth, p))
        moved = turning(self._earth) + R_WN @ self._transport(p, v_N)
        return np.concatenate([quaternion.from_matrix(R_WB), p]), np.concatenate(
            [X[3:6] + R_WB.T @ moved, R_WB.T @ V_W]
        )

    @cached_property
    def _reading(self) -> Kernel:
        return Kernel(lambda q, v: self.read(np.zeros(()), q, v), "(7),(6)->(10)").to("numpy")

    def base(self, at: State) -> tuple[Array, Array]:
        """Place, q and v (..., base_size), and x (..., size)."""
        sq, sv = self._root
        rigid = self._reading(at.q[..., sq], at.v[..., sv])
        inner = at.v[..., self._inner]
        x = np.concatenate([rigid, np.zeros_like(inner), inner, at.parts], axis=-1)
        return np.concatenate([at.q[..., sq][..., 4:], at.q, at.v], axis=-1), x

    def state(self, x: Array, base: Array, numbers: Mapping[str, Any]) -> State:
        system, inner, n = self.system, self._inner, len(RIGID)
        q0, (sq, sv) = base[3 : 3 + system.nq], self._root
        q_B, v_B = self.root(x[:n], base[:3])
        moved, w = x[n : n + len(inner)], x[n + len(inner) : n + 2 * len(inner)]
        at = {int(k): i for i, k in enumerate(inner)}
        if at:
            step = np.stack([moved[at[k]] if k in at else np.zeros(()) for k in range(system.nv)])
            q0 = kinematics.integrate(system.mechanism, q0, step)
        q = np.concatenate([q0[: sq.start], q_B, q0[sq.stop :]])
        v = np.stack([w[at[k]] if k in at else v_B[k - sv.start] for k in range(system.nv)])
        return State(q, v, x[n + 2 * len(inner) :])

    def rate(self, x: Array, base: Array, motion: Any, rate: State) -> Array:
        """dx/dt, the ten by the chain rule along the motion."""
        (sq, sv), n, inner, scene = self._root, len(RIGID), self._inner, motion.scene
        along = (np.ones(()), rate.q[sq], rate.v[sv])
        _, rigid = jvp(self.read, (0, 1, 2))(np.zeros(()) + scene.t, scene.q[sq], scene.v[sv], *along)
        speeds = x[n + len(inner) : n + 2 * len(inner)]
        return np.concatenate([rigid, speeds, rate.v[inner] if len(inner) else speeds, rate.parts])


def aircraft_states(system: System, body: str | None, uvw: bool) -> AircraftStates:
    """The states of the body that flies."""
    states = AircraftStates(system, aircraft_of(system.description, body), uvw)
    if system.loops:
        raise ValueError("the states of an aircraft are not for worlds with closed loops: states='joints'.")
    mech = system.mechanism
    groups = [link.name for link in mech.links if link.name != states.body and link.joint.type.is_group]
    if any(mech.link(name).joint.nv > 3 for name in groups):
        raise ValueError(f"the states of an aircraft are those of one free body; {groups[0]!r} is another.")
    return states
