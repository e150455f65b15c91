"""Small motions about a state: x' = A x + B u, through the compiler; with closed loops, of as few coordinates as are
free."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.fuse import Kernel, jacobian
from poinsot.mechanism import Mechanism, kinematics
from poinsot.mechanism.model import coordinates, plain
from poinsot.spatial import motion
from poinsot.world import State, World
from poinsot.world.paths import entries
from poinsot.world.system import System, unpack


@dataclass(frozen=True, eq=False)
class Linear:
    """dx/dt = A x + B u + drift, to first order in small x and u.

    x (2 nv + ns,): displacements of the joints (nv; q = integrate(q0, x)), changes of their velocities (nv) and of the
    states of parts (ns). u (nu,): changes of the inputs. `states`, `inputs`: their names.

    In a world with closed loops x holds the displacements and velocities of f joint coordinates from which the others
    follow, f being the degrees of freedom: x (2 f + ns,). `basis` T (2 nv + ns, 2 f + ns) gives all of them, T x.
    """

    A: Array
    B: Array
    drift: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    basis: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def eigenvalues(self) -> Array:
        """The eigenvalues of A [1/s], sorted by the size of their imaginary parts, then by real and imaginary parts."""
        values = np.linalg.eigvals(self.A)
        return values[np.lexsort((values.imag, values.real, np.abs(values.imag)))]


def linearise(
    world: World, state: State | None = None, t: float = 0.0, inputs: Mapping[str, Any] | None = None
) -> Linear:
    """A (n, n) and B (n, nu) of a world about a state, by default that at the start, and about inputs.

    With closed loops, on the closures: n is twice the degrees of freedom, and the states of parts (`Linear`).
    """
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
    names = (*joints, *entries(system.states))
    T, kept = _basis(system, state, t) if system.loops else (np.eye(n), np.arange(n))
    return Linear(
        (A @ T)[kept],
        B[kept, :nu],
        kernel(*at)[kept],
        tuple(names[k] for k in kept),
        tuple(entries(at_inputs)),
        T,
    )


def _basis(system: System, state: State, t: float) -> tuple[Array, Array]:
    """T (2 nv + ns, 2 f + ns), whose columns are tangent to the closures at a state, and which entries they keep.

    Displacements d and changes w of velocity are allowed if J d = 0 and J w + (d(J v)/dq) d = 0. Of the coordinates of
    v, f are independent, and the rest follow from them: d = N d_i, w = N w_i + K d_i. Wehage and Haug, J. Mech. Design
    104 (1982).
    """
    nv, ns = system.nv, system.ns

    def rates(x: Array) -> Array:
        """J v - rate, displaced by x (nv,)."""
        q = kinematics.integrate(system.mechanism, state.q, x)
        rows = system.rows(State(q, state.v, state.parts), t)
        return rows.J @ state.v

    J = plain(system.rows(state, t).J)
    independent = _independent_columns(J)
    f, dependent = len(independent), np.setdiff1d(np.arange(nv), independent)
    turned = jacobian(Kernel(rates, f"({nv})->({len(J)})"))(np.zeros(nv)) if len(J) else np.zeros((0, nv))
    N, K = np.zeros((nv, f)), np.zeros((nv, f))
    N[independent] = np.eye(f)
    solve = np.linalg.pinv(J[:, dependent], rcond=1e-10)
    N[dependent] = -solve @ J[:, independent]
    K[dependent] = -solve @ turned @ N
    T = np.zeros((2 * nv + ns, 2 * f + ns))
    T[:nv, :f], T[nv : 2 * nv, :f], T[nv : 2 * nv, f : 2 * f], T[2 * nv :, 2 * f :] = N, K, N, np.eye(ns)
    return T, np.concatenate([independent, nv + independent, np.arange(2 * nv, 2 * nv + ns)])


def _independent_columns(J: Array) -> Array:
    """The columns of J (m, nv) without which its rank is the same: by elimination with the largest pivots first; of
    equal ones the last is eliminated, so that coordinates near the root are kept."""
    rest, dependent = np.array(J, dtype=float), list[int]()
    scale = np.abs(J).max(initial=0.0)
    for _ in range(min(J.shape)):
        sizes = np.linalg.norm(rest, axis=0)
        column = int(np.flatnonzero(sizes >= 0.5 * sizes.max(initial=0.0))[-1])
        if sizes[column] <= 1e-9 * scale:
            break
        u = rest[:, column] / sizes[column]
        rest = rest - np.outer(u, u @ rest)
        rest[:, column] = 0.0
        dependent.append(column)
    return np.setdiff1d(np.arange(J.shape[1]), dependent)


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
