"""Small motions about a state: x' = A x + B u, through the compiler."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.fuse import Kernel, jacobian
from poinsot.mechanism import Mechanism, kinematics
from poinsot.mechanism.model import coordinates
from poinsot.spatial import motion
from poinsot.world import State, World
from poinsot.world.paths import entries
from poinsot.world.system import unpack


@dataclass(frozen=True, eq=False)
class Linear:
    """dx/dt = A x + B u + drift, to first order in small x and u.

    x (2 nv + ns,): displacements of the joints (nv; q = integrate(q0, x)), changes of their velocities (nv) and of the
    states of parts (ns). u (nu,): changes of the inputs. `states`, `inputs`: their names.
    """

    A: Array
    B: Array
    drift: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]

    def eigenvalues(self) -> Array:
        """The eigenvalues of A [1/s], sorted by the size of their imaginary parts, then by real and imaginary parts."""
        values = np.linalg.eigvals(self.A)
        return values[np.lexsort((values.imag, values.real, np.abs(values.imag)))]


def linearise(
    world: World, state: State | None = None, t: float = 0.0, inputs: Mapping[str, Any] | None = None
) -> Linear:
    """A (n, n) and B (n, nu) of a world about a state, by default that at the start, and about inputs."""
    system = world.system()
    mech, nv, ns = system.mechanism, system.nv, system.ns
    state = world.start() if state is None else state
    at_inputs = {
        name: np.asarray((inputs or {}).get(name, value), dtype=float) for name, value in system.inputs.items()
    }
    shapes = {name: value.shape for name, value in at_inputs.items()}
    u0 = np.concatenate([np.zeros(0), *(value.ravel() for value in at_inputs.values())])
    n, nu = 2 * nv + ns, len(u0)

    def rate(x: Array, u: Array) -> Array:
        moved = x[:nv]
        now = State(kinematics.integrate(mech, state.q, moved), state.v + x[nv : 2 * nv], state.parts + x[2 * nv :])
        slope = system.derivative(t, now, None, unpack(u0 + u[:nu], shapes))
        return np.concatenate([_departure(mech, state.q, moved, now.v), slope.v, slope.parts])

    at = (np.zeros(n), np.zeros(max(nu, 1)))
    kernel = Kernel(rate, f"({n}),({len(at[1])})->({n})")
    A, B = jacobian(kernel, (0, 1))(*at)
    joints = [f"{name}.{letter}{k}" for letter in "qv" for name, k in coordinates(mech, "v")]
    return Linear(A, B[:, :nu], kernel(*at), (*joints, *entries(system.states)), tuple(entries(at_inputs)))


def _departure(mech: Mechanism, q0: Array, u: Array, v: Array) -> Array:
    """du/dt, where q = integrate(q0, u) and the joints' velocities are v: v + [u, v]/2 on groups, to first order."""
    parts = []
    for link, sq, sv in zip(mech.links, mech.q_slices, mech.v_slices, strict=True):
        if not link.joint.type.is_group:
            parts.append(v[sv])
            continue
        S = link.joint.type.subspace(link.joint, q0[sq])
        parts.append(v[sv] + 0.5 * S.T @ motion.bracket(S @ u[sv], S @ v[sv]))
    return np.concatenate([np.zeros(0), *parts])
